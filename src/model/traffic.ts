// Describes the traffic of a trial: only results of equal descriptions say what a patch changes.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import * as bounded from './bounds.ts';

const port = z.int().min(1).max(65_535);

/** One port, or a range that the flows take in turn. */
export const portRangeSchema = z
  .object({ first: port, last: port })
  .refine(({ first, last }) => first <= last);

export type PortRange = z.infer<typeof portRangeSchema>;

export const packetsSchema = z.object({
  /** Absent: UDP. TCP packets are SYN segments, none of which opens a connection. */
  protocol: z.literal('tcp').exactOptional(),
  /** Absent: ports of ppsgate's own choice. */
  ports: z
    .object({
      source: portRangeSchema.exactOptional(),
      destination: portRangeSchema.exactOptional(),
    })
    .exactOptional(),
});

/** Differences from the usual packets: UDP of one size. */
export type Packets = z.infer<typeof packetsSchema>;

export const offeredTrafficSchema = z.object({
  flows: bounded.count,
  frameBytes: bounded.count,
  /** Absent: maximum speed of the sender. */
  offeredPps: bounded.rate.optional(),
  /** Absent: the usual packets, and all of older versions. */
  packets: packetsSchema.optional(),
});

export type OfferedTraffic = z.infer<typeof offeredTrafficSchema>;

/** Leaves out durations and absent properties. */
export const offeredTraffic = ({
  flows,
  frameBytes,
  offeredPps,
  packets,
}: OfferedTraffic): OfferedTraffic => ({
  flows,
  frameBytes,
  ...(offeredPps !== undefined && { offeredPps }),
  ...(packets !== undefined && { packets }),
});

export const isSameTraffic = (a: OfferedTraffic, b: OfferedTraffic): boolean =>
  isDeepStrictEqual(offeredTraffic(a), offeredTraffic(b));

/** `UDP`, `UDP to port 53`, `TCP SYN from ports 1024–65535 to port 443`. */
export function packetsText({ protocol, ports = {} }: Packets = {}): string {
  const { source, destination } = ports;
  return [
    protocol === 'tcp' ? 'TCP SYN' : 'UDP',
    ...(source === undefined ? [] : [`from ${portsText(source)}`]),
    ...(destination === undefined ? [] : [`to ${portsText(destination)}`]),
  ].join(' ');
}

const portsText = ({ first, last }: PortRange): string =>
  first === last ? `port ${first}` : `ports ${first}–${last}`;
