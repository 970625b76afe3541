// Documents the language of testbed selectors by tests.
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

function read(text: string): TestbedSelector {
  const source = readSelector(text);
  if (source.kind === 'refused') throw new Error(source.message);
  return source.selector;
}

const bench: Described = { words: new Set(['hp-t540', 'chelsio', 'freebsd', '10g']), cores: 8 };
const isFor = (text: string, described = bench): boolean => isFulfilled(read(text), described);

test.each([
  'chelsio',
  'CHELSIO',
  'hp-t540',
  'chelsio and 10G',
  'Chelsio AND 10g',
  'mellanox or chelsio',
  'freebsd and not release',
  'NOT mellanox',
  'cores>=8',
  'Cores >= 8 and chelsio',
  'mellanox and 40G or chelsio',
  'chelsio or mellanox and 40G',
  'not cores>=9',
  '  chelsio\n',
])('%j is for the bench', (text) => {
  expect(isFor(text)).toBe(true);
});

test.each([
  'mellanox',
  'chel',
  'chelsio and 40G',
  'not chelsio',
  'freebsd and not chelsio',
  'mellanox or 40G',
  'cores>=9',
  'mellanox and 10G or chelsio and 40G',
  'not cores>=8',
])('%j is not', (text) => {
  expect(isFor(text)).toBe(false);
});

test('rejects a testbed of an unknown number of cores', () => {
  expect(isFor('cores>=1', { words: new Set() })).toBe(false);
  expect(isFor('not cores>=1', { words: new Set() })).toBe(true);
});

test.each([
  ['', 'a word is missing'],
  ['and', 'a word is missing'],
  ['chelsio and', 'a word is missing'],
  ['or chelsio', 'a word is missing'],
  ['chelsio and or 10G', 'a word is missing'],
  ['freebsd and not', 'a word is missing after not'],
  ['not not freebsd', 'a word is missing after not'],
  ['chelsio 40G', 'an and or an or is missing before `40g`'],
  ['freebsd not release', 'an and or an or is missing before `not`'],
  ['(chelsio)', '`(chelsio)` is no word'],
  ['chelsio,mellanox', '`chelsio,mellanox` is no word'],
  ['-c', '`-c` is no word'],
  ['cores>8', '`cores>8` is no word'],
  ['gigabits>=10', 'only cores are compared, like `cores>=8`'],
  ['cores>=many', 'only cores are compared, like `cores>=8`'],
  ['cores>=0', 'only cores are compared, like `cores>=8`'],
])('%j is no selector', (text, problem) => {
  expect(readSelector(text)).toEqual({
    kind: 'refused',
    message: `expected words joined by and, or, not, like \`mellanox and 40G\` or \`freebsd and not release\`, found "${text}": ${problem}`,
  });
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
    fc.property(fc.oneof(selectorLike, fc.string({ unit: 'binary' })), (text) => {
      const source = readSelector(text);
      if (source.kind === 'refused') expect(source.message).not.toMatch(/undefined|\n/);
      else expect(source.selector.flat().length).toBeGreaterThan(0);
    }),
  );
});
