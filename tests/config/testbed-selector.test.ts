// Documents the language of testbed selectors by tests.
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Condition,
  type Described,
  isFulfilled,
  readSelector,
  selectorText,
  type TestbedSelector,
} from '../../src/config/testbed-selector.ts';
import { expectOutputs } from '../fakes/golden-lines.ts';
import { anyCharacter } from '../random.ts';

function read(text: string): TestbedSelector {
  const source = readSelector(text);
  if (source.kind === 'refused') throw new Error(source.message);
  return source.selector;
}

const bench: Described = { words: new Set(['hp-t540', 'chelsio', 'freebsd', '10g']), cores: 8 };
const isFor = (text: string, described = bench): boolean => isFulfilled(read(text), described);

test('golden/selectors.txt has the selectors that fit the bench, those that do not, and those that are none', async () => {
  await expectOutputs(join(import.meta.dirname, 'golden/selectors.txt'), (input) => {
    const source = readSelector(JSON.parse(input));
    if (source.kind === 'refused') return [source.message.replace(/^expected .*(?=, found)/, 'refused')];
    return [isFulfilled(source.selector, bench) ? 'fits' : 'does not fit'];
  });
});

test('rejects a testbed of an unknown number of cores', () => {
  expect(isFor('cores>=1', { words: new Set() })).toBe(false);
  expect(isFor('not cores>=1', { words: new Set() })).toBe(true);
});

test('a selector that is refused is not repeated beyond 40 characters, nor as it steers a terminal', () => {
  const source = readSelector(`chelsio\n::error::\x1b[2J${'x'.repeat(100)} x`);
  const message = source.kind === 'refused' ? source.message : '';
  expect(message).toContain('found "chelsio?::error::?[2Jxxx');
  expect(message).toContain('missing before `::error::?[2jxxx');
  expect(message).not.toContain('x'.repeat(41));
});

test('a selector has up to 500 characters', () => {
  const words = (count: number) => Array(count).fill('and').join(' x ');
  expect(readSelector(`x ${words(83)} xx`)).toMatchObject({ kind: 'read' });
  expect(readSelector(`x ${words(83)} xxx`)).toMatchObject({
    message: expect.stringMatching(/: it has more than 500 characters$/),
  });
});

const word = fc.constantFrom('a', 'b', 'c', 'hp-t540', '10g', 'x.y_z+', 'android', 'order', 'notch');
const wanted = fc.boolean();
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant('word' as const), word, wanted }),
  fc.record({
    kind: fc.constant('cores' as const),
    least: fc.integer({ min: 1, max: 9999 }),
    wanted,
  }),
);
const list = <Value>(of: fc.Arbitrary<Value>) => fc.array(of, { minLength: 1, maxLength: 4 });
const selector = list(list(condition));
const described: fc.Arbitrary<Described> = fc.record({
  words: fc.array(word).map((words) => new Set(words)),
  cores: fc.option(fc.integer({ min: 1, max: 9999 }), { nil: undefined }),
});

test('a selector that is printed is read as the same', () => {
  fc.assert(
    fc.property(selector, (one) => {
      expect(read(selectorText(one))).toEqual(one);
    }),
  );
});

test('a selector with and holds where both do, with or where one does, with not where it does not', () => {
  const conjunction = list(condition).map((conditions) => selectorText([conditions]));
  fc.assert(
    fc.property(conjunction, conjunction, selector.map(selectorText), word, described, (a, b, w, x, bed) => {
      expect(isFor(`${a} and ${b}`, bed)).toBe(isFor(a, bed) && isFor(b, bed));
      expect(isFor(`${w} or ${a}`, bed)).toBe(isFor(w, bed) || isFor(a, bed));
      expect(isFor(`not ${x}`, bed)).toBe(!isFor(x, bed));
    }),
  );
});

test('any text is a selector or is refused in one line', () => {
  const tokens = fc.constantFrom('and', 'or', 'not', 'a', 'cores>=8', '>=', '(', ' ', '\n');
  const selectorLike = fc.array(tokens).map((parts) => parts.join(' '));
  fc.assert(
    fc.property(fc.oneof(selectorLike, fc.string({ unit: anyCharacter })), (text) => {
      const source = readSelector(text);
      if (source.kind === 'refused') expect(source.message).not.toMatch(/undefined|\n/);
      else expect(source.selector.flat().length).toBeGreaterThan(0);
    }),
  );
});
