// Gives power controllers HTTPS, local programs, a clock and files. Tests pass their own.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { readGuarded } from '../../config/secret.ts';
import { reasonOf } from '../../model/one-line.ts';
import { sendRequest } from '../../system/http.ts';

export type PowerDeps = {
  sendRequest: typeof sendRequest;
  /** Runs `program` from the PATH with `args`, without a shell. Never rejects. */
  run(program: string, args: readonly string[], options: RunOptions): Promise<ProgramOutcome>;
  sleep(seconds: number): Promise<void>;
  readFile(path: string): Promise<string>;
  /** Rejects with an ExposedError if other users can read the file. */
  readSecret(path: string): Promise<string>;
  /** Password for every BMC without a password file. */
  password(): string | undefined;
};

type RunOptions = {
  stdin?: string;
  env?: Readonly<Record<string, string>>;
  /** After this time the program and its children are killed. */
  timeoutSeconds: number;
};

/** `why` completes "NAME …". */
export type ProgramOutcome =
  | { kind: 'exited'; code: number; stdout: string; stderr: string }
  | { kind: 'failed'; why: string };

export const realPowerDeps: PowerDeps = {
  sendRequest,
  run,
  sleep: (seconds) => setTimeout(seconds * 1000),
  readFile: (path) => readFile(path, 'utf8'),
  readSecret: readGuarded,
  password: () => process.env.PPSGATE_BMC_PASSWORD,
};

const maxBytes = 1024 ** 2;

function run(program: string, args: readonly string[], options: RunOptions): Promise<ProgramOutcome> {
  const { stdin = '', env, timeoutSeconds } = options;
  // Detached: a new process group, so that it can be killed as one, and no terminal to prompt for a password.
  const child = spawn(program, args, { env: { ...process.env, ...env }, detached: true });
  const { promise, resolve } = Promise.withResolvers<ProgramOutcome>();

  const giveUp = (why: string) => {
    resolve({ kind: 'failed', why });
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = globalThis.setTimeout(() => giveUp(`did not end within ${timeoutSeconds} s`), timeoutSeconds * 1000);
  const stdout = collect(child.stdout, giveUp);
  const stderr = collect(child.stderr, giveUp);
  // A program may end without reading its input.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  child.on('error', (error) => giveUp(`cannot be started: ${reasonOf(error)}`));
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    if (code === null) giveUp(`was ended by ${signal}`);
    else resolve({ kind: 'exited', code, stdout: stdout(), stderr: stderr() });
  });
  return promise;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has ended.
  }
}

function collect(stream: NodeJS.ReadableStream, giveUp: (why: string) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else giveUp(`wrote more than ${maxBytes} bytes`);
  });
  return () => Buffer.concat(chunks).toString();
}
