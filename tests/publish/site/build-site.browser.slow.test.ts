// The site in a browser: drawings, selections, and access without a script.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSite } from '../../../src/publish/site/write-site.ts';
import { branchOverTime, commitOf, dayAfter } from '../../fakes/branch-over-time.ts';
import { type Opened, useBrowserAt, type View } from '../../fakes/browser.ts';
import { describeWith } from '../../needs.ts';

const nightlyRuns = 300;
const source = branchOverTime({ testbeds: 1, nightlyRuns });

describeWith(['chromium'], 'the site of 12 series of 300 nightly runs, opened from a disk', () => {
  const openAt = useBrowserAt();
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-site-'));
  const to = join(folder, 'site');

  beforeAll(async () => {
    const lab = {
      overview: {
        at: dayAfter.toISOString(),
        testbeds: [{ name: 'hp-t540', state: 'free' as const, leftBy: [] }],
        queue: [],
      },
    };
    await writeSite({ ...source, lab }, { from: '', to, now: dayAfter, leftOut: () => {} });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const open = (path: string, view?: View): Promise<Opened> => {
    const [file = '', hash = ''] = path.split('#');
    return openAt(`${pathToFileURL(join(to, file)).href}${hash && `#${hash}`}`, view);
  };

  const series = 'testbeds/hp-t540/ipfw-stateful-inet4.html';
  const testbed = 'testbeds/hp-t540/index.html';
  const paths = ['index.html', testbed, series, 'same.html', 'lab.html', 'results.html'];
  const [good, bad] = [commitOf(24).slice(0, 12), commitOf(23).slice(0, 12)];

  /** The text about the nightly run under the cursor. */
  const reading = (page: Page) => page.locator('.reading');
  const drawn = (page: Page) =>
    expect.poll(() => page.evaluate("performance.getEntriesByName('ppsgate-drawn').length")).toBeGreaterThan(0);

  const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  const violations = (page: Page, rules = '') =>
    page.evaluate(
      `axe.run({ ${rules} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    );

  test.for(paths)('%s loads nothing from elsewhere, fits a phone, and violates no rule of axe', async (path) => {
    const shown = path === series ? `${path}#a=${good}&b=${bad}` : path;
    const { page, complaints, requests } = await open(shown, { widthPixels: 390, colorScheme: 'light' });
    await page.waitForLoadState('load');
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(pathToFileURL(to).href))).toEqual([]);
    await page.evaluate(axe);
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page, "runOnly: ['color-contrast']")).toEqual([]);
    await page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })");
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('draws a series before any interaction', async () => {
    const { page } = await open(series);
    await drawn(page);
    const inked = `(() => {
      const canvas = document.querySelector('#chart canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, index) => index % 4 === 3 && value > 0).length;
    })()`;
    expect(await page.evaluate(inked)).toBeGreaterThan(5000);
    expect(await reading(page).textContent()).toContain('2026-11-20');
  });

  test('the keyboard moves between nightly runs, chooses two, and shows the commits between', async () => {
    const { page, complaints } = await open(series);
    await page.locator('#chart').focus();
    for (let nightlyRun = 0; nightlyRun < 23; nightlyRun += 1) await page.keyboard.press('ArrowLeft');
    expect(await reading(page).textContent()).toContain(bad);
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    const link = page.locator('#compare');
    expect(await link.textContent()).toBe(`${good}..${bad}`);
    expect(await link.getAttribute('href')).toBe(
      `https://github.com/freebsd/freebsd-src/compare/${commitOf(24)}...${commitOf(23)}`,
    );
    expect(await page.locator('.comparison').textContent()).toMatch(/−[345]\.\d+ % over one nightly run/);
    await page.keyboard.press('Escape');
    expect(await link.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('a click chooses a nightly run, and a drag zooms without choosing one', async () => {
    const { page } = await open(series);
    const box = await page.locator('#chart .u-over').boundingBox();
    if (box === null) throw new Error('nothing is drawn');
    const [y, at] = [box.y + 50, (share: number) => box.x + box.width * share];
    await page.mouse.move(at(0.5), y);
    await page.mouse.down();
    await page.mouse.move(at(0.7), y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.locator('#run-count').textContent()).toMatch(/^[56]\d of 300/);
    expect(await page.locator('.comparison li').count()).toBe(0);
    await page.mouse.click(at(0.4), y);
    await page.mouse.click(at(0.8), y);
    await expect.poll(() => page.locator('.comparison li').count()).toBe(2);
    expect(await page.locator('#compare').count()).toBe(1);
  });

  test('the address holds the whole selection and restores it for other readers', async () => {
    const { page } = await open(series);
    await page.locator('button', { hasText: '90 d' }).click();
    await page.locator('button', { hasText: '%' }).click();
    await page.locator('#chart').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    const seen = async (of: Page) => [
      await of.locator('#run-count').textContent(),
      await of.locator('.comparison').textContent(),
      await of.locator('[aria-pressed=true]').textContent(),
    ];
    const before = await seen(page);
    expect(before[1]).toContain('100.00 %');
    const hash = new URL(page.url()).hash.slice(1);
    const other = await open(`${series}#${hash}`);
    expect(await seen(other.page)).toEqual(before);
  });

  test('a link from a change shows both commits with what was around them', async () => {
    const { page } = await open('index.html');
    await page.locator('#open .change h3 a').first().click();
    await page.waitForURL(/#a=/);
    expect(await page.locator('#compare').textContent()).toBe(`${good}..${bad}`);
    expect(await page.locator('#run-count').textContent()).toMatch(/^8\d of/);
  });

  test('without a script there are pictures of all series, and tables of all nightly runs', async () => {
    const view = { javaScriptEnabled: false };
    const first = await open('index.html', view);
    expect(await first.page.locator('.glances svg:visible').count()).toBe(12);
    const own = await open(series, view);
    expect(await own.page.locator('#chart svg:visible').count()).toBe(1);
    await own.page.locator('summary').first().click();
    expect(await own.page.locator('#series tbody tr:visible').count()).toBe(nightlyRuns);
  });
});
