import { describe, expect, test } from 'vitest';
import { codeBlock, codeSpan } from '../../src/model/escape.ts';

describe('a code span', () => {
  test.for([
    ['plain words', 'plain words', '`plain words`'],
    ['a mention', 'ping @everyone', '`ping @everyone`'],
    ['a backtick inside', 'a `b` c', '``a `b` c``'],
    ['a backtick at an end', '`b`', '`` `b` ``'],
    ['two backticks', 'a``b', '```a``b```'],
    ['line breaks', 'a\n\n# b\r\n\tc', '`a # b c`'],
    ['a pipe', 'a|b', '`a|b`'],
    ['colours of a terminal', '\u001b[31mred\u001b[0m', '`red`'],
    ['text that turns round', 'a\u202eb', '`ab`'],
    ['nothing', '', ''],
    ['nothing to see', ' \n\u200b', ''],
  ] as const)('of %s', ([, text, span]) => {
    expect(codeSpan(text)).toBe(span);
  });

  // Some used to need minutes, or hours: a slow test fails by its timeout.
  test.each([
    '\u001b]0;',
    '\u001b[',
    '\u001b[0;',
    '\u009b',
    '\u009d',
    '\u001b',
    '\u001b(',
    '\u001b]8;;https://evil.example',
    '`',
    ' \n',
    '\u202e',
    '\ud83d',
  ])('of a million times %j is made at once', (part) => {
    const text = part.repeat(1_000_000);
    expect(codeSpan(text).length).toBeLessThan(700);
    expect(codeSpan(`${text}the end`).length).toBeLessThan(700);
  });

  test('is cut to the requested length, and never through a character', () => {
    expect(codeSpan('abcdefgh', 5)).toBe('`abcd…`');
    expect(codeSpan('abcde', 5)).toBe('`abcde`');
    expect(codeSpan('abc🚦defgh', 5)).toBe('`abc…`');
    expect(codeSpan('x'.repeat(1000))).toHaveLength(202);
  });
});

describe('a code block', () => {
  test('keeps lines, indents and pipes as they are', () => {
    expect(codeBlock('table inet t {\n\tchain | c\n}\n')).toBe('```\ntable inet t {\n\tchain | c\n}\n```');
  });

  test('has a fence longer than any in its text', () => {
    expect(codeBlock('a\n```\nb')).toBe('````\na\n```\nb\n````');
  });

  test('omits the middle of a long text, with its size', () => {
    expect(codeBlock('abcdefghij', 4)).toBe('```\nab\n… 6 characters left out …\nij\n```');
  });

  test('is never much longer than requested, even if its text is all backticks', () => {
    expect(codeBlock('`'.repeat(1_000_000), 4000).length).toBeLessThan(3 * 4000);
  });
});
