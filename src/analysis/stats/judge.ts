// The rule from evidence to a verdict, at one look and over the looks of a design.
import { isCost, type Metric } from '../../model/result.ts';
import { type ErrorRates, type InterimAnalysis, levelsAt } from './design.ts';
import { type Bounds, boundsOf, type Evidence } from './evidence.ts';

export type Verdict = 'regression' | 'improvement' | 'no-regression' | 'inconclusive';

export type Rule = {
  metric: Metric;
  /** The loss of speed that matters, as a ratio to base. */
  marginRatio: number;
};

/** The look that decided, or else the last one, with the levels that it was held to and the evidence that was there. */
export type Judgement = { verdict: Verdict; look: InterimAnalysis; evidence: Evidence };

/** Patched forwards nothing: a zero has no logarithm, and asks for no test. `look` has the pairs that were there. */
export type Lost = { verdict: 'regression'; look: InterimAnalysis; evidence?: never };

/** Looks in order until one decides; a look that has no evidence yet is passed over. */
export function judgeInOrder(
  looks: readonly InterimAnalysis[],
  evidenceAt: (pairs: number) => Evidence | undefined,
  rule: Rule,
): Judgement | undefined {
  let last: Judgement | undefined;
  for (const look of looks) {
    const evidence = evidenceAt(look.pairs);
    if (evidence === undefined) continue;
    last = { ...judgedAt(look, evidence, rule), evidence };
    if (last.verdict !== 'inconclusive') break;
  }
  return last;
}

/** The verdict of one look, and the look with the levels that its evidence was held to. */
export function judgedAt(
  look: InterimAnalysis,
  evidence: Evidence,
  rule: Rule,
): Pick<Judgement, 'verdict' | 'look'> {
  const levels = levelsAt(look, evidence, rule.marginRatio);
  const boundsAt = (level: number) => boundsOf(evidence, level);
  return { verdict: judgeLook(boundsAt, levels, rule), look: { ...look, levels } };
}

/**
 * Regression: surely a loss, and a loss of the margin is not excluded. Improvement: its mirror image, what base would
 * be told as a patch of patched. No regression: a loss of the margin is excluded; at a look that may not call a gain by its
 * name, a gain of the margin too. Inconclusive: none of these.
 *
 * These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
 * hypotheses, no loss and a loss of the margin, each against the best fit. Each against the other, as a composite
 * ratio, would stay open wherever the truth lies between them: at half the margin it takes twice the runs.
 */
export function judgeLook(
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
  const isGainMissed = levels.falseAlarms === 0 && pass.high >= margin;
  return pass.low > -margin && !isGainMissed ? 'no-regression' : 'inconclusive';
}

const same = (bounds: Bounds): Bounds => bounds;

/** The speed of base against patched, or speed from what a packet costs: logarithms only change their sign. */
const mirrored = ({ low, high }: Bounds): Bounds => ({ low: -high, high: -low });
