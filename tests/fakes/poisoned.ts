// Data whose texts all try to become markup, and checks that none does.
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyCharacter } from '../random.ts';

export const hostile = `<script>alert(1)</script>"'&]]><!--`;

/** Makes each free string hostile; the others must satisfy the schema. */
export function poisoned<Value>(whole: Value, isLegal: (whole: Value) => boolean): Value {
  const copy = structuredClone(whole);
  const poison = (holder: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(holder)) {
      if (isRecord(value)) poison(value);
      if (typeof value !== 'string') continue;
      const legal = [hostile, `https://phabricator.example/${hostile}`].find((text) => {
        holder[key] = text;
        return isLegal(copy);
      });
      holder[key] = legal ?? value;
    }
  };
  if (isRecord(copy)) poison(copy);
  return copy;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Names of elements and their attributes. */
const elementsOf = (page: string): string[] =>
  [...page.replace(/<(style|script)>.*?<\/\1>/gs, '<$1>').matchAll(/<([a-z]\w*)([^>]*)>/gi)].map(
    ([, name, attributes = '']) =>
      [name, ...[...attributes.matchAll(/([\w:-]+)=(?:"[^"]*")/g)].map(([, one]) => one)].join(' '),
  );

/** A hostile page has no element that a harmless one lacks, and no more scripts. */
export function expectHarmless(page: string, like: string): void {
  const known = new Set(elementsOf(like));
  expect(elementsOf(page).filter((one) => !known.has(one))).toEqual([]);
  expect(page.match(/<script/gi)?.length).toBe(like.match(/<script/gi)?.length);
  expect(page.match(/<!--/g)).toBeNull();
}

/** Text of an attacker who knows Markdown. */
export const hostileMarkdown = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 20 }),
      fc.constantFrom(
        ...['`', '```', '\n\n', '\r', '|', '\\', '\u2028', '\u001b[31m', '\u202e', '</details>'],
        ...['@everyone', '<img src=x>', '<!--', '\n# title\n', '![x](https://example.org/x)'],
      ),
      fc
        .tuple(fc.constantFrom('`', '|', '🚦', '\n', 'a b '), fc.integer({ min: 1, max: 5_000 }))
        .map(([part, count]) => part.repeat(count)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

/** Throws where foreign text is outside of CommonMark's fenced blocks and code spans, or the comment is too long. */
export function expectHarmlessMarkdown(markdown: string): void {
  expect(markdown.length).toBeLessThan(65_536);
  expect(markdown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
  const bare = withoutCode(markdown);
  expect(bare).not.toMatch(/@everyone|<img|<!--|!\[|# title/);
  expect(bare.split('<details>').length).toBe(bare.split('</details>').length);
}

function withoutCode(markdown: string): string {
  const kept: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence !== undefined) {
      if (line === fence) fence = undefined;
      continue;
    }
    fence = /^`{3,}$/.exec(line)?.[0];
    if (fence === undefined) kept.push(line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, ''));
  }
  return kept.join('\n');
}
