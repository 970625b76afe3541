// Defines patches: a pull request at a commit, a diff of a Phabricator revision, or a range of local commits.
import { z } from 'zod';
import * as bounded from './bounds.ts';

export const commitId = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a full commit id');

const pullRequest = z.object({
  kind: z.literal('pull-request'),
  /** `owner/name` of the target repository. */
  repository: bounded.name,
  number: bounded.id,
  title: bounded.line,
  author: bounded.line,
  url: bounded.url,
  /** Target branch. */
  baseBranch: bounded.path.optional(),
  baseCommit: commitId,
  headCommit: commitId,
});

/** PHIDs identify a revision and its diff even after a restored server has reused their numbers. */
export const diffPhids = z.object({
  revision: z.string().regex(/^PHID-DREV-[\w-]{1,100}$/),
  diff: z.string().regex(/^PHID-DIFF-[\w-]{1,100}$/),
});

const revision = z.object({
  kind: z.literal('revision'),
  /** Without a trailing slash. */
  server: bounded.url,
  /** 27401 of D27401. */
  number: bounded.id,
  /** Changes with each update by the author. */
  diff: bounded.id,
  phids: diffPhids.optional(),
  title: bounded.line,
  author: bounded.line,
  url: bounded.url,
  baseCommit: commitId,
  /** Computed from the diff alone; see `commitDiff` of repository.ts. */
  headCommit: commitId,
  /** Earlier diffs measured for comparison, oldest first. */
  earlier: bounded.list(z.object({ diff: bounded.id, headCommit: commitId }), 1000),
  /** Sentence on the diff's base commit if it is missing here, for example that of an open parent revision. */
  missingBase: bounded.prose().optional(),
  /** Notes for the report, such as how the base was found and what was omitted. */
  notes: bounded.list(bounded.prose(), 1000),
});

const range = z.object({
  kind: z.literal('range'),
  /** `old.conf → new.conf` for two files outside any repository. Holds no Markdown, and mentions no user. */
  name: z
    .string()
    .regex(/^[\w./ +→-]{1,200}$/)
    .exactOptional(),
  title: bounded.line,
  author: bounded.line,
  baseCommit: commitId,
  headCommit: commitId,
});

const between = ' → ';

/** Names a comparison of two; see `name` of a range. */
export const comparisonName = (old: string, other: string): string => `${old}${between}${other}`;

/** Returns both names of a comparison; undefined for any other patch. */
export function comparedNames(patch: Patch): { base: string; patched: string } | undefined {
  const [base, patched] = (patch.kind === 'range' ? patch.name : undefined)?.split(between) ?? [];
  return base === undefined || patched === undefined ? undefined : { base, patched };
}

/** Length as in git for a large repository, also used in variant names. */
export const shortId = (commit: string): string => commit.slice(0, 12);

export const patchSchema = z.discriminatedUnion('kind', [pullRequest, revision, range]);

export type Patch = z.infer<typeof patchSchema>;
export type PullRequest = z.infer<typeof pullRequest>;
export type Revision = z.infer<typeof revision>;
export type DiffPhids = z.infer<typeof diffPhids>;
/** 27401 and 80677 of D27401:80677. */
export type RevisionDiff = Pick<Revision, 'number' | 'diff' | 'phids'>;

/** First word of a command in a GitHub comment. */
export const callOnGithub = '/ppsgate';

/** The same on Phabricator, where a slash has no meaning. */
export const callOnPhabricator = '@ppsgate';

export type CommandPrefix = typeof callOnGithub | typeof callOnPhabricator;

/** Like `patchName`, but with full ids: short ones can be forged. */
export const patchIdentity = (patch: Patch): string =>
  patch.kind === 'range' ? `${patch.baseCommit}..${patch.headCommit}` : patchName(patch);

/** `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
export function patchName(patch: Patch): string {
  switch (patch.kind) {
    case 'pull-request':
      return `#${patch.number}`;
    case 'revision':
      return `D${patch.number}`;
    case 'range':
      return patch.name ?? `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
  }
}
