// Every number of a foreign file may reach the analysis: each of its functions ends for any of them.

import { createContext, Script } from 'node:vm';
import fc from 'fast-check';
import { test } from 'vitest';
import { explain } from '../../src/analysis/profile/changed-functions.ts';
import { flamegraph } from '../../src/analysis/profile/flamegraph.ts';
import { layout } from '../../src/analysis/profile/flamegraph-layout.ts';
import { foldedLines } from '../../src/analysis/profile/fold.ts';
import { withoutIdle } from '../../src/analysis/profile/idle.ts';
import type { Profile } from '../../src/analysis/profile/profile.ts';
import { ProfileError } from '../../src/analysis/profile/profile-error.ts';
import { baselineOf } from '../../src/analysis/stats/baseline.ts';
import { lowerBound, upperBound } from '../../src/analysis/stats/binomial.ts';
import { crossingProbability, pocockLevel } from '../../src/analysis/stats/boundary.ts';
import { buildNoise } from '../../src/analysis/stats/build-noise.ts';
import { changePoints, changesRunByRun, lastLevel, nightlySigmaRatio } from '../../src/analysis/stats/change-points.ts';
import { parseColumn } from '../../src/analysis/stats/columns.ts';
import { analysesOf, type Design } from '../../src/analysis/stats/design.ts';
import { boundsOf, pooledEvidence, priorNoise } from '../../src/analysis/stats/evidence.ts';
import { interimResults } from '../../src/analysis/stats/interim-result.ts';
import { judgeAnalysis } from '../../src/analysis/stats/judge.ts';
import { renderMinistat } from '../../src/analysis/stats/ministat.ts';
import { plot } from '../../src/analysis/stats/ministat-plot.ts';
import { runsApart } from '../../src/analysis/stats/outlier.ts';
import { formatGeneral } from '../../src/analysis/stats/printf.ts';
import { sessionDegreesOfFreedom } from '../../src/analysis/stats/sessions.ts';
import { hodgesLehmann, signedRankBounds } from '../../src/analysis/stats/signed-rank.ts';
import { holes, isSteady, secondsUntilSteady, steadyStretch } from '../../src/analysis/stats/steady.ts';
import { studentT, studentTail, studentTExact } from '../../src/analysis/stats/student.ts';
import { median } from '../../src/analysis/stats/summary.ts';
import { cellResult } from '../../src/analysis/stats/verdict.ts';
import { countsOf, layoutNoise, sameText } from '../../src/analysis/trend/aa-runs.ts';
import { isOff, judgeTrend, levelsOf, worstOf } from '../../src/analysis/trend/change-history.ts';
import type { Metric } from '../../src/model/metric.ts';
import type { CellResult, Policy, Run } from '../../src/model/result.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { forwarding } from '../fakes/result.ts';
import { aChange, aLevel, anIndex } from '../fakes/trend.ts';
import { times } from '../random.ts';

const extremes = [
  ...[Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 0.5, 2, 3, 10, 1e6],
  ...[5e-324, -5e-324, 1e-300, 1e300, -1e300, 1e308, -1e308, 2 ** 53, 2 ** 31, 1e-9],
];
const extreme = fc.constantFrom(...extremes);
const anyNumbers: fc.Arbitrary<number[]> = fc.oneof(
  fc.constant<number[]>([]),
  fc.array(extreme, { maxLength: 12 }),
  fc.array(fc.double(), { maxLength: 12 }),
  fc.tuple(extreme, fc.integer({ min: 1, max: 300 })).map(([value, count]) => repeated(value, count)),
  fc
    .tuple(fc.array(extreme, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 100 }))
    .map(([values, count]) => repeated(values, count).flat()),
);

function repeated<T>(value: T, count: number): T[] {
  return Array.from({ length: count }, () => value);
}

/** Ten numbers of a list, in turn. */
type Ten = readonly [...[number, number, number, number, number], ...[number, number, number, number, number]];
const inTurn = (values: readonly number[]): Ten => {
  const at = (index: number) => values[index % values.length] ?? 0;
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9)];
};

const sorted = (values: readonly number[]) => Float64Array.from(values).sort();
const noiseOf = (a: number, b: number) => ({ sumOfSquares: a, degreesOfFreedom: b });
const designOf = (a: number, b: number, pairsPerStep: number): Design => ({
  name: 'group-sequential',
  budgets: [a, b],
  pairsPerStep,
  method: 'pooled',
});
const historyOf = (ten: Ten) => ({
  runs: ten[0],
  typical: ten[1],
  typicalRuns: ten[2],
  sessionMeans: { sinceMove: ten[7], ...noiseOf(ten[8], ten[9]) },
  ...noiseOf(ten[3], ten[4]),
  sessionDegreesOfFreedom: ten[5],
});
const measurementsOf = (values: readonly number[], ten: Ten) =>
  values.map((value, index) => ({ value, trial: ten[index % 3], layout: ten[index % 2] }));

const runsOf = (values: readonly number[], ten: Ten): Run[] =>
  values.map((pps, index) => ({
    number: index + 1,
    trial: ten[index % 4] ?? 1,
    attempt: 1,
    pair: index % 3 === 0 ? (ten[index % 7] ?? 1) : Math.floor(index / 2) + 1,
    variant: index % 2 === 0 ? 'base' : 'patched',
    layout: ten[index % 5],
    pps,
    nsPerPacket: 1 / pps,
    samples: [],
    validity: { kind: 'valid' },
  }));

const policyOf = (ten: Ten, metric: Metric = 'pps'): Policy => ({
  metric,
  marginRatio: ten[0],
  confidenceRatio: ten[1],
  falseAlarmRatio: ten[2],
  missRatio: ten[3],
});
const plainPolicy: Policy = {
  metric: 'pps',
  marginRatio: 0.02,
  confidenceRatio: 0.9,
  falseAlarmRatio: 0.01,
  missRatio: 0.05,
};

const cellOf = (values: readonly number[], ten: Ten, method: 'paired' | 'pooled') => ({
  cell: forwarding,
  design: { ...designOf(4, 8, 1), method },
  history: historyOf(ten),
  runs: runsOf(values, ten),
  closedPairs: ten[6],
  failures: [],
});

function judged(values: readonly number[], ten: Ten, method: 'paired' | 'pooled'): CellResult[] {
  return interimResults([cellOf(values, ten, method)], plainPolicy).map((interim) =>
    cellResult(interim, plainPolicy, [...values], []),
  );
}

const profileOf = (values: readonly number[]): Profile => ({
  format: 'folded',
  stacks: values.map((samples, index) => ({
    frames: [{ name: 'a' }, { name: `f${index % 7}` }],
    samples,
  })),
});

const nightlyRunsOf = (values: readonly number[]) =>
  values.map((value, index) => ({
    at: new Date(index * 86_400_000).toISOString(),
    commit: String(index).padStart(40, '0'),
    occasion: 'nightly' as const,
    pps: [value],
    nsPerPacket: [value, value],
    instructionsPerPacket: [],
    fingerprint: '',
  }));

const countOf = (ten: Ten) => ({
  kind: 'layout-noise' as const,
  testbed: 'hp-t540',
  fingerprint: '',
  metric: 'pps' as const,
  marginRatio: ten[0],
  falseAlarmRatio: ten[1],
  design: 'fixed' as const,
  since: '2026-03-01T04:00:00.000Z',
  last: '2026-03-01T04:00:00.000Z',
  gates: ten[2],
  alarms: ten[3],
  cells: ten[4],
  cellAlarms: ten[5],
  inconclusive: ten[6],
  invalid: ten[7],
  alarmed: [],
  scatter: [{ cell: forwarding, sumOfSquares: ten[8], runSumOfSquares: ten[9], gates: ten[0] }],
});

type Call = (values: number[], ten: Ten) => unknown;

const stats: Record<string, Call> = {
  baselineOf: (values, ten) => baselineOf(values, historyOf(ten)),
  upperBound: (_, [a, b]) => upperBound(a, b),
  lowerBound: (_, [a, b]) => lowerBound(a, b),
  pocockLevel: (values, [rate]) => pocockLevel(values, rate),
  crossingProbability: (values) => crossingProbability(values, values),
  buildNoise: (values, ten) => {
    const [cell] = judged(values, ten, 'pooled');
    return cell && [true, false].map((isSame) => buildNoise(cell, 'pps', isSame));
  },
  changePoints: (values, [least]) => [changePoints(values), changePoints(values, values, least)],
  changesRunByRun: (values) => changesRunByRun(values.slice(0, 40)),
  lastLevel,
  nightlySigmaRatio,
  parseColumn: (values, [column]) => parseColumn(Buffer.from(values.join('\n')), { name: 'file', column }),
  looksOf: (_, [a, b, c, d]) => analysesOf(designOf(8, 10, a), { falseAlarms: b, misses: c, outside: d }),
  'looksOf of any budgets': (_, [a, b, c]) =>
    analysesOf(designOf(a, b, c), { falseAlarms: 0.01, misses: 0.05, outside: 0.05 }),
  boundsOf: (values, [a, b, c, d]) => [
    boundsOf({ method: 'pooled', base: 1, effect: a, standardError: b, degreesOfFreedom: c }, d),
    boundsOf({ method: 'paired', base: 1, effect: a, ratios: sorted(values) }, d),
  ],
  priorNoise: (_, ten) => priorNoise(historyOf(ten), ten[6]),
  pooledEvidence: (values, ten) =>
    pooledEvidence(measurementsOf(values, ten), measurementsOf([...ten], ten), noiseOf(ten[0], ten[1])),
  'interimResults and cellResult': (values, ten) => [judged(values, ten, 'paired'), judged(values, ten, 'pooled')],
  'interimResults of any policy': (values, ten) =>
    interimResults([cellOf(values, ten, 'pooled'), cellOf([], ten, 'paired')], policyOf(ten)),
  judgeLook: (_, [low, high, a, b, c, d]) =>
    judgeAnalysis(
      () => ({ low, high }),
      { falseAlarms: a, misses: b, outside: c },
      { metric: 'nsPerPacket', marginRatio: d },
    ),
  renderMinistat: (values, ten) =>
    renderMinistat([
      { name: 'file', values: Float64Array.from(values) },
      { name: 'other', values: Float64Array.from(ten) },
    ]),
  plot: (values, [min, max, median, average, stddev, width]) => {
    const marks = { min, max, median, average, stddev };
    const dots = [{ values: Float64Array.from(values) }];
    return [...plot(dots, [marks], {}), ...plot(dots, [marks], { width })];
  },
  runsApart: (values, ten) => runsApart(runsOf(values, ten)),
  formatGeneral: (_, [value, digits]) => [formatGeneral(value, 8), formatGeneral(value, digits)],
  sessionDegreesOfFreedom: (values, ten) =>
    sessionDegreesOfFreedom([values.map((a, index) => noiseOf(a, ten[index % 10] ?? 1))]),
  hodgesLehmann: (values) => hodgesLehmann(sorted(values)),
  signedRankBounds: (values, [level]) => [
    signedRankBounds(sorted(values), 0.05),
    signedRankBounds(sorted(values), level),
  ],
  steadyStretch,
  holes: (values, [from, to, level]) => holes(values, { from, to }, level),
  isSteady: (values, [atLeast, toleranceRatio]) => isSteady(values, { atLeast, toleranceRatio }),
  secondsUntilSteady: (values, [atLeast, toleranceRatio, atMost]) =>
    secondsUntilSteady(values, { atLeast, toleranceRatio, atMost }),
  studentT: (_, [a]) => studentT(a, 99.5),
  studentTail: (_, [a, b]) => studentTail(a, b),
  studentTExact: (_, [a, b]) => [studentTExact(a, 0.99), studentTExact(a, b)],
  median,
};

const profiles: Record<string, Call> = {
  explain: (values, [a, b, c]) => {
    const two = [profileOf(values), profileOf([a, b, c])] as const;
    return [explain(...two), explain(...two, { metric: 'nsPerPacket', base: a, patched: b }, true)];
  },
  flamegraph: (values, ten) => flamegraph(profileOf(values), { title: 'any', base: profileOf([...ten]) }),
  layout: (values, [pixelsPerSample, minPixels]) => {
    const { stacks } = profileOf(values);
    return layout({ profile: stacks, base: stacks }, 'base', { pixelsPerSample, minPixels });
  },
  foldedLines: (values) => [...foldedLines(profileOf(values))],
  withoutIdle: (values) => withoutIdle(profileOf(values)),
};

const trend: Record<string, Call> = {
  judgeTrend: (values, [marginRatio]) => {
    const index = { ...anIndex(), cells: [{ testbed: 'hp-t540', cell: forwarding, years: [1970] }] };
    const series = new Map([['hp-t540 forwarding inet4', nightlyRunsOf(values)]]);
    return judgeTrend(index, series, { metric: 'pps', marginRatio }, new Date(0));
  },
  levelsOf: (values) => levelsOf(anIndex(), { testbed: 'hp-t540', cell: forwarding }, nightlyRunsOf(values), 'pps'),
  isOff: (values, ten) => {
    const [last] = nightlyRunsOf([...ten]);
    return last && isOff(nightlyRunsOf(values), last, 'pps');
  },
  worstOf: (_, [a, b]) => worstOf(aChange({ cells: [aLevel('forwarding', a), aLevel('pf', b)] })),
  'the counts of A/A runs': (_, ten) => {
    const count = countOf(ten);
    return [countsOf({ ...anIndex(), aaRuns: [count, count] }), layoutNoise(count), sameText(count)];
  },
};

/** Long enough for all calls of a property on any machine: calls that are stopped here would not end. */
const patienceMilliseconds = times(60_000);

/** Each plans analyses of any design anew, which is slow at the extremes. */
const costly = ['looksOf', 'interimResults of any policy'];

/** A single context for all properties: what is stopped in it is stopped at once, also in an endless loop. */
const context: { check?: () => void } = {};
createContext(context);
const script = new Script('check()');

function expectEnd(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    const isRefusal = [RangeError, UsageError, ProfileError].some((known) => error instanceof known);
    if (!isRefusal) throw error;
  }
}

test.for(Object.entries({ ...stats, ...profiles, ...trend }))(
  '%s ends for any numbers: it returns, or throws a RangeError',
  ([name, call]) => {
    const tens = fc.array(extreme, { minLength: 10, maxLength: 10 });
    const property = fc.property(anyNumbers, tens, (values, ten) => expectEnd(() => call(values, inTurn(ten))));
    context.check = () => fc.assert(property, costly.includes(name) ? { numRuns: times(20) } : {});
    script.runInContext(context, { timeout: patienceMilliseconds });
  },
);
