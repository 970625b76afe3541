// Runs a command to its exit code. Its code is loaded only now: help and mistakes need none of it.
import type { Command } from 'commander';
import { runToExit } from '../system/exit.ts';

/** Last parameter of a command's function, after its arguments and options. */
export type Call = {
  signal: AbortSignal;
  /** Printed after the reason of a failure, such as how to resume. */
  closingLines: string[];
};

type Loaded = { run(...args: never[]): Promise<number> };

/** `endsAtOnce` is for commands with nothing to clean up, see `runToExit`. */
export const run = (load: () => Promise<Loaded>, how: { endsAtOnce?: true } = {}) =>
  async function (this: Command, ...args: unknown[]): Promise<void> {
    const closingLines: string[] = [];
    const work = async (signal: AbortSignal) => {
      const loaded = (await load()) as { run(...args: unknown[]): Promise<number> };
      return loaded.run(...args.slice(0, -1), { signal, closingLines } satisfies Call);
    };
    await runToExit(work, { ...this.optsWithGlobals<{ debug?: boolean }>(), ...how, closingLines });
  };
