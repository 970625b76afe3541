// Runs a test program in a separate process, which can be killed and suspended, and reads its output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { Timed } from './contending.ts';

export type Program<Saying> = {
  /** Events so far. */
  readonly said: readonly Timed<Saying>[];
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  write(line: string): void;
  ended: Promise<Ending>;
};

export type Ending = { code: number | null; signal: string | null; stderr: string };

export const well: Ending = { code: 0, signal: null, stderr: '' };

export const soon = { timeout: 120_000, interval: 20 };

export type ProgramOptions<Saying> = {
  /** Name of the network namespace, for `ip netns exec`. */
  namespace?: string | undefined;
  onSaid?: (saying: Timed<Saying>, program: Program<Saying>) => void;
};

/** Starts `tests/fakes/NAME.ts` with that plan; it ends with the test. */
export function startProgram<Saying>(
  name: string,
  plan: object,
  { namespace, onSaid }: ProgramOptions<Saying> = {},
): Program<Saying> {
  const inNamespace = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  // The program ends with the tests, even if these are killed.
  const [command = '', ...words] = [...inNamespace, 'setpriv', '--pdeathsig', 'KILL'];
  const path = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(command, [...words, process.execPath, path, JSON.stringify(plan)]);
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  // A killed process no longer reads.
  child.stdin.on('error', () => {});
  const said: Timed<Saying>[] = [];
  const program: Program<Saying> = {
    said,
    signal: (name) => void child.kill(name),
    write: (line) => void child.stdin.write(`${line}\n`),
    ended: closed.then(([code, signal]) => ({ code, signal, stderr })),
  };
  createInterface(child.stdout).on('line', (line) => {
    const saying: Timed<Saying> = JSON.parse(line);
    said.push(saying);
    onSaid?.(saying, program);
  });
  return program;
}
