// Reads a token or key, which must not be in ppsgate.yml, from a file or the environment.
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileReasonOf } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';

export type SecretPlace = {
  /** A description such as `the Conduit token`. */
  what: string;
  path?: string | undefined;
  variable?: string;
};

/** Returns one line of text; throws a `UsageError` with the place but without the content. */
export async function readSecret({ what, path, variable }: SecretPlace): Promise<string> {
  const found = path === undefined ? (process.env[variable ?? ''] ?? '') : await readText(what, path);
  const secret = found.replace(/\r?\n$/, '');
  if (/^\P{Cc}+$/u.test(secret)) return secret;
  const where = path === undefined ? `${variable} in the environment` : `the file ${path}`;
  const fault = secret === '' ? 'is empty' : 'has more than a line';
  throw new UsageError(`${what} is missing: ${where} ${fault}; write it there and nothing else.`);
}

const readText = (what: string, path: string): Promise<string> =>
  readGuarded(path).catch((error: unknown) => {
    if (error instanceof ExposedError) throw new UsageError(`${what} is refused: ${error.message}.`);
    throw new UsageError(`${what} is missing: ${path} cannot be read (${fileReasonOf(error)}).`);
  });

/** Reports a secret's file that others can read; the message is a sentence without its full stop. */
export class ExposedError extends Error {
  override readonly name = 'ExposedError';

  constructor(path: string, mode: number) {
    super(
      `${path} has the mode ${mode.toString(8)}, by which others than its owner can get at it: run 'chmod 600 ${path}'`,
    );
  }
}

/** Throws an ExposedError if others can read the file, as ssh(1) rejects a key. */
export async function readGuarded(path: string): Promise<string> {
  await using file = await open(path);
  const stat = await file.stat();
  if (isExposed(stat)) throw new ExposedError(path, stat.mode & 0o777);
  // Awaits the text before the file is closed.
  return await file.readFile('utf8');
}

/** Root may let a group read a file installed for a service. */
export const isExposed = (stat: Stats): boolean =>
  stat.isFile() && (stat.mode & (stat.uid === 0 ? 0o037 : 0o077)) !== 0;
