// Times the drawing of a series page in Chromium, from a disk, with 1,000 nightly runs of each of 48 cells.
// By hand: npm run bench:site
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { median } from '../src/analysis/stats/summary.ts';
import { writeSite } from '../src/publish/site/write-site.ts';
import { branchOverTime, dayAfter } from '../tests/fakes/branch-over-time.ts';
import { startChromium } from '../tests/fakes/chromium.ts';

/** Medians of twenty loads each, in milliseconds: of an empty page, of the series to its load, and until it is drawn. */
type SiteBench = { empty: number; loaded: number; drawn: number };

async function benchSite(): Promise<SiteBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  const browser = await startChromium();
  try {
    const to = join(folder, 'site');
    const source = branchOverTime({ nightlyRuns: 1000 });
    await writeSite(source, { from: folder, to, now: dayAfter, leftOut: () => {} });
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    const turns: SiteBench[] = [];
    while (turns.length < 20) turns.push(await turn(page, to));
    const of = (name: keyof SiteBench) => median(turns.map((one) => one[name]));
    return { empty: of('empty'), loaded: of('loaded'), drawn: of('drawn') };
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

const loadEnd = 'performance.getEntriesByType("navigation")[0].loadEventEnd';
const firstDrawn = 'performance.getEntriesByName("ppsgate-drawn")[0]?.startTime';

async function turn(page: Page, to: string): Promise<SiteBench> {
  await page.goto('data:text/html,');
  const empty = await page.evaluate<number>(loadEnd);
  const path = join(to, 'testbeds/hp-t540/ipfw-stateful-inet4.html');
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(`${firstDrawn} !== undefined && ${loadEnd} > 0`);
  const [loaded, drawn] = await page.evaluate<[number, number]>(`[${loadEnd}, ${firstDrawn}]`);
  return { empty, loaded, drawn };
}

const { empty, loaded, drawn } = await benchSite();
console.log(
  `A series of 1,000 nightly runs is drawn ${drawn.toFixed(0)} ms after its page was asked for, and the page loaded after ${loaded.toFixed(0)} ms; an empty page takes ${empty.toFixed(0)} ms.`,
);
