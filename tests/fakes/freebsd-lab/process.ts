// A running command: its input, its permitted acts, and its end.

import type { Pace } from './clock.ts';
import type { Deps, Machine } from './machine.ts';
import type { Network } from './network.ts';

/** End of a command: by exit, or by a signal such as `KILL`. */
export type Ending = { kind: 'exited'; code: number } | { kind: 'signaled'; signal: string };

export type Process = {
  readonly machine: Machine;
  readonly deps: Deps;
  readonly network: Network;
  /** After the program's name. */
  readonly args: readonly string[];
  /** Its whole standard input. */
  readonly stdin: () => Promise<Buffer>;
  readonly out: (text: string | Uint8Array) => void;
  readonly err: (text: string) => void;
  /** SIGINT, for programs that handle it. */
  readonly interrupted: AbortSignal;
  /** Any other end: the program is gone. */
  readonly killed: AbortSignal;
  /** Sleeps until the time is over or an interrupt; throws `Killed`. */
  readonly sleep: (seconds: number, pace?: Pace) => Promise<void>;
};

/** Properties with which rc(8) runs some programs. */
export type Plain = Pick<Process, 'machine' | 'args' | 'out' | 'err'>;

/** Returns the exit code. */
export type Program = (process: Process) => number | Promise<number>;

export class Killed extends Error {
  override readonly name = 'Killed';
}

/** FreeBSD has the feature, but the fake lab lacks it: the test fails, as it must not rely on it. */
export class NotModelled extends Error {
  override readonly name = 'NotModelled';
}

export function notModelled(): never {
  throw new NotModelled('The FreeBSD laboratory does not model this.');
}

export type Context = Pick<Process, 'machine' | 'deps' | 'network' | 'stdin' | 'out' | 'err'>;

/** Runs a program; its output after `killed` is aborted is dropped. */
export async function runProgram(
  program: Program,
  context: Context,
  args: readonly string[],
  { interrupted, killed }: { interrupted: AbortSignal; killed: AbortSignal },
): Promise<Ending> {
  const { clock } = context.deps;
  const either = AbortSignal.any([interrupted, killed]);
  const whileAlive =
    <Text>(say: (text: Text) => void) =>
    (text: Text) => {
      if (!killed.aborted) say(text);
    };
  try {
    const code = await program({
      ...context,
      args,
      interrupted,
      killed,
      out: whileAlive(context.out),
      err: whileAlive(context.err),
      async sleep(seconds, pace = 'busy') {
        await clock.sleep(seconds, { signal: interrupted.aborted ? killed : either, pace });
        if (killed.aborted) throw new Killed();
      },
    });
    return killed.aborted ? { kind: 'signaled', signal: 'KILL' } : { kind: 'exited', code };
  } catch (error) {
    if (error instanceof Killed) return { kind: 'signaled', signal: 'KILL' };
    throw error;
  }
}

/** Prints an answer, which is a success. */
export function print({ out }: Pick<Process, 'out'>, text: string): number {
  out(text);
  return 0;
}

/** Prints the reason to stderr, and returns the exit code. */
export function fail({ err }: Pick<Process, 'err'>, message: string, code = 1): number {
  err(`${message}\n`);
  return code;
}
