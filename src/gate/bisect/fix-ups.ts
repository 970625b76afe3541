// Applies fix-up commits to commits that cannot be measured without them.

import type { Picked, Tip } from '../../forge/patch/linear-history.ts';
import { type LinearRepository, RepositoryError } from '../../forge/patch/repository.ts';
import { shortId } from '../../model/patch.ts';
import { excerpt } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { commitNamed, type FirstParentLine, placeOf } from './first-parents.ts';
import type { Installed } from './installed-kernels.ts';

type FixUp = {
  /** Label for people: `--fix-up 431980466ff0`. */
  called: string;
  commit: string;
  /** The user named the first commit that needs it, so it is never omitted there. */
  isAlways: boolean;
  /** Decides by the first and the last commit of the same kernel. */
  isNeededBy(kernel: { place: number; last: number }): boolean;
  /** Commit on the line with the same change. */
  twin: string | undefined;
  isMixed: boolean;
  pick(onto: Tip): Promise<Picked>;
};

/** Reads `FIX` and `FIX:FIRST`. Throws a `UsageError` for a fix-up without use in the range. */
export async function readFixUps(
  texts: readonly string[],
  line: FirstParentLine,
  installed: Installed,
  repository: LinearRepository,
): Promise<FixUp[]> {
  const fixUps: FixUp[] = [];
  for (const text of texts) {
    const fixUp = await readFixUp(text, line, installed, repository);
    if (fixUps.some(({ commit }) => commit === fixUp.commit)) {
      throw new UsageError(`${fixUp.called} is given twice: remove one.`);
    }
    fixUps.push(fixUp);
  }
  return fixUps;
}

async function readFixUp(
  text: string,
  line: FirstParentLine,
  installed: Installed,
  repository: LinearRepository,
): Promise<FixUp> {
  const [, fix, first] = /^([^:]+)(?::([^:]+))?$/.exec(text) ?? [];
  if (fix === undefined) {
    throw new UsageError(`--fix-up: expected FIX or FIX:FIRST, found "${excerpt(text)}".`);
  }
  const called = `--fix-up ${excerpt(fix)}`;
  const commit = await commitNamed('--fix-up', fix, repository);
  const parent = await repository.resolve(`${commit}^1`).catch(() => {
    throw new UsageError(`${called} has no parent, so its changes are unknown: name another commit.`);
  });
  if (await repository.contains(line.good, commit)) {
    throw new UsageError(`${called} is already contained in --good: remove it.`);
  }
  const difference = await installed.difference(parent, commit);
  if (difference === 'none') {
    throw new UsageError(`${called} changes nothing in ${installed.what}: remove it.`);
  }
  const from = first === undefined ? 0 : await firstPlace({ called, commit, first }, line, repository);
  const { has, twin } = await revisionsWith(commit, line, repository);
  return {
    called,
    commit,
    isAlways: first !== undefined,
    // Earlier commits that have the same kernel as the first one need it, too.
    isNeededBy: ({ place, last }) => last >= from && !has(place),
    twin,
    isMixed: difference === 'some',
    pick: await repository.picker(commit),
  };
}

async function firstPlace(
  { called, commit, first }: { called: string; commit: string; first: string },
  line: FirstParentLine,
  repository: LinearRepository,
): Promise<number> {
  const id = await commitNamed('--fix-up', first, repository);
  const place = await placeOf(id, line, repository);
  if (place === undefined) {
    throw new UsageError(
      `${called}: ${excerpt(first)} is not in the history of --bad: write FIX:FIRST, where FIRST is the first commit that needs FIX.`,
    );
  }
  if (await repository.contains(id, commit)) {
    throw new UsageError(
      `${called}: ${excerpt(first)} already has the fix: write FIX:FIRST, where FIRST is the first commit that needs FIX.`,
    );
  }
  return place;
}

/** Finds the places that have a fix: from the fix, or the same change, to the commit that reverts it. */
async function revisionsWith(
  commit: string,
  line: FirstParentLine,
  repository: LinearRepository,
): Promise<{ has: (place: number) => boolean; twin: string | undefined }> {
  const after = await repository.mergeBase(commit, line.good).catch((error) => {
    if (error instanceof RepositoryError) return undefined;
    throw error;
  });
  const range = { upTo: line.bad, ...(after !== undefined && { after }) };
  const changes = [
    { commit, isReverse: false },
    ...(await repository.sameChanges(commit, range)).filter((change) => change.commit !== commit),
  ];
  const events: { place: number; isReverse: boolean }[] = [];
  for (const change of changes) {
    const place = await placeOf(change.commit, line, repository);
    if (place !== undefined) events.push({ place, isReverse: change.isReverse });
  }
  const inOrder = events.toSorted((one, other) => one.place - other.place);
  return {
    has: (place) => inOrder.findLast((event) => event.place <= place)?.isReverse === false,
    twin: changes.find((change) => change.commit !== commit && !change.isReverse)?.commit,
  };
}

export type RangeKernel = Tip & { place: number; last: number; subject: string; author: string };

export type MadeForm = Tip & { fixUps: string[] };

/** Lists the forms of each kernel in the order of attempts; notes report fix-ups that do not apply. */
export async function makeForms(
  kernels: readonly RangeKernel[],
  fixUps: readonly FixUp[],
  installed: Installed,
  onProgress: (text: string) => void,
): Promise<{ forms: MadeForm[][]; notes: string[] }> {
  const conflicts = new Map(fixUps.map((fixUp) => [fixUp, new Map<RangeKernel, string[]>()]));
  const needing = kernels.filter((kernel) => fixUps.some((fixUp) => fixUp.isNeededBy(kernel)));
  let tried = 0;
  const forms = await eachOf(kernels, async (kernel) => {
    const needed = fixUps.filter((fixUp) => fixUp.isNeededBy(kernel));
    if (needed.length === 0) return [plainly(kernel)];
    const note = (fixUp: FixUp, paths: string[]) => conflicts.get(fixUp)?.set(kernel, paths);
    const made = await formsOf(kernel, needed, { installed, onConflict: note });
    tried += 1;
    if (tried % progressEvery === 0 || tried === needing.length) {
      onProgress(`applying fix-ups: ${tried} of ${needing.length} commits`);
    }
    return made;
  });
  const notes = fixUps.flatMap((fixUp) => {
    const inConflict = conflicts.get(fixUp) ?? new Map<RangeKernel, string[]>();
    return notesOf(
      fixUp,
      kernels.filter((kernel) => fixUp.isNeededBy(kernel)),
      inConflict,
    );
  });
  return { forms, notes };
}

const progressEvery = 50;

const plainly = ({ commit, tree }: Tip): MadeForm => ({ commit, tree, fixUps: [] });

type FixUpContext = { installed: Installed; onConflict: (fixUp: FixUp, paths: string[]) => void };

/** Tries the fix-ups that are always needed, then one more each, then all. */
async function formsOf(
  kernel: RangeKernel,
  needed: readonly FixUp[],
  { installed, onConflict }: FixUpContext,
): Promise<MadeForm[]> {
  const always = needed.filter(({ isAlways }) => isAlways);
  const others = needed.filter(({ isAlways }) => !isAlways);
  const first = await onTop(plainly(kernel), always, { installed, onConflict });
  const forms = [first];
  for (const fixUp of others) forms.push(await onTop(first, [fixUp], { installed, onConflict }));
  // A conflict of two fix-ups is not the commit's fault.
  if (others.length > 1) forms.push(await onTop(first, others, { installed, onConflict: () => undefined }));
  return forms;
}

async function onTop(
  start: MadeForm,
  fixUps: readonly FixUp[],
  { installed, onConflict }: FixUpContext,
): Promise<MadeForm> {
  let made = start;
  for (const fixUp of fixUps) {
    const picked = await fixUp.pick(made);
    if (picked.kind === 'conflict') onConflict(fixUp, picked.paths);
    if (picked.kind !== 'picked') continue;
    // The fix-up may have been merged without its changes to documents.
    if (fixUp.isMixed && (await installed.difference(made.commit, picked.tip.commit)) === 'none') continue;
    made = { ...picked.tip, fixUps: [...made.fixUps, fixUp.commit] };
  }
  return made;
}

function notesOf(
  { called, twin }: FixUp,
  needing: readonly RangeKernel[],
  conflicts: ReadonlyMap<RangeKernel, string[]>,
): string[] {
  if (needing.length === 0) {
    const why = twin ? `: ${shortId(twin)} makes the same change` : '';
    return [`No commit of the range needs ${called}${why}.`];
  }
  const files = [...new Set([...conflicts.values()].flat())];
  const shown = [...files.slice(0, 3).map(excerpt), ...(files.length > 3 ? ['…'] : [])].join(', ');
  // A fix for the good end alone is useless: the commits compared with it would lack the fix.
  const later = needing.filter(({ place }) => place > 0);
  if (conflicts.size > 0 && later.every((kernel) => conflicts.has(kernel))) {
    throw new UsageError(
      `${called} applies to no commit that needs it, because of conflicts in ${shown}: name another fix-up, or remove it.`,
    );
  }
  return stretchesOf(needing, conflicts).map(
    ([first, last]) =>
      `${called} does not apply ${first === last ? `to ${first}` : `from ${first} to ${last}`}, because of conflicts in ${shown}: those commits are measured without it.`,
  );
}

/** Returns the first and the last of each stretch of consecutive conflicts. */
function stretchesOf(
  needing: readonly RangeKernel[],
  conflicts: ReadonlyMap<RangeKernel, string[]>,
): [first: string, last: string][] {
  const stretches: [string, string][] = [];
  let isGoingOn = false;
  for (const kernel of needing) {
    const id = shortId(kernel.commit);
    const stretch = stretches.at(-1);
    const isIn = conflicts.has(kernel);
    if (isIn && isGoingOn && stretch !== undefined) stretch[1] = id;
    else if (isIn) stretches.push([id, id]);
    isGoingOn = isIn;
  }
  return stretches;
}

/** Limits concurrency, as each item starts processes. */
async function eachOf<Item, Answer>(items: readonly Item[], work: (item: Item) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return answers;
}
