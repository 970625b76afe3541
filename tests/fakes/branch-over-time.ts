// Generates nightly runs of several testbeds, with every kind of event on a branch, to test pictures of them.
import { createHash } from 'node:crypto';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { standardNormal } from '../../bench/normal.ts';
import { median } from '../../src/analysis/stats/summary.ts';
import { byCommit, seriesKey } from '../../src/analysis/trend/change-history.ts';
import { type Cell, families, scenariosOf } from '../../src/model/scenario.ts';
import type { NightlyRun, TrendChange, TrendIndex } from '../../src/model/trend.ts';
import type { SiteSource } from '../../src/publish/site/site-source.ts';

/** Time of the site: before the next nightly run. */
export const dayAfter = new Date('2026-11-21T06:00:00Z');

const dayMilliseconds = 86_400_000;

const cells: Cell[] = [...scenariosOf.freebsd, 'shaper'].flatMap((scenario) =>
  families.map((family) => ({ scenario, family })),
);

/** A lasting step, some nightly runs before the last one. */
type Step = {
  testbed: string;
  cells: (cell: Cell) => boolean;
  nightlyRunsAgo: number;
  ratio: number;
  change: Partial<TrendChange>;
};

const isOf = (scenario: string) => (cell: Cell) => cell.scenario.startsWith(scenario);

const step = (
  testbed: string,
  isIn: Step['cells'],
  nightlyRunsAgo: number,
  ratio: number,
  state: TrendChange['state'],
  issue?: number,
): Step => {
  const change = { state, ...(issue !== undefined && { alert: { issue, told: [] } }) };
  return { testbed, cells: isIn, nightlyRunsAgo, ratio, change };
};

const steps: readonly Step[] = [
  step('hp-t540', ({ scenario }) => ['ipfw-stateful', 'shaper'].includes(scenario), 24, -0.041, 'code', 412),
  step('xeon-100g', isOf('pf-stateful'), 6, -0.018, 'candidate'),
  step('rpi5', () => true, 70, -0.03, 'testbed'),
  step('hp-t540', isOf('forwarding'), 150, 0.067, 'candidate'),
  step('epyc-25g', isOf('pf'), 210, -0.052, 'accepted', 371),
];

export type Extent = { testbeds?: number; cells?: number; nightlyRuns?: number };

/** Four testbeds with twelve cells each by default, and one nightly run per day. */
export function branchOverTime({
  testbeds = 4,
  cells: cellCount = 12,
  nightlyRuns: nightlyRunCount = 300,
}: Extent = {}): SiteSource {
  const names = ['hp-t540', 'xeon-100g', 'epyc-25g', 'rpi5'].slice(0, testbeds);
  const own = cells.slice(0, cellCount);
  const nightlyRuns = new Map(
    names.flatMap((testbed, machine) =>
      own.map((cell, place) => [
        seriesKey({ testbed, cell }),
        nightlyRunsOf({ testbed, cell }, { seed: machine * 100 + place, nightlyRunCount }),
      ]),
    ),
  );
  const index: TrendIndex = {
    schemaVersion: 1,
    cells: names.flatMap((testbed) => own.map((cell) => ({ testbed, cell, years: [2026] }))),
    fingerprints: names.flatMap((testbed) => [
      { id: fingerprintOf(testbed, false), testbed, since: timeOf(nightlyRunCount), differs: [] },
      {
        id: fingerprintOf(testbed, true),
        testbed,
        since: timeOf(90),
        differs: ['BIOS: 2.21 instead of 2.20'],
      },
    ]),
    changes: steps.flatMap((step) => changeOf(step, names, nightlyRuns)).toReversed(),
    aaRuns: names.flatMap((testbed) => sameGatesOf(testbed)),
    releases: [
      { name: 'release/15.0', ago: 240 },
      { name: 'release/15.1', ago: 60 },
    ].flatMap(({ name, ago }) => (ago < nightlyRunCount ? [{ name, commit: commitOf(ago), at: timeOf(ago) }] : [])),
    compareUrl: 'https://github.com/freebsd/freebsd-src/compare/{from}...{to}',
  };
  return { index, nightlyRuns, results: { results: [] } };
}

/** Start of the session of a nightly run, that many nightly runs ago. */
const timeOf = (ago: number, minutes = 0): string =>
  new Date(dayAfter.getTime() - (ago + 1) * dayMilliseconds + minutes * 60_000).toISOString();

/** Commit of a nightly run; some nightly runs have no new one. */
export function commitOf(ago: number): string {
  const own = ago % 7 === 3 ? ago + 1 : ago;
  return createHash('sha1').update(`commit ${own}`).digest('hex');
}

const fingerprintOf = (testbed: string, isNew: boolean): string =>
  createHash('sha1').update(`${testbed} ${isNew}`).digest('hex').slice(0, 12);

type SeriesOf = { testbed: string; cell: Cell };

function nightlyRunsOf(
  { testbed, cell }: SeriesOf,
  { seed, nightlyRunCount }: { seed: number; nightlyRunCount: number },
): NightlyRun[] {
  const random = xoroshiro128plus(seed);
  const speed = (1.2 + ((seed * 37) % 100) / 12) * 1e6;
  const noise = 0.002 + (seed % 5) * 0.0008;
  const made = Array.from({ length: nightlyRunCount }, (_, place): NightlyRun | undefined => {
    const ago = nightlyRunCount - 1 - place;
    // A machine that was away for two weeks, and one bad boot.
    if (testbed === 'epyc-25g' && ago > 300 && ago < 315) return undefined;
    const isBad = (ago + seed) % 97 === 5;
    const stepped = steps
      .filter((one) => one.testbed === testbed && one.cells(cell) && ago < one.nightlyRunsAgo)
      .reduce((product, { ratio }) => product * (1 + ratio), 1);
    const typical = speed * stepped * (isBad ? 0.9 : 1) * (1 + standardNormal(random) * noise);
    const pps = Array.from({ length: 5 }, () => Math.round(typical * (1 + standardNormal(random) * noise)));
    return {
      at: timeOf(ago, seed % 60),
      commit: commitOf(ago),
      committedAt: timeOf(ago % 7 === 3 ? ago + 1 : ago, -300),
      occasion: ago % 31 === 4 ? 'push' : 'nightly',
      pps,
      instructionsPerPacket: [],
      nsPerPacket: testbed === 'rpi5' ? [] : pps.map((one) => Number((8e9 / one).toPrecision(4))),
      fingerprint: fingerprintOf(testbed, ago < 90),
    };
  });
  return made.filter((nightlyRun) => nightlyRun !== undefined).toSorted(byCommit);
}

function changeOf(
  { testbed, cells: isIn, nightlyRunsAgo, ratio, change }: Step,
  names: readonly string[],
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>,
): TrendChange[] {
  const levels = cells.flatMap((cell) => {
    const own = nightlyRuns.get(seriesKey({ testbed, cell })) ?? [];
    const first = own.findIndex(({ at }) => at >= timeOf(nightlyRunsAgo - 1));
    if (!isIn(cell) || first <= 0) return [];
    const level = (part: readonly NightlyRun[]) => median(part.flatMap(({ pps }) => pps));
    const before = level(own.slice(Math.max(first - 20, 0), first));
    const after = level(own.slice(first, first + 20));
    const firstAt = own[first]?.at ?? '';
    return [{ cell, before, after, changeRatio: after / before - 1, firstAt }];
  });
  if (!names.includes(testbed) || levels.length === 0) return [];
  const [good, bad] = [commitOf(nightlyRunsAgo), commitOf(nightlyRunsAgo - 1)];
  const at = timeOf(nightlyRunsAgo - 4);
  const result = 'results/2026/20261030-hp-t540-gate';
  return [
    {
      id: createHash('sha1').update(`${testbed} ${good} ${bad}`).digest('hex').slice(0, 12),
      testbed,
      metric: 'pps',
      good,
      bad,
      cells: levels,
      state: 'candidate',
      foundAt: at,
      changedAt: at,
      alert: { told: [] },
      gates:
        change.state === 'code'
          ? [
              {
                at,
                result,
                verdict: 'regression' as const,
                cells: levels.map(({ cell }) => ({
                  cell,
                  interval: { change: ratio, low: ratio - 0.004, high: ratio + 0.004 },
                })),
              },
            ]
          : [],
      ...change,
    },
  ];
}

function sameGatesOf(testbed: string): TrendIndex['aaRuns'] {
  const alarms = testbed === 'rpi5' ? 9 : testbed === 'hp-t540' ? 0 : 1;
  const gates = testbed === 'hp-t540' ? 412 : 61;
  const [first] = cells;
  const common = {
    testbed,
    fingerprint: fingerprintOf(testbed, true),
    metric: 'pps' as const,
    marginRatio: 0.02,
    falseAlarmRatio: 0.01,
    design: 'group-sequential' as const,
    since: timeOf(90),
    last: timeOf(0),
    inconclusive: 2,
    invalid: 1,
  };
  const alarmed = Array.from({ length: alarms }, (_, place) => ({
    at: timeOf(80 - place * 7),
    cells: cells.slice(place, place + 1),
    result: `results/2026/alarm-${place}`,
  }));
  return [
    {
      ...common,
      kind: 'same-build',
      gates,
      alarms,
      cells: gates * 12,
      cellAlarms: alarms,
      alarmed,
      scatter: [],
    },
    {
      ...common,
      kind: 'layout-noise',
      gates: 12,
      alarms: 0,
      cells: 144,
      cellAlarms: 0,
      alarmed: [],
      scatter: first === undefined ? [] : [{ cell: first, gates: 12, sumOfSquares: 0.0006, runSumOfSquares: 0.00018 }],
    },
  ];
}
