// Defines the input of a site.

import { z } from 'zod';
import type { Trend } from '../../analysis/trend/nightly-runs.ts';
import * as bounded from '../../model/bounds.ts';
import type { DataIndex } from '../data-branch/layout.ts';

export type SiteSource = Trend & { results: Pick<DataIndex, 'results'>; lab?: LabSnapshot };

export type KeptResult = DataIndex['results'][number];

/** The lab's state, as `ppsgate testbeds --json` and `ppsgate testbeds health --json` print it. */
const holderSchema = z.object({
  who: bounded.line,
  purpose: bounded.line,
  patch: bounded.line.optional(),
  since: bounded.time,
});

const testbedSchema = z.object({
  name: bounded.name,
  state: z.enum(['free', 'held', 'quarantine', 'left-behind']),
  held: holderSchema.extend({ expectedUntil: bounded.time }).optional(),
  quarantine: z.object({ reason: bounded.prose(), by: bounded.line, since: bounded.time }).optional(),
  leftBy: bounded.list(holderSchema, 1000).default([]),
});

export const overviewSchema = z.object({
  at: bounded.time,
  testbeds: bounded.list(testbedSchema, 1000),
  queue: bounded.list(
    holderSchema.extend({
      wants: bounded.list(bounded.line, 1000),
      expectedSeconds: bounded.seconds.optional(),
    }),
  ),
});

const findingSchema = z.object({ kind: bounded.name, what: bounded.line, why: bounded.prose() });

export const healthSchema = bounded.list(
  z.discriminatedUnion('kind', [
    z.object({
      testbed: bounded.name,
      kind: z.enum(['well', 'wrong']),
      findings: bounded.list(findingSchema, 1000),
    }),
    z.object({ testbed: bounded.name, kind: z.literal('in-use'), why: bounded.prose() }),
  ]),
);

export type LabSnapshot = {
  overview: z.infer<typeof overviewSchema>;
  health?: z.infer<typeof healthSchema>;
};
