// Defines a gate or bisection that a relay starts for one approved diff.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { diffPhids } from '../../model/patch.ts';
import { bisectOverridesSchema } from './bisect-command.ts';
import { gateOverridesSchema } from './command.ts';

export const jobSchema = z.object({
  /**
   * Identifies the request, so that it runs once. Consists of letters, digits and `.:-`, so that it can name a folder
   * or run.
   */
  key: z.string().regex(/^\w[\w.:-]{0,119}$/),
  revision: bounded.id,
  /** Fixed at approval. */
  diff: bounded.id,
  /** Absent in jobs of older versions. */
  phids: diffPhids.optional(),
  overrides: gateOverridesSchema,
  /** Bisects instead: the named commits, or the revision's diffs up to this one. */
  bisect: bisectOverridesSchema.optional(),
  /** PHID of the Harbormaster build that waits for the outcome. */
  build: z
    .string()
    .regex(/^PHID-HMBD-\w{1,40}$/)
    .optional(),
  /** The requester's user name, or `Harbormaster`. */
  by: bounded.text(100),
  /** Extends that job's experiment, which was inconclusive. */
  extend: z.object({ key: bounded.text(120), maxRuns: bounded.text(20).optional() }).optional(),
});

export type Job = z.infer<typeof jobSchema>;

/** Names the diff of a job by numbers and by PHIDs, as a restored server may reuse the numbers. */
export const patchOf = ({ revision, diff, phids }: Pick<Job, 'revision' | 'diff' | 'phids'>): string =>
  [`D${revision}:${diff}`, ...(phids === undefined ? [] : [phids.revision, phids.diff])].join(':');

export const workOf = ({ bisect }: Job): string => (bisect === undefined ? 'gate' : 'bisection');
