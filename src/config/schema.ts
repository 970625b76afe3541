// Defines the format of ppsgate.yml, its defaults, and the resulting plain data.
import { z } from 'zod';
import { flowRanges, whyTooFewAddresses } from '../model/flows.ts';
import { type Metric, metrics } from '../model/metric.ts';
import { type DesignName, designNames } from '../model/result.ts';
import {
  type Cell,
  type Family,
  families,
  type OperatingSystem,
  type OwnRules,
  type Scenario,
  scenarioSchema,
  scenarios,
  scenariosOf,
} from '../model/scenario.ts';
import type { TestbedKind } from '../model/testbed-kind.ts';
import type { Packets } from '../model/traffic.ts';
import { duration, expected, type QuantityLimit, rate, ratio, sentence } from '../model/units.ts';
import { capabilityKeys, type WithCapabilities, withCapabilities } from './capabilities.ts';
import { meantBy } from './did-you-mean.ts';
import { closed, type HostConfig, listOf, path, ssh, text, whole, wholeNumber, withHost, wrongName } from './fields.ts';
import { type FreebsdTestbed, freebsdTestbedSchema, lacksAddresses } from './freebsd-testbed.ts';
import { type GithubConfig, githubSchema } from './github.ts';
import { type OverlayPlace, overlaySchema, usualFolder } from './overlay.ts';
import { frameBytesOf, frameSize, packetKeys, packetsOf, whyNotRouted, whyNotSent, withoutMix } from './packets.ts';
import { type Paths, pathsSchema } from './paths.ts';
import { type PhabricatorConfig, phabricatorSchema } from './phabricator.ts';
import { type ReservationsConfig, reservationsSchema } from './reservations.ts';
import { readSelector, selectorText } from './testbed-selector.ts';
import { type TrendConfig, trendSchema } from './trend.ts';
import { type VirtualTestbed, virtualTestbedSchema } from './virtual-testbed.ts';

export type Config = {
  overlay: OverlayPlace;
  testbeds: Record<string, TestbedConfig>;
  /** Selectors: a patch is judged on one testbed of each. Absent: on the first testbed. */
  each?: string[];
  scenarios: Scenario[];
  /** A site's own scenarios by name; see `OwnRules`. */
  rules: Record<string, OwnRulesFile>;
  families: Family[];
  /** Files of the tree that can change a measurement; absent: only FreeBSD's are known. */
  paths?: Paths;
  traffic: Traffic;
  /** Several frame sizes, each with its own cells; absent: the size of `traffic`. */
  frameSizes?: number[];
  gate: Gate;
  /** Absent: no profile is taken. */
  profile?: Profiling;
  history: string;
  reservations: ReservationsConfig;
  github: GithubConfig;
  trend: TrendConfig;
  phabricator?: PhabricatorConfig;
};

type OwnRulesFile = Omit<OwnRules, 'text'> & { path: string };

export type TestbedConfig = EmbeddedTestbed | LinuxTestbed | FreebsdTestbed | VirtualTestbed;

type EmbeddedTestbed = WithCapabilities & { kind: 'embedded-linux' };

export type LinuxTestbed = WithCapabilities & {
  kind: 'linux';
  sender: HostConfig & { interface: string; cpu: number };
  /** `cpu` forwards the packets. */
  dut: HostConfig & { ingress: string; egress: string; cpu: number };
  receiver: HostConfig & { interface: string };
};

export type Traffic = {
  /** Source × destination addresses. */
  flows: number;
  /** Includes 4 bytes of CRC; see `frameBytesFor`. */
  frameBytes: number;
  /** Absent: the usual UDP packets. */
  packets?: Packets | undefined;
  /** Absent: maximum speed of the sender. */
  offeredPps?: number | undefined;
  warmUpSeconds: number;
  settleSeconds: number;
  measureSeconds: number;
  /** From this time, a run with its own trial ends once its median is known to 0.5 %. */
  measureAtLeastSeconds: number;
  runsPerTrial: number;
  /** Windows of a run on virtual testbeds, which count packets instead of time. */
  windows?: { count: number; packets: number } | undefined;
};

export type Gate = {
  metric: Metric;
  marginRatio: number;
  /** Verdicts rest on these intervals: 1 − 2 × `missRatio`. */
  confidenceRatio: number;
  /** Share of harmless patches with a regression in any cell. */
  falseAlarmRatio: number;
  /** Share of cells that lost the margin but passed. */
  missRatio: number;
  /** Absent: chosen by the cell's history. */
  design?: DesignName;
  /** Per cell. Absent: five trials of runs that share trials, else 20. */
  maxRunsPerVariant?: number;
  /** The first losing cell ends the runs of all others; absent: each cell is measured to its own end. */
  stopsAtFirst?: true;
};

type Profiling = {
  seconds: number;
  /** Name in the DUT's tool, pmcstat(8) or perf(1); absent: cycles, under the CPU's own name. */
  event?: string;
};

/** Returns the requested size, the mean of a mix, or the minimum for the headers and a CRC. */
export const frameBytesFor = (
  traffic: Pick<Traffic, 'frameBytes' | 'packets'>,
  { family, frameBytes }: Pick<Cell, 'family' | 'frameBytes'>,
): number => Math.max(frameBytes ?? traffic.frameBytes, smallestFrameBytes[family][traffic.packets?.protocol ?? 'udp']);

// Ethernet's own minimum, the first of RFC 2544's sizes (9.1); Ethernet 14, IPv6 40, UDP 8 or TCP 20, and CRC 4.
const smallestFrameBytes: Record<Family, Record<'udp' | 'tcp', number>> = {
  inet4: { udp: 64, tcp: 64 },
  inet6: { udp: 66, tcp: 78 },
};

const interfaceName = text(/^[a-zA-Z0-9][\w.-]{0,14}$/, 'the name of a network interface like eth0');
const cpu = wholeNumber(0, 8191);

const linuxTestbed = closed({
  kind: z.literal('linux').describe('Three Linux hosts that are wired and routed already.'),
  sender: closed({
    ...ssh,
    interface: interfaceName,
    cpu: cpu.describe('The CPU that makes frames.'),
  }).transform(withHost),
  dut: closed({
    ...ssh,
    ingress: interfaceName,
    egress: interfaceName,
    cpu: cpu.describe('The CPU that forwards packets.'),
  }).transform(withHost),
  receiver: closed({ ...ssh, interface: interfaceName }).transform(withHost),
  ...capabilityKeys,
}).transform(withCapabilities);

const embeddedTestbed = closed({
  kind: z.literal('embedded-linux').describe('Three network namespaces on this machine.'),
  ...capabilityKeys,
}).transform(withCapabilities);

const testbed = z.discriminatedUnion(
  'kind',
  [embeddedTestbed, linuxTestbed, freebsdTestbedSchema, virtualTestbedSchema],
  { error: wrongTestbed },
);

const testbedName = z.string().regex(/^[a-zA-Z0-9][\w.-]{0,62}$/);

const testbeds = z
  .record(testbedName, testbed, { error: wrongTestbeds })
  .refine((byName) => Object.keys(byName).length > 0, 'expected at least one testbed, found none');

const notSoManyRuns = { error: expected('1, 2, or a multiple of 4 from 4 to 1000') };
const runsPerTrial = z
  .number(notSoManyRuns)
  .refine((runs) => runs === 1 || runs === 2 || (runs % 4 === 0 && runs >= 4 && runs <= 1000), notSoManyRuns)
  .meta({ title: '1, 2, or a multiple of 4 from 4 to 1000' });

const traffic = closed({
  flows: wholeNumber(1, 65536).prefault(2000).describe('Source × destination addresses.'),
  ...packetKeys,
  frameSizes: z
    .array(frameSize, { error: expected('a list like [64 bytes, 1518 bytes]') })
    .min(1, 'expected at least one size')
    .refine((sizes) => new Set(sizes).size === sizes.length, 'a size is in this list twice')
    .optional()
    .describe('Several sizes instead of `frameSize`, each with its own cells.'),
  rate: rate(whole(1, 1e9, 'pps'))
    .optional()
    .describe('The offered rate, which must exceed what the DUT forwards.'),
  warmUp: duration(between(0, 600)).optional(),
  settle: duration(between(0, 60)).optional().describe('After a variant was installed, before its run is measured.'),
  measure: duration(between(0.01, 600)).optional().describe('Longest run.'),
  measureAtLeast: duration(between(6, 600))
    .optional()
    .describe('A run ends from here on, when its median is known to 0.5%; with `runsPerTrial: 1`.'),
  runsPerTrial: runsPerTrial
    .optional()
    .describe('Runs that follow each other in one trial of traffic, the variants in turn.'),
  windows: wholeNumber(2, 1000).optional().describe('Windows of a run, on virtual testbeds.'),
  windowPackets: wholeNumber(1000, 100_000).optional().describe('Packets of a window, on virtual testbeds.'),
}).refine(({ frameSize, frameSizes }) => frameSize === undefined || frameSizes === undefined, {
  path: ['frameSizes'],
  error: 'instead of `frameSize`, not beside it',
});

type WrittenTraffic = z.infer<typeof traffic>;

/** Linux variants change within a trial; FreeBSD boots between trials, which may end early; guests have no rate. */
const trafficDefaults: Record<Usual, Omit<Traffic, 'flows' | 'frameBytes'>> = {
  virtual: {
    warmUpSeconds: 0,
    settleSeconds: 0,
    measureSeconds: 2,
    measureAtLeastSeconds: 2,
    runsPerTrial: 2,
    windows: { count: 8, packets: 10_000 },
  },
  linux: {
    offeredPps: 3e6,
    warmUpSeconds: 0.5,
    settleSeconds: 0.005,
    measureSeconds: 0.03,
    measureAtLeastSeconds: Number.POSITIVE_INFINITY,
    runsPerTrial: 52,
  },
  freebsd: {
    warmUpSeconds: 0,
    settleSeconds: 4,
    measureSeconds: 60,
    measureAtLeastSeconds: 12,
    runsPerTrial: 1,
  },
};

function withDefaults(written: WrittenTraffic, kind: Usual): Traffic {
  const usual = trafficDefaults[kind];
  const measureSeconds = written.measure ?? usual.measureSeconds;
  const runsPerTrial = written.runsPerTrial ?? usual.runsPerTrial;
  const offeredPps = written.rate ?? usual.offeredPps;
  const packets = packetsOf(written);
  return {
    flows: written.flows,
    frameBytes: written.frameSizes?.[0] ?? frameBytesOf(written),
    warmUpSeconds: written.warmUp ?? usual.warmUpSeconds,
    settleSeconds: written.settle ?? usual.settleSeconds,
    measureSeconds,
    measureAtLeastSeconds: written.measureAtLeast ?? Math.min(usual.measureAtLeastSeconds, measureSeconds),
    runsPerTrial,
    ...(offeredPps !== undefined && { offeredPps }),
    ...(packets !== undefined && { packets }),
    ...(usual.windows !== undefined && {
      windows: {
        count: written.windows ?? usual.windows.count,
        packets: written.windowPackets ?? usual.windows.packets,
      },
    }),
  };
}

/** Limits the cells to one size, which replaces a mix. */
export function withFrameSize(config: Config, bytes: number): Config {
  const one = { ...config, frameSizes: [bytes] };
  const { packets, ...traffic } = config.traffic;
  if (packets?.sizes === undefined) return one;
  const kept = withoutMix(packets);
  return { ...one, traffic: { ...traffic, frameBytes: bytes, ...(kept && { packets: kept }) } };
}

const margin: QuantityLimit = {
  description: 'a percentage above 0% and up to 50%',
  holds: (value) => value > 0 && value <= 0.5,
};
const confidence: QuantityLimit = {
  description: 'one of 80%, 90%, 95%, 98%, 99%, 99.5%',
  holds: (value) => [0.8, 0.9, 0.95, 0.98, 0.99, 0.995].includes(value),
};

const errorRate: QuantityLimit = {
  description: 'a percentage from 0.01% to 20%',
  holds: (value) => value >= 0.0001 && value <= 0.2,
};
const power: QuantityLimit = {
  description: 'a percentage from 50% to 99.9%',
  holds: (value) => value >= 0.5 && value <= 0.999,
};

type WrittenGate = Omit<Gate, 'metric' | 'marginRatio'> & Partial<Gate>;

const gate = closed({
  metric: z
    .enum(metrics, { error: wrongName(metrics) })
    .optional()
    .describe(
      'The compared metric; left out, pps, and on virtual testbeds instructionsPerPacket, which only they count. nsPerPacket is steadier than pps on a shared machine.',
    ),
  margin: ratio(margin)
    .optional()
    .describe('The loss that matters: a smaller one is not a regression. Left out, 2 %, and on virtual testbeds 1 %.'),
  confidence: ratio(confidence)
    .optional()
    .describe('Confidence of the shown interval, equivalent to `power`; the stricter one counts.'),
  falseAlarms: ratio(errorRate)
    .prefault('1%')
    .describe('Largest share of harmless patches that may be called a regression.'),
  power: ratio(power).prefault('95%').describe('Smallest share of cells with a loss of the margin that are found.'),
  design: z
    .enum(designNames, { error: wrongName(designNames) })
    .optional()
    .describe('The default is group-sequential.'),
  maxRuns: wholeNumber(2, 10_000)
    .optional()
    .describe(
      'Most runs of each variant and cell; left out, five trials of runs, or 20 if each run has its own trial.',
    ),
  stopAtFirst: z
    .boolean({ error: expected('true or false') })
    .prefault(false)
    .describe('A cell with a regression ends the runs of all others.'),
}).transform(
  ({ metric, margin, falseAlarms, design, maxRuns, stopAtFirst, ...sureness }): WrittenGate => ({
    ...(metric !== undefined && { metric }),
    ...(margin !== undefined && { marginRatio: margin }),
    ...confidenceOf(sureness),
    falseAlarmRatio: falseAlarms,
    ...(design !== undefined && { design }),
    ...(maxRuns !== undefined && { maxRunsPerVariant: maxRuns }),
    ...(stopAtFirst && { stopsAtFirst: true }),
  }),
);

/**
 * The displayed interval also excludes a loss of the margin, so that no number contradicts its verdict: as in two
 * one-sided tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), each side omits the permitted
 * misses. Of confidence and power, the stricter one counts.
 */
function confidenceOf({ power, confidence = 0 }: { power: number; confidence?: number | undefined }) {
  const missRatio = exact(Math.min(1 - power, (1 - confidence) / 2));
  return { missRatio, confidenceRatio: exact(1 - 2 * missRatio) };
}

/** Rounds a decimal to the digits that were written. */
const exact = (ratio: number): number => Number(ratio.toPrecision(12));

const profile = closed({
  enabled: z.boolean({ error: expected('true or false') }).prefault(true),
  window: duration(between(0.5, 60)).optional().describe('Duration of sampling.'),
  event: text(/^\w[\w.,:=/@-]{0,199}$/, 'the name of an event like cpu_clk_unhalted.thread_p')
    .optional()
    .describe('The event, as pmcstat(8) or perf(1) names it; left out, CPU cycles.'),
});

/**
 * On Linux, perf samples more often; for mixed kinds its number suffices for both. It ends at whole seconds after its
 * start: 2 s would last three.
 */
export const usualProfileSeconds = (config: Pick<Config, 'testbeds'>): number =>
  usualKind(config) === 'freebsd' ? 10 : 1.8;

const likeAList = { error: expected('a list like [forwarding]') };

/** Known names depend on the testbeds, and on the site's own rules. */
const namedScenarios = z
  .array(z.string({ error: expected('the name of a scenario') }).meta({ examples: [...scenarios] }), likeAList)
  .min(1, 'expected at least one scenario, found an empty list')
  .refine((list) => new Set(list).size === list.length, 'a name is in this list twice');

const firewalls = ['pf', 'ipfw'] as const;

const ownRules = closed({
  firewall: z.enum(firewalls, { error: wrongName(firewalls) }),
  file: path.describe('A file of pf.conf(5), or of ipfw(8) commands without the word ipfw.'),
  keepsStates: z
    .boolean({ error: expected('true or false') })
    .prefault(false)
    .describe('A trial counts only if it leaves a state for each of its flows.'),
}).transform(({ file, ...rest }): OwnRulesFile => ({ ...rest, path: file }));

const selector = z
  .string({ error: expected('a selector like `mellanox and 40G`') })
  .superRefine((text, { addIssue }) => {
    const source = readSelector(text);
    if (source.kind === 'refused') addIssue(source.message);
  });

const selectors = z
  .array(selector, { error: expected('a list like [chelsio, mellanox]') })
  .min(1, 'expected at least one selector, found an empty list')
  .refine((list) => new Set(list.map(plainSelector)).size === list.length, {
    error: 'a selector is in this list twice',
  });

function plainSelector(text: string): string {
  const source = readSelector(text);
  return source.kind === 'read' ? selectorText(source.selector) : text;
}

export const configKeys = closed({
  overlay: overlaySchema
    .prefault(usualFolder)
    .describe(
      "A folder whose files are installed over the DUT's, or such files by their names. Paths begin at this file, or at the repository's top if this file is outside.",
    ),
  testbeds: testbeds.describe('Testbeds by their names.'),
  each: selectors
    .optional()
    .describe('A patch is judged on one testbed of each; left out, on the first of the testbeds.'),
  scenarios: namedScenarios.prefault(['forwarding']).describe('Every scenario is measured with every family.'),
  rules: z
    .record(scenarioSchema, ownRules, { error: expected('rules by the names of their scenarios') })
    .prefault({})
    .describe('Scenarios of your own for FreeBSD testbeds.'),
  families: listOf(families).prefault(['inet4']).describe('Every scenario is measured with every family.'),
  paths: pathsSchema.optional().describe('Files that can change a measurement, in addition to those known of FreeBSD.'),
  traffic: traffic.prefault({}).describe('Packets to send, and durations.'),
  gate: gate.prefault({}).describe('The compared metric and the error rates of a verdict.'),
  profile: profile.prefault({}).describe('Profiles of each variant.'),
  history: path
    .prefault('~/.local/state/ppsgate/history.jsonl')
    .describe('The file that stores the noise of testbeds and past gates.'),
  reservations: reservationsSchema
    .prefault({})
    .describe('The store of reservations, shared by all users of a testbed.'),
  github: githubSchema.prefault({}).describe('Approvals and reports on GitHub.'),
  trend: trendSchema.prefault({}).describe('Responses to a lasting change of the default branch.'),
  phabricator: phabricatorSchema.optional().describe('Approvals and reports on Phabricator or Phorge.'),
});

export const configSchema = configKeys.transform((written, context): Config => {
  const { overlay, traffic: writtenTraffic, gate: writtenGate, each, paths, phabricator, profile, ...rest } = written;
  const traffic = withDefaults(writtenTraffic, usualKind(written));
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });

  const stray = strayTraffic(writtenTraffic, usualKind(written));
  if (stray !== undefined) refuse(['traffic', stray.key], stray.message);
  const { measureAtLeast } = writtenTraffic;
  if (measureAtLeast !== undefined && traffic.runsPerTrial > 1) {
    refuse(
      ['traffic', 'measureAtLeast'],
      'only a run that has a trial of its own can end early; set `runsPerTrial: 1`',
    );
  } else if ((measureAtLeast ?? 0) > traffic.measureSeconds) {
    refuse(['traffic', 'measureAtLeast'], 'expected at most what `measure` allows');
  }
  for (const [index, scenario] of written.scenarios.entries()) {
    const known = scenariosIn(written);
    if (!known.includes(scenario)) refuse(['scenarios', index], wrongScenario(known)({ input: scenario }));
  }
  for (const name of Object.keys(written.rules)) {
    if (scenarios.includes(name)) refuse(['rules', name], 'ppsgate has a scenario of that name');
  }
  for (const name of Object.keys(paths?.byScenario ?? {})) {
    const known = scenariosIn(written);
    if (!known.includes(name)) refuse(['paths', 'byScenario', name], wrongScenario(known)({ input: name }));
  }
  for (const [name, testbed] of Object.entries(written.testbeds)) {
    if (testbed.kind !== 'freebsd') continue;
    for (const { path, message } of lacksAddresses(testbed, written.families)) {
      refuse(['testbeds', name, ...path], message);
    }
  }
  const { frameSizes } = writtenTraffic;
  const { addresses } = traffic.packets ?? {};
  for (const family of families) {
    if (addresses?.[family] === undefined) continue;
    const why = whyTooFewAddresses(traffic.flows, family, addresses);
    if (why !== undefined) refuse(['traffic', 'addresses', family], why);
  }
  return {
    ...rest,
    overlay,
    traffic,
    gate: wholeGate(writtenGate, written),
    ...(profile.enabled && {
      profile: {
        seconds: profile.window ?? usualProfileSeconds(written),
        ...(profile.event !== undefined && { event: profile.event }),
      },
    }),
    ...(frameSizes !== undefined && { frameSizes }),
    ...(each !== undefined && { each }),
    ...(paths !== undefined && { paths }),
    ...(phabricator !== undefined && { phabricator }),
  };
}) satisfies z.ZodType<Config>;

export const scenariosIn = ({ testbeds, rules }: Pick<Config, 'testbeds' | 'rules'>): Scenario[] => [
  ...new Set(Object.values(testbeds).flatMap((one) => carriedBy(systemOfKind(one), rules))),
];

/** Comments list scenarios and families together, so users confuse them elsewhere too. */
export const wrongScenario =
  (known: readonly Scenario[]) =>
  ({ input }: { input?: unknown }): string => {
    const message = wrongName(known)({ input });
    const isText = typeof input === 'string' && !message.endsWith('?');
    const [family] = isText ? meantBy(input, families) : [];
    return family === undefined ? message : `${message}; did you mean the family \`${family}\`?`;
  };

const carriedBy = (system: OperatingSystem, rules: Config['rules']): Scenario[] => [
  ...scenariosOf[system],
  ...(system === 'freebsd' ? Object.keys(rules) : []),
];

/** Returns the kind that sets the defaults: FreeBSD or virtual machines only if there is no other. */
function usualKind({ testbeds }: Pick<Config, 'testbeds'>): Usual {
  const all = Object.values(testbeds);
  const usual = (['freebsd', 'virtual'] as const).find((kind) => all.every((one) => one.kind === kind));
  return usual ?? 'linux';
}

type Usual = OperatingSystem | 'virtual';

function strayTraffic(written: WrittenTraffic, kind: Usual): { key: string; message: string } | undefined {
  const strays = kind === 'virtual' ? ofTime : ofPackets;
  const key = strays.find((name) => written[name] !== undefined);
  if (key === undefined) return undefined;
  const message =
    kind === 'virtual'
      ? 'virtual testbeds send a fixed number of packets instead of measuring for a time: set `windows` and `windowPackets`'
      : 'only virtual testbeds send a fixed number of packets: set `measure`';
  return { key, message };
}

const ofTime = ['rate', 'warmUp', 'settle', 'measure', 'measureAtLeast'] as const;
const ofPackets = ['windows', 'windowPackets'] as const;

/** Fills in the metric: a guest's instructions vary by a few thousandths. With KVM, its time is used instead. */
export function wholeGate(written: WrittenGate, config?: Pick<Config, 'testbeds'>): Gate {
  const usual = { metric: 'pps', marginRatio: 0.02 } as const;
  if (config === undefined || usualKind(config) !== 'virtual') return { ...usual, ...written };
  const isCounted = Object.values(config.testbeds).every(countsInstructions);
  return isCounted
    ? { metric: 'instructionsPerPacket', marginRatio: 0.01, ...written }
    : { ...usual, metric: 'nsPerPacket', ...written };
}

const countsInstructions = (testbed: TestbedConfig): boolean =>
  testbed.kind === 'virtual' && testbed.accelerator === 'tcg';

/** True for a testbed that ppsgate creates here; no other program reaches its machines. */
export const isOnThisMachine = (testbed: TestbedConfig | undefined): testbed is EmbeddedTestbed | VirtualTestbed =>
  testbed?.kind === 'embedded-linux' || testbed?.kind === 'virtual';

const systemOfKind = (testbed: TestbedConfig): OperatingSystem => {
  if (testbed.kind === 'virtual') return testbed.system;
  return testbed.kind === 'freebsd' ? 'freebsd' : 'linux';
};

/** Undefined for a testbed that the configuration does not have. */
export function testbedKindOf({ testbeds }: Pick<Config, 'testbeds'>, name: string): TestbedKind | undefined {
  const testbed = testbeds[name];
  return testbed?.kind === 'virtual' ? `virtual-${testbed.system}` : testbed?.kind;
}

export function systemOf(config: Config, name: string): OperatingSystem {
  const testbed = config.testbeds[name];
  return testbed === undefined ? 'linux' : systemOfKind(testbed);
}

/** Returns a reason in one sentence. Called only for the chosen testbed, as others may be fit. */
export function whyUnfit(config: Config, name: string): string | undefined {
  const testbed = config.testbeds[name];
  const system = systemOf(config, name);
  const carried = carriedBy(system, config.rules);
  const stranger = config.scenarios.find((scenario) => !carried.includes(scenario));
  if (stranger !== undefined) {
    return `\`scenarios\` on ${name}: ${sentence(wrongScenario(carried)({ input: stranger }))}`;
  }
  if (testbed?.kind === 'virtual' && config.traffic.windows === undefined) {
    return `${name} sends a fixed number of packets, while the other testbeds of this configuration measure for a time: give virtual testbeds a separate ppsgate.yml.`;
  }
  const isCounted = config.gate.metric === 'instructionsPerPacket';
  if (isCounted && testbed !== undefined && !countsInstructions(testbed)) {
    return `${name} counts no instructionsPerPacket, unlike virtual testbeds with \`accelerator: tcg\`: judge it by pps or nsPerPacket.`;
  }
  const { flows, packets } = config.traffic;
  const unrouted = system === 'freebsd' ? whyNotRouted(packets) : undefined;
  if (unrouted !== undefined) return `${name} ${unrouted.why}: ${unrouted.fix}.`;
  if (testbed?.kind !== 'freebsd') return undefined;
  if (config.traffic.runsPerTrial !== 1) {
    return `${name} boots its variants, so each run has its own trial: set \`traffic.runsPerTrial: 1\`, and \`measure: 60 s\` or so.`;
  }
  if (config.traffic.measureSeconds < 6) {
    return `${name} is sampled once per second, and a run of ${config.traffic.measureSeconds} s has too few samples: set \`traffic.measure: 60 s\` or so.`;
  }
  if (config.gate.metric !== 'pps') {
    return `${name} measures no ${config.gate.metric}: judge it by pps.`;
  }
  const unsent = whyNotSent(packets);
  if (unsent !== undefined) return `${name} ${unsent.why}: ${unsent.fix}.`;
  const refused = config.families
    .map((family) => flowRanges(flows, family, testbed.senders.length, packets?.addresses))
    .find((split) => split.kind === 'refused');
  return refused?.message ?? lacksAddresses(testbed, config.families)[0]?.message;
}

function between(minSeconds: number, maxSeconds: number): QuantityLimit {
  return {
    description: `a duration from ${minSeconds} s to ${maxSeconds} s`,
    holds: (value) => value >= minSeconds && value <= maxSeconds,
  };
}

function wrongTestbed({ code, input }: z.core.$ZodRawIssue): string {
  if (code !== 'invalid_union') return expected('keys and values')({ input });
  return wrongName(['embedded-linux', 'linux', 'freebsd', 'virtual'])({
    input: (input as { kind?: unknown }).kind,
  });
}

function wrongTestbeds({ code, input }: z.core.$ZodRawIssue): string {
  return code === 'invalid_key'
    ? 'expected a name of up to 63 letters, digits, dots, dashes and underscores'
    : expected('testbeds by their names')({ input });
}
