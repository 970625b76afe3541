// netstat and vmstat, and the other programs of a machine's network.
import { timerInterruptsOf } from '../cpu.ts';
import { hasOption, optionValue } from '../getopt.ts';
import { type IpCounts, queueInterrupts } from '../packet-counts.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { networkOf } from './addresses.ts';
import { ifconfig } from './ifconfig.ts';
import { readOptions } from './options.ts';
import { arp, ndp, route, routesText } from './routes.ts';

export const networkPrograms: Readonly<Record<string, Program>> = {
  arp,
  ifconfig,
  ndp,
  netstat,
  route,
  vmstat,
};

/** Knows only the interrupts of vmstat(8), and of them those of queues and timers. */
function vmstat(process: Process): number {
  if (process.args.join(' ') !== '-i') return notModelled(process, 'this vmstat');
  const { machine, network, deps, out } = process;
  network.count();
  const seconds = Math.max(1, deps.clock.now() - (machine.running?.startedAt ?? 0));
  const row = (name: string, total: number) =>
    `${name.padEnd(28)} ${String(total).padStart(11)} ${String(Math.round(total / seconds)).padStart(10)}\n`;
  const timers = timerInterruptsOf(machine, deps.clock.now());
  const rows = timers.map((interrupts, cpu) => row(`cpu${cpu}:timer`, interrupts));
  const queues = queueInterrupts(machine);
  const ofQueues = queues.map(([name, total], index) => row(`irq${264 + index}: ${name}`, total));
  out(`interrupt                          total       rate\n${ofQueues.join('')}${rows.join('')}`);
  out(
    row(
      'Total',
      [...timers, ...queues.map(([, total]) => total)].reduce((sum, total) => sum + total, 0),
    ),
  );
  return 0;
}

const netstatSpec = '46AaBbC:cdF:f:ghI:iLlM:mN:nPp:Qq:RrSsTuWw:xz';

function netstat(process: Process): number {
  const given = readOptions(process, {
    program: 'netstat',
    spec: netstatSpec,
    usage:
      'usage: netstat [-j jail] [-46AaCcLnRSTWx] [-f protocol_family | -p protocol]\n       netstat [-j jail] -i | -I interface [-46abdhnW] [-f address_family]\n       netstat [-j jail] -r [-46nW] [-F fibnum] [-f address_family]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { options } = given;
  const name = optionValue(options, 'I');
  if (name !== undefined) return interfaceCounters(process, [name]);
  if (hasOption(options, 'i')) {
    return interfaceCounters(
      process,
      process.machine.interfaces.map((one) => one.name),
    );
  }
  if (hasOption(options, 's')) return protocolCounters(process);
  if (hasOption(options, 'Q')) return netisrCounters(process);
  const family = optionValue(options, 'f');
  if (hasOption(options, 'r') && hasOption(options, 'n') && (family === 'inet' || family === 'inet6')) {
    process.out(routesText(process.machine, family));
    return 0;
  }
  if (hasOption(options, 'r') && family !== undefined && family !== 'inet' && family !== 'inet6') {
    return fail(process, `netstat: ${family}: unknown address family`);
  }
  return notModelled(process, 'this netstat');
}

/** Prints one workstream, see netisr_stats() in FreeBSD's usr.bin/netstat/netisr.c. */
function netisrCounters({ machine, network, out }: Process): number {
  network.count();
  const drops = String(Math.round(machine.packetCounts.netisrDrops)).padStart(8);
  out(`Configuration:
Setting                        Current        Limit
Thread count                         1            1
Default queue limit                256        10240
Dispatch policy                 direct          n/a
Threads bound to CPUs         disabled          n/a

Protocols:
Name   Proto QLimit Policy Dispatch Flags
ip         1    256   flow  default   ---
ip6        6    256   flow  default   ---

Workstreams:
WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled
   0   0   ip         0     1     1006        0 ${drops}      299     1305
   0   0   ip6        0     0        0        0        0        0        0
`);
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
    `\t${Math.round(counts.noBuffers)} output packets dropped due to no bufs, etc.`,
    '\t0 output packets discarded due to no route',
    '',
  ].join('\n');
}

function interfaceCounters(process: Process, names: readonly string[]): number {
  const { machine, network, out } = process;
  network.count();
  const columns = [
    ['Name', -8],
    ['Mtu', 5],
    ['Network', -14],
    ['Address', -20],
    ['Ipkts', 10],
    ['Ierrs', 6],
    ['Idrop', 6],
    ['Ibytes', 13],
    ['Opkts', 10],
    ['Oerrs', 6],
    ['Obytes', 13],
    ['Coll', 6],
  ] as const;
  const row = (cells: readonly (string | number)[]) => {
    const padded = columns.map(([, width], index) => {
      const cell = String(cells[index] ?? '');
      return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
    });
    return `${padded.join(' ').trimEnd()}\n`;
  };
  out(row(columns.map(([title]) => title)));
  const count = (value: number) => Math.round(value);
  // netstat(1) prints only the header for a name that does not exist.
  for (const [index, { name, mac, mtu, port, addresses }] of machine.interfaces.entries()) {
    if (!names.includes(name)) continue;
    const { received, missed, sent } = network.shown(port);
    out(
      row([
        name,
        mtu,
        `<Link#${index + 1}>`,
        mac,
        count(received.packets),
        0,
        count(missed.packets),
        count(received.bytes),
        count(sent.packets),
        0,
        count(sent.bytes),
        0,
      ]),
    );
    for (const text of addresses) {
      const [, address = ''] = text.split(' ');
      out(row([name, '-', networkOf(text), address, 0, '-', '-', 0, 0, '-', 0, '-']));
    }
  }
  return 0;
}
