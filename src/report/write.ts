// Lays the result and its reports into a work directory.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { graphsOf, svgOf } from './graphs.ts';
import { renderHtml } from './html.ts';
import { intervalPlot } from './interval-plot.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import type { CellProfiles } from './profiles.ts';
import type { Result } from './result.ts';

/**
 * Writes `result.json` and `report.md`, and into `report/` the page, JUnit XML, the plot of all intervals as SVG and
 * PNG, and a flamegraph of each profile under its anchor's name; each file whole or not at all.
 */
export async function writeResult(
  directory: string,
  result: Result,
  profiles: readonly CellProfiles[] = [],
): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderMarkdown(result));
  const report = join(directory, 'report');
  await replaceFile(join(report, 'index.html'), renderHtml(result, profiles));
  await replaceFile(join(report, 'junit.xml'), renderJunit(result));
  await writeIntervals(report, result);
  for (const graph of graphsOf(result, profiles)) {
    await replaceFile(join(report, `${graph.anchor}.svg`), svgOf(graph));
  }
}

/** What an earlier result has left would be wrong where nothing is drawn. */
async function writeIntervals(report: string, result: Result): Promise<void> {
  const svgFile = join(report, 'intervals.svg');
  const pngFile = join(report, 'intervals.png');
  const plot = intervalPlot(result);
  if (plot === undefined) {
    await rm(svgFile, { force: true });
    await rm(pngFile, { force: true });
    return;
  }
  // Three megabytes of WebAssembly, for those alone who draw.
  const { pngOf } = await import('./png.ts');
  await replaceFile(svgFile, plot);
  await replaceFile(pngFile, await pngOf(plot));
}

/** Writes a file whole or not at all, in a folder that need not be there yet. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.part`;
  await writeFile(draft, content, { flush: true });
  await rename(draft, path);
}
