// Validates the requests and outcomes of a recording, as far as a replay relies on them.
import { z } from 'zod';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Traffic } from '../../config/schema.ts';
import type { ProfileRequest } from '../../lab/testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { families, type OwnRules } from '../../model/scenario.ts';
import { type SelfTestRequest, selfTestParts } from '../self-test/self-test-request.ts';

/** A replay opens no file that a recording names. */
const host = z.looseObject({
  host: z.string(),
  port: z.number(),
  user: z.string(),
  privateKeyPath: z.string().optional(),
  knownHostsPath: z.literal('/dev/null'),
});

const port = z.looseObject({ interface: z.string() });

const generator = host.extend({
  interface: z.string(),
  mac: z.string(),
  addresses: z.partialRecord(z.enum(families), z.string()),
  threads: z.number(),
});

const testbed = z.looseObject({
  kind: z.literal('freebsd'),
  dut: host.extend({
    ingress: port,
    egress: port,
    boot: z.looseObject({ method: z.string(), limitSeconds: z.number() }),
    power: z.looseObject({ kind: z.string() }).optional(),
  }),
  senders: z.array(generator).min(1).max(4),
  receiver: generator,
  builder: host
    .extend({
      folder: z.string(),
      repository: z.string(),
      recipe: z.looseObject({ kind: z.string() }),
    })
    .optional(),
  preflight: z.string(),
});

const traffic = z.looseObject({
  flows: z.number(),
  settleSeconds: z.number(),
  measureSeconds: z.number(),
});

/** Keeps properties of other versions. */
const as = <T>(schema: z.ZodType) => schema as unknown as z.ZodType<T>;

export const checkRequest = z.object({
  name: z.string(),
  testbed: as<FreebsdTestbed>(testbed),
  families: z.array(z.enum(families)),
  traffic: as<Traffic>(traffic),
  sends: z.boolean(),
  cycles: z.boolean(),
});

export const testbedRequest = z.object({
  name: z.string(),
  testbed: as<FreebsdTestbed>(testbed),
  traffic: as<Traffic>(traffic),
  /** Token of the lease, which is part of every command. */
  token: z.number().optional(),
});

const cell = z.looseObject({ scenario: z.string(), family: z.enum(families) });

const planned = z.looseObject({
  number: z.number(),
  cell,
  runs: z.array(z.looseObject({ number: z.number(), variant: z.string(), pair: z.number() })),
});

export const testbedCall = z.discriminatedUnion('call', [
  z.object({
    call: z.literal('inspect'),
    cells: z.array(as<PlannedTrial['cell']>(cell)),
    outcome: z.unknown(),
  }),
  z.object({
    call: z.literal('prepare'),
    variants: z.array(z.object({ variant: z.string(), boots: z.enum(['own', 'archive']) })),
    rules: z.record(z.string(), z.unknown()),
    outcome: z.unknown(),
  }),
  z.object({ call: z.literal('trial'), planned: as<PlannedTrial>(planned), outcome: z.unknown() }),
  z.object({
    call: z.literal('profile'),
    request: as<ProfileRequest>(
      z.looseObject({ cell, variant: z.string(), seconds: z.number(), attempt: z.number() }),
    ),
    outcome: z.unknown(),
  }),
  z.object({ call: z.literal('restore'), outcome: z.unknown() }),
]);

export type TestbedCall = z.infer<typeof testbedCall>;

export const selfTestRequest = z.object({
  name: z.string(),
  testbed: as<FreebsdTestbed>(testbed),
  config: as<SelfTestRequest['config']>(
    z.looseObject({
      scenarios: z.array(z.string()),
      families: z.array(z.enum(families)),
      traffic,
      gate: z.looseObject({ metric: z.string(), marginRatio: z.number() }),
    }),
  ),
  rules: z.record(z.string(), as<OwnRules>(z.looseObject({ text: z.string() }))),
  skip: z.array(z.enum(selfTestParts)),
  journal: z.array(z.string()),
  token: z.number().optional(),
});

export const selfTestReport = z.union([
  z.object({ diagnostic: z.looseObject({ kind: z.string(), what: z.string(), why: z.string() }) }),
  z.object({ agreed: z.boolean() }),
]);

export const thrown = (error: unknown): { threw: string } => ({ threw: reasonOf(error) });
