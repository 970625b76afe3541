// Computes the number and the validity of a run from its logs.

import { formatGeneral } from '../../analysis/stats/printf.ts';
import { holes, type SteadyStretch, secondsUntilSteady, steadyStretch } from '../../analysis/stats/steady.ts';
import { median } from '../../analysis/stats/summary.ts';
import { formatPercent, formatPps, grouped } from '../../model/format.ts';
import type { Validity } from '../../model/result.ts';
import { type Line, lineAt, lineRate, type PktGenLog, type PktGenRate } from './pkt-gen.ts';

export type PktGenRun = {
  /** Received packets per second; 0 if nothing could be measured. */
  medianPps: number;
  /** Sum of the senders' rates, each in its own steady stretch; absent if one has none. */
  offeredPps?: number;
  seconds: number;
  /** Time from the log's first rate until the median was known to 0.5 %; absent if it never was. */
  steadyAfterSeconds?: number;
  validity: Validity;
};

export type PktGenRunOptions = {
  /** Computes the median as the netbenches archive does, not of the steady stretch. */
  netbenchesTrim: boolean;
  /** Requested rate of each sender, in the order of their logs; absent: maximum. */
  requestedPps?: readonly number[];
  /** Packets that the DUT sent to the receiver, by its own count; absent if unknown. */
  egressPackets?: number | undefined;
  /** Packets that reached the DUT, by its own count, dropped or not; absent if unknown. */
  ingressPackets?: number | undefined;
  /** Speed of the DUT's port towards the senders, in Gbit/s; absent if unknown. */
  lineGigabits?: number | undefined;
};

/**
 * Reads the receiver's log and any senders' logs. The steady stretch decides validity, for either median. A run counts
 * with 0 if the DUT received its packets, and forwarded none from the first second to the last.
 */
export function pktGenRun(
  receiver: PktGenLog,
  sender: PktGenLog | readonly PktGenLog[] | undefined,
  options: PktGenRunOptions,
): PktGenRun {
  const { netbenchesTrim, requestedPps = [], egressPackets, ingressPackets } = options;
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
    ? (brokenLog(receiver, senders) ?? unlessDropped(receiver, senders, dut) ?? slowSender(senders, requestedPps))
    : (brokenLog(receiver, senders) ??
      unsteady(receiver, stretch) ??
      tooShort(receiver, seconds) ??
      hole(receiver, stretch) ??
      unsteadySender(senders) ??
      slowSender(senders, requestedPps) ??
      receiverLimited(receiver, medianOf(stretch), senders, egressPackets) ??
      generatorLimited(medianOf(stretch), offeredPps, senders, options));
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

function offeredBy(senders: readonly SenderLog[]): number | undefined {
  const medians = senders.flatMap(({ stretch }) => medianOf(stretch) ?? []);
  return medians.length === 0 || medians.length < senders.length ? undefined : sum(medians);
}

const firstLinesDropped = 15;
const lastLinesDropped = 10;

/**
 * Selects rates as the archive's script does: it drops the first 15 and the last 10 lines of a file, of any content, and
 * then rates of zero. It ignores a line without its newline, and gives no number for 25 lines or fewer.
 */
function netbenchesRates({ rates, lines }: PktGenLog): PktGenRate[] {
  return rates.filter(({ line, pps }) => line > firstLinesDropped && line <= lines - lastLinesDropped && pps > 0);
}

/** The archive's script reads medians from ministat's rows, which have eight digits. */
const asPrinted = (pps: number): number => Number(formatGeneral(pps, 8));

function ratesWithin({ rates }: PktGenLog, stretch: SteadyStretch): PktGenRate[] {
  return stretch.kind === 'unsteady' ? [] : rates.slice(stretch.from, stretch.to);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** A log that is only truncated, or ends in garbage, still counts. */
function brokenLog(receiver: PktGenLog, senders: readonly SenderLog[]): Invalid | undefined {
  const [fault] = [{ name: 'receiver', log: receiver }, ...senders].flatMap(({ name, log }) => {
    const message = decisiveFault(log);
    return message === undefined ? [] : invalid('broken-log', `${name}: ${message}`);
  });
  return fault;
}

const decisiveFault = ({ faults, rates }: PktGenLog): string | undefined =>
  faults.find(
    ({ kind }) =>
      kind === 'unreadable' ||
      kind === 'not-pkt-gen' ||
      kind === 'crashed' ||
      (kind === 'unread-rate' && rates.length === 0),
  )?.message;

const isSilent = ({ rates }: PktGenLog): boolean => rates.length > 0 && rates.every(({ pps }) => pps === 0);

/** The DUT must have received this share of the sent packets: some cards count only a part of those they drop. */
const minArrivedRatio = 0.5;
/** A larger share of the sent packets is not ARP or similar traffic. */
const maxBesideRatio = 1e-4;

/**
 * Accepts silence only if the DUT's own ports prove it: packets came in, and none went out. A dead link looks the same.
 */
function unlessDropped(
  { rates }: PktGenLog,
  senders: readonly SenderLog[],
  { egressPackets, ingressPackets }: Pick<PktGenRunOptions, 'egressPackets' | 'ingressPackets'>,
): Invalid | undefined {
  const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
  const silence = `no packet was received in ${seconds.toFixed(0)} s`;
  const sent = sum(senders.map(({ log }) => packetsOf(log)));
  if (sent > 0 && egressPackets !== undefined && egressPackets > maxBesideRatio * sent) {
    const left = `although ${grouped(egressPackets)} left the DUT`;
    return invalid('unsteady', `no steady rate: ${silence}, ${left}`);
  }
  const arrived = sent > 0 && egressPackets !== undefined ? (ingressPackets ?? 0) : 0;
  if (!(arrived > 0 && arrived >= minArrivedRatio * sent)) {
    const counted = portsCounted({ ingressPackets, egressPackets });
    return invalid('unsteady', `no steady rate: ${silence}, ${counted}`);
  }
  if (seconds >= minSeconds) return unsteadySender(senders);
  return invalid('too-short', `${silence}, at least ${minSeconds} s are needed`);
}

/** Returns a clause, as a link that is down looks like a DUT that forwards nothing. */
function portsCounted({
  ingressPackets,
  egressPackets,
}: Pick<PktGenRunOptions, 'egressPackets' | 'ingressPackets'>): string {
  if (ingressPackets === undefined || egressPackets === undefined) {
    return 'and the packet counters of the DUT are unknown';
  }
  return `and the ports of the DUT counted ${grouped(ingressPackets)} in and ${grouped(egressPackets)} out`;
}

function unsteady(receiver: PktGenLog, stretch: SteadyStretch): Invalid | undefined {
  if (stretch.kind === 'steady') return undefined;
  return invalid('unsteady', `no steady rate: ${stretch.reason}${cutNote(receiver)}`);
}

/** A shorter stretch gives no reliable median of one-second rates, and hides holes and drift. */
export const minSeconds = 10;

function tooShort(receiver: PktGenLog, seconds: number): Invalid | undefined {
  if (seconds >= minSeconds) return undefined;
  const few = `only ${seconds.toFixed(1)} s of steady traffic`;
  return invalid('too-short', `${few}, at least ${minSeconds} s are needed${cutNote(receiver)}`);
}

function cutNote({ faults }: PktGenLog): string {
  const unread = faults.find(({ kind }) => kind === 'unread-rate' || kind === 'cut');
  return unread === undefined ? '' : ` (${unread.message})`;
}

function hole(receiver: PktGenLog, stretch: SteadyStretch): Invalid | undefined {
  if (stretch.kind === 'unsteady') return undefined;
  const [first] = holes(ratesOf(receiver), stretch, stretch.medianPps);
  if (first === undefined) return undefined;
  const rates = receiver.rates.slice(first.from, first.to);
  const seconds = sum(rates.map(({ intervalSeconds }) => intervalSeconds));
  const until = rates.at(-1)?.seconds ?? 0;
  const lost = rates.every(({ pps }) => pps === 0) ? 'no packet' : 'hardly any packet';
  const when = `${seconds.toFixed(1)} s, until ${until.toFixed(0)} s after the log's first rate`;
  return invalid('hole', `${lost} was received for ${when}`);
}

/** Without a steady sender, the offered rate is unknown. */
function unsteadySender(senders: readonly SenderLog[]): Invalid | undefined {
  const [fault] = senders.flatMap(({ name, stretch }) =>
    stretch.kind === 'steady' ? [] : invalid('unsteady', `${name}: no steady rate: ${stretch.reason}`),
  );
  return fault;
}

/** A DUT forwards a different number of packets under a different load. */
const minRequestedRatio = 0.95;

function slowSender(senders: readonly SenderLog[], requestedPps: readonly number[]): Invalid | undefined {
  const [fault] = senders.flatMap(({ name, stretch }, index) => {
    const [sent, requested] = [medianOf(stretch), requestedPps[index]];
    if (sent === undefined || requested === undefined || sent >= minRequestedRatio * requested) return [];
    const share = `${formatPps(sent)} of ${formatPps(requested)} (${formatPercent(sent / requested)})`;
    return invalid('generator-limited', `${name}: it sent slower than requested, ${share}`);
  });
  return fault;
}

/**
 * The receiver must count this share of the packets that the DUT sent: a smaller loss hides no change beyond the default
 * margin. Other packets of that port, such as ARP, are far fewer.
 */
const minCountedRatio = 0.98;

/**
 * Compares both packets and rates, and uses the better ratio. A link that comes up late loses packets that some cards
 * count as sent, at the same rate. The rate of a DUT that warms up has a mean above its median, without any loss. Only
 * a slow receiver fails both.
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
  if (Math.max(packetRatio, medianPps / egressPps) >= minCountedRatio) return undefined;
  const counted = `the receiver counted ${formatPps(medianPps)}`;
  return invalid('receiver-limited', `receiver-limited: the DUT sent ${formatPps(egressPps)} and ${counted}`);
}

const packetsOf = ({ summary, rates }: PktGenLog): number =>
  summary?.packets ?? sum(rates.map(({ packets }) => packets));

const secondsSent = ({ summary, rates }: PktGenLog): number =>
  summary?.seconds ?? sum(rates.map(({ pps, intervalSeconds }) => (pps > 0 ? intervalSeconds : 0)));

/** A DUT that forwards this share of the load did not limit the rate. */
const saturatedRatio = 0.98;

/** Returns undefined without a sender's log. */
function generatorLimited(
  medianPps: number | undefined,
  offeredPps: number | undefined,
  senders: readonly SenderLog[],
  { requestedPps = [], lineGigabits }: PktGenRunOptions,
): Invalid | undefined {
  if (medianPps === undefined || offeredPps === undefined) return undefined;
  const ratio = medianPps / offeredPps;
  if (ratio < saturatedRatio) return undefined;
  const through = `${formatPps(medianPps)} came through in a median second, of ${formatPps(offeredPps)} offered on average`;
  const limit = limitNote(offeredPps, lineOf(offeredPps, senders, lineGigabits), requestedPps);
  return invalid('generator-limited', `generator-limited: ${through} (${formatPercent(ratio)})${limit}`);
}

/** Without the link's speed, finds the line rate only if the senders fill it. */
function lineOf(offeredPps: number, senders: readonly SenderLog[], gigabits: number | undefined): Line | undefined {
  const [frameBytes] = senders.flatMap(({ log }) => log.frameBytesWithoutCrc ?? []);
  if (frameBytes === undefined) return undefined;
  if (gigabits !== undefined) return lineAt(gigabits * 1e9, frameBytes);
  const line = senders.length > 1 ? undefined : lineRate(offeredPps, frameBytes);
  return line !== undefined && isFull(line, offeredPps) ? line : undefined;
}

const isFull = ({ pps }: Line, offeredPps: number): boolean => offeredPps >= saturatedRatio * pps;

function limitNote(offeredPps: number, line: Line | undefined, requestedPps: readonly number[]): string {
  const isRequested = requestedPps.length > 0;
  if (isRequested && !(line !== undefined && isFull(line, offeredPps))) {
    return `, and traffic.rate is ${formatPps(sum(requestedPps))}`;
  }
  if (line === undefined) return '';
  return `, and the line carries ${formatPps(line.pps)} (${line.bitsPerSecond / 1e9} Gbit/s)`;
}
