// Tests the names of scenarios, which appear unchanged in shells, in file names, and in Markdown.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellName, scenarioSchema, scenarios } from '../../src/model/scenario.ts';
import { anyCharacter } from '../random.ts';

const isName = (text: string): boolean => scenarioSchema.safeParse(text).success;

describe('a scenario may be called', () => {
  test.each([...scenarios, 'pf-nat.2', 'PF_nat', '4to6', 'ghost', 'gh-actions', 'awww'])('%j', (name) => {
    expect(isName(name)).toBe(true);
  });
});

describe('it may not be called', () => {
  test.each([
    '',
    '-rf',
    '.hidden',
    '../x',
    'a/b',
    'a b',
    'a\n',
    '`a`',
    'a|b',
    '$(reboot)',
    'ä',
    '@everyone',
    '#1',
    '<b>',
    '[x](y)',
    'https://evil.example',
    'a'.repeat(64),
    'www.evil.example',
    'WWW.evil.example',
    'a-www.evil.example',
    'GH-1',
    'gh-12',
    'see.GH-1',
  ])('%j', (name) => {
    expect(isName(name)).toBe(false);
  });
});

test('no name contains a character with a meaning to a shell, a path or Markdown', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      if (isName(text)) expect(text).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/);
    }),
  );
});

test('a cell is called by its scenario, its family, and its size where there are several', () => {
  expect(cellName({ scenario: 'forwarding', family: 'inet4' })).toBe('forwarding inet4');
  expect(cellName({ scenario: 'pf-nat', family: 'inet6', frameBytes: 1518 })).toBe('pf-nat inet6 1518 B');
});
