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
import { fewestPairs, type Pair, pairedChange } from './interval.ts';

/**
 * Judges one cell by its runs of `base` and `patched`. A patched DUT that forwards nothing in every pair is a
 * regression; where it does so now and then, these pairs do not count, and too few that count make the cell
 * invalid. `failures` are the reasons of its blasts that measured nothing, to say why runs are missing.
 */
export function judgeCell(
  cell: Cell,
  runs: Run[],
  policy: Policy,
  failures: readonly string[] = [],
): CellResult {
  const working = validPairs(runs).filter(({ base }) => base.pps > 0);
  const moving = working.filter(({ patched }) => patched.pps > 0);
  if (moving.length === 0 && isEnough(working.length, policy.runsPerVariant)) {
    return { cell, verdict: { kind: 'regression' }, comparisons: [allLost(working)], runs };
  }

  const comparisons = metricsInOrder(policy.metric).flatMap((metric) =>
    compare(valuesOf(moving, metric), metric, policy.confidenceRatio),
  );
  const judged = comparisons.find((comparison) => comparison.metric === policy.metric);
  const counted = valuesOf(moving, policy.metric).length;
  const verdict: CellVerdict =
    judged !== undefined && isEnough(counted, Math.max(policy.runsPerVariant, working.length))
      ? { kind: judgeInterval(judged.interval, judged.metric, policy.marginRatio) }
      : { kind: 'invalid', reason: tooFew(counted, runs, policy, failures) };
  return { cell, verdict, comparisons, runs };
}

/** One pair in ten may be lost to a stall of a shared machine: the interval gets wider by what is missing. */
export const isEnough = (counted: number, asked: number): boolean => counted >= 0.9 * asked;

/** The verdict of a patch is the worst of its cells; it gains only where nothing is lost or unknown. */
export function worstVerdict(cells: readonly CellResult[]): CellVerdict['kind'] {
  const kinds = cells.map((result) => result.verdict.kind);
  const order = ['regression', 'invalid', 'inconclusive', 'improvement'] as const;
  return order.find((kind) => kinds.includes(kind)) ?? 'no-regression';
}

/**
 * Regression: the interval lies below 0 and does not exclude a loss of the margin. Improvement: its mirror
 * image, what base would be told as a patch of patched. No regression: a loss of the margin is excluded.
 * Inconclusive: neither 0 nor that loss is.
 */
export function judgeInterval(
  interval: Interval,
  metric: Metric,
  marginRatio: number,
): Exclude<CellVerdict['kind'], 'invalid'> {
  const [speed, cost] =
    metric === 'pps' ? [interval, inverse(interval)] : [inverse(interval), interval];
  const isLoss = ({ low, high }: Interval) => high < 0 && low <= -marginRatio;
  if (isLoss(speed)) return 'regression';
  if (isLoss(cost)) return 'improvement';
  return speed.low > -marginRatio ? 'no-regression' : 'inconclusive';
}

/** Between speed and time per packet: 25 % more ns per packet are 20 % fewer packets per second. */
function inverse({ change, low, high }: Interval): Interval {
  const turned = (ratio: number) => 1 / (1 + ratio) - 1;
  return { change: turned(change), low: turned(high), high: turned(low) };
}

export type RunPair = { base: Run; patched: Run };

/** The pairs of which both runs count, and come from the same try of the same blast. */
export function validPairs(runs: readonly Run[]): RunPair[] {
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

function valuesOf(pairs: RunPair[], metric: Metric): Pair[] {
  return pairs.flatMap(({ base, patched }) => {
    const [baseValue, patchedValue] = [base[metric], patched[metric]];
    return baseValue && patchedValue ? [{ base: baseValue, patched: patchedValue }] : [];
  });
}

function compare(pairs: Pair[], metric: Metric, confidence: number): Comparison[] {
  if (pairs.length < fewestPairs(confidence)) return [];
  const { base, patched, ...interval } = pairedChange(pairs, confidence);
  return [{ metric, base, patched, pairs: pairs.length, interval }];
}

function allLost(pairs: RunPair[]): Comparison {
  const base = Math.max(...pairs.map((pair) => pair.base.pps));
  const interval = { change: -1, low: -1, high: -1 };
  return { metric: 'pps', base, patched: 0, pairs: pairs.length, interval };
}

/** How many pairs count, and the reason that most of what is missing shares. */
function tooFew(
  counted: number,
  runs: Run[],
  { metric, runsPerVariant }: Policy,
  failures: readonly string[],
): string {
  const why = mostFrequent([...failures, ...runs.flatMap((run) => whyNot(run, metric))]);
  const count = `${counted} of ${runsPerVariant} pairs of runs count`;
  return why === undefined ? count : `${count}: ${why}`;
}

function whyNot(run: Run, metric: Metric): string | [] {
  if (run.validity.kind === 'invalid') return run.validity.reason;
  if (run.pps === 0) return `${run.variant} forwarded nothing`;
  return run[metric] === undefined ? `the DUT tells no ${metric}` : [];
}

function mostFrequent(texts: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(texts, (text) => text).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}
