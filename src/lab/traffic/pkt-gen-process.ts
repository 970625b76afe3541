// A pkt-gen that runs on another machine: what it says while it does, and how it is ended.

import type { Host } from '../../system/host/ssh.ts';
import type { Command } from '../../system/shell.ts';
import { interruptCommand, printingProcessId, processIdIn } from './pkt-gen-command.ts';

export type PktGenProcess = {
  /** All of it; rejected with a HostError where its end cannot be known. */
  log: Promise<string>;
  /** What it has said on stderr so far. */
  output(): string;
  /** Whether what it says came to that before it ended; never rejected. */
  until(holds: (said: string) => boolean): Promise<boolean>;
  /** Once it has told its process id; nothing for one that has ended. */
  interrupt(): Promise<void>;
  /** The process ended by itself, or still runs. */
  isUntouched(): boolean;
  isOver(): boolean;
};

/** The most characters of a log; a second has some hundred. */
const mostSaid = 16 * 1024 ** 2;

/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
export function startPktGen(host: Host, command: Command): PktGenProcess {
  const lookers = new Set<() => void>();
  let said = '';
  let isOver = false;
  let isUntouched = true;
  const onStderr = (chunk: Uint8Array) => {
    if (said.length < mostSaid) said += Buffer.from(chunk).toString();
    for (const look of lookers) look();
  };
  const log = host
    .run(printingProcessId(command), { onStderr })
    .then(({ stdout }) => said + stdout)
    .finally(() => {
      isOver = true;
      for (const look of lookers) look();
    });
  // Whoever waits for the log hears of it.
  log.catch(() => {});

  const until = (holds: (said: string) => boolean) =>
    new Promise<boolean>((resolve) => {
      const look = () => {
        const isSo = holds(said);
        if (!isSo && !isOver) return;
        lookers.delete(look);
        resolve(isSo);
      };
      lookers.add(look);
      look();
    });
  return {
    log,
    output: () => said,
    until,
    async interrupt() {
      await until((text) => processIdIn(text) !== undefined);
      const processId = processIdIn(said);
      if (processId === undefined || isOver) return;
      isUntouched = false;
      await host.run(interruptCommand(processId));
    },
    isUntouched: () => isUntouched,
    isOver: () => isOver,
  };
}

/** Never rejected: where a connection is lost, the log says so. */
export async function endPktGens(processes: readonly PktGenProcess[]): Promise<void> {
  await Promise.allSettled(processes.map((one) => one.interrupt()));
  await Promise.allSettled(processes.map(({ log }) => log));
}
