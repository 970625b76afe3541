// Installs a bisection's result and its reports into a work directory.

import { join } from 'node:path';
import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { bisectGraphs } from './bisect-graphs.ts';
import { renderBisectHtml } from './bisect-html.ts';
import { renderBisectMarkdown } from './bisect-markdown.ts';
import { bisectPlot } from './bisect-plot.ts';
import { pngOf } from './png.ts';
import {
  type Drawing,
  drawing,
  replaceDrawing,
  replaceFile,
  writeGraphs,
} from './write-reports.ts';

/**
 * Writes `result.json` and `report.md`, and into `report/` the page, the plot over the commits as `bisect.svg` and
 * `bisect.png`, and a flamegraph of each profile; each file whole or not at all. What cannot be drawn costs that drawing
 * alone, and `leftOut` hears why, in a sentence.
 */
export async function writeBisect(
  directory: string,
  result: BisectResult,
  profiles: readonly CellProfiles[] = [],
  leftOut: (why: string) => void = () => {},
): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderBisectMarkdown(result));
  const report = join(directory, 'report');
  const drawn = async (name: string, what: string, draw: () => Drawing | Promise<Drawing>) =>
    replaceDrawing(join(report, name), await drawing(what, draw, leftOut));
  await drawn('index.html', 'page', () => renderBisectHtml(result, profiles));
  await drawn('bisect.svg', 'plot over the commits', () => bisectPlot(result));
  await drawn('bisect.png', 'picture over the commits', async () => {
    const plot = bisectPlot(result);
    return plot === undefined ? undefined : pngOf(plot);
  });
  await writeGraphs(report, bisectGraphs(result, profiles), leftOut);
}
