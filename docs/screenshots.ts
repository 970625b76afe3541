// Draws a real result, for example of `npm run demo`: the pictures of the README, or, where a folder is named, the comment,
// the page and the plot as wide screens, phones and paper show them.
// npm run screenshots -- ppsgate-demo-DATE/guard-protocol-254 [FOLDER]
// With `site` instead, pages of the branch over time, of nightly runs that are made up: of a lab no one would wait two years for.
// npm run screenshots -- site [FOLDER]
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { marked } from 'marked';
import type { Browser } from 'playwright-core';
import type { CellProfiles } from '../src/analysis/profile/result-profiles.ts';
import type { Result } from '../src/model/result.ts';
import { writeSite } from '../src/publish/site/write-site.ts';
import { intervalPlot } from '../src/report/interval-plot.ts';
import { explained, readResult } from '../src/report/read-result.ts';
import { drawGraph, graphsOf } from '../src/report/report-flamegraphs.ts';
import { type ReportLinks, renderHtml, renderMarkdown } from '../src/report/reports.ts';
import type { PlotForm } from '../src/report/svg.ts';
import { branchOverTime, commitOf, dayAfter } from '../tests/fakes/branch-over-time.ts';
import { startChromium } from '../tests/fakes/chromium.ts';

/** Links as in a comment on a pull request; an image does not show their targets. */
const branch = 'https://github.com/example/router/blob/ppsgate-data/results/1';
const linksOnGithub: ReportLinks = {
  rerun: `comment \`/ppsgate rerun\`, or [run this job again](${branch})`,
  rawData: `[report](${branch}/report.md), [result](${branch}/result.json), the [job](${branch})`,
  page: `${branch}/report.html`,
  graph: (anchor) => `${branch}/${anchor}.svg`,
};

/** Between the margins that Chromium leaves on A4, in its pixels. */
const paperWidth = 718;

const [directory, folder] = process.argv.slice(2);
if (directory === undefined) throw new Error('Name the work directory of a gate that has finished.');
const browser = await startChromium();
try {
  if (directory === 'site') await drawSite(browser, folder ?? import.meta.dirname);
  else await drawResult(browser, directory, folder);
} finally {
  await browser.close();
}

async function drawResult(browser: Browser, directory: string, folder: string | undefined) {
  const { result, profiles } = await explained(await readResult(directory), directory);
  if (folder === undefined) await drawForReadme(browser, result, profiles);
  else await drawEverywhere(browser, result, profiles, folder);
}

async function drawSite(browser: Browser, folder: string) {
  await mkdir(folder, { recursive: true });
  const from = await mkdtemp(join(tmpdir(), 'ppsgate-screenshots-'));
  const to = join(from, 'site');
  await writeSite(branchOverTime({ nightlyRuns: 400 }), {
    from,
    to,
    now: dayAfter,
    leftOut: () => {},
  });
  const [good, bad] = [commitOf(24).slice(0, 12), commitOf(23).slice(0, 12)];
  const series = `testbeds/hp-t540/ipfw-stateful-inet4.html#a=${good}&b=${bad}`;
  for (const [name, address, width, height, colorScheme] of [
    ['site', 'index.html', 1200, 1200, 'light'],
    ['site-testbed', 'testbeds/hp-t540/index.html', 1200, 1240, 'dark'],
    ['site-series', series, 1200, 920, 'light'],
    ['site-phone', series, 390, 1000, 'light'],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    // Pages show the age of the last nightly run.
    await page.clock.setFixedTime(dayAfter);
    const [path = '', chosen = ''] = address.split('#');
    await page.goto(`${pathToFileURL(join(to, path)).href}#${chosen}`);
    await page.locator('canvas, .glances').last().waitFor();
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.close();
  }
  await rm(from, { recursive: true });
}

async function drawForReadme(browser: Browser, result: Result, profiles: CellProfiles[]) {
  const difference = graphsOf(result, profiles).find(({ which }) => which === 'difference');
  const graph = difference && drawGraph(difference);
  if (graph?.kind !== 'drawn') throw new Error(`${directory} has no flamegraph of a difference.`);
  const { dirname } = import.meta;
  const comment = await asOnGithub(renderMarkdown(result, linksOnGithub));
  await draw(browser, join(dirname, 'comment.png'), comment, { width: 960 });
  const report = { width: 1120, height: 1640 };
  await draw(browser, join(dirname, 'report.png'), renderHtml(result, profiles), report);
  await draw(browser, join(dirname, 'flamegraph.png'), graph.svg, { width: 1120, height: 530 });
}

async function drawEverywhere(browser: Browser, result: Result, profiles: CellProfiles[], folder: string) {
  await mkdir(folder, { recursive: true });
  const comment = await asOnGithub(renderMarkdown(result, linksOnGithub));
  const page = renderHtml(result, profiles);
  const plotAs = (form: PlotForm) => `<!doctype html><body style="margin: 0">${intervalPlot(result, { form }) ?? ''}`;
  const [wide, narrow] = [plotAs('wide'), plotAs('narrow')];
  for (const [name, text, onPhone] of [
    ['comment', comment, comment],
    ['page', page, page],
    ['plot', wide, narrow],
  ] as const) {
    await draw(browser, join(folder, `${name}-1280.png`), text, { width: 1280 });
    await draw(browser, join(folder, `${name}-390.png`), onPhone, { width: 390 });
    const paper = { width: paperWidth, media: 'print' } as const;
    await draw(browser, join(folder, `${name}-print.png`), text, paper);
  }
}

/** Markdown as GitHub shows it in a comment, with its folds closed. */
async function asOnGithub(comment: string): Promise<string> {
  const style = import.meta.resolve('github-markdown-css/github-markdown-light.css');
  return `<!doctype html>
<meta charset="utf-8">
<style>${await readFile(new URL(style), 'utf8')}
body { margin: 0; }
article { padding: 24px; }
@media (max-width: 500px) { article { padding: 16px; font-size: 14px !important; } }
</style>
<article class="markdown-body">${(await marked(comment)).replace(/[🔴🟢🟡⚪]/gu, circle)}</article>
`;
}

/** Not every machine has a font with the verdicts' symbols. */
function circle(symbol: string): string {
  const colour = { '🔴': '#d1242f', '🟢': '#2da44e', '🟡': '#d4a72c' }[symbol] ?? '#d0d7de';
  return `<svg width="1em" height="1em" viewBox="0 0 16 16"><circle cx="8" cy="9" r="7" fill="${colour}"/></svg>`;
}

/** `height`: only the upper part of it. */
type View = { width: number; height?: number; media?: 'print' };

async function draw(browser: Browser, path: string, text: string, view: View): Promise<void> {
  const { width, height, media } = view;
  const page = await browser.newPage({ viewport: { width, height: height ?? 100 } });
  if (media !== undefined) await page.emulateMedia({ media });
  await page.setContent(text);
  await page.screenshot({ path, fullPage: height === undefined });
  await page.close();
}
