// Profiles a Linux DUT with perf(1) on its forwarding CPU while packets flow.
import { type Command, shell } from '../../system/shell.ts';

export type SamplingRequest = {
  script: string;
  ingress: string;
  cpu: number;
  scenario: string;
  warmUpSeconds: number;
  seconds: number;
  /** Absent: perf's default, which is cycles if the CPU counts them, otherwise its clock. */
  event?: string | undefined;
  variant: string;
};

/** Samples a variant at a higher priority than the packets, on any CPU with spare time. */
export function samplingCommand(request: SamplingRequest): Command {
  const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
  const chosen = event === undefined ? [] : ['--event', event];
  const perSecond = Math.min(maxPerSecond, Math.ceil(wantedSamples / seconds));
  return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}

/** Enough to see a function that became 10 % slower; about 20 MB as perf prints them. */
const wantedSamples = 8000;
/** More would slow the DUT down by several percent. */
const maxPerSecond = 3999;

/** Prints the samples after a header with their conditions. */
export const printingCommand = (folder: string): Command =>
  shell`perf script --header --input ${`${folder}/perf.data`}`;

/** Packets per second that arrived during the samples, and right after; undefined if the log has no counters. */
export function arrivalsAround(log: string): { withinPps: number; afterPps: number } | undefined {
  const marks = [...log.matchAll(/^mark (\d+\.\d+) (\d+)$/gm)].map(([, seconds, packets]) => ({
    seconds: Number(seconds),
    packets: Number(packets),
  }));
  const [start, end, after] = marks;
  if (start === undefined || end === undefined || after === undefined) return undefined;
  return { withinPps: rate(start, end), afterPps: rate(end, after) };
}

type ProfileMark = { seconds: number; packets: number };

const rate = (from: ProfileMark, to: ProfileMark): number => (to.packets - from.packets) / (to.seconds - from.seconds);
