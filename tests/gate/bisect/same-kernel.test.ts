// Tests the names of kernels in a range, which must distinguish commits whose ids begin alike.
import { expect, test } from 'vitest';
import { withNames } from '../../../src/gate/bisect/same-kernel.ts';

const id = (end: string): string => 'a'.repeat(40 - end.length) + end;

type Kernels = Parameters<typeof withNames>[0];

function kernelOf(place: number, commit: string, fixUps: readonly string[][]): Kernels[number] {
  const forms = fixUps.map((own) => ({
    commit,
    fixUps: own,
    tree: commit,
    key: [commit, ...own].join(' '),
  }));
  const about = { place, last: place, commit, tree: commit, subject: '', author: '' };
  return { ...about, forms };
}

const variantsOf = (kernels: Kernels): string[] =>
  withNames(kernels).flatMap(({ forms }) => forms.map(({ variant }) => variant));

// Otherwise one kernel could be measured for the other.
test('commits with the same first twelve digits have names of their own', () => {
  const kernels = ['0', '1', '2', '3'].map((end, place) => kernelOf(place, id(end), [[]]));
  expect(variantsOf(kernels)).toEqual(['base', id('1'), id('2'), 'patched']);
});

test('fix-ups with the same first twelve digits have names of their own', () => {
  const [fix, other, third] = [id('f'), id('e'), id('d')];
  const kernels = [
    kernelOf(0, id('0'), [[]]),
    kernelOf(1, id('1'), [[fix], [other], [third]]),
    kernelOf(2, id('2'), [[]]),
  ];
  const variants = variantsOf(kernels);
  expect(new Set(variants).size).toBe(variants.length);
  expect(variants).toContain(`${id('1')}-with-${third}`);
});
