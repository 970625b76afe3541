// Parses the keys of `traffic` that describe its packets, and refuses those that a kind of testbed cannot send.
import { z } from 'zod';
import type { Packets, PortRange } from '../model/traffic.ts';
import { expected } from '../model/units.ts';
import { closed, text, wholeNumber, wrongName } from './fields.ts';

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

/** Keys of `traffic`. */
export const packetKeys = {
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
    .describe(
      'A port, or a range that the flows take in turn; FreeBSD testbeds send one port. Left out, 2000.',
    ),
};

type WrittenPackets = {
  [Key in keyof typeof packetKeys]?: z.output<(typeof packetKeys)[Key]>;
};

/** Undefined for the usual packets. */
export function packetsOf({ protocol, ports }: WrittenPackets): Packets | undefined {
  const { source, destination } = ports ?? {};
  const named = {
    ...(source !== undefined && { source }),
    ...(destination !== undefined && { destination }),
  };
  const packets: Packets = {
    ...(protocol === 'tcp' && { protocol }),
    ...(Object.keys(named).length > 0 && { ports: named }),
  };
  return Object.keys(packets).length > 0 ? packets : undefined;
}

type Unsent = { why: string; fix: string };

/** Completes a sentence about a FreeBSD testbed, whose pkt-gen(8) counts up ports within each flow. */
export function whyNotSent({ protocol, ports = {} }: Packets = {}): Unsent | undefined {
  const elsewhere = 'or measure on Linux or virtual testbeds';
  if (protocol === 'tcp') {
    const why = 'sends with pkt-gen, which has UDP only';
    return { why, fix: `leave out \`traffic.protocol\`, ${elsewhere}` };
  }
  const ranged = (['source', 'destination'] as const).find((side) => {
    const range = ports[side];
    return range !== undefined && range.first !== range.last;
  });
  if (ranged === undefined) return undefined;
  const why = 'sends with pkt-gen, which would multiply the flows by the ports of a range';
  return { why, fix: `name one port in \`traffic.ports.${ranged}\`, ${elsewhere}` };
}
