// A gate or bisection that a relay starts for one approved diff.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { diffPhids } from '../../model/patch.ts';
import { bisectOverridesSchema } from './bisect-command.ts';
import { gateOverridesSchema } from './command.ts';

export const jobSchema = z.object({
  /** Identifies the request, so that it runs once. Letters, digits and `.:-`, so that it can name a folder or a run. */
  key: z.string().regex(/^\w[\w.:-]{0,119}$/),
  revision: bounded.id,
  /** Pinned at approval. */
  diff: bounded.id,
  /** Absent in jobs of an older ppsgate. */
  phids: diffPhids.optional(),
  overrides: gateOverridesSchema,
  /** A bisection in place of a gate: of the commits that are named, or of the diffs up to this one. */
  bisect: bisectOverridesSchema.optional(),
  /** PHID of the Harbormaster build that waits for the outcome. */
  build: z
    .string()
    .regex(/^PHID-HMBD-\w{1,40}$/)
    .optional(),
  /** The requester's user name, or `Harbormaster`. */
  by: bounded.text(100),
  /** Extends the experiment of that job, which stayed inconclusive. */
  extend: z.object({ key: bounded.text(120), maxRuns: bounded.text(20).optional() }).optional(),
});

export type Job = z.infer<typeof jobSchema>;

/** Names the diff of a job by numbers and, since a restored server may give those to another one, by PHIDs. */
export const patchOf = ({
  revision,
  diff,
  phids,
}: Pick<Job, 'revision' | 'diff' | 'phids'>): string =>
  [`D${revision}:${diff}`, ...(phids === undefined ? [] : [phids.revision, phids.diff])].join(':');

export const workOf = ({ bisect }: Job): string => (bisect === undefined ? 'gate' : 'bisection');
