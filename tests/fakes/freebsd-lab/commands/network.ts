// netstat and vmstat, and the other programs of a machine's network.
import { type IpCounts, queueInterrupts } from '../packet-counts.ts';
import { type Process, type Program, print } from '../process.ts';
import { ifconfig } from './ifconfig.ts';
import { arp, ndp, route, routesText } from './routes.ts';

export const networkPrograms: Readonly<Record<string, Program>> = {
  arp,
  ifconfig,
  ndp,
  'netstat -i -b -n -W': interfaceCounters,
  'netstat -Q': () => 0,
  'netstat -rn -f inet': (process) => routes(process, 'inet'),
  'netstat -rn -f inet6': (process) => routes(process, 'inet6'),
  'netstat -s': protocolCounters,
  'ngctl list': (process) => print(process, 'There are 0 total nodes:\n'),
  'pfilctl heads': listFilters,
  route,
  'vmstat -i': interrupts,
};

function routes({ machine, out }: Process, family: 'inet' | 'inet6'): number {
  out(routesText(machine, family));
  return 0;
}

/** Handlers of packets besides a scenario's rules. */
function listFilters(process: Process): number {
  const { machine, out } = process;
  const { modules, pf } = machine;
  const linked = [...(modules.has('ipfw') ? ['ipfw'] : []), ...(pf.isEnabled ? ['pf'] : [])];
  out(' Intercept point     Type\n');
  for (const [point, type] of [
    ['inet', 'IPv4'],
    ['inet6', 'IPv6'],
  ] as const) {
    out(`${point.padStart(16)} ${type.padStart(8)}\n`);
    for (const direction of ['In', 'Out']) {
      for (const module of linked) out(`${direction.padStart(29)} ${module.padStart(16)}          default\n`);
    }
  }
  return 0;
}

/** Only those of queues. */
function interrupts({ machine, network, out }: Process): number {
  network.count();
  const all = queueInterrupts(machine).map(([name, total], index): [string, number] => [
    `irq${264 + index}: ${name}`,
    total,
  ]);
  out('interrupt                          total       rate\n');
  for (const [name, total] of [...all, ['Total', all.reduce((sum, [, total]) => sum + total, 0)] as const]) {
    out(`${name.padEnd(28)} ${String(total).padStart(11)}          1\n`);
  }
  return 0;
}

/** Prints those of IP that FreeBSD 14 has of packets that it forwards, which it counts twice as received. */
function protocolCounters({ machine, network, out }: Process): number {
  network.count();
  const received = machine.interfaces.reduce((sum, { port }) => sum + port.received.packets, 0);
  const { inet4, inet6 } = machine.packetCounts.ip;
  out(ipText('ip', inet4, received + inet4.forwarded, true));
  out(ipText('ip6', inet6, inet6.forwarded, false));
  return 0;
}

function ipText(protocol: string, counts: IpCounts, received: number, isInet4: boolean): string {
  const forwarded = Math.round(counts.forwarded);
  const fast = isInet4 ? ` (${forwarded} packets fast forwarded)` : '';
  return [
    `${protocol}:`,
    `\t${Math.round(received)} total packets received`,
    ...(isInet4 ? ['\t0 bad header checksums'] : []),
    '\t0 packets for this host',
    `\t${forwarded} packets forwarded${fast}`,
    `\t${Math.round(counts.notForwardable)} packets not forwardable`,
    '\t0 output packets dropped due to no bufs, etc.',
    '\t0 output packets discarded due to no route',
    '',
  ].join('\n');
}

function interfaceCounters({ machine, network, out }: Process): number {
  network.count();
  const widths = [-8, 5, -14, -20, 10, 6, 6, 13, 10, 6, 13, 6];
  const row = (...cells: (string | number)[]) => {
    const padded = widths.map((width, index) => {
      const cell = typeof cells[index] === 'number' ? String(Math.round(cells[index])) : (cells[index] ?? '');
      return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
    });
    out(`${padded.join(' ').trimEnd()}\n`);
  };
  row(...'Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll'.split(' '));
  for (const [index, { name, mac, mtu, port }] of machine.interfaces.entries()) {
    const { received, missed, sent } = port;
    const [link, into] = [`<Link#${index + 1}>`, received.packets];
    row(name, mtu, link, mac, into, 0, missed.packets, received.bytes, sent.packets, 0, sent.bytes, 0);
  }
  return 0;
}
