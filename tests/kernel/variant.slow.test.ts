import { expect, test } from 'vitest';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { buildVariants, variantSchema } from '../../src/kernel/variant.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { revision } from '../fakes/result.ts';

/** A base, and three commits on it that each bring another file. */
function diffsOnBase() {
  const directory = newRepository();
  const base = commit(directory, { 'sys/net/if.c': 'int if_base;\n' });
  const onBase = (name: string): string => {
    git(directory, 'switch', '--quiet', '--detach', base);
    return commit(directory, { [`sys/net/${name}.c`]: `int ${name};\n` });
  };
  const repository = openRepository(directory);
  return {
    repository,
    base,
    first: onBase('first'),
    second: onBase('second'),
    head: onBase('head'),
  };
}

test('on FreeBSD the variants are kernels of the base and of what each diff changes of it', async () => {
  const { repository, base, first, second, head } = diffsOnBase();
  const earlier = [
    { diff: 80345, headCommit: first },
    { diff: 80654, headCommit: second },
  ];
  const patch = { ...revision, baseCommit: base, headCommit: head, earlier };
  const variants = await buildVariants(
    { patch, making: 'kernel', overlayFolder: { path: 'dut', beside: '' } },
    repository,
  );
  const changed = variants.map(({ variant, commit, kernel }) => {
    const diff = kernel?.kind === 'tree' ? Buffer.from(kernel.diff ?? '', 'base64').toString() : '';
    return [variant, commit, diff.match(/^\+int .*$/gm)];
  });
  expect(changed).toEqual([
    ['base', base, null],
    ['patched', head, ['+int head;']],
    ['diff 80345', first, ['+int first;']],
    ['diff 80654', second, ['+int second;']],
  ]);
  expect(variants.every(({ kernel }) => kernel?.kind === 'tree' && kernel.baseCommit === base)).toBe(true);
});

test('kernels of base and patched alone do not make a comparison with earlier diffs', async () => {
  const { repository, base, first, head } = diffsOnBase();
  const earlier = [{ diff: 80345, headCommit: first }];
  const patch = { ...revision, baseCommit: base, headCommit: head, earlier };
  const kernels = { base: '/a.tar', patched: '/b.tar' };
  const built = buildVariants(
    { patch, making: 'kernel', overlayFolder: { path: 'dut', beside: '' }, kernels },
    repository,
  );
  await expect(built).rejects.toThrow(UsageError);
  await expect(built).rejects.toThrow('none for diff 80345: leave out earlier diffs');
});

test.for(['main', '--upload-pack=reboot', '+refs/heads/evil:refs/heads/main', '0'.repeat(39)])(
  'are read again only with a base that is a full commit id: %s',
  (baseCommit) => {
    const variant = { variant: 'base', commit: '0'.repeat(40), files: [] };
    const of = (baseCommit: string) => ({ ...variant, kernel: { kind: 'tree', baseCommit } });
    expect(variantSchema.safeParse(of('0'.repeat(40))).success).toBe(true);
    expect(variantSchema.safeParse(of(baseCommit)).success).toBe(false);
  },
);
