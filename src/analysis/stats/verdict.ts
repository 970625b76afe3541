// Turns the interim result of a cell into its verdict with a reason, and the change in every metric.

import type { Metric } from '../../model/metric.ts';
import {
  type CellResult,
  type CellVerdict,
  type Comparison,
  metricSchema,
  type Policy,
  type Run,
  verdictsWorstFirst,
} from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import { isJudged } from '../../model/variant-name.ts';
import { baselineOf } from './baseline.ts';
import { boundsOf, priorNoise } from './evidence.ts';
import {
  type CellRuns,
  type CountedRuns,
  countedRuns,
  countOf,
  evidenceAt,
  evidenceOf,
  type InterimResult,
  isDecided,
  isEnough,
  valuesOf,
} from './interim-result.ts';
import { changeOf, median } from './summary.ts';

/** `baseNumbers` are base's, one per trial; `others` are shown next to patched. */
export function cellResult(
  interim: InterimResult<CellRuns & { cell: Cell }>,
  policy: Policy,
  baseNumbers: readonly number[],
  others: readonly string[],
): CellResult {
  const { input, judgement } = interim;
  const { cell, design, history, runs } = input;
  const metrics = metricsInOrder(policy.metric);
  return {
    cell,
    verdict: cellVerdict(interim, policy),
    design,
    ...(history && { history }),
    baseline: baselineOf(baseNumbers, history),
    pairs: judgement?.analysis.pairs ?? input.closedPairs,
    comparisons: metrics.flatMap((metric) => compare(interim, metric, policy)),
    others: others.map((variant) => ({
      variant,
      comparisons: metrics.flatMap((metric) => compareOther(interim, variant, metric, policy)),
    })),
    runs,
    profiles: [],
  };
}

/**
 * Returns invalid if the cell closed without a decision, or if no interim analysis was possible, unless it was stopped
 * before.
 */
export function cellVerdict(interim: InterimResult, policy: Policy): CellVerdict {
  const { judgement, closed, stopped } = interim;
  if (stopped) return { kind: 'inconclusive', isStopped: true };
  if (judgement !== undefined && (isDecided(judgement) || !closed)) return { kind: judgement.verdict };
  return { kind: 'invalid', reason: tooFew(interim, policy) };
}

const metricsInOrder = (first: Metric): Metric[] => [first, ...metricSchema.options.filter((other) => other !== first)];

/** Compares one metric over the judged runs, or, without any, over all counted ones; undefined without evidence. */
export function compare({ input, analyses, judgement }: InterimResult, metric: Metric, policy: Policy): Comparison[] {
  const counted = countedRuns(input, judgement?.analysis.pairs ?? input.closedPairs);
  if (judgement !== undefined && judgement.evidence === undefined) {
    return metric === 'pps' ? [nothingLeft(counted)] : [];
  }
  const analysis = judgement?.analysis ?? analyses[0];
  return comparison(counted, input, { metric, policy, level: analysis?.levels.outside ?? 0 });
}

/**
 * Compares another variant over the same pairs as patched. Its interval has the plain confidence level, which holds for
 * a number of runs fixed in advance. Otherwise base and patched ended them regardless of this variant; but as both are
 * compared with base, a 95 % interval then misses in up to 7 % of simulated experiments. There is no correction for the
 * number of variants shown.
 */
function compareOther(
  { input, judgement }: InterimResult,
  variant: string,
  metric: Metric,
  policy: Policy,
): Comparison[] {
  const asPatched = { ...input, runs: inPlaceOfPatched(variant, input.runs) };
  const pairs = judgement?.analysis.pairs ?? input.closedPairs;
  const counted = countedRuns(asPatched, pairs);
  const own = asPatched.runs.filter(
    (run) => run.variant === 'patched' && run.validity.kind === 'valid' && run.pair <= pairs,
  );
  const moving = own.filter(({ pps }) => pps > 0);
  if (counted.base.length === 0 || counted.patched.length === 0) return [];
  if (moving.length === 0) return metric === 'pps' ? [nothingLeft(counted)] : [];
  // Variants other than base and patched are not judged, so none of their runs is repeated.
  if (!isEnough(moving.length, own.length)) return [];
  const level = (1 - policy.confidenceRatio) / 2;
  return comparison(counted, asPatched, { metric, policy, level });
}

const inPlaceOfPatched = (variant: string, runs: readonly Run[]): Run[] =>
  runs
    .filter((run) => run.variant === 'base' || run.variant === variant)
    .map((run) => (run.variant === variant ? { ...run, variant: 'patched' } : run));

type JudgedRuns = {
  metric: Metric;
  policy: Policy;
  /** Probability outside the interval, to each side. */
  level: number;
};

function comparison(
  counted: CountedRuns,
  { design, history }: CellRuns,
  { metric, policy, level }: JudgedRuns,
): Comparison[] {
  const values = {
    base: valuesOf(counted.base, metric),
    patched: valuesOf(counted.patched, metric),
  };
  if (values.base.length === 0 || values.patched.length === 0) return [];
  // The history is of the judged metric only.
  const earlier = metric === policy.metric ? priorNoise(history, policy.marginRatio) : undefined;
  const evidence = evidenceOf(counted, metric, design.method, earlier);
  const { low, high } = boundsOf(evidence, level);
  if (!Number.isFinite(low + high)) return [];

  const { effect } = evidence;
  return [
    {
      metric,
      base: evidence.base,
      patched: evidence.base * Math.exp(effect),
      baseRuns: values.base.length,
      patchedRuns: values.patched.length,
      interval: { change: changeOf(effect), low: changeOf(low), high: changeOf(high) },
    },
  ];
}

function nothingLeft({ base, patched }: CountedRuns): Comparison {
  return {
    metric: 'pps',
    base: median(base.map((run) => run.pps)),
    patched: 0,
    baseRuns: base.length,
    patchedRuns: patched.length,
    interval: { change: -1, low: -1, high: -1 },
  };
}

/** Explains why no interim analysis was possible: how many pairs count, and the main cause among the others. */
function tooFew({ input, analyses }: InterimResult, policy: Policy): string {
  const { metric } = policy;
  const { failures } = input;
  const runs = input.runs.filter(({ variant }) => isJudged(variant));
  const missing = analyses.find(({ pairs }) => evidenceAt(input, pairs, policy) === undefined);
  const wanted = missing?.pairs ?? 0;
  const counted = Math.min(wanted, countOf(countedRuns(input, wanted), metric));
  const count = `${counted} of ${wanted} pairs of runs count`;
  const failed = failures.map((reason): InvalidCause => ({ cause: reason, reason }));
  const why = mostFrequent([...failed, ...runs.flatMap((run) => whyNot(run, metric))]);
  if (why === undefined) return count;
  return causesOfAll.has(why.cause) ? `${why.reason}; ${count}` : `${count}: ${why.reason}`;
}

/** These causes hold for the whole experiment, and are not random. */
const causesOfAll = new Set(['generator-limited', 'receiver-limited', 'machine-busy']);

/** Faults of one cause differ in their numbers. */
type InvalidCause = { cause: string; reason: string };

function whyNot(run: Run, metric: Metric): InvalidCause | [] {
  if (run.validity.kind === 'invalid') return run.validity;
  if (run.pps === 0) {
    const by = run.droppedBy === undefined ? '' : `: its packets were dropped by ${run.droppedBy}`;
    return { cause: run.variant, reason: `${run.variant} forwarded nothing${by}` };
  }
  return run[metric] === undefined ? { cause: metric, reason: `the DUT has no value of ${metric}` } : [];
}

function mostFrequent(faults: readonly InvalidCause[]): InvalidCause | undefined {
  const groups = [...Map.groupBy(faults, ({ cause }) => cause).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}

/** Returns the worst verdict of a patch's cells; a gain requires that nothing is lost or unknown. */
export function worstVerdict(cells: readonly { verdict: CellVerdict }[]): CellVerdict['kind'] {
  const kinds = cells.map(({ verdict }) => verdict.kind);
  return verdictsWorstFirst.find((kind) => kinds.includes(kind)) ?? 'no-regression';
}
