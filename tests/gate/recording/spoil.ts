// Spoils recordings by a seed: with output of other versions, of other locales, or cut short.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

type Line = Record<string, unknown> & { kind: string; id?: number; text?: string };

export const linesOf = (path: string): Line[] =>
  gunzipSync(readFileSync(path))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

export const writeLines = (path: string, lines: readonly object[]): void =>
  writeFileSync(path, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));

type Spoiler = { name: string; command: RegExp; spoil(text: string): string };

const inMiddle = (text: string): string => text.slice(0, Math.max(1, text.length - 3));

export const spoilers: readonly Spoiler[] = [
  {
    name: 'ifconfig without status',
    command: /^ifconfig 'v?cxl\d'$/,
    spoil: (text) => text.replace(/^\tstatus: .*\n/m, ''),
  },
  {
    name: 'translated ifconfig',
    command: /^ifconfig 'v?cxl\d'$/,
    spoil: (text) => text.replace('status: active', 'Zustand: aktiv'),
  },
  { name: 'ifconfig cut off', command: /^ifconfig 'v?cxl\d'$/, spoil: inMiddle },
  {
    name: 'another ifconfig',
    command: /^ifconfig 'v?cxl\d'$/,
    spoil: (text) => text.replace(/flags=[0-9a-f]+</, 'flags: <'),
  },
  {
    name: 'netstat with other columns',
    command: /^netstat -rn/,
    spoil: (text) => text.replace('Netif', 'Iface').replace('Gateway', 'Next Hop'),
  },
  {
    name: 'translated netstat',
    command: /^netstat -rn/,
    spoil: (text) => text.replace('Destination', 'Ziel       '),
  },
  {
    name: 'netstat cut off',
    command: /^netstat -rn/,
    spoil: (text) => text.slice(0, text.lastIndexOf(' ')),
  },
  {
    name: 'translated arp',
    command: /^arp -an$/,
    spoil: (text) => text.replace(/ at (\S+) on /g, ' auf $1 an '),
  },
  { name: 'arp cut off', command: /^arp -an$/, spoil: inMiddle },
  {
    name: 'ndp with dashes',
    command: /^ndp -an$/,
    spoil: (text) => text.replace(/((?:[0-9a-f]{2}:){5}[0-9a-f]{2})/g, (mac) => mac.replaceAll(':', '-')),
  },
  {
    name: 'load in words',
    command: /vm\.loadavg/,
    spoil: () => 'load averages: 0,10, 0,10, 0,10\n',
  },
  {
    name: 'localized date',
    command: /kern\.boottime/,
    spoil: (text) => text.replace(/\} \w+ \w+ (.*)/, '} Di 14 Nov. $1'),
  },
  { name: 'boottime in milliseconds', command: /kern\.boottime/, spoil: () => '1700000000,123\n' },
  { name: 'a word for a number', command: /net\.inet\.ip\.forwarding/, spoil: () => 'enabled\n' },
  {
    name: 'a decimal comma',
    command: /hw\.ncpu|net\.inet6?\.ip6?\.redirect/,
    spoil: () => '0,0\n',
  },
  {
    name: 'translated df',
    command: /^df -k/,
    spoil: (text) => text.replace('Filesystem', 'Dateisystem'),
  },
  {
    name: 'df with units',
    command: /^df -k/,
    spoil: (text) => text.replace(/ (\d+)\d{3} /g, ' $1,0M '),
  },
  {
    name: 'df of Linux',
    command: /^df -k/,
    spoil: (text) => text.replace('Capacity', 'Use%').replace('Avail ', 'Available '),
  },
  { name: 'another uname', command: /^uname -s -r$/, spoil: () => 'DragonFly 6.4-RELEASE\n' },
  {
    name: 'pkt-gen with decimal commas',
    command: /pkt-gen -N/,
    spoil: (text) => text.replace(/^(\d+)\.(\d+ main_thread)/gm, '$1,$2'),
  },
  {
    name: 'another pkt-gen',
    command: /pkt-gen -N/,
    spoil: (text) => text.replace(/ pps \(/g, ' pps, total ('),
  },
];

export type Spoiled = { name: string; number: number };

/** Returns the number of the spoilt request. */
export function spoil(from: string, to: string, seed: number): Spoiled {
  const random = xoroshiro128plus(seed);
  const lines = linesOf(from);
  const asks = lines.filter(({ kind }) => kind === 'asks');
  for (;;) {
    const spoiler = spoilers[uniformInt(random, 0, spoilers.length - 1)];
    const places = asks.flatMap((line, index) => {
      const { what, command = '' } = line.asked as { what: string; command?: string };
      const isMeant = what === 'run' && spoiler?.command.test(command);
      return spoiler !== undefined && isMeant && isChanged(lines, line.id, spoiler) ? [{ line, index }] : [];
    });
    const place = places[uniformInt(random, 0, Math.max(0, places.length - 1))];
    if (place === undefined || spoiler === undefined) continue;
    writeLines(
      to,
      lines.map((line) => changed(line, place.line.id, spoiler)),
    );
    return { name: spoiler.name, number: place.index + 1 };
  }
}

const changed = (line: Line, id: number | undefined, { spoil: spoilt }: Spoiler): Line =>
  line.kind === 'hears' && line.id === id ? { ...line, text: spoilt(line.text ?? '') } : line;

const isChanged = (lines: readonly Line[], id: number | undefined, spoiler: Spoiler): boolean =>
  lines.some((line) => changed(line, id, spoiler).text !== line.text);
