// Measures lab time per verdict, in the virtual time of the fake FreeBSD lab, beside the usual ten runs.
// By hand: node bench/lab-time.ts

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../src/analysis/stats/summary.ts';
import { githubSchema } from '../src/config/github.ts';
import type { Config } from '../src/config/schema.ts';
import { trendSchema } from '../src/config/trend.ts';
import type { Durations } from '../src/gate/estimate/durations.ts';
import type { ExperimentEvent } from '../src/gate/experiment/experiment-event.ts';
import { type HistoryEntry, historyFile } from '../src/gate/experiment/history.ts';
import { gate } from '../src/gate/gate.ts';
import type { GateDeps } from '../src/gate/gate-deps.ts';
import type { FreebsdDeps } from '../src/lab/freebsd/freebsd-deps.ts';
import { openFreebsdTestbed } from '../src/lab/freebsd/freebsd-testbed.ts';
import { type Testbed, unshared } from '../src/lab/testbed.ts';
import { formatPercent } from '../src/model/format.ts';
import type { Result } from '../src/model/result.ts';
import type { FreebsdScenario } from '../src/model/scenario.ts';
import type { RunOptions } from '../src/system/host/execute.ts';
import type { Host } from '../src/system/host/ssh.ts';
import { semaphore } from '../src/system/semaphore.ts';
import { commandText } from '../src/system/shell.ts';
import type { Fault } from '../tests/fakes/freebsd-lab/faults.ts';
import { kernelArchive } from '../tests/fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, startFreebsdLab } from '../tests/fakes/freebsd-lab/lab.ts';
import { normal } from '../tests/fakes/freebsd-lab/random.ts';
import { depsOf, testbedOf, usualTraffic } from '../tests/fakes/freebsd-testbed.ts';

export type LabTimeRequest = {
  scenarios: readonly FreebsdScenario[];
  /** The change in what the patched kernel forwards, as a ratio to base. */
  change: number;
  /** Twelve runs of base are known of each cell. */
  hasHistory: boolean;
  seed: number;
  /** Absent: both kernels were built before. */
  build?: Build;
  faults?: readonly Fault[];
  /** A profile of each variant is taken in each cell. */
  hasProfiles?: boolean;
  /** The patch changes nothing but ipfw, and the change is of its scenarios alone; absent: it is of all. */
  isOfIpfw?: boolean;
  stopsAtFirst?: boolean;
  /** Durations of earlier gates; absent: this is the first on the testbed. */
  durations?: Durations;
  onEvent?(event: ExperimentEvent, seconds: number): void;
};

/** Seconds of each kernel's build, one after the other; 0 for a kernel in the builder's cache. */
export type Build = { base: number; patched: number };

/** A stretch of time, in seconds of the laboratory's clock. */
export type Span = { from: number; to: number };

export type LabTime = {
  result: Result;
  /** Time from the first connection to the end of the last run; only the release of the DUT follows. */
  verdict: Span;
  /** Time from the first connection until the DUT is released. */
  whole: Span;
  /** Each from the machine's going down to its answering again; the last of them gives it back. */
  reboots: Span[];
  /** Time of each, from the sender's start to the last count of the receiver, which stays. */
  trials: Span[];
  /** Each from the receiver's start until its link has settled. */
  settlings: Span[];
  /** Times in which packets arrived faster than the DUT could forward them. */
  floods: Span[];
  /** Times of commands to the DUT, which a saturated one gets later. */
  dutCommands: number[];
  /** True for a run that waited for its kernel. */
  waitedSeconds: number;
};

/** The rate of base, in packets per second. */
const basePps: Readonly<Record<FreebsdScenario, number>> = {
  forwarding: 5e6,
  'pf-stateless': 3.6e6,
  'pf-stateful': 2.8e6,
  'ipfw-stateless': 4.2e6,
  'ipfw-stateful': 3.2e6,
};

/** Defaults of a FreeBSD testbed in ppsgate.yml. */
const profileSeconds = 10;

const rebootSeconds = 180;
const shutdownSeconds = 5;

/** Standard deviation, as a ratio. */
const noisePerBoot = 0.005;

/** Kernels of one configuration, as a patch leaves it; the laboratory distinguishes them by the option. */
const kernels = {
  base: { ident: 'GENERIC' },
  patched: { ident: 'GENERIC', options: ['options PATCHED'] },
};

/** Runs a gate by the production path, on a new laboratory; throws if either reports a fault. */
export async function labTime(request: LabTimeRequest): Promise<LabTime> {
  const { scenarios, change, seed, faults = [] } = request;
  const isTouched = (scenario: string) => !request.isOfIpfw || scenario.startsWith('ipfw');
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  await using lab = await startFreebsdLab({
    kernel: kernels.base,
    timing: { bootSeconds: rebootSeconds - shutdownSeconds, shutdownSeconds },
    noise: { seed, perBoot: noisePerBoot },
    truth: ({ scenario }) => basePps[scenario] * (isPatched(lab) && isTouched(scenario) ? 1 + change : 1),
    faults,
  });
  try {
    const archives = { base: join(folder, 'base.tar'), patched: join(folder, 'patched.tar') };
    writeFileSync(archives.base, kernelArchive(kernels.base));
    writeFileSync(archives.patched, kernelArchive(kernels.patched));
    const testbed = testbedOf(lab, folder);
    const config = {
      ...usualConfig,
      testbeds: { lab: testbed },
      scenarios: [...scenarios],
      ...(request.hasProfiles && { profile: { seconds: profileSeconds } }),
      ...(request.stopsAtFirst && { gate: { ...usualConfig.gate, stopsAtFirst: true as const } }),
    };
    const history = historyFile(join(folder, 'history.jsonl'));
    if (request.hasHistory) await history.append(earlierRuns(request));

    const asked: Asked = { trials: [], settlings: [], dutCommands: [] };
    const spans = spansOf(lab);
    const builder = builderOf(lab, request.build);
    const from = lab.clock.now();
    const verdict = { from, to: from };
    const changedPaths = async () => [request.isOfIpfw ? 'sys/netpfil/ipfw/ip_fw2.c' : 'sys/net/if.c'];
    const onEvent = (event: ExperimentEvent) => {
      if (event.kind === 'ended') verdict.to = lab.clock.now();
      request.onEvent?.(event, lab.clock.now());
    };
    const reserve: GateDeps['reserve'] = async ([name = '']) =>
      unshared(name, async (traffic) =>
        builder.before(await openFreebsdTestbed(name, testbed, traffic, distant(lab, asked))),
      );
    const deps: GateDeps = {
      repository: { ...repository, changedPaths },
      reserve,
      history,
      now: () => new Date(lab.clock.now() * 1000),
      onEvent,
      signal: new AbortController().signal,
    };
    const gateRequest = { patch, config, testbeds: ['lab'], seed, kernels: archives };
    const result = await gate(gateRequest, join(folder, 'gate'), deps);
    const whole = { from, to: lab.clock.now() };
    return { result, verdict, whole, ...asked, ...spans, waitedSeconds: builder.waited() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isPatched = ({ dut }: FreebsdLab): boolean =>
  dut.machine.running?.kernel.options.includes('options PATCHED') ?? false;

/** The defaults of ppsgate.yml. */
const usualConfig: Omit<Config, 'testbeds' | 'scenarios'> = {
  rules: {},
  overlay: { path: 'dut', beside: '' },
  families: ['inet4'],
  traffic: usualTraffic,
  gate: {
    metric: 'pps',
    marginRatio: 0.02,
    confidenceRatio: 0.9,
    falseAlarmRatio: 0.01,
    missRatio: 0.05,
  },
  history: 'history.jsonl',
  reservations: { store: 'sqlite', path: 'reservations.sqlite', leaseSeconds: 30 },
  github: githubSchema.parse({}),
  trend: trendSchema.parse({}),
};

const patch = {
  kind: 'range',
  title: 'Look up less',
  author: 'alice',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
} as const;

/** Kernels are prebuilt, so only the merge base is requested. */
const repository: GateDeps['repository'] = {
  resolve: async (name) => name,
  mergeBase: async (first) => first,
  pathOf: async ({ path }) => path,
  list: async () => [],
  entriesAt: async () => [],
  read: async () => '',
  changedPaths: async () => [],
  idAt: async () => undefined,
  diff: async () => Buffer.from(''),
  describe: async () => ({ subject: patch.title, author: patch.author }),
};

/** Four gates with three runs of base each, with the noise of the laboratory. */
function earlierRuns({ scenarios, seed, durations }: LabTimeRequest): HistoryEntry[] {
  const { flows, frameBytes } = usualConfig.traffic;
  return [1, 2, 3, 4].flatMap((day) =>
    scenarios.map((scenario, cell) => ({
      at: `2023-10-0${day}T12:00:00.000Z`,
      testbed: 'lab',
      cell: { scenario, family: 'inet4' },
      traffic: { flows, frameBytes },
      commit: patch.baseCommit,
      pps: [1, 2, 3].map((run) => basePps[scenario] * Math.exp(noisePerBoot * normal(seed, 1000 + day, run, cell))),
      nsPerPacket: [],
      instructionsPerPacket: [],
      moved: false,
      ...(durations && { durations }),
    })),
  );
}

/** Both grow while the laboratory works. */
function spansOf({ clock, dut: { machine } }: FreebsdLab): Pick<LabTime, 'reboots' | 'floods'> {
  const follow = (isIn: () => boolean): Span[] => {
    const spans: Span[] = [];
    let from: number | undefined;
    machine.watchers.add(() => {
      if (isIn() === (from !== undefined)) return;
      if (from !== undefined) spans.push({ from, to: clock.now() });
      from = isIn() ? clock.now() : undefined;
    });
    return spans;
  };
  return {
    reboots: follow(() => machine.stage !== 'up'),
    floods: follow(() => machine.isOverloaded),
  };
}

const roundTripSeconds = 0.05;

/** Mirrors src/system/host/connection.ts. */
const commandsAtOnce = 5;

type Asked = Pick<LabTime, 'trials' | 'settlings' | 'dutCommands'>;

/** The laboratory's clock stands still during ssh, so every login, command and upload is charged a round trip. */
function distant(lab: FreebsdLab, { trials, settlings, dutCommands }: Asked): FreebsdDeps {
  const { clock } = lab;
  const deps = depsOf(lab);
  /** Trials whose senders have ended. */
  const ending = new Set<Span>();
  return {
    ...deps,
    async connect(config, label) {
      await clock.sleep(roundTripSeconds);
      return slowed(await deps.connect(config, label), label === 'DUT');
    },
  };

  function slowed(host: Host, isDut: boolean): Host {
    const inTurn = semaphore(commandsAtOnce);
    const trip = () => {
      if (isDut) dutCommands.push(clock.now());
      return inTurn(() => clock.sleep(roundTripSeconds));
    };
    return {
      ...host,
      async run(command, options) {
        await trip();
        const from = clock.now();
        const text = commandText(command);
        const outcome = await host.run(command, text.includes('-f rx') ? heard(options) : options);
        if (text.includes('pkt-gen -N -f tx')) {
          const span = { from, to: clock.now() };
          trials.push(span);
          ending.add(span);
        }
        return outcome;
      },
      output: (...args) => trip().then(() => host.output(...args)),
      upload: (...args) => trip().then(() => host.upload(...args)),
    };
  }

  /** Output of a receiver. */
  function heard(options: RunOptions = {}): RunOptions {
    const from = clock.now();
    const onStderr = (chunk: Uint8Array) => {
      const text = Buffer.from(chunk).toString();
      if (text.includes('Ready...')) settlings.push({ from, to: clock.now() });
      if (text.includes(' pps ')) {
        for (const span of ending) span.to = clock.now();
        ending.clear();
      }
      options.onStderr?.(chunk);
    };
    return { ...options, onStderr };
  }
}

/**
 * A builder needs real time. So the kernels exist from the start, and a run waits for its own here, between the
 * experiment and the testbed, for as long as src/lab/freebsd/freebsd-testbed.ts would have waited before it boots.
 */
function builderOf({ clock }: FreebsdLab, { base, patched }: Build = { base: 0, patched: 0 }) {
  const startedAt = clock.now();
  const readyAt = new Map([
    ['base', startedAt + base],
    ['patched', startedAt + base + patched],
  ]);
  let waitedSeconds = 0;
  return {
    waited: () => waitedSeconds,
    before: (testbed: Testbed): Testbed => ({
      ...testbed,
      async trial(planned, keepLog, signal) {
        const [run] = planned.runs;
        const seconds = (readyAt.get(run?.variant ?? '') ?? 0) - clock.now();
        if (seconds > 0) {
          waitedSeconds += seconds;
          await clock.sleep(seconds);
        }
        return testbed.trial(planned, keepLog, signal);
      },
    }),
  };
}

export type Shares = {
  boots: number;
  trials: number;
  /** Time to the verdict. */
  seconds: number;
  rebootSeconds: number;
  trafficSeconds: number;
  settlingSeconds: number;
  /** The rest of the time, without waits for kernels. */
  restSeconds: number;
  /** The rest over reboots, traffic and settling links. */
  overhead: number;
};

/** The time to a verdict, by its parts. */
export function sharesOf({ verdict, ...lab }: LabTime): Shares {
  const { reboots, trials, settlings, waitedSeconds } = lab;
  const until = (spans: readonly Span[]) => spans.filter(({ to }) => to <= verdict.to);
  const rebooting = sum(until(reboots).map(secondsOf));
  const sending = sum(trials.map(secondsOf));
  const seconds = secondsOf(verdict);
  const settling = lengthOfAll(settlings);
  const restSeconds = seconds - rebooting - sending - settling - waitedSeconds;
  return {
    boots: until(reboots).length,
    trials: trials.length,
    seconds,
    rebootSeconds: rebooting,
    trafficSeconds: sending,
    settlingSeconds: settling,
    restSeconds,
    overhead: restSeconds / (rebooting + sending + settling),
  };
}

const secondsOf = ({ from, to }: Span): number => to - from;

/** Counts overlapping spans once. */
function lengthOfAll(spans: readonly Span[]): number {
  let [length, until] = [0, 0];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    length += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return length;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The published studies: five runs of each variant, each of them a boot and a trial of 68 s. */
function classicSeconds(cells: number): { bootForAll: number; bootForEach: number } {
  const [runs, trialSeconds] = [10, 68];
  return {
    bootForAll: runs * (rebootSeconds + cells * trialSeconds),
    bootForEach: runs * cells * (rebootSeconds + trialSeconds),
  };
}

/** A row is the median of its `seeds`: the more cells, the longer each of them lasts. */
const sizes: readonly { scenarios: readonly FreebsdScenario[]; seeds: readonly number[] }[] = [
  { scenarios: ['forwarding'], seeds: [1, 2, 3] },
  { scenarios: Object.keys(basePps) as FreebsdScenario[], seeds: [1] },
];

/** A machine of two cores has time for so many laboratories at once. */
const inTurn = semaphore(4);

/** The lines of the tables, with what they mean. */
export async function benchLabTime(): Promise<string[]> {
  const rows = sizes.flatMap((size) =>
    [false, true].flatMap((hasHistory) =>
      [0, -0.02, -0.1, -0.56].map((change) => verdictRow({ ...size, hasHistory, change })),
    ),
  );
  const builds = sizes.flatMap(({ scenarios }) =>
    [0, buildSeconds].map((base) => buildRow(scenarios, { base, patched: buildSeconds })),
  );
  const profiles = sizes.flatMap(({ scenarios }) =>
    [false, true].map((hasProfiles) => profilesRow({ scenarios, hasProfiles })),
  );
  const firsts = [0, -0.02, -0.1].flatMap((change) => [false, true].map((hasHistory) => firstRow(change, hasHistory)));
  return [
    ...table(verdictHead, await Promise.all(rows)),
    '',
    `Medians of three seeds (one with 5 cells), in minutes; each boot takes ${rebootSeconds} s, and runs differ by ${formatPercent(noisePerBoot)}. The lab's clock stands still`,
    `during ssh: every login, command and upload is charged ${roundTripSeconds * 1000} ms, ${commandsAtOnce} of them at once. A trial, and traffic, are`,
    "from the sender's start to the receiver's last count; links settle once a boot. The rest is the controller's own, and",
    'its share that of reboots, traffic and links. Giving the DUT back, after the verdict, takes one more reboot. Classic:',
    '5 + 5 runs with trials of 68 s, and with a boot for all cells, or for each.',
    '',
    ...table(buildHead, (await Promise.all(builds)).flat()),
    '',
    `A build takes ${buildSeconds / 60} min. It is modelled: a run waits for its kernel before the testbed is asked for it.`,
    '',
    ...table(firstHead, await Promise.all(firsts)),
    '',
    'Minutes to a verdict of 5 cells for a patch of ipfw that changes its two cells, medians of three seeds. All cells in each',
    'boot, those of ipfw first; the same where the first loss ends it; and ipfw alone until it is decided, with the',
    'other cells in boots of their own after it, unless something was lost. Each of those two gates has all false alarms for',
    'its own cells, which is more than they would have of one experiment: so it is better than it could be.',
    '',
    ...table(profilesHead, await Promise.all(profiles)),
    '',
    `Until the DUT is given back, with a loss of 10 % and 12 runs known. Each profile has a window of ${profileSeconds} s. When all were`,
    'taken after the last run, two variants needed one boot more: 21.0 min in place of 18.0, and 32.6 of 29.5 with 5 cells.',
  ];
}

const verdictHead = [
  'cells',
  'change',
  'history',
  'verdicts',
  'boots',
  'trials',
  'a trial',
  'minutes',
  'reboots',
  'traffic',
  'links',
  'rest',
  'share',
  'of classic',
  'for each',
];

type RowRequest = Omit<LabTimeRequest, 'seed'> & { seeds: readonly number[] };

async function verdictRow({ seeds, ...request }: RowRequest): Promise<string[]> {
  const times = await Promise.all(seeds.map((seed) => inTurn(() => labTime({ ...request, seed }))));
  const shares = times.map(sharesOf);
  const middle = (value: (one: Shares) => number) => median(shares.map(value));
  const cells = request.scenarios.length;
  const classic = classicSeconds(cells);
  const seconds = middle((one) => one.seconds);
  return [
    String(cells),
    formatPercent(request.change),
    request.hasHistory ? '12 runs' : 'none',
    counted(times.flatMap(({ result }) => verdictsOf(result))),
    String(middle((one) => one.boots)),
    String(middle((one) => one.trials)),
    `${median(times.flatMap(({ trials }) => trials.map(secondsOf))).toFixed(1)} s`,
    minutes(seconds),
    minutes(middle((one) => one.rebootSeconds)),
    minutes(middle((one) => one.trafficSeconds)),
    minutes(middle((one) => one.settlingSeconds)),
    minutes(middle((one) => one.restSeconds)),
    formatPercent(middle((one) => one.overhead)),
    formatPercent(seconds / classic.bootForAll),
    formatPercent(seconds / classic.bootForEach),
  ];
}

export function verdictsOf({ outcome }: Result): string[] {
  return outcome.kind === 'judged' ? outcome.cells.map(({ verdict }) => verdict.kind) : [outcome.kind];
}

/** `5 regression, 1 inconclusive`. */
function counted(words: readonly string[]): string {
  const groups = [...Map.groupBy(words, (word) => word)];
  return groups.map(([word, { length }]) => `${length} ${word}`).join(', ');
}

const firstHead = ['ipfw changes by', 'history', 'all', 'until a loss', 'ipfw alone first'];

async function firstRow(change: number, hasHistory: boolean): Promise<string[]> {
  const every = Object.keys(basePps) as FreebsdScenario[];
  const ipfw = every.filter((scenario) => scenario.startsWith('ipfw'));
  const others = every.filter((scenario) => !ipfw.includes(scenario));
  const request = { change, hasHistory, isOfIpfw: true };
  const secondsOfOne = async (one: Omit<LabTimeRequest, 'seed'>, seed: number) => {
    const time = await inTurn(() => labTime({ ...one, seed }));
    return {
      seconds: sharesOf(time).seconds,
      isLost: verdictsOf(time.result).includes('regression'),
    };
  };
  const seconds = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const [all, stopped, alone, rest] = await Promise.all([
        secondsOfOne({ ...request, scenarios: every }, seed),
        secondsOfOne({ ...request, scenarios: every, stopsAtFirst: true }, seed),
        secondsOfOne({ ...request, scenarios: ipfw, stopsAtFirst: true }, seed),
        secondsOfOne({ ...request, scenarios: others }, seed),
      ]);
      return [all.seconds, stopped.seconds, alone.seconds + (alone.isLost ? 0 : rest.seconds)];
    }),
  );
  const middle = [0, 1, 2].map((way) => minutes(median(seconds.map((one) => one[way] ?? 0))));
  return [formatPercent(change), hasHistory ? '12 runs' : 'none', ...middle];
}

const profilesHead = ['cells', 'profiles', 'boots', 'trials', 'minutes'];

async function profilesRow(request: Pick<LabTimeRequest, 'scenarios' | 'hasProfiles'>): Promise<string[]> {
  const time = await inTurn(() => labTime({ ...request, change: -0.1, hasHistory: true, seed: 1 }));
  return [
    String(request.scenarios.length),
    request.hasProfiles ? 'taken' : 'none',
    String(time.reboots.length),
    String(time.trials.length),
    minutes(secondsOf(time.whole)),
  ];
}

const minutes = (seconds: number): string => (seconds / 60).toFixed(1);

const buildSeconds = 600;

const buildHead = ['cells', "base's kernel", 'first run', 'builds', 'waited', 'hidden'];

/** Chance puts base first with the one, and patched with the other. */
const orderSeeds = [1, 2];

async function buildRow(scenarios: readonly FreebsdScenario[], build: Build): Promise<string[][]> {
  const request = { scenarios, change: 0, hasHistory: true, build };
  const times = await Promise.all(orderSeeds.map((seed) => inTurn(() => labTime({ ...request, seed }))));
  const byFirst = Map.groupBy(times, ({ result }) => firstVariant(result));
  return [...byFirst].toSorted().map(([first, group]) => {
    const waited = median(group.map(({ waitedSeconds }) => waitedSeconds));
    const building = build.base + build.patched;
    return [
      String(scenarios.length),
      build.base === 0 ? 'cached' : 'built',
      first,
      minutes(building),
      minutes(waited),
      formatPercent(1 - waited / building),
    ];
  });
}

function firstVariant({ outcome }: Result): string {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  return runs.toSorted((one, other) => one.number - other.number)[0]?.variant ?? '';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}

if (import.meta.main) {
  const startedAt = performance.now();
  for (const line of await benchLabTime()) console.log(line);
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0)} s of real time`);
}
