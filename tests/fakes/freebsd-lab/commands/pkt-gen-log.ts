// Output of pkt-gen -N, line by line, in its newest format (netmap's D macro and tx_output).
import type { Process } from '../process.ts';
import type { PktGenOptions } from './pkt-gen-options.ts';

/** Time between two reports of pkt-gen, which are a little late. */
export const reportSeconds = 1.001;

/** After an interrupt the threads end, and the next report is the last. */
export const lastReportSeconds = 1.03;

/** Writes to stderr: `seconds.microseconds function [line of its source] words`, the clock modulo 1000 s. */
export function say({ err, deps }: Process, place: string, line: number, words: string): void {
  const stamp = (deps.clock.now() % 1000).toFixed(6).padStart(10, '0');
  err(`${stamp} ${place} [${line}] ${words}\n`);
}

/** The handler of SIGINT writes first; the thread that sends or reads ends later. */
export const sayInterrupt = (process: Process): void =>
  say(process, 'sigint_h', 574, 'received control-C on thread 0x7e730012000');

/** Microseconds; it does not report shorter intervals. */
const shortestReport = 10_000;

/** Counts of an interval. */
export function sayRate(process: Process, options: PktGenOptions, packets: number, seconds: number): void {
  const microseconds = Math.round(seconds * 1e6);
  if (microseconds < shortestReport) return;
  const pps = Math.floor((packets * 1e6 + microseconds / 2) / Math.max(1, microseconds));
  const bits = packets * options.frameBytesWithoutCrc * 8;
  const rate = `${pps} pps (${packets} pkts ${bits} bps in ${microseconds} usec)`;
  const batch = packets > 0 ? batchPackets(options) : 0;
  const space = packets > 0 ? 512 : 99_999;
  say(process, 'main_thread', 2786, `${rate} ${batch.toFixed(2)} avg_batch ${space} min_space`);
}

const batchPackets = ({ sends }: PktGenOptions): number => (sends ? 277.93 : 23.01);

export type Result = {
  packets: number;
  /** Negative if a thread died before it recorded its end. */
  seconds: number;
};

/** Prints the summary to stdout, which is written at the end. */
export function sayResult(process: Process, options: PktGenOptions, result: Result): void {
  process.out(`${resultLine(options, result)}\n`);
}

function resultLine(options: PktGenOptions, { packets, seconds }: Result): string {
  const did = options.sends ? 'Sent' : 'Received';
  if (packets === 0) return `${did} nothing.`;
  const size = options.frameBytesWithoutCrc;
  const events = Math.ceil(packets / batchPackets(options));
  return `${did} ${packets} packets ${packets * size} bytes ${events} events ${size} bytes each in ${seconds.toFixed(2)} seconds.`;
}
