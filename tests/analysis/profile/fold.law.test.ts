// Folded stacks of any names.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import type { Stack } from '../../../src/analysis/profile/profile.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import { anyCharacter } from '../../random.ts';

test('stacks with a common end print like each alone', () => {
  const names = ['a', '#', '# b', 'ü', 'x;y', 'x'.repeat(200_000), ''];
  const frame = fc.constantFrom(...names.map((name) => ({ name })));
  const stack = fc.record({
    frames: fc.array(frame, { minLength: 1, maxLength: 4 }),
    samples: fc.nat(),
  });
  const print = (stacks: Stack[]) => [...foldedLines({ format: 'folded', stacks })];
  fc.assert(
    fc.property(fc.array(stack, { maxLength: 20 }), (stacks) => {
      expect(print(stacks)).toEqual(stacks.flatMap((one) => print([one])));
    }),
  );
});

test('a stack of any names is one line of as many frames, and read so', () => {
  const name = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 20 }), fc.constantFrom('__proto__', 'constructor'));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
      const frames = ['main', ...names].map((name) => ({ name }));
      const stacks = [{ frames, samples: 7 }];
      const [line = '', ...others] = foldedLines({ format: 'folded', stacks });
      expect(others).toEqual([]);
      const [stack] = parseProfile(`${line}\n`).stacks;
      expect(stack?.frames).toHaveLength(names.length + 1);
      expect(stack?.samples).toBe(7);
    }),
  );
});
