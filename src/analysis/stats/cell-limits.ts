// Reduces the readings of a cell's trials to medians of base and patched, and finds differences beyond chance.
import { mean, standardDeviation, sum } from 'simple-statistics';
import {
  type CellLimits,
  type DifferingLimit,
  maxDrops,
  maxNotUnderstood,
  type TrialLimits,
  type VariantLimits,
} from '../../model/limits.ts';
import type { Result, TrialSummary } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import { chanceOf, type Pair, unlikely } from './share-test.ts';
import { median } from './summary.ts';

/** Adds the limits of every judged cell, and replaces existing ones. */
export function withLimits(result: Result): Result {
  const { outcome, trials } = result;
  if (outcome.kind !== 'judged') return result;
  const byCell = Map.groupBy(trials, ({ cell }) => cellName(cell));
  const cells = outcome.cells.map(({ limits: _, ...cell }) => {
    const limits = cellLimits(byCell.get(cellName(cell.cell)) ?? []);
    return { ...cell, ...(limits && { limits }) };
  });
  return { ...result, outcome: { ...outcome, cells } };
}

/** Returns undefined unless both base and patched have readings in `trials`, which are of one cell. */
export function cellLimits(trials: readonly Pick<TrialSummary, 'limits'>[]): CellLimits | undefined {
  const base = readingsOf(trials, 'base');
  const patched = readingsOf(trials, 'patched');
  if (base.length === 0 || patched.length === 0) return undefined;
  return {
    base: variantLimits(base),
    patched: variantLimits(patched),
    differing: differing({ base, patched }),
  };
}

/** Omits readings without any packets. */
const readingsOf = (trials: readonly Pick<TrialSummary, 'limits'>[], variant: string) =>
  trials.flatMap(({ limits }) => {
    const own = limits?.[variant];
    return own !== undefined && own.offeredPackets > 0 ? [own] : [];
  });

/** Counts of a CPU, queue or drop in each trial of a variant, with their wholes. */
type ShareOfLimit = { limit: DifferingLimit; counts: number[]; totals: number[] };

const sharesOf = (readings: readonly TrialLimits[]): ShareOfLimit[] => [
  ...cpuShares(readings),
  ...queueShares(readings),
  ...dropShares(readings),
];

/** Clock ticks of such a stretch, in which shares have this resolution. */
const ticks = 1000;

function cpuShares(readings: readonly TrialLimits[]): ShareOfLimit[] {
  const known = readings.map((one) => one.cpuBusyRatios).filter((ratios) => ratios.length > 0);
  const most = known.reduce((length, ratios) => Math.max(length, ratios.length), 0);
  return Array.from({ length: most }, (_, number) => ({
    limit: { kind: 'cpu', number },
    counts: known.map((ratios) => Math.min(1, Math.max(0, ratios[number] ?? 0)) * ticks),
    totals: known.map(() => ticks),
  }));
}

function queueShares(readings: readonly TrialLimits[]): ShareOfLimit[] {
  const ofDevices = Map.groupBy(
    readings.flatMap(({ queues }, trial) => queues.map((queue) => ({ ...queue, trial }))),
    ({ device, direction }) => JSON.stringify([device, direction]),
  );
  return [...ofDevices.values()].flatMap((own) => {
    const totals = sumsByTrial(own, readings.length);
    return [...Map.groupBy(own, ({ number }) => number)].flatMap(([number, queue]) => {
      const [one] = queue;
      if (one === undefined) return [];
      const { device, direction } = one;
      const limit = { kind: 'queue', device, direction, number } as const;
      return { limit, counts: sumsByTrial(queue, readings.length), totals };
    });
  });
}

function dropShares(readings: readonly TrialLimits[]): ShareOfLimit[] {
  const byCause = Map.groupBy(
    readings.flatMap(({ drops }, trial) => drops.map((drop) => ({ ...drop, trial }))),
    ({ place, cause }) => JSON.stringify([place, cause]),
  );
  return [...byCause.values()].flatMap((own) => {
    const [one] = own;
    if (one === undefined) return [];
    const { place, cause } = one;
    return {
      limit: { kind: 'drop', place, cause } as const,
      counts: sumsByTrial(own, readings.length),
      totals: readings.map(({ offeredPackets }) => offeredPackets),
    };
  });
}

function sumsByTrial(counted: readonly { trial: number; packets: number }[], trials: number) {
  const sums = new Array<number>(trials).fill(0);
  for (const { trial, packets } of counted) sums[trial] = (sums[trial] ?? 0) + packets;
  return sums;
}

const ratiosOf = ({ counts, totals }: ShareOfLimit): number[] =>
  counts.flatMap((count, trial) => {
    const total = totals[trial] ?? 0;
    return total > 0 ? [count / total] : [];
  });

function variantLimits(readings: readonly TrialLimits[]): VariantLimits {
  const shares = sharesOf(readings).map((one) => ({ ...one, ratio: median(ratiosOf(one)) }));
  return {
    trials: readings.length,
    lostRatio: Math.max(
      -1000,
      median(readings.map(({ offeredPackets: all, receivedPackets }) => 1 - receivedPackets / all)),
    ),
    cpuBusyRatios: shares.flatMap(({ limit, ratio }) => (limit.kind === 'cpu' ? ratio : [])),
    queues: shares.flatMap(({ limit, ratio }) => {
      if (limit.kind !== 'queue') return [];
      const { kind: _, ...queue } = limit;
      return { ...queue, ratio };
    }),
    drops: shares
      .flatMap(({ limit, ratio }) => {
        if (limit.kind !== 'drop' || ratio === 0) return [];
        const { kind: _, ...drop } = limit;
        return { ...drop, ratio };
      })
      .toSorted((a, b) => b.ratio - a.ratio)
      .slice(0, maxDrops),
    stateTables: fullestTables(readings),
    notUnderstood: [...new Set(readings.flatMap(({ notUnderstood }) => notUnderstood))].slice(0, maxNotUnderstood),
  };
}

function fullestTables(readings: readonly TrialLimits[]): VariantLimits['stateTables'] {
  const byName = Map.groupBy(
    readings.flatMap(({ stateTables }) => stateTables),
    ({ name }) => name,
  );
  return [...byName.values()].flatMap((own) => own.toSorted((a, b) => b.states - a.states).slice(0, 1)).slice(0, 20);
}

/** Chance of any wrong name in a cell. */
const falseAlarm = 0.01;

/** Ignores changes below these: busy shares follow the momentary load, and flows in flight move between queues. */
const minChanges: Record<DifferingLimit['kind'], number> = {
  cpu: 0.05,
  queue: 0.05,
  drop: 0.0075,
};

/** Uses the test of changed functions, with the deviation that the trials themselves show. */
function differing(readings: Record<keyof Pair, readonly TrialLimits[]>): DifferingLimit[] {
  const base = new Map(sharesOf(readings.base).map((one) => [JSON.stringify(one.limit), one]));
  const patched = new Map(sharesOf(readings.patched).map((one) => [JSON.stringify(one.limit), one]));
  const compared = [...new Set([...base.keys(), ...patched.keys()])].flatMap((key) => {
    const own = { base: base.get(key), patched: patched.get(key) };
    const limit = (own.base ?? own.patched)?.limit;
    return limit === undefined ? [] : comparedOf(limit, own, readings);
  });
  const chances = compared.map(({ chance }) => chance);
  return unlikely(compared, chances, falseAlarm)
    .filter(({ limit, change }) => change >= minChanges[limit.kind])
    .map(({ limit }) => limit);
}

type Compared = { limit: DifferingLimit; chance: number; change: number };

/** Empty if one variant has no reading of such a limit. */
function comparedOf(
  limit: DifferingLimit,
  own: Record<keyof Pair, ShareOfLimit | undefined>,
  readings: Record<keyof Pair, readonly TrialLimits[]>,
): Compared[] {
  const whole = (of: keyof Pair): ShareOfLimit => {
    const none = readings[of].map(() => 0);
    const offered = readings[of].map(({ offeredPackets }) => offeredPackets);
    return own[of] ?? { limit, counts: none, totals: limit.kind === 'drop' ? offered : none };
  };
  const sides = { base: whole('base'), patched: whole('patched') };
  const samples = { base: sum(sides.base.counts), patched: sum(sides.patched.counts) };
  const totals = { base: sum(sides.base.totals), patched: sum(sides.patched.totals) };
  if (totals.base === 0 || totals.patched === 0) return [];
  const bootDeviation = Math.max(deviationOf(sides.base), deviationOf(sides.patched));
  const change = Math.abs(samples.patched / totals.patched - samples.base / totals.base);
  return [{ limit, change, chance: chanceOf(samples, totals, 1, { bootDeviation }) }];
}

/** Equals that of a function on several CPUs; one trial has no deviation. */
const minDeviation = 0.05;
/** Beyond it, the test's distribution is meaningless. */
const maxDeviation = 0.5;

/** Relative deviation of a share between trials. */
function deviationOf(share: ShareOfLimit): number {
  const ratios = ratiosOf(share);
  const middle = ratios.length < 2 ? 0 : mean(ratios);
  if (middle === 0) return minDeviation;
  return Math.min(maxDeviation, Math.max(minDeviation, standardDeviation(ratios) / middle));
}
