// The format of ppsgate.yml: what may be written, what holds where it is left out, and the plain data it becomes.
import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { type Family, families, type Scenario, scenarios } from '../scenario/scenario.ts';
import { duration, excerpt, expected, type Limit, rate, ratio, size } from './units.ts';

export type Config = {
  /** Folder whose files are laid over the DUT's. */
  overlay: string;
  /** By name; at least one. */
  testbeds: Record<string, Testbed>;
  scenarios: Scenario[];
  families: Family[];
  traffic: Traffic;
  gate: Gate;
};

export type Testbed = { kind: 'embedded-linux' } | LinuxTestbed;

export type LinuxTestbed = {
  kind: 'linux';
  sender: Host & { interface: string; cpu: number };
  /** `cpu` is where packets are forwarded. */
  dut: Host & { ingress: string; egress: string; cpu: number };
  receiver: Host & { interface: string };
};

export type Host = {
  /** Name or address. */
  host: string;
  port: number;
  user: string;
  /** Absent: the ssh agent is asked. */
  privateKeyPath?: string;
  knownHostsPath: string;
};

export type Traffic = {
  /** Source × destination addresses. */
  flows: number;
  /** With the 4 bytes of CRC; see `frameBytesFor`. */
  frameBytes: number;
  offeredPps: number;
  warmUpSeconds: number;
  /** Between laying a variant and measuring its run. */
  settleSeconds: number;
  /** One run. */
  measureSeconds: number;
  runsPerBlast: number;
};

export type Gate = {
  metric: 'pps' | 'nsPerPacket';
  /** The loss that matters. */
  marginRatio: number;
  /** One of ministat(1)'s: 0.8, 0.9, 0.95, 0.98, 0.99, 0.995. */
  confidenceRatio: number;
  /** Per variant and cell. */
  runsPerVariant: number;
};

/** Bytes of a frame of one family: the size asked for, or the smallest that holds the family's headers and a CRC. */
export const frameBytesFor = (traffic: Traffic, family: Family): number =>
  Math.max(traffic.frameBytes, smallestFrameBytes[family]);

// Ethernet's own minimum, the first of RFC 2544's sizes (9.1); Ethernet 14, IPv6 40, UDP 8 and CRC 4.
const smallestFrameBytes: Record<Family, number> = { inet4: 64, inet6: 66 };

const path = text(/^(?!~[^/])\P{Cc}+$/u, 'a path (of home folders only ~/ is known)');
const interfaceName = text(/^[a-z0-9][\w.-]{0,14}$/i, 'the name of a network interface like eth0');
const cpu = wholeNumber(0, 8191);

// A name or IPv4 address has no colon and an IPv6 address at least two, so `name:22` is neither.
const hostName = /^(?:[a-z0-9][\w.-]{0,252}|(?=.*:.*:)[0-9a-f:.]{2,45}(?:%[\w.-]{1,15})?)$/i;

const ssh = {
  host: text(hostName, 'a host name or an address, without user or port'),
  port: wholeNumber(1, 65535).prefault(22),
  user: text(/^[a-z_][\w.-]{0,31}$/i, 'a user name').prefault('root'),
  key: path.optional(),
  knownHosts: path.prefault('~/.ssh/known_hosts'),
};

const linuxTestbed = closed({
  kind: z.literal('linux'),
  sender: closed({ ...ssh, interface: interfaceName, cpu }).transform(withHost),
  dut: closed({ ...ssh, ingress: interfaceName, egress: interfaceName, cpu }).transform(withHost),
  receiver: closed({ ...ssh, interface: interfaceName }).transform(withHost),
});

const testbed = z.discriminatedUnion(
  'kind',
  [closed({ kind: z.literal('embedded-linux') }), linuxTestbed],
  { error: wrongTestbed },
);

const testbedName = z.string().regex(/^[a-z0-9][\w.-]{0,62}$/i);

const testbeds = z
  .record(testbedName, testbed, { error: wrongTestbeds })
  .refine((byName) => Object.keys(byName).length > 0, 'expected at least one testbed, found none');

const traffic = closed({
  flows: wholeNumber(1, 65536).prefault(2000),
  frameSize: size(whole(64, 1518, 'bytes')).prefault('64 bytes'),
  rate: rate(whole(1, 1e9, 'pps')).prefault('3 Mpps'),
  warmUp: duration(between(0, 600)).prefault('500 ms'),
  settle: duration(between(0, 60)).prefault('5 ms'),
  measure: duration(between(0.01, 600)).prefault('30 ms'),
  runsPerBlast: wholeNumber(4, 1000, 4).prefault(52),
}).transform(
  ({ flows, frameSize, rate, warmUp, settle, measure, runsPerBlast }): Traffic => ({
    flows,
    frameBytes: frameSize,
    offeredPps: rate,
    warmUpSeconds: warmUp,
    settleSeconds: settle,
    measureSeconds: measure,
    runsPerBlast,
  }),
);

const metrics = ['pps', 'nsPerPacket'] as const;

const margin: Limit = {
  says: 'a percentage above 0% and up to 50%',
  holds: (value) => value > 0 && value <= 0.5,
};
const confidence: Limit = {
  says: 'one of 80%, 90%, 95%, 98%, 99%, 99.5%',
  holds: (value) => [0.8, 0.9, 0.95, 0.98, 0.99, 0.995].includes(value),
};

const gate = closed({
  metric: z.enum(metrics, { error: wrongName(metrics) }).prefault('pps'),
  margin: ratio(margin).prefault('2%'),
  confidence: ratio(confidence).prefault('95%'),
  // With fewer than ten pairs not even 99.5 % is possible, see stats/interval.ts.
  runs: wholeNumber(10, 10_000, 2).prefault(100),
}).transform(
  ({ metric, margin, confidence, runs }): Gate => ({
    metric,
    marginRatio: margin,
    confidenceRatio: confidence,
    runsPerVariant: runs,
  }),
);

/** Parses what YAML made of ppsgate.yml; paths stay as written. */
export const configSchema = closed({
  overlay: path.prefault('dut'),
  testbeds,
  scenarios: listOf(scenarios).prefault(['forwarding']),
  families: listOf(families).prefault(['inet4']),
  traffic: traffic.prefault({}),
  gate: gate.prefault({}),
}) satisfies z.ZodType<Config>;

/**
 * An object that has these keys and no others.
 * Unlike `z.strictObject` it makes one issue of each unknown key, with the key in its path, so that each has its line.
 */
function closed<Shape extends z.core.$ZodShape>(shape: Shape) {
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => unknownKey(String(path?.at(-1)), Object.keys(shape)),
  });
  const object: unknown = z.object(shape, { error: expected('keys and values') }).catchall(unknown);
  // What always fails adds nothing to the type of what is parsed.
  return object as z.ZodObject<Shape, z.core.$strict>;
}

function unknownKey(key: string, known: readonly string[]): string {
  const hint = didYouMean(key, known) || `; known here: ${known.join(', ')}`;
  return `unknown key \`${excerpt(key)}\`${hint}`;
}

function text(pattern: RegExp, what: string) {
  return z.string({ error: expected(what) }).regex(pattern, { error: expected(what) });
}

function wholeNumber(least: number, most: number, multipleOf = 1) {
  const error = expected(
    multipleOf === 1
      ? `a whole number from ${least} to ${most}`
      : `a multiple of ${multipleOf} from ${least} to ${most}`,
  );
  const limit = whole(least, most, '');
  return z
    .number({ error })
    .refine((value) => limit.holds(value) && value % multipleOf === 0, { error });
}

function whole(least: number, most: number, unit: string): Limit {
  return {
    says: `a whole number of ${unit} from ${least} to ${most}`,
    holds: (value) => Number.isInteger(value) && value >= least && value <= most,
  };
}

function between(leastSeconds: number, mostSeconds: number): Limit {
  return {
    says: `a duration from ${leastSeconds} s to ${mostSeconds} s`,
    holds: (value) => value >= leastSeconds && value <= mostSeconds,
  };
}

function listOf<const Name extends string>(names: readonly Name[]) {
  return z
    .array(z.enum(names, { error: wrongName(names) }), {
      error: expected(`a list like [${names[0]}]`),
    })
    .min(1, `expected at least one of ${names.join(', ')}, found an empty list`)
    .refine((list) => new Set(list).size === list.length, 'a name is in this list twice');
}

function wrongName(names: readonly string[]) {
  return ({ input }: { input?: unknown }): string => {
    const message = expected(`one of ${names.join(', ')}`)({ input });
    return typeof input === 'string' ? message + didYouMean(input, names) : message;
  };
}

function wrongTestbed({ code, input }: z.core.$ZodRawIssue): string {
  if (code !== 'invalid_union') return expected('keys and values')({ input });
  return wrongName(['embedded-linux', 'linux'])({ input: (input as { kind?: unknown }).kind });
}

function wrongTestbeds({ code, input }: z.core.$ZodRawIssue): string {
  return code === 'invalid_key'
    ? 'expected a name of up to 63 letters, digits, dots, dashes and underscores'
    : expected('testbeds by their names')({ input });
}

/** The nearest name if it is a slip away: up to a third of its letters, however they are cased and joined. */
function didYouMean(word: string, names: readonly string[]): string {
  const plain = (name: string) => name.toLowerCase().replace(/[-_ ]/g, '');
  const [nearest] = names
    .map((name) => ({ name, edits: distance(plain(word), plain(name)) }))
    .filter(({ name, edits }) => edits <= Math.ceil(name.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest === undefined ? '' : `; did you mean \`${nearest.name}\`?`;
}

type WrittenHost = {
  host: string;
  port: number;
  user: string;
  key?: string | undefined;
  knownHosts: string;
};

/** The keys of ssh as a Host, beside what else is known of the machine. */
function withHost<Machine extends WrittenHost>({ key, knownHosts, ...rest }: Machine) {
  return {
    ...rest,
    knownHostsPath: knownHosts,
    ...(key !== undefined && { privateKeyPath: key }),
  };
}
