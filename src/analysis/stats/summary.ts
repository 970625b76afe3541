// Summarizes numbers.
import { mean, median as medianOf } from 'simple-statistics';
import { maxChange } from '../../model/bounds.ts';

/** The middle value, or the mean of the two in the middle; 0 for none. */
export const median = (values: number[]): number => (values.length === 0 ? 0 : medianOf(values));

/** Takes positive numbers, at least one; NaN if one is negative. A product of many rates is beyond a double. */
export const geometricMean = (values: readonly number[]): number => Math.exp(mean(values.map(Math.log)));

/** Change of an effect on logarithms, limited to the range of a result: a huge change is as good as a larger one. */
export const changeOf = (effect: number): number => Math.min(Math.expm1(effect), maxChange);
