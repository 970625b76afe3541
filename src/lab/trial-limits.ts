// Reads a card's own counters, whose names differ between drivers, and limits the readings of a DUT, which may be hostile, to values that a result may hold.
import { sum } from 'simple-statistics';
import { type DropPlace, maxDrops, type TrialLimits, trialLimitsSchema } from '../model/limits.ts';
import { shortenedTo } from '../model/one-line.ts';

export type Drop = TrialLimits['drops'][number];

export const packetsOf = (drops: readonly Pick<Drop, 'packets'>[]): number => sum(drops.map(({ packets }) => packets));

/** Ignores a smaller share of the arrived packets: packets in flight between two counters are no drops. */
export const minSilentRatio = 0.005;

/** Cause of packets that IP received and did not forward, for no reason that a counter has. */
export const uncountedCause = 'the kernel after IP input, without a counter';

export const ownAddressCause = 'the DUT itself, because they are addressed to it';

/** Excludes the card: packets that it missed never reached the forwarding code. */
const forwardingPlaces: ReadonlySet<DropPlace> = new Set(['backlog', 'ip', 'firewall', 'state-table', 'output-queue']);

/** A variant that forwards more also has counters of other drops than those of its silent run. */
const maxForwardedRatio = 0.1;

/** Names the cause of most drops of a variant that lost nearly all packets; continues "dropped by". */
export function mainDrop({ offeredPackets, receivedPackets, drops }: TrialLimits): string | undefined {
  if (receivedPackets > offeredPackets * maxForwardedRatio) return undefined;
  const [most] = drops
    .filter(({ place, cause }) => forwardingPlaces.has(place) && cause !== uncountedCause)
    .toSorted((one, other) => other.packets - one.packets);
  return most?.cause;
}

/** Returns undefined for numbers that no counter can have. */
export function boundedLimits({ busiestCpuRatio, ...limits }: Unbounded): TrialLimits | undefined {
  const parsed = trialLimitsSchema.safeParse({
    ...limits,
    ...(busiestCpuRatio !== undefined && { busiestCpuRatio: Math.round(busiestCpuRatio * 1000) / 1000 }),
    drops: limits.drops
      .map(({ cause, ...drop }) => ({ ...drop, cause: shortenedTo(maxCauseCharacters, cause) }))
      .toSorted((a, b) => b.packets - a.packets)
      .slice(0, maxDrops),
  });
  return parsed.success ? parsed.data : undefined;
}

type Unbounded = Omit<TrialLimits, 'busiestCpuRatio'> & { busiestCpuRatio?: number | undefined };

const maxCauseCharacters = 250;

/** Counters of generators and a DUT cover slightly different stretches. */
const minEndRatio = 0.002;

/**
 * Adds losses before and after the DUT: `sentPackets` is the senders' count of the packets that the DUT counted,
 * `countedPackets` the receiver's.
 */
export function withEnds(
  limits: TrialLimits,
  { sentPackets, countedPackets }: { sentPackets?: number; countedPackets?: number },
): TrialLimits {
  const { offeredPackets, receivedPackets, drops } = limits;
  const before = Math.round((sentPackets ?? 0) - offeredPackets);
  const behind = Math.round(receivedPackets - (countedPackets ?? receivedPackets));
  const isBefore = before > offeredPackets * minEndRatio && Number.isSafeInteger(offeredPackets + before);
  const isBehind = behind > receivedPackets * minEndRatio;
  return {
    ...limits,
    offeredPackets: isBefore ? offeredPackets + before : offeredPackets,
    receivedPackets: isBehind ? receivedPackets - behind : receivedPackets,
    drops: [
      ...drops,
      ...(isBefore ? [{ place: 'before-dut', cause: 'sent, but not seen by the DUT', packets: before } as const] : []),
      ...(isBehind ? [{ place: 'after-dut', cause: 'not counted by the receiver', packets: behind } as const] : []),
    ].slice(0, maxDrops),
  };
}

/** Counters of a whole card for packets that found no descriptor, no buffer or no space in it. */
const cardDrops: readonly (readonly [RegExp, string])[] = [
  [/^(rx_)?(no_dma_resources|no_desc\w*|out_of_buffer)$/, 'no descriptor'],
  [/^(rx_|recv_)?(no_buff\w*|nobuf\w*)$/, 'no buffer'],
  [
    /^(port\.)?(rx_)?(missed_?(errors|packets)?|ovflow\d|fifo_errors|over_errors|discards?(_phy|_pkts)?|discard_pkts)$/,
    'missed',
  ],
];

export const cardDropOf = (name: string): string | undefined => cardDrops.find(([pattern]) => pattern.test(name))?.[1];

/** Reads lines `name: number` of `ethtool -S` or sysctl(8), with whole numbers only. */
export function countersIn(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const line of text.split('\n').slice(0, maxLines)) {
    const [, name = '', digits = ''] = /^\s*(\S.{0,99}): (\d{1,16})\s*$/.exec(line) ?? [];
    const value = Number(digits);
    if (digits !== '' && Number.isSafeInteger(value)) counters.set(name.trim(), value);
  }
  return counters;
}

const maxLines = 20_000;
