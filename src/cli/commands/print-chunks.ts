// Prints long output on standard output in bytes: the same in every locale.
import { pipeline } from 'node:stream/promises';

/** As fast as the reader takes them; `ppsgate … | head` closes the pipe when it has seen enough. */
export async function printPieces(pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(gathered(pieces), process.stdout, { end: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

/** A write for each line would take longer than making the lines. */
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
