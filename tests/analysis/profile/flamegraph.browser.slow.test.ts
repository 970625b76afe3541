// Flamegraphs in a real browser: as files of their own, and several on one page.
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import {
  type FlamegraphOptions,
  flamegraph,
  flamegraphScript,
  flamegraphStyle,
} from '../../../src/analysis/profile/flamegraph.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import { type Opened, useBrowser, type View } from '../../fakes/browser.ts';
import { describeWith } from '../../needs.ts';

const router = parseProfile(
  [
    'fork_exit;ithread_loop;ip_input;pf_test;pf_find_state 400',
    'fork_exit;ithread_loop;ip_input;pf_test 100',
    'fork_exit;ithread_loop;ip_input;ip_tryforward 300',
    'fork_exit;ithread_loop;tcp_input 150',
    'syscall;read 50',
  ].join('\n'),
);

describeWith(['chromium'], 'a flamegraph in a browser', () => {
  const openFile = useBrowser();

  const open = (options: Partial<FlamegraphOptions> = {}, view?: View): Promise<Opened> =>
    openFile('pmc.svg', flamegraph(router, { title: 'a router', ...options }), view);

  test('needs nothing but itself, and complains of nothing', async () => {
    const { page, complaints, requests } = await open({ base: router });
    await frame(page, 'pf_test').click();
    await search(page).fill('pf_');
    await page.keyboard.press('Escape');
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
    expect(await page.title()).toBe('a router');
  });

  test('zooms by a click: the frame and its callers are as wide as the picture, the rest is gone', async () => {
    const { page } = await open();
    const full = await widthOf(page, 'all');
    await frame(page, 'pf_test').click();
    for (const name of ['fork_exit', 'ip_input', 'pf_test']) {
      expect(await widthOf(page, name)).toBeCloseTo(full, 0);
    }
    expect(await widthOf(page, 'pf_find_state')).toBeCloseTo(0.8 * full, 0);
    expect(await frame(page, 'ip_tryforward').isVisible()).toBe(false);
    expect(await opacityOf(page, 'ip_input')).toBeLessThan(await opacityOf(page, 'pf_test'));
  });

  test.each([
    ['the button', (page: Page) => page.getByRole('button', { name: 'Reset' }).click()],
    ['Escape', (page: Page) => page.keyboard.press('Escape')],
    ['a click on the root', (page: Page) => frame(page, 'all').click()],
  ])('goes back by %s', async (_, goBack) => {
    const { page } = await open();
    const before = await widthOf(page, 'pf_test');
    await frame(page, 'pf_test').click();
    await goBack(page);
    expect(await widthOf(page, 'pf_test')).toBe(before);
    expect(await frame(page, 'ip_tryforward').isVisible()).toBe(true);
  });

  test('has labels that fit into their frames, before and after zooming', async () => {
    const { page } = await open({}, { widthPixels: 500 });
    expect(await widestOverhang(page)).toBeLessThan(0);
    expect(await labelOf(page, 'read')).toBe('');
    await frame(page, 'read').click();
    expect(await labelOf(page, 'read')).toBe('read');
    expect(await widestOverhang(page)).toBeLessThan(0);
  });

  test('is walked with arrow keys, zoomed by Enter and reset by Escape', async () => {
    const { page } = await open();
    const full = await widthOf(page, 'all');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('all');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('syscall');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await focused(page)).toBe('ip_input');
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('ithread_loop');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await widthOf(page, 'ip_input')).toBeCloseTo(full, 0);
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('ip_input');
    await page.keyboard.press('Escape');
    expect(await widthOf(page, 'ip_input')).toBeCloseTo(0.8 * full, 0);
  });

  test('is one stop of the Tab key, and shows where it is', async () => {
    const { page } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowUp');
    const box = frame(page, 'fork_exit').locator('rect');
    expect(await styleOf(box, 'stroke-width')).toBe('2.5px');
    expect(await status(page)).toBe('fork_exit: 950 samples, 95.00 %');
    await page.keyboard.press('Tab');
    expect(await search(page).evaluate((input) => input.matches(':focus'))).toBe(true);
  });

  test.each([
    ['the mouse', (page: Page) => search(page).click()],
    ['/', (page: Page) => page.keyboard.press('/')],
    ['Ctrl-F', (page: Page) => page.keyboard.press('Control+f')],
  ])('searches, begun by %s', async (_, begin) => {
    const { page } = await open();
    await begin(page);
    await page.keyboard.type('PF_|^read');
    expect(await found(page)).toEqual(['pf_find_state', 'pf_test', 'read']);
    // The share of pf_test includes its callees already.
    expect(await page.locator('output').textContent()).toBe('55.0 % matched');
    await page.keyboard.press('Escape');
    expect(await found(page)).toEqual([]);
    expect(await page.locator('output').textContent()).toBe('');
  });

  test('searches for the text itself where it is no regular expression', async () => {
    const svg = flamegraph(parseProfile('operator(;f 1\noperator;g 3'), { title: 'C++' });
    const { page } = await openFile('pmc.svg', svg);
    await search(page).fill('OR(');
    expect(await found(page)).toEqual(['operator(']);
    expect(await page.locator('output').textContent()).toBe('25.0 % matched');
  });

  test('finds, describes and zooms frames that are narrower than a pixel', async () => {
    const stacks = parseProfile('main;narrow;inner 8\nmain;wide 9992');
    const svg = flamegraph(stacks, { title: 'profile' });
    expect(svg).not.toContain('<title>narrow');
    const { page, complaints } = await openFile('pmc.svg', svg);
    await search(page).fill('narrow|inner');
    expect(await found(page)).toEqual(['inner', 'narrow']);
    expect(await page.locator('output').textContent()).toBe('0.1 % matched');
    await page.keyboard.press('Escape');
    const full = await widthOf(page, 'all');
    await frame(page, 'main').click();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    expect(await status(page)).toBe('narrow: 8 samples, 0.08 %');
    await page.keyboard.press('Enter');
    expect(await widthOf(page, 'narrow')).toBeCloseTo(full, 0);
    expect(await labelOf(page, 'inner')).toBe('inner');
    expect(complaints).toEqual([]);
  });

  test('describes the frame under the mouse', async () => {
    const { page } = await open();
    await frame(page, 'tcp_input').hover();
    expect(await status(page)).toBe('tcp_input: 150 samples, 15.00 %');
  });

  test('shows both shares of a difference, also of vanished frames', async () => {
    const base = parseProfile('fork_exit;ithread_loop;tcp_input 25\nfork_exit;old;older 75');
    const { page } = await open({ base });
    await frame(page, 'tcp_input').hover();
    expect(await status(page)).toBe('tcp_input: 25.00 % → 15.00 % (−10.00 points), 150 samples');
    await frame(page, 'older').hover();
    expect(await status(page)).toBe('older: 75.00 % → gone (−75.00 points)');
    const [less, more] = await Promise.all(
      ['tcp_input', 'pf_test'].map((name) => styleOf(frame(page, name).locator('rect'), 'fill')),
    );
    expect(less).not.toBe(more);
  });

  test('is dark where the system is', async () => {
    const looks = async (colorScheme: 'light' | 'dark') => {
      const { page } = await open({}, { colorScheme });
      const box = frame(page, 'pf_test').locator('rect');
      return [await styleOf(page.locator('svg'), 'background-color'), await styleOf(box, 'fill')];
    };
    const [[paper, fill], [darkPaper, darkFill]] = [await looks('light'), await looks('dark')];
    expect([paper, darkPaper]).toEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)']);
    expect(darkFill).not.toBe(fill);
  });

  test('fits a narrow screen, its header in more lines', async () => {
    const title = 'FreeBSD 15.0-CURRENT of a router with a name that is long';
    const base = parseProfile('old 12345');
    const { page } = await open({ title, base }, { widthPixels: 390 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.locator('.title tspan').count()).toBeGreaterThan(1);
    expect(await page.locator('.title').textContent()).toBe(title);
    expect(await widthOf(page, 'all')).toBeCloseTo(370, 0);
    for (const part of await page.locator('.header > g, .body > g').all()) {
      const box = await part.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    }
  });

  test('keeps search and status in sight of a thousand frames', async () => {
    const names = Array.from({ length: 1000 }, (_, depth) => `f${depth}`);
    const deep = flamegraph(parseProfile(`${names.join(';')} 1`), { title: 'deep' });
    const { page, complaints } = await openFile('pmc.svg', deep);
    await frame(page, 'f3').hover();
    expect(await status(page)).toBe('f3: 1 sample, 100.00 %');
    const box = await search(page).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(50);
    expect(complaints).toEqual([]);
  });

  test('shows names that would be markup as text', async () => {
    const names = [
      '<script>window.hacked = 1</script>',
      ']]><script>window.hacked = 1</script>',
      '"><img src="https://example.com/x" onerror="window.hacked = 1">',
      '\u001b[31mred',
      '\u202egnp.exe',
      '__proto__',
    ];
    const stacks = names.map((name) => ({ frames: [{ name, module: name }], samples: 1 }));
    const profile = { format: 'perf', stacks } as const;
    const svg = flamegraph(profile, { title: names.join(' '), subtitle: names.join(' ') });
    const { page, complaints, requests } = await openFile('pmc.svg', svg);
    const evil = page.locator('.flames > g:nth-child(2) > g').nth(1);
    await evil.click();
    expect(await page.locator('.name').textContent()).toBe(names[2]);
    await search(page).fill('<');
    expect(await page.locator('output').textContent()).toBe('50.0 % matched');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.locator('script').count()).toBe(1);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  test('is read without a script', async () => {
    const { page } = await open({}, { javaScriptEnabled: false });
    const pfTest = page.locator('.flames g > g', { hasText: /^pf_test\n/ });
    expect(await pfTest.locator('title').textContent()).toBe('pf_test\n500 samples, 50.00 %');
    expect(await pfTest.locator('text').textContent()).toBe('pf_test');
    expect(await page.locator('input').count()).toBe(0);
  });

  test('shares a page with others: each zooms and is searched separately', async () => {
    const { page, complaints } = await openFile('report.html', pageOf(router, router));
    const [first, second] = [page.locator('svg').nth(0), page.locator('svg').nth(1)];
    const before = await widthOf(second, 'pf_test');
    await frame(first, 'pf_test').click();
    await search(second).fill('ip_input');
    expect(await widthOf(first, 'pf_test')).toBeGreaterThan(before);
    expect(await widthOf(second, 'pf_test')).toBe(before);
    expect([await found(first), await found(second)]).toEqual([[], ['ip_input']]);
    expect(complaints).toEqual([]);
  });

  test('handles keys of a page only while pointed at or focused', async () => {
    const { page } = await openFile('report.html', pageOf(router, router));
    const [first, second] = [page.locator('svg').nth(0), page.locator('svg').nth(1)];
    await page.locator('h1').hover();
    await page.keyboard.press('/');
    expect(await page.locator(':focus').count()).toBe(0);
    await frame(second, 'read').hover();
    await page.keyboard.press('/');
    await page.keyboard.type('tcp');
    expect([await found(first), await found(second)]).toEqual([[], ['tcp_input']]);
  });

  test('is drawn to its width when what folds it away opens', async () => {
    const folded = pageOf(router).replace(/<svg.*<\/svg>/s, '<details><summary>+</summary>$&</details>');
    const { page, complaints } = await openFile('report.html', folded, { widthPixels: 600 });
    await page.locator('summary').click();
    await frame(page, 'pf_test').waitFor();
    const width = await page.locator('svg').evaluate((svg) => svg.getBoundingClientRect().width);
    await expect.poll(() => widthOf(page, 'all')).toBeCloseTo(width - 20, 0);
    expect(complaints).toEqual([]);
  });
});

/** A page like a report's: one style and one script for all. */
const pageOf = (...profiles: (typeof router)[]): string =>
  `<!doctype html><meta charset="utf-8"><style>${flamegraphStyle()}</style><h1>Report</h1>
${profiles.map((one) => flamegraph(one, { title: 'a router', standalone: false })).join('\n')}
<script>${flamegraphScript()}</script>`;

type Place = Page | Locator;

/** The first frame of that name. */
const frame = (place: Place, name: string): Locator =>
  place.locator('.flames > g > g', { hasText: new RegExp(`^${name}\n`) }).first();

const widthOf = async (place: Place, name: string): Promise<number> =>
  Number(await frame(place, name).locator('rect').getAttribute('width'));

const labelOf = (place: Place, name: string): Promise<string | null> =>
  frame(place, name).locator('text').textContent();

const search = (place: Place): Locator => place.locator('input');

const styleOf = (locator: Locator, property: string): Promise<string> =>
  locator.evaluate(
    (element, name) => element.ownerDocument.defaultView.getComputedStyle(element).getPropertyValue(name),
    property,
  );

const opacityOf = async (place: Place, name: string): Promise<number> =>
  Number(await styleOf(frame(place, name), 'opacity'));

async function status(place: Place): Promise<string> {
  const [name, about] = await Promise.all(['.name', '.about'].map((part) => place.locator(part).textContent()));
  return `${name}: ${about}`;
}

const focused = async (page: Page): Promise<string> =>
  (await page.locator(':focus > title').textContent())?.split('\n')[0] ?? '';

async function found(place: Place): Promise<string[]> {
  const titles = await place.locator('.found > title').allTextContents();
  return titles.map((title) => title.split('\n')[0] ?? '').toSorted();
}

/** Returns how far the label that fills its frame most exceeds it. */
async function widestOverhang(page: Page): Promise<number> {
  const labels = await page.locator('.flames > g > g:not(.out) > text').all();
  const overhangs = labels.map(async (label) => {
    const [text, box] = await Promise.all([label.boundingBox(), label.locator('xpath=../*[2]').boundingBox()]);
    return text && box ? text.x + text.width - box.x - box.width : -Infinity;
  });
  return Math.max(...(await Promise.all(overhangs)));
}
