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
