// Defines patches: a pull request at a commit, a diff of a Phabricator revision, or a range of commits of a local repository.
import { z } from 'zod';

export const commitId = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a full commit id');

const pullRequest = z.object({
  kind: z.literal('pull-request'),
  /** `owner/name` of the repository that the pull request wants to change. */
  repository: z.string(),
  number: z.int().positive(),
  title: z.string(),
  author: z.string(),
  url: z.url(),
  /** The branch that it goes to; absent in results from before this was recorded. */
  baseBranch: z.string().optional(),
  baseCommit: commitId,
  headCommit: commitId,
});

const revision = z.object({
  kind: z.literal('revision'),
  /** URL of Phabricator, without a slash at its end. */
  server: z.url(),
  /** 27401 of D27401. */
  number: z.int().positive(),
  /** Id of the diff, which is another one for each update of the author. */
  diff: z.int().positive(),
  title: z.string(),
  /** User name on Phabricator. */
  author: z.string(),
  url: z.url(),
  baseCommit: commitId,
  /** Made from the diff: the same from the same, see `commitDiff` of repository.ts. */
  headCommit: commitId,
  /** Diffs of the revision that are measured beside it for comparison, the oldest first. */
  earlier: z.array(z.object({ diff: z.int().positive(), headCommit: commitId })),
  /** Sentences for the report: how the base was found, what was left out. */
  notes: z.array(z.string()),
});

const range = z.object({
  kind: z.literal('range'),
  title: z.string(),
  author: z.string(),
  baseCommit: commitId,
  headCommit: commitId,
});

/** The id of a commit as people write it, as git shows it in a large repository, and as names of variants have it. */
export const shortId = (commit: string): string => commit.slice(0, 12);

export const patchSchema = z.discriminatedUnion('kind', [pullRequest, revision, range]);

export type Patch = z.infer<typeof patchSchema>;
export type PullRequest = z.infer<typeof pullRequest>;
export type Revision = z.infer<typeof revision>;
/** 27401 and 80677 of D27401:80677. */
export type RevisionDiff = Pick<Revision, 'number' | 'diff'>;

/** Returns the short name of a patch: `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
export function patchName(patch: Patch): string {
  switch (patch.kind) {
    case 'pull-request':
      return `#${patch.number}`;
    case 'revision':
      return `D${patch.number}`;
    case 'range':
      return `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
  }
}
