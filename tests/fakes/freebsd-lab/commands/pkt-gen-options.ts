// pkt-gen's command line, as far as the lab implements tools/tools/netmap/pkt-gen.c of FreeBSD.
import { isIPv6 } from 'node:net';
import type { Family } from '../../../../src/model/scenario.ts';
import { notModelled } from '../process.ts';
import { readOptions } from './options.ts';

export type PktGenOptions = {
  /** Absent: the command lacks it. */
  interface: string | undefined;
  sends: boolean;
  family: Family;
  frameBytesWithoutCrc: number;
  waitSeconds: number;
  threads: number;
  /** Zero for as many as possible. */
  ratePps: number;
  destinationMac: string;
  source: AddressRange;
  destination: AddressRange;
};

type AddressRange = { first: string; size: number };

export function readPktGen(args: readonly string[]): PktGenOptions {
  const { has, value } = readOptions(args, '46f:Nn:i:l:d:s:D:S:p:w:R:U');
  const number = (name: string, absent: number) => Number(value(name) ?? absent);
  return {
    interface: value('i')?.replace(/^netmap:/, ''),
    sends: value('f') === 'tx',
    family: has('6') ? 'inet6' : 'inet4',
    frameBytesWithoutCrc: number('l', 60),
    waitSeconds: number('w', 2),
    threads: number('p', 1),
    ratePps: number('R', 0),
    destinationMac: value('D') ?? 'ff:ff:ff:ff:ff:ff',
    source: readRange(value('s') ?? '10.0.0.1'),
    destination: readRange(value('d') ?? '10.1.0.1'),
  };
}

const rangeForms = [
  /^(?<first>[\d.]+)(?::\d+)?(?:-(?<last>[\d.]+)(?::\d+)?)?$/,
  /^\[(?<first>[\da-f:]+)\](?::\d+)?(?:-\[(?<last>[\da-f:]+)\](?::\d+)?)?$/i,
];

function readRange(text: string): AddressRange {
  const groups = rangeForms.map((form) => form.exec(text)?.groups).find(Boolean);
  const first = groups?.first ?? notModelled();
  const last = groups?.last ?? first;
  return { first, size: lowBits(last) - lowBits(first) + 1 };
}

/** Enough of an address to count within a range: its last 16 bits. */
function lowBits(address: string): number {
  if (isIPv6(address)) return Number.parseInt(address.split(':').at(-1) || '0', 16);
  const [, , high = 0, low = 0] = address.split('.').map(Number);
  return high * 256 + low;
}
