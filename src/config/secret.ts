// Reads what must not stand in ppsgate.yml: a token or a key, from a file of its own or the environment.
import { readFile } from 'node:fs/promises';
import { reasonOf } from '../words/one-line.ts';
import { UsageError } from '../words/usage-error.ts';

export type SecretPlace = {
  /** Like `the Conduit token`. */
  what: string;
  path?: string | undefined;
  /** Where there is no file. */
  variable?: string;
};

/** One line of text; throws a `UsageError` that says where it was looked for and nothing of it. */
export async function readSecret({ what, path, variable }: SecretPlace): Promise<string> {
  const found =
    path === undefined ? (process.env[variable ?? ''] ?? '') : await readText(what, path);
  const secret = found.replace(/\r?\n$/, '');
  if (/^\P{Cc}+$/u.test(secret)) return secret;
  const where = path === undefined ? `${variable} in the environment` : `the file ${path}`;
  const fault = secret === '' ? 'is empty' : 'has more than a line';
  throw new UsageError(`${what} is missing: ${where} ${fault}; write it there and nothing else.`);
}

const readText = (what: string, path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${what} is missing: ${path} cannot be read (${reasonOf(error)}).`);
  });
