// Parses a FreeBSD testbed of ppsgate.yml: its machines and ports.
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';
import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { netmapPort } from '../model/freebsd-port.ts';
import { isForwardingPathSetting, waivableSettings } from '../model/freebsd-waivable.ts';
import type { Family } from '../model/scenario.ts';
import { duration, expected, type QuantityLimit } from '../model/units.ts';
import { type BuilderConfig, builderSchema } from './builder.ts';
import { capabilityKeys, speed, type WithCapabilities, withCapabilities } from './capabilities.ts';
import { type ConsoleConfig, consoleSchema } from './console.ts';
import { didYouMean } from './did-you-mean.ts';
import { closed, type HostConfig, ssh, text, wholeNumber, withHost, wrongName } from './fields.ts';
import { type PowerConfig, powerSchema } from './power.ts';

export type FreebsdTestbed = WithCapabilities & {
  kind: 'freebsd';
  dut: FreebsdDutConfig;
  senders: SenderConfig[];
  receiver: GeneratorConfig;
  /** Absent: only prebuilt kernels can be measured. */
  builder?: BuilderConfig;
  preflight: (typeof preflights)[number];
  /** Settings of the DUT that are accepted as they are, each with its reason. */
  waive?: Readonly<Record<string, string>>;
};

type FreebsdDutConfig = HostConfig & {
  ingress: DutPortConfig;
  egress: DutPortConfig;
  boot: {
    method: (typeof bootMethods)[number];
    /** From the reboot command until the DUT is up. */
    limitSeconds: number;
  };
  /** Absent: a DUT that hangs stays lost. */
  power?: PowerConfig;
  console?: ConsoleConfig;
};

export type DutPortConfig = {
  interface: string;
  /** Required link speed; absent: any. */
  gigabits?: number;
  /** Required number of receive and of send queues; absent: any. */
  queues?: number;
};

export type GeneratorConfig = HostConfig & {
  /** Wired to the DUT, named as in ifconfig(8); see `netmapPort`. */
  interface: string;
  /** MAC address of its netmap port, in lower case. */
  mac: string;
  /** In the form of ifconfig(8). */
  addresses: Partial<Record<Family, string>>;
  /** pkt-gen threads, one netmap ring each. */
  threads: number;
};

export type SenderConfig = GeneratorConfig & {
  /** Ports of this machine and the receiver that are connected without the DUT. */
  backToBack?: { from: string; to: string };
};

const bootMethods = ['nextboot', 'nanobsd', 'boot-environment'] as const;
const preflights = ['warn', 'fix', 'fail'] as const;

/** Interface names of FreeBSD's Ethernet drivers on usual test benches, see section 4 of its manual. */
const usualDrivers = [
  'cxl',
  'cc',
  'che',
  'cxgbe',
  'mce',
  'mlxen',
  'ix',
  'ixl',
  'ice',
  'igb',
  'igc',
  'em',
  'bnxt',
  'vtnet',
  'vmx',
  're',
  'bge',
  'ena',
  'iavf',
  'ixlv',
  'ixv',
  'ql',
  'mxge',
];

const otherDrivers = [
  'ae',
  'age',
  'al',
  'alc',
  'ale',
  'aq',
  'atse',
  'awg',
  'ax',
  'axp',
  'bce',
  'bfe',
  'bxe',
  'cas',
  'ccv',
  'cgem',
  'cpsw',
  'cxgb',
  'cxgbev',
  'cxlv',
  'dc',
  'dpni',
  'dtsec',
  'dwc',
  'enetc',
  'enic',
  'eqos',
  'et',
  'ffec',
  'fxp',
  'gem',
  'genet',
  'gve',
  'hn',
  'jme',
  'lem',
  'lge',
  'lio',
  'mgb',
  'mge',
  'msk',
  'mvneta',
  'nf10bmac',
  'nfe',
  'nge',
  'oce',
  'ptnet',
  'rge',
  'rl',
  'sfxge',
  'sge',
  'sis',
  'sk',
  'ste',
  'stge',
  'sume',
  'ti',
  'tsec',
  'ue',
  'vge',
  'vr',
  'vte',
  'xl',
  'xn',
];

const drivers = new Set([...usualDrivers, ...otherDrivers]);

const expectedPort = expected('an Ethernet port of FreeBSD like cxl0 or mce1');

const port = z
  .string({ error: expectedPort })
  .superRefine((name, { addIssue }) => {
    const [, driver, unit] = /^(.*\D)(\d{1,4})$/.exec(name) ?? [];
    if (driver !== undefined && drivers.has(driver)) return;
    addIssue(wrongPort(name, driver, unit));
  })
  .meta({ title: 'an Ethernet port of FreeBSD like cxl0 or mce1' });

function wrongPort(name: string, driver?: string, unit?: string): string {
  const plain = name.replace(/^v/, '');
  if (netmapPort(plain) === name && plain !== name) {
    return `expected the port itself, \`${plain}\`: the generator opens \`${name}\` automatically`;
  }
  const nearest = driver === undefined ? undefined : nearestDriver(driver);
  const hint = nearest === undefined ? '' : `; did you mean \`${nearest}${unit}\`?`;
  return expectedPort({ input: name }) + hint;
}

function nearestDriver(driver: string): string | undefined {
  const sorted = (word: string) => [...word.toLowerCase()].sort().join('');
  return (
    usualDrivers.find((known) => sorted(known) === sorted(driver)) ??
    usualDrivers.find((known) => distance(known, driver) === 1 && driver.length > 2)
  );
}

const dutPort = closed({
  interface: port,
  speed: speed.optional().describe('The required link speed; left out, any.'),
  queues: wholeNumber(1, 128)
    .optional()
    .describe('The required number of receive queues, and of send queues; left out, any.'),
}).transform(
  ({ interface: name, speed, queues }): DutPortConfig => ({
    interface: name,
    ...(speed !== undefined && { gigabits: speed }),
    ...(queues !== undefined && { queues }),
  }),
);

const bootLimit: QuantityLimit = {
  description: 'a duration from 1 min to 60 min',
  holds: (seconds) => seconds >= 60 && seconds <= 3600,
};

const boot = closed({
  method: z
    .enum(bootMethods, { error: wrongName(bootMethods) })
    .prefault('nextboot')
    .describe('The method that boots a kernel once.'),
  limit: duration(bootLimit).prefault('10 min').describe('Longest time from the order to reboot until the DUT is up.'),
}).transform(({ method, limit }) => ({ method, limitSeconds: limit }));

const dut = closed({
  ...ssh,
  ingress: dutPort.describe('The port that receives packets from the senders.'),
  egress: dutPort.describe('The port that sends packets to the receiver.'),
  boot: boot.prefault({}),
  power: powerSchema.optional().describe("The DUT's power control; without it a DUT that hangs stays lost."),
  console: consoleSchema.optional().describe("The DUT's console; without it a failed boot usually has no reason."),
})
  .transform(withHost)
  .transform(
    ({ power, console, ...rest }): FreebsdDutConfig => ({
      ...rest,
      ...(power !== undefined && { power }),
      ...(console !== undefined && { console }),
    }),
  );

const mac = text(/^(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'a MAC address like "00:07:43:2e:e5:92"')
  .transform((written) => written.toLowerCase())
  .refine((written) => written !== '00:00:00:00:00:00', {
    error: "expected the port's own MAC address, found only zeros",
  })
  .refine((written) => Number.parseInt(written.slice(0, 2), 16) % 2 === 0, {
    error: "expected the port's own MAC address, found one of a group: its first byte is odd",
  });

type GeneratorRole = 'sender' | 'receiver';

/** The networks of freebsd-ports.ts, with an example like those of published benches. */
const networks: Record<GeneratorRole, Record<Family, { prefix: string; bits: number; example: string }>> = {
  sender: {
    inet4: { prefix: '198.18.0.0', bits: 16, example: '198.18.0.110' },
    inet6: { prefix: '2001:2::', bits: 49, example: '2001:2::110' },
  },
  receiver: {
    inet4: { prefix: '198.19.0.0', bits: 16, example: '198.19.0.110' },
    inet6: { prefix: '2001:2:0:8000::', bits: 49, example: '2001:2:0:8000::110' },
  },
};

function addressOf(role: GeneratorRole, family: Family) {
  const { prefix, bits, example } = networks[role][family];
  const version = family === 'inet4' ? 'ipv4' : 'ipv6';
  const network = new BlockList();
  network.addSubnet(prefix, bits, version);

  const error = expected(`an address of ${family} like "${example}"`);
  return z
    .string({ error })
    .refine(isOf[family], { error, abort: true })
    .refine((written) => network.check(written, version), {
      error: expected(`an address of ${prefix}/${bits}, the ${role}'s network`),
    })
    .transform((written) => new SocketAddress({ address: written, family: version }).address);
}

const isOf: Record<Family, (written: string) => boolean> = {
  inet4: isIPv4,
  inet6: (written) => isIPv6(written) && !written.includes('%'),
};

const generatorKeys = (role: GeneratorRole) => ({
  ...ssh,
  interface: port.describe('The port that is wired to the DUT.'),
  mac: mac.describe('The MAC address of the port that pkt-gen opens, like vcxl0.'),
  inet4: addressOf(role, 'inet4').optional(),
  inet6: addressOf(role, 'inet6').optional(),
  threads: wholeNumber(1, 128).prefault(1).describe('Threads of pkt-gen, one per netmap ring.'),
});

function withAddresses<Written extends Partial<Record<Family, string | undefined>>>({
  inet4,
  inet6,
  ...rest
}: Written) {
  return {
    ...rest,
    addresses: {
      ...(inet4 !== undefined && { inet4 }),
      ...(inet6 !== undefined && { inet6 }),
    },
  };
}

const backToBack = closed({
  from: port.describe('A port of this machine.'),
  to: port.describe("A port of the receiver's machine."),
});

const sender = closed({
  ...generatorKeys('sender'),
  backToBack: backToBack
    .optional()
    .describe('Ports that a cable or a switch joins without the DUT; left out, there are none.'),
})
  .transform(withHost)
  .transform(withAddresses)
  .transform(
    ({ backToBack, ...rest }): SenderConfig => ({
      ...rest,
      ...(backToBack !== undefined && { backToBack }),
    }),
  );

const receiver = closed(generatorKeys('receiver'))
  .transform(withHost)
  .transform((written): GeneratorConfig => withAddresses(written));

const oneToFour = 'expected a list of 1 to 4 senders';

/** Single line, repeated in the report. */
const reason = text(/^(?=.*\S)\P{Cc}{1,200}$/u, 'a reason of one line, at most 200 letters');

/** Parses `kind: freebsd`; paths stay as written. */
export const freebsdTestbedSchema = closed({
  kind: z.literal('freebsd'),
  dut: dut.describe('The router that is measured.'),
  senders: z
    .array(sender, { error: expected('a list of 1 to 4 senders') })
    .min(1, `${oneToFour}, found none`)
    .max(4, `${oneToFour}, found more`)
    .describe('Machines that send at the same time.'),
  receiver,
  builder: builderSchema
    .optional()
    .describe('The machine that builds kernels; without it only given kernels are measured.'),
  preflight: z
    .enum(preflights, { error: wrongName(preflights) })
    .prefault('warn')
    .describe('The response to a wrong setting of the DUT.'),
  waive: z
    .record(z.string(), reason, { error: expected('reasons by the names of settings') })
    .optional()
    .describe('Wrong settings that are accepted, each with a reason for the report.'),
  ...capabilityKeys,
})
  .transform(withCapabilities)
  .transform(
    ({ builder, waive, ...rest }): FreebsdTestbed => ({
      ...rest,
      ...(builder !== undefined && { builder }),
      ...(waive !== undefined && { waive }),
    }),
  )
  .superRefine((testbed, { addIssue }) => {
    const problems = [...doubles(testbed), ...wrongWaivers(testbed)];
    for (const { path, message } of problems) addIssue({ code: 'custom', path, message });
  }) satisfies z.ZodType<FreebsdTestbed>;

/** `path` starts at the testbed, in terms of ppsgate.yml. */
type TestbedProblem = { path: (string | number)[]; message: string };

export function lacksAddresses(testbed: FreebsdTestbed, families: readonly Family[]): TestbedProblem[] {
  return placesOf(testbed).flatMap(({ generator, role, path }) =>
    families
      .filter((family) => generator.addresses[family] === undefined)
      .map((family) => ({
        path: [...path, family],
        message: `missing; \`families\` asks for ${family}, so this ${role} needs an address like "${networks[role][family].example}"`,
      })),
  );
}

type GeneratorEntry = {
  generator: GeneratorConfig;
  role: GeneratorRole;
  path: (string | number)[];
  name: string;
};

const placesOf = ({ senders, receiver }: FreebsdTestbed): GeneratorEntry[] => [
  ...senders.map(
    (generator, index): GeneratorEntry => ({
      generator,
      role: 'sender',
      path: ['senders', index],
      name: `senders[${index}]`,
    }),
  ),
  { generator: receiver, role: 'receiver', path: ['receiver'], name: 'receiver' },
];

/** Rejects unknown names, which would waive nothing, and settings of the packets' path, which must hold. */
function wrongWaivers({ dut, waive = {} }: FreebsdTestbed): TestbedProblem[] {
  const known = waivableSettings([dut.ingress.interface, dut.egress.interface]);
  const problem = (name: string) =>
    isForwardingPathSetting(name)
      ? 'cannot be waived: without it a trial could leave by the admin network, or not leave at all'
      : `unknown setting${didYouMean(name, known) || `; known here: ${known.join(', ')}`}`;
  return Object.keys(waive)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: ['waive', name], message: problem(name) }));
}

/** Reports ports that share an address, a MAC or a machine's port. */
function doubles(testbed: FreebsdTestbed): TestbedProblem[] {
  const { dut } = testbed;
  const places = placesOf(testbed);
  const samePort: TestbedProblem = {
    path: ['dut', 'egress', 'interface'],
    message: `${dut.egress.interface} is the ingress already; expected the port that is wired to the receiver`,
  };
  return [
    ...(dut.ingress.interface === dut.egress.interface ? [samePort] : []),
    ...places
      .filter(({ generator }) => machineOf(generator) === machineOf(dut))
      .map(({ role, path }) => ({
        path: [...path, 'host'],
        message: `${dut.host} is the DUT; expected another machine as the ${role}`,
      })),
    ...joinedToThemselves(testbed),
    ...places.flatMap((place, index) => places.slice(0, index).flatMap((earlier) => sharedBy(earlier, place))),
  ];
}

const joinedToThemselves = ({ senders, receiver }: FreebsdTestbed): TestbedProblem[] =>
  senders.flatMap((sender, index) => {
    const { from, to } = sender.backToBack ?? {};
    if (to === undefined || from !== to || machineOf(sender) !== machineOf(receiver)) return [];
    const message = `${to} is the other end already; expected another port of that machine`;
    return { path: ['senders', index, 'backToBack', 'to'], message };
  });

function sharedBy(earlier: GeneratorEntry, { generator, path }: GeneratorEntry): TestbedProblem[] {
  const other = earlier.generator;
  const shared = (key: string, value: string | undefined): TestbedProblem => ({
    path: [...path, key],
    message: `${earlier.name} has ${value} already; expected that of another port`,
  });
  const isSamePort = machineOf(generator) === machineOf(other) && generator.interface === other.interface;
  const { inet4, inet6 } = generator.addresses;
  return [
    ...(isSamePort ? [shared('interface', generator.interface)] : []),
    ...(generator.mac === other.mac ? [shared('mac', generator.mac)] : []),
    ...(inet4 !== undefined && inet4 === other.addresses.inet4 ? [shared('inet4', inet4)] : []),
    ...(inet6 !== undefined && inet6 === other.addresses.inet6 ? [shared('inet6', inet6)] : []),
  ];
}

const machineOf = ({ host, port }: HostConfig): string => `${host.toLowerCase()} ${port}`;
