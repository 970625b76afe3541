// Data whose texts all try to become markup, and checks that none does.
import { expect } from 'vitest';

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
