// Describes a FreeBSD DUT for result.json, and finds how two boots differ beyond their kernels.

import { driverSettingsOf, firmwareNames } from '../../../model/freebsd-drivers.ts';
import { type Fingerprint, kernelDependentFacts, volatileFacts } from '../../../model/freebsd-machine.ts';
import { type Command, commandText, shell } from '../../../system/shell.ts';
import { parseIfconfig } from './network.ts';
import { type CommandOutputs, readSysctl } from './setting.ts';

export type FingerprintRequest = {
  interfaces: readonly string[];
  bootFile: string;
};

/** Lists commands for `fingerprintOf`, which omits any that fail. */
export const fingerprintCommands = (request: FingerprintRequest): Command[] =>
  factsOf(request).map(({ reads }) => reads);

export function fingerprintOf(outputs: CommandOutputs, request: FingerprintRequest): Fingerprint {
  const entries = factsOf(request).flatMap(({ reads, entries }) => {
    const output = outputs.get(commandText(reads))?.trim() ?? '';
    return output === '' ? [] : entries(output);
  });
  return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestValue)]));
}

/** In characters; the longest values are the names of cards. */
const longestValue = 2000;

/** Returns a line for each differing fact that the kernel does not explain; none if the two boots are comparable. */
export function differences(base: Fingerprint, other: Fingerprint, variant = 'patched'): string[] {
  const names = new Set([...Object.keys(base), ...Object.keys(other)]);
  return [...names]
    .filter((name) => !kernelDependentFacts.has(name) && !volatileFacts.has(name))
    .filter((name) => base[name] !== other[name])
    .map((name) => `${name}: ${quoted(base[name])} on base, ${quoted(other[name])} on ${variant}`);
}

/** Returns a line for each card whose firmware a kernel has flashed in between; flashing is permanent. */
export function flashed(before: Fingerprint, now: Fingerprint): string[] {
  return Object.entries(before)
    .filter(([name, value]) => isFirmware(name) && now[name] !== undefined && now[name] !== value)
    .map(([name, value]) => `${name} was ${quoted(value)} and is ${quoted(now[name])}`);
}

const isFirmware = (name: string): boolean => /^dev\..*\.(?:firmware|fw)_version$/.test(name);

const quoted = (value: string | undefined): string => (value === undefined ? 'nothing' : `"${value}"`);

type Fact = { reads: Command; entries(output: string): [name: string, value: string][] };

const factsOf = ({ interfaces, bootFile }: FingerprintRequest): Fact[] => [
  fact('kernel', shell`uname -v`),
  fact('cpu', readSysctl('hw.model')),
  fact('machine', shell`kenv -q smbios.system.product`),
  fact('kernel sha256', shell`sha256 -q ${bootFile}`),
  { reads: readSysctl('kern.conftxt'), entries: configuration },
  fact('release', shell`uname -r`),
  fact('architecture', shell`uname -p`),
  { reads: shell`pciconf -lv`, entries: networkCards },
  ...interfaces.map((name) => ({ reads: shell`ifconfig ${name}`, entries: port })),
  ...[...sysctlNames(interfaces)].map((name) => fact(name, readSysctl(name))),
];

const sysctlNames = (interfaces: readonly string[]): Set<string> =>
  new Set([
    ...recorded,
    ...interfaces.flatMap((port) => [...driverSettingsOf(port).map(({ name }) => name), ...firmwareNames(port)]),
  ]);

const fact = (name: string, reads: Command): Fact => ({
  reads,
  entries: (output) => [[name, output.slice(0, longestValue).replace(/\s+/g, ' ')]],
});

const recorded = [
  'kern.hostname',
  'kern.bootfile',
  'kern.boottime',
  'hw.ncpu',
  'machdep.hyperthreading_allowed',
  'kern.random.harvest.mask',
  'net.inet.ip.forwarding',
  'net.inet.ip.redirect',
  'net.inet6.ip6.forwarding',
  'net.inet6.ip6.redirect',
  'net.isr.maxthreads',
  'net.isr.bindthreads',
  'net.isr.dispatch',
  'net.route.algo.inet.algo',
  'net.route.algo.inet6.algo',
  'vm.pmap.pti',
  'hw.ibrs_active',
  'dev.cpu.0.freq',
];

/** Reads config(5)'s text, as `options INCLUDE_CONFIG_FILE` keeps it. */
function configuration(text: string): [string, string][] {
  const ident = /^ident\s+(\S+)/m.exec(text)?.[1];
  const rss = /^options\s+RSS\s*$/m.test(text) ? 'yes' : 'no';
  return [
    ['ident', ident ?? 'unknown'],
    ['RSS', rss],
  ];
}

/**
 * `DRIVER@pciN:…: class=0x02….. …`, followed by indented `vendor = '…'` and `device = '…'`, which a machine without
 * /usr/share/misc/pci_vendors lacks: the ids stand for them.
 */
function networkCards(text: string): [string, string][] {
  return text
    .split(/\n(?=\S)/)
    .filter((card) => /\sclass=0x02/.test(card))
    .map((card) => {
      const driver = card.replace(/@.*/s, '');
      const names = [...card.matchAll(/^[ \t]+(?:vendor|device)[ \t]+= '(.*)'$/gm)];
      const ids = /\b(?:vendor=\S+ device=\S+|chip=\S+)/.exec(card)?.[0] ?? 'unknown';
      return [`NIC ${driver}`, names.map(([, name]) => name).join(' ') || ids];
    });
}

function port(text: string): [string, string][] {
  const state = parseIfconfig(text);
  if (state === undefined) return [];
  const { name, options, media, mtu } = state;
  return [
    [`${name} options`, options.toSorted().join(' ')],
    [`${name} media`, media ?? 'unknown'],
    [`${name} MTU`, String(mtu)],
  ];
}
