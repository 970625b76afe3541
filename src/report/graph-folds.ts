// Draws the flamegraphs of a page, each folded below its preview.

import { type Box, layout, moduleName } from '../analysis/profile/flamegraph-layout.ts';
import { samplesOf } from '../analysis/profile/profile.ts';
import { plainLine } from '../model/escape.ts';
import { type Block, heading } from './document.ts';
import { Html, html } from './markup.ts';
import { drawGraph, type Graph } from './report-flamegraphs.ts';

/** `svg` is absent if the page is full; `why` explains a graph that cannot be drawn. */
export type Picture = { graph: Graph; svg?: string; why?: string };

/** Kernel graphs have about 50,000 characters each; a page of more than a few million is slow on a phone. */
const maxGraphCharacters = 5_000_000;

/** Omits the last graphs of a full page. */
export function picturesThatFit(graphs: readonly Graph[]): Picture[] {
  let free = maxGraphCharacters;
  return graphs.map((graph): Picture => {
    const drawn = drawGraph(graph, false);
    if (drawn.kind === 'left-out') return { graph, why: drawn.why };
    const { svg } = drawn;
    if (svg.length > free) return { graph };
    free -= svg.length;
    return { graph, svg };
  });
}

export const graphFolds = (pictures: readonly Picture[]): Block[] =>
  pictures.length === 0
    ? []
    : [
        heading('Flamegraphs'),
        {
          kind: 'drawing',
          drawing: html`<div class="graphs">\n${pictures.map(graphFold)}</div>\n`,
        },
      ];

/** Browsers open a fold for a link or search hit inside. */
function graphFold({ graph, svg, why }: Picture): Html {
  const { anchor, which } = graph;
  if (why !== undefined) return html`<p id="${anchor}">${plainLine(why, 500)}</p>\n`;
  const elsewhere = html`<p>It is too large for this page; see <code>${anchor}.svg</code>.</p>`;
  return html`<details class="graph">
<summary>${plainLine(which)}${graphPreview(graph)}</summary>
<div id="${anchor}">${svg === undefined ? elsewhere : new Html(svg)}</div>
</details>
`;
}

/** Shows shape and colours without names, sized by the page's style; undefined without samples. */
function graphPreview({ profile, base }: Graph): Html | undefined {
  const stacks = { profile: profile.stacks, base: base?.stacks ?? [] };
  const totals = { profile: samplesOf(stacks.profile), base: samplesOf(stacks.base) };
  if (totals.profile === 0) return undefined;
  const pixelsPerSample = width / totals.profile;
  const { rows } = layout(stacks, 'profile', { pixelsPerSample, minPixels: 0.7 });
  const boxes = rows.flatMap((row, depth) =>
    row.map((box) => ({
      look: base === undefined ? moduleLook(box) : changeLook(box, totals),
      path: `M${tenths(box.x)} ${rows.length - depth - 1}h${tenths(box.width)}v1h-${tenths(box.width)}z`,
    })),
  );
  const paths = [...Map.groupBy(boxes, ({ look }) => look)].map(
    ([look, own]) => html`<path class="${look}" d="${own.map(({ path }) => path).join('')}"/>`,
  );
  return html`<svg class="preview" viewBox="0 0 ${width} ${rows.length}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}

/** Page width in pixels, approximate. Rows have height 1 and are scaled. */
const width = 340;

const tenths = (pixels: number): number => Math.round(pixels * 10) / 10;

function moduleLook({ frame }: Box): string {
  const module = moduleName(frame);
  return module === undefined || /^kernel/.test(module) ? 'of-kernel' : 'of-module';
}

/** Colours a box by its path's share, including callees, before and now. */
function changeLook({ samples }: Box, totals: Box['samples']): string {
  const change = samples.profile / totals.profile - samples.base / totals.base;
  if (Math.abs(change) < 0.003) return 'same';
  return `${change > 0 ? 'more' : 'less'}${Math.abs(change) < 0.03 ? '' : ' much'}`;
}
