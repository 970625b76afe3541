// A Phabricator revision as a patch: its diffs become commits of the repository, on the base that they were made for.

import type { PhabricatorConfig } from '../config/phabricator.ts';
import type { Conduit } from '../phabricator/conduit.ts';
import { fetchDiff } from '../phabricator/diff.ts';
import {
  type FoundDiff,
  type FoundRevision,
  findRevision,
  type RevisionName,
} from '../phabricator/revision.ts';
import type { Revision } from '../words/patch.ts';
import { UsageError } from '../words/usage-error.ts';
import type { WritableRepository } from './repository.ts';

/** A diff of which no patch can be made, for the reason that its author is told. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly upshot = 'patchAtFault';
}

export type RevisionWorld = {
  conduit: Conduit;
  repository: WritableRepository;
  config: Pick<PhabricatorConfig, 'branch' | 'repositories'>;
};

/** Which diffs of the revision are measured beside the one that is judged: all that were sent before it, or some by their ids. */
export type Earlier = 'none' | 'all' | readonly number[];

/** As people type it: `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
export function parseEarlier(text: string, called: string): Earlier {
  if (text === 'all' || text === 'none') return text;
  const ids = text.split(',').map((id) => id.trim());
  if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
  throw new UsageError(
    `${called}: expected all, none or ids of diffs like 80345,80654, found "${text}".`,
  );
}

/**
 * Throws a `PatchError` where the diff does not apply, a `UsageError` or `RevisionError` where there is no such diff or
 * it is none of ours. An earlier diff that does not apply is left out, which the notes tell.
 */
export async function patchOfRevision(
  name: RevisionName,
  earlier: Earlier,
  world: RevisionWorld,
): Promise<Revision> {
  const found = await findRevision(world.conduit, name);
  refuseForeign(found, world.config);
  const { diff, number } = found;
  const notes: string[] = [];
  const base = await baseOf(diff, world);
  notes.push(...base.notes);
  const head = await commitOf(number, diff, base.commit, world);
  if (head.kind === 'does-not-apply') throw new PatchError(doesNotApply(number, diff, head.why));

  const others: Revision['earlier'] = [];
  for (const one of chosen(found, earlier)) {
    const commit = await commitOf(number, one, base.commit, world);
    if (commit.kind === 'committed') others.push({ diff: one.id, headCommit: commit.commit });
    else notes.push(`Diff ${one.id} is left out: ${commit.why}`);
  }
  return {
    kind: 'revision',
    server: world.conduit.url,
    number,
    diff: diff.id,
    title: found.title,
    author: found.author.name,
    url: found.url,
    baseCommit: base.commit,
    headCommit: head.commit,
    earlier: others,
    notes,
  };
}

/**
 * Makes the commits of a revision again where another machine made them first; throws a `PatchError` where they are not
 * the same, for then the diff is not what there was leave for.
 */
export async function restoreRevision(patch: Revision, world: RevisionWorld): Promise<void> {
  const { number, baseCommit, earlier } = patch;
  const judged = { diff: patch.diff, headCommit: patch.headCommit };
  for (const { diff: id, headCommit } of [judged, ...earlier]) {
    const isThere = await world.repository.resolve(headCommit).then(
      () => true,
      () => false,
    );
    if (isThere) continue;
    const { diff } = await findRevision(world.conduit, { revision: number, diff: id });
    const made = await commitOf(number, diff, baseCommit, world);
    if (made.kind === 'committed' && made.commit === headCommit) continue;
    throw new PatchError(`Diff ${id} of D${number} is not what it was: ask for it once more.`);
  }
}

function refuseForeign(
  { number, repository }: FoundRevision,
  { repositories }: RevisionWorld['config'],
): void {
  if (repositories === undefined) return;
  const names = [repository?.callsign, repository?.shortName].filter((name) => name !== undefined);
  if (names.some((name) => repositories.includes(name))) return;
  const which = names[0] === undefined ? 'of no repository' : `of the repository ${names[0]}`;
  throw new UsageError(
    `D${number} is ${which}, and only those of ${repositories.join(', ')} are measured: see phabricator.repositories in ppsgate.yml.`,
  );
}

function chosen({ diff, earlier }: FoundRevision, which: Earlier): FoundDiff[] {
  if (which === 'none') return [];
  if (which === 'all') return earlier;
  const stranger = which.find((id) => !earlier.some((one) => one.id === id));
  if (stranger !== undefined) {
    const known = earlier.map(({ id }) => id).join(', ') || 'none';
    throw new UsageError(
      `earlier: ${stranger} is no diff of the revision from before ${diff.id}; those are: ${known}.`,
    );
  }
  return earlier.filter(({ id }) => which.includes(id));
}

type Base = { commit: string; notes: string[] };

/** What the diff was made for; what its branch was on the day, where it does not tell or nobody here has that commit. */
async function baseOf(
  { id, baseCommit, createdAt }: FoundDiff,
  { repository, config }: RevisionWorld,
): Promise<Base> {
  const told = baseCommit && (await repository.resolve(baseCommit).catch(() => undefined));
  if (told) return { commit: told, notes: [] };
  const commit = await repository.commitAt(config.branch, createdAt);
  const day = createdAt.toISOString().slice(0, 'YYYY-MM-DD'.length);
  const why = baseCommit
    ? `says that it was made for ${baseCommit.slice(0, 12)}, which is not in the repository`
    : 'does not say what it was made for';
  const note = `Diff ${id} ${why}: it is measured against ${config.branch} as of ${day}, ${commit.slice(0, 12)}.`;
  return { commit, notes: [note] };
}

async function commitOf(
  number: number,
  diff: FoundDiff,
  base: string,
  { conduit, repository }: RevisionWorld,
) {
  const raw = await fetchDiff(conduit, diff);
  if (raw.kind === 'misleading') return { kind: 'does-not-apply', why: raw.why } as const;
  const about = { message: `D${number} diff ${diff.id}`, date: diff.createdAt };
  const made = await repository.commitDiff(base, raw.bytes, about);
  if (made.kind === 'committed') return made;
  return { ...made, why: [made.why, ...raw.remarks].join(' ') };
}

const doesNotApply = (number: number, { id }: FoundDiff, why: string): string =>
  `Diff ${id} of D${number} does not apply: ${why}`;
