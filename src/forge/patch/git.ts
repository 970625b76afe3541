// Runs git on a local repository without its user's settings, and explains its errors.
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { callerOwning } from '../../system/give-to-caller.ts';

export type Git = {
  directory: string;
  /** Returns at most 4 MiB. */
  run(...args: string[]): Promise<string>;
  runWith(more: NodeJS.ProcessEnv, ...args: string[]): Promise<string>;
  /** Returns bytes, and passes only this process's environment. */
  bytes(...args: string[]): Promise<Buffer>;
  start(args: string[], options?: { timeout: number }): Started;
  /** Lets git use temporary files and folders that this process made. */
  share(...paths: string[]): Promise<void>;
};

export type Started = ChildProcessByStdio<Writable, Readable, null>;

export class RepositoryError extends Error {
  override readonly name: string = 'RepositoryError';
  readonly conclusion = 'usage';
}

const run = promisify(execFile);
const maxBytes = 4 * 1024 * 1024;

/** @param environment for git, if fetching missing objects needs more than the checkout has. */
export function gitIn(directory: string, environment: NodeJS.ProcessEnv): Git {
  // Under sudo and in containers the checkout often has another owner. Only objects are touched.
  const options = ['-C', directory, '-c', 'safe.directory=*'];
  const caller = callerReaching(resolve(directory));
  const home = caller && { HOME: process.env.SUDO_HOME ?? '/' };
  const runWith = async (more: NodeJS.ProcessEnv, ...args: string[]): Promise<string> => {
    const env = { ...process.env, ...home, ...environment, ...more };
    const bounds = { env, maxBuffer: maxBytes, ...caller };
    try {
      return (await run('git', [...options, ...args], bounds)).stdout;
    } catch (error) {
      throw whyNotWritten(directory, error) ?? error;
    }
  };
  return {
    directory,
    run: (...args) => runWith({}, ...args),
    runWith,
    async bytes(...args) {
      const env = { ...process.env, ...home };
      const bounds = { env, maxBuffer: maxBytes, encoding: 'buffer', ...caller } as const;
      return (await run('git', [...options, ...args], bounds)).stdout;
    },
    start: (args, more) =>
      spawn('git', [...options, ...args], {
        env: { ...process.env, ...home, ...environment },
        stdio: ['pipe', 'pipe', 'ignore'],
        ...caller,
        ...more,
      }),
    async share(...paths) {
      if (caller === undefined) return;
      for (const path of paths) await chown(path, caller.uid, caller.gid);
    },
  };
}

/** Returns the caller of sudo if the checkout is theirs, and git reaches it without their supplementary groups. */
function callerReaching(directory: string): ReturnType<typeof callerOwning> {
  const caller = callerOwning(directory);
  if (caller === undefined) return undefined;
  for (let folder = directory; ; folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const right = uid === caller.uid ? 0o100 : gid === caller.gid ? 0o010 : 0o001;
    if ((mode & right) === 0) return undefined;
    if (folder === dirname(folder)) return caller;
  }
}

/** Returns an error with advice if git cannot create an object. */
function whyNotWritten(directory: string, error: unknown): RepositoryError | undefined {
  const { stderr } = error as { stderr?: unknown };
  const [line] =
    /(?:insufficient permission for adding an object|unable to create temporary file)[^\n]*/.exec(
      typeof stderr === 'string' ? stderr : '',
    ) ?? [];
  if (line === undefined) return undefined;
  return new RepositoryError(
    `git cannot write in the repository ${directory} (${line}): make its .git writable for this user, for example with chown -R.`,
  );
}

export const isId = (name: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);

/** Throws for a name that is not resolved. */
export function idOf(text: string): string {
  if (isId(text)) return text;
  throw new RepositoryError(`"${text}" is not a full object ID: resolve it first.`);
}

export const plainPatch = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--full-index',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

export const plainly = [
  'core.autocrlf=false',
  // A split index would write a part of it to the repository.
  'core.splitIndex=false',
  'apply.ignoreWhitespace=no',
  'i18n.commitEncoding=UTF-8',
].flatMap((setting) => ['-c', setting]);

/** Dates author and committer, so that equal content yields equal commits. */
export function signature(date: Date): NodeJS.ProcessEnv {
  // Without the @, git reads a short number as another form of date.
  const at = `@${Math.floor(date.getTime() / 1000)} +0000`;
  const [name, email] = ['ppsgate', 'ppsgate@localhost.invalid'];
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: at,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: at,
  };
}

/** Yields the fields of an output that end in NUL, each shortened by `short`, as one may exceed our memory. */
export async function* fieldsOf(
  output: AsyncIterable<string>,
  short: (text: string) => string,
): AsyncGenerator<string> {
  let field = '';
  for await (const chunk of output) {
    const [rest = '', ...begun] = chunk.split('\0');
    field = short(field + rest);
    for (const next of begun) {
      yield field;
      field = short(next);
    }
  }
}
