// Computes how likely outliers alone put a commit on its side of a change.
import { sum } from 'simple-statistics';

/** Share of boots that may be at any level, including the other side's. */
const outlierRatio = 0.05;
const maxBootPenalty = -Math.log(outlierRatio);

export type BootLevels = {
  /** Natural logarithms of the rates of its boots. */
  values: readonly number[];
  /** Levels of its own side and of the other side, and the deviation of a boot. */
  own: number;
  other: number;
  deviation: number;
};

/** Likelihood ratio that a commit belongs to the other side. No boot counts for more than the ratio of an outlier. */
export function likelihoodOfOtherSide({ values, own, other, deviation }: BootLevels): number {
  const logs = values.map((value) => {
    const log = ((value - other) ** 2 - (value - own) ** 2) / (2 * deviation ** 2);
    return Math.max(-maxBootPenalty, Math.min(maxBootPenalty, log));
  });
  return Math.exp(-sum(logs));
}
