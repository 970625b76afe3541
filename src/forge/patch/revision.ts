// Creates a patch from a Phabricator revision: commits of its diffs on their base.
import type { PhabricatorConfig } from '../../config/phabricator.ts';
import { type Revision, shortId } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { Conduit } from '../phabricator/conduit.ts';
import { type DiffFault, fetchDiff } from '../phabricator/diff.ts';
import {
  type FoundDiff,
  type FoundRevision,
  findRevision,
  isNamed,
  phidsOf,
  type RevisionName,
} from '../phabricator/revision.ts';
import { PatchError } from './patch-error.ts';
import type { WritableRepository } from './repository.ts';

export type RevisionDeps = {
  conduit: Conduit;
  repository: WritableRepository;
  config: Pick<PhabricatorConfig, 'branch' | 'repositories'>;
};

/** All diffs before the judged one, or some of them by id. */
export type EarlierDiffs = 'none' | 'all' | readonly number[];

/** Parses `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
export function parseEarlier(text: string, called: string): EarlierDiffs {
  if (text === 'all' || text === 'none') return text;
  const ids = text.split(',').map((id) => id.trim());
  if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
  throw new UsageError(`${called}: expected all, none or diff IDs like 80345,80654, found "${text}".`);
}

/**
 * Throws a `PatchError` if the diff does not apply, and a `UsageError` or `RevisionError` if it does not exist or
 * belongs to another repository. Omits an earlier diff that does not apply, with a note.
 */
export async function patchOfRevision(
  name: RevisionName,
  earlier: EarlierDiffs,
  deps: RevisionDeps,
): Promise<Revision> {
  const found = await findRevision(deps.conduit, name);
  refuseForeign(found, deps.config);
  const { diff, number } = found;
  const notes: string[] = [];
  const base = await baseOf(diff, deps);
  notes.push(...base.notes);
  const head = await commitOf(number, diff, base.commit, deps);
  if (head.kind === 'does-not-apply') throw unusable(number, diff, head);

  const others: Revision['earlier'] = [];
  for (const one of chosenDiffs(found, earlier)) {
    const commit = await commitOf(number, one, base.commit, deps);
    if (commit.kind === 'committed') others.push({ diff: one.id, headCommit: commit.commit });
    else notes.push(`Diff ${one.id} is left out: ${commit.why}`);
  }
  return {
    kind: 'revision',
    server: deps.conduit.url,
    number,
    diff: diff.id,
    phids: phidsOf(found),
    title: found.title,
    author: found.author.name,
    url: found.url,
    baseCommit: base.commit,
    headCommit: head.commit,
    earlier: others,
    ...(base.missing !== undefined && { missingBase: base.missing }),
    notes,
  };
}

/** Throws a `PatchError` if the commits differ: the diff is then not the approved one. */
export async function restoreRevision(patch: Revision, deps: RevisionDeps): Promise<void> {
  const { number, baseCommit, earlier, phids } = patch;
  const judged = {
    diff: patch.diff,
    headCommit: patch.headCommit,
    ...(phids && { phids }),
  };
  for (const { diff: id, headCommit, ...own } of [judged, ...earlier]) {
    const isThere = await deps.repository.resolve(headCommit).then(
      () => true,
      () => false,
    );
    if (isThere) continue;
    const { diff } = await findRevision(deps.conduit, { revision: number, diff: id, ...own });
    const made = await commitOf(number, diff, baseCommit, deps);
    if (made.kind === 'committed' && made.commit === headCommit) continue;
    throw new PatchError(`Diff ${id} of D${number} has changed: request it again.`);
  }
}

/** The base, the newest diff's commit, and the diffs' ids by commit. */
type LineOfDiffs = { good: string; bad: string; diffs: ReadonlyMap<string, number> };

/**
 * Creates a line of commits from a revision's diffs, as a bisection follows first parents but diffs are siblings on one
 * base. Each commit has all files of its diff. Throws a `UsageError` for a single diff.
 */
export async function lineOfDiffs(
  { number, diff, baseCommit, headCommit, earlier }: Revision,
  repository: Pick<WritableRepository, 'commitOnTop'>,
): Promise<LineOfDiffs> {
  if (earlier.length === 0) {
    throw new UsageError(
      `D${number} has no earlier diff than ${diff} that applies, so there is nothing to bisect: name a good commit and a bad commit.`,
    );
  }
  const diffs = new Map<string, number>();
  let bad = baseCommit;
  for (const one of [...earlier, { diff, headCommit }]) {
    const about = { message: `D${number} diff ${one.diff}`, date: new Date(0) };
    bad = await repository.commitOnTop(one.headCommit, bad, about);
    diffs.set(bad, one.diff);
  }
  return { good: baseCommit, bad, diffs };
}

function refuseForeign({ number, repository }: FoundRevision, { repositories }: RevisionDeps['config']): void {
  if (repositories === undefined) return;
  if (isNamed(repository, repositories)) return;
  const name = repository?.callsign ?? repository?.shortName;
  const which = name === undefined ? 'of no repository' : `of the repository ${name}`;
  throw new UsageError(
    `D${number} is ${which}, but only revisions of ${repositories.join(', ')} are measured: see phabricator.repositories in ppsgate.yml.`,
  );
}

/** Throws a `UsageError` for an id that is none of the earlier diffs. */
export function chosenDiffs({ diff, earlier }: FoundRevision, which: EarlierDiffs): FoundDiff[] {
  if (which === 'none') return [];
  if (which === 'all') return earlier;
  const stranger = which.find((id) => !earlier.some((one) => one.id === id));
  if (stranger !== undefined) {
    const ids = earlier.map(({ id }) => id).join(', ') || 'none';
    throw new UsageError(
      `earlier: ${stranger} is not an earlier diff of the revision than ${diff.id}; the earlier diffs are: ${ids}.`,
    );
  }
  return earlier.filter(({ id }) => which.includes(id));
}

/** `missing` is a sentence for the comment if the diff names a commit that is not here. */
type DiffBase = { commit: string; notes: string[]; missing?: string };

/** Returns the base that the diff names, or its branch's commit of that day. */
async function baseOf({ id, base, createdAt }: FoundDiff, deps: RevisionDeps): Promise<DiffBase> {
  const { repository, config } = deps;
  const asOfDay = async (why: string, branch = config.branch): Promise<DiffBase> => {
    const commit = await repository.commitAt(branch, createdAt);
    const day = createdAt.toISOString().slice(0, 'YYYY-MM-DD'.length);
    const against = `it is measured against ${branch} as of ${day}, ${shortId(commit)}`;
    return { commit, notes: [`Diff ${id} ${why}: ${against}.`] };
  };
  switch (base.kind) {
    case 'none':
      return asOfDay('does not name its base');
    case 'other':
      return asOfDay(`names its base "${base.text}", which is not a full commit ID`);
    case 'commit': {
      const commit = await repository.resolve(base.id).catch(() => undefined);
      if (commit !== undefined) return { commit, notes: [] };
      const called = shortId(base.id);
      const taken = await asOfDay(`names its base ${called}, which is not in the repository`);
      const missing = `Diff ${id} is based on ${called}, which is not in the repository; it was measured on ${shortId(taken.commit)} of ${config.branch} instead, without changes of a parent revision.`;
      return { ...taken, missing };
    }
    case 'svn-path': {
      const { branch, called } = await branchOf(base.path, deps);
      return asOfDay(`names its base ${called}, without a revision`, branch);
    }
    case 'svn-revision': {
      const { path, revision } = base;
      const { branch, called } = await branchOf(path, deps);
      const number = `r${revision}${called && ` of ${called}`}`;
      const found = await repository.commitOfSvn(branch, revision, createdAt);
      if (found.kind !== 'found') {
        const why = whyNotFound[found.kind];
        return asOfDay(`names its base ${number}, ${why}`, branch);
      }
      const last = ` (r${found.revision} is the last change of ${branch} before it)`;
      const which = `${shortId(found.commit)}${found.revision === revision ? '' : last}`;
      const note = `Diff ${id} is based on ${number}, which is ${which}.`;
      return { commit: found.commit, notes: [note] };
    }
  }
}

const whyNotFound = {
  'no-revisions':
    'and the repository has neither git-svn-id lines nor notes of a conversion (git fetch origin refs/notes/commits:refs/notes/commits)',
  'only-later': 'which is older than every commit of the branch here',
  'not-in-time': 'which was not found within a minute',
};

async function branchOf(
  path: string | undefined,
  { repository, config: { branch: own } }: RevisionDeps,
): Promise<{ branch: string; called: string }> {
  if (path === undefined) return { branch: own, called: '' };
  if (/(?:^|\/)(?:head|trunk)$/.test(path)) return { branch: own, called: path };
  const branch = await repository.branchOfPath(path);
  if (branch !== undefined) return { branch, called: path };
  return { branch: own, called: `${path} (which is not a branch here, so ${own} is used)` };
}

async function commitOf(number: number, diff: FoundDiff, base: string, { conduit, repository }: RevisionDeps) {
  const raw = await fetchDiff(conduit, diff);
  if (raw.kind === 'misleading') {
    return { kind: 'does-not-apply', why: raw.why, fault: raw.fault } as const;
  }
  const about = { message: `D${number} diff ${diff.id}`, date: diff.createdAt };
  const made = await repository.commitDiff(base, raw.bytes, about);
  if (made.kind === 'committed') return made;
  const fault = made.isRefused ? 'unusable-diff' : 'does-not-apply';
  return { ...made, fault, why: [made.why, ...raw.remarks].join(' ') } as const;
}

function unusable(number: number, { id }: FoundDiff, { fault, why }: { fault: DiffFault; why: string }): PatchError {
  const what = fault === 'does-not-apply' ? 'does not apply' : 'cannot be used';
  return new PatchError(`Diff ${id} of D${number} ${what}: ${why}`, fault);
}
