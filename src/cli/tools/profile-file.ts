// Opens a profile named on the command line.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { getSystemErrorMessage } from 'node:util';
import type { ReadProfile, StackSink } from '../../analysis/profile/parser.ts';
import { ProfileError } from '../../analysis/profile/profile-error.ts';
import { readProfile } from '../../analysis/profile/read-profile.ts';

/** `-` is standard input. Throws a `ProfileError` for an unreadable or invalid file. */
export async function readProfileFile(file: string, sink?: StackSink): Promise<ReadProfile> {
  const isStandardInput = file === '-';
  const input = isStandardInput ? process.stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
  const name = isStandardInput ? 'standard input' : file;
  return readProfile(shown(piecesOf(input, name), name), name, sink);
}

/** On a terminal, shows progress from the third second on. */
async function* shown(pieces: AsyncIterable<Buffer>, name: string): AsyncIterable<Buffer> {
  const { stderr } = process;
  let bytes = 0;
  let shownAt = performance.now() + 1000;
  for await (const piece of pieces) {
    yield piece;
    bytes += piece.length;
    if (!stderr.isTTY || performance.now() - shownAt < 1000) continue;
    shownAt = performance.now();
    stderr.write(`\r\x1b[2Kreading ${name}: ${Math.round(bytes / 1e6)} MB`);
  }
  if (stderr.isTTY) stderr.write('\r\x1b[2K');
}

async function* piecesOf(input: Readable, name: string): AsyncIterable<Buffer> {
  try {
    for await (const piece of input) yield piece;
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number')) throw error;
    throw new ProfileError(`Cannot read ${name}: ${getSystemErrorMessage(error.errno)}; name a profile.`);
  }
}
