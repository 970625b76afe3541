// ifconfig: the interfaces of a machine.
import { type Interface, interfaceNamed } from '../machine.ts';
import { fail, notModelled, type Plain, type Process } from '../process.ts';
import { isLinkUp } from '../wiring.ts';
import { dotted, maskOf, numberOf } from './addresses.ts';

export function ifconfig(process: Process): number {
  const { machine, out, args } = process;
  const [name = '', ...parameters] = args;
  if (name === '-l') {
    out(`${[...machine.interfaces.map(({ name }) => name), 'lo0'].join(' ')}\n`);
    return 0;
  }
  if (name === 'lo0') {
    out('lo0: flags=1008049<UP,LOOPBACK,RUNNING,MULTICAST,LOWER_UP> metric 0 mtu 16384\n');
    return 0;
  }
  const found = interfaceNamed(machine, name);
  if (found === undefined) return fail(process, `ifconfig: interface ${name} does not exist`);
  if (parameters.length > 0) return configureAll({ ...process, args: parameters }, found);
  out(interfaceText(found, process.deps.clock.now()));
  return 0;
}

/** Words of ifconfig(8) after an interface's name, or before it, as in rc.conf(5). */
export function configureAll(process: Plain, one: Interface): number {
  const [word = '', ...rest] = process.args;
  const [value = '', ...others] = rest;
  if (word === '') return 0;
  const goOn = (args: readonly string[]) => configureAll({ ...process, args }, one);
  if (word === 'inet' && value.includes('.')) {
    addAddress(one, inetOf(value));
    return goOn(others);
  }
  if (word === 'inet6' && value.includes(':')) {
    const [prefixlen, bits = '', ...more] = others;
    if (prefixlen !== 'prefixlen') notModelled();
    addAddress(one, `inet6 ${value} prefixlen ${bits}`);
    return goOn(more);
  }
  if (word === 'mtu') {
    one.mtu = Number(value);
    return goOn(others);
  }
  // Later words belong to a family, such as the flags of ND to inet6.
  if (![one.name, 'inet', 'inet6', 'accept_rtadv', 'auto_linklocal', 'no_dad'].includes(word)) configure(one, word);
  return goOn(rest);
}

/** An interface that gets an address is up; the same address again changes nothing. */
function addAddress(one: Interface, address: string): void {
  one.isUp = true;
  if (!one.addresses.includes(address)) one.addresses = [...one.addresses, address];
}

function inetOf(written: string): string {
  const [, address = notModelled(), length] = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(written) ?? [];
  const mask = maskOf(Number(length));
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

const capabilityOf: Readonly<Record<string, readonly string[]>> = {
  rxcsum: ['RXCSUM'],
  txcsum: ['TXCSUM'],
  tso: ['TSO4', 'TSO6'],
  tso4: ['TSO4'],
  tso6: ['TSO6'],
  lro: ['LRO'],
  vlanhwtso: ['VLAN_HWTSO'],
  vlanhwtag: ['VLAN_HWTAGGING'],
  hwrxtstmp: ['HWRXTSTMP'],
};

function configure(one: Interface, parameter: string): void {
  if (parameter === 'up') one.isUp = true;
  else {
    for (const capability of capabilityOf[parameter.replace(/^-/, '')] ?? notModelled()) {
      if (parameter.startsWith('-')) one.capabilities.delete(capability);
      else one.capabilities.add(capability);
    }
  }
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
    ...one.addresses.map((address) => `\t${address}`),
    `\tmedia: ${linked}`,
    `\tstatus: ${hasLink ? 'active' : 'no carrier'}`,
    `\tnd6 options=${isInet6 ? '21<PERFORMNUD,AUTO_LINKLOCAL>' : '29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>'}`,
    '',
  ].join('\n');
}

const mediaNames = new Map([
  [1e9, '1000baseT'],
  [10e9, '10Gbase-SR'],
  [40e9, '40Gbase-SR4'],
  [100e9, '100GBase-SR4'],
]);
