// What a testbed's nightly runs say of its branch: lasting changes, what became of each, and what is to be measured next.
import { createHash } from 'node:crypto';
import type { BisectResult } from '../../model/bisect-result.ts';
import { type CellResult, isLoss, type Metric, type Result } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { ChangeLevel, NightlyRun, TrendChange, TrendIndex } from '../../model/trend.ts';
import {
  type ChangePoint,
  changePoints,
  lastLevel,
  leastChangeRatio,
  nightlySigmaRatio,
} from '../stats/change-points.ts';
import { median } from '../stats/summary.ts';

type TrendPolicy = { metric: Metric; marginRatio: number };
type SeriesKey = { testbed: string; cell: Cell };

/** The key of a testbed's cell among all series. */
export const seriesKey = ({ testbed, cell }: SeriesKey): string => `${testbed} ${cellName(cell)}`;

/** The order of the commits; sessions of one commit, and those of which nobody knows it, by their own time. */
export const byCommit = (a: NightlyRun, b: NightlyRun): number =>
  (a.committedAt ?? a.at).localeCompare(b.committedAt ?? b.at) || a.at.localeCompare(b.at);

/** The cells of a change that have lost; none of a gain. */
export const lossesOf = (change: TrendChange): ChangeLevel[] =>
  change.cells.filter(({ changeRatio }) => isLoss(change, changeRatio));

/** The greatest loss of a change, or where nothing was lost the greatest gain. */
export function worstOf(change: TrendChange): ChangeLevel {
  const lost = lossesOf(change);
  return (lost.length > 0 ? lost : change.cells).reduce((worst, one) =>
    Math.abs(one.changeRatio) > Math.abs(worst.changeRatio) ? one : worst,
  );
}

/** One number a nightly run, the median of its runs; none of a nightly run that has no run of the metric. */
const nightlyRunValue = (nightlyRun: NightlyRun, metric: Metric): number =>
  median(nightlyRun[metric]);
const valuesOf = (nightlyRuns: readonly NightlyRun[], metric: Metric): number[] =>
  nightlyRuns.map((nightlyRun) => nightlyRunValue(nightlyRun, metric));

/**
 * The index with all that the nightly runs of some series say by now: changes that are new, cells that have joined a change,
 * losses that grew, and old levels that came back. The nightly runs are by `seriesKey`, and sorted by `byCommit`.
 */
export function judgeTrend(
  index: TrendIndex,
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>,
  policy: TrendPolicy,
  now: Date,
): TrendIndex {
  const { metric } = policy;
  const series = index.cells.flatMap(({ testbed, cell }) => {
    const own = nightlyRuns
      .get(seriesKey({ testbed, cell }))
      ?.filter((nightlyRun) => nightlyRun[metric].length);
    return own ? [{ testbed, cell, nightlyRuns: own }] : [];
  });
  const found = series.reduce(
    (changes, one) => withFound(changes, one, policy, now),
    index.changes,
  );
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
    (all, point) =>
      withPoint(all, series, point, levelAt(series, point.index, cuts, metric), metric, now),
    [...changes],
  );
}

/** Where a series' nightly runs begin another level, by the changes that are kept of it; ascending. */
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

/** The changes with one more: in a cell of its own, or as another cell of what was seen between the same commits. */
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
    change.id === id ||
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
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);

/** Whether nobody has settled it, and the old level is not back. */
export const isOpen = ({ state }: Pick<TrendChange, 'state'>): boolean =>
  state !== 'accepted' && state !== 'recovered';

/** A gate that found nothing in other cells says nothing of this one. */
function joined(change: TrendChange, level: ChangeLevel, now: Date): TrendChange {
  const cells = [...change.cells.filter((other) => !isOf(level)(other)), level];
  const isUnasked =
    change.state === 'testbed' && change.gates.length > 0 && isLoss(change, level.changeRatio);
  return isUnasked ? moved({ ...change, cells }, 'confirming', now) : { ...change, cells };
}

const moved = (change: TrendChange, state: TrendChange['state'], now: Date): TrendChange =>
  change.state === state ? change : { ...change, state, changedAt: now.toISOString() };

/** A change as the nightly runs since have it: its size, the old level come back, or half a margin more lost. */
function followed(
  change: TrendChange,
  changes: readonly TrendChange[],
  all: readonly MeasuredSeries[],
  { metric, marginRatio }: TrendPolicy,
  now: Date,
): TrendChange {
  if (change.metric !== metric || !isOpen(change)) return change;
  const isLostBy = (least: number, ratio: number): boolean =>
    isLoss(change, ratio) && Math.abs(ratio) >= least;
  const half = marginRatio / 2;
  const levels = change.cells.map((level) => {
    const series = all.find((one) => one.testbed === change.testbed && isOf(one)(level));
    const since = series && sinceLastCut(series, cutsOf(changes, series, metric), metric);
    return { level, since };
  });
  const lost = levels.filter(({ level }) => isLoss(change, level.changeRatio));
  const isBack = ({ level, since }: (typeof levels)[number]): boolean =>
    since !== undefined &&
    !isLostBy(Math.min(half, Math.abs(level.changeRatio) / 2), since.typical / level.before - 1);
  if (lost.length > 0 && lost.every(isBack)) return moved(change, 'recovered', now);
  const cells = levels.map(({ level, since }) => {
    if (since?.firstAt !== level.firstAt) return level;
    const isGrown =
      since.nightlyRuns <= nightlyRunsThatSettle || isLostBy(half, since.typical / level.after - 1);
    if (!isGrown) return level;
    return { ...level, after: since.typical, changeRatio: since.typical / level.before - 1 };
  });
  return { ...change, cells };
}

/** Until a level has lasted so long, each night tells its size better. */
const nightlyRunsThatSettle = 10;

function sinceLastCut({ nightlyRuns }: MeasuredSeries, cuts: readonly number[], metric: Metric) {
  const start = cuts.at(-1) ?? 0;
  const since = nightlyRuns.slice(start);
  const typical = median(valuesOf(since, metric));
  return { firstAt: since[0]?.at, nightlyRuns: since.length, typical };
}

/** How a gate ended, and of what. */
type GateEnd = Pick<Result, 'variants' | 'testbed' | 'finishedAt' | 'outcome'>;

/**
 * The index after a gate whose base is the last good commit of a change, and whose patched variant the suspect, on
 * the same testbed; unchanged where there is no such change, or it is settled. What is lost there too is code.
 */
export function withGate(index: TrendIndex, gate: GateEnd, path: string): TrendIndex {
  const commitOf = (name: string) => gate.variants.find((variant) => variant.name === name)?.commit;
  return withChange(
    index,
    (change) =>
      isAsked(change) &&
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

/** A gate is due, or could not tell yet. */
const isAsked = ({ state }: TrendChange): boolean =>
  state === 'candidate' || state === 'confirming';

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
  const said = lossesOf(change).map((level) => cells.find(isOf(level))?.verdict.kind);
  // A nightly run that goes on publishes again what it has published.
  const others = change.gates.filter(({ at }) => at !== gate.at);
  return moved(
    { ...change, gates: [...others, gate] },
    stateAfter(said, outcome.kind === 'unchanged'),
    now,
  );
}

function verdictOf(outcome: Result['outcome']): TrendChange['gates'][number]['verdict'] {
  if (outcome.kind === 'judged') return outcome.verdict;
  return outcome.kind === 'unchanged' ? 'no-regression' : 'invalid';
}

/** What is `said` of the cells that lost; two commits that make the same kernel cannot differ. */
function stateAfter(
  said: readonly (CellResult['verdict']['kind'] | undefined)[],
  isSameKernel: boolean,
): TrendChange['state'] {
  if (said.includes('regression')) return 'code';
  const isFree = (kind: (typeof said)[number]) =>
    kind === 'no-regression' || kind === 'improvement';
  return isSameKernel || said.every(isFree) ? 'testbed' : 'confirming';
}

/** The index after a bisection between the two commits of a change on its testbed. */
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

/** The index after somebody took the level of change `id` for the new one; undefined where no such change is open. */
export function accepted(index: TrendIndex, id: string, now: Date): TrendIndex | undefined {
  const isMeant = (change: TrendChange): boolean => change.id === id && isOpen(change);
  if (!index.changes.some(isMeant)) return undefined;
  return withChange(index, isMeant, (change) => moved(change, 'accepted', now));
}

/**
 * Whether a nightly run is four deviations off the level that the nightly runs before it have, and by more than 1 %; never of a
 * series that is too short to tell. The nightly runs before are sorted by `byCommit`.
 */
export function isOff(
  before: readonly NightlyRun[],
  nightlyRun: NightlyRun,
  metric: Metric,
): boolean {
  if (nightlyRun[metric].length === 0) return false;
  const level = lastLevel(
    valuesOf(
      before.filter((other) => other[metric].length),
      metric,
    ),
  );
  if (!level) return false;
  const step = Math.log(nightlyRunValue(nightlyRun, metric) / level.typical);
  return Math.abs(step) > Math.max(deviationsOff * level.sigmaRatio, leastChangeRatio);
}

const deviationsOff = 4;

/** Changes whose two commits a gate should compare, oldest first: losses that nobody has explained, three times each. */
export const changesToGate = ({ changes }: TrendIndex, testbed: string): TrendChange[] =>
  changes.filter(
    (change) =>
      change.testbed === testbed &&
      isAsked(change) &&
      change.gates.length < mostGates &&
      lossesOf(change).length > 0,
  );

const mostGates = 3;

/** Changes that are code and were not bisected, oldest first; whether there are commits between, git knows. */
export const changesToBisect = ({ changes }: TrendIndex, testbed: string): TrendChange[] =>
  changes.filter(
    (change) => change.testbed === testbed && change.state === 'code' && !change.bisection,
  );

/** A stretch of nightly runs at one level. */
export type Level = {
  /** Places among the nightly runs: the first, and the one after the last. */
  from: number;
  to: number;
  /** Median of the nightly runs, in the metric's unit. */
  typical: number;
  /** Deviation of a nightly run from it, as a ratio. */
  sigmaRatio: number;
};

/** A series' levels, as its kept changes divide it; nightly runs without the metric are in none. Sorted by `byCommit`. */
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
