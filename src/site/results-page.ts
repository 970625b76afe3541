// What was found of patches, the newest first.

import { table } from '../report/html-pieces.ts';
import { html } from '../report/markup.ts';
import { plainLine } from '../words/escape.ts';
import { hourOf, type Page } from './document.ts';
import type { Source } from './source.ts';

export function resultsPage({ results: { results } }: Source): Page {
  const body = html`<header>
<h1>Results</h1>
<p class="faint">Those that are still kept, the newest first</p>
</header>
<main>
<section id="results">
<h2 class="unseen">List</h2>
${
  results.length === 0
    ? html`<p>None is kept.</p>\n`
    : table({
        caption: `${results.length} results of gates and bisections`,
        heads: ['patch', 'outcome', 'testbed', 'began'].map((text) => ({ text })),
        rows: results
          .toReversed()
          .map(({ path, at, testbed, patch, outcome }) => [
            html`<a href="${path}/report.html">${plainLine(patch) || 'unnamed'}</a>`,
            html`<b class="${lookOf(outcome)}">${plainLine(outcome)}</b>`,
            plainLine(testbed),
            hourOf(at),
          ]),
      })
}</section>
</main>
`;
  return { path: 'results.html', title: 'Results', body };
}

const looks: readonly string[] = ['regression', 'improvement', 'no-regression', 'inconclusive'];

const lookOf = (outcome: string): string => (looks.includes(outcome) ? outcome : 'invalid');
