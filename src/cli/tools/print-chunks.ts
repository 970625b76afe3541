// Prints long output as bytes, independent of the locale.
import { pipeline } from 'node:stream/promises';

/** Prints text like `printBytes`. */
export const printPieces = (pieces: Iterable<string>): Promise<void> => printBytes(gathered(pieces));

/** Waits for the reader; `ppsgate … | head` may close the pipe early. */
export async function printBytes(pieces: Iterable<Uint8Array>): Promise<void> {
  try {
    await pipeline(pieces, process.stdout, { end: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

/** Batches lines: single writes would dominate the time. */
function* gathered(pieces: Iterable<string>): Iterable<Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < 64 * 1024) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
