// Reads the logs of a trial on a FreeBSD testbed, during the experiment and again later.

import { sum } from 'simple-statistics';
import type { Traffic } from '../../config/schema.ts';
import { flowRanges, flowSlices } from '../../model/flows.ts';
import { formatPercent } from '../../model/format.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { TrialSummary, Validity } from '../../model/result.ts';
import type { Family } from '../../model/scenario.ts';
import type { TrialOutcome } from '../testbed.ts';
import { type PktGenLog, type PktGenRate, parsePktGenLog } from '../traffic/pkt-gen.ts';
import { pktGenRun } from '../traffic/pkt-gen-run.ts';
import { mainDrop, withEnds } from '../trial-limits.ts';

export const freebsdLogNames = {
  receiver: 'receiver.log',
  sender: (index: number): string => `sender-${index + 1}.log`,
  counters: 'dut-counters.log',
  /** Output of the DUT's console since the previous trial, including boots. */
  console: 'dut-console.log',
} as const;

export type FreebsdLogs = { receiver: string; senders: readonly string[] };

type FreebsdTrial = {
  startedAt: string;
  traffic: Pick<Traffic, 'flows' | 'offeredPps' | 'packets'>;
  summary?: Pick<
    TrialSummary,
    'kernel' | 'egressPackets' | 'ingressPackets' | 'lineGigabits' | 'starvation' | 'limits'
  >;
};

/** Reads a trial of one run: testbeds that boot their variants have no others. */
export function readFreebsdLogs(
  { number, cell, runs }: PlannedTrial,
  { receiver, senders }: FreebsdLogs,
  { startedAt, traffic, summary = {} }: FreebsdTrial,
): TrialOutcome {
  const log = parsePktGenLog(receiver);
  const requestedPps = requestedRates(traffic, cell.family, senders.length);
  const sent = senders.map(parsePktGenLog);
  const measured = pktGenRun(log, sent, {
    netbenchesTrim: false,
    requestedPps,
    egressPackets: summary.egressPackets,
    ingressPackets: summary.ingressPackets,
    lineGigabits: summary.lineGigabits,
  });
  const isBusy = ({ pps }: PktGenRate) => pps > 0;
  // The receiver keeps counting between trials.
  const from = Math.max(0, log.rates.findIndex(isBusy));
  const to = log.rates.findLastIndex(isBusy) + 1 || log.rates.length;
  const seconds = log.rates.slice(from, to).reduce((sum, { intervalSeconds }) => sum + intervalSeconds, 0);
  const dropping = (variant: string) => {
    const limits = measured.medianPps === 0 ? summary.limits?.[variant] : undefined;
    const droppedBy = limits && mainDrop(limits);
    return droppedBy === undefined ? {} : { droppedBy };
  };
  return {
    kind: 'measured',
    runs: runs.map((run) => ({
      ...run,
      trial: number,
      pps: measured.medianPps,
      samples: [],
      validity: starved(summary.starvation) ?? measured.validity,
      ...dropping(run.variant),
    })),
    summary: {
      number,
      cell,
      startedAt,
      trafficSeconds: seconds,
      offeredPps: measured.offeredPps ?? 0,
      ...summary,
      ...(summary.limits && { limits: withEndsOf(summary.limits, log, sent) }),
    },
  };
}

function withEndsOf(
  limits: NonNullable<TrialSummary['limits']>,
  receiver: PktGenLog,
  senders: readonly PktGenLog[],
): NonNullable<TrialSummary['limits']> {
  const countedPackets = packetsIn(receiver);
  const sentPackets = sum(senders.map(packetsIn));
  return Object.fromEntries(
    Object.entries(limits).map(([variant, one]) => [variant, withEnds(one, { sentPackets, countedPackets })]),
  );
}

const packetsIn = ({ rates, summary }: PktGenLog): number =>
  summary?.packets ?? sum(rates.map(({ pps, intervalSeconds }) => pps * intervalSeconds));

function starved(starvation: TrialSummary['starvation']): Validity | undefined {
  if (starvation === undefined) return undefined;
  const share = formatPercent(starvation.deniedRatio);
  return {
    kind: 'invalid',
    cause: 'machine-busy',
    reason: `machine too busy: the ${starvation.machine} is a guest that waited for its host's CPUs for ${share} of the trial; give it dedicated CPUs`,
  };
}

/** Returns the requested rate of each sender, shared like the flows; none if senders send at their maximum. */
function requestedRates(
  { flows, offeredPps, packets }: FreebsdTrial['traffic'],
  family: Family,
  senders: number,
): number[] {
  const split = flowRanges(flows, family, senders, packets?.addresses);
  if (offeredPps === undefined || split.kind === 'refused') return [];
  const all = split.flows;
  return flowSlices(all, senders).map(({ sources }) => (offeredPps * sources) / all.sources);
}
