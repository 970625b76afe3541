// What a bisection will take, said before anything is built for it.
import { formatPercent, formatSize, roughly } from '../../model/format.ts';
import type { BisectPlan } from '../bisect/bisect-plan.ts';
import { isShared, positionsPerTrial } from '../bisect/trials.ts';
import { type BisectForecast, forecastBisect } from './remaining-boots.ts';

/** Minutes of an incremental build of a kernel, of a boot with its trial, and of a boot that fails. */
export const usualMinutes = { build: 10, run: 5, failure: 10 };

type Estimate = {
  boots: number;
  minutes: number;
  /** Absent where too little is known of the noise. */
  forecast?: BisectForecast;
};

/** Boots and minutes by the noise of earlier experiments, and without such by what small noise takes: a boot for each halving. */
export function estimateOf(plan: BisectPlan): Estimate {
  const { range, effect, history, mostBoots } = plan;
  const steps = range.revisions.length - 1;
  const forecast =
    history === undefined || isShared(plan)
      ? undefined
      : forecastBisect({ steps, effect, history, mostBoots, minutes: usualMinutes });
  if (forecast !== undefined) {
    return { boots: Math.round(forecast.boots), minutes: Math.round(forecast.minutes), forecast };
  }
  if (isShared(plan)) return sharedEstimate(steps, plan);
  const halvings = Math.ceil(Math.log2(steps));
  // Two of each end, and one more of each neighbour.
  const boots = 2 + 2 + halvings + 2;
  return { boots, minutes: boots * usualMinutes.run + (2 + halvings) * usualMinutes.build };
}

/** Each trial parts the range by all that share it; two are needed anyway, and one more for the neighbours. */
function sharedEstimate(steps: number, { traffic }: Pick<BisectPlan, 'traffic'>): Estimate {
  const { warmUpSeconds, settleSeconds, measureSeconds, runsPerTrial } = traffic;
  const partings = Math.ceil(Math.log(steps) / Math.log(positionsPerTrial + 1));
  const boots = Math.max(2, partings) + 1;
  const seconds = secondsToLay + warmUpSeconds + runsPerTrial * (settleSeconds + measureSeconds);
  return { boots, minutes: Math.ceil((boots * seconds) / 60) };
}

/** All that share a trial are installed once before it. */
const secondsToLay = 5;

/** The plan in lines for people. */
export function estimateLines(plan: BisectPlan): string[] {
  const { range, testbed, mostBoots, effect } = plan;
  const { commits, revisions, notes } = range;
  const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
  const left = skipped > 0 ? `, ${skipped} of them skipped` : '';
  const first = `${commits} commits, ${revisions.length - 1} kernels after the good one${left}`;
  const { boots, minutes, forecast } = estimateOf(plan);
  const what = isShared(plan) ? 'trials' : 'boots';
  const durations = `some ${boots} ${what} on ${testbed}, ${roughly(minutes * 60)}, and at most ${mostBoots} ${what}`;
  if (forecast === undefined) return [`${first}: ${durations}`, ...notes];
  const { noiseRatio, answeredRatio } = forecast;
  const noise = `a boot is off by ${formatPercent(noiseRatio)}`;
  const size = formatSize(effect);
  const isTooNoisy = answeredRatio < leastAnswered;
  return [
    `${first}: ${durations} for a change of ${size}, as ${noise}`,
    ...(isTooNoisy
      ? [
          `the noise is too large for that: ${formatPercent(answeredRatio)} of such bisections name a commit; allow more boots, or take a quieter cell`,
        ]
      : []),
    ...notes,
  ];
}

const leastAnswered = 0.8;
