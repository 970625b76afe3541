import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import { foldedInstructions } from '../../../src/lab/qemu/hot-functions.ts';

/** Address of a block of code, and how many instructions were executed in it. */
type Block = readonly [address: bigint, instructions: number];

/** A file as instructions.c writes it: all instructions, and from the 64th byte on a slot for each block. */
function countsOf(blocks: readonly Block[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(64 + blocks.length * 16));
  const all = blocks.reduce((sum, [, instructions]) => sum + instructions, 0);
  view.setBigUint64(0, BigInt(all), true);
  for (const [index, [address, instructions]] of blocks.entries()) {
    view.setBigUint64(64 + index * 16, address, true);
    view.setBigUint64(72 + index * 16, BigInt(instructions), true);
  }
  return new Uint8Array(view.buffer);
}

const symbols = `
ffffffff81000000 T _text
ffffffff81e01000 T ip_forward
ffffffff81e01400 t ip_forward_finish
ffffffff82000000 D jiffies
ffffffffc0201000 t nft_do_chain\t[nf_tables]
ffffffffc0202000 W nft-like.isra.0\t[nf-tables_2]
`;

/** Lines of instructions executed since the guest started. */
const folded = (blocks: readonly Block[], kernel = symbols): string[] => {
  const before = countsOf(blocks.map(([address]) => [address, 0]));
  const text = foldedInstructions({ counts: [before, countsOf(blocks)], symbols: kernel });
  return text.split('\n').filter(Boolean);
};

test('an address is of the function that it is in, with the name of its module', () => {
  expect(folded([[0xffffffff81e01000n, 7000]])).toEqual(['kernel`ip_forward 7']);
  expect(folded([[0xffffffff81e013ffn, 7000]])).toEqual(['kernel`ip_forward 7']);
  const blocks = [0xffffffffc0201004n, 0xffffffffc0202004n].map((at): Block => [at, 7000]);
  expect(folded(blocks)).toEqual(['nf_tables`nft_do_chain 7', 'nf-tables_2`nft-like.isra.0 7']);
});

describe('counts', () => {
  const at = 0xffffffff81e01000n;

  test.for<[string, earlier: Block, later: Block, text: string]>([
    ['of a block that was translated in between are there', [0n, 0], [at, 7000], 'kernel`ip_forward 7\n'],
    ['that stood still are nothing', [at, 5000], [at, 5000], '\n'],
    ['that went back are nothing', [at, 5000], [at, 4000], '\n'],
  ])('%s', ([, earlier, later, text]) => {
    expect(foldedInstructions({ counts: [countsOf([earlier]), countsOf([later])], symbols })).toBe(text);
  });

  test('of a timer in one of three windows leave no trace', () => {
    const own = [0, 7000, 15_000, 21_000];
    const timer = [0, 0, 9000, 9000];
    const counts = own.map((count, window) =>
      countsOf([
        [at, count],
        [0xffffffffc0201000n, timer[window] ?? 0],
      ]),
    );
    expect(foldedInstructions({ counts, symbols })).toBe('kernel`ip_forward 7\n');
  });

  test('of all blocks of a function are added, however small each is', () => {
    const blocks = Array.from({ length: 10 }, (_, n): Block => [at + BigInt(n * 16), 400]);
    expect(folded(blocks)).toEqual(['kernel`ip_forward 4']);
  });
});

test.for([
  'ffffffff81e02000 D nf_hooks',
  'ffffffff81e02000 nf_hook',
  'ffffffff81e020000 T nf_hook',
  'ffffffff81e0200g T nf_hook',
  'ffffffff81e02000 T nf hook',
  `ffffffff81e02000 T ${'x'.repeat(201)}`,
  'ffffffff81e02000 t nf_hook\t[nf;tables]',
  'ffffffff81e02000 t nf_hook\t[nf_tables] 9',
  'ffffffff81e02000 T ',
])('no symbol is %j', (broken) => {
  const kernel = `ffffffff81e01400 t ip_forward_finish\n${broken}`;
  expect(folded([[0xffffffff81e02000n, 7000]], kernel)).toEqual(['kernel`ip_forward_finish 7']);
});

const anyAddress = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  fc.bigInt({ min: 0xffffffff80f00000n, max: 0xffffffffc0300000n }),
);
const anyBlock = fc.record({ address: anyAddress, first: fc.nat(2e6), second: fc.nat(2e6) });
const anyName = fc.stringMatching(/^[a-zA-Z_.][\w.$]{0,20}$/);
const anySymbol = fc
  .tuple(fc.bigInt({ min: 1n << 63n, max: (1n << 64n) - 1n }), anyName, fc.boolean())
  .map(([address, name, isOfModule]) => `${address.toString(16)} t ${name}${isOfModule ? '\t[nf_tables]' : ''}`);

test('executed instructions are shown whole, up to 500 per function', () => {
  const blocks = fc.array(anyBlock, { maxLength: 30 });
  const lines = fc.array(anySymbol, { maxLength: 10 });
  fc.assert(
    fc.property(blocks, lines, (all, kernel) => {
      const at = (which: 'first' | 'second') =>
        countsOf(all.map(({ address, ...counts }): Block => [address, counts[which]]));
      const [before, after] = [at('first'), at('second')];
      const text = foldedInstructions({ counts: [before, after], symbols: kernel.join('\n') });
      const told = text.split('\n').filter(Boolean);
      const functions = told.map((one) => one.slice(0, one.lastIndexOf(' ')));
      expect(new Set(functions).size).toBe(functions.length);

      const samples = told.reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0);
      const executed = all.reduce((sum, { first, second }) => sum + Math.max(0, second - first), 0);
      // Beside the kernel's there are two names.
      const maxFunctions = kernel.length + 2;
      expect(Math.abs(samples * 1000 - executed)).toBeLessThanOrEqual(500 * maxFunctions);
    }),
  );
});

test('a kernel may name its functions as it likes, and the profile can be read', () => {
  const anyLine = fc.tuple(anySymbol, fc.string({ unit: 'grapheme' })).map(
    ([one, more]) =>
      // Characters that a name may not have, besides those that separate words and frames here.
      `${one.split('\t')[0]}${more.replaceAll(/[\s;`]/g, '')}`,
  );
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 10 }), (lines) => {
      const blocks = lines.map((one): Block => [BigInt(`0x${one.slice(0, 16)}`), 600_000]);
      const text = foldedInstructions({
        counts: [countsOf(blocks.map(([address]) => [address, 0])), countsOf(blocks)],
        symbols: lines.join('\n'),
      });
      const { stacks } = parseProfile(text, 'the profile');
      expect(stacks.every(({ frames }) => frames.length === 1)).toBe(true);
      expect(stacks.reduce((sum, { samples }) => sum + samples, 0)).toBe(600 * lines.length);
    }),
  );
});
