// Estimates each part of an experiment's duration before it reserves a testbed, and suggests how to shorten it.
import { analysisSizes } from '../../analysis/stats/design.ts';
import { counted, formatEstimate, formatPercent, formatRoughly } from '../../model/format.ts';
import type { Metric } from '../../model/metric.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { Plan, PlannedCell } from '../experiment/plan.ts';
import type { ExpectedDurations } from './durations.ts';
import { estimateRuns } from './runs.ts';
import { bootKindOf } from './trial-boots.ts';

export type ExperimentOutline = Pick<Plan, 'cells' | 'policy' | 'traffic' | 'profile'> & {
  /** At least two. */
  variants: number;
  durations: ExpectedDurations;
};

export const timeParts = ['building', 'booting', 'traffic', 'settling', 'profiles', 'givingBack'] as const;

type TimePart = (typeof timeParts)[number];

export type ExpectedCourse = {
  boots: number;
  trials: number;
  seconds: Record<TimePart, number>;
  totalSeconds: number;
};

type CellEstimate = {
  cell: Cell;
  /** Standard deviation of a run, as a ratio; absent if runs are compared with their neighbours. */
  noiseRatio?: number;
  /** Basis for the number of runs: earlier noise, assumed noise, or only the first interim analysis. */
  basis: 'history' | 'assumed' | 'least';
  runsIfUnchanged: number;
  runsIfLost: number;
  maxRuns: number;
  /** See `RunsEstimate`; absent for the basis `least`. */
  reachableMarginRatio?: number;
};

export type ExperimentEstimate = {
  cells: CellEstimate[];
  ifUnchanged: ExpectedCourse;
  ifLost: ExpectedCourse;
};

type Shortening = { how: string; savedSeconds: number };

/** Typical noise for cells without a history; that of guests is from docs/how-to/virtual.md. */
const assumedNoiseRatios: Readonly<Record<Metric, number>> = {
  pps: 0.01,
  nsPerPacket: 0.01,
  instructionsPerPacket: 0.002,
};

/** Deterministic by plan. Excludes the wait for the testbed. */
export function estimateExperiment(outlined: ExperimentOutline): ExperimentEstimate {
  const { policy, cells } = outlined;
  const estimates = cells.map((planned) => {
    const assumed = assumedNoiseRatios[policy.metric];
    const expected = estimateRuns(planned, policy, cells.length, assumed);
    return { planned, expected };
  });
  const course = (of: 'Unchanged' | 'Lost') =>
    courseOf(
      outlined,
      estimates.map(({ planned, expected }) => ({
        planned,
        pairs: (expected?.[`runsIf${of}`] ?? minRuns(planned)) / 2,
        maxPairs: (expected?.[`mostRunsIf${of}`] ?? minRuns(planned)) / 2,
      })),
    );
  return {
    cells: estimates.map(({ planned, expected }) => cellEstimate(planned, expected)),
    ifUnchanged: course('Unchanged'),
    ifLost: course('Lost'),
  };
}

function cellEstimate(planned: PlannedCell, expected: ReturnType<typeof estimateRuns>): CellEstimate {
  const { cell, design } = planned;
  const maxRuns = 2 * (design.budgets.at(-1) ?? 0);
  if (expected === undefined) {
    const least = minRuns(planned);
    return { cell, basis: 'least', runsIfUnchanged: least, runsIfLost: least, maxRuns };
  }
  const { noiseRatio, runsIfUnchanged, runsIfLost, reachableMarginRatio, isAssumed } = expected;
  const basis = isAssumed ? 'assumed' : 'history';
  const runs = { runsIfUnchanged, runsIfLost, maxRuns };
  return { cell, noiseRatio, basis, ...runs, reachableMarginRatio };
}

/** Runs of both variants up to the first interim analysis. */
const minRuns = ({ design }: PlannedCell): number => 2 * (analysisSizes(design)[0] ?? 0);

type ExpectedCell = {
  planned: PlannedCell;
  /** Mean pairs of the cell, and of the slowest of all such cells. */
  pairs: number;
  maxPairs: number;
};

/** A boot serves all cells, so the slowest cell determines the number of boots. */
function courseOf(
  { traffic, profile, variants, durations }: ExperimentOutline,
  cells: readonly ExpectedCell[],
): ExpectedCourse {
  const isShared = traffic.runsPerTrial > 1;
  const trials = sum(
    cells.map(({ planned, pairs }) => (isShared ? pairs / planned.design.pairsPerStep : pairs * variants)),
  );
  const maxPairs = Math.max(...cells.map((cell) => cell.maxPairs));
  const bootsPerPair = { each: variants, pair: 1, none: 0 }[bootKindOf({ traffic })];
  const boots = durations.bootSeconds === 0 ? 0 : bootsPerPair * maxPairs;
  const besideSeconds = durations.trialSeconds - durations.trafficSeconds;
  const profiles = profile === undefined ? 0 : cells.length * variants;
  const seconds: ExpectedCourse['seconds'] = {
    building: durations.buildSeconds,
    booting: boots * durations.bootSeconds,
    traffic: trials * durations.trafficSeconds,
    settling: trials * besideSeconds,
    profiles: profiles * ((profile?.seconds ?? 0) + besideSeconds),
    givingBack: boots === 0 || isShared ? 0 : durations.bootSeconds,
  };
  return { boots, trials, seconds, totalSeconds: sum(Object.values(seconds)) };
}

export function experimentEstimateLine(
  { cells, ifUnchanged, ifLost }: ExperimentEstimate,
  { policy, durations }: ExperimentOutline,
) {
  const { boots, trials, totalSeconds } = ifUnchanged;
  const isLeast = cells.some(({ basis }) => basis === 'least');
  const isAssumed = cells.some(({ basis }) => basis === 'assumed');
  const least = isLeast ? `at least ${formatRoughly(totalSeconds)}` : formatEstimate(totalSeconds);
  const many = [...(boots > 0 ? [counted(Math.round(boots), 'boot')] : []), counted(Math.round(trials), 'trial')];
  const lost = `${formatRoughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
  const noise = `, assuming that runs vary by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
  return `${least} if nothing is lost (${many.join(' and ')}), ${lost}; ${basisText(durations)}${isAssumed ? noise : ''}`;
}

export function basisText({ gates }: ExpectedDurations): string {
  if (gates === 0) return 'from default values, because no gate has run here yet';
  return gates === 1 ? 'from the last gate here' : `from the last ${gates} gates here`;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function waysToShorten(outlined: ExperimentOutline): Shortening[] {
  const now = estimateExperiment(outlined);
  return proposals
    .flatMap((proposal) => proposal(outlined, now))
    .map(({ how, instead }) => ({
      how,
      savedSeconds:
        now.ifUnchanged.totalSeconds - estimateExperiment({ ...outlined, ...instead }).ifUnchanged.totalSeconds,
    }))
    .filter(({ savedSeconds }) => savedSeconds >= minSaved * now.ifUnchanged.totalSeconds)
    .toSorted((a, b) => b.savedSeconds - a.savedSeconds);
}

const minSaved = 0.03;

type Proposal = (
  outlined: ExperimentOutline,
  now: ExperimentEstimate,
) => { how: string; instead: Partial<ExperimentOutline> }[];

const proposals: readonly Proposal[] = [
  function withHistory({ cells, policy }) {
    const noiseRatio = assumedNoiseRatios[policy.metric];
    const hasHistory = ({ history }: PlannedCell) => (history?.runs ?? 0) >= historyRuns;
    if (cells.every((cell) => hasHistory(cell) || cell.design.method === 'paired')) return [];
    return [
      {
        how: `${historyRuns} earlier runs of each cell: later gates get them from this one, a nightly run or \`ppsgate testbeds self-test\``,
        instead: {
          cells: cells.map((cell) => (hasHistory(cell) ? cell : withAssumedHistory(cell, noiseRatio))),
        },
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
        how: `without ${name}, the noisiest cell with ${formatPercent(noise(noisiest))}: --scenarios, --families, or find the source of its noise`,
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
    return profile === undefined ? [] : [{ how: 'no profiles: --profile off', instead: { profile: undefined } }];
  },
  function fromCache({ durations }) {
    const how = 'kernels in the builder cache: of an earlier base, or the same patch';
    return [{ how, instead: { durations: { ...durations, buildSeconds: 0 } } }];
  },
];

const historyRuns = 10;

/** Treats the cell as if it had a history. */
function withAssumedHistory({ history, ...cell }: PlannedCell, assumedNoiseRatio: number): PlannedCell {
  const degreesOfFreedom = historyRuns - 1;
  const variance =
    history === undefined || history.degreesOfFreedom === 0
      ? assumedNoiseRatio ** 2
      : history.sumOfSquares / history.degreesOfFreedom;
  return {
    ...cell,
    history: {
      runs: historyRuns,
      typical: history?.typical ?? 1,
      typicalRuns: historyRuns,
      sumOfSquares: variance * degreesOfFreedom,
      degreesOfFreedom,
    },
  };
}
