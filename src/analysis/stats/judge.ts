// Turns evidence into a verdict, at one look and over the looks of a design.
import { isCost, type Metric } from '../../model/metric.ts';
import type { ErrorRates, InterimAnalysis } from './design.ts';
import { type Bounds, boundsOf, type Evidence } from './evidence.ts';

export type Verdict = 'regression' | 'improvement' | 'no-regression' | 'inconclusive';

export type Rule = {
  metric: Metric;
  marginRatio: number;
};

export type Judgement = { verdict: Verdict; analysis: InterimAnalysis; evidence: Evidence };

/** Patched forwards nothing: zero has no logarithm and needs no test. `look` has the available pairs. */
export type Lost = { verdict: 'regression'; analysis: InterimAnalysis; evidence?: never };

/**
 * Judges interim analyses in order until one decides; skips those without evidence. Before the last one, does not yet
 * pass a cell that seems to gain the margin: a loss is excluded sooner than a gain is certain.
 */
export function judgeInOrder(
  analyses: readonly InterimAnalysis[],
  evidenceAt: (pairs: number) => Evidence | undefined,
  rule: Rule,
): Judgement | undefined {
  let last: Judgement | undefined;
  for (const analysis of analyses) {
    const evidence = evidenceAt(analysis.pairs);
    if (evidence === undefined) continue;
    const verdict = verdictAt(analysis, evidence, rule);
    const isHeld = verdict === 'no-regression' && analysis !== analyses.at(-1) && gainsMargin(evidence, rule);
    last = { verdict: isHeld ? 'inconclusive' : verdict, analysis: analysis, evidence };
    if (last.verdict !== 'inconclusive') break;
  }
  return last;
}

const gainsMargin = ({ effect }: Evidence, { metric, marginRatio }: Rule): boolean =>
  (isCost(metric) ? -effect : effect) >= -Math.log1p(-marginRatio);

/** Verdict of one interim analysis. */
export const verdictAt = ({ levels }: InterimAnalysis, evidence: Evidence, rule: Rule): Verdict =>
  judgeAnalysis((level) => boundsOf(evidence, level), levels, rule);

/**
 * Regression: a significant loss, and a loss of the margin is not excluded. Improvement: the mirror image, with base as
 * a patch of patched. No regression: a loss of the margin is excluded. Inconclusive: none of these.
 * These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
 * hypotheses, no loss and a loss of the margin, each against the best fit. A test of each against the other, as a
 * composite ratio, stays open for any truth between them: at half the margin it needs twice the runs.
 */
export function judgeAnalysis(
  boundsAt: (level: number) => Bounds,
  levels: ErrorRates,
  { metric, marginRatio }: Rule,
): Verdict {
  const asSpeed = isCost(metric) ? mirrored : same;
  const alarm = asSpeed(boundsAt(levels.falseAlarms));
  const pass = asSpeed(boundsAt(levels.misses));
  const margin = -Math.log1p(-marginRatio);
  const isLoss = (sure: Bounds, likely: Bounds) => sure.high < 0 && likely.low <= -margin;
  if (isLoss(alarm, pass)) return 'regression';
  if (isLoss(mirrored(alarm), mirrored(pass))) return 'improvement';
  return pass.low > -margin ? 'no-regression' : 'inconclusive';
}

const same = (bounds: Bounds): Bounds => bounds;

/** Swaps base and patched, or cost and speed: logarithms only change their sign. */
const mirrored = ({ low, high }: Bounds): Bounds => ({ low: -high, high: -low });
