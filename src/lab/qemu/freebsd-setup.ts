// Sets up a copy of a FreeBSD image for this boot and later ones: network, console, and no waits.

import type { Family } from '../../model/scenario.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { routedNetworks } from '../freebsd/dut/ports.ts';
import { guestPorts, neighbours, receiverMac, senderMac } from './vm/addresses.ts';

export type Ports = { ingress: string; egress: string };

/** Addresses are set at once as well: an inspection of this boot then finds the same as those of later boots. */
export async function setUp(host: Host, ports: Ports, addresses?: TestNetworks): Promise<void> {
  await host.output(shell`sysrc ${rcSettings(ports, addresses)}`);
  await append(host, '/boot/loader.conf.local', loaderLines);
  await append(host, '/etc/sysctl.conf', sysctlLines);
  for (const role of ['ingress', 'egress'] as const) {
    const { inet4, inet6 } = guestPorts[role];
    await host.output(shell`ifconfig ${ports[role]} inet ${`${inet4}/30`}`);
    await host.output(shell`ifconfig ${ports[role]} inet6 ${inet6} prefixlen 126 no_dad`);
  }
}

/** See rc.conf(5). A boot with all of it needs no fix before packets are sent. */
function rcSettings(ports: Ports, addresses?: TestNetworks): string[] {
  const interfaces = (['ingress', 'egress'] as const).flatMap((role) => {
    const { inet4, inet6 } = guestPorts[role];
    return [
      `ifconfig_${ports[role]}=inet ${inet4}/30 -tso4 -tso6 -lro -vlanhwtso`,
      `ifconfig_${ports[role]}_ipv6=inet6 ${inet6} prefixlen 126 no_dad`,
    ];
  });
  const inet4 = routesOf('inet4', addresses);
  const inet6 = routesOf('inet6', addresses);
  const { sender, receiver } = neighbours;
  return [
    ...interfaces,
    'gateway_enable=YES',
    'ipv6_gateway_enable=YES',
    'harvest_mask=351',
    `static_routes=${inet4.map(({ name }) => name).join(' ')}`,
    ...inet4.map(({ name, route }) => `route_${name}=-net ${route}`),
    `ipv6_static_routes=${inet6.map(({ name }) => name).join(' ')}`,
    ...inet6.map(({ name, route }) => `ipv6_route_${name}=${route}`),
    'static_arp_pairs=sender receiver',
    `static_arp_sender=${sender.inet4} ${senderMac}`,
    `static_arp_receiver=${receiver.inet4} ${receiverMac}`,
    'static_ndp_pairs=sender receiver',
    `static_ndp_sender=${sender.inet6} ${senderMac}`,
    `static_ndp_receiver=${receiver.inet6} ${receiverMac}`,
    // QEMU's restricted network offers no default route, for which rc.d/defaultroute waits 30 s.
    'defaultroute_delay=0',
    // Writing a dump would delay the reset by a minute, and the guest is discarded anyway.
    'dumpdev=NO',
  ];
}

function routesOf(family: Family, addresses?: TestNetworks): { name: string; route: string }[] {
  const { sources, destinations } = routedNetworks(family, addresses);
  const named = (name: string, networks: string[], gateway: string) =>
    networks.map((network, index) => ({ name: `${name}${index}`, route: `${network} ${gateway}` }));
  return [
    ...named('source', sources, neighbours.sender[family]),
    ...named('destination', destinations, neighbours.receiver[family]),
  ];
}

/** See loader.conf(5): read after loader.conf. */
const loaderLines = [
  'console="comconsole"',
  'boot_serial="YES"',
  'autoboot_delay="-1"',
  // The default is 15 s.
  'kern.panic_reboot_wait_time="0"',
];

const sysctlLines = ['net.inet.ip.redirect=0', 'net.inet6.ip6.redirect=0'];

async function append(host: Host, path: string, lines: readonly string[]): Promise<void> {
  const own = await host.run(shell`cat ${path}`);
  await host.upload(Buffer.from(`${own.stdout}\n${lines.join('\n')}\n`), path, 0o644);
}
