import { expect, test } from 'vitest';
import { renderHtml } from '../../src/report/reports.ts';
import { bisectResults, mellanoxBroken, mellanoxFixed } from '../fakes/bisect-result.ts';
import { useBrowser } from '../fakes/browser.ts';
import { describeWith } from '../needs.ts';

describeWith(['chromium'], 'the page of a bisection in a browser', () => {
  const open = useBrowser();

  test.for(Object.entries({ ...bisectResults, mellanoxFixed, mellanoxBroken }))(
    'fits a phone without scrolling sideways: %s',
    async ([, result]) => {
      const { page } = await open('index.html', renderHtml(result), { widthPixels: 390 });
      await page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })");
      const widths = 'const { scrollWidth, clientWidth } = document.documentElement; [scrollWidth, clientWidth]';
      expect(await page.evaluate(widths)).toEqual([390, 390]);
    },
  );

  test('on a phone the plot is as large as it was drawn, and what came of a commit is in sight', async () => {
    const page = (await open('index.html', renderHtml(mellanoxBroken), { widthPixels: 390 })).page;
    const plot = page.locator('.intervals svg:visible');
    expect(await plot.count()).toBe(1);
    expect(((await plot.boundingBox())?.width ?? 0) / 360).toBeGreaterThan(0.95);
    const row = page.locator('#revisions tbody tr', { hasText: 'f8f5b459d21e' }).first();
    const box = await row.locator('td', { hasText: 'forwards nothing' }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(390);
  });

  test('no text of the plot is drawn over another one', async () => {
    for (const result of [mellanoxFixed, mellanoxBroken]) {
      for (const widthPixels of [1200, 390]) {
        const { page } = await open('index.html', renderHtml(result), { widthPixels });
        const boxes = await Promise.all(
          (await page.locator('.intervals svg:visible text').all()).map((one) => one.boundingBox()),
        );
        const overlapping = boxes.flatMap((a, index) =>
          boxes.slice(index + 1).filter(
            (b) =>
              a !== null &&
              b !== null &&
              a.x < b.x + b.width - 1 &&
              b.x < a.x + a.width - 1 &&
              // The line boxes of two lines may touch.
              a.y < b.y + b.height - 4 &&
              b.y < a.y + a.height - 4,
          ),
        );
        expect(overlapping).toEqual([]);
      }
    }
  });
});
