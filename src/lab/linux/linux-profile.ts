// Profiles a Linux DUT: perf(1) on its forwarding CPU while packets flow, by the program on the DUT.
import { type Command, shell } from '../../system/shell.ts';

export type SamplingRequest = {
  script: string;
  ingress: string;
  cpu: number;
  scenario: string;
  warmUpSeconds: number;
  seconds: number;
  /** Absent: perf's own choice, cycles where the CPU counts them and its clock elsewhere. */
  event?: string | undefined;
  /** Folder of the variant, relative to the script's. */
  variant: string;
};

/** The command that samples a variant, ahead of the packets but on whichever CPU has time. */
export function samplingCommand(request: SamplingRequest): Command {
  const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
  const chosen = event === undefined ? [] : ['--event', event];
  const perSecond = Math.min(mostPerSecond, Math.ceil(wantedSamples / seconds));
  return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}

/** Enough to tell a function that a patch made a tenth dearer, and some 20 MB as perf prints them. */
const wantedSamples = 8000;
/** More would slow the DUT down by more than some percent. */
const mostPerSecond = 3999;

/** Prints what was sampled, with what it was sampled on at its head. */
export const printingCommand = (folder: string): Command =>
  shell`perf script --header --input ${`${folder}/perf.data`}`;

/** Packets that arrived per second while samples were taken, and right after: undefined where the log does not tell. */
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

const rate = (from: ProfileMark, to: ProfileMark): number =>
  (to.packets - from.packets) / (to.seconds - from.seconds);
