// Divides the flows of a trial: sources × destinations, shared by its senders.
import type { Family } from './scenario.ts';

export type Flows = { sources: number; destinations: number };

export type FlowSlice = Flows & {
  /** Counted from 1, the default. */
  firstSource?: number;
};

type FlowSplit = { kind: 'split'; flows: Flows } | { kind: 'refused'; message: string };

/**
 * Splits a number of flows exactly into sources × destinations: 2000 as 20 × 100. Picks the largest divisor up to 100
 * for the destinations that leaves every sender a source. Rejects numbers whose sources exceed their network.
 */
export function flowRanges(flows: number, family: Family, senders = 1): FlowSplit {
  if (!Number.isSafeInteger(flows) || flows < senders) {
    return refused(`${flows} is no number of flows: choose a whole number from ${senders} on.`);
  }
  const destinations = greatestDivisor(flows, Math.min(mostDestinations, flows / senders));
  const sources = flows / destinations;
  if (sources <= mostSources[family]) return { kind: 'split', flows: { sources, destinations } };
  return refused(
    `${flows} flows of ${family} need ${sources} sources, and their network has ${mostSources[family]}: choose a multiple of 100.`,
  );
}

const refused = (message: string): FlowSplit => ({ kind: 'refused', message });

const mostDestinations = 100;
/** 198.18.10.1 to 198.18.255.254; pkt-gen increments the last 16 bits only. */
const mostSources: Record<Family, number> = { inet4: 62_974, inet6: 65_535 };

function greatestDivisor(value: number, most: number): number {
  let divisor = Math.floor(most);
  while (value % divisor !== 0) divisor -= 1;
  return divisor;
}

/** Slices the sources evenly, one slice per sender. Throws a RangeError for more senders than sources. */
export function flowSlices({ sources, destinations }: Flows, senders: number): FlowSlice[] {
  if (senders > sources) {
    throw new RangeError(
      `${sources} source addresses cannot be shared by ${senders} senders: give each of them one at least.`,
    );
  }
  const end = (slice: number) => Math.floor((slice * sources) / senders);
  return Array.from({ length: senders }, (_, slice) => ({
    firstSource: end(slice) + 1,
    sources: end(slice + 1) - end(slice),
    destinations,
  }));
}
