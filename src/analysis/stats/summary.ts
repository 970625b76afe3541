// Summarizes numbers.
import { median as medianOf } from 'simple-statistics';

/** The middle value, or the mean of the two in the middle; 0 for none. */
export const median = (values: number[]): number => (values.length === 0 ? 0 : medianOf(values));
