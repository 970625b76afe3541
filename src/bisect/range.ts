// The range of a bisection: commits along first parents, which of them are the same kernel, and what can be put on top.
import { z } from 'zod';
import { commitId } from '../words/patch.ts';

/** What can be built of a revision. */
export const formSchema = z.object({
  /** Names the variant: forms that are the same kernel have the same name. */
  variant: z.string(),
  /** What is built: the revision's own commit, or one that was made of it with the fix-ups, and is only in this repository. */
  commit: commitId,
  fixUps: z.array(commitId),
});

export const revisionSchema = z.object({
  place: z.int().nonnegative(),
  commit: commitId,
  subject: z.string(),
  author: z.string(),
  alike: z.int().nonnegative(),
  isSkipped: z.boolean(),
  /** The first is tried first; the next one where that one cannot be measured. */
  forms: z.array(formSchema).min(1),
});

export const rangeSchema = z.object({
  /** Commits after the good one, up to and with the bad one. */
  commits: z.int().positive(),
  /** Good one first, bad one last; those that are the same kernel as the one before are told with it. */
  revisions: z.array(revisionSchema).min(2),
  /** Sentences for people: fix-ups that apply nowhere it matters, or not to some. */
  notes: z.array(z.string()),
});

export type Form = z.infer<typeof formSchema>;
export type Revision = z.infer<typeof revisionSchema>;
export type Range = z.infer<typeof rangeSchema>;
