// Installs the result and its reports into a work directory.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import { reasonOf } from '../model/one-line.ts';
import type { Result } from '../model/result.ts';
import { renderHtml } from './html.ts';
import { intervalPlot } from './interval-plot.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import { pngOf } from './png.ts';
import { drawGraph, type Graph, graphsOf } from './report-flamegraphs.ts';

/**
 * Writes `result.json` and `report.md`, and into `report/` the page, JUnit XML, the plot of all intervals as SVG and
 * PNG, and a flamegraph of each profile under its anchor's name; each file whole or not at all. What cannot be drawn
 * costs that drawing alone, and `leftOut` hears why, in a sentence.
 */
export async function writeResult(
  directory: string,
  result: Result,
  profiles: readonly CellProfiles[] = [],
  leftOut: (why: string) => void = () => {},
): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderMarkdown(result));
  const report = join(directory, 'report');
  await replaceFile(join(report, 'junit.xml'), renderJunit(result));
  const drawn = async (name: string, what: string, draw: () => Drawing | Promise<Drawing>) =>
    replaceDrawing(join(report, name), await drawing(what, draw, leftOut));
  await drawn('index.html', 'page', () => renderHtml(result, profiles));
  await drawn('intervals.svg', 'plot of the intervals', () => intervalPlot(result));
  await drawn('intervals.png', 'picture of the intervals', () => intervalsInPixels(result));
  await writeGraphs(report, graphsOf(result, profiles), leftOut);
}

/** Each under its anchor's name. */
export async function writeGraphs(
  report: string,
  graphs: readonly Graph[],
  leftOut: (why: string) => void,
): Promise<void> {
  for (const graph of graphs) {
    const graphic = drawGraph(graph);
    if (graphic.kind === 'left-out') leftOut(graphic.why);
    const svg = graphic.kind === 'drawn' ? graphic.svg : undefined;
    await replaceDrawing(join(report, `${graph.anchor}.svg`), svg);
  }
}

/** Undefined where there is nothing to draw. */
export type Drawing = string | Uint8Array | undefined;

export async function drawing(
  what: string,
  draw: () => Drawing | Promise<Drawing>,
  leftOut: (why: string) => void,
): Promise<Drawing> {
  try {
    return await draw();
  } catch (error) {
    leftOut(`The report goes without its ${what} (${reasonOf(error)}).`);
    return undefined;
  }
}

/** What an earlier result has left would be wrong where nothing is drawn. */
export const replaceDrawing = (path: string, content: Drawing): Promise<void> =>
  content === undefined ? rm(path, { force: true }) : replaceFile(path, content);

async function intervalsInPixels(result: Result): Promise<Uint8Array | undefined> {
  const plot = intervalPlot(result);
  if (plot === undefined) return undefined;
  return pngOf(plot);
}

/** Writes a file whole or not at all, in a folder that need not be there yet. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.part`;
  await writeFile(draft, content, { flush: true });
  await rename(draft, path);
}
