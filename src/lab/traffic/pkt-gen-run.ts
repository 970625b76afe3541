// From the logs of a run to its number, and whether it counts.

import { formatGeneral } from '../../analysis/stats/printf.ts';
import {
  holes,
  type SteadyStretch,
  secondsUntilSteady,
  steadyStretch,
} from '../../analysis/stats/steady.ts';
import { median } from '../../analysis/stats/summary.ts';
import { formatPercent, formatPps, grouped } from '../../model/format.ts';
import type { Validity } from '../../model/result.ts';
import { lineRate, type PktGenLog, type PktGenRate } from './pkt-gen.ts';

export type PktGenRun = {
  /** What came through, in packets per second; 0 where nothing could be measured. */
  medianPps: number;
  /** What all senders sent, each in its own steady stretch; absent where no log tells of one. */
  offeredPps?: number;
  /** Time of the traffic that the median is of. */
  seconds: number;
  /** Rates from the log's first on until the median was known to 0.5 %; absent where it never was. */
  steadyAfterSeconds?: number;
  validity: Validity;
};

export type PktGenRunOptions = {
  /** The median as the netbenches archive computes it, in place of the median of the steady stretch. */
  netbenchesTrim: boolean;
  /** What each sender was asked for, in the order of their logs; absent: as much as it can. */
  requestedPps?: readonly number[];
  /** What the DUT says that it sent to the receiver during the trial; absent where it does not tell. */
  egressPackets?: number | undefined;
  /** What came to the DUT from the senders, by its own count, dropped or not; absent where it does not tell. */
  ingressPackets?: number | undefined;
};

/**
 * A run's number and validity, from the receiver's log and, where there are any, the senders'. Whether the run counts
 * is judged by its steady stretch, whichever the median is of. One in which the DUT got its packets, and let none
 * through from the first second to the last, counts like any other: with 0.
 */
export function pktGenRun(
  receiver: PktGenLog,
  sender: PktGenLog | readonly PktGenLog[] | undefined,
  { netbenchesTrim, requestedPps = [], egressPackets, ingressPackets }: PktGenRunOptions,
): PktGenRun {
  const senders = namedSenders([sender ?? []].flat());
  const pps = ratesOf(receiver);
  const stretch = steadyStretch(pps);
  const counted = netbenchesTrim ? netbenchesRates(receiver) : ratesWithin(receiver, stretch);
  const seconds = sum(counted.map(({ intervalSeconds }) => intervalSeconds));
  const medianPps = median(counted.map(({ pps }) => pps));
  const offeredPps = offeredBy(senders);
  const steadyAfterSeconds = secondsUntilSteady(pps);
  const dut = { egressPackets, ingressPackets };
  const fault = isSilent(receiver)
    ? (brokenLog(receiver, senders) ??
      unlessDropped(receiver, senders, dut) ??
      slowSender(senders, requestedPps))
    : (brokenLog(receiver, senders) ??
      unsteady(receiver, stretch) ??
      tooShort(receiver, seconds) ??
      hole(receiver, stretch) ??
      unsteadySender(senders) ??
      slowSender(senders, requestedPps) ??
      receiverLimited(receiver, medianOf(stretch), senders, egressPackets) ??
      generatorLimited(medianOf(stretch), offeredPps, senders));
  return {
    medianPps: netbenchesTrim ? asPrinted(medianPps) : medianPps,
    ...(offeredPps === undefined ? {} : { offeredPps }),
    seconds,
    ...(steadyAfterSeconds === undefined ? {} : { steadyAfterSeconds }),
    validity: fault ?? { kind: 'valid' },
  };
}

type Invalid = Extract<Validity, { kind: 'invalid' }>;

const invalid = (cause: Invalid['cause'], reason: string): Invalid => ({
  kind: 'invalid',
  cause,
  reason,
});

const ratesOf = (log: PktGenLog): number[] => log.rates.map(({ pps }) => pps);

type SenderLog = { name: string; log: PktGenLog; stretch: SteadyStretch };

const namedSenders = (logs: readonly PktGenLog[]): SenderLog[] =>
  logs.map((log, index) => ({
    name: logs.length === 1 ? 'sender' : `sender ${index + 1}`,
    log,
    stretch: steadyStretch(ratesOf(log)),
  }));

const medianOf = (stretch: SteadyStretch): number | undefined =>
  stretch.kind === 'steady' ? stretch.medianPps : undefined;

/** Undefined where one of them is not known, or there is none. */
function offeredBy(senders: readonly SenderLog[]): number | undefined {
  const medians = senders.flatMap(({ stretch }) => medianOf(stretch) ?? []);
  return medians.length === 0 || medians.length < senders.length ? undefined : sum(medians);
}

const firstLinesDropped = 15;
const lastLinesDropped = 10;

/**
 * The rates that the archive's `.pps` files are medians of: it drops the first 15 and the last 10 lines of the file,
 * whatever they say, and then rates of zero. A line without its newline is no line to it. Of a file of 25 lines or
 * fewer nothing is left (the archive's script stumbles there, and gives no number either).
 */
function netbenchesRates({ rates, lines }: PktGenLog): PktGenRate[] {
  return rates.filter(
    ({ line, pps }) => line > firstLinesDropped && line <= lines - lastLinesDropped && pps > 0,
  );
}

/** The archive's script reads its medians off ministat's rows, which have eight digits. */
const asPrinted = (pps: number): number => Number(formatGeneral(pps, 8));

function ratesWithin({ rates }: PktGenLog, stretch: SteadyStretch): PktGenRate[] {
  return stretch.kind === 'unsteady' ? [] : rates.slice(stretch.from, stretch.to);
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** What no number survives. A log that is only cut short, or that ends in nonsense, still has its seconds. */
function brokenLog(receiver: PktGenLog, senders: readonly SenderLog[]): Invalid | undefined {
  const [fault] = [{ name: 'receiver', log: receiver }, ...senders].flatMap(({ name, log }) => {
    const message = decisiveFault(log);
    return message === undefined ? [] : invalid('broken-log', `${name}: ${message}`);
  });
  return fault;
}

const decisiveFault = ({ faults }: PktGenLog): string | undefined =>
  faults.find(({ kind }) => kind === 'unreadable' || kind === 'not-pkt-gen' || kind === 'crashed')
    ?.message;

const isSilent = ({ rates }: PktGenLog): boolean =>
  rates.length > 0 && rates.every(({ pps }) => pps === 0);

/** The DUT has to have seen this share of what was sent: of what it drops some cards count only a part. */
const leastArrivedRatio = 0.5;
/** More than this share of what was sent is no ARP and the like. */
const mostBesideRatio = 1e-4;

/**
 * A dead link looks like a DUT that forwards nothing. That it does so is told by the DUT's own ports alone: packets came
 * in throughout, and none went out.
 */
function unlessDropped(
  { rates }: PktGenLog,
  senders: readonly SenderLog[],
  { egressPackets, ingressPackets }: Pick<PktGenRunOptions, 'egressPackets' | 'ingressPackets'>,
): Invalid | undefined {
  const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
  const silence = `not one packet came through in ${seconds.toFixed(0)} s`;
  const sent = sum(senders.map(({ log }) => packetsOf(log)));
  if (sent > 0 && egressPackets !== undefined && egressPackets > mostBesideRatio * sent) {
    const left = `although ${grouped(egressPackets)} left the DUT`;
    return invalid('unsteady', `no steady rate: ${silence}, ${left}`);
  }
  const arrived = sent > 0 && egressPackets !== undefined ? (ingressPackets ?? 0) : 0;
  if (!(arrived > 0 && arrived >= leastArrivedRatio * sent)) {
    const why = 'because a link was down or the DUT forwards nothing';
    return invalid('unsteady', `no steady rate: ${silence}, ${why}`);
  }
  if (seconds >= leastSeconds) return unsteadySender(senders);
  return invalid('too-short', `${silence}, at least ${leastSeconds} s are needed`);
}

function unsteady(receiver: PktGenLog, stretch: SteadyStretch): Invalid | undefined {
  if (stretch.kind === 'steady') return undefined;
  return invalid('unsteady', `no steady rate: ${stretch.reason}${cutNote(receiver)}`);
}

/** Below this a median of one-second rates, and the look for holes and drift, say little. */
export const leastSeconds = 10;

function tooShort(receiver: PktGenLog, seconds: number): Invalid | undefined {
  if (seconds >= leastSeconds) return undefined;
  const few = `only ${seconds.toFixed(1)} s of steady traffic`;
  return invalid('too-short', `${few}, at least ${leastSeconds} s are needed${cutNote(receiver)}`);
}

/** A cut log that has enough seconds left loses only the line that was cut; one that has not says why. */
function cutNote({ faults }: PktGenLog): string {
  const cut = faults.find(({ kind }) => kind === 'cut');
  return cut === undefined ? '' : ` (${cut.message})`;
}

function hole(receiver: PktGenLog, stretch: SteadyStretch): Invalid | undefined {
  if (stretch.kind === 'unsteady') return undefined;
  const [first] = holes(ratesOf(receiver), stretch, stretch.medianPps);
  if (first === undefined) return undefined;
  const rates = receiver.rates.slice(first.from, first.to);
  const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
  const until = rates.at(-1)?.seconds ?? 0;
  const lost = rates.every(({ pps }) => pps === 0) ? 'no packet' : 'hardly a packet';
  const when = `${seconds.toFixed(1)} s, until ${until.toFixed(0)} s after the log's first rate`;
  return invalid('hole', `${lost} came through for ${when}`);
}

/** A sender that is unsteady leaves nobody to know what was offered. */
function unsteadySender(senders: readonly SenderLog[]): Invalid | undefined {
  const [fault] = senders.flatMap(({ name, stretch }) =>
    stretch.kind === 'steady'
      ? []
      : invalid('unsteady', `${name}: no steady rate: ${stretch.reason}`),
  );
  return fault;
}

/** Under another load than that of the other runs a DUT forwards another number of packets. */
const leastOfAsked = 0.95;

function slowSender(
  senders: readonly SenderLog[],
  askedPps: readonly number[],
): Invalid | undefined {
  const [fault] = senders.flatMap(({ name, stretch }, index) => {
    const [sent, asked] = [medianOf(stretch), askedPps[index]];
    if (sent === undefined || asked === undefined || sent >= leastOfAsked * asked) return [];
    const share = `${formatPps(sent)} of ${formatPps(asked)} (${formatPercent(sent / asked)})`;
    return invalid('generator-limited', `${name}: slower than asked, it sent ${share}`);
  });
  return fault;
}

/**
 * The receiver has to count this share of what the DUT says that it sent. What it may lose beside hides no change that is
 * larger than the usual margin; what else leaves the DUT by that port is far less, as ARP is.
 */
const leastCountedRatio = 0.98;

/**
 * Packets are held against packets, and rates against rates, and the better of the two counts: a link that came up late
 * loses packets which some cards count as sent, and leaves the rate as it was; a rate that falls as the DUT gets warm is
 * above its median on average, and loses no packets. A receiver that is too slow has too little of both.
 */
function receiverLimited(
  receiver: PktGenLog,
  medianPps: number | undefined,
  senders: readonly SenderLog[],
  egressPackets: number | undefined,
): Invalid | undefined {
  const seconds = Math.max(...senders.map(({ log }) => secondsSent(log)));
  if (medianPps === undefined || !egressPackets || !(seconds > 0)) return undefined;
  const egressPps = egressPackets / seconds;
  const packetRatio = packetsOf(receiver) / egressPackets;
  if (Math.max(packetRatio, medianPps / egressPps) >= leastCountedRatio) return undefined;
  const counted = `the receiver counted ${formatPps(medianPps)}`;
  return invalid(
    'receiver-limited',
    `receiver-limited: the DUT sent ${formatPps(egressPps)} and ${counted}`,
  );
}

/** The summary counts what comes after the last rate, too. */
const packetsOf = ({ summary, rates }: PktGenLog): number =>
  summary?.packets ?? sum(rates.map(({ packets }) => packets));

const secondsSent = ({ summary, rates }: PktGenLog): number =>
  summary?.seconds ?? sum(rates.map(({ pps, intervalSeconds }) => (pps > 0 ? intervalSeconds : 0)));

/** A DUT that forwards this share of the load was not its limit. */
const saturatedRatio = 0.98;

/** Without a sender's log nobody can tell. */
function generatorLimited(
  medianPps: number | undefined,
  offeredPps: number | undefined,
  senders: readonly SenderLog[],
): Invalid | undefined {
  if (medianPps === undefined || offeredPps === undefined) return undefined;
  const ratio = medianPps / offeredPps;
  if (ratio < saturatedRatio) return undefined;
  const through = `${formatPps(medianPps)} came through of ${formatPps(offeredPps)} offered`;
  const [sender, ...others] = senders;
  const line = others.length > 0 ? '' : lineNote(offeredPps, sender?.log.frameBytesWithoutCrc);
  return invalid(
    'generator-limited',
    `generator-limited: ${through} (${formatPercent(ratio)})${line}`,
  );
}

function lineNote(offeredPps: number, frameBytesWithoutCrc: number | undefined): string {
  if (frameBytesWithoutCrc === undefined) return '';
  const line = lineRate(offeredPps, frameBytesWithoutCrc);
  if (line === undefined) return '';
  return `, and the line carries ${formatPps(line.pps)} (${line.bitsPerSecond / 1e9} Gbit/s)`;
}
