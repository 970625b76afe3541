// Defines where packets met a limit in a trial: CPUs, queues, state tables, and drops by place.
import { z } from 'zod';
import * as bounded from './bounds.ts';

export const maxCpus = 1024;
export const maxQueues = 2048;
export const maxDrops = 200;
const maxTables = 20;
export const maxNotUnderstood = 50;

/** In the order of a packet's way. */
export const dropPlaces = [
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

export const dropPlaceSchema = z.enum(dropPlaces);

const directionSchema = z.enum(['receive', 'send']);

const stateTableSchema = z.object({
  name: bounded.name,
  states: bounded.total,
  limit: bounded.id,
});

/** `softnet` and `netisr` count by CPU; other devices by queue of the card. */
const queueSchema = z.object({
  device: bounded.name,
  direction: directionSchema,
  number: bounded.count,
});

const dropSchema = z.object({ place: dropPlaceSchema, cause: bounded.name });

/** Readings of one variant in one trial; all counters cover the same stretch of traffic. */
export const trialLimitsSchema = z.object({
  offeredPackets: bounded.total,
  receivedPackets: bounded.total,
  /** Busy share of each CPU, by its number; empty if unknown, or if the stretch is too short for clock ticks. */
  cpuBusyRatios: bounded.list(bounded.share, maxCpus),
  queues: bounded.list(queueSchema.extend({ packets: bounded.total }), maxQueues),
  drops: bounded.list(dropSchema.extend({ packets: bounded.total }), maxDrops),
  stateTables: bounded.list(stateTableSchema, maxTables),
  /** Readings in the log of counters without a known number. */
  notUnderstood: bounded.list(bounded.name, maxNotUnderstood),
});

/** Medians over the trials of one variant. */
const variantLimitsSchema = z.object({
  trials: bounded.ordinal,
  /** Share of the offered packets that were not received; below 0 if more arrived than the counted offered packets. */
  lostRatio: z.number().min(-1000).max(1),
  cpuBusyRatios: bounded.list(bounded.share, maxCpus),
  /** `ratio` is the share of the device's packets in that direction. */
  queues: bounded.list(queueSchema.extend({ ratio: bounded.share }), maxQueues),
  /** Shares of the offered packets, largest first. */
  drops: bounded.list(dropSchema.extend({ ratio: bounded.level }), maxDrops),
  /** The state tables with the most states of any trial. */
  stateTables: bounded.list(stateTableSchema, maxTables),
  notUnderstood: bounded.list(bounded.name, maxNotUnderstood),
});

/** A CPU, a queue or a drop whose share differs between base and patched beyond chance. */
const differingLimitSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cpu'), number: bounded.count }),
  z.object({ kind: z.literal('queue'), ...queueSchema.shape }),
  z.object({ kind: z.literal('drop'), ...dropSchema.shape }),
]);

export const cellLimitsSchema = z.object({
  base: variantLimitsSchema,
  patched: variantLimitsSchema,
  differing: bounded.list(differingLimitSchema, maxCpus + maxQueues + maxDrops),
});

export type DropPlace = z.infer<typeof dropPlaceSchema>;
export type TrialLimits = z.infer<typeof trialLimitsSchema>;
export type VariantLimits = z.infer<typeof variantLimitsSchema>;
export type DifferingLimit = z.infer<typeof differingLimitSchema>;
export type CellLimits = z.infer<typeof cellLimitsSchema>;
