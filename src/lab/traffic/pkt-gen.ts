// Parses the logs of netmap's pkt-gen(8), of senders and receivers.
import { shortened } from '../../model/one-line.ts';

/** One `main_thread … pps` line, written about once a second. */
export type PktGenRate = {
  /** End of its interval, in seconds since the end of the first one. */
  seconds: number;
  pps: number;
  packets: number;
  intervalSeconds: number;
  line: number;
};

/** `message` is a clause for reports. A log has the first fault of each kind. */
export type PktGenFault = {
  kind: 'unreadable' | 'not-pkt-gen' | 'crashed' | 'negative-duration' | 'unread-rate' | 'cut';
  message: string;
};

export type PktGenLog = {
  /** Command that bench-lab writes on the first line. */
  command?: string;
  /** Size of each packet sent or received. */
  frameBytesWithoutCrc?: number;
  rates: PktGenRate[];
  summary?: { packets: number; seconds: number; pps: number };
  /** Lines with a newline. */
  lines: number;
  /** Lines of other programs, and unrecognizable ones; all lines are these, the rates and pkt-gen's other lines. */
  skipped: number;
  faults: PktGenFault[];
};

/**
 * Reads the formats of 2015 to 2026, with and without -N; skips and counts other lines, which kernels, shells and ssh write.
 * Never throws.
 */
export function parsePktGenLog(text: string): PktGenLog {
  const log: PktGenLog = { rates: [], lines: 0, skipped: 0, faults: [] };
  const unread: UnreadRate[] = [];
  let isPktGen = false;
  let lastStamp: number | undefined;
  let isInterrupted = false;
  for (const { content, number, isWhole } of linesOf(text)) {
    const line = readLine(content);
    isPktGen ||= line.kind !== 'foreign';
    if (line.kind === 'foreign') log.skipped += 1;
    if (line.kind === 'unread-rate' && isWhole) unread.push({ number, content });
    if (isWhole) log.lines = number;
    if (line.kind === 'interrupted') isInterrupted = true;
    // A thread reports an interrupt in the same words as a crash.
    if (line.kind === 'crash' && isInterrupted) continue;
    if (line.kind === 'rate') {
      log.rates.push({
        ...line.rate,
        seconds: secondsAt(line, log.rates.at(-1), lastStamp),
        line: number,
      });
      lastStamp = line.stamp;
    } else if (isWhole || line.kind === 'crash') {
      addLine(log, line, number);
    } else {
      const message = `line ${number} of the log, its last, has no line break: "${shortened(content)}"`;
      addFault(log, { kind: 'cut', message });
    }
  }
  if (!isPktGen) return { ...log, rates: [], faults: [notPktGen(text)] };
  addUnread(log, unread);
  return log;
}

type UnreadRate = { number: number; content: string };

type PktGenLine =
  | { kind: 'rate'; stamp: number; rate: Omit<PktGenRate, 'seconds' | 'line'> }
  | { kind: 'command'; text: string; frameBytesWithoutCrc?: number }
  | { kind: 'summary'; packets: number; frameBytesWithoutCrc: number; seconds: number }
  | { kind: 'crash'; text: string }
  /** Begins as a rate: another line was written into it, or its format is not known. */
  | { kind: 'unread-rate' }
  /** A thread that waited for packets got SIGINT. */
  | { kind: 'interrupted' }
  /** A line of pkt-gen that is not needed here. */
  | { kind: 'other' }
  /** A line of another program, or an unknown one: `Terminated`. */
  | { kind: 'foreign' };

/** Far longer than any line of pkt-gen; the rest of a line is ignored. */
const longestLine = 4096;

function* linesOf(text: string) {
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const content = text.slice(start, Math.min(end, start + longestLine)).trimEnd();
    number += 1;
    yield { content, number, isWhole: newline !== -1 };
    start = end + 1;
  }
}

/** `seconds.microseconds function [line of its source] `, before the text of netmap's logging macro. */
const stamped = /^\d{1,9}\.\d{1,9} \w{1,40} \[\d{1,9}\] /;
/** Without -N, pkt-gen scales numbers to three decimals and a prefix (norm() of pkt-gen.c): `6.728 M`. */
const quantity = String.raw`(\d{1,15}(?:\.\d{1,9})? ?[kKMGT]?) ?`;
const batch = String.raw` [\d.]{1,18} avg_batch \d{1,18} min_space`;
const rateLine = new RegExp(
  String.raw`^(\d{1,9}\.\d{1,9}) main_thread \[\d{1,9}\] ${quantity}pps (?:\[avg/std [^\]]{1,80}\] )?` +
    String.raw`\(${quantity}pkts (?:in (\d{1,15}) usec\)(?:${batch})?|` +
    String.raw`[\d.]{1,18} ?[kKMGT]? ?bps in (\d{1,15}) usec\)${batch})$`,
);
const begunRate = /^\d{1,9}\.\d{1,9} main_thread \[\d{1,9}\] \d/;
const crash = /\] (poll err|ouch, thread \d{1,9} exited with error)$/;
const interrupt = /\] poll(?:\(\))? error(?: on queue \d{1,9})?: Interrupted system call$/;
const summaryLine =
  /^(?:Sent|Received) (\d{1,15}) packets,? (?:\d{1,18} bytes \d{1,15} events )?(\d{1,9}) bytes each,? in (-?\d{1,12}\.\d{1,9}) seconds\.$/;
const commandLine = /^CMD(?: on \S{1,255})?: (.*\bpkt-gen\b.*)$/;

function readLine(content: string): PktGenLine {
  const rate = rateLine.exec(content);
  if (rate !== null) return rateOf(rate);
  if (stamped.test(content)) return stampedLine(content);

  const [, packets, frameBytes, seconds] = summaryLine.exec(content) ?? [];
  if (packets !== undefined) {
    return {
      kind: 'summary',
      packets: Number(packets),
      frameBytesWithoutCrc: Number(frameBytes),
      seconds: Number(seconds),
    };
  }
  const command = commandLine.exec(content)?.[1];
  return command === undefined ? { kind: 'foreign' } : commandOf(command);
}

function rateOf([, stamp, pps = '', packets = '', alone, afterBits]: RegExpExecArray): PktGenLine {
  const intervalSeconds = Number(alone ?? afterBits) / 1e6;
  const rate = { pps: unscaled(pps), packets: unscaled(packets), intervalSeconds };
  return { kind: 'rate', stamp: Number(stamp), rate };
}

function unscaled(text: string): number {
  const [, digits, prefix = ''] = /^([\d.]+) ?(.?)$/.exec(text) ?? [];
  const scale = 1000 ** (1 + 'KMGT'.indexOf(prefix.toUpperCase()));
  return prefix === '' ? Number(digits) : Math.round(Number(digits) * scale);
}

function stampedLine(content: string): PktGenLine {
  const text = crash.exec(content)?.[1];
  if (text !== undefined) return { kind: 'crash', text };
  if (interrupt.test(content)) return { kind: 'interrupted' };
  return { kind: begunRate.test(content) ? 'unread-rate' : 'other' };
}

const defaultFrameBytes = 60;

function commandOf(text: string): PktGenLine {
  const size = /\s-l\s*(\d{1,5})(?!\S)/.exec(text)?.[1];
  if (size !== undefined) return { kind: 'command', text, frameBytesWithoutCrc: Number(size) };
  const sends = /\s-f\s*tx(?!\S)/.test(text);
  return { kind: 'command', text, ...(sends ? { frameBytesWithoutCrc: defaultFrameBytes } : {}) };
}

/** pkt-gen prints its clock modulo this many seconds. */
const stampCycle = 1000;

/** Returns the time that fits the stamp and is nearest to the rate's own interval; never goes back. */
function secondsAt(
  { stamp, rate }: Extract<PktGenLine, { kind: 'rate' }>,
  before: PktGenRate | undefined,
  lastStamp: number | undefined,
): number {
  if (before === undefined || lastStamp === undefined) return 0;
  const step = stamp - lastStamp;
  const cycles = Math.round((rate.intervalSeconds - step) / stampCycle);
  return before.seconds + Math.max(0, step + cycles * stampCycle);
}

function addLine(log: PktGenLog, line: PktGenLine, number: number): void {
  if (line.kind === 'command') {
    const { text, frameBytesWithoutCrc: bytes } = line;
    log.command ??= text;
    if (bytes !== undefined) log.frameBytesWithoutCrc ??= bytes;
  }
  if (line.kind === 'summary') addSummary(log, line);
  if (line.kind === 'crash') {
    addFault(log, {
      kind: 'crashed',
      message: `pkt-gen crashed: "${line.text}" on line ${number}`,
    });
  }
}

function addUnread(log: PktGenLog, unread: readonly UnreadRate[]): void {
  const [first] = unread;
  if (first === undefined) return;
  const lines = unread.length === 1 ? 'line' : `${unread.length} rates, the first on line`;
  const message = `${lines} ${first.number} of the log cannot be read: "${shortened(first.content)}"`;
  addFault(log, { kind: 'unread-rate', message });
}

/** pkt-gen prints a negated duration since 1970 if its threads never started. */
function addSummary(
  log: PktGenLog,
  { packets, frameBytesWithoutCrc, seconds }: Extract<PktGenLine, { kind: 'summary' }>,
): void {
  log.frameBytesWithoutCrc ??= frameBytesWithoutCrc;
  if (seconds < 0) {
    const message = `pkt-gen's summary has a negative duration, ${seconds} s`;
    addFault(log, { kind: 'negative-duration', message });
  }
  if (seconds > 0) log.summary = { packets, seconds, pps: packets / seconds };
}

function addFault(log: PktGenLog, fault: PktGenFault): void {
  if (!log.faults.some(({ kind }) => kind === fault.kind)) log.faults.push(fault);
}

function notPktGen(text: string): PktGenFault {
  return {
    kind: 'not-pkt-gen',
    message: `not a log of pkt-gen: it ${description(text.slice(0, longestLine))}`,
  };
}

function description(start: string): string {
  if (start.trim() === '') return 'is empty';
  if (start.includes('\0')) return 'is binary';
  if (/^CMD\b.{0,255}: equilibrium |using equilibrium throughput/m.test(start)) {
    return 'is from equilibrium, which varies the offered load';
  }
  return `begins with "${shortened(start)}"`;
}

const gigabitSpeeds = [1, 2.5, 10, 25, 40, 50, 100, 200, 400];
const crcBytes = 4;
const smallestFrameBytes = 64;
/** Preamble, start delimiter and the gap between frames, IEEE 802.3. */
const wireBytesPerFrame = 20;
/** Allows for clocks that differ: a generator's second may be longer than its link's. */
const clockTolerance = 1.001;

/** An Ethernet link, and its maximum rate for frames of one size. */
export type Line = { bitsPerSecond: number; pps: number };

export function lineAt(bitsPerSecond: number, frameBytesWithoutCrc: number): Line {
  const frameBytes = Math.max(smallestFrameBytes, frameBytesWithoutCrc + crcBytes);
  return { bitsPerSecond, pps: bitsPerSecond / ((frameBytes + wireBytesPerFrame) * 8) };
}

/** Returns the slowest standard Ethernet speed that carries that rate, and its maximum rate; undefined if none does. */
export const lineRate = (pps: number, frameBytesWithoutCrc: number): Line | undefined =>
  gigabitSpeeds
    .map((gigabits) => lineAt(gigabits * 1e9, frameBytesWithoutCrc))
    .find((line) => pps <= line.pps * clockTolerance);
