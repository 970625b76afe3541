// Profiles a FreeBSD DUT: samples its CPUs during a trial that measures nothing.

import { formatPercent } from '../../model/format.ts';
import { lastLine } from '../../model/one-line.ts';
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { impossible, judgeProfile, missed } from '../judge-profile.ts';
import type { KeepLog, ProfileOutcome, ProfileRequest } from '../testbed.ts';
import type { PktGenTrial } from '../traffic/pkt-gen-trial.ts';
import { collectSamples, endSampling, readySampling, sentWithin, windowCommand } from './dut/profile.ts';
import { freebsdLogNames } from './freebsd-logs.ts';

export type UnderLoad = {
  dut: Host;
  folder: string;
  egress: string;
  /** Opens the generators' ports for that length of traffic, and waits for their links; returns a trial that failed. */
  open(trafficSeconds: number): Promise<PktGenTrial | undefined>;
  send(trafficSeconds: number): Promise<PktGenTrial>;
};

/** Time from the order to send until packets flow; the same time remains after the window. */
const spareSeconds = 6;
/** The DUT must send this share of the received rate during the samples. */
const minForwardedRatio = 0.9;

/**
 * Starts sampling under load. A second attempt starts before the load, as some DUTs under load have no time for a new
 * program.
 */
export async function sampleUnderLoad(
  request: ProfileRequest,
  load: UnderLoad,
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  try {
    return await sampled(request, load, keepLog);
  } finally {
    await endSampling(load.dut, load.folder);
  }
}

async function sampled(
  { seconds, event: requested, attempt }: ProfileRequest,
  { dut, folder, egress, open, send }: UnderLoad,
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  const sampling = await readySampling(dut, folder, requested);
  if (sampling.kind === 'impossible') return sampling;
  const { event } = sampling;
  const trafficSeconds = seconds + 2 * spareSeconds;
  const unopened = await open(trafficSeconds);
  if (unopened?.kind === 'failed') return missed(unopened.reason);
  const window =
    attempt === 1
      ? { event, delaySeconds: spareSeconds, seconds }
      : { event, delaySeconds: 0, seconds: spareSeconds + seconds };
  const [samples, trial] = await Promise.all([dut.run(windowCommand(window, folder)), send(trafficSeconds)]);

  const { receiver, senders } = trial.logs;
  await keepLog(freebsdLogNames.receiver, receiver);
  for (const [index, log] of senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
  await keepLog(freebsdLogNames.counters, samples.stdout + samples.stderr);
  if (trial.kind === 'failed') return missed(trial.reason);
  if (!isGood(samples)) {
    return missed(`pmcstat failed on the DUT: ${lastLine(samples.stderr) ?? 'it said nothing'}`);
  }
  const text = await collectSamples(dut, folder);
  const forwarded = sentWithin(samples.stdout, egress) ?? 0;
  const expected = trial.run.medianPps * seconds;
  if (forwarded < minForwardedRatio * expected) {
    const share = formatPercent(forwarded / expected);
    return missed(`the sampling window missed the trial: only ${share} of its packets were forwarded during it`);
  }
  if (hasNoSample(text)) {
    const fix = 'set `profile.event` to another event that `pmccontrol -L` lists, or remove `profile`';
    return impossible(
      `the DUT recorded no sample of ${event} under load, which many virtual machines do not support: ${fix}`,
    );
  }
  return judgeProfile(text, { event, kernel: 'an unknown kernel' }, keepLog);
}

/** Without samples, pmcstat(8) writes only its heading, and succeeds. */
const hasNoSample = (graph: string): boolean =>
  graph.split('\n').every((line) => line.trim() === '' || line.startsWith('#'));
