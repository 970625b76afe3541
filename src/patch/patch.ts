// What is judged: a pull request at a commit, or a range of commits of a local repository.
import { z } from 'zod';

const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a full commit id');

const pullRequest = z.object({
  kind: z.literal('pull-request'),
  /** `owner/name` of the repository that the pull request wants to change. */
  repository: z.string(),
  number: z.int().positive(),
  title: z.string(),
  author: z.string(),
  url: z.url(),
  baseCommit: commit,
  headCommit: commit,
});

const range = z.object({
  kind: z.literal('range'),
  title: z.string(),
  author: z.string(),
  baseCommit: commit,
  headCommit: commit,
});

export const patchSchema = z.discriminatedUnion('kind', [pullRequest, range]);

export type Patch = z.infer<typeof patchSchema>;
export type PullRequest = z.infer<typeof pullRequest>;

/** How people call the patch: `#123`, or `1a2b3c4..5d6e7f8`. */
export function patchName(patch: Patch): string {
  return patch.kind === 'pull-request'
    ? `#${patch.number}`
    : `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
}
