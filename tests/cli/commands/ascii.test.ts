// Tests output in a locale without UTF-8: our symbols stay readable, and foreign text forges none.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asciiOf, readsUtf8 } from '../../../src/cli/ascii.ts';
import { anyCharacter } from '../../random.ts';

const isAscii = /^\p{ASCII}*$/u;

test.each([
  [true, { LANG: 'de_DE.utf8' }],
  [true, { LANG: 'ca_ES.UTF-8@valencia' }],
  [true, { LC_CTYPE: 'UTF-8', LANG: 'C' }],
  [true, { LC_ALL: 'en_US.UTF-8', LC_CTYPE: 'C', LANG: 'POSIX' }],
  [true, { LC_ALL: '', LC_CTYPE: '', LANG: 'C.UTF-8' }],
  [false, {}],
  [false, { LANG: 'POSIX' }],
  [false, { LANG: 'de_DE.ISO-8859-1' }],
  [false, { LC_CTYPE: 'C', LANG: 'C.UTF-8' }],
  [false, { LC_ALL: 'C', LC_CTYPE: 'C.UTF-8', LANG: 'C.UTF-8' }],
])('UTF-8 is read (%j) with %j', (isRead, environment) => {
  expect(readsUtf8(environment)).toBe(isRead);
});

describe('in ASCII', () => {
  test.each([
    ['🔴 ppsgate: #7 loses 10.4 %', '[!!] ppsgate: #7 loses 10.4 %'],
    ['✓ DUT: it answers', '[ok] DUT: it answers'],
    ['−10.4 % (−10.6 … −10.2)', '-10.4 % (-10.6 ... -10.2)'],
    ['10 Gbit/s · 2 ± 0.1 → 3', '10 Gbit/s - 2 +- 0.1 -> 3'],
    ['José’s Mobile', "Jose's Mobile"],
    ['北京', '??'],
  ])('%j is %j', (text, expected) => {
    expect(asciiOf(text)).toBe(expected);
  });

  test('every sign in a text of ours can be read', () => {
    const sources = join(import.meta.dirname, '../../../src');
    const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
    // The action's text reaches GitHub alone.
    const texts = files.filter((file) => file.endsWith('.ts') && !file.startsWith('action/'));
    const lines = texts.flatMap((file) => readFileSync(join(sources, file), 'utf8').split('\n'));
    const code = lines.filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line)).join('\n');
    const signs = new Set(code.match(/\P{ASCII}/gu));
    expect([...signs].filter((sign) => asciiOf(sign) === '?')).toEqual([]);
  });

  test('any text is ASCII, and as it was where it had been', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(asciiOf(text)).toMatch(isAscii);
        expect(asciiOf(asciiOf(text))).toBe(asciiOf(text));
        expect(asciiOf(text.replace(/\P{ASCII}/gu, ''))).toBe(text.replace(/\P{ASCII}/gu, ''));
      }),
    );
  });

  test('no letter of others becomes a sign that means something to a shell or a log', () => {
    const others = fc.string({ unit: anyCharacter }).map((text) => text.replace(/\p{ASCII}/gu, ''));
    fc.assert(
      fc.property(others, (text) => {
        expect(asciiOf(text)).not.toMatch(/[`$;&:#\\\p{Cc}]/u);
      }),
    );
    expect(asciiOf('：：error：：it was him')).toBe('??error??it was him');
    expect(asciiOf('\u2028\u0085\ufeff\u202e')).toBe('??');
  });
});
