// Estimates an experiment before it reserves a testbed, and while it runs: runs left times the seconds of a run, and of
// the boots that they need.
import { analysisSizes } from '../../analysis/stats/design.ts';
import { moderated } from '../../analysis/stats/evidence.ts';
import { analysesSharedBy, type CellRuns } from '../../analysis/stats/interim-result.ts';
import { criticalT, studentTail } from '../../analysis/stats/student.ts';
import { counted, formatEstimate, formatPercent, formatRoughly } from '../../model/format.ts';
import type { Metric } from '../../model/metric.ts';
import type { Policy } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import type { ExperimentEvent } from '../experiment/experiment-event.ts';
import type { NextTrial } from '../experiment/next-trial.ts';
import type { Plan, PlannedCell } from '../experiment/plan.ts';
import type { ExpectedDurations } from './durations.ts';

export type ExperimentOutline = Pick<Plan, 'cells' | 'policy' | 'traffic' | 'profile' | 'durations'> & {
  /** At least two. */
  variants: number;
};

type Course = { boots: number; trials: number; totalSeconds: number };

export type ExperimentEstimate = {
  cells: (Pick<PlannedCell, 'cell'> & RunsEstimate)[];
  ifUnchanged: Course;
  ifLost: Course;
};

type RunsEstimate = {
  /** Basis for the number of runs: earlier noise, assumed noise, or only the first interim analysis. */
  basis: 'history' | 'assumed' | 'least';
  /** Standard deviation of a run, as a ratio; absent if runs are compared with their neighbours. */
  noiseRatio?: number;
  /** Expected runs of both variants if the patch loses nothing, and if it loses the margin. */
  runsIfUnchanged: number;
  runsIfLost: number;
  maxRuns: number;
  /** Smallest loss found with the required power within all runs; absent for the basis `least`. */
  reachableMarginRatio?: number;
};

type PlannedDesign = Pick<CellRuns, 'design' | 'history'>;

/** Typical noise for cells without a history; that of guests is from docs/how-to/kernels.md. */
const assumedNoiseRatios: Readonly<Record<Metric, number>> = {
  pps: 0.01,
  nsPerPacket: 0.01,
  instructionsPerPacket: 0.002,
};

/** Excludes the wait for the testbed. */
export function estimateExperiment(outlined: ExperimentOutline): ExperimentEstimate {
  const { cells, policy } = outlined;
  return {
    cells: cells.map(({ cell, ...planned }) => ({ cell, ...estimateRuns(planned, policy, cells.length) })),
    ifUnchanged: courseOf(outlined, 'unchanged'),
    ifLost: courseOf(outlined, 'lost'),
  };
}

/** A boot serves all cells, so the slowest cell determines the number of boots. */
function courseOf(outlined: ExperimentOutline, truth: Truth): Course {
  const { cells, policy, traffic, profile, variants, durations } = outlined;
  const steps = cells.map((planned) => stepsOf(planned, policy, cells.length, truth));
  const pairs = steps.reduce((sum, own) => sum + expectedPairs(own), 0);
  const isShared = traffic.runsPerTrial > 1;
  const trials = isShared ? pairs / (cells[0]?.design.pairsPerStep ?? 1) : pairs * variants;
  const boots = bootsPerPair(outlined) * expectedPairs(slowestOf(steps));
  // A profile lasts about as long as a trial, and base boots last.
  const profiles = profile === undefined ? 0 : cells.length * variants;
  const last = boots > 0 && !isShared ? 1 : 0;
  const totalSeconds = durations.buildSeconds + secondsOf(boots + last, trials + profiles, durations);
  return { boots, trials, totalSeconds };
}

const secondsOf = (boots: number, trials: number, { bootSeconds, trialSeconds }: ExpectedDurations): number =>
  boots * bootSeconds + trials * trialSeconds;

/** Variants boot one by one, all of a pair at once as guests, or not at all. */
function bootsPerPair({ traffic, durations, variants }: Omit<ExperimentOutline, 'cells' | 'policy'>): number {
  if (durations.bootSeconds === 0) return 0;
  if (traffic.windows !== undefined) return 1;
  return traffic.runsPerTrial > 1 ? 0 : variants;
}

export function estimateRuns({ design, history }: PlannedDesign, policy: Policy, cells: number): RunsEstimate {
  const planned = { design, history };
  const runsIf = (truth: Truth) => 2 * expectedPairs(stepsOf(planned, policy, cells, truth));
  const estimate = {
    runsIfUnchanged: runsIf('unchanged'),
    runsIfLost: runsIf('lost'),
    maxRuns: 2 * (design.budgets.at(-1) ?? 0),
  };
  if (design.method === 'paired') return { basis: 'least', ...estimate };
  const known = noiseRatioOf(history);
  const noiseRatio = known ?? assumedNoiseRatios[policy.metric];
  const reachableMarginRatio = reachableMargin(planned, noiseRatio, policy, cells);
  return { basis: known === undefined ? 'assumed' : 'history', noiseRatio, ...estimate, reachableMarginRatio };
}

/** Standard deviation of a run, as a ratio; undefined for too few earlier runs. */
export function noiseRatioOf(history: PlannedDesign['history']): number | undefined {
  if (history === undefined || history.degreesOfFreedom < 4) return undefined;
  return Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
}

type Truth = 'unchanged' | 'lost';

/** An interim analysis, and the probability that the cell is still undecided after it. */
type Step = { pairs: number; open: number };

/** Counts only the first analysis where runs are compared with their neighbours, as their noise is unknown. */
function stepsOf(planned: PlannedDesign, policy: Policy, cells: number, truth: Truth): Step[] {
  const { design, history } = planned;
  if (design.method === 'paired') return analysisSizes(design).map((pairs) => ({ pairs, open: 0 }));
  const noiseRatio = noiseRatioOf(history) ?? assumedNoiseRatios[policy.metric];
  return analysesSharedBy(cells, planned, policy).map(({ pairs, levels }) => {
    const distance = -Math.log1p(-policy.marginRatio) / errorOf(noiseRatio, pairs);
    const level = truth === 'lost' ? levels.falseAlarms : levels.misses;
    const beyond = distance - criticalT(degreesOfFreedom(pairs, history), level);
    const tail = studentTail(Math.abs(beyond), Number.POSITIVE_INFINITY);
    return { pairs, open: beyond > 0 ? tail : 1 - tail };
  });
}

const errorOf = (noiseRatio: number, pairs: number): number => noiseRatio * Math.sqrt(2 / pairs);

/** From three pairs on, the fit has a drift besides both variants. */
const degreesOfFreedom = (pairs: number, history: PlannedDesign['history']): number =>
  2 * pairs - (pairs < 3 ? 2 : 3) + moderated(history).degreesOfFreedom;

function expectedPairs(steps: readonly Step[]): number {
  let [sum, before, open] = [0, 0, 1];
  for (const step of steps) {
    sum += (step.pairs - before) * open;
    [before, open] = [step.pairs, step.open];
  }
  return sum;
}

/** All cells have the same interim analyses. */
const slowestOf = (cells: readonly Step[][]): Step[] =>
  (cells[0] ?? []).map(({ pairs }, index) => ({
    pairs,
    open: 1 - cells.reduce((decided, steps) => decided * (1 - (steps[index]?.open ?? 0)), 1),
  }));

/** Considers the last analysis only: its critical value, and a fifth of the permitted misses. */
function reachableMargin(planned: PlannedDesign, noiseRatio: number, policy: Policy, cells: number): number {
  const last = analysesSharedBy(cells, planned, policy).at(-1);
  if (last === undefined) return 1;
  const degrees = degreesOfFreedom(last.pairs, planned.history);
  const reach = criticalT(degrees, last.levels.falseAlarms) + criticalT(degrees, policy.missRatio / 5);
  return -Math.expm1(-reach * errorOf(noiseRatio, last.pairs));
}

export function experimentEstimateLine(
  { cells, ifUnchanged, ifLost }: ExperimentEstimate,
  { policy, durations }: ExperimentOutline,
) {
  const { boots, trials, totalSeconds } = ifUnchanged;
  const has = (basis: RunsEstimate['basis']) => cells.some((cell) => cell.basis === basis);
  const least = has('least') ? `at least ${formatRoughly(totalSeconds)}` : formatEstimate(totalSeconds);
  const many = [...(boots > 0 ? [counted(Math.round(boots), 'boot')] : []), counted(Math.round(trials), 'trial')];
  const lost = `${formatRoughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
  const noise = `, assuming that runs vary by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
  return `${least} if nothing is lost (${many.join(' and ')}), ${lost}; ${basisText(durations)}${has('assumed') ? noise : ''}`;
}

export function basisText({ gates }: ExpectedDurations): string {
  if (gates === 0) return 'from default values, because no gate has run here yet';
  return gates === 1 ? 'from the last gate here' : `from the last ${gates} gates here`;
}

type Remaining = {
  /** Assumes no losses. Absent if runs are compared with their neighbours. */
  expectedSeconds?: number;
  maxSeconds: number;
};

/** Estimates the remaining time of a running experiment, at its pace so far. Times are in seconds. */
export class RemainingTime {
  readonly #decided = new Set<string>();
  #outlined: ExperimentOutline | undefined;
  #expectedTrials: number | undefined;
  /** Expected and actual seconds of the trials and profiles so far. */
  readonly #past = { expected: 0, actual: 0 };
  #step: { expected: number; begunAt: number } | undefined;

  onEvent(event: ExperimentEvent, now: number): void {
    switch (event.kind) {
      case 'planned': {
        this.#outlined = { ...event.plan, variants: event.plan.variants.length };
        const { cells, ifUnchanged } = estimateExperiment(this.#outlined);
        if (cells.every(({ basis }) => basis !== 'least')) this.#expectedTrials = ifUnchanged.trials;
        return;
      }
      case 'decided':
        this.#decided.add(cellName(event.cell));
        return;
      case 'profile':
      case 'trial':
        if (this.#outlined === undefined) return;
        if (this.#step !== undefined) {
          this.#past.expected += this.#step.expected;
          this.#past.actual += now - this.#step.begunAt;
        }
        this.#step = { expected: this.#secondsFor(1, this.#outlined), begunAt: now };
    }
  }

  /** Estimates at the start of a trial. Undefined before the first one ends, unless earlier gates are known. */
  left({ done, of }: Pick<NextTrial, 'done' | 'of'>): Remaining | undefined {
    const outlined = this.#outlined;
    if (outlined === undefined) return undefined;
    const { durations, profile, cells, variants, traffic } = outlined;
    // Earlier gates count like a first trial of each cell.
    const known = durations.gates === 0 ? 0 : this.#secondsFor(cells.length, outlined);
    const [expected, actual] = [this.#past.expected + known, this.#past.actual + known];
    if (expected === 0) return undefined;
    const profiles = profile === undefined ? 0 : cells.length * variants;
    const secondsLeft = (trials: number) =>
      (this.#secondsFor(trials, outlined) + secondsOf(0, profiles, durations)) * (actual / expected);
    const maxSeconds = secondsLeft(of - done);
    if (this.#expectedTrials === undefined) return { maxSeconds };
    // Cells still open after the expected trials need at least one more pair each.
    const due = Math.max(
      this.#expectedTrials - done,
      this.#openCells(cells) * (traffic.runsPerTrial > 1 ? 1 : variants),
    );
    return { expectedSeconds: secondsLeft(Math.min(due, of - done)), maxSeconds };
  }

  /** A boot serves all open cells. */
  #secondsFor(trials: number, outlined: ExperimentOutline): number {
    const boots = bootsPerPair(outlined) === 0 ? 0 : trials / this.#openCells(outlined.cells);
    return secondsOf(boots, trials, outlined.durations);
  }

  #openCells(cells: readonly PlannedCell[]): number {
    return Math.max(1, cells.length - this.#decided.size);
  }
}
