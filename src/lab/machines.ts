// Lists the machines of a testbed, and the role of each.
import { isIPv6, SocketAddress } from 'node:net';
import { hostname } from 'node:os';
import type { HostConfig } from '../config/fields.ts';
import type { FreebsdTestbed } from '../config/freebsd-testbed.ts';
import { isOnThisMachine, type TestbedConfig } from '../config/schema.ts';

/** Machines that a lease reserves: `host:port`, or `embedded@` and this machine's name. Builders are shared. */
export function machinesOf(testbed: TestbedConfig, thisMachine = hostname()): string[] {
  if (isOnThisMachine(testbed)) return [`embedded@${thisMachine.toLowerCase()}`];
  const names = rolesOf(testbed).map(({ config: { host, port } }) => `${hostText(host.toLowerCase())}:${port}`);
  return [...new Set(names)];
}

type MachineRole = { config: HostConfig; label: string };

/** The DUT comes first. Empty for the embedded testbed. */
export function rolesOf(testbed: TestbedConfig): MachineRole[] {
  switch (testbed.kind) {
    case 'embedded-linux':
    case 'virtual':
      return [];
    case 'linux':
      return [
        { config: testbed.dut, label: 'DUT' },
        { config: testbed.sender, label: 'sender' },
        { config: testbed.receiver, label: 'receiver' },
      ];
    case 'freebsd':
      return [{ config: testbed.dut, label: 'DUT' }, ...generatorsOf(testbed)];
  }
}

export const generatorsOf = ({ senders, receiver }: FreebsdTestbed): MachineRole[] => [
  ...senders.map((config, index) => ({
    config,
    label: senders.length === 1 ? 'sender' : `sender ${index + 1}`,
  })),
  { config: receiver, label: 'receiver' },
];

function hostText(host: string): string {
  if (!host.includes(':')) return host;
  const [address = '', zone] = host.split('%');
  const plain = isIPv6(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address;
  return zone === undefined ? `[${plain}]` : `[${plain}%${zone}]`;
}
