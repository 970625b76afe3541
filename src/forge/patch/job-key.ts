// One gate or bisection that a relay is to have run: at one diff, as somebody with leave asked for it.
import { z } from 'zod';
import { bisectAskSchema } from './bisect-command.ts';
import { askSchema } from './command.ts';

export const jobSchema = z.object({
  /** Of what asked for it: nothing with the same key is run twice. Letters, digits and `.:-`, so that it can name a folder or a run. */
  key: z.string().regex(/^\w[\w.:-]{0,119}$/),
  /** 27401 of D27401. */
  revision: z.int().positive(),
  /** Fixed when leave was given. */
  diff: z.int().positive(),
  ask: askSchema,
  /** A bisection in place of a gate: of the commits that are named, or of the diffs up to this one. */
  bisect: bisectAskSchema.optional(),
  /** PHID of the Harbormaster build that waits for the answer. */
  build: z
    .string()
    .regex(/^PHID-HMBD-\w{1,40}$/)
    .optional(),
  /** The user name of whoever asked, or `Harbormaster`. */
  by: z.string().max(100),
  /** Goes on with the experiment of that job, which stayed inconclusive. */
  extend: z.object({ key: z.string().max(120), maxRuns: z.string().max(20).optional() }).optional(),
});

export type Job = z.infer<typeof jobSchema>;

/** What the job is called in a sentence. */
export const workOf = ({ bisect }: Job): string => (bisect === undefined ? 'gate' : 'bisection');
