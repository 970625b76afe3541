// Builds the commands of netmap's pkt-gen(8) that receive and send a trial on FreeBSD hosts.

import type { FlowSlice } from '../../model/flows.ts';
import { netmapPort } from '../../model/freebsd-port.ts';
import { addressText, hostAt, knownNetwork } from '../../model/networks.ts';
import type { Family } from '../../model/scenario.ts';
import type { Packets } from '../../model/traffic.ts';
import { type Command, type ShellWord, shell } from '../../system/shell.ts';

type ReceiverRequest = {
  interface: string;
  /** Time before the first packet: opening a port for netmap takes its link down for 2 to 4 s. */
  settleSeconds: number;
  /** Time from the start to the interrupt that ends pkt-gen with its summary; includes settling. */
  seconds: number;
};

export type SenderRequest = ReceiverRequest & {
  family: Family;
  flows: FlowSlice;
  /** Size of the Ethernet frame with its 4 bytes of CRC; pkt-gen sends no frame longer than the port's MTU and those 4. */
  frameBytes: number;
  /** Uses only the first port of each range. */
  ports?: Packets['ports'];
  addresses?: Packets['addresses'];
  /** Address of the netmap port: a virtual interface has its own MAC address. */
  sourceMac: string;
  destinationMac: string;
  /** Each thread uses a netmap ring. */
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

export function senderCommand(request: SenderRequest): Command {
  const { family, flows, threads, sourceMac, destinationMac } = request;
  const version = family === 'inet4' ? shell`-4` : shell`-6`;
  return shell`${interrupted(request)} pkt-gen -N -f tx ${opened(request)} -l ${request.frameBytes - crcBytes} ${version} -p ${threads} -S ${sourceMac} -s ${rangeOf('source', request, flows.firstSource ?? 1, flows.sources)} -d ${rangeOf('destination', request, 1, flows.destinations)} -D ${[destinationMac, ...optional(request)]}`;
}

/**
 * Prints its process id on stderr: sshd signals no process when its channel closes. The quoting is safe for csh, too.
 */
export const printingProcessId = (command: Command): Command =>
  shell`sh -c 'echo process $$ >&2; exec "$@"' sh ${command}`;

/** Reads the process id that `printingProcessId` had the command print. */
export function processIdIn(log: string): number | undefined {
  const [, digits] = /^process (\d+)\r?\n/m.exec(log) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export const interruptCommand = (processId: number): Command => shell`kill -INT ${processId}`;

const interrupted = ({ seconds }: ReceiverRequest): Command => shell`timeout -s INT ${seconds}`;

const opened = ({ interface: name, settleSeconds }: ReceiverRequest): Command =>
  shell`-i ${netmapPort(name)} -w ${settleSeconds}`;

const crcBytes = 4;
function optional({ ratePps, threads, packets, updatesChecksums }: SenderRequest): ShellWord[] {
  return [
    // -R limits each thread, and 0 is no limit.
    ...(ratePps === undefined ? [] : ['-R', Math.max(1, Math.round(ratePps / threads))]),
    ...(packets === undefined ? [] : ['-n', packets]),
    ...(updatesChecksums ? ['-U'] : []),
  ];
}

/** `first` counts from 1. Without a port, pkt-gen uses 1234 on both sides; pf drops port 0. */
function rangeOf(side: Side, request: SenderRequest, first: number, count: number): string {
  const { family, ports } = request;
  const [from, to] = [first, first + count - 1].map((index) => addressOf(side, request, index));
  const port = ports?.[side]?.first;
  return family === 'inet4'
    ? `${from}:${port ?? 2000}-${to}`
    : `[${from}]${port === undefined ? '' : `:${port}`}-[${to}]`;
}

type Side = 'source' | 'destination';

/**
 * Counts from 1 in a site's network; else from .10.1 on in 198.18.0.0/16 or 198.19.0.0/16, or in a subnet of 2001:2::/49 or
 * 2001:2:0:8000::/49.
 */
function addressOf(
  side: Side,
  { family, addresses = {} }: Pick<SenderRequest, 'family' | 'addresses'>,
  index: number,
): string {
  const network = addresses[family]?.[side];
  if (network !== undefined) {
    return addressText(hostAt(knownNetwork(network, family), index - 1), family);
  }
  return family === 'inet4'
    ? `198.${side === 'source' ? 18 : 19}.${10 + Math.floor(index / 256)}.${index % 256}`
    : `2001:2:0:${side === 'source' ? '10' : '8010'}::${index.toString(16)}`;
}

/** True once pkt-gen has opened its port and waited for the link, so that the sender may start. */
export const isReady = (logSoFar: string): boolean =>
  /^\d+\.\d+ \w+ \[\d+\] (?:Ready\.\.\.|reading from .*)\r?$/m.test(logSoFar);
