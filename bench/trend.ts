// Measures false change points and the delay of true ones, beside what
// other trend pages do; then two years of four testbeds, with each alert as right or wrong.
// By hand: npm run bench:trend
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, quantile } from 'simple-statistics';
import { upperBound } from '../src/analysis/stats/binomial.ts';
import { changesRunByRun, nightlySigmaRatio } from '../src/analysis/stats/change-points.ts';
import { median } from '../src/analysis/stats/summary.ts';
import { changesToGate, judgeTrend, seriesKey, withGate } from '../src/analysis/trend/change-history.ts';
import { grouped } from '../src/model/format.ts';
import { type CellResult, verdictsWorstFirst } from '../src/model/result.ts';
import { type Cell, cellName, families } from '../src/model/scenario.ts';
import type { NightlyRun, TrendChange, TrendIndex } from '../src/model/trend.ts';
import { type Goal, goalText, isMissed, type Lab, type Line, labs, plain, printLines } from './designs.ts';
import { standardNormal } from './normal.ts';
import {
  cellSource,
  type NoiseSource,
  type SimulationRequest,
  type SimulationRow,
  simulate,
} from './simulated-gates.ts';

type Found = { index: number; foundAt: number };
type Detector = { says: string; find: (values: readonly number[]) => Found[]; hasGoals: boolean };

const nightlyRunsASeries = 300;
const seriesARow = 80;
const stepRatio = -0.02;

/** Yields each line as soon as it is known. */
export async function* benchTrend(): AsyncGenerator<Line> {
  const { says, quiet, classes } = await labs();
  const [, , upTo2 = quiet] = classes;
  yield plain(says);
  yield plain('A nightly run is the median of 5 runs, with a build of its own that scatters by 0.3 %.');
  for (const lab of [upTo2, quiet]) {
    yield plain(`\n${lab.says}; ${grouped(nightlyRunsASeries * seriesARow)} nightly runs a row, nothing changed:`);
    for (const detector of detectors) yield* falseOnes(detector, lab);
    yield plain(`\nThe same, ${stepRatio * 100} % somewhere, and 30 nightly runs after it:`);
    for (const detector of detectors) yield steps(detector, lab, lab === quiet);
  }
  yield plain(
    `\nNeighbouring nightly runs correlate, normal noise of ${percentOf(correlatedNoiseRatio)}; false changes in a series of a year:`,
  );
  for (const detector of detectors) yield correlatedOnes(detector);
  yield* twoYears(quiet.noise);
}

const correlatedNoiseRatio = 0.006;
const nightlyRunsOfYear = 365;
const percentOf = (ratio: number): string => `${ratio * 100} %`;

/** A first-order autoregression. */
function correlatedSeries(correlation: number, random: RandomGenerator): number[] {
  let state = standardNormal(random);
  return Array.from({ length: nightlyRunsOfYear }, () => {
    const value = Math.exp(correlatedNoiseRatio * state);
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * standardNormal(random);
    return value;
  });
}

function correlatedOnes({ says, find, hasGoals }: Detector): Line {
  const goal: Goal | undefined = hasGoals ? { most: 0.1 } : undefined;
  const rows = [0.3, 0.5, 0.7].map((correlation) => {
    const random = xoroshiro128plus(4);
    const found = Array.from({ length: seriesARow }, () => find(correlatedSeries(correlation, random)).length);
    return { correlation, aYear: mean(found) };
  });
  const parts = rows.map(({ correlation, aYear }) => `r = ${correlation} ${aYear.toFixed(2)}`);
  return {
    text: `  ${says.padEnd(24)} ${parts.join(', ')}${goal ? ' (goal ≤ 0.1)' : ''}`,
    missed: rows.some(({ aYear }) => isMissed(aYear, goal)),
  };
}

type Deps = { says: string; buildRatio: number; badRatio: number };
const clean: Deps = { says: 'clean', buildRatio: 0.003, badRatio: 0 };
const nullWorlds: Deps[] = [
  clean,
  { ...clean, says: '3 % bad nightly runs', badRatio: 0.03 },
  { ...clean, says: '2 % build scatter', buildRatio: 0.02 },
];

/** Nightly runs around 1; from `stepAt` on lower by `stepRatio`. A bad nightly run lacks 5 to 15 %. */
function seriesOf(
  noise: NoiseSource,
  deps: Deps,
  nightlyRuns: number,
  random: RandomGenerator,
  stepAt = nightlyRuns,
): number[] {
  const drawRun = cellSource(noise, random)()();
  return Array.from({ length: nightlyRuns }, (_, nightlyRun) => {
    const runs = median(Array.from({ length: 5 }, drawRun));
    const build = Math.exp(deps.buildRatio * standardNormal(random));
    const isBad = uniformFloat64(random) < deps.badRatio;
    const bad = isBad ? 0.95 - 0.1 * uniformFloat64(random) : 1;
    return runs * build * bad * (nightlyRun >= stepAt ? 1 + stepRatio : 1);
  });
}

function* falseOnes({ says, find, hasGoals }: Detector, { noise }: Lab): Generator<Line> {
  const rows = nullWorlds.map((deps) => {
    const random = xoroshiro128plus(1);
    let found = 0;
    for (let series = 0; series < seriesARow; series += 1) {
      found += find(seriesOf(noise, deps, nightlyRunsASeries, random)).length;
    }
    return { deps, found, per1000: (1000 * found) / (seriesARow * nightlyRunsASeries) };
  });
  const goal: Goal | undefined = hasGoals ? { most: 0.3 } : undefined;
  const parts = rows.map(({ deps, per1000 }) => `${deps.says} ${per1000.toFixed(2)}`);
  yield {
    text: `  ${says.padEnd(24)} false per 1,000 nightly runs: ${parts.join(', ')}${goal ? ' (goal ≤ 0.3)' : ''}`,
    missed: rows.some(({ per1000 }) => isMissed(per1000, goal)),
  };
  if (hasGoals) yield confirmedLine(Math.max(...rows.map(({ found }) => found)), noise);
}

/** A false change point is reported only if a gate errs, too; the two are independent. */
function confirmedLine(found: number, noise: NoiseSource): Line {
  const atMost = upperBound(found, seriesARow * nightlyRunsASeries);
  const gate = simulate({ ...gateRule, noise, cells: 1, effect: 0, experiments: 40_000, seed: 3 });
  const per100000 = atMost * gate.regression * 100_000;
  const goal: Goal = { most: 1 };
  return {
    text: `  of the worst of these at most ${(atMost * 1000).toFixed(2)} per 1,000 (95 %), of which a gate confirms ${(gate.regression * 100).toFixed(2)} %: ${per100000.toFixed(2)} false alerts per 100,000 nightly runs of a cell (goal ≤ 1)`,
    missed: isMissed(per100000, goal),
  };
}

function steps({ says, find, hasGoals }: Detector, { noise }: Lab, isQuiet: boolean): Line {
  const random = xoroshiro128plus(2);
  const tries = Array.from({ length: seriesARow * 3 }, () => {
    const stepAt = 100 + Math.floor(100 * uniformFloat64(random));
    const found = find(seriesOf(noise, clean, stepAt + 30, random, stepAt));
    const hit = found.find(({ index, foundAt }) => Math.abs(index - stepAt) <= 5 && foundAt >= stepAt);
    return hit && { nightlyRuns: hit.foundAt - stepAt + 1, isExact: hit.index === stepAt };
  });
  const hits = tries.filter((hit) => hit !== undefined);
  const foundRatio = hits.length / tries.length;
  if (hits.length === 0) return plain(`  ${says.padEnd(24)} found 0 %`);
  const nightlyRuns = hits.map((hit) => hit.nightlyRuns);
  const typical = median(nightlyRuns);
  const exactRatio = mean(hits.map(({ isExact }) => Number(isExact)));
  const goals: Record<'found' | 'typical' | 'exact', Goal | undefined> =
    hasGoals && isQuiet
      ? { found: { least: 0.98 }, typical: { most: 3 }, exact: { least: 0.88 } }
      : { found: undefined, typical: undefined, exact: undefined };
  const parts = [
    `found ${(foundRatio * 100).toFixed(1)} %${goalText(goals.found)}`,
    `after ${typical} nightly runs${goalText(goals.typical)}, 9 of 10 within ${Math.ceil(quantile(nightlyRuns, 0.9))}`,
    `the exact nightly run ${(exactRatio * 100).toFixed(1)} %${goalText(goals.exact)}`,
  ];
  return {
    text: `  ${says.padEnd(24)} ${parts.join(', ')}`,
    missed: isMissed(foundRatio, goals.found) || isMissed(typical, goals.typical) || isMissed(exactRatio, goals.exact),
  };
}

/** Every night that is 2 % off the one before. */
const previousNightlyRun = (values: readonly number[]): Found[] =>
  values.flatMap((value, index) => {
    const before = values[index - 1] ?? value;
    return Math.abs(value / before - 1) > 0.02 ? [{ index, foundAt: index }] : [];
  });

/** Page's CUSUM with k = 0.5 and h = 15 deviations, against the twenty nightly runs before it began. */
function cusum(values: readonly number[]): Found[] {
  const found: Found[] = [];
  const learnt = 20;
  for (let start = 0; start + learnt < values.length; ) {
    const known = values.slice(start, start + learnt);
    const [level, sigma] = [median([...known]), nightlySigmaRatio(known)];
    const alarm = firstAlarm(values, start + learnt, level, sigma);
    if (!alarm) break;
    found.push(alarm);
    start = alarm.index;
  }
  return found;
}

function firstAlarm(values: readonly number[], from: number, level: number, sigma: number): Found | undefined {
  const sums = [0, 0];
  const begun = [from, from];
  for (let nightlyRun = from; nightlyRun < values.length; nightlyRun += 1) {
    const deviations = Math.log((values[nightlyRun] ?? level) / level) / sigma;
    for (const [side, sign] of [1, -1].entries()) {
      const sum = Math.max(0, (sums[side] ?? 0) + sign * deviations - 0.5);
      if (sum === 0) begun[side] = nightlyRun + 1;
      sums[side] = sum;
      if (sum > 15) return { index: begun[side] ?? nightlyRun, foundAt: nightlyRun };
    }
  }
  return undefined;
}

/** Optimal partitioning with squared deviations of the mean, and 20 for each level. */
function gaussianPartition(values: readonly number[]): Found[] {
  const found: Found[] = [];
  for (let nightlyRun = 8; nightlyRun < values.length; nightlyRun += 1) {
    const from = Math.max(0, nightlyRun + 1 - 120);
    const seen = values.slice(from, nightlyRun + 1);
    for (const cut of gaussianCuts(seen.map(Math.log), nightlySigmaRatio(seen))) {
      const index = from + cut;
      if (found.every((other) => Math.abs(other.index - index) > 3)) found.push({ index, foundAt: nightlyRun });
    }
  }
  return found;
}

function gaussianCuts(logs: readonly number[], sigma: number): number[] {
  const sums = [0];
  const squares = [0];
  for (const [index, value] of logs.entries()) {
    sums.push((sums[index] ?? 0) + value / sigma);
    squares.push((squares[index] ?? 0) + (value / sigma) ** 2);
  }
  const cost = (start: number, end: number): number => {
    const sum = (sums[end] ?? 0) - (sums[start] ?? 0);
    return (squares[end] ?? 0) - (squares[start] ?? 0) - sum ** 2 / (end - start);
  };
  const least = [-20];
  const startOf = [0];
  for (let end = 1; end <= logs.length; end += 1) {
    least[end] = Number.POSITIVE_INFINITY;
    for (let start = 0; start < end; start += 1) {
      const all = (least[start] ?? 0) + 20 + cost(start, end);
      if (all >= (least[end] ?? 0)) continue;
      least[end] = all;
      startOf[end] = start;
    }
  }
  const cuts: number[] = [];
  for (let end = startOf[logs.length] ?? 0; end > 0; end = startOf[end] ?? 0) cuts.unshift(end);
  return cuts;
}

const detectors: Detector[] = [
  { says: 'previous nightly run ± 2 %', find: previousNightlyRun, hasGoals: false },
  { says: 'CUSUM', find: cusum, hasGoals: false },
  { says: 'Gaussian partition', find: gaussianPartition, hasGoals: false },
  { says: 'robust partition', find: (values) => changesRunByRun(values), hasGoals: true },
];

const nightlyRunsOfTwoYears = 730;
const testbeds = ['chelsio', 'mellanox', 'intel', 'virtual'];
const cells: Cell[] = ['forwarding', 'pf-stateless', 'pf-stateful', 'ipfw-stateless', 'ipfw-stateful', 'nat'].flatMap(
  (scenario) => families.map((family) => ({ scenario, family })),
);
const margin = 0.02;

/** A change: from a nightly run on, on some testbeds, in some cells, by code or by the machine. */
type Event = {
  says: string;
  from: number;
  /** The nightly run from which it is gone again. */
  until?: number;
  /** Number of nightly runs over which the change grows. */
  ramp?: number;
  testbeds: string[];
  cells: Cell[];
  ratio: number;
  isCode: boolean;
};

const events: Event[] = [
  {
    says: 'code, -4 % in 3 cells',
    from: 90,
    testbeds,
    cells: cells.slice(2, 5),
    ratio: -0.04,
    isCode: true,
  },
  {
    says: 'code, -2.5 % in all cells',
    from: 200,
    testbeds: testbeds.slice(0, 2),
    cells,
    ratio: -0.025,
    isCode: true,
  },
  {
    says: 'the machine, -3 % in all cells',
    from: 250,
    testbeds: ['intel'],
    cells,
    ratio: -0.03,
    isCode: false,
  },
  {
    says: 'code, -6 % in a cell, fixed after 40 nightly runs',
    from: 300,
    until: 340,
    testbeds,
    cells: cells.slice(8, 9),
    ratio: -0.06,
    isCode: true,
  },
  {
    says: 'new firmware, +2 % in all cells',
    from: 400,
    testbeds: ['virtual'],
    cells,
    ratio: 0.02,
    isCode: false,
  },
  {
    says: 'code, -5 % bit by bit in 30 nightly runs, a cell',
    from: 520,
    ramp: 30,
    testbeds: ['chelsio'],
    cells: cells.slice(0, 1),
    ratio: -0.05,
    isCode: true,
  },
  {
    says: 'code, -2 % in a cell',
    from: 640,
    testbeds,
    cells: cells.slice(11),
    ratio: -0.02,
    isCode: true,
  },
];

const isMissingNightlyRun = (testbed: string, nightlyRun: number): boolean =>
  testbed === 'mellanox' && nightlyRun >= 420 && nightlyRun < 441;

/** Rate at a nightly run, around 1; only of the code, as a gate interleaves two commits. */
const rateAt = (nightlyRun: number, testbed: string, cell: Cell, isCodeAlone: boolean): number =>
  events
    .filter((event) => event.testbeds.includes(testbed) && event.cells.includes(cell))
    .filter(({ isCode }) => isCode || !isCodeAlone)
    .map(({ from, until = Number.POSITIVE_INFINITY, ramp = 1, ratio }) =>
      nightlyRun < until ? 1 + ratio * Math.min(1, Math.max(0, (nightlyRun - from + 1) / ramp)) : 1,
    )
    .reduce((product, factor) => product * factor, 1);

/** Four testbeds of twelve cells, judged each night as the data branch is, and each candidate by a simulated gate. */
function* twoYears(noise: NoiseSource): Generator<Line> {
  yield plain(
    `\n${testbeds.length} testbeds of ${cells.length} cells, ${nightlyRunsOfTwoYears} nightly runs, 1 % bad nightly runs:`,
  );
  for (const { says, from, testbeds: on } of events) yield plain(`  nightly run ${from}: ${says} (${on.join(', ')})`);
  yield plain('What people would be told:');
  const changes = testbeds.flatMap((testbed, number) => branchOf(testbed, noise, number + 1));
  const told = changes.filter(({ gates }) => gates.length > 0);
  for (const change of told) yield alertLine(change);
  const wrong = told.filter((change) => wasCode(change) && !isTrueLoss(change)).length;
  yield {
    text: `${told.length} changes, ${wrong} of them called code that are none (goal ≤ 0).`,
    missed: wrong > 0,
  };
}

/** A commit's id has its nightly run, of three commits each. */
const commitOf = (nightlyRun: number): string => String(nightlyRun * 3).padStart(40, '0');
const nightlyRunOf = (commit: string): number => Number(commit) / 3;
const timeOf = (nightlyRun: number): string => new Date(Date.UTC(2024, 0, 1 + nightlyRun, 2)).toISOString();

const wasCode = ({ gates, state }: TrendChange): boolean =>
  state === 'code' || gates.some(({ verdict }) => verdict === 'regression');
const isTrueLoss = ({ good, bad, cells: lost, testbed }: TrendChange): boolean =>
  lost.some(({ cell }) => codeRatio(testbed, cell, good, bad) < -0.001);
const codeRatio = (testbed: string, cell: Cell, good: string, bad: string): number => {
  const own = cells.find((other) => cellName(other) === cellName(cell)) ?? cell;
  const at = (commit: string) => rateAt(nightlyRunOf(commit), testbed, own, true);
  return at(bad) / at(good) - 1;
};

function alertLine(change: TrendChange): Line {
  const { testbed, good, bad, state, cells: lost, foundAt } = change;
  const found = (Date.parse(foundAt) - Date.parse(timeOf(0))) / 86_400_000;
  const worst = Math.min(...lost.map(({ changeRatio }) => changeRatio));
  const isRight = wasCode(change) === isTrueLoss(change);
  return plain(
    `  ${testbed.padEnd(8)} nightly run ${Math.round(found)}: ${(worst * 100).toFixed(1)} % in ${lost.length === 1 ? 'a cell' : `${lost.length} cells`}, between nightly runs ${nightlyRunOf(good)} and ${nightlyRunOf(bad)}: ${wasCode(change) ? 'code' : 'not code'}${state === 'recovered' ? ', recovered' : ''}: ${isRight ? 'right' : 'wrong'}`,
  );
}

function branchOf(testbed: string, noise: NoiseSource, seed: number): TrendChange[] {
  const random = xoroshiro128plus(seed);
  const sources = cells.map((cell) => ({ cell, drawRun: cellSource(noise, random)()() }));
  const nightlyRuns = new Map<string, NightlyRun[]>(cells.map((cell) => [seriesKey({ testbed, cell }), []]));
  let index: TrendIndex = {
    schemaVersion: 1,
    cells: cells.map((cell) => ({ testbed, cell, years: [2024] })),
    fingerprints: [],
    changes: [],
    aaRuns: [],
    releases: [],
  };
  for (let nightlyRun = 0; nightlyRun < nightlyRunsOfTwoYears; nightlyRun += 1) {
    if (isMissingNightlyRun(testbed, nightlyRun)) continue;
    const at = timeOf(nightlyRun);
    for (const { cell, drawRun } of sources) {
      const isBad = uniformFloat64(random) < 0.01;
      const build = Math.exp(0.003 * standardNormal(random));
      const level = 1e6 * build * (isBad ? 0.9 : 1) * rateAt(nightlyRun, testbed, cell, false);
      const pps = Array.from({ length: 5 }, () => level * drawRun());
      const line: NightlyRun = {
        at,
        commit: commitOf(nightlyRun),
        committedAt: at,
        occasion: 'nightly',
        pps,
        nsPerPacket: [],
        instructionsPerPacket: [],
        fingerprint: '',
      };
      nightlyRuns.get(seriesKey({ testbed, cell }))?.push(line);
    }
    index = judgeTrend(index, nightlyRuns, { metric: 'pps', marginRatio: margin }, new Date(at));
    for (const change of changesToGate(index, testbed)) {
      index = withGate(index, gateOf(change, noise, nightlyRun), `results/2024/${nightlyRun}`);
    }
  }
  return index.changes;
}

const gateRule = {
  design: { name: 'group-sequential' as const, budgets: [20] },
  historyRuns: 10,
  rates: { falseAlarms: 0.01, misses: 0.05 },
  marginRatio: margin,
} satisfies Partial<SimulationRequest>;

/** Verdicts that gates of the two commits would have, by the change of the code alone. */
function gateOf(
  { testbed, good, bad, cells: asked }: TrendChange,
  noise: NoiseSource,
  nightlyRun: number,
): Parameters<typeof withGate>[1] {
  const judged = asked.map(({ cell }, place): CellResult => {
    const row = simulate({
      ...gateRule,
      noise,
      cells: asked.length,
      effect: codeRatio(testbed, cell, good, bad),
      experiments: 1,
      seed: nightlyRun * 100 + place,
    });
    return {
      cell,
      verdict: { kind: verdictOf(row) },
      design: { name: 'group-sequential', budgets: [20], pairsPerStep: 1, method: 'pooled' },
      baseline: { kind: 'unknown' },
      pairs: 0,
      comparisons: [],
      others: [],
      runs: [],
      profiles: [],
    };
  });
  const kinds = judged.map(({ verdict }) => verdict.kind);
  return {
    variants: [
      { name: 'base', commit: good, files: [] },
      { name: 'patched', commit: bad, files: [] },
    ],
    testbed: { name: testbed, fingerprint: {}, warnings: [] },
    finishedAt: timeOf(nightlyRun),
    outcome: {
      kind: 'judged',
      verdict: verdictsWorstFirst.find((kind) => kinds.includes(kind)) ?? 'inconclusive',
      cells: judged,
    },
  };
}

const verdictOf = (row: SimulationRow) => {
  if (row.regression > 0) return 'regression';
  return row.inconclusive > 0 ? 'inconclusive' : 'no-regression';
};

if (import.meta.main) await printLines(benchTrend());
