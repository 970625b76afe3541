// Sets up the four testbeds of docs/lab as fake labs, from those pages alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FreebsdTestbed, GeneratorConfig } from '../../../src/config/freebsd-testbed.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { temporaryFolder } from '../folder.ts';
import { hostOf, labConsole } from '../freebsd-testbed.ts';
import type { CablingOptions } from './cabling.ts';
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
    cabling: (testbed) => ({
      mediaBits: 1e9,
      ports: ['igb2', 'igb3'].map((name, index) => ({
        name,
        card: 'I350',
        far: { name, card: 'I350', mac: macAt(testbed, index) },
      })),
    }),
  },
  'two-senders-40g': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', '16'],
    forwards: 30e6,
    sends: 25e6,
    cabling: (testbed) => ({
      senders: 2,
      generators: 'two',
      isSwitched: true,
      mediaBits: 40e9,
      ports: [
        ['cxl0', 'cxl0'],
        ['cxl0', 'cxl2'],
        ['cxl1', 'cxl0'],
      ].map(([name = '', far = ''], index) => ({
        name,
        card: 'T580-LP-CR',
        far: { name: far, card: 'T580-LP-CR', mac: macAt(testbed, index) },
      })),
    }),
  },
  'xeon-t540': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2650 0 @ 2.60GHz', '8'],
    forwards: 5e6,
    cabling: (testbed) => ({
      ports: ['cxl0', 'cxl1'].map((name, index) => ({
        name,
        card: 'T540-CR',
        far: { name, card: 'T540-CR', mac: macAt(testbed, index) },
      })),
    }),
  },
  'xeon-t580-connectx4': {
    cpu: ['Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', '32'],
    forwards: 26.8e6,
    sends: 42.5e6,
    cabling: (testbed) => ({
      generators: 'two',
      mediaBits: 40e9,
      ports: [
        { name: 'cxl0', card: 'T580-LP-CR' },
        { name: 'mce0', card: 'ConnectX-4' },
      ].map((port, index) => ({
        name: port.name,
        card: port.card === 'ConnectX-4' ? 'ConnectX-4' : 'T580-LP-CR',
        far: { name: 'cxl0', card: 'T580-LP-CR', mac: macAt(testbed, index) },
      })),
    }),
  },
} as const satisfies Record<string, Hardware>;

type Hardware = {
  /** hw.model, and hw.ncpu as set by the page's loader.conf. */
  cpu: readonly [string, string];
  /** In packets per second. */
  forwards: number;
  /** Rate of each sender, if it is not its port's speed. */
  sends?: number;
  cabling(testbed: FreebsdTestbed): Partial<CablingOptions>;
};

export const benches = Object.keys(hardware) as BenchName[];

/** MAC address of the netmap port cabled to the DUT's port of that number; the receiver's is the last. */
const macAt = ({ senders, receiver }: FreebsdTestbed, index: number): string => (senders[index] ?? receiver).mac;

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
  const { cpu, forwards, sends, cabling }: Hardware = hardware[name];
  const pages = filesOf(name);
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    truth: () => forwards,
    ...(sends !== undefined && { generatorPps: sends }),
    hardware: { 'hw.model': cpu[0], 'hw.ncpu': cpu[1] },
    cabling: cabling(testbed),
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
