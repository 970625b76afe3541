// Reads the logs of a trial on a Linux testbed, both during the experiment and later.

import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import type { TrialLimits } from '../../model/limits.ts';
import { shortened } from '../../model/one-line.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { pathName } from '../../model/variant-name.ts';
import { droppedBy, limitsInLinuxLog } from '../linux/linux-limits.ts';
import { type LinuxObservation, parseObservation } from '../linux/linux-script.ts';
import type { TrialOutcome } from '../testbed.ts';
import { parseTrafgenLog } from '../traffic/trafgen.ts';
import { withEnds } from '../trial-limits.ts';
import { type BlockLoad, measuredRun } from './netns-run.ts';

/** Counted since the interfaces came up. */
const countersSchema = z.object({ forwarded: bounded.total, received: bounded.total });
const beforeAndAfter = z.object({ before: countersSchema, after: countersSchema });

export type Counters = z.infer<typeof countersSchema>;

export const logNames = {
  dut: 'dut.log',
  sender: 'sender.log',
  counters: 'counters.json',
} as const;

export type LinuxLogs = Record<keyof typeof logNames, string>;

/** The receiver must count more than this share of the DUT's forwarded packets. */
const minReceivedShare = 0.99;

/**
 * A DUT that drops all traffic still sends packets of its own, such as neighbour discovery. One of them can arrive
 * between the two readings of the counters.
 */
const maxUncountedPackets = 100;

/** `observation` has the reason of a stop, which its log lacks. */
export function readLinuxLogs(
  planned: PlannedTrial,
  startedAt: string,
  logs: LinuxLogs,
  observation: LinuxObservation = parseObservation(logs.dut),
): TrialOutcome {
  const sent = parseTrafgenLog(logs.sender);
  if (sent.kind === 'failed') return sent;
  if (observation.kind === 'failed') return observation;
  const counted = countersOf(logs.counters);
  if (counted === undefined)
    return { kind: 'failed', reason: `the counters cannot be read: "${shortened(logs.counters)}"` };
  const loss = lossBehindTheDut(counted);
  if (loss !== undefined) return { kind: 'failed', reason: loss };
  const load: BlockLoad = { ...sent, forwardedPps: counted.forwarded / sent.seconds };
  const read = limitsInLinuxLog(logs.dut, planned.runs);
  const variants = new Set(planned.runs.map(({ variant }) => variant));
  const drops = new Map([...variants].map((one) => [one, droppedBy(logs.dut, pathName(one), read[one])]));
  const runs = planned.runs.map((run, index) => {
    const samples = observation.samplesPerRun[index] ?? [];
    const measured = measuredRun(run, planned.number, samples, load);
    const by = measured.pps === 0 ? drops.get(run.variant) : undefined;
    return by === undefined ? measured : { ...measured, droppedBy: by };
  });
  const { number, cell } = planned;
  const { seconds: trafficSeconds, offeredPps } = sent;
  const limits = Object.entries(read).map(([variant, one]): [string, TrialLimits] => {
    // Both ends count only the whole trial.
    const share = Math.min(1, counted.received / Math.max(1, counted.forwarded));
    return [variant, withEnds(one, { countedPackets: one.receivedPackets * share })];
  });
  return {
    kind: 'measured',
    runs,
    summary: {
      number,
      cell,
      startedAt,
      trafficSeconds,
      offeredPps,
      ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
    },
  };
}

function lossBehindTheDut({ forwarded, received }: Counters): string | undefined {
  const fewerThanShare = received < forwarded * minReceivedShare;
  return fewerThanShare && forwarded - received > maxUncountedPackets
    ? `the receiver counted ${received} packets of the ${forwarded} that the DUT forwarded`
    : undefined;
}

function countersOf(text: string): Counters | undefined {
  try {
    const { before, after } = beforeAndAfter.parse(JSON.parse(text));
    return {
      forwarded: after.forwarded - before.forwarded,
      received: after.received - before.received,
    };
  } catch {
    return undefined;
  }
}
