import { describe, expect, test } from 'vitest';
import { compared, inComments, inMarkdown, inStrings, longSentences, passives } from '../../.ci/prose.ts';

const words = (number: number): string => `${Array(number).fill('word').join(' ')}.`;

test('A sentence of 31 words is long, beside any others', () => {
  const text = `Thirty ${words(29)} Then ${words(30)} Five ${words(4)}`;
  expect(longSentences(text)).toEqual([`Then ${words(30)} `]);
});

test.each([
  ['The head is measured.', ['is measured']],
  ['They were not found, and are always kept.', ['were not found', 'are always kept']],
  ['The kernel is slow; ppsgate measured it.', []],
])('The passive voice of %j is %j', (text, found) => {
  expect(passives(text)).toEqual(found);
});

describe('The prose', () => {
  test('of Markdown is its paragraphs, items and cells, without code', () => {
    const source = '# A head\n\none\ntwo `x y`\n\n- three\n```sh\nfour\n```\n| five | six |\n[seven](x.md)\n';
    expect(inMarkdown(source)).toEqual([
      { line: 1, text: 'A head' },
      { line: 3, text: 'one two X' },
      { line: 6, text: 'three' },
      { line: 10, text: 'five' },
      { line: 10, text: 'six' },
      { line: 11, text: '[seven]' },
    ]);
  });

  test('of comments is their paragraphs', () => {
    const source = '/** One\n * two. */\nconst x = 1; // no\n  // Three.\n';
    expect(inComments(source)).toEqual([
      { line: 1, text: 'One two.' },
      { line: 4, text: 'Three.' },
    ]);
  });

  test('of strings is those of four words, with one for each value', () => {
    const source = `f('a b c', \`it is \${x} now\`);\n// 'not in a comment at all'\n"it's one of ours"\n`;
    expect(inStrings(source)).toEqual([
      { line: 1, text: 'it is X now' },
      { line: 3, text: "it's one of ours" },
    ]);
  });
});

test('A count that grows is distinguished from one that shrinks', () => {
  const recorded = { docs: { long: 3, passive: 5 } };
  expect(compared(recorded, { docs: { long: 4, passive: 4 } })).toEqual({
    grown: ['docs: 4 sentences over 30 words, 3 recorded'],
    shrunk: ['docs: 4 uses of the passive voice, 5 recorded'],
  });
});
