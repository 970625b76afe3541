// Plans trials of variants, alone or with both ends, and reads levels from their runs.
import { mean } from 'simple-statistics';
import { median } from '../../analysis/stats/summary.ts';
import type { Metric } from '../../model/metric.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { Run } from '../../model/result.ts';
import type { BisectPlan } from './bisect-plan.ts';

/** Runs are in the metric's unit. Their level is a natural logarithm, absent if no packet was forwarded. */
export type TrialReading =
  | { kind: 'measured'; pps: number; values: number[]; level?: number }
  | { kind: 'lost'; why: string };

type SharedTraffic = Pick<BisectPlan, 'traffic'>;

/** True if variants change within a trial, as installed files do; false if each needs a boot. */
export const isShared = ({ traffic }: SharedTraffic): boolean => traffic.runsPerTrial > 1;

export const positionsPerTrial = 4;

/** Limit of consecutive lost readings. A shared trial lasts seconds, and a machine may stay busy for minutes. */
export const maxTriesOf = (plan: SharedTraffic): number => (isShared(plan) ? 10 : 3);

/**
 * Plans a single boot, or all variants forwards and back (ABCD DCBA), so that a steady drift cancels. Rotates the order
 * per trial.
 */
export function plannedTrial(
  { cell, traffic }: Pick<BisectPlan, 'cell' | 'traffic'>,
  number: number,
  variants: readonly string[],
): PlannedTrial {
  const turns = Math.max(1, Math.floor(traffic.runsPerTrial / (2 * variants.length)));
  const first = number % variants.length;
  const order = [...variants.slice(first), ...variants.slice(0, first)];
  const rounds =
    traffic.runsPerTrial > 1 ? Array.from({ length: turns }, () => [order, order.toReversed()]).flat() : [order];
  const firstRun = (number - 1) * rounds.length * variants.length;
  return {
    number,
    cell,
    runs: rounds.flatMap((round, turn) =>
      round.map((variant, index) => ({
        number: firstRun + turn * variants.length + index + 1,
        variant,
        pair: (number - 1) * rounds.length + turn + 1,
      })),
    ),
  };
}

export function readingsOf(
  plan: Pick<BisectPlan, 'range' | 'traffic' | 'metric'>,
  runs: readonly Run[],
): Map<string, TrialReading> {
  const byVariant = Map.groupBy(runs, ({ variant }) => variant);
  const alone = new Map([...byVariant].map(([name, own]) => [name, readingOf(own, plan.metric)]));
  return isShared(plan) ? againstEnds(plan, alone) : alone;
}

/** At least half of a variant's runs must count. */
function readingOf(runs: readonly Run[], metric: Metric): TrialReading {
  const counted = runs.filter(({ validity }) => validity.kind === 'valid');
  const faults = runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity.reason : []));
  if (2 * counted.length < runs.length) return { kind: 'lost', why: faults[0] ?? 'nothing' };
  const pps = median(counted.map((run) => run.pps));
  if (pps === 0) return { kind: 'measured', pps, values: counted.map(() => 0) };
  const values = counted.flatMap((run) => (run.pps > 0 ? (run[metric] ?? []) : []));
  if (values.length === 0) return { kind: 'lost', why: `the DUT has no value of ${metric}` };
  // The median is robust to outliers of a busy machine.
  return { kind: 'measured', pps, values, level: median(values.map(Math.log)) };
}

/** Levels are relative to the middle of both ends in the same trial, which cancels a slowdown of that trial. */
function againstEnds(
  { range }: Pick<BisectPlan, 'range'>,
  alone: ReadonlyMap<string, TrialReading>,
): Map<string, TrialReading> {
  const names = [range.revisions.at(0), range.revisions.at(-1)].flatMap((end) =>
    (end?.forms ?? []).map(({ variant }) => variant),
  );
  const ends = names.flatMap((name) => alone.get(name) ?? []);
  const levels = ends.flatMap((end) => (end.kind === 'measured' ? (end.level ?? []) : []));
  const silent: TrialReading = { kind: 'lost', why: 'neither end forwarded a packet' };
  const unknown = ends.find(({ kind }) => kind === 'lost') ?? (levels.length === 0 ? silent : undefined);
  if (unknown !== undefined) return new Map([...alone].map(([name]) => [name, unknown]));
  const middle = mean(levels);
  return new Map(
    [...alone].map(([name, reading]): [string, TrialReading] => {
      if (reading.kind === 'lost' || reading.level === undefined) return [name, reading];
      return [name, { ...reading, level: reading.level - middle }];
    }),
  );
}
