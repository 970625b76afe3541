// Folded stacks as they are printed: names of any kind, modules, equal stacks.
import { expect, test } from 'vitest';
import { FoldedText, foldedLines, foldedPieces } from '../../../src/analysis/profile/fold.ts';

const one = (...names: string[]) => [{ frames: names.map((name) => ({ name })), samples: 7 }];

test('prints frames from the outermost caller inwards, on request with their modules, like DTrace', () => {
  const frames = [
    { name: 'fork_exit', module: '/boot/kernel/kernel' },
    { name: 't4_intr', module: '/boot/kernel/if_cxgbe.ko' },
    { name: 'nft_do_chain', module: '[nf_tables]' },
    { name: 'lost' },
  ];
  const profile = { format: 'pmcstat', stacks: [{ frames, samples: 1 }] } as const;
  expect([...foldedLines(profile, { modules: true })]).toEqual([
    'kernel`fork_exit;if_cxgbe.ko`t4_intr;[nf_tables]`nft_do_chain;lost 1',
  ]);
  expect([...foldedLines(profile)]).toEqual(['fork_exit;t4_intr;nft_do_chain;lost 1']);
});

test('stacks of perf that read alike are one', () => {
  const stacks = ['/lib/a.so', '/lib/b.so'].map((module) => ({
    frames: [{ name: '[unknown]', module }],
    samples: 2,
  }));
  expect([...foldedLines({ format: 'perf', stacks })]).toEqual(['[unknown] 4']);
  expect([...foldedLines({ format: 'pmcstat', stacks })]).toHaveLength(2);
  expect([...foldedLines({ format: 'perf', stacks }, { modules: true })]).toHaveLength(2);
});

test('names cannot break a line, steer a terminal or pass for a comment', () => {
  const hostile = one('# kernel: made up', 'La/b;.c', 'x\ny', '\x1b]0;z\x07', '\u009b31m');
  expect([...foldedLines({ format: 'perf', stacks: hostile })]).toEqual([
    '? kernel: made up;La/b:.c;x?y;?]0:z?;?31m 7',
  ]);
});

test('the pieces of a large profile are its lines', () => {
  const stacks = Array.from({ length: 30_000 }, (_, index) => one('main', `f${index}`)).flat();
  const pieces = [...foldedPieces({ format: 'folded', stacks })];
  const lines = stacks.map((_, index) => `main;f${index} 7\n`);
  expect(pieces.length).toBeGreaterThan(1);
  expect(Buffer.concat(pieces).toString()).toBe(lines.join(''));
});

test('text of stacks comes before the stacks that it did not take', () => {
  const text = new FoldedText({ modules: true });
  const stack = { frames: [{ name: 'a', module: '/k.ko' }], samples: 7 };
  expect(text.take(stack.frames, 1, 7)).toBe(true);
  const pieces = [...text.pieces({ format: 'pmcstat', stacks: [{ ...stack, samples: 8 }] })];
  expect(Buffer.concat(pieces).toString()).toBe('k.ko`a 7\nk.ko`a 8\n');
});
