// Opens a profile that was named at a shell.
import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { getSystemErrorMessage } from 'node:util';
import type { ReadProfile } from '../profile/parser.ts';
import { ProfileError } from '../profile/profile-error.ts';
import { readProfile } from '../profile/read.ts';

/** `-` is standard input. Throws a `ProfileError` where the file cannot be read, or is no profile. */
export async function readProfileFile(file: string, signal: AbortSignal): Promise<ReadProfile> {
  const isStandardInput = file === '-';
  const input = isStandardInput
    ? process.stdin
    : createReadStream(file, { highWaterMark: 1024 * 1024 });
  const name = isStandardInput ? 'standard input' : file;
  return readProfile(piecesOf(addAbortSignal(signal, input), name), name);
}

async function* piecesOf(input: Readable, name: string): AsyncIterable<Buffer> {
  try {
    for await (const piece of input) yield piece;
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number'))
      throw error;
    throw new ProfileError(
      `Cannot read ${name}: ${getSystemErrorMessage(error.errno)}; name a profile.`,
    );
  }
}
