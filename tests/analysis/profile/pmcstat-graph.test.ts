// Tests how lines of pmcstat -G become stacks, and what else is read from them.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FoldedText, foldedLines } from '../../../src/analysis/profile/fold.ts';
import type { Stack } from '../../../src/analysis/profile/profile.ts';
import { parseProfile, readProfile } from '../../../src/analysis/profile/read-profile.ts';

const graph = `@ CPU_CLK_UNHALTED_CORE [120 samples]

75.00%  [90]       rlock @ /boot/kernel/kernel
 66.67%  [60]        ip_input
  100.0%  [60]        cxgbe_rx @ /boot/kernel/if_cxgbe.ko
   100.0%  [60]         service_iq
    100.0%  [60]         fork_exit @ /boot/kernel/kernel
 33.33%  [30]        arpresolve

25.00%  [30]       pf_test @ /boot/kernel/pf.ko
 100.0%  [20]        pf_check_in

`;

test('folds each line without callers to a stack with the samples of that line', () => {
  expect(fold(graph)).toEqual([
    'fork_exit;service_iq;cxgbe_rx;ip_input;rlock 60',
    'arpresolve;rlock 30',
    'pf_check_in;pf_test 20',
  ]);
});

test('reads the event', () => {
  expect(parseProfile(graph)).toMatchObject({ format: 'pmcstat', event: 'CPU_CLK_UNHALTED_CORE' });
});

test('a module is that of all lines until another is named', () => {
  const [stack] = parseProfile(graph).stacks;
  expect(stack?.frames).toEqual([
    { name: 'fork_exit', module: '/boot/kernel/kernel' },
    { name: 'service_iq', module: '/boot/kernel/if_cxgbe.ko' },
    { name: 'cxgbe_rx', module: '/boot/kernel/if_cxgbe.ko' },
    { name: 'ip_input', module: '/boot/kernel/kernel' },
    { name: 'rlock', module: '/boot/kernel/kernel' },
  ]);
});

test('a sampled function names its own module, or has none', () => {
  const { stacks } = parseProfile(`${graph}10.00%  [3]   nameless\n`);
  expect(stacks.at(-1)?.frames).toEqual([{ name: 'nameless' }]);
});

test('functions of one name in two modules are two frames, in one module one', () => {
  const { stacks } = parseProfile(
    '1%  [1] attach @ /a.ko\n 1%  [1] probe\n1%  [1] attach @ /b.ko\n1%  [1] attach @ /a.ko\n',
  );
  const [inA, inB, again] = stacks.map(({ frames }) => frames.at(-1));
  expect(inA).toBe(again);
  expect(inA).not.toBe(inB);
});

test('a kernel is what ppsgate wrote above the first sample', () => {
  const kernel = 'FreeBSD 15.0-CURRENT #0 main-n271137: amd64';
  expect(parseProfile(`# kernel: ${kernel}\n${graph}# kernel: late\n`).kernel).toBe(kernel);
  expect(parseProfile(`${graph}# kernel: late\n`).kernel).toBeUndefined();
});

test('samples of several events are added up, and all are named', () => {
  const second = graph.replace('CPU_CLK_UNHALTED_CORE', 'inst_retired.any');
  const { event, stacks } = parseProfile(graph + graph + second);
  expect(event).toBe('CPU_CLK_UNHALTED_CORE, inst_retired.any');
  expect(stacks).toHaveLength(9);
});

describe('folds odd lines as stackcollapse-pmc.pl does', () => {
  test.each([
    ['lines of another kind', 'CONVERSION STATISTICS:\n1%  [1] a\n# 2\n 1%  [1] b\n', ['b;a 1']],
    ['DOS line ends', '1%  [2] a\r\n 1%  [1] b\r\n', ['b;a 1']],
    ['a last line cut inside its name', '1%  [2] a\n 1%  [1] netisr_dis', ['netisr_dis;a 1']],
    ['a last line cut before its name', '1%  [2] a\n 100.0%  [2]       ', ['a 2']],
    ['no space before a name', '1%  [2]a\n', ['a 2']],
    ['names with spaces end there', '1%  [2] operator new(int)\n', ['operator 2']],
    ['tabs before a name', '1%  [2]\t\v\fa\n', ['a 2']],
    ['an indent of a tab is no line', '1%  [2] a\n\t1%  [1] b\n', ['a 2']],
    ['one space after the share is no line', '1%  [2] a\n 1% [1] b\n', ['a 2']],
    ['an indent that jumps', '1%  [9] a\n   1%  [7] d\n', ['d;;;a 7']],
    [
      'an indent that jumps again',
      '1%  [9] a\n 1%  [9] b\n1%  [5] c\n  1%  [5] d\n',
      ['b;a 9', 'd;b;c 5'],
    ],
    ['a first line that is indented', '  1%  [4] c\n', ['c;; 4']],
    ['a share of dots', '...%  [4] c\n', ['c 4']],
    ['an address instead of a name', '1%  [4]  0xffffffff80a1b2c3\n', ['0xffffffff80a1b2c3 4']],
  ])('%s', (_, text, stacks) => {
    expect(fold(text)).toEqual(stacks);
  });
});

type Tree = { name: string; callers: Tree[]; samples: number };

const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: fc.stringMatching(/^[a-z_$][\w$.]{0,12}$/),
    callers: fc.oneof(
      { maxDepth: 5 },
      fc.constant<Tree[]>([]),
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    ),
    samples: fc.integer({ min: 1, max: 1_000_000 }),
  }),
})).tree;

test('any call tree that pmcstat prints folds to the counts of its leaves', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 5 }), (roots) => {
      const total = roots.reduce((sum, root) => sum + samplesOf(root), 0);
      const text = roots.map((root) => `${printed(root, 0, total).join('\n')}\n\n`).join('');
      const leaves = roots.flatMap((root) => leavesOf(root, []));
      expect(fold(`@ cycles [${total} samples]\n\n${text}`)).toEqual(leaves);
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
    ...[
      ' ',
      '  ',
      '\t',
      '\r',
      '\n',
      '\n',
      '\0',
      '%',
      '  [',
      ']',
      ';',
      '#',
      '.',
      ' @ k.ko',
      'f',
      'ü',
    ],
    ...['100.0%  [12]  a', '100.0%  [12]  ip_input\n', '0.5%  [3]b @ /boot/pf.ko\n'],
    ...[
      `1%  [007] ${'x'.repeat(100)}\n`,
      '9%  [900719925474099] c\n',
      '1%  [0000000000000000012] d\n',
    ],
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
  let samples = 0;
  const end = () => stacks.push({ frames: branch.toReversed(), samples });
  for (const line of text.split('\n')) {
    const [, indent = '', count, name] =
      /^( *)[\d.]+% {2}\[(\d+)\] *[ \t\v\f\r]*([^ \t\v\f\r]+)/.exec(line) ?? [];
    if (name === undefined) continue;
    if (indent.length < branch.length) end();
    branch.length = Math.min(branch.length, indent.length);
    while (branch.length < indent.length) branch.push({ name: '' });
    branch.push({ name });
    samples = Number(count);
  }
  end();
  return stacks;
}

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];
