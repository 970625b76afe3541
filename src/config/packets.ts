// Parses the keys of `traffic` that describe its packets, and refuses those that a kind of testbed cannot send.
import { z } from 'zod';
import { isOneHost, knownNetwork, networkForm, networkText, overlaps, readNetwork } from '../model/networks.ts';
import { type Family, families } from '../model/scenario.ts';
import { imix, maxSizes, meanFrameBytes, type Packets, type PortRange, type WeightedSize } from '../model/traffic.ts';
import { expected, size } from '../model/units.ts';
import { closed, text, whole, wholeNumber, wrongName } from './fields.ts';

const protocols = ['udp', 'tcp'] as const;

const portForm = 'a port from 1 to 65535, or a range like 1024-65535';

const ports = z
  .union([wholeNumber(1, 65_535), text(/^\d{1,5}-\d{1,5}$/, portForm)], {
    error: expected(portForm),
  })
  .meta({ title: portForm })
  .transform((written): PortRange => {
    const [first = 0, last = first] = String(written).split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first >= 1 && last >= first && last <= 65_535, {
    error: `expected ${portForm}`,
  });

/** A network in the one form that `networkText` writes. */
const network = (family: Family) =>
  z
    .string({ error: expected(networkForm(family)) })
    .meta({ title: networkForm(family) })
    .transform((written, { addIssue }) => {
      const source = readNetwork(written, family);
      if (source.kind === 'read') return networkText(source.network);
      addIssue(source.why);
      return z.NEVER;
    });

const networksOf = (family: Family) =>
  closed({
    source: network(family).optional().describe('Of the senders.'),
    destination: network(family).optional().describe('Of the receivers.'),
  })
    .refine(
      ({ source, destination }) =>
        source === undefined ||
        destination === undefined ||
        !overlaps(knownNetwork(source, family), knownNetwork(destination, family)),
      { path: ['destination'], error: 'overlaps the network of `source`' },
    )
    .optional()
    .describe('Left out, 198.18.0.0/15 or 2001:2::/48.');

export const frameSize = size(whole(64, 1518, 'bytes'));

const mixForm =
  'a whole number of bytes from 64 to 1518, imix, or a list like [{ bytes: 64 bytes, weight: 7 }, { bytes: 1518 bytes, weight: 1 }]';

const mix = z
  .array(closed({ bytes: frameSize, weight: wholeNumber(1, 100) }))
  .min(2, 'expected at least two sizes; write one as `frameSize: 64 bytes`')
  .max(maxSizes, `expected at most ${maxSizes} sizes`)
  .refine((sizes) => new Set(sizes.map(({ bytes }) => bytes)).size === sizes.length, {
    error: 'a size is in this list twice',
  });

/** Orders sizes, and divides their weights by a common factor, so that each mix has one form. */
function simplest(sizes: WeightedSize[]): WeightedSize[] {
  const common = sizes.map(({ weight }) => weight).reduce(greatestCommonDivisor);
  return sizes
    .map(({ frameBytes, weight }) => ({ frameBytes, weight: weight / common }))
    .toSorted((a, b) => a.frameBytes - b.frameBytes);
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

// Transforming a list would lose the positions of its problems.
const frameSizeOrMix = z
  .union([frameSize, z.literal('imix'), mix], { error: expected(mixForm) })
  .transform((written) => {
    if (written === 'imix') return imix;
    if (typeof written === 'number') return written;
    return simplest(written.map(({ bytes, weight }) => ({ frameBytes: bytes, weight })));
  });

/** Keys of `traffic`. */
export const packetKeys = {
  frameSize: frameSizeOrMix
    .optional()
    .describe(
      'Frame size, including the 4 bytes of CRC; imix: 64, 594 and 1518 bytes as 7:4:1; or sizes by weight. FreeBSD testbeds send one size. Left out, 64 bytes.',
    ),
  protocol: z
    .enum(protocols, { error: wrongName(protocols) })
    .optional()
    .describe(
      'udp, or tcp: SYN segments, none of which opens a connection; FreeBSD testbeds send UDP only. Left out, udp.',
    ),
  ports: closed({
    source: ports.optional().describe('Of the senders.'),
    destination: ports.optional().describe('Of the receivers.'),
  })
    .optional()
    .describe('A port, or a range that the flows take in turn; FreeBSD testbeds send one port. Left out, 2000.'),
  addresses: closed({ inet4: networksOf('inet4'), inet6: networksOf('inet6') })
    .optional()
    .describe('Networks that packets come from and go to: those that your rules name.'),
};

type WrittenPackets = {
  [Key in keyof typeof packetKeys]?: z.output<(typeof packetKeys)[Key]>;
};

/** Undefined for the usual packets. */
export function packetsOf({ protocol, ports, addresses = {}, frameSize }: WrittenPackets): Packets | undefined {
  const named = sidesOf(ports);
  const networks = Object.fromEntries(
    families.flatMap((family) => {
      const own = sidesOf(addresses[family]);
      return own === undefined ? [] : [[family, own] as const];
    }),
  );
  const packets: Packets = {
    ...(protocol === 'tcp' && { protocol }),
    ...(named !== undefined && { ports: named }),
    ...(Object.keys(networks).length > 0 && { addresses: networks }),
    ...(Array.isArray(frameSize) && { sizes: frameSize }),
  };
  return Object.keys(packets).length > 0 ? packets : undefined;
}

/** Undefined for none. */
function sidesOf<Value>({ source, destination }: Sides<Value> = {}) {
  if (source === undefined && destination === undefined) return undefined;
  return {
    ...(source !== undefined && { source }),
    ...(destination !== undefined && { destination }),
  };
}

type Sides<Value> = { source?: Value | undefined; destination?: Value | undefined };

/** Mean of a mix, rounded. */
export const frameBytesOf = ({ frameSize = 64 }: WrittenPackets): number =>
  Array.isArray(frameSize) ? Math.round(meanFrameBytes(frameSize)) : frameSize;

export function withoutMix({ sizes: _, ...kept }: Packets): Packets | undefined {
  return Object.keys(kept).length > 0 ? kept : undefined;
}

type Unsent = { why: string; fix: string };

/** Completes a sentence about any testbed with FreeBSD, which routes the halves of a network, and drops the rest of it. */
export function whyNotRouted({ addresses = {} }: Packets = {}): Unsent | undefined {
  const one = families
    .flatMap((family) => Object.values(addresses[family] ?? {}).map((text) => knownNetwork(text, family)))
    .find(isOneHost);
  if (one === undefined) return undefined;
  const why = `routes the halves of a network, and ${networkText(one)} has one address`;
  return { why, fix: 'name a larger network in `traffic.addresses`' };
}

/** Completes a sentence about a FreeBSD testbed, whose pkt-gen(8) counts up ports within each flow. */
export function whyNotSent(packets: Packets = {}): Unsent | undefined {
  const { protocol, ports = {}, sizes } = packets;
  const elsewhere = 'or measure on Linux or virtual testbeds';
  if (protocol === 'tcp') {
    const why = 'sends with pkt-gen, which has UDP only';
    return { why, fix: `leave out \`traffic.protocol\`, ${elsewhere}` };
  }
  if (sizes !== undefined) {
    const why = 'sends with pkt-gen, which sends frames of one size';
    return { why, fix: `name one in \`traffic.frameSize\`, ${elsewhere}` };
  }
  const ranged = (['source', 'destination'] as const).find((side) => {
    const range = ports[side];
    return range !== undefined && range.first !== range.last;
  });
  if (ranged === undefined) return whyNotRouted(packets);
  const why = 'sends with pkt-gen, which would multiply the flows by the ports of a range';
  return { why, fix: `name one port in \`traffic.ports.${ranged}\`, ${elsewhere}` };
}
