// Divides the flows of a trial: sources × destinations, shared by its senders.
import { hostsIn, knownNetwork } from './networks.ts';
import type { Family } from './scenario.ts';
import type { TestNetworks } from './traffic.ts';

export type Flows = { sources: number; destinations: number };

export type FlowSlice = Flows & {
  /** Counted from 1, the default. */
  firstSource?: number;
};

type FlowSplit = { kind: 'split'; flows: Flows } | { kind: 'refused'; message: string };

/** Addresses that flows may have. pkt-gen increments the last 16 bits only: from 198.18.10.1 to 198.18.255.254. */
function hostsOf(family: Family, side: keyof Sides, addresses: TestNetworks = {}): number {
  const network = addresses[family]?.[side];
  if (network !== undefined) return hostsIn(knownNetwork(network, family));
  return family === 'inet4' ? 62_974 : 65_535;
}

type Sides = NonNullable<TestNetworks[Family]>;

const usualDestinations = 100;

/** More than the usual number only where the sources are too few. */
export const destinationsPerSource = (flows: number, family: Family, addresses?: TestNetworks): number =>
  Math.min(
    hostsOf(family, 'destination', addresses),
    Math.max(usualDestinations, Math.ceil(flows / hostsOf(family, 'source', addresses))),
  );

/** Undefined where the networks have an address pair for each flow. */
export function whyTooFewAddresses(flows: number, family: Family, addresses: TestNetworks): string | undefined {
  const sources = hostsOf(family, 'source', addresses);
  const destinations = hostsOf(family, 'destination', addresses);
  if (flows <= sources * destinations) return undefined;
  return `${flows} flows need as many pairs of addresses, and these networks have ${sources} × ${destinations}: lower \`traffic.flows\`, or name larger networks`;
}

/**
 * Splits a number of flows exactly into sources × destinations: 2000 as 20 × 100. Picks the largest divisor up to 100
 * for the destinations that leaves every sender a source, a larger one where the sources are too few. Rejects numbers
 * that exceed their networks.
 */
export function flowRanges(flows: number, family: Family, senders = 1, addresses?: TestNetworks): FlowSplit {
  if (!Number.isSafeInteger(flows) || flows < senders) {
    return refused(`${flows} is no number of flows: choose a whole number from ${senders} on.`);
  }
  const hosts = hostsOf(family, 'source', addresses);
  const most = Math.min(destinationsPerSource(flows, family, addresses), Math.floor(flows / senders));
  const destinations = greatestDivisor(flows, most);
  const sources = flows / destinations;
  if (sources <= hosts) return { kind: 'split', flows: { sources, destinations } };
  return refused(
    `${flows} flows of ${family} need ${sources} sources, and their network has ${hosts}: choose a multiple of ${most}.`,
  );
}

const refused = (message: string): FlowSplit => ({ kind: 'refused', message });

function greatestDivisor(value: number, most: number): number {
  let divisor = Math.floor(most);
  while (value % divisor !== 0) divisor -= 1;
  return divisor;
}

/** Slices the sources evenly, one slice per sender. */
export function flowSlices({ sources, destinations }: Flows, senders: number): FlowSlice[] {
  const end = (slice: number) => Math.floor((slice * sources) / senders);
  return Array.from({ length: senders }, (_, slice) => ({
    firstSource: end(slice) + 1,
    sources: end(slice + 1) - end(slice),
    destinations,
  }));
}
