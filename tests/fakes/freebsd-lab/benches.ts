// Sets up the four testbeds of docs/lab as fake labs, from those pages alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FreebsdTestbed, GeneratorConfig } from '../../../src/config/freebsd-testbed.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { temporaryFolder } from '../folder.ts';
import { hostOf, labConsole } from '../freebsd-testbed.ts';
import type { CablingOptions } from './cabling.ts';
import type { CardName } from './cards.ts';
import { makeFolder, writeFile } from './file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from './lab.ts';
import type { Machine } from './machine.ts';
import type { Files } from './machines.ts';

export type BenchName = keyof typeof hardware;

export type Bench = {
  lab: FreebsdLab;
  /** Its ppsgate.yml without logins, power and console, which the fake lab supplies; has no builder. */
  testbed: FreebsdTestbed;
  config: Config;
};

/** Cards and cabling, which no page contains. */
const hardware = {
  'rcc-ve-i350': {
    cpu: ['Intel(R) Atom(TM) CPU  C2558  @ 2.40GHz', '4'],
    forwards: 0.78e6,
    cabling: { mediaBits: 1e9 },
    ports: [
      ['I350', 'igb2', 'I350', 'igb2'],
      ['I350', 'igb3', 'I350', 'igb3'],
    ],
  },
  'two-senders-40g': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', '16'],
    forwards: 30e6,
    sends: 25e6,
    cabling: { senders: 2, generators: 'two', isSwitched: true, mediaBits: 40e9 },
    ports: [
      ['T580-LP-CR', 'cxl0', 'T580-LP-CR', 'cxl0'],
      ['T580-LP-CR', 'cxl0', 'T580-LP-CR', 'cxl2'],
      ['T580-LP-CR', 'cxl1', 'T580-LP-CR', 'cxl0'],
    ],
  },
  'xeon-t540': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2650 0 @ 2.60GHz', '8'],
    forwards: 5e6,
    cabling: {},
    ports: [
      ['T540-CR', 'cxl0', 'T540-CR', 'cxl0'],
      ['T540-CR', 'cxl1', 'T540-CR', 'cxl1'],
    ],
  },
  'xeon-t580-connectx4': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', '32'],
    forwards: 26.8e6,
    sends: 42.5e6,
    cabling: { generators: 'two', mediaBits: 40e9 },
    ports: [
      ['T580-LP-CR', 'cxl0', 'T580-LP-CR', 'cxl0'],
      ['ConnectX-4', 'mce0', 'T580-LP-CR', 'cxl0'],
    ],
  },
} as const satisfies Record<string, Hardware>;

type Hardware = {
  /** hw.model, and hw.ncpu as set by the page's loader.conf. */
  cpu: readonly [string, string];
  /** In packets per second. */
  forwards: number;
  /** Rate of each sender, if it is not its port's speed. */
  sends?: number;
  cabling: Partial<CablingOptions>;
  /** Ports of the DUT, each with that at the other end of its cable. */
  ports: readonly (readonly [card: CardName, name: string, farCard: CardName, farName: string])[];
};

export const benches = Object.keys(hardware) as BenchName[];

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'lab');

export function configOf(name: BenchName): { config: Config; testbed: FreebsdTestbed } {
  const path = join(folder, `${name}.yml`);
  const config = parseConfig(readFileSync(path, 'utf8'), { path, home: '/home/me' });
  const [testbed] = Object.values(config.testbeds);
  if (testbed?.kind !== 'freebsd') throw new TypeError(`${name} has no FreeBSD testbed.`);
  return { config, testbed };
}

/** Blocks of a page, one per file, by path; for example below `## The DUT`. */
export function filesOf(name: BenchName): Readonly<Record<string, Files>> {
  const page = readFileSync(join(folder, `${name}.md`), 'utf8');
  return Object.fromEntries(sectionsOf(page, '## The ').map(([of, text]) => [of, blocksOf(text)]));
}

const blocksOf = (text: string): Files =>
  Object.fromEntries(
    sectionsOf(text, '### ').map(([path, section]) => [path, /^```\w*\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '']),
  );

const sectionsOf = (text: string, heading: string): [string, string][] =>
  text
    .split(new RegExp(`^${heading}`, 'm'))
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      return [title, lines.join('\n')];
    });

/** Names on a page for the machines of the fake lab. */
const titles: Readonly<Record<string, string>> = {
  generator: 'generator',
  sender1: 'sender',
  receiver: 'receiver',
};

/** A machine after the installer, with a login; the page's lines are appended. */
const installed = (name: string): string =>
  [
    `hostname="${name}"`,
    'ifconfig_igb0="inet 192.168.1.9/24"',
    'defaultrouter="192.168.1.254"',
    'ipv6_defaultrouter="fe80::208:a2ff:fe0d:e501%igb0"',
    'sshd_enable="YES"',
    '',
  ].join('\n');

export const withInstalled = (name: string, files: Files = {}): Files => ({
  '/boot/loader.conf': '',
  '/etc/sysctl.conf': '',
  ...files,
  '/etc/rc.conf': `${installed(name)}${files['/etc/rc.conf'] ?? ''}`,
});

/** All its machines run, with FreeBSD's default files and the page's lines. */
export async function aBench(name: BenchName, options: FreebsdLabOptions = {}): Promise<Bench> {
  const { config, testbed } = configOf(name);
  const { cpu, forwards, sends, cabling, ports }: Hardware = hardware[name];
  // The MAC addresses of netmap ports are those of the page; the receiver's is the last.
  const macs = [...testbed.senders, testbed.receiver].map(({ mac }) => mac);
  const pages = filesOf(name);
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    truth: () => forwards,
    ...(sends !== undefined && { generatorPps: sends }),
    hardware: { 'hw.model': cpu[0], 'hw.ncpu': cpu[1] },
    cabling: {
      ...cabling,
      ports: ports.map(([card, name, farCard, farName], index) => ({
        name,
        card,
        far: { name: farName, card: farCard, mac: macs[index] ?? '' },
      })),
    },
    files: withInstalled('dut', pages.DUT),
    generatorFiles: Object.fromEntries(
      Object.entries(titles).map(([machine, title]) => [machine, withInstalled(machine, pages[title])]),
    ),
    ...options,
  });
  lay(lab.dut.machine, '/sbin', 'nextboot');
  for (const { machine } of [...lab.senders, lab.receiver]) lay(machine, '/dev', 'netmap');
  const here = withLab(testbed, lab);
  return { lab, testbed: here, config: { ...config, testbeds: { [name]: here } } };
}

function lay({ files }: Machine, folder: string, name: string): void {
  makeFolder(files, folder, true);
  writeFile(files, `${folder}/${name}`, '');
}

/** Its part of ppsgate.yml, with the fake lab's logins, power and console. */
function withLab({ builder: _, ...testbed }: FreebsdTestbed, lab: FreebsdLab): FreebsdTestbed {
  const { dut, senders, receiver } = testbed;
  const keys = temporaryFolder();
  const generator = <Role extends GeneratorConfig>(role: Role, index: number): Role => ({
    ...role,
    ...hostOf((lab.senders[index] ?? lab.receiver).target, keys),
  });
  return {
    ...testbed,
    dut: {
      ...dut,
      ...hostOf(lab.dut.target, keys),
      ...(dut.power && {
        power: { kind: 'command', on: ['true'], off: ['true'], state: ['true'] },
      }),
      ...(dut.console && { console: labConsole }),
    },
    senders: senders.map(generator),
    receiver: generator(receiver, senders.length),
  };
}
