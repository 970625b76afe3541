// A running command: what it gets, what it may do, and how it ends.

import type { Pace } from './clock.ts';
import type { Complaints } from './complaints.ts';
import type { Deps, Machine } from './machine.ts';
import type { Network } from './network.ts';

/** End of a command: by exit, or by a signal such as `KILL`. */
export type Ending = { kind: 'exited'; code: number } | { kind: 'signaled'; signal: string };

export type Process = {
  readonly machine: Machine;
  readonly deps: Deps;
  readonly network: Network;
  readonly complaints: Complaints;
  /** After the program's name. */
  readonly args: readonly string[];
  /** All of what it is given to read. */
  readonly stdin: () => Promise<Buffer>;
  readonly out: (text: string | Uint8Array) => void;
  readonly err: (text: string) => void;
  /** SIGINT, for the programs that catch it. */
  readonly interrupted: AbortSignal;
  /** Any other end: the program is gone. */
  readonly killed: AbortSignal;
  /** Until the time is over or it is interrupted; throws `Killed`. */
  readonly sleep: (seconds: number, pace?: Pace) => Promise<void>;
};

/** Variables by which rc(8) runs some of them. */
export type Plain = Pick<Process, 'machine' | 'args' | 'out' | 'err' | 'complaints'>;

/** Answers the exit code. */
export type Program = (process: Process) => number | Promise<number>;

/** Thrown through a program that was killed. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

export type Context = Pick<
  Process,
  'machine' | 'deps' | 'network' | 'complaints' | 'stdin' | 'out' | 'err'
>;

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

/** Says why on stderr, and answers the exit code. */
export function fail({ err }: Pick<Process, 'err'>, message: string, code = 1): number {
  err(`${message}\n`);
  return code;
}

/** Fails for features that FreeBSD has and the laboratory lacks: the test fails too, as it must not rely on them. */
export function notModelled(
  { complaints, err, machine }: Pick<Process, 'complaints' | 'err' | 'machine'>,
  what: string,
): number {
  complaints.add(`${machine.name}: ${what} is not modelled by the FreeBSD laboratory`);
  return fail({ err }, `freebsd-lab: ${what} is not modelled`, 99);
}
