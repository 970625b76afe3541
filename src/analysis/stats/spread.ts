// Counts the CPUs and queues that shared the work of a variant.
import type { VariantLimits } from '../../model/limits.ts';

export type Spread = { used: number; all: number };

/** A CPU below this share of the busiest one's work does other work, such as a timer's. */
const minBusiestShare = 0.5;
/** Below this share, no CPU was a limit. */
const minBusyRatio = 0.2;

/** Counts by packets of each CPU, which other work may keep busy; without packets, by busy shares. */
export function cpusAtWork({ cpuBusyRatios, queues }: VariantLimits): Spread | undefined {
  const packets = queues.filter(({ device }) => device === 'softnet').map(({ ratio }) => ratio);
  const shares = packets.length > 0 ? packets : cpuBusyRatios;
  const busiest = shares.reduce((most, share) => Math.max(most, share), 0);
  const least = packets.length > 0 ? Number.MIN_VALUE : minBusyRatio;
  if (shares.length < 2 || busiest < least) return undefined;
  const used = shares.filter((share) => share >= busiest * minBusiestShare).length;
  return { used, all: shares.length };
}

export type QueueSpread = Spread & { device: string };

/** A queue with less than this share of its even part got none of the test's flows. */
const minEvenShare = 0.1;

/** Receive queues of cards with at least two. */
export function queuesReached({ queues }: Pick<VariantLimits, 'queues'>): QueueSpread[] {
  const received = queues.filter(({ device, direction }) => direction === 'receive' && device !== 'softnet');
  return [...Map.groupBy(received, ({ device }) => device)].flatMap(([device, own]) => {
    const all = own.length;
    const used = own.filter(({ ratio }) => ratio >= minEvenShare / all).length;
    return all < 2 || used === 0 ? [] : { device, used, all };
  });
}

/** A test that reaches less than half of the queues leaves most of the DUT idle: its numbers are of a few queues. */
export const reachesFew = ({ used, all }: Spread): boolean => used * 2 < all;

export const adviceToReachMore = 'offer more `flows`, change the RSS key of the card, or give it fewer queues';
