// Estimates a bisection's boots and minutes before its first build.
import type { Noise } from '../../analysis/stats/evidence.ts';
import { counted, formatPercent, formatRoughly, formatSize } from '../../model/format.ts';
import type { BisectPlan } from '../bisect/bisect-plan.ts';
import { type BootMinutes, simulateBisect } from '../bisect/simulate-bisection.ts';
import { isShared, positionsPerTrial } from '../bisect/trials.ts';
import { earlierRunsOf } from './runs.ts';

/** Minutes of an incremental kernel build, of a boot with its trial, and of a failed boot. */
export const usualMinutes = { build: 10, run: 5, failure: 10 };

type BisectionEstimate = {
  /** Means. If commits share trials, boots are trials. */
  boots: number;
  minutes: number;
  /** Absent if the noise is not known well enough. */
  noise?: {
    noiseRatio: number;
    /** Share of such bisections that name a commit or a few; low for much noise. */
    answeredRatio: number;
  };
};

/** Simulates bisections with the noise of earlier experiments. Without it, counts one boot per halving. */
export function estimateBisection(plan: BisectPlan): BisectionEstimate {
  const { range, effect, history, mostBoots } = plan;
  const steps = range.revisions.length - 1;
  if (isShared(plan)) return estimateShared(steps, plan);
  const estimate = history && estimateByNoise({ steps, effect, history, mostBoots, minutes: usualMinutes });
  if (estimate !== undefined) {
    const { boots, minutes, noise } = estimate;
    return { boots: Math.round(boots), minutes: Math.round(minutes), ...(noise && { noise }) };
  }
  const halvings = Math.ceil(Math.log2(steps));
  // Two boots of each end, and one more of each neighbour.
  const boots = 2 + 2 + halvings + 2;
  return { boots, minutes: boots * usualMinutes.run + (2 + halvings) * usualMinutes.build };
}

/** Each trial splits the range by its number of positions. Two are always needed, and one more for the neighbours. */
function estimateShared(steps: number, { traffic }: Pick<BisectPlan, 'traffic'>): BisectionEstimate {
  const { warmUpSeconds, settleSeconds, measureSeconds, runsPerTrial } = traffic;
  const partings = Math.ceil(Math.log(steps) / Math.log(positionsPerTrial + 1));
  const boots = Math.max(2, partings) + 1;
  const seconds = secondsToInstall + warmUpSeconds + runsPerTrial * (settleSeconds + measureSeconds);
  return { boots, minutes: Math.ceil((boots * seconds) / 60) };
}

/** A trial installs all of its variants once, before it starts. */
const secondsToInstall = 5;

type SimulatedRange = {
  steps: number;
  effect: number;
  history: Noise;
  mostBoots: number;
  minutes: BootMinutes;
};

/** Undefined if the noise is not known well enough. Deterministic by history. */
export function estimateByNoise({ steps, effect, history, ...rest }: SimulatedRange): BisectionEstimate | undefined {
  if (history.degreesOfFreedom < minDegreesOfFreedom) return undefined;
  const noiseRatio = Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
  const row = simulateBisect({
    ...rest,
    noise: { kind: 'normal', cv: noiseRatio },
    commits: steps,
    effects: [effect],
    brokenRatio: 0,
    brokenInARow: 1,
    historyRuns: earlierRunsOf(history),
    experiments: 100,
    seed: 1,
  });
  return {
    boots: row.meanBoots,
    minutes: row.meanMinutes,
    noise: { noiseRatio, answeredRatio: row.namedRight + row.groupRight },
  };
}

const minDegreesOfFreedom = 4;

/** Formats the range's size, the estimate, and the plan's notes. */
export function bisectionEstimateLines(plan: BisectPlan): string[] {
  const { range, testbed, mostBoots, effect, system } = plan;
  const { commits, revisions, notes } = range;
  const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
  const skippedText = skipped > 0 ? `, ${skipped} of them skipped` : '';
  const things = system === 'linux' ? 'files' : 'kernels';
  const distinct = `${counted(commits, 'commit')} after good, ${revisions.length - 1} with different ${things}${skippedText}`;
  const { boots, minutes, noise } = estimateBisection(plan);
  const unit = isShared(plan) ? 'trials' : 'boots';
  const estimate = `${distinct}: about ${boots} ${unit} on ${testbed}, ${formatRoughly(minutes * 60)}, and at most ${mostBoots} ${unit}`;
  if (noise === undefined) return [estimate, ...notes];
  const { noiseRatio, answeredRatio } = noise;
  const tooNoisy = `the noise is too large: only ${formatPercent(answeredRatio)} of such bisections name a commit; allow more boots, or choose a quieter cell`;
  return [
    `${estimate} for a change of ${formatSize(effect)}, as boots vary by ${formatPercent(noiseRatio)}`,
    ...(answeredRatio < minAnswered ? [tooNoisy] : []),
    ...notes,
  ];
}

const minAnswered = 0.8;
