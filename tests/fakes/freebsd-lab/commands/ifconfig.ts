// ifconfig: the interfaces of a machine.
import { hasOption } from '../getopt.ts';
import { type Interface, interfaceNamed } from '../machine.ts';
import { fail, notModelled, type Plain, type Process } from '../process.ts';
import { isLinkUp } from '../wiring.ts';
import { dotted, maskOf, numberOf, shownAddresses } from './addresses.ts';
import { readOptions } from './options.ts';

export function ifconfig(process: Process): number {
  const given = readOptions(process, {
    program: 'ifconfig',
    spec: 'aCdDf:G:g:j:klLmnuvX:',
    usage:
      'usage: ifconfig [-j jail] [-f type:format] interface address_family\n           [address [dest_address]] [parameters]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { machine, out } = process;
  if (hasOption(given.options, 'l')) {
    out(`${[...machine.interfaces.map(({ name }) => name), 'lo0'].join(' ')}\n`);
    return 0;
  }
  const [name, ...parameters] = given.operands;
  if (given.options.length > 0 || name === undefined) return notModelled(process, 'this ifconfig');
  if (name === 'lo0' && parameters.length === 0) {
    out(loopbackText(machine.interfaces.length + 1));
    return 0;
  }
  const found = interfaceNamed(machine, name);
  if (found === undefined) {
    return fail(process, `ifconfig: interface ${name} does not exist`);
  }
  if (parameters.length === 0) {
    out(interfaceText(found, process.deps.clock.now()));
    return 0;
  }
  const [first, bytes] = parameters;
  if (first === 'inet' || first === 'inet6') return configureAll(process, found);
  if (first === 'mtu' && bytes !== undefined) {
    found.mtu = Number(bytes);
    return 0;
  }
  return Math.max(...parameters.map((parameter) => configure(process, found, parameter)));
}

/** Words of ifconfig(8) after an interface's name, or before it, as in rc.conf(5). */
export function configureAll(process: Plain, one: Interface): number {
  const [word = '', ...rest] = process.args;
  const [value = '', ...others] = rest;
  if (word === '') return 0;
  const goOn = (args: readonly string[]) => configureAll({ ...process, args }, one);
  if (word === one.name) return goOn(rest);
  if (word === 'inet' && value.includes('.')) {
    const address = inetOf(value);
    if (address === undefined) return notModelled(process, `ifconfig inet ${value}`);
    addAddress(one, address);
    return goOn(others);
  }
  if (word === 'inet6' && value.includes(':')) {
    const [prefixlen, bits = '', ...more] = others;
    const isPlain = prefixlen === 'prefixlen' && Number(bits) >= 64 && Number(bits) <= 128;
    if (!isPlain) return notModelled(process, `ifconfig inet6 ${value} ${prefixlen}`);
    addAddress(one, `inet6 ${value} prefixlen ${bits}`);
    return goOn(more);
  }
  // Later words belong to that family, such as the flags of ND to inet6.
  if (word === 'inet' || word === 'inet6' || neighbourDiscovery.has(word)) return goOn(rest);
  if (word === 'mtu') {
    one.mtu = Number(value);
    return goOn(others);
  }
  const code = configure(process, one, word);
  return code === 0 ? goOn(rest) : code;
}

const neighbourDiscovery = new Set(['accept_rtadv', 'auto_linklocal', 'no_dad']);

/** An interface that gets an address is up; the same address again changes nothing. */
function addAddress(one: Interface, address: string): void {
  one.isUp = true;
  if (!one.addresses.includes(address)) one.addresses = [...one.addresses, address];
}

/** Undefined for an address without its length. */
function inetOf(written: string): string | undefined {
  const [, address = '', length] = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(written) ?? [];
  const bits = Number(length);
  if (length === undefined || bits > 32) return undefined;
  const mask = maskOf(bits);
  const broadcast = dotted(numberOf(address) | ~mask);
  return `inet ${address} netmask 0x${(mask >>> 0).toString(16).padStart(8, '0')} broadcast ${broadcast}`;
}

const capabilityBits = new Map([
  ['RXCSUM', 0x1],
  ['TXCSUM', 0x2],
  ['VLAN_MTU', 0x8],
  ['VLAN_HWTAGGING', 0x10],
  ['JUMBO_MTU', 0x20],
  ['VLAN_HWCSUM', 0x80],
  ['TSO4', 0x100],
  ['TSO6', 0x200],
  ['LRO', 0x400],
  ['VLAN_HWTSO', 0x40000],
  ['LINKSTATE', 0x80000],
  ['HWRXTSTMP', 0x2000000],
  ['TXCSUM_IPV6', 0x400000],
]);

/** vtnet(4) has no time stamps, and separate checksums for IPv6. */
const capabilitiesOf = ({ card }: Interface): string[] =>
  [...capabilityBits.keys()].filter((name) => name !== (card === 'virtio' ? 'HWRXTSTMP' : 'TXCSUM_IPV6'));

export const allCapabilities = [...capabilityBits.keys()];

const capabilityOf = new Map([
  ['rxcsum', ['RXCSUM']],
  ['txcsum', ['TXCSUM']],
  ['tso', ['TSO4', 'TSO6']],
  ['tso4', ['TSO4']],
  ['tso6', ['TSO6']],
  ['lro', ['LRO']],
  ['vlanhwtso', ['VLAN_HWTSO']],
  ['vlanhwtag', ['VLAN_HWTAGGING']],
  ['hwrxtstmp', ['HWRXTSTMP']],
]);

export function configure(process: Plain, one: Interface, parameter: string): number {
  if (parameter === 'up' || parameter === 'down') {
    one.isUp = parameter === 'up';
    return 0;
  }
  const capabilities = capabilityOf.get(parameter.replace(/^-/, ''));
  if (capabilities === undefined) return notModelled(process, `ifconfig ${parameter}`);
  for (const capability of capabilities) {
    if (parameter.startsWith('-')) one.capabilities.delete(capability);
    else one.capabilities.add(capability);
  }
  return 0;
}

function interfaceText(one: Interface, now: number): string {
  const isActive = one.isUp && isLinkUp(one.port, now);
  const names = capabilitiesOf(one).filter((name) => one.capabilities.has(name));
  const bits = names.reduce((sum, name) => sum | (capabilityBits.get(name) ?? 0), 0);
  const isVirtual = one.card === 'virtio';
  // vtnet(4) has a link even while it is down.
  const downFlags = isVirtual ? '1008802<BROADCAST,SIMPLEX,MULTICAST,LOWER_UP>' : '8802<BROADCAST,SIMPLEX,MULTICAST>';
  const flags = one.isUp ? '1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP>' : downFlags;
  const media = isVirtual
    ? 'autoselect (10Gbase-T <full-duplex>)'
    : `${mediaNames.get(one.mediaBits) ?? '10Gbase-SR'} <full-duplex>`;
  const hasLink = isActive || (isVirtual && isLinkUp(one.port, now));
  const linked = hasLink ? `Ethernet ${media}` : 'Ethernet autoselect (none)';
  const isInet6 = one.addresses.some((address) => address.startsWith('inet6'));
  return [
    `${one.name}: flags=${flags} metric 0 mtu ${one.mtu}`,
    `\toptions=${bits.toString(16)}<${names.join(',')}>`,
    `\tether ${one.mac}`,
    ...shownAddresses(one).map((address) => `\t${address}`),
    `\tmedia: ${linked}`,
    `\tstatus: ${hasLink ? 'active' : 'no carrier'}`,
    `\tnd6 options=${isInet6 ? '21<PERFORMNUD,AUTO_LINKLOCAL>' : '29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>'}`,
    '',
  ].join('\n');
}

const loopbackText = (link: number): string =>
  [
    'lo0: flags=1008049<UP,LOOPBACK,RUNNING,MULTICAST,LOWER_UP> metric 0 mtu 16384',
    '\toptions=680003<RXCSUM,TXCSUM,LINKSTATE,RXCSUM_IPV6,TXCSUM_IPV6>',
    '\tinet 127.0.0.1 netmask 0xff000000',
    '\tinet6 ::1 prefixlen 128',
    `\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x${link.toString(16)}`,
    '\tgroups: lo',
    '\tnd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>',
    '',
  ].join('\n');

const mediaNames = new Map([
  [1e9, '1000baseT'],
  [10e9, '10Gbase-SR'],
  [40e9, '40Gbase-SR4'],
  [100e9, '100GBase-SR4'],
]);
