// Draws the pictures of the README from a real result, for example of `npm run demo`:
// npm run screenshots -- ppsgate-demo-DATE/guard-protocol-254
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { marked } from 'marked';
import type { Browser } from 'playwright-core';
import { drawGraph, graphsOf } from '../src/report/graphs.ts';
import { renderHtml } from '../src/report/html.ts';
import { renderMarkdown } from '../src/report/markdown.ts';
import { explained, readResult } from '../src/report/read.ts';
import { startChromium } from '../tests/fakes/chromium.ts';

const [directory] = process.argv.slice(2);
if (directory === undefined)
  throw new Error('Name the work directory of a gate that has finished.');
const { result, profiles } = await explained(await readResult(directory), directory);
const difference = graphsOf(result, profiles).find(({ which }) => which === 'difference');
const graph = difference && drawGraph(difference);
if (graph?.kind !== 'drawn') throw new Error(`${directory} has no flamegraph of a difference.`);

const browser = await startChromium();
try {
  await draw(browser, 'comment', await asOnGithub(renderMarkdown(result)), { width: 960 });
  await draw(browser, 'report', renderHtml(result, profiles), { width: 1120, height: 1640 });
  await draw(browser, 'flamegraph', graph.svg, { width: 1120, height: 530 });
} finally {
  await browser.close();
}

/** Markdown as GitHub shows it in a comment, with its folds closed. */
async function asOnGithub(comment: string): Promise<string> {
  const style = import.meta.resolve('github-markdown-css/github-markdown-light.css');
  return `<!doctype html>
<meta charset="utf-8">
<style>${await readFile(new URL(style), 'utf8')}
body { margin: 0; }
article { padding: 24px; }
</style>
<article class="markdown-body">${(await marked(comment)).replace(/[🔴🟢🟡⚪]/gu, circle)}</article>
`;
}

/** Not every machine has a font with the verdicts' symbols. */
function circle(symbol: string): string {
  const colour = { '🔴': '#d1242f', '🟢': '#2da44e', '🟡': '#d4a72c' }[symbol] ?? '#d0d7de';
  return `<svg width="1em" height="1em" viewBox="0 0 16 16"><circle cx="8" cy="9" r="7" fill="${colour}"/></svg>`;
}

/** As a browser shows it: all of it, or its upper part where there is a height. */
async function draw(
  browser: Browser,
  name: string,
  text: string,
  { width, height }: { width: number; height?: number },
): Promise<void> {
  const page = await browser.newPage({ viewport: { width, height: height ?? 100 } });
  await page.setContent(text);
  const path = join(import.meta.dirname, `${name}.png`);
  await page.screenshot({ path, fullPage: height === undefined });
  await page.close();
}
