// Describes the traffic of a trial: only results with equal descriptions show the effect of a patch.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { readNetwork } from './networks.ts';
import type { Family } from './scenario.ts';

const port = z.int().min(1).max(65_535);

/** A single port, or a range that the flows use in turn. */
export const portRangeSchema = z.object({ first: port, last: port }).refine(({ first, last }) => first <= last);

export type PortRange = z.infer<typeof portRangeSchema>;

const weightedSize = z.object({
  /** Includes 4 bytes of CRC. */
  frameBytes: z.int().min(64).max(1518),
  weight: z.int().min(1).max(100),
});

export type WeightedSize = z.infer<typeof weightedSize>;

export const maxSizes = 10;

const sidesOf = (family: Family, form: RegExp) => {
  const network = z
    .string()
    .regex(form)
    .refine((text) => readNetwork(text, family).kind === 'read');
  return z.object({ source: network.exactOptional(), destination: network.exactOptional() }).exactOptional();
};

const networksSchema = z.object({
  inet4: sidesOf('inet4', /^[\d.]{7,15}\/\d{1,2}$/),
  inet6: sidesOf('inet6', /^[\da-f:]{2,39}\/\d{1,3}$/),
});

/** Networks of a site; absent: those of RFC 2544 and RFC 5180. */
export type TestNetworks = z.infer<typeof networksSchema>;

export const packetsSchema = z.object({
  /** Absent: UDP. TCP packets are SYN segments, none of which opens a connection. */
  protocol: z.literal('tcp').exactOptional(),
  /** Absent: ppsgate's own choice of ports. */
  ports: z
    .object({
      source: portRangeSchema.exactOptional(),
      destination: portRangeSchema.exactOptional(),
    })
    .exactOptional(),
  /** In the form of `networkText`. */
  addresses: networksSchema.exactOptional(),
  /** A mix of sizes, the smallest first, whose mean is `frameBytes`; absent: one size. */
  sizes: bounded.list(weightedSize, maxSizes).min(2).exactOptional(),
});

/** Differences from the usual packets: UDP of one size. */
export type Packets = z.infer<typeof packetsSchema>;

export const offeredTrafficSchema = z.object({
  flows: bounded.count,
  frameBytes: bounded.count,
  /** Absent: maximum speed of the sender. */
  offeredPps: bounded.rate.optional(),
  /** Absent: the usual packets. */
  packets: packetsSchema.optional(),
});

export type OfferedTraffic = z.infer<typeof offeredTrafficSchema>;

/** Omits durations and absent properties. */
export const offeredTraffic = ({ flows, frameBytes, offeredPps, packets }: OfferedTraffic): OfferedTraffic => ({
  flows,
  frameBytes,
  ...(offeredPps !== undefined && { offeredPps }),
  ...(packets !== undefined && { packets }),
});

export const isSameTraffic = (a: OfferedTraffic, b: OfferedTraffic): boolean =>
  isDeepStrictEqual(offeredTraffic(a), offeredTraffic(b));

/** The simple IMIX: IPv4 packets of 40, 576 and 1500 bytes, with 14 bytes of Ethernet and the CRC. */
export const imix: WeightedSize[] = [
  { frameBytes: 64, weight: 7 },
  { frameBytes: 594, weight: 4 },
  { frameBytes: 1518, weight: 1 },
];

export function meanFrameBytes(sizes: readonly WeightedSize[]): number {
  const frames = sizes.reduce((sum, { weight }) => sum + weight, 0);
  return sizes.reduce((sum, { frameBytes, weight }) => sum + frameBytes * weight, 0) / frames;
}

/** `UDP`, `UDP to port 53, IMIX (7:4:1)`, `TCP SYN from ports 1024–65535 to port 443`. */
export function packetsText({ addresses = {}, ...packets }: Packets = {}): string {
  const networks = Object.values(addresses).map(networksText);
  return [kindText(packets), ...(networks.length === 0 ? [] : [networks.join(' and ')])].join(', ');
}

function kindText({ protocol, ports = {}, sizes }: Packets): string {
  const { source, destination } = ports;
  const headers = [
    protocol === 'tcp' ? 'TCP SYN' : 'UDP',
    ...(source === undefined ? [] : [`from ${portsText(source)}`]),
    ...(destination === undefined ? [] : [`to ${portsText(destination)}`]),
  ].join(' ');
  return sizes === undefined ? headers : `${headers}, ${sizesText(sizes)}`;
}

const networksText = ({ source, destination }: { source?: string; destination?: string }): string =>
  [
    ...(source === undefined ? [] : [`from ${source}`]),
    ...(destination === undefined ? [] : [`to ${destination}`]),
  ].join(' ');

function sizesText(sizes: readonly WeightedSize[]): string {
  const weights = sizes.map(({ weight }) => weight).join(':');
  if (isDeepStrictEqual(sizes, imix)) return `IMIX (${weights})`;
  return `frames of ${sizes.map(({ frameBytes }) => frameBytes).join(', ')} bytes (${weights})`;
}

const portsText = ({ first, last }: PortRange): string => (first === last ? `port ${first}` : `ports ${first}–${last}`);
