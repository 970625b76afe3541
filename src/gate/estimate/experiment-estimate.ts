// What an experiment will take, said before anything is reserved for it: how long, where that goes, and what would make it
// shorter.
import { lookSizes } from '../../analysis/stats/design.ts';
import { forecast } from '../../analysis/stats/expected-runs.ts';
import { expectedly, formatPercent, roughly } from '../../model/format.ts';
import type { Metric } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { Plan, PlannedCell } from '../experiment/plan.ts';
import type { Times } from './durations.ts';

/** What of a plan decides how long it takes. */
export type Outlined = Pick<Plan, 'cells' | 'policy' | 'traffic' | 'profile'> & {
  /** How many are measured beside each other; at least two. */
  variants: number;
  times: Times;
};

/** Parts of a gate's time, in the order in which people are told. */
export const parts = [
  'building',
  'booting',
  'traffic',
  'settling',
  'profiles',
  'givingBack',
] as const;

type Part = (typeof parts)[number];

/** One way that it may go. */
export type Course = {
  /** 0 where variants need none. */
  boots: number;
  trials: number;
  /** Seconds by part, and together. */
  seconds: Record<Part, number>;
  totalSeconds: number;
};

type CellEstimate = {
  cell: Cell;
  /** Standard deviation of a run, as a ratio; absent where runs are compared with their neighbours. */
  noiseRatio?: number;
  /** `history`: earlier runs tell the noise; `assumed`: none do; `least`: nobody can say more than what the first look takes. */
  basis: 'history' | 'assumed' | 'least';
  /** Runs of base and patched together: as expected, and at most. */
  runsIfUnchanged: number;
  runsIfLost: number;
  mostRuns: number;
  /** Absent where nobody can say; see `forecast`. */
  reachableMarginRatio?: number;
};

export type Estimate = {
  cells: CellEstimate[];
  /** Nothing was lost in any cell. */
  ifUnchanged: Course;
  /** The margin was lost in each. */
  ifLost: Course;
};

/** One that would take less: so many seconds where nothing was lost. */
type Shorter = { how: string; savedSeconds: number };

/** The noise that many cells have, taken for one of which nothing is known; docs/virtual.md has that of guests. */
const assumedNoiseRatios: Readonly<Record<Metric, number>> = {
  pps: 0.01,
  nsPerPacket: 0.01,
  instructionsPerPacket: 0.002,
};

/** Always the same for the same plan; the minutes are those of the testbed alone, without the wait for it. */
export function estimateOf(outlined: Outlined): Estimate {
  const { policy, cells } = outlined;
  const known = cells.map((planned) => {
    const assumed = assumedNoiseRatios[policy.metric];
    const expected = forecast(planned, policy, cells.length, assumed);
    return { planned, expected };
  });
  const course = (of: 'Unchanged' | 'Lost') =>
    courseOf(
      outlined,
      known.map(({ planned, expected }) => ({
        planned,
        pairs: (expected?.[`runsIf${of}`] ?? leastRuns(planned)) / 2,
        mostPairs: (expected?.[`mostRunsIf${of}`] ?? leastRuns(planned)) / 2,
      })),
    );
  return {
    cells: known.map(({ planned, expected }) => cellEstimate(planned, expected)),
    ifUnchanged: course('Unchanged'),
    ifLost: course('Lost'),
  };
}

function cellEstimate(planned: PlannedCell, expected: ReturnType<typeof forecast>): CellEstimate {
  const { cell, design } = planned;
  const mostRuns = 2 * (design.budgets.at(-1) ?? 0);
  if (expected === undefined) {
    const least = leastRuns(planned);
    return { cell, basis: 'least', runsIfUnchanged: least, runsIfLost: least, mostRuns };
  }
  const { noiseRatio, runsIfUnchanged, runsIfLost, reachableMarginRatio, isAssumed } = expected;
  const basis = isAssumed ? 'assumed' : 'history';
  const runs = { runsIfUnchanged, runsIfLost, mostRuns };
  return { cell, noiseRatio, basis, ...runs, reachableMarginRatio };
}

/** Runs of both variants for the first look. */
const leastRuns = ({ design, history }: PlannedCell): number =>
  2 * (lookSizes({ ...design, earlierDegreesOfFreedom: history?.degreesOfFreedom ?? 0 })[0] ?? 0);

type ExpectedCell = {
  planned: PlannedCell;
  /** Pairs of the cell by itself, and of the slowest of all such cells. */
  pairs: number;
  mostPairs: number;
};

/** A boot serves all cells, and so many are needed as the slowest cell takes. */
function courseOf(
  { traffic, profile, variants, times }: Outlined,
  cells: readonly ExpectedCell[],
): Course {
  const isShared = traffic.runsPerTrial > 1;
  const trials = sum(
    cells.map(({ planned, pairs }) =>
      isShared ? pairs / planned.design.pairsPerStep : pairs * variants,
    ),
  );
  const boots =
    times.bootSeconds === 0 || isShared
      ? 0
      : variants * Math.max(...cells.map(({ mostPairs }) => mostPairs));
  const besideSeconds = times.trialSeconds - times.trafficSeconds;
  const profiles = profile === undefined ? 0 : cells.length * variants;
  const seconds: Course['seconds'] = {
    building: times.buildSeconds,
    booting: boots * times.bootSeconds,
    traffic: trials * times.trafficSeconds,
    settling: trials * besideSeconds,
    profiles: profiles * ((profile?.seconds ?? 0) + besideSeconds),
    givingBack: boots === 0 ? 0 : times.bootSeconds,
  };
  return { boots, trials, seconds, totalSeconds: sum(Object.values(seconds)) };
}

/** Both courses in one line for people, and what that rests on. */
export function estimateLine(
  { cells, ifUnchanged, ifLost }: Estimate,
  { policy, times }: Outlined,
) {
  const { boots, trials, totalSeconds } = ifUnchanged;
  const isLeast = cells.some(({ basis }) => basis === 'least');
  const isAssumed = cells.some(({ basis }) => basis === 'assumed');
  const least = isLeast ? `at least ${roughly(totalSeconds)}` : expectedly(totalSeconds);
  const many = [
    ...(boots > 0 ? [`${Math.round(boots)} boots`] : []),
    `${Math.round(trials)} trials`,
  ];
  const lost = `${roughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
  const noise = `, as if unknown runs differed by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
  return `${least} if nothing is lost (${many.join(' and ')}), ${lost}; ${basisText(times)}${isAssumed ? noise : ''}`;
}

/** `as the last 6 gates here took`. */
export function basisText({ gates }: Times): string {
  if (gates === 0) return 'by what such testbeds usually take, as no gate here has told yet';
  return gates === 1 ? 'as the last gate here took' : `as the last ${gates} gates here took`;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** What would make it shorter, what saves most first. */
export function shorterWays(outlined: Outlined): Shorter[] {
  const now = estimateOf(outlined);
  return ways
    .flatMap((way) => way(outlined, now))
    .map(({ how, instead }) => ({
      how,
      savedSeconds:
        now.ifUnchanged.totalSeconds -
        estimateOf({ ...outlined, ...instead }).ifUnchanged.totalSeconds,
    }))
    .filter(({ savedSeconds }) => savedSeconds >= leastSaved * now.ifUnchanged.totalSeconds)
    .toSorted((a, b) => b.savedSeconds - a.savedSeconds);
}

/** Less is not worth a line. */
const leastSaved = 0.03;

type Way = (outlined: Outlined, now: Estimate) => { how: string; instead: Partial<Outlined> }[];

/** Each is tried by what the same forecast says of it; a new way to be shorter is another of them. */
const ways: readonly Way[] = [
  function withHistory({ cells, policy }) {
    const noiseRatio = assumedNoiseRatios[policy.metric];
    const isKnown = ({ history }: PlannedCell) => (history?.runs ?? 0) >= historyRuns;
    if (cells.every((cell) => isKnown(cell) || cell.design.method === 'paired')) return [];
    return [
      {
        how: `${historyRuns} earlier runs of each cell: the next gates have them from this one, or after a nightly run or \`ppsgate testbeds self-test\``,
        instead: { cells: cells.map((cell) => (isKnown(cell) ? cell : known(cell, noiseRatio))) },
      },
    ];
  },
  function withoutNoisiest({ cells }, now) {
    const noise = (one: CellEstimate) => (one.basis === 'history' ? (one.noiseRatio ?? 0) : 0);
    const [noisiest] = now.cells.toSorted((a, b) => noise(b) - noise(a));
    if (noisiest === undefined || noise(noisiest) === 0 || cells.length < 2) return [];
    const name = cellName(noisiest.cell);
    return [
      {
        how: `without ${name}, the noisiest cell with ${formatPercent(noise(noisiest))}: --scenarios, --families, or see what disturbs it`,
        instead: { cells: cells.filter(({ cell }) => cellName(cell) !== name) },
      },
    ];
  },
  function oneCell({ cells }, now) {
    const [quickest] = now.cells.toSorted((a, b) => a.runsIfUnchanged - b.runsIfUnchanged);
    const only = cells.find(({ cell }) => cell === quickest?.cell);
    if (only === undefined || cells.length < 2) return [];
    const how = `${cellName(only.cell)} alone: --scenarios ${only.cell.scenario} --families ${only.cell.family}`;
    return [{ how, instead: { cells: [only] } }];
  },
  function widerMargin({ policy }) {
    const marginRatio = 2 * policy.marginRatio;
    if (marginRatio >= 0.5) return [];
    const how = `a margin of ${formatPercent(marginRatio)}: --margin ${formatPercent(marginRatio).replace(' ', '')}`;
    return [{ how, instead: { policy: { ...policy, marginRatio } } }];
  },
  function withoutProfiles({ profile }) {
    return profile === undefined
      ? []
      : [{ how: 'no profiles: --profile off', instead: { profile: undefined } }];
  },
  function fromCache({ times }) {
    const how = 'kernels that the builder has: of a base that was gated before, or the same patch';
    return [{ how, instead: { times: { ...times, buildSeconds: 0 } } }];
  },
];

const historyRuns = 10;

/** The cell as such a history would have it judged; a design that is configured is not told from the usual one. */
function known({ design, history, ...cell }: PlannedCell, assumedNoiseRatio: number): PlannedCell {
  const degreesOfFreedom = historyRuns - 1;
  const variance =
    history === undefined || history.degreesOfFreedom === 0
      ? assumedNoiseRatio ** 2
      : history.sumOfSquares / history.degreesOfFreedom;
  return {
    ...cell,
    design: { ...design, name: design.name === 'fixed' ? 'fixed' : 'glr' },
    history: {
      ...{ runs: historyRuns, typical: history?.typical ?? 1, typicalRuns: historyRuns },
      ...{ sumOfSquares: variance * degreesOfFreedom, degreesOfFreedom },
    },
  };
}
