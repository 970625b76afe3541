// Finds forms of a range that have the same kernel, and names them.

import type { LinearRepository } from '../../forge/patch/repository.ts';
import { shortId } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { MadeForm, RangeKernel } from './fix-ups.ts';
import type { Installed } from './installed-kernels.ts';

type BuiltKernel<Form> = RangeKernel & { forms: Form[] };

/** Equal keys mean equal kernels. */
type KeyedKernel = BuiltKernel<MadeForm & { key: string }>;

/**
 * Compares ids of the installed part. Where fix-ups begin or end it compares contents, as FIX^ with FIX on top is FIX.
 */
export async function withKeys(
  built: readonly BuiltKernel<MadeForm>[],
  installed: Installed,
  repository: LinearRepository,
): Promise<KeyedKernel[]> {
  const commits = built.flatMap(({ forms }) => forms.map(({ commit }) => commit));
  const ids = installed.goesById ? await idsOf(commits, installed, repository) : commits;
  const own = new Map(commits.map((commit, index) => [commit, ids[index] ?? '']));
  const earlier = new Map<string, string>();
  const keyOf = ({ commit }: MadeForm): string => {
    const id = own.get(commit) ?? commit;
    return earlier.get(id) ?? id;
  };
  const isSame = async (before: MadeForm, form: MadeForm): Promise<boolean> => {
    const isMade = before.fixUps.length + form.fixUps.length > 0;
    if (!isMade || keyOf(before) === keyOf(form)) return false;
    return (await installed.difference(before.commit, form.commit)) === 'none';
  };
  for (const [index, kernel] of built.entries()) {
    const before = built[index - 1];
    if (before === undefined || !installed.goesById) continue;
    if (onTopOf(before) === onTopOf(kernel)) continue;
    for (const form of kernel.forms) {
      for (const other of before.forms) {
        if (await isSame(other, form)) earlier.set(own.get(form.commit) ?? '', keyOf(other));
      }
    }
  }
  return built.map((kernel) => ({
    ...kernel,
    forms: kernel.forms.map((form) => ({ ...form, key: keyOf(form) })),
  }));
}

/** Returns an id for each commit that covers everything installed. */
async function idsOf(
  commits: readonly string[],
  { paths }: Installed,
  repository: LinearRepository,
): Promise<string[]> {
  const each = await Promise.all(paths.map((path) => repository.idsAt(commits, path)));
  return commits.map((_, index) => each.map((ids) => ids[index] ?? '').join(' '));
}

const onTopOf = ({ forms }: BuiltKernel<MadeForm>): string => forms.map(({ fixUps }) => fixUps.join(' ')).join();

/** Merges neighbours whose first form has the same kernel. Throws a `UsageError` if both ends do. */
export function mergeAlike(kernels: readonly KeyedKernel[]): KeyedKernel[] {
  const distinct: KeyedKernel[] = [];
  for (const kernel of kernels) {
    const before = distinct.at(-1);
    if (before === undefined || keyOf(before) !== keyOf(kernel)) distinct.push({ ...kernel });
    else before.last = kernel.last;
  }
  const [first, last] = [distinct.at(0), distinct.at(-1)];
  if (first === undefined || last === undefined || keyOf(first) === keyOf(last)) {
    throw new UsageError(
      '--good and --bad have the same content, so there is no difference to find: the changes between them were reverted, or are part of a fix-up.',
    );
  }
  return distinct;
}

const keyOf = ({ forms }: KeyedKernel): string | undefined => forms[0]?.key;

/** The ends are `base` and `patched`; others are named by commit. A repeated kernel keeps its name. */
export function withNames(
  kernels: readonly KeyedKernel[],
): BuiltKernel<{ variant: string; commit: string; fixUps: string[] }>[] {
  const [base, patched] = [kernels.at(0), kernels.at(-1)].map((end) => end?.forms[0]?.key ?? '');
  const names = new Map([
    [base, 'base'],
    [patched, 'patched'],
  ]);
  const taken = new Set<string>();
  return kernels.map((kernel) => {
    const forms = new Map<string, { variant: string; commit: string; fixUps: string[] }>();
    for (const { key, commit, fixUps } of kernel.forms) {
      const nameBy = (idOf: (commit: string) => string): string =>
        [idOf(kernel.commit), ...(fixUps.length > 0 ? ['with', ...fixUps.map(idOf)] : [])].join('-');
      const name = nameBy(shortId);
      // Uses whole ids for equal names, as equal prefixes of commit ids can be forged.
      const variant = names.get(key) ?? (taken.has(name) ? nameBy(String) : name);
      taken.add(name);
      names.set(key, variant);
      if (!forms.has(variant)) forms.set(variant, { variant, commit, fixUps });
    }
    return { ...kernel, forms: [...forms.values()] };
  });
}
