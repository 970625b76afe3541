// Which flamegraphs a bisection's report shows: those of the change's neighbours, and what is between them.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { shortId } from '../model/patch.ts';
import { cellName } from '../model/scenario.ts';
import { stepsOf } from './bisect-rows.ts';
import { type Graph, graphsOfCell } from './report-flamegraphs.ts';

/** Named by the commits; `base` is the one before, and `patched` the one after. */
export function bisectGraphs(result: BisectResult, profiles: readonly CellProfiles[]): Graph[] {
  const [own] = profiles;
  if (own === undefined) return [];
  const { cell, revisions, answer } = result;
  const id = shortId(revisions[stepsOf(answer)[0]?.last ?? -1]?.commit ?? '') || 'patched';
  const names = new Map([
    ['base', `before ${id}`],
    ['patched', id],
    ['difference', `${id} against before it`],
  ]);
  return graphsOfCell(result, own).map((graph) => {
    const which = names.get(graph.which) ?? graph.which;
    return { ...graph, which, title: `${cellName(cell)}, ${which}` };
  });
}
