// Tests the law of all code that puts foreign texts into markup: it cleans first and escapes last, so removals never
// join separate parts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeBlock, codeSpan, plainBlock, plainLine } from '../../src/model/escape.ts';
import { remarkupBlock, remarkupCell, remarkupText } from '../../src/model/remarkup.ts';
import { escaped } from '../../src/model/xml.ts';
import { composeComment } from '../../src/publish/reporters/comment-text.ts';
import { renderBadge } from '../../src/report/badge.ts';
import { html } from '../../src/report/markup.ts';
import { readXml, type XmlElement } from '../fakes/xml.ts';
import { times } from '../random.ts';

/** Significant characters of some markup, and invisible ones to put between them. */
const significant = fc.constantFrom(
  ...['`', '[', ']', '|', '<', '>', '&', '"', "'", '{', '}', '$', '!', '-', '\\', '@', '(', ')'],
  ...['a', ' ', '\n', '#', '~', '*', '/', 'amp;', 'strings.platform'],
);
const hidden = fc.constantFrom(
  ...['', '\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u202e', '\u2066', '\0', '\u0007'],
  ...['\u001b', '\u001b[31m', '\u001b]8;;x\u0007', '\u009b0m', '\u0085', '\r', '\ud83d', '\ude00'],
  ...['\udb40', '\udc01', '\u{e0001}', '\ufffe', '\u2028', '\u2029', '\t'],
);
const text = fc
  .array(fc.tuple(significant, hidden), { maxLength: 40, size: 'max' })
  .map((parts) => parts.flat().join(''));

const line = (dirty: string) => plainLine(dirty, Number.POSITIVE_INFINITY);
const block = (dirty: string) => plainBlock(dirty, Number.POSITIVE_INFINITY);
const fitForXml = (dirty: string) => dirty.replace(/[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu, ' ');

/** Control and format characters colour, hide or turn text. */
const forbidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u;

const longestTicks = (of: string) => Math.max(0, ...(of.match(/`+/g) ?? []).map((run) => run.length));

/** Between the fences. */
const insideSpan = (span: string): string => {
  const [, fence = '', inner = ''] = /^(`+)(.*)\1$/s.exec(span) ?? ['', '', span];
  if (span !== '') expect(longestTicks(inner)).toBeLessThan(fence.length);
  expect(inner).not.toMatch(forbidden);
  expect(inner).not.toMatch(/^`|`$|[\n\r\t\u2028\u2029]/);
  return inner;
};

const aBadge = (label: string) => renderBadge({ label }, { now: new Date(0), staleSeconds: 1 }).svg;

/** Names of all elements and of their attributes. */
const namesIn = ({ name, attributes, elements }: XmlElement): string[] => [
  name,
  ...Object.keys(attributes).map((key) => `${name} ${key}`),
  ...elements.flatMap(namesIn),
];

function expectClosedBlock(shown: string): void {
  const [fence = '', ...lines] = shown.split('\n');
  expect(lines.pop()).toBe(fence);
  expect(shown).not.toMatch(forbidden);
  for (const one of lines) expect(longestTicks(one)).toBeLessThan(fence.length);
}

function expectClosedColumns(shown: string): void {
  const columns = shown.split(/(?<!\\)\|/);
  expect(columns).toHaveLength(5);
  insideSpan(columns[3]?.trim() ?? '');
}

const likeXml = /^(?:[^&<>"']|&(?:amp|lt|gt|quot|#39);)*$/;

/** Each has its escaper, what cleans a text for it, and what throws if markup takes effect. */
const escapers: [string, (dirty: string) => string, (dirty: string) => string, (shown: string) => unknown][] = [
  ['a code span', (one) => codeSpan(one), line, insideSpan],
  ['a code block', (one) => codeBlock(one), block, expectClosedBlock],
  ['Remarkup', (one) => remarkupText(one), line, (shown) => expect(shown).toMatch(/^(?:`(?!.*\$\{\{\{)[^`\n]+`)?$/)],
  [
    'Remarkup in a table',
    (one) => remarkupCell(one),
    line,
    (shown) => expect(shown).toMatch(/^(?:`(?!.*(?:\$\{\{\{|\[\[))[^`\n|]+`)?$/),
  ],
  ['a Remarkup block', (one) => remarkupBlock('x', one), block, (shown) => expect(shown.split('```')).toHaveLength(3)],
  ['XML', escaped, fitForXml, (shown) => expect(shown).toMatch(likeXml)],
  [
    'HTML',
    (one) => html`<p title="${one}">${one}</p>`.markup,
    fitForXml,
    (shown) => expect(namesIn(readXml(shown))).toEqual(['p', 'p title']),
  ],
  [
    'a badge',
    aBadge,
    (dirty) => dirty.replace(/[\s\p{C}]+/gu, ' '),
    (shown) => expect(namesIn(readXml(shown))).toEqual(namesIn(readXml(aBadge('a b')))),
  ],
  ['the table of earlier verdicts', rowOf, line, expectClosedColumns],
];

/** A verdict of before, as the comment on the next push shows it. */
function rowOf(title: string): string {
  const writing = { name: 'ppsgate', headCommit: 'a'.repeat(40), at: new Date(0) };
  const first = composeComment(undefined, '', { ...writing, run: 1, title });
  const second = composeComment(first, '', { ...writing, run: 2, title: 'later' }) ?? '';
  return second.split('\n').find((one) => one.startsWith('| `aaaa')) ?? '';
}

test.each(escapers)('%s holds no markup, and is the same of a cleaned text', (_, shownAs, clean, expectInert) => {
  fc.assert(
    fc.property(text, (dirty) => {
      const shown = shownAs(dirty);
      expectInert(shown);
      expect(shownAs(clean(dirty))).toBe(shown);
    }),
    { numRuns: times(100) },
  );
});
