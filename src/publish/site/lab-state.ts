// Schema of the lab's state, as `ppsgate testbeds --json` and `ppsgate testbeds health --json` print it.
import { z } from 'zod';

const holderSchema = z.object({
  who: z.string(),
  purpose: z.string(),
  patch: z.string().optional(),
  since: z.iso.datetime(),
});

const testbedSchema = z.object({
  name: z.string(),
  state: z.enum(['free', 'held', 'quarantine', 'left-behind']),
  held: holderSchema.extend({ expectedUntil: z.iso.datetime() }).optional(),
  quarantine: z.object({ reason: z.string(), by: z.string(), since: z.iso.datetime() }).optional(),
  leftBy: z.array(holderSchema).default([]),
});

export const overviewSchema = z.object({
  at: z.iso.datetime(),
  testbeds: z.array(testbedSchema),
  queue: z.array(
    holderSchema.extend({
      wants: z.array(z.string()),
      expectedSeconds: z.number().nonnegative().optional(),
    }),
  ),
});

const findingSchema = z.object({ kind: z.string(), what: z.string(), why: z.string() });

export const healthSchema = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      testbed: z.string(),
      kind: z.enum(['well', 'wrong']),
      findings: z.array(findingSchema),
    }),
    z.object({ testbed: z.string(), kind: z.literal('in-use'), why: z.string() }),
  ]),
);

export type LabSnapshot = {
  overview: z.infer<typeof overviewSchema>;
  health?: z.infer<typeof healthSchema>;
};
