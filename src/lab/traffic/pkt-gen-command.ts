// Builds the commands of netmap's pkt-gen(8) that receive and send a trial on FreeBSD hosts.

import type { FlowSlice, Flows } from '../../model/flows.ts';
import { netmapPort } from '../../model/freebsd-port.ts';
import type { Family } from '../../model/scenario.ts';
import type { Packets } from '../../model/traffic.ts';
import { type Command, type ShellWord, shell } from '../../system/shell.ts';

type ReceiverRequest = {
  interface: string;
  /** Time before the first packet: opening a port for netmap takes its link down for 2 to 4 s. */
  settleSeconds: number;
  /** Time from the start to the interrupt that ends it with its summary; includes settling. */
  seconds: number;
};

export type SenderRequest = ReceiverRequest & {
  family: Family;
  flows: FlowSlice;
  /** Size of the Ethernet frame with its 4 bytes of CRC; pkt-gen sends no frame longer than the port's MTU and those 4. */
  frameBytes: number;
  /** Only the first port of each range. */
  ports?: Packets['ports'];
  /** Address of the netmap port: a virtual interface has its own MAC address. */
  sourceMac: string;
  destinationMac: string;
  /** Each uses a netmap ring. */
  threads: number;
  /** Rate of all threads together; absent: maximum. */
  ratePps?: number | undefined;
  /** Ends the trial early. */
  packets?: number;
  /** Only for the pkt-gen of FreeBSD's ports: others reject the option. */
  updatesChecksums?: boolean;
};

/** Counts until the interrupt; timeout(1) then exits with 124. Rates are on stderr, the summary on stdout. */
export function receiverCommand(request: ReceiverRequest): Command {
  return shell`${interrupted(request)} pkt-gen -N -f rx ${opened(request)}`;
}

/** Addresses count up in the networks of RFC 2544 and RFC 5180. Throws a RangeError for an impossible frame size. */
export function senderCommand(request: SenderRequest): Command {
  const { family, flows, ports, threads, sourceMac, destinationMac } = request;
  const version = family === 'inet4' ? shell`-4` : shell`-6`;
  const range = ranges[family];
  return shell`${interrupted(request)} pkt-gen -N -f tx ${opened(request)} -l ${bytesWithoutCrc(request)} ${version} -p ${threads} -S ${sourceMac} -s ${range.sources(flows, ports?.source?.first)} -d ${range.destinations(flows, ports?.destination?.first)} -D ${[destinationMac, ...optional(request)]}`;
}

/**
 * Prints its process id on stderr: sshd signals no process when its channel closes. The quoting is safe for csh, too.
 */
export const printingProcessId = (command: Command): Command =>
  shell`sh -c 'echo process $$ >&2; exec "$@"' sh ${command}`;

/** Prints its process id on stderr: sshd signals no process when its channel closes. Its quoting is safe for csh. */
export function processIdIn(log: string): number | undefined {
  const [, digits] = /^process (\d+)\r?\n/m.exec(log) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export const interruptCommand = (processId: number): Command => shell`kill -INT ${processId}`;

const interrupted = ({ seconds }: ReceiverRequest): Command => shell`timeout -s INT ${seconds}`;

const opened = ({ interface: name, settleSeconds }: ReceiverRequest): Command =>
  shell`-i ${netmapPort(name)} -w ${settleSeconds}`;

function bytesWithoutCrc({ family, frameBytes }: SenderRequest): number {
  const least = smallestFrameBytes[family];
  if (Number.isInteger(frameBytes) && frameBytes >= least && frameBytes <= longestFrameBytes) {
    return frameBytes - crcBytes;
  }
  throw new RangeError(
    `A frame of ${frameBytes} bytes cannot carry ${family} over Ethernet: choose one of ${least} to ${longestFrameBytes} bytes.`,
  );
}

const crcBytes = 4;
// Ethernet's minimum, and that of the headers: Ethernet 14, IPv6 40, UDP 8 and CRC 4.
const smallestFrameBytes: Record<Family, number> = { inet4: 64, inet6: 66 };
const longestFrameBytes = 1518;

function optional({ ratePps, threads, packets, updatesChecksums }: SenderRequest): ShellWord[] {
  return [
    // -R limits each thread, and 0 is no limit.
    ...(ratePps === undefined ? [] : ['-R', Math.max(1, Math.round(ratePps / threads))]),
    ...(packets === undefined ? [] : ['-n', packets]),
    ...(updatesChecksums ? ['-U'] : []),
  ];
}

type Ranges = Record<keyof Flows, (flows: FlowSlice, port?: number) => string>;

/** Without a port, pkt-gen uses 1234 on both sides; pf drops port 0. */
const ranges: Record<Family, Ranges> = {
  inet4: {
    sources: ({ sources, firstSource = 1 }, port = 2000) =>
      `${inet4(18, firstSource)}:${port}-${inet4(18, firstSource + sources - 1)}`,
    destinations: ({ destinations }, port = 2000) =>
      `${inet4(19, 1)}:${port}-${inet4(19, destinations)}`,
  },
  inet6: {
    sources: ({ sources, firstSource = 1 }, port) =>
      `${inet6('10', firstSource)}${colon(port)}-${inet6('10', firstSource + sources - 1)}`,
    destinations: ({ destinations }, port) =>
      `${inet6('8010', 1)}${colon(port)}-${inet6('8010', destinations)}`,
  },
};

const colon = (port: number | undefined): string => (port === undefined ? '' : `:${port}`);

/** The addresses of 198.18.0.0/16 or 198.19.0.0/16 from .10.1 on, counted from 1. */
const inet4 = (network: number, index: number): string =>
  `198.${network}.${10 + Math.floor(index / 256)}.${index % 256}`;

/** The addresses of 2001:2::/49 or 2001:2:0:8000::/49 in one of their subnets, counted from 1. */
const inet6 = (subnet: string, index: number): string =>
  `[2001:2:0:${subnet}::${index.toString(16)}]`;

/** True once pkt-gen has opened its port and waited for the link, so that the sender may start. */
export const isReady = (logSoFar: string): boolean =>
  /^\d+\.\d+ \w+ \[\d+\] (?:Ready\.\.\.|reading from .*)\r?$/m.test(logSoFar);
