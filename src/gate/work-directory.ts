// Creates a command's work directory, unlike any other's, and gives it to the user who called sudo.
import { existsSync, statSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { reasonOf } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';
import { callerThroughSudo, type OwnNames, placeAt } from '../system/give-to-caller.ts';

/** Top-level names in the work directories of gates and bisections. */
export const workNames: OwnNames = {
  names: [
    ...['experiment.json', '.experiment.json', 'bisect.json', '.bisect.json', 'journal.jsonl'],
    ...['lease.json', 'result.json', 'report.md', 'report', 'builds', 'trials', 'profiles'],
  ],
  marks: ['experiment.json', 'bisect.json'],
};

const selfTestNames: OwnNames = {
  names: ['self-test.jsonl', 'own-kernel.tar', 'trials', 'profiles'],
  marks: ['self-test.jsonl'],
};

type GivenDirectory = { resume?: string | undefined; directory?: string | undefined };

type Place = Awaited<ReturnType<typeof placeAt>>;

/** Its disposal removes a new directory that stayed empty. */
export class WorkDirectory implements AsyncDisposable {
  readonly #prefix: string;
  readonly #warn: (sentence: string) => void;
  readonly #own: OwnNames;
  readonly #caller = callerThroughSudo(process.env, process.getuid?.());
  #place: Place | undefined;
  #made: string | undefined;
  #path = '';

  /** `prefix` begins a generated name. */
  constructor(prefix: string, warn: (sentence: string) => void, own = workNames) {
    this.#prefix = prefix;
    this.#warn = warn;
    this.#own = own;
  }

  /** Returns the given directory, which need not exist yet, or creates one in the current directory. */
  async open({ resume, directory }: GivenDirectory): Promise<string> {
    const given = resume ?? directory;
    if (given !== undefined) refuseNoFolder(given, resume === undefined ? '--directory' : '--resume');
    if (given === undefined) this.#made = await makeDirectory(this.#prefix, new Date());
    this.#path = given ?? this.#made ?? '';
    const isMissing = resume !== undefined && !existsSync(resume);
    if (this.#caller !== undefined && !isMissing) {
      this.#place = await placeAt(this.#path, this.#own, this.#made);
    }
    return this.#path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#place !== undefined && this.#caller !== undefined) {
      await this.#place.giveTo(this.#caller).catch((error: unknown) => {
        this.#warn(`files in ${this.#path} still belong to root: ${reasonOf(error)}`);
      });
      await this.#place[Symbol.asyncDispose]();
    }
    // A name in the current directory, so that no link can lead it elsewhere.
    if (this.#made !== undefined) await rmdir(this.#made).catch(() => {});
  }
}

/** Throws for a path that is no folder; the folder itself may be missing. */
export function refuseNoFolder(path: string, option: string): void {
  if (path === '') throw new UsageError(`${option}: expected the name of a folder, found "".`);
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  } catch (error) {
    throw new UsageError(`${option}: ${path} is not a folder (${reasonOf(error)}): name a folder.`);
  }
  throw new UsageError(`${option}: ${path} is a file: name a folder.`);
}

export const selfTestDirectory = (warn: (sentence: string) => void): WorkDirectory =>
  new WorkDirectory('ppsgate-self-test', warn, selfTestNames);

/** Creates `ppsgate-demo-20261120-231655` in the current directory; `…-2` if another command has just created that. */
export async function makeDirectory(prefix: string, now: Date): Promise<string> {
  const digits = now.toISOString().replace(/\D/g, '');
  const first = `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? first : `${first}-${number}`;
    try {
      await mkdir(name);
      return name;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}
