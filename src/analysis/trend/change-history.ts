// Derives a branch's lasting changes from a testbed's nightly runs: their states, and what to measure next.
import { createHash } from 'node:crypto';
import type { BisectResult } from '../../model/bisect-result.ts';
import type { Metric } from '../../model/metric.ts';
import { type CellResult, isLoss, type Result } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { ChangeLevel, NightlyRun, TrendChange, TrendIndex } from '../../model/trend.ts';
import {
  type ChangePoint,
  changePoints,
  lastLevel,
  minChangeRatio,
  nightlySigmaRatio,
} from '../stats/change-points.ts';
import { median } from '../stats/summary.ts';

type TrendPolicy = { metric: Metric; marginRatio: number };
type SeriesKey = { testbed: string; cell: Cell };

export const seriesKey = ({ testbed, cell }: SeriesKey): string => `${testbed} ${cellName(cell)}`;

/** Sorts by commit. Sessions of one commit, or of unknown commits, sort by their own time. */
export const byCommit = (a: NightlyRun, b: NightlyRun): number =>
  (a.committedAt ?? a.at).localeCompare(b.committedAt ?? b.at) || a.at.localeCompare(b.at);

/** Cells that lost in a change; empty for a gain. */
export const lossesOf = (change: TrendChange): ChangeLevel[] =>
  change.cells.filter(({ changeRatio }) => isLoss(change, changeRatio));

export function worstOf(change: TrendChange): ChangeLevel {
  const lost = lossesOf(change);
  return (lost.length > 0 ? lost : change.cells).reduce((worst, one) =>
    Math.abs(one.changeRatio) > Math.abs(worst.changeRatio) ? one : worst,
  );
}

/** Median of a nightly run; NaN without runs of the metric. */
const nightlyRunValue = (nightlyRun: NightlyRun, metric: Metric): number => median(nightlyRun[metric]);
const valuesOf = (nightlyRuns: readonly NightlyRun[], metric: Metric): number[] =>
  nightlyRuns.map((nightlyRun) => nightlyRunValue(nightlyRun, metric));

/**
 * Updates the index from the nightly runs of some series: new changes, cells that join a change, grown losses, returned
 * levels. Nightly runs are keyed by `seriesKey`, and sorted by `byCommit`.
 */
export function judgeTrend(
  index: TrendIndex,
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>,
  policy: TrendPolicy,
  now: Date,
): TrendIndex {
  const { metric } = policy;
  const series = index.cells.flatMap(({ testbed, cell }) => {
    const own = nightlyRuns.get(seriesKey({ testbed, cell }))?.filter((nightlyRun) => nightlyRun[metric].length);
    return own ? [{ testbed, cell, nightlyRuns: own }] : [];
  });
  const found = series.reduce((changes, one) => withFound(changes, one, policy, now), index.changes);
  return { ...index, changes: found.map((change) => followed(change, found, series, policy, now)) };
}

type MeasuredSeries = SeriesKey & { nightlyRuns: readonly NightlyRun[] };

function withFound(
  changes: readonly TrendChange[],
  series: MeasuredSeries,
  { metric, marginRatio }: TrendPolicy,
  now: Date,
): TrendChange[] {
  const known = cutsOf(changes, series, metric);
  const fresh = changePoints(valuesOf(series.nightlyRuns, metric), known, marginRatio / 2);
  const cuts = [...known, ...fresh.map(({ index }) => index)].toSorted((a, b) => a - b);
  return fresh.reduce<TrendChange[]>(
    (all, point) => withPoint(all, series, point, levelAt(series, point.index, cuts, metric), metric, now),
    [...changes],
  );
}

/** Indexes at which a series begins a new level, by its recorded changes; ascending. */
function cutsOf(changes: readonly TrendChange[], series: MeasuredSeries, metric: Metric): number[] {
  const firsts = new Set(
    changes
      .filter((change) => change.testbed === series.testbed && change.metric === metric)
      .flatMap(({ cells }) => cells.filter(isOf(series)).map(({ firstAt }) => firstAt)),
  );
  return series.nightlyRuns.flatMap(({ at }, place) => (firsts.has(at) ? [place] : []));
}

const isOf =
  ({ cell }: { cell: Cell }) =>
  (other: { cell: Cell }): boolean =>
    cellName(other.cell) === cellName(cell);

function levelAt(
  { cell, nightlyRuns }: MeasuredSeries,
  index: number,
  cuts: readonly number[],
  metric: Metric,
): ChangeLevel {
  const start = cuts.findLast((cut) => cut < index) ?? 0;
  const end = cuts.find((cut) => cut > index) ?? nightlyRuns.length;
  const before = median(valuesOf(nightlyRuns.slice(start, index), metric));
  const after = median(valuesOf(nightlyRuns.slice(index, end), metric));
  const firstAt = nightlyRuns[index]?.at ?? '';
  return { cell, before, after, changeRatio: after / before - 1, firstAt };
}

/** Adds a change point: as a new change, or as another cell of a change between the same commits. */
function withPoint(
  changes: readonly TrendChange[],
  { testbed, nightlyRuns }: MeasuredSeries,
  { index, earliest, latest }: ChangePoint,
  level: ChangeLevel,
  metric: Metric,
  now: Date,
): TrendChange[] {
  const good = nightlyRuns[earliest - 1]?.commit ?? '';
  const bad = nightlyRuns[latest]?.commit ?? '';
  const id = changeId(testbed, good, bad);
  const isSame = (change: TrendChange): boolean =>
    (change.testbed === testbed && change.good === good && change.bad === bad) ||
    (change.testbed === testbed &&
      change.metric === metric &&
      isOpen(change) &&
      !change.cells.some(isOf(level)) &&
      nightlyRuns.findLastIndex(({ commit }) => commit === change.good) < index &&
      nightlyRuns.findIndex(({ commit }) => commit === change.bad) >= index);
  const same = changes.find(isSame);
  if (same) return changes.map((change) => (change === same ? joined(same, level, now) : change));
  const foundAt = now.toISOString();
  return [
    ...changes,
    {
      id,
      testbed,
      metric,
      good,
      bad,
      cells: [level],
      state: good === bad ? 'testbed' : 'candidate',
      foundAt,
      changedAt: foundAt,
      gates: [],
      alert: { told: [] },
    },
  ];
}

const changeId = (...parts: string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 40);

/** True while the change is unsettled and the old level has not returned. */
export const isOpen = ({ state }: Pick<TrendChange, 'state'>): boolean => state !== 'accepted' && state !== 'recovered';

/** A gate that found nothing in other cells does not apply to this one. */
function joined(change: TrendChange, level: ChangeLevel, now: Date): TrendChange {
  const cells = [...change.cells.filter((other) => !isOf(level)(other)), level];
  const isUnasked = change.state === 'testbed' && change.gates.length > 0 && isLoss(change, level.changeRatio);
  return isUnasked ? moved({ ...change, cells }, 'confirming', now) : { ...change, cells };
}

const moved = (change: TrendChange, state: TrendChange['state'], now: Date): TrendChange =>
  change.state === state ? change : { ...change, state, changedAt: now.toISOString() };

/** Updates a change from later nightly runs: its size, a return to the old level, or a loss of another half margin. */
function followed(
  change: TrendChange,
  changes: readonly TrendChange[],
  all: readonly MeasuredSeries[],
  { metric, marginRatio }: TrendPolicy,
  now: Date,
): TrendChange {
  if (change.metric !== metric || !isOpen(change)) return change;
  const isLostBy = (least: number, ratio: number): boolean => isLoss(change, ratio) && Math.abs(ratio) >= least;
  const half = marginRatio / 2;
  const levels = change.cells.map((level) => {
    const series = all.find((one) => one.testbed === change.testbed && isOf(one)(level));
    const since = series && sinceLastCut(series, cutsOf(changes, series, metric), metric);
    return { level, since };
  });
  const lost = levels.filter(({ level }) => isLoss(change, level.changeRatio));
  const isBack = ({ level, since }: (typeof levels)[number]): boolean =>
    since !== undefined && !isLostBy(Math.min(half, Math.abs(level.changeRatio) / 2), since.typical / level.before - 1);
  if (lost.length > 0 && lost.every(isBack)) return moved(change, 'recovered', now);
  const cells = levels.map(({ level, since }) => {
    if (since?.firstAt !== level.firstAt) return level;
    const isGrown = since.nightlyRuns <= nightlyRunsThatSettle || isLostBy(half, since.typical / level.after - 1);
    if (!isGrown) return level;
    return { ...level, after: since.typical, changeRatio: since.typical / level.before - 1 };
  });
  return { ...change, cells };
}

/** Nightly runs for which the size of a new level is refined. */
const nightlyRunsThatSettle = 10;

function sinceLastCut({ nightlyRuns }: MeasuredSeries, cuts: readonly number[], metric: Metric) {
  const start = cuts.at(-1) ?? 0;
  const since = nightlyRuns.slice(start);
  const typical = median(valuesOf(since, metric));
  return { firstAt: since[0]?.at, nightlyRuns: since.length, typical };
}

type GateEnd = Pick<Result, 'variants' | 'testbed' | 'finishedAt' | 'outcome'>;

/**
 * Applies a gate between a change's last good commit (base) and suspect (patched) on the same testbed. Without such an
 * open change, leaves the index unchanged. A loss in the gate, too, means that the code is at fault.
 */
export function withGate(index: TrendIndex, gate: GateEnd, path: string): TrendIndex {
  const commitOf = (name: string) => gate.variants.find((variant) => variant.name === name)?.commit;
  return withChange(
    index,
    (change) =>
      isGateRequested(change) &&
      change.testbed === gate.testbed.name &&
      change.good === commitOf('base') &&
      change.bad === commitOf('patched'),
    (change) => gated(change, gate, path),
  );
}

const withChange = (
  index: TrendIndex,
  isMeant: (change: TrendChange) => boolean,
  edit: (change: TrendChange) => TrendChange,
): TrendIndex => ({
  ...index,
  changes: index.changes.map((change) => (isMeant(change) ? edit(change) : change)),
});

/** True if a gate is due, or was inconclusive. */
const isGateRequested = ({ state }: TrendChange): boolean => state === 'candidate' || state === 'confirming';

function gated(change: TrendChange, { outcome, finishedAt }: GateEnd, path: string): TrendChange {
  const judged = outcome.kind === 'judged' ? outcome.cells : [];
  const cells = judged.filter((cell) => change.cells.some(isOf(cell)));
  const now = new Date(finishedAt);
  const gate: TrendChange['gates'][number] = {
    at: now.toISOString(),
    result: path,
    verdict: verdictOf(outcome),
    cells: cells.map(({ cell, comparisons }) => {
      const interval = comparisons.find(({ metric }) => metric === change.metric)?.interval;
      return { cell, ...(interval && { interval }) };
    }),
  };
  const verdicts = lossesOf(change).map((level) => cells.find(isOf(level))?.verdict.kind);
  // A resumed nightly run publishes its results again.
  const others = change.gates.filter(({ at }) => at !== gate.at);
  return moved({ ...change, gates: [...others, gate] }, stateAfter(verdicts, outcome.kind === 'unchanged'), now);
}

function verdictOf(outcome: Result['outcome']): TrendChange['gates'][number]['verdict'] {
  if (outcome.kind === 'judged') return outcome.verdict;
  return outcome.kind === 'unchanged' ? 'no-regression' : 'invalid';
}

/** `said` has the verdicts of the cells that lost. Two commits with the same kernel cannot differ. */
function stateAfter(
  verdicts: readonly (CellResult['verdict']['kind'] | undefined)[],
  isSameKernel: boolean,
): TrendChange['state'] {
  if (verdicts.includes('regression')) return 'code';
  const isFree = (kind: (typeof verdicts)[number]) => kind === 'no-regression' || kind === 'improvement';
  return isSameKernel || verdicts.every(isFree) ? 'testbed' : 'confirming';
}

export function withBisection(
  index: TrendIndex,
  { testbed, good, bad, revisions, answer }: BisectResult,
  path: string,
): TrendIndex {
  const culprit = answer.kind === 'culprit' ? revisions[answer.revision]?.commit : undefined;
  return withChange(
    index,
    (change) => change.testbed === testbed.name && change.good === good && change.bad === bad,
    (change) => ({ ...change, bisection: { result: path, ...(culprit && { culprit }) } }),
  );
}

/** Accepts the level of change `id` as the new one; undefined if no such change is open. */
export function accepted(index: TrendIndex, id: string, now: Date): TrendIndex | undefined {
  const isMeant = (change: TrendChange): boolean => change.id === id && isOpen(change);
  if (!index.changes.some(isMeant)) return undefined;
  return withChange(index, isMeant, (change) => moved(change, 'accepted', now));
}

/**
 * True if a run is more than 1 % and four deviations off the level of `before`, sorted by `byCommit`; false if that is
 * too short.
 */
export function isOff(before: readonly NightlyRun[], nightlyRun: NightlyRun, metric: Metric): boolean {
  if (nightlyRun[metric].length === 0) return false;
  const level = lastLevel(
    valuesOf(
      before.filter((other) => other[metric].length),
      metric,
    ),
  );
  if (!level) return false;
  const step = Math.log(nightlyRunValue(nightlyRun, metric) / level.typical);
  return Math.abs(step) > Math.max(deviationsOff * level.sigmaRatio, minChangeRatio);
}

const deviationsOff = 4;

/** Changes that a gate should compare, oldest first: unexplained losses, at most three times each. */
export const changesToGate = ({ changes }: TrendIndex, testbed: string): TrendChange[] =>
  changes.filter(
    (change) =>
      change.testbed === testbed &&
      isGateRequested(change) &&
      change.gates.length < maxGates &&
      lossesOf(change).length > 0,
  );

const maxGates = 3;

/** Code changes that were not bisected, oldest first. Git decides whether there are commits in between. */
export const changesToBisect = ({ changes }: TrendIndex, testbed: string): TrendChange[] =>
  changes.filter((change) => change.testbed === testbed && change.state === 'code' && !change.bisection);

export type Level = {
  /** Index of the first nightly run, and of the one after the last. */
  from: number;
  to: number;
  typical: number;
  /** Deviation of a single nightly run, as a ratio. */
  sigmaRatio: number;
};

/** Splits a series, sorted by `byCommit`, at its recorded changes. Omits nightly runs without the metric. */
export function levelsOf(
  { changes }: TrendIndex,
  series: SeriesKey,
  nightlyRuns: readonly NightlyRun[],
  metric: Metric,
): Level[] {
  const cuts = cutsOf(changes, { ...series, nightlyRuns }, metric).filter((cut) => cut > 0);
  return [0, ...cuts].flatMap((from, place) => {
    const to = cuts[place] ?? nightlyRuns.length;
    const values = valuesOf(
      nightlyRuns.slice(from, to).filter((nightlyRun) => nightlyRun[metric].length),
      metric,
    );
    if (values.length === 0) return [];
    return [{ from, to, typical: median(values), sigmaRatio: nightlySigmaRatio(values) }];
  });
}
