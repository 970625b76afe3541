// A profile on a FreeBSD testbed: samples are taken on the DUT while a trial goes over it that measures nothing.

import { formatPercent } from '../../model/format.ts';
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import { judgeProfile, missed } from '../judge-profile.ts';
import type { KeepLog, ProfileOutcome, ProfileRequest } from '../testbed.ts';
import type { PktGenTrial } from '../traffic/pkt-gen-trial.ts';
import {
  collectSamples,
  endSampling,
  readySampling,
  sentWithin,
  windowCommand,
} from './dut/profile.ts';
import { freebsdLogNames } from './freebsd-logs.ts';

export type UnderLoad = {
  /** The DUT, with the cell's rules in force. */
  dut: Host;
  /** Folder on the DUT for files of ours. */
  folder: string;
  /** Interface of the DUT by which packets leave. */
  egress: string;
  /** Has the generators' ports open, and their links settled, for packets that flow for so long; answers what failed. */
  open(trafficSeconds: number): Promise<PktGenTrial | undefined>;
  /** Has packets flow for so long. */
  send(trafficSeconds: number): Promise<PktGenTrial>;
};

/** Time from the word to go until packets flow; as much is left at the window's end. */
const spareSeconds = 6;
/** So much of what the receiver got in as many seconds has to have left the DUT while samples were taken. */
const leastForwardedRatio = 0.9;

/**
 * A window that opens by itself while packets flow; where that was missed, one that is open before they do: some DUTs
 * leave a program no time at all to begin under load, and what they sample before is idle.
 */
export async function sampleUnderLoad(
  request: ProfileRequest,
  around: UnderLoad,
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  try {
    return await sampled(request, around, keepLog);
  } finally {
    await endSampling(around.dut, around.folder);
  }
}

async function sampled(
  { seconds, event: asked, attempt }: ProfileRequest,
  { dut, folder, egress, open, send }: UnderLoad,
  keepLog: KeepLog,
): Promise<ProfileOutcome> {
  const sampling = await readySampling(dut, folder, asked);
  if (sampling.kind === 'impossible') return sampling;
  const { event } = sampling;
  const trafficSeconds = seconds + 2 * spareSeconds;
  const unopened = await open(trafficSeconds);
  if (unopened?.kind === 'failed') return missed(unopened.reason);
  const window =
    attempt === 1
      ? { event, delaySeconds: spareSeconds, seconds }
      : { event, delaySeconds: 0, seconds: spareSeconds + seconds };
  const [taken, trial] = await Promise.all([
    dut.run(windowCommand(window, folder)),
    send(trafficSeconds),
  ]);

  const { receiver, senders } = trial.logs;
  await keepLog(freebsdLogNames.receiver, receiver);
  for (const [index, log] of senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
  await keepLog(freebsdLogNames.counters, taken.stdout + taken.stderr);
  if (trial.kind === 'failed') return missed(trial.reason);
  if (taken.kind !== 'exited' || taken.code !== 0) {
    return missed(`pmcstat failed on the DUT: ${lastLine(taken.stderr) ?? 'it said nothing'}`);
  }
  const text = await collectSamples(dut, folder);
  const forwarded = sentWithin(taken.stdout, egress) ?? 0;
  const expected = trial.run.medianPps * seconds;
  if (forwarded < leastForwardedRatio * expected) {
    const share = formatPercent(forwarded / expected);
    return missed(`the window missed the trial: ${share} of its packets were forwarded meanwhile`);
  }
  return judgeProfile(text, { event, kernel: 'an unknown kernel' }, keepLog);
}
