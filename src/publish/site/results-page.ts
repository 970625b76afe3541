// Renders the page of patches' results, the newest first.

import { plainLine } from '../../model/escape.ts';
import { bullets, fold, table } from '../../report/html-pieces.ts';
import { html, type Piece } from '../../report/markup.ts';
import { hourOf, type Page } from './document.ts';
import type { SiteSource } from './site-source.ts';

export function resultsPage({ results: { results } }: SiteSource): Page {
  const body = html`<header>
<h1>Results</h1>
<p class="faint">Stored results, the newest first</p>
</header>
<main>
<section id="results">
<h2 class="unseen">List</h2>
${
  results.length === 0
    ? html`<p>No result is stored.</p>\n`
    : table({
        caption: `${results.length} results of gates and bisections`,
        heads: ['patch', 'outcome', 'testbed', 'began', 'pictures'].map((text) => ({ text })),
        rows: results
          .toReversed()
          .map(({ path, at, testbed, patch, outcome, others }) => [
            html`<a href="${path}/report.html">${plainLine(patch) || 'unnamed'}</a>`,
            html`<b class="${lookOf(outcome)}">${plainLine(outcome)}</b>`,
            plainLine(testbed),
            hourOf(at),
            pictures(path, others),
          ]),
      })
}</section>
</main>
`;
  return { path: 'results.html', title: 'Results', body };
}

function pictures(path: string, others: readonly string[]): Piece {
  const names = others.filter((name) => name.endsWith('.svg'));
  if (names.length === 0) return '–';
  const links = names.map((name) => html`<a href="${path}/${name}">${name.slice(0, -4)}</a>`);
  return fold(`${names.length}`, bullets(links));
}

const looks: readonly string[] = ['regression', 'improvement', 'no-regression', 'inconclusive'];

const lookOf = (outcome: string): string => (looks.includes(outcome) ? outcome : 'invalid');
