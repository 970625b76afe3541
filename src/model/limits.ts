// Defines where packets met a limit in a trial: the busiest CPU, and drops by place.
import { z } from 'zod';
import * as bounded from './bounds.ts';

export const maxDrops = 200;

/** In the order of a packet's way. */
const dropPlaces = [
  /** Sent, but not seen by the DUT's card. */
  'before-dut',
  'card',
  'driver',
  /** Queue of packets for the IP stack: netisr, softnet. */
  'backlog',
  'ip',
  'firewall',
  'state-table',
  'output-queue',
  /** Sent by the DUT, but not counted by the receiver. */
  'after-dut',
] as const;

const dropSchema = z.object({ place: z.enum(dropPlaces), cause: bounded.name });

/** Readings of one variant in one trial; all counters cover the same stretch of traffic. */
export const trialLimitsSchema = z.object({
  offeredPackets: bounded.total,
  receivedPackets: bounded.total,
  /** Absent if unknown, or if the stretch is too short for clock ticks. */
  busiestCpuRatio: bounded.share.exactOptional(),
  drops: bounded.list(dropSchema.extend({ packets: bounded.total }), maxDrops),
});

/** Medians over the trials of one variant. */
const variantLimitsSchema = z.object({
  /** Share of the offered packets that were not received; below 0 if more arrived than the counted offered packets. */
  lostRatio: z.number().min(-1000).max(1),
  busiestCpuRatio: bounded.share.exactOptional(),
  /** Shares of the offered packets, largest first. */
  drops: bounded.list(dropSchema.extend({ ratio: bounded.level }), maxDrops),
});

export const cellLimitsSchema = z.object({ base: variantLimitsSchema, patched: variantLimitsSchema });

export type DropPlace = (typeof dropPlaces)[number];
export type TrialLimits = z.infer<typeof trialLimitsSchema>;
export type VariantLimits = z.infer<typeof variantLimitsSchema>;
export type CellLimits = z.infer<typeof cellLimitsSchema>;
