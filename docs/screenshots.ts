// Draws report.png and flamegraph.png of a made-up experiment, for the README: `npm run screenshots`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { drawGraph, graphsOf } from '../src/report/graphs.ts';
import { renderHtml } from '../src/report/html.ts';
import { startChromium } from '../tests/fakes/chromium.ts';
import { anExperiment } from '../tests/fakes/report.ts';

const { result, profiles } = anExperiment();
const difference = graphsOf(result, profiles).find(({ which }) => which === 'difference');
const picture = difference && drawGraph(difference);
if (picture?.kind !== 'drawn') throw new Error('The experiment has no flamegraph of a difference.');

const folder = await mkdtemp(join(tmpdir(), 'ppsgate-screenshots-'));
const browser = await startChromium();
try {
  await draw(browser, 'report', {
    name: 'index.html',
    text: renderHtml(result, profiles),
    height: 1640,
  });
  await draw(browser, 'flamegraph', {
    name: 'flamegraph.svg',
    text: picture.svg,
    height: 530,
  });
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}

/** The upper part of a file as a browser shows it. */
async function draw(
  browser: Browser,
  picture: string,
  { name, text, height }: { name: string; text: string; height: number },
): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, text);
  const page = await browser.newPage({ viewport: { width: 1120, height } });
  await page.goto(pathToFileURL(file).href);
  await page.screenshot({ path: join(import.meta.dirname, `${picture}.png`) });
}
