// How much two variants differ, and how sure that is.
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { studentTExact } from './student.ts';

export type Pair = { base: number; patched: number };

/** Geometric means, and their ratio less 1: `change` −0.1 is 10 % less, surely between `low` and `high`. */
export type Change = { base: number; patched: number; change: number; low: number; high: number };

/**
 * The change of pairs measured side by side: Student's t on the logarithms of their ratios, n − 1 degrees
 * of freedom. What slows both runs of a pair alike cancels; logarithms make gain and loss mirror images.
 * Takes two or more pairs of positive numbers, and `confidence` as a two-sided ratio.
 */
export function pairedChange(pairs: readonly Pair[], confidence: number): Change {
  const ratios = pairs.map(({ base, patched }) => Math.log(patched / base));
  const center = mean(ratios);
  const standardError = sampleStandardDeviation(ratios) / Math.sqrt(ratios.length);
  const reach = studentTExact(ratios.length - 1, confidence) * standardError;
  return {
    base: geometricMean(pairs.map((pair) => pair.base)),
    patched: geometricMean(pairs.map((pair) => pair.patched)),
    change: Math.expm1(center),
    low: Math.expm1(center - reach),
    high: Math.expm1(center + reach),
  };
}

const geometricMean = (values: number[]): number => Math.exp(mean(values.map(Math.log)));
