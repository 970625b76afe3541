import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { renderHtml } from '../../src/report/reports.ts';
import { useBrowser, type View } from '../fakes/browser.ts';
import { anExperiment } from '../fakes/report.ts';
import { aResult } from '../fakes/result.ts';
import { describeWith } from '../needs.ts';

describeWith(['chromium'], 'the page in a browser', () => {
  const open = useBrowser();

  const { result, profiles } = anExperiment();
  const html = renderHtml(result, profiles);
  const anchor = 'flamegraph-ipfw-stateful-inet6-difference';
  const rejected = renderHtml(
    aResult({ outcome: { kind: 'boot-failed', message: `${'x'.repeat(300)}\nFatal trap 12` } }),
    [],
  );

  /** Opens the page at one of its anchors, as a link does. */
  async function openAt(anchor: string, view?: View): Promise<Page> {
    const { page } = await open('index.html', html, view);
    const url = page.url();
    await page.goto('about:blank');
    await page.goto(`${url}#${anchor}`);
    return page;
  }

  test('shows its plots and small pictures of its graphs, loads nothing, and has no errors', async () => {
    const { page, complaints, requests } = await open('index.html', html);
    expect(await page.title()).toContain('ppsgate: D12685 gains 8.33 %');
    expect((await page.locator('.intervals svg:visible').boundingBox())?.width).toBeGreaterThan(900);
    expect(await page.locator('svg.runs').count()).toBe(5);
    const previews = page.locator('svg.preview:visible');
    expect(await previews.count()).toBe(15);
    const filled = await previews.first().locator('path').first().boundingBox();
    expect(filled?.height).toBeGreaterThan(50);
    expect(await page.locator('svg.ppsgate-flamegraph').first().isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    expect(requests.filter((url) => url !== 'data:,')).toEqual([]);
  });

  test.for([
    ['a judged patch', html],
    ['a rejected patch', rejected],
  ] as const)('fits a phone without scrolling sideways: %s', async ([, text]) => {
    const { page } = await open('index.html', text, { widthPixels: 390 });
    await page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })");
    const widths = 'const { scrollWidth, clientWidth } = document.documentElement; [scrollWidth, clientWidth]';
    expect(await page.evaluate(widths)).toEqual([390, 390]);
  });

  test('on a phone the verdict, the change and its interval are in sight, of the table and of the plot', async () => {
    const { page } = await open('index.html', html, { widthPixels: 390 });
    const row = page.locator('#verdict tbody tr').first();
    for (const text of ['improvement', '+8.33', '+9.86']) {
      const box = await row.locator('th, td', { hasText: text }).boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? Infinity), text).toBeLessThanOrEqual(390);
    }
    const plot = page.locator('.intervals svg:visible');
    expect(await plot.count()).toBe(1);
    expect(await plot.locator('text', { hasText: '+6.79 … +9.86' }).count()).toBe(1);
    const scale = ((await plot.boundingBox())?.width ?? 0) / 360;
    expect(scale).toBeGreaterThan(0.95);
  });

  test('a link to a graph opens it and brings it into view, from a comment and within the page', async () => {
    const page = await openAt(anchor);
    const graph = page.locator(`#${anchor} svg`);
    await graph.waitFor({ state: 'visible' });
    expect(await page.evaluate('scrollY')).toBeGreaterThan(500);
    const other = 'flamegraph-ipfw-stateful-inet4-base';
    await page.evaluate(`location.hash = '${other}'`);
    await page.locator(`#${other} svg`).waitFor({ state: 'visible' });
    expect(await page.locator('details.graph[open]').count()).toBe(2);
  });

  test('without script its graphs open all the same', async () => {
    const page = await openAt(anchor, { javaScriptEnabled: false });
    await page.locator(`#${anchor} svg`).waitFor({ state: 'visible' });
  });

  test('runs no script of others', async () => {
    const foreign = html.replace('</main>', '<script>document.title = "foreign"</script></main>');
    const { page, complaints } = await open('index.html', foreign);
    expect(await page.title()).toContain('ppsgate');
    expect(complaints.join()).toContain('Content Security Policy');
  });

  test('is dark if the reader prefers that, and readable in both', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open('index.html', html, { colorScheme });
      /** From 0 to 1. */
      const lightness = async (selector: string, property = 'color') => {
        const found = `getComputedStyle(document.querySelector('${selector}')).${property}`;
        const [red = 0, green = 0, blue = 0] =
          String(await page.evaluate(found))
            .match(/\d+/g)
            ?.map(Number) ?? [];
        return (red + green + blue) / 765;
      };
      const paper = await lightness('section', 'backgroundColor');
      expect(paper > 0.5).toBe(colorScheme === 'light');
      for (const selector of ['h1', 'p.faint', 'b.improvement', 'a', 'caption']) {
        expect(Math.abs((await lightness(selector)) - paper)).toBeGreaterThan(0.35);
      }
      expect(await lightness('.intervals rect', 'fill')).toBe(paper);
      expect(Math.abs((await lightness('.intervals text', 'fill')) - paper)).toBeGreaterThan(0.5);
    }
  });
});
