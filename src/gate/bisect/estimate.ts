// Estimates a bisection's boots and minutes before its first build, and the minutes of a boot as it proceeds.
import { median } from '../../analysis/stats/summary.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { counted, formatPercent, formatRoughly, formatSize } from '../../model/format.ts';
import { noiseRatioOf } from '../estimate/experiment.ts';
import type { BisectPlan } from './bisect-plan.ts';
import { bootsToLocate } from './information.ts';
import type { BuildCosts } from './next-boot.ts';
import { isShared, positionsPerTrial } from './trials.ts';

type BisectionEstimate = {
  /** If commits share trials, boots are trials. */
  boots: number;
  minutes: number;
  /** Standard deviation of a boot, as a ratio; absent if it is not known well enough. */
  noiseRatio?: number;
};

/** Counts one boot per halving of the range, and more for noise that hides the change. */
export function estimateBisection(plan: BisectPlan): BisectionEstimate {
  const { range, effect, history, durations } = plan;
  const { bootSeconds, trialSeconds, buildSeconds } = durations;
  const steps = range.revisions.length - 1;
  if (isShared(plan)) {
    // Each trial splits the range by its number of positions. Two are always needed, and one more for the neighbours.
    const boots = Math.max(2, Math.ceil(Math.log(steps) / Math.log(positionsPerTrial + 1))) + 1;
    return { boots, minutes: Math.ceil((boots * trialSeconds) / 60) };
  }
  const noiseRatio = noiseRatioOf(history);
  const halvings = Math.ceil(Math.log2(steps));
  const distance = noiseRatio === undefined ? Number.POSITIVE_INFINITY : Math.abs(Math.log1p(effect)) / noiseRatio;
  // Two boots of each end, and one more of each neighbour.
  const boots = 2 + 2 + Math.round(bootsToLocate(halvings, distance)) + 2;
  const seconds = boots * (bootSeconds + trialSeconds) + (2 + halvings) * buildSeconds;
  return { boots, minutes: Math.round(seconds / 60), ...(noiseRatio !== undefined && { noiseRatio }) };
}

/** Formats the range's size, the estimate, and the plan's notes. */
export function bisectionEstimateLines(plan: BisectPlan): string[] {
  const { range, testbed, mostBoots, effect, system } = plan;
  const { commits, revisions, notes } = range;
  const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
  const skippedText = skipped > 0 ? `, ${skipped} of them skipped` : '';
  const things = system === 'linux' ? 'files' : 'kernels';
  const distinct = `${counted(commits, 'commit')} after good, ${revisions.length - 1} with different ${things}${skippedText}`;
  const { boots, minutes, noiseRatio } = estimateBisection(plan);
  const unit = isShared(plan) ? 'trials' : 'boots';
  const estimate = `${distinct}: about ${boots} ${unit} on ${testbed}, ${formatRoughly(minutes * 60)}, and at most ${mostBoots} ${unit}`;
  if (noiseRatio === undefined) return [estimate, ...notes];
  const tooNoisy = 'the noise is too large to name a commit: allow more boots, or choose a quieter cell';
  return [
    `${estimate} for a change of ${formatSize(effect)}, as boots vary by ${formatPercent(noiseRatio)}`,
    ...(boots > mostBoots ? [tooNoisy] : []),
    ...notes,
  ];
}

/** Tracks how many minutes boots and builds need. */
export class BootPace implements BuildCosts {
  readonly #plan: BisectPlan;
  readonly #testbed: Testbed;
  readonly #runs: number[] = [];
  readonly #waits: number[] = [];

  constructor(plan: BisectPlan, testbed: Testbed) {
    this.#plan = plan;
    this.#testbed = testbed;
  }

  /** Never 0, as information is divided by it. */
  get runMinutes(): number {
    const { bootSeconds, trialSeconds } = this.#plan.durations;
    return Math.max(this.#runs.length === 0 ? (bootSeconds + trialSeconds) / 60 : median(this.#runs), 0.01);
  }

  get buildMinutes(): number {
    return this.#waits.length === 0 ? this.#plan.durations.buildSeconds / 60 : median(this.#waits);
  }

  readonly isReady = (variant: string): boolean => this.#testbed.ready().has(variant);

  /** `wasReady`: the boot did not wait for a build. */
  add(minutes: number, wasReady: boolean): void {
    if (wasReady) this.#runs.push(minutes);
    else this.#waits.push(Math.max(0, minutes - this.runMinutes));
  }
}
