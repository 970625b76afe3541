// Writes a result and its reports into a work directory.

import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { reasonOf } from '../model/one-line.ts';
import type { Result } from '../model/result.ts';
import { placeBelow } from '../system/foreign-files.ts';
import { giveNew } from '../system/give-to-caller.ts';
import { bisectPlot } from './bisect-plot.ts';
import { intervalPlot } from './interval-plot.ts';
import { renderJunit } from './junit.ts';
import { pngOf } from './png.ts';
import { drawGraph, type Graph, graphsOf } from './report-flamegraphs.ts';
import { isBisectResult, renderHtml, renderMarkdown } from './reports.ts';

/**
 * Writes `result.json` and `report.md`, and into `report/` the page, the plot as SVG and PNG, a flamegraph of each
 * profile by its anchor, and a gate's JUnit XML; each file atomically. Skips a drawing that fails, and calls `leftOut`
 * with a sentence.
 */
export async function writeResult(
  directory: string,
  result: Result | BisectResult,
  profiles: readonly CellProfiles[] = [],
  leftOut: (why: string) => void = () => {},
): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderMarkdown(result));
  // The directory may come from another machine, with a link at this path.
  const report = dirname(await placeBelow(directory, 'report/index.html'));
  const draw = async (name: string, what: string, make: () => Drawing | Promise<Drawing>) =>
    replaceDrawing(join(report, name), await drawing(what, make, leftOut));
  const plot = isBisectResult(result)
    ? { name: 'bisect', what: 'over the commits', draw: () => bisectPlot(result) }
    : { name: 'intervals', what: 'of the intervals', draw: () => intervalPlot(result) };
  if (!isBisectResult(result)) await replaceFile(join(report, 'junit.xml'), renderJunit(result));
  await draw('index.html', 'page', () => renderHtml(result, profiles));
  await draw(`${plot.name}.svg`, `plot ${plot.what}`, plot.draw);
  await draw(`${plot.name}.png`, `picture ${plot.what}`, async () => {
    const svg = plot.draw();
    return svg === undefined ? undefined : pngOf(svg);
  });
  await writeGraphs(report, graphsOf(result, profiles), leftOut);
}

async function writeGraphs(report: string, graphs: readonly Graph[], leftOut: (why: string) => void): Promise<void> {
  for (const graph of graphs) {
    const graphic = drawGraph(graph);
    if (graphic.kind === 'left-out') leftOut(graphic.why);
    const svg = graphic.kind === 'drawn' ? graphic.svg : undefined;
    await replaceDrawing(join(report, `${graph.anchor}.svg`), svg);
  }
}

type Drawing = string | Uint8Array | undefined;

async function drawing(
  what: string,
  draw: () => Drawing | Promise<Drawing>,
  leftOut: (why: string) => void,
): Promise<Drawing> {
  try {
    return await draw();
  } catch (error) {
    leftOut(`The report is written without its ${what} (${reasonOf(error)}).`);
    return undefined;
  }
}

/** Removes an earlier result's drawing if there is none now. */
const replaceDrawing = (path: string, content: Drawing): Promise<void> =>
  content === undefined ? rm(path, { force: true }) : replaceFile(path, content);

/** Writes atomically, and creates the folder if needed; follows no link at the path of the file or its draft. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const made = await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.part`;
  await rm(draft, { force: true });
  await writeFile(draft, content, { flag: 'wx', flush: true });
  await rename(draft, path);
  await giveNew(made ?? path);
}
