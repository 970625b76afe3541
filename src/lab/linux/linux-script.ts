// Runs the script that samples a trial on a Linux DUT, and profiles it with perf(1), where other commands get no CPU time meanwhile.

import { readFileSync } from 'node:fs';
import { shortened } from '../../model/one-line.ts';
import { nsPerTick } from '../../system/clock-ticks.ts';
import type { Command } from '../../system/shell.ts';
import { shell } from '../../system/shell.ts';

/** Read at startup: a gate restores its DUT with it hours later, when the files may be gone. */
export const linuxDutScript = Buffer.concat([
  readFileSync(new URL('./linux-counters.sh', import.meta.url)),
  readFileSync(new URL('./linux-install.sh', import.meta.url)),
  readFileSync(new URL('./linux-observe.sh', import.meta.url)),
  readFileSync(new URL('./linux-script.sh', import.meta.url)),
]);

export type ObserveRequest = {
  script: string;
  ingress: string;
  egress: string;
  cpu: number;
  scenario: string;
  warmUpSeconds: number;
  settleSeconds: number;
  sliceSeconds: number;
  slices: number;
  /** Prints every line immediately; writing costs time in runs of milliseconds. */
  live: boolean;
  /** Folders relative to the script's folder, in the order of the runs. */
  variants: readonly string[];
};

/** Samples a trial's runs at a higher priority than everything else on the DUT's CPU. */
export function observeCommand(request: ObserveRequest): Command {
  const { script, ingress, egress, cpu, scenario, variants, slices } = request;
  const live = request.live ? 1 : 0;
  const times = [request.warmUpSeconds, request.settleSeconds, request.sliceSeconds];
  return shell`chrt -f 20 taskset -c ${cpu} bash ${script} observe ${ingress} ${egress} ${cpu} ${scenario} ${times} ${slices} ${live} ${variants}`;
}

export type LinuxSample = {
  seconds: number;
  receivedPackets: number;
  forwardedPackets: number;
  busySeconds?: number;
  /**
   * Time in which the forwarding thread was runnable while its CPU ran other work, of this machine or its hypervisor.
   */
  deniedSeconds?: number;
};

export type LinuxObservation =
  | { kind: 'observed'; samplesPerRun: LinuxSample[][] }
  | { kind: 'failed'; reason: string };

/** Parses the output of `observe`: converts counters at points in time to differences. */
export function parseObservation(log: string): LinuxObservation {
  const lines = log.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  if (last !== 'end') {
    const reason = `the DUT’s log does not end with "end", but with "${shortened(last)}"`;
    return { kind: 'failed', reason };
  }
  const points = lines.filter((line) => line.startsWith('sample ')).map(parsePoint);
  const runs = Map.groupBy(points, (point) => point.run);
  const samplesPerRun = [...runs.values()].map(differences);
  const later = [...runs.values()].flatMap((points) => points.slice(1));
  const wrong = later[samplesPerRun.flat().findIndex((sample) => !goesForward(sample))];
  if (wrong === undefined) return { kind: 'observed', samplesPerRun };
  const reason = `a line of the DUT’s log does not follow the one before: "${shortened(wrong.line)}"`;
  return { kind: 'failed', reason };
}

/** Receives a run's log in pieces of any size, and returns the samples of all complete lines so far. */
export function samplesAsTheyCome(): (piece: string) => readonly LinuxSample[] {
  const samples: LinuxSample[] = [];
  let unfinished = '';
  let before: CounterReading | undefined;
  return (piece) => {
    unfinished += piece;
    if (!piece.includes('\n')) return samples;
    const lines = unfinished.split('\n');
    unfinished = lines.pop() ?? '';
    for (const point of lines.filter((line) => line.startsWith('sample ')).map(parsePoint)) {
      if (before !== undefined) samples.push(difference(before, point));
      before = point;
    }
    return samples;
  };
}

type CounterReading = {
  line: string;
  run: string;
  time: number;
  received: number;
  forwarded: number;
  busyNs: number;
  deniedNs: number;
};

function parsePoint(line: string): CounterReading {
  const [, run = '', time, received, forwarded, busyNs, delayNs, stolenTicks] = line.split(' ');
  return {
    line,
    run,
    time: Number(time),
    received: Number(received),
    forwarded: Number(forwarded),
    busyNs: Number(busyNs),
    deniedNs: Number(delayNs) + Number(stolenTicks) * nsPerTick,
  };
}

const differences = (points: CounterReading[]): LinuxSample[] =>
  points.slice(1).map((point, index) => difference(points[index] as CounterReading, point));

function difference(before: CounterReading, point: CounterReading): LinuxSample {
  const busySeconds = (point.busyNs - before.busyNs) / 1e9;
  const deniedSeconds = (point.deniedNs - before.deniedNs) / 1e9;
  return {
    seconds: point.time - before.time,
    receivedPackets: point.received - before.received,
    forwardedPackets: point.forwarded - before.forwarded,
    ...(Number.isNaN(busySeconds) ? {} : { busySeconds }),
    ...(Number.isNaN(deniedSeconds) ? {} : { deniedSeconds }),
  };
}

const goesForward = (sample: LinuxSample) =>
  sample.seconds > 0 &&
  [sample.receivedPackets, sample.forwardedPackets].every((packets) => packets >= 0) &&
  [sample.busySeconds, sample.deniedSeconds].every((seconds = 0) => seconds >= 0);

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
  const rate = (from: typeof start, to: typeof start) => (to.packets - from.packets) / (to.seconds - from.seconds);
  return { withinPps: rate(start, end), afterPps: rate(end, after) };
}
