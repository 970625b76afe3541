// Makes the bad end without the culprit, to verify the conclusion of a bisection.

import type { LinearRepository } from '../../forge/patch/repository.ts';
import type { Variant } from '../../kernel/variant.ts';
import { plainLine } from '../../model/escape.ts';
import { shortId } from '../../model/patch.ts';
import type { BisectPlan } from './bisect-plan.ts';
import { revertedName } from './evidence.ts';
import { type RevisionForm, variantOf } from './range.ts';

/** `bad` is a form of the bad end. `impossible` explains why the culprit cannot be reverted. */
export async function revertedVariant(
  { culprit, bad }: { culprit: string; bad: RevisionForm },
  plan: Pick<BisectPlan, 'range' | 'system' | 'overlay'>,
  repository: LinearRepository,
): Promise<Variant | { impossible: string }> {
  const end = plan.range.revisions.at(-1);
  if (end === undefined) throw new RangeError('A range has two ends.');
  // The repository may have lost the form's commit, which is then recreated.
  await variantOf(end, bad, plan, repository);
  const tree = (await repository.idAt(bad.commit, '')) ?? '';
  const takeBack = await repository.picker(culprit, true);
  const picked = await takeBack({ commit: bad.commit, tree });
  const name = shortId(culprit);
  if (picked.kind === 'conflict') {
    const paths = plainLine(picked.paths.slice(0, 3).join(', '), 200);
    return { impossible: `The changes of ${name} were changed again later, in ${paths}.` };
  }
  if (picked.kind === 'nothing-to-do') {
    return { impossible: `The changes of ${name} are no longer in the bad commit.` };
  }
  const form = { variant: revertedName, commit: picked.tip.commit, fixUps: [] };
  return variantOf(end, form, plan, repository);
}
