// How git is started on a repository of this machine, whoever's settings it would go by, and how it says no.
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

export type Git = {
  directory: string;
  /** What it prints, of at most 4 MiB. */
  git(...args: string[]): Promise<string>;
  gitWith(more: NodeJS.ProcessEnv, ...args: string[]): Promise<string>;
  /** The same as bytes, by the environment of this process alone. */
  bytes(...args: string[]): Promise<Buffer>;
  /** A process for what it prints, however much that is. */
  start(args: string[], options?: { timeout: number }): Started;
};

export type Started = ChildProcessByStdio<Writable, Readable, null>;

/** What git could not do, in one sentence. */
export class RepositoryError extends Error {
  override readonly name: string = 'RepositoryError';
  readonly conclusion = 'usage';
}

const run = promisify(execFile);
/** The most bytes of one file, and of one listing. */
const maxBytes = 4 * 1024 * 1024;

/** @param environment for git, where fetching what is missing needs more than the checkout has. */
export function gitIn(directory: string, environment: NodeJS.ProcessEnv): Git {
  // Through sudo, and in containers, the checkout often belongs to somebody else; only objects are touched.
  const options = ['-C', directory, '-c', 'safe.directory=*'];
  const gitWith = async (more: NodeJS.ProcessEnv, ...args: string[]): Promise<string> => {
    const env = { ...process.env, ...environment, ...more };
    const { stdout } = await run('git', [...options, ...args], { env, maxBuffer: maxBytes });
    return stdout;
  };
  return {
    directory,
    git: (...args) => gitWith({}, ...args),
    gitWith,
    async bytes(...args) {
      const bounds = { maxBuffer: maxBytes, encoding: 'buffer' } as const;
      return (await run('git', [...options, ...args], bounds)).stdout;
    },
    start: (args, more) =>
      spawn('git', [...options, ...args], {
        env: { ...process.env, ...environment },
        stdio: ['pipe', 'pipe', 'ignore'],
        ...more,
      }),
  };
}

export const isId = (name: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);

/** Whoever asks for more than a name to be resolved has an id. */
export function idOf(text: string): string {
  if (isId(text)) return text;
  throw new RepositoryError(`"${text}" is no full id of an object: resolve it first.`);
}

/** A patch as anybody would get it who has no settings. */
export const plainPatch = [
  ...['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--full-index'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

/** What git is told instead of the settings of whoever runs it. */
export const plainly = [
  'core.autocrlf=false',
  // Half of it would lie in the repository.
  'core.splitIndex=false',
  'apply.ignoreWhitespace=no',
  'i18n.commitEncoding=UTF-8',
].flatMap((setting) => ['-c', setting]);

/** Author and committer, so that the same commit comes of the same content, whoever makes it. */
export function signature(date: Date): NodeJS.ProcessEnv {
  // Without the @ git takes few digits for something else.
  const at = `@${Math.floor(date.getTime() / 1000)} +0000`;
  const [name, email] = ['ppsgate', 'ppsgate@localhost.invalid'];
  return {
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: at },
    ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_COMMITTER_DATE: at },
  };
}

/** Fields that end in NUL, one after the other, each made `short`: one may be longer than our memory. */
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
