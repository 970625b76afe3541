// A testbed without machines: packets per second from a known effect and seeded noise, and faults on request.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { LinuxSample } from '../../src/lab/linux/linux-script.ts';
import { measuredRun } from '../../src/lab/netns/netns-run.ts';
import type { ProfileOutcome, Testbed, TrialOutcome } from '../../src/lab/testbed.ts';
import type { PlannedRun, PlannedTrial } from '../../src/model/planned-trial.ts';
import type { PrepareOutcome, Rejected } from '../../src/model/rejection.ts';
import type { Cell } from '../../src/model/scenario.ts';

export type Fault =
  /** The trial ends without a measurement. */
  | 'fails'
  /** The DUT forwards nothing during one sample of the trial's first run. */
  | 'hole'
  /** Likewise in every run. */
  | 'holes'
  /** The DUT is not saturated in any run: the generator was the limit. */
  | 'idle'
  /** The receiver counts less than the DUT sent. */
  | 'receiver-loss'
  /** The connection to a host breaks, and `trial` itself throws. */
  | 'throws';

export type FakeTestbedOptions = {
  /** Seed of the noise. */
  seed?: number;
  /** True rate of a variant in a cell, as a ratio to base: 0.9 is 10 % slower, 0 forwards nothing. */
  speed?: (cell: Cell, variant: string) => number;
  /** Standard deviation of a run, as a ratio. */
  noise?: number;
  /** Factor on the first attempt of a trial: 0.8 is 20 % slower. */
  jumps?: (trial: number) => number;
  /** Faults of the first, second, … attempt of a trial. */
  faults?: (trial: number) => readonly (Fault | undefined)[];
  /** Number of times an earlier process sent the trial. */
  sentBefore?: (trial: number) => number;
  prepared?: PrepareOutcome;
  /** Variants that are rejected in preparation, one at a time. */
  unready?: readonly Rejected[];
  /** Outcome of a profile; absent: 2,000 samples. */
  profiles?: (cell: Cell, variant: string, attempt: number) => ProfileOutcome | 'throws' | undefined;
  /** Each variant of a pair needs a separate boot. */
  boots?: true;
  /** Variants that are found to be impossible to measure in a trial. */
  rejects?: (planned: PlannedTrial) => Exclude<TrialOutcome, { kind: 'measured' }> | undefined;
  /** Notes on the testbed with a trial. */
  warnings?: (trial: number) => string[];
};

export type FakeTestbed = Testbed & {
  /** Calls, in order: `prepare`, `trial 3`, `restore`. */
  calls: string[];
};

/** The same options yield the same numbers for the same attempt of the same trial, after any history. */
export function fakeTestbed(options: FakeTestbedOptions = {}): FakeTestbed {
  const { prepared = { kind: 'ready' }, unready = [], rejects, faults, sentBefore } = options;
  const calls: string[] = [];
  const sent = new Map<number, number>();
  let booted: string | undefined;
  let ready: readonly string[] = [];
  return {
    name: 'fake',
    calls,

    async inspect() {
      return { fingerprint: { kernel: 'Linux 6.18', cpu: 'a fake CPU × 2' }, warnings: [] };
    },

    async prepare({ variants, notify }) {
      notify('getting ready');
      calls.push('prepare');
      ready = variants.map(({ variant }) => variant);
      return unready.find(({ variant }) => ready.includes(variant)) ?? prepared;
    },

    ready: () => new Set(ready),

    async trial(planned, keepLog) {
      const { number } = planned;
      calls.push(`trial ${number}`);
      booted = options.boots && planned.runs[0]?.variant;
      const attempt = 1 + (sent.get(number) ?? sentBefore?.(number) ?? 0);
      sent.set(number, attempt);
      const rejected = rejects?.(planned);
      if (rejected !== undefined) return rejected;
      await keepLog('dut.log', `trial ${number}, attempt ${attempt}\n`);
      const outcome = measure(planned, attempt, faults?.(number)[attempt - 1], options);
      return { ...outcome, warnings: options.warnings?.(number) ?? [] };
    },

    booted: () => booted,

    async profile({ cell, variant, attempt }, keepLog) {
      calls.push(`profile ${variant} ${attempt}`);
      const outcome = options.profiles?.(cell, variant, attempt) ?? aProfile;
      if (outcome === 'throws') throw new Error('The connection to the DUT was lost.');
      if (options.boots) booted = outcome.kind === 'missed' && outcome.reason === lostWhy ? undefined : variant;
      if (outcome.kind === 'profiled') await keepLog(outcome.log, profileText(variant));
      return outcome;
    },

    async restore() {
      calls.push('restore');
    },
  };
}

/** With this reason the DUT is down after a profile. */
export const lostWhy = 'the DUT with base died while samples were taken: it panicked';

const aProfile: ProfileOutcome = {
  kind: 'profiled',
  event: 'cpu-clock',
  kernel: '6.18',
  log: 'stacks.txt',
  busySamples: 2000,
  idleSamples: 0,
};

/** Folded stacks in which a variant other than base spends a fifth of its time in a firewall. */
const profileText = (variant: string): string =>
  variant === 'base'
    ? 'napi;ip_forward 1200\nnapi;veth_xmit 800\n'
    : 'napi;ip_forward 960\nnapi;veth_xmit 640\nnapi;nft_do_chain 400\n';

const offeredPps = 3_000_000;
const basePps = 800_000;

function measure(
  { number, cell, runs }: PlannedTrial,
  attempt: number,
  fault: Fault | undefined,
  options: FakeTestbedOptions,
): TrialOutcome {
  if (fault === 'throws') throw new Error('The connection to the DUT was lost.');
  if (fault === 'fails') return { kind: 'failed', reason: 'trafgen ended without its summary' };
  if (fault === 'receiver-loss') {
    return {
      kind: 'failed',
      reason: 'the receiver counted 7 packets of the 9 that the DUT forwarded',
    };
  }
  const summary = {
    number,
    cell,
    startedAt: '2026-11-20T12:00:00.000Z',
    trafficSeconds: 2,
    offeredPps,
  };
  const measured = runs.map((run, index) => {
    const jump = attempt === 1 ? (options.jumps?.(number) ?? 1) : 1;
    const samples = samplesOf(run, cell, attempt, options, jump);
    const isHoled = fault === 'holes' || (fault === 'hole' && index === 0);
    const seen = isHoled ? withHole(samples) : samples;
    return measuredRun(run, number, fault === 'idle' ? seen.map(idle) : seen, {
      offeredPps,
      forwardedPps: offeredPps,
    });
  });
  return { kind: 'measured', summary, runs: measured };
}

const sampleSeconds = 0.02;

function samplesOf(
  { number, variant }: PlannedRun,
  cell: Cell,
  attempt: number,
  { seed = 1, speed = () => 1, noise = 0.01 }: FakeTestbedOptions,
  jump: number,
): LinuxSample[] {
  const truth = basePps * (variant === 'base' ? 1 : speed(cell, variant));
  const pps = jump * truth * Math.exp(noise * normal([seed, number, attempt]));
  const forwardedPackets = Math.round(pps * sampleSeconds);
  const sample = {
    seconds: sampleSeconds,
    receivedPackets: forwardedPackets || 1,
    forwardedPackets,
    busySeconds: sampleSeconds * 0.95,
  };
  return [sample, sample, sample, sample];
}

const idle = (sample: LinuxSample): LinuxSample => ({ ...sample, busySeconds: sample.seconds / 2 });

const withHole = ([first, ...rest]: LinuxSample[]): LinuxSample[] =>
  first === undefined ? [] : [{ ...first, forwardedPackets: 0 }, ...rest];

/** A standard normal variate that depends only on these numbers, by the Box-Muller transform. */
function normal(numbers: readonly number[]): number {
  const random = xoroshiro128plus(numbers.reduce((hash, number) => hash * 7919 + number, 17));
  // The first numbers of neighbouring seeds are alike.
  for (let skipped = 0; skipped < 8; skipped++) uniformFloat64(random);
  const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(random)));
  return radius * Math.cos(2 * Math.PI * uniformFloat64(random));
}
