// Compares the reader of pmcstat -G with simple ones, on any call tree and on any bytes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FoldedText, foldedLines } from '../../../src/analysis/profile/fold.ts';
import type { Stack } from '../../../src/analysis/profile/profile.ts';
import { parseProfile, readProfile } from '../../../src/analysis/profile/read-profile.ts';

type Tree = { name: string; callers: Tree[]; samples: number };

const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: fc.stringMatching(/^[a-z_$][\w$.]{0,12}$/),
    callers: fc.oneof({ maxDepth: 5 }, fc.constant<Tree[]>([]), fc.array(tie('tree'), { minLength: 1, maxLength: 3 })),
    samples: fc.integer({ min: 1, max: 1_000_000 }),
  }),
})).tree;

test('any call tree that pmcstat prints folds to the counts of its leaves', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 5 }), (roots) => {
      const total = roots.reduce((sum, root) => sum + samplesOf(root), 0);
      const text = roots.map((root) => `${printed(root, 0, total).join('\n')}\n\n`).join('');
      const leaves = roots.flatMap((root) => leavesOf(root, []));
      expect([...foldedLines(parseProfile(`@ cycles [${total} samples]\n\n${text}`))]).toEqual(leaves);
    }),
  );
});

const samplesOf = ({ callers, samples }: Tree): number =>
  callers.length === 0 ? samples : callers.reduce((sum, caller) => sum + samplesOf(caller), 0);

function printed(node: Tree, depth: number, total: number): string[] {
  const samples = samplesOf(node);
  const percent = (100 * samples) / total;
  const share = samples === total ? '100.0' : percent.toFixed(2).padStart(5, '0');
  const indent = ' '.repeat(depth);
  const line = `${indent}${share}% ${` [${samples}] `.padEnd(12)}${indent}${node.name}`;
  return [line, ...node.callers.flatMap((caller) => printed(caller, depth + 1, samples))];
}

function leavesOf({ name, callers, samples }: Tree, callees: string[]): string[] {
  const path = [name, ...callees];
  if (callers.length === 0) return [`${path.join(';')} ${samples}`];
  return callers.flatMap((caller) => leavesOf(caller, path));
}

test('any bytes in any pieces fold as a reader with a single pattern folds them', async () => {
  const text = fc.constantFrom(
    ...[' ', '  ', '\t', '\r', '\n', '\n', '\0', '%', '  [', ']', ';', '#', '.', ' @ k.ko', 'f', 'ü'],
    ...['100.0%  [12]  a', '100.0%  [12]  ip_input\n', '0.5%  [3]b @ /boot/pf.ko\n'],
    ...[`1%  [007] ${'x'.repeat(100)}\n`, '9%  [900719925474099] c\n', '1%  [0000000000000000012] d\n'],
  );
  const bytes = fc.oneof({ weight: 5, arbitrary: text.map((one) => Buffer.from(one)) }, odd);
  // A profile with a zero byte in its first 64 kB counts as binary.
  const head = Buffer.from(`1%  [1] f\n# ${'-'.repeat(64 * 1024)}\n`);
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { maxLength: 60 }), async (parts) => {
      const pieces = async function* () {
        yield head;
        yield* parts;
        yield Buffer.from('\n');
      };
      const folded = new FoldedText();
      const { profile } = await readProfile(pieces(), 'x', folded);
      const stacks = simplyRead(Buffer.concat([head, ...parts]).toString());
      expect(Buffer.concat([...folded.pieces(profile)]).toString()).toBe(
        [...foldedLines({ format: 'pmcstat', stacks }), ''].join('\n'),
      );
      expect((await readProfile(pieces(), 'x')).profile.stacks).toMatchObject(stacks);
    }),
  );
});

const odd = fc.uint8Array({ maxLength: 3 }).map((one) => Buffer.from(one));

function simplyRead(text: string): Stack[] {
  const stacks: Stack[] = [];
  const branch: { name: string }[] = [];
  let depth = -1;
  let samples = 0;
  const end = () => stacks.push({ frames: branch.slice(0, depth + 1).toReversed(), samples });
  for (const line of text.split('\n')) {
    const [, indent = '', count, name] = /^( *)[\d.]+% {2}\[(\d+)\] *[ \t\v\f\r]*([^ \t\v\f\r]+)/.exec(line) ?? [];
    if (name === undefined) continue;
    if (indent.length <= depth) end();
    depth = indent.length;
    // Levels that an indent skips keep their last names, as in stackcollapse-pmc.pl.
    while (branch.length < depth) branch.push({ name: '' });
    branch[depth] = { name };
    samples = Number(count);
  }
  end();
  return stacks;
}
