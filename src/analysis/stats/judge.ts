// Turns evidence into a verdict, at one look and over the looks of a design.
import { isCost, type Metric } from '../../model/result.ts';
import { type ErrorRates, type InterimAnalysis, levelsAt } from './design.ts';
import { type Bounds, boundsOf, type Evidence } from './evidence.ts';

export type Verdict = 'regression' | 'improvement' | 'no-regression' | 'inconclusive';

export type Rule = {
  metric: Metric;
  marginRatio: number;
};

export type Judgement = { verdict: Verdict; look: InterimAnalysis; evidence: Evidence };

/** Patched forwards nothing: zero has no logarithm and needs no test. `look` has the available pairs. */
export type Lost = { verdict: 'regression'; look: InterimAnalysis; evidence?: never };

/** Judges looks in order until one decides; looks without evidence are skipped. */
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
 * Regression: a significant loss, and a loss of the margin is not excluded. Improvement: the mirror image, with base as
 * a patch of patched. No regression: a loss of the margin is excluded; at a look that cannot report a gain, a gain of
 * the margin too. Inconclusive: none of these.
 *
 * These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
 * hypotheses, no loss and a loss of the margin, each against the best fit. Testing each against the other, as a
 * composite ratio, stays open for any truth between them: at half the margin it takes twice the runs.
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

/** Swaps base and patched, or cost and speed: logarithms only change their sign. */
const mirrored = ({ low, high }: Bounds): Bounds => ({ low: -high, high: -low });
