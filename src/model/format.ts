import { isCost, type Metric } from './metric.ts';

/** `4.982 Mpps`, `805.3 kpps`. */
export function formatPps(pps: number): string {
  if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
  return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}

/** `1,057 ns`. */
const formatNanoseconds = (ns: number): string => `${grouped(Number(ns.toPrecision(4)))} ns`;

/** `8,314`, of instructions. */
const formatCount = (count: number): string => grouped(count < 1000 ? Number(count.toPrecision(4)) : Math.round(count));

export const formatMetric = (value: number, metric: Metric): string => formats[metric](value);

const formats: Record<Metric, (value: number) => string> = {
  pps: formatPps,
  nsPerPacket: formatNanoseconds,
  instructionsPerPacket: (count) => `${formatCount(count)} instructions`,
};

/** Omits the unit, for axes: `8,314`. */
export const formatTick = (value: number, metric: Metric): string =>
  metric === 'instructionsPerPacket' ? formatCount(value) : formatMetric(value, metric);

export const metricNouns = {
  pps: 'packets per second',
  nsPerPacket: 'CPU time per packet',
  instructionsPerPacket: 'instructions per packet',
} as const satisfies Record<Metric, string>;

/** Includes the better direction. */
export const metricName = (metric: Metric): string =>
  `${metricNouns[metric]} (${isCost(metric) ? 'less' : 'more'} is better)`;

/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
export const formatChange = (ratio: number): string => `${signedPercent(ratio)} %`;

/** Omits the sign, where words give the direction: `8.33 %`. */
export const formatSize = (ratio: number): string => `${percentDigits(ratio)} %`;

/** `55.9 ± 0.2 %`, where words give the direction; the error has one digit, at most two decimals. */
export const formatSizeAndError = (ratio: number, error: number): string => {
  const [percent, errorPercent] = [Math.abs(ratio) * 100, error * 100];
  const magnitude = errorPercent > 0 ? Math.floor(Math.log10(errorPercent)) : -1;
  const digits = Math.min(Math.max(-magnitude, 0), 2);
  return `${percent.toFixed(digits)} ± ${errorPercent.toFixed(digits)} %`;
};

/** `+0.1 ± 0.3 %`. */
export function formatChangeAndError(ratio: number, error: number): string {
  const shown = formatSizeAndError(ratio, error);
  if (Number.parseFloat(shown) === 0) return shown;
  return `${ratio < 0 ? '−' : '+'}${shown}`;
}

/** `> 0.999`, `0.987`, `< 0.001`. */
export function formatProbability(probability: number): string {
  if (probability > 0.999) return '> 0.999';
  return probability < 0.001 ? '< 0.001' : probability.toFixed(3);
}

/** `+6.79 … +9.86`, in percent. */
export const formatInterval = (low: number, high: number): string => `${signedPercent(low)} … ${signedPercent(high)}`;

export const formatPercent = (ratio: number): string => `${Number((ratio * 100).toPrecision(3))} %`;

/** `−5 %`, `+5.26 %`, `0`: limits and ticks. */
export function formatSigned(ratio: number): string {
  if (ratio === 0) return '0';
  return `${ratio < 0 ? '−' : '+'}${formatPercent(Math.abs(ratio))}`;
}

/** `9.3`: a share in percent, without its sign, next to another one. */
export const formatShare = (ratio: number): string => (ratio * 100).toFixed(1);

export function formatDifference(difference: number): string {
  const shown = Math.abs(difference).toFixed(1);
  if (Number(shown) === 0) return `±${shown}`;
  return `${difference < 0 ? '−' : '+'}${shown}`;
}

/** `+38`, `−1,400`, `+0.85`: two significant digits. */
export function formatTwoDigits(difference: number): string {
  const shown = Number(Math.abs(difference).toPrecision(2));
  if (shown === 0) return '±0';
  return `${difference < 0 ? '−' : '+'}${grouped(shown)}`;
}

/** `24 + 24 of 26 + 26`: counted runs of base and patched, and the runs made if there were more. */
export function formatRuns(counted: readonly number[], made: readonly number[]): string {
  const isMore = made.some((count, index) => count > (counted[index] ?? 0));
  return `${counted.join(' + ')}${isMore ? ` of ${made.join(' + ')}` : ''}`;
}

export const grouped = (value: number): string => value.toLocaleString('en-US');

/** `41 s`, `2 min 5 s`. */
/** `1 run`, `1,200 runs`; the noun takes an s. */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;

export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** `about 25 min`: an estimate. */
export const formatEstimate = (seconds: number): string =>
  seconds < 30 ? formatRoughly(seconds) : `about ${formatRoughly(seconds)}`;

/** `25 min`: omits the seconds. */
export function formatRoughly(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return 'under 1 min';
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

function signedPercent(ratio: number): string {
  const shown = percentDigits(ratio);
  if (Number(shown) === 0) return `±${shown}`;
  return `${ratio < 0 ? '−' : '+'}${shown}`;
}

function percentDigits(ratio: number): string {
  const percent = Math.abs(ratio * 100);
  return percent.toFixed(percent < 10 ? 2 : percent < 100 ? 1 : 0);
}

function fourDigits(value: number): string {
  if (value === 0) return '0';
  return value < 1000 ? value.toPrecision(4) : value.toFixed(0);
}

const numerals = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** In words up to ten. */
export const formatNumeral = (count: number): string => numerals[count - 1] ?? grouped(count);

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** In words up to the tenth. */
export const formatOrdinal = (number: number): string => ordinals[number - 1] ?? formatShortOrdinal(number);

/** `1st`, `12th`. */
export function formatShortOrdinal(number: number): string {
  const isTeen = number % 100 > 10 && number % 100 < 14;
  return `${number}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][number % 10]) ?? 'th'}`;
}
