// From runs to verdicts: a fixed number of pairs per cell, an interval, a margin, one rule.

import type {
  CellResult,
  CellVerdict,
  Comparison,
  Interval,
  Metric,
  Policy,
  Run,
} from '../report/result.ts';
import type { Cell } from '../scenario/scenario.ts';
import { pairedChange } from './interval.ts';

/** Judges one cell by its runs of `base` and `patched`; a cell with fewer valid pairs than asked is invalid. */
export function judgeCell(cell: Cell, runs: Run[], policy: Policy): CellResult {
  const pairs = validPairs(runs);
  const stopped = pairs.filter((pair) => pair.patched.pps === 0 && pair.base.pps > 0);
  const usable = pairs.filter((pair) => pair.base.pps > 0 && pair.patched.pps > 0);

  if (pairs.length > 0 && stopped.length === pairs.length) {
    return { cell, verdict: { kind: 'regression' }, comparisons: [allLost(pairs)], runs };
  }
  const comparisons = metricsInOrder(policy.metric).flatMap((metric) =>
    compare(usable, metric, policy.confidenceRatio),
  );
  return { cell, verdict: verdictOf(comparisons, usable.length, runs, policy), comparisons, runs };
}

/** The verdict of a patch is the worst of its cells; it gains only where nothing is lost or unknown. */
export function worstVerdict(cells: readonly CellResult[]): CellVerdict['kind'] {
  const kinds = cells.map((result) => result.verdict.kind);
  const order = ['regression', 'invalid', 'inconclusive', 'improvement'] as const;
  return order.find((kind) => kinds.includes(kind)) ?? 'no-regression';
}

/**
 * Regression: the interval lies below 0 and does not exclude a loss of the margin. Improvement: its mirror
 * image. No regression: a loss of the margin is excluded. Inconclusive: neither 0 nor that loss is.
 * For a metric of which less is better, `gain` turns the interval round first.
 */
export function judgeInterval(
  interval: Interval,
  metric: Metric,
  marginRatio: number,
): Exclude<CellVerdict['kind'], 'invalid'> {
  const { low, high } = gain(interval, metric);
  if (high < 0 && low <= -marginRatio) return 'regression';
  if (low > 0 && high >= marginRatio) return 'improvement';
  return low > -marginRatio ? 'no-regression' : 'inconclusive';
}

/** The interval as speed gained: of ns per packet, 25 % more is 20 % fewer packets per second. */
function gain(interval: Interval, metric: Metric): Interval {
  if (metric === 'pps') return interval;
  const inverse = (change: number) => 1 / (1 + change) - 1;
  return {
    change: inverse(interval.change),
    low: inverse(interval.high),
    high: inverse(interval.low),
  };
}

type RunPair = { base: Run; patched: Run };

/** Both runs of the pair count, and both come from the same try of the same blast. */
function validPairs(runs: readonly Run[]): RunPair[] {
  const groups = Map.groupBy(runs, (run) => `${run.blast}.${run.attempt}/${run.pair}`);
  return [...groups.values()].flatMap((group) => {
    const valid = group.filter((run) => run.validity.kind === 'valid');
    const base = valid.find((run) => run.variant === 'base');
    const patched = valid.find((run) => run.variant === 'patched');
    return base && patched ? [{ base, patched }] : [];
  });
}

const metricsInOrder = (first: Metric): Metric[] =>
  first === 'pps' ? ['pps', 'nsPerPacket'] : ['nsPerPacket', 'pps'];

function compare(pairs: RunPair[], metric: Metric, confidence: number): Comparison[] {
  const values = pairs.flatMap(({ base, patched }) => {
    const [baseValue, patchedValue] = [base[metric], patched[metric]];
    return baseValue && patchedValue ? [{ base: baseValue, patched: patchedValue }] : [];
  });
  if (values.length < 2) return [];
  const { base, patched, ...interval } = pairedChange(values, confidence);
  return [{ metric, base, patched, pairs: values.length, interval }];
}

function allLost(pairs: RunPair[]): Comparison {
  const base = Math.max(...pairs.map((pair) => pair.base.pps));
  const interval = { change: -1, low: -1, high: -1 };
  return { metric: 'pps', base, patched: 0, pairs: pairs.length, interval };
}

function verdictOf(
  comparisons: Comparison[],
  pairs: number,
  runs: Run[],
  policy: Policy,
): CellVerdict {
  const judged = comparisons.find((comparison) => comparison.metric === policy.metric);
  if (judged === undefined || pairs < policy.runsPerVariant) {
    const counted = `${pairs} of ${policy.runsPerVariant} pairs of runs count`;
    return { kind: 'invalid', reason: [counted, mainReason(runs)].filter(Boolean).join(': ') };
  }
  return { kind: judgeInterval(judged.interval, judged.metric, policy.marginRatio) };
}

/** The reason that most invalid runs share. */
function mainReason(runs: Run[]): string | undefined {
  const reasons = runs.flatMap((run) =>
    run.validity.kind === 'invalid' ? run.validity.reason : [],
  );
  const groups = [...Map.groupBy(reasons, (reason) => reason).entries()];
  return groups.toSorted((a, b) => b[1].length - a[1].length)[0]?.[0];
}
