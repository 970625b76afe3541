// Chooses and titles the flamegraphs of a report.

import { flamegraph } from '../analysis/profile/flamegraph.ts';
import { type Profile, samplesOf } from '../analysis/profile/profile.ts';
import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { plainLine } from '../model/escape.ts';
import { grouped } from '../model/format.ts';
import { reasonOf } from '../model/one-line.ts';
import type { CellProfile, CellResult, Result } from '../model/result.ts';
import { type Cell, cellName, flamegraphAnchor } from '../model/scenario.ts';
import { revisionId } from './bisect-headline.ts';
import { stepsOf } from './bisect-rows.ts';
import { isSilent } from './headline.ts';

export type Graph = {
  cell: Cell;
  /** A variant's name, or `difference`. */
  which: string;
  anchor: string;
  title: string;
  /** Kernel, event and samples, as recorded in the profiles. */
  subtitle: string;
  profile: Profile;
  base?: Profile;
};

/** Covers every judged cell, and the difference of base and patched; in a bisection, the change's neighbours. */
export function graphsOf(result: Result | BisectResult, profiles: readonly CellProfiles[]): Graph[] {
  if ('kind' in result) return graphsOfBisection(result, profiles);
  if (result.outcome.kind !== 'judged') return [];
  const cells = new Map(result.outcome.cells.map((cell) => [cellName(cell.cell), cell]));
  return profiles.flatMap((data) => {
    const cell = cells.get(cellName(data.cell));
    return cell === undefined || isSilent(cell) ? [] : graphsOfCell(cell, data);
  });
}

/** Names graphs by commit; `base` is the one before, `patched` the one after. */
function graphsOfBisection(result: BisectResult, [own]: readonly CellProfiles[]): Graph[] {
  if (own === undefined) return [];
  const { cell, revisions, answer } = result;
  const id = revisionId(revisions[stepsOf(answer)[0]?.last ?? -1]) || 'patched';
  const names = new Map([
    ['base', `before ${id}`],
    ['patched', id],
    ['difference', `${id} compared with the commit before it`],
  ]);
  return graphsOfCell(result, own).map((graph) => {
    const which = names.get(graph.which) ?? graph.which;
    return { ...graph, which, title: `${cellName(cell)}, ${which}` };
  });
}

type Drawn = { kind: 'drawn'; svg: string } | { kind: 'left-out'; why: string };

/** Omits a graph that cannot be drawn, with the reason: a profile may exceed the limits of a picture. */
export function drawGraph(graph: Graph, standalone = true): Drawn {
  const { title, subtitle, profile, base } = graph;
  try {
    return { kind: 'drawn', svg: flamegraph(profile, { title, subtitle, base, standalone }) };
  } catch (error) {
    return { kind: 'left-out', why: `There is no flamegraph of ${title}: ${reasonOf(error)}` };
  }
}

function graphsOfCell({ cell, profiles }: Pick<CellResult, 'cell' | 'profiles'>, { variants }: CellProfiles): Graph[] {
  const profiled = new Map(profiles.flatMap((one) => (one.kind === 'profiled' ? [[one.variant, one]] : [])));
  const graphs = variants.map(({ variant, profile }) => ({
    ...placed(cell, variant),
    title: `${cellName(cell)}, ${plainLine(variant)}`,
    subtitle: subtitleOf(profiled.get(variant), profile),
    profile,
  }));
  const [base, patched] = ['base', 'patched'].map((name) => graphs.find(({ which }) => which === name));
  if (base === undefined || patched === undefined) return graphs;
  const difference = {
    ...placed(cell, 'difference'),
    title: `${cellName(cell)}, patched against base`,
    subtitle: `base: ${base.subtitle}; patched: ${patched.subtitle}`,
    profile: patched.profile,
    base: base.profile,
  };
  return [...graphs, difference];
}

const placed = (cell: Cell, which: string) => ({
  cell,
  which,
  anchor: flamegraphAnchor(cell, which),
});

type Profiled = Extract<CellProfile, { kind: 'profiled' }>;

/** `FreeBSD 15.0-CURRENT n1234 GENERIC · cpu_clk_unhalted.thread_p · 48,210 samples`. */
function subtitleOf(profiled: Profiled | undefined, profile: Profile): string {
  const samples = `${grouped(profiled?.busySamples ?? samplesOf(profile.stacks))} samples`;
  const recorded = profiled === undefined ? [] : [profiled.kernel, profiled.event];
  return [...recorded.map((text) => plainLine(text)), samples].join(' · ');
}
