// Validates the requests and outcomes of a recording, as far as a replay relies on them.
import { z } from 'zod';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Traffic } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import type { ProfileRequest } from '../../lab/testbed.ts';
import * as bounded from '../../model/bounds.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import { families, type OwnRules } from '../../model/scenario.ts';
import { packetsSchema } from '../../model/traffic.ts';
import { type SelfTestRequest, selfTestParts } from '../self-test/self-test-request.ts';

/** A replay opens no file that a recording names. */
const host = z.looseObject({
  host: bounded.name,
  port: bounded.count,
  user: bounded.name,
  privateKeyPath: bounded.path.optional(),
  knownHostsPath: z.literal('/dev/null'),
});

const port = z.looseObject({ interface: bounded.name });

const generator = host.extend({
  interface: bounded.name,
  mac: bounded.name,
  addresses: z.partialRecord(z.enum(families), bounded.name),
  threads: bounded.count,
});

const testbed = z.looseObject({
  kind: z.literal('freebsd'),
  dut: host.extend({
    ingress: port,
    egress: port,
    boot: z.looseObject({ method: bounded.name, limitSeconds: bounded.seconds }),
    power: z.looseObject({ kind: bounded.name }).optional(),
  }),
  senders: z.array(generator).min(1).max(4),
  receiver: generator,
  builder: host
    .extend({
      folder: bounded.path,
      repository: bounded.path,
      recipe: z.looseObject({ kind: bounded.name }),
    })
    .optional(),
  preflight: bounded.document,
});

const traffic = z.looseObject({
  flows: bounded.count,
  frameBytes: bounded.count.optional(),
  packets: packetsSchema.optional(),
  windows: z.object({ count: bounded.count, packets: bounded.total }).optional(),
  settleSeconds: bounded.seconds,
  measureSeconds: bounded.seconds,
});

/** Keeps properties of other versions. */
const as = <T>(schema: z.ZodType) => schema as unknown as z.ZodType<T>;

export const checkRequest = z.object({
  name: bounded.name,
  testbed: as<FreebsdTestbed>(testbed),
  families: bounded.list(z.enum(families), 10),
  traffic: as<Traffic>(traffic),
  sends: z.boolean(),
  cycles: z.boolean(),
});

/** A replay opens no file that a recording names. */
const virtualTestbed = z.looseObject({
  kind: z.literal('virtual'),
  system: z.enum(['linux', 'freebsd']),
  accelerator: bounded.name,
  memoryMebibytes: bounded.count,
  image: z
    .looseObject({
      path: z.literal('/dev/null'),
      privateKeyPath: z.literal('/dev/null').optional(),
      /** Absent for an official image, which a replay does not prepare. */
      hostKey: bounded.document.default(''),
      bootSeconds: bounded.seconds,
    })
    .optional(),
  kernelPath: z.literal('/dev/null').optional(),
});

export const testbedRequest = z.object({
  name: bounded.name,
  testbed: z.union([as<FreebsdTestbed>(testbed), as<VirtualTestbed>(virtualTestbed)]),
  traffic: as<Traffic>(traffic),
  /** Token of the lease, which is part of every command. */
  token: bounded.total.optional(),
});

const cell = z.looseObject({
  scenario: bounded.name,
  family: z.enum(families),
  frameBytes: bounded.count.optional(),
});

const planned = z.looseObject({
  number: bounded.count,
  cell,
  runs: bounded.list(z.looseObject({ number: bounded.count, variant: bounded.variant, pair: bounded.count })),
});

export const testbedCall = z.discriminatedUnion('call', [
  z.object({
    call: z.literal('inspect'),
    cells: bounded.list(as<PlannedTrial['cell']>(cell)),
    outcome: z.unknown(),
  }),
  z.object({
    call: z.literal('prepare'),
    variants: bounded.list(z.object({ variant: bounded.variant, boots: z.enum(['own', 'archive']) })),
    /** Absent in older recordings. */
    cells: bounded.list(as<PlannedTrial['cell']>(cell)).default([]),
    rules: bounded.byName(z.unknown()),
    outcome: z.unknown(),
  }),
  z.object({ call: z.literal('trial'), planned: as<PlannedTrial>(planned), outcome: z.unknown() }),
  z.object({
    call: z.literal('profile'),
    request: as<ProfileRequest>(
      z.looseObject({
        cell,
        variant: bounded.variant,
        seconds: bounded.seconds,
        attempt: bounded.count,
      }),
    ),
    outcome: z.unknown(),
  }),
  z.object({ call: z.literal('restore'), outcome: z.unknown() }),
]);

export type TestbedCall = z.infer<typeof testbedCall>;

export const selfTestRequest = z.object({
  name: bounded.name,
  testbed: as<FreebsdTestbed>(testbed),
  config: as<SelfTestRequest['config']>(
    z.looseObject({
      scenarios: bounded.list(bounded.name, 1000),
      families: bounded.list(z.enum(families), 10),
      traffic,
      gate: z.looseObject({ metric: bounded.name, marginRatio: bounded.share }),
    }),
  ),
  rules: bounded.byName(as<OwnRules>(z.looseObject({ text: bounded.document }))),
  skip: bounded.list(z.enum(selfTestParts), 100),
  journal: bounded.list(bounded.document),
  token: bounded.total.optional(),
});

export const selfTestReport = z.union([
  z.object({
    diagnostic: z.looseObject({
      kind: bounded.name,
      what: bounded.document,
      why: bounded.document,
    }),
  }),
  z.object({ agreed: z.boolean() }),
]);

export const thrown = (error: unknown): { threw: string } => ({ threw: reasonOf(error) });
