// Counts the false alarms of A/A runs: every regression is one.
import { sumNthPowerDeviations } from 'simple-statistics';
import type { Metric } from '../../model/metric.ts';
import type { CellResult, Result, Run } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import type { AaRun, AaRunCounts, TrendIndex } from '../../model/trend.ts';
import { lowerBound, upperBound } from '../stats/binomial.ts';
import { trialNumbers } from '../stats/trial-numbers.ts';
import { fingerprintOf } from './fingerprint.ts';

export const isOfOneCommit = ({ patch }: Pick<Result, 'patch'>): boolean => patch.baseCommit === patch.headCommit;

/** True if base and patched booted disjoint sets of layouts. */
export function measuresLayoutNoise({ outcome }: Pick<Result, 'outcome'>): boolean {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const [base, patched] = ['base', 'patched'].map(
    (name) => new Set(runs.filter(({ variant }) => variant === name).map(layoutOf)),
  );
  if (!base?.size || !patched?.size) return false;
  return ![...base].some((layout) => patched.has(layout));
}

const layoutOf = ({ layout = 1 }: Run): number => layout;

/**
 * Adds an A/A run to the index; any other gate leaves it unchanged. `path` is the folder of its result. Another method
 * or a changed machine starts a new count. A gate that was extended or published again counts once.
 */
export function withSameGate(index: TrendIndex, gate: Result, path: string): TrendIndex {
  const { outcome } = gate;
  if (outcome.kind !== 'judged' || !isOfOneCommit(gate)) return index;
  const [first] = outcome.cells;
  if (first === undefined) return index;
  const added = gateOf(gate, outcome.cells);
  const fresh = emptyCount(gate, first, added.at);
  const known = index.aaRuns.find((count) => isSameTest(count, fresh));
  const count = counted(known ?? fresh, added);
  if (count === known) return index;
  const alarm = {
    at: added.at,
    cells: outcome.cells.filter(isAlarm).map(({ cell }) => cell),
    result: path,
  };
  const alarmed = [...count.alarmed.filter(({ at }) => at !== added.at), ...(added.alarms > 0 ? [alarm] : [])]
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-maxAlarms);
  const others = index.aaRuns.filter((other) => other !== known);
  const settled = others.map((other) => (isOfSameRow(other, fresh) ? withoutNewest(other) : other));
  return {
    ...index,
    aaRuns: [...settled, { ...count, alarmed }].toSorted((a, b) => (a.since < b.since ? -1 : 1)),
  };
}

/**
 * Compares a count with the promised rate. Both bounds hold for all numbers of gates simultaneously, with 95 %
 * confidence.
 */
type SameSummary = {
  upper: number;
  lower: number;
  /** `kept` if the upper bound satisfies the promise, `broken` if the lower one exceeds it. */
  promise: 'open' | 'kept' | 'broken';
};

export function sameSummary({ gates, alarms, falseAlarmRatio }: CountedGates): SameSummary {
  const [upper, lower] = [upperBound(alarms, gates), lowerBound(alarms, gates)];
  if (lower > falseAlarmRatio) return { upper, lower, promise: 'broken' };
  return { upper, lower, promise: upper <= falseAlarmRatio ? 'kept' : 'open' };
}

type CountedGates = Pick<AaRunCounts, 'gates' | 'alarms' | 'falseAlarmRatio'>;

/** `0 of 41 gates, ≤ 7.1 %`, with the bound rounded up. */
export const sameText = (count: CountedGates): string =>
  `${count.alarms} of ${count.gates} gates, ≤ ${(Math.ceil(sameSummary(count).upper * 1000) / 10).toFixed(1)} %`;

/** Returns the current counts, one per testbed and kind, and all ended ones, newest first. */
export function countsOf(index: TrendIndex): { current: AaRunCounts; earlier: AaRunCounts[] }[] {
  const rows = Map.groupBy(index.aaRuns, ({ testbed, kind }) => `${kind} ${testbed}`);
  return [...rows.values()].flatMap((row) => {
    const [current, ...earlier] = row.toSorted((a, b) => (a.last < b.last ? 1 : -1));
    return current === undefined ? [] : { current, earlier };
  });
}

/** Scatter of changes between two layouts beyond the noise of their runs, as a ratio; undefined without gates. */
export function layoutNoise(count: AaRunCounts): number | undefined {
  const gates = count.scatter.reduce((sum, cell) => sum + cell.gates, 0);
  if (gates === 0) return undefined;
  const beyond = count.scatter.reduce(
    (sum, { sumOfSquares, runSumOfSquares }) => sum + sumOfSquares - runSumOfSquares,
    0,
  );
  // A change is between two layouts, each with its own effect.
  return Math.sqrt(Math.max(beyond, 0) / gates / 2);
}

const maxAlarms = 20;
/** Enough for gates that are extended or published late, as gates of one testbed follow each other. */
const maxNewest = 10;

function gateOf(gate: Result, cells: readonly CellResult[]): AaRun {
  const countOf = (kind: CellResult['verdict']['kind']) => cells.filter(({ verdict }) => verdict.kind === kind).length;
  const [inconclusive, invalid] = [countOf('inconclusive'), countOf('invalid')];
  const judged = cells.length - inconclusive - invalid;
  const cellAlarms = cells.filter(isAlarm).length;
  return {
    at: new Date(gate.startedAt).toISOString(),
    gates: Math.min(judged, 1),
    alarms: Math.min(cellAlarms, 1),
    cells: judged,
    cellAlarms,
    inconclusive,
    invalid,
    scatter: measuresLayoutNoise(gate) ? cells.flatMap((cell) => scatterOf(cell, gate.policy.metric)) : [],
  };
}

/** The promised rate is that of regressions. */
const isAlarm = ({ verdict }: CellResult): boolean => verdict.kind === 'regression';

function scatterOf({ cell, runs, comparisons }: CellResult, metric: Metric): AaRun['scatter'] {
  const change = comparisons.find((comparison) => comparison.metric === metric)?.interval.change;
  const variants = ['base', 'patched'].map((name) => runs.filter(({ variant }) => variant === name));
  const variances = variants.map((own) => varianceOfMean(own, metric));
  if (change === undefined || change <= -1 || variances.some(Number.isNaN)) return [];
  // The effects of several layouts average out, so both are scaled to one layout each.
  const layouts = variants.map((own) => new Set(own.map(layoutOf)).size);
  const scale = 2 / layouts.reduce((sum, count) => sum + 1 / count, 0);
  return [
    {
      cell,
      sumOfSquares: fourDigits(scale * Math.log1p(change) ** 2),
      runSumOfSquares: fourDigits(scale * variances.reduce((sum, variance) => sum + variance, 0)),
    },
  ];
}

const fourDigits = (value: number): number => Number(value.toPrecision(4));

/** Squared standard error of the mean logarithm, from the spread of runs of one layout; NaN for too few. */
function varianceOfMean(runs: readonly Run[], metric: Metric): number {
  const layouts = [...Map.groupBy(runs, layoutOf).values()].map((own) => trialNumbers(own, metric).map(Math.log));
  const numbers = layouts.flat();
  const freedom = numbers.length - layouts.filter((own) => own.length > 0).length;
  if (freedom <= 0) return Number.NaN;
  const squares = layouts.reduce((sum, own) => sum + (own.length > 0 ? sumNthPowerDeviations(own, 2) : 0), 0);
  return squares / freedom / numbers.length;
}

const emptyCount = (gate: Result, { design }: CellResult, at: string): AaRunCounts => {
  const { metric, marginRatio, falseAlarmRatio } = gate.policy;
  return {
    kind: measuresLayoutNoise(gate) ? 'layout-noise' : 'same-build',
    testbed: gate.testbed.name,
    fingerprint: fingerprintOf(gate).id,
    metric,
    marginRatio,
    falseAlarmRatio,
    design: design.name,
    since: at,
    last: at,
    ...noSums,
    alarmed: [],
    scatter: [],
    newest: [],
  };
};

const noSums = { gates: 0, alarms: 0, cells: 0, cellAlarms: 0, inconclusive: 0, invalid: 0 };

const sums = ['gates', 'alarms', 'cells', 'cellAlarms', 'inconclusive', 'invalid'] as const;

const isOfSameRow = (a: AaRunCounts, b: AaRunCounts): boolean => a.kind === b.kind && a.testbed === b.testbed;

const isSameTest = (a: AaRunCounts, b: AaRunCounts): boolean =>
  isOfSameRow(a, b) &&
  a.fingerprint === b.fingerprint &&
  a.metric === b.metric &&
  a.marginRatio === b.marginRatio &&
  a.falseAlarmRatio === b.falseAlarmRatio &&
  a.design === b.design;

/** Adds this gate once. Returns the count unchanged if it has the gate, or if the gate is too old to decide. */
function counted(count: AaRunCounts, added: AaRun): AaRunCounts {
  const newest = count.newest ?? [];
  const before = newest.find(({ at }) => at === added.at);
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(added)) return count;
  const isSettled = count.newest === undefined || newest.length === maxNewest;
  if (before === undefined && isSettled && added.at <= oldestKnown(count)) return count;
  const without = before === undefined ? count : plus(count, before, -1);
  const others = newest.filter((gate) => gate !== before);
  return {
    ...plus(without, added, 1),
    since: count.since < added.at ? count.since : added.at,
    last: count.last > added.at ? count.last : added.at,
    newest: [...others, added].toSorted((a, b) => (a.at < b.at ? -1 : 1)).slice(-maxNewest),
  };
}

/** Gates up to this time are assumed to be in the sums. */
const oldestKnown = ({ newest: [oldest] = [], last }: AaRunCounts): string => oldest?.at ?? last;

function plus(count: AaRunCounts, gate: AaRun, sign: 1 | -1): AaRunCounts {
  const total = Object.fromEntries(sums.map((name) => [name, count[name] + sign * gate[name]]));
  return { ...count, ...total, scatter: scatterPlus(count.scatter, gate.scatter, sign) };
}

function scatterPlus(scatter: AaRunCounts['scatter'], added: AaRun['scatter'], sign: 1 | -1): AaRunCounts['scatter'] {
  const cells = new Map(scatter.map((entry) => [cellName(entry.cell), entry]));
  for (const { cell, sumOfSquares, runSumOfSquares } of added) {
    const known = cells.get(cellName(cell));
    cells.set(cellName(cell), {
      cell,
      gates: (known?.gates ?? 0) + sign,
      sumOfSquares: sumUp(known?.sumOfSquares, sign * sumOfSquares),
      runSumOfSquares: sumUp(known?.runSumOfSquares, sign * runSumOfSquares),
    });
  }
  return [...cells.values()].filter(({ gates }) => gates > 0);
}

const sumUp = (sum = 0, more: number): number => Math.max(sum + more, 0);

const withoutNewest = ({ newest: _, ...count }: AaRunCounts): AaRunCounts => count;
