// Runs a pkt-gen on another machine: collects its output, and ends it.

import type { Host } from '../../system/host/ssh.ts';
import type { Command } from '../../system/shell.ts';
import { interruptCommand, printingProcessId, processIdIn } from './pkt-gen-command.ts';

export type PktGenProcess = {
  log: Promise<string>;
  output(): string;
  /** Resolves to true once its output satisfies the condition, to false if it ends before; never rejects. */
  until(holds: (output: string) => boolean): Promise<boolean>;
  /** Waits for its process id; has no effect once it has ended. */
  interrupt(): Promise<void>;
  isUntouched(): boolean;
  isOver(): boolean;
};

/** In characters; a second has about 100. */
const maxOutput = 16 * 1024 ** 2;

/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
export function startPktGen(host: Host, command: Command): PktGenProcess {
  const waiters = new Set<() => void>();
  let output = '';
  let isOver = false;
  let isUntouched = true;
  const onStderr = (chunk: Uint8Array) => {
    if (output.length < maxOutput) output += Buffer.from(chunk).toString();
    for (const check of waiters) check();
  };
  const log = host
    .run(printingProcessId(command), { onStderr })
    .then(({ stdout }) => output + stdout)
    .finally(() => {
      isOver = true;
      for (const check of waiters) check();
    });
  // Callers that await the log get the error.
  log.catch(() => {});

  const until = (holds: (output: string) => boolean) =>
    new Promise<boolean>((resolve) => {
      const check = () => {
        const isSatisfied = holds(output);
        if (!isSatisfied && !isOver) return;
        waiters.delete(check);
        resolve(isSatisfied);
      };
      waiters.add(check);
      check();
    });
  return {
    log,
    output: () => output,
    until,
    async interrupt() {
      await until((text) => processIdIn(text) !== undefined);
      const processId = processIdIn(output);
      if (processId === undefined || isOver) return;
      isUntouched = false;
      await host.run(interruptCommand(processId));
    },
    isUntouched: () => isUntouched,
    isOver: () => isOver,
  };
}

/** Never rejects: a lost connection rejects the log. */
export async function endPktGens(processes: readonly PktGenProcess[]): Promise<void> {
  await Promise.allSettled(processes.map((one) => one.interrupt()));
  await Promise.allSettled(processes.map(({ log }) => log));
}
