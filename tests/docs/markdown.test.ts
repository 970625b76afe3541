import { expect, test } from 'vitest';
import { table } from '../../docs/generators/markdown.ts';

test.each([
  ['a | b', 'a \\| b'],
  ['<a>', '&lt;a>'],
  ['`<a>` <b>', '`<a>` &lt;b>'],
  ['a<br>b', 'a<br>b'],
  ['a\nb', 'a b'],
])('A cell of %j is %j in a table', (text, cell) => {
  expect(table(['x'], [[text]])).toBe(`| x |\n| --- |\n| ${cell} |`);
});
