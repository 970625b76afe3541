// Runs netsniff-ng's trafgen(8) as the sender of a trial.

import { readFileSync } from 'node:fs';
import { shortened } from '../../model/one-line.ts';
import { nsPerTick } from '../../system/clock-ticks.ts';
import type { Command } from '../../system/shell.ts';
import { shell } from '../../system/shell.ts';

/** Sends until its standard input ends; then prints how long trafgen waited for its CPU, and trafgen's own log. */
export const senderScript = readFileSync(new URL('./trafgen.sh', import.meta.url));

type SenderRequest = {
  script: string;
  interface: string;
  cpu: number;
  offeredPps: number;
  flows: string;
  limitSeconds: number;
};

/** `script` is the path of `senderScript` on the sender. */
export function senderCommand(request: SenderRequest): Command {
  const { script, cpu, offeredPps, flows, limitSeconds } = request;
  return shell`bash ${script} ${request.interface} ${cpu} ${offeredPps} ${flows} ${limitSeconds}`;
}

type TrafgenOutcome =
  | {
      kind: 'sent';
      packets: number;
      seconds: number;
      offeredPps: number;
      /** Share of the time in which trafgen was runnable but not running; absent if unknown. */
      waitedRatio?: number;
    }
  | { kind: 'failed'; reason: string };

/**
 * Reads the line before trafgen's log and the summary at its end: the packets handed to the kernel, and the duration.
 */
export function parseTrafgenLog(log: string): TrafgenOutcome {
  const packets = /^[ \t]*(\d+) packets outgoing$/m.exec(log)?.[1];
  const time = /^[ \t]*(\d+) sec, (\d+) usec on CPU/m.exec(log);
  const seconds = Number(time?.[1]) + Number(time?.[2]) / 1e6;
  if (packets === undefined || !(seconds > 0)) {
    const lastLine = log.trim().split('\n').at(-1) ?? '';
    return {
      kind: 'failed',
      reason: `trafgen ended without its summary: "${shortened(lastLine)}"`,
    };
  }
  const waitedRatio = waitedShare(log);
  return {
    kind: 'sent',
    packets: Number(packets),
    seconds,
    offeredPps: Number(packets) / seconds,
    ...(waitedRatio === undefined ? {} : { waitedRatio }),
  };
}

/** A share of one CPU. Only the first line counts, which trafgen cannot forge. */
function waitedShare(log: string): number | undefined {
  const [, ns, ticks, start, end] = waitingLine.exec(log) ?? [];
  const seconds = Number(end) - Number(start);
  if (!(seconds > 0)) return undefined;
  return Math.min(1, (Number(ns) + Number(ticks) * nsPerTick) / 1e9 / seconds);
}

const waitingLine = /^waited (\d{1,15}) ns and (\d{1,9}) ticks from (\d{1,10}\.\d{6}) to (\d{1,10}\.\d{6})\n/;
