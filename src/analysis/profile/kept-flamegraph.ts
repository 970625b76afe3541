// Imports a flamegraph from a file that others may have written.
import { flamegraphScript, flamegraphStyle } from './flamegraph.ts';

/**
 * Returns the drawing with this version's style and script instead of its own. Undefined for a drawing with any element
 * or attribute that `flamegraph` does not draw, such as another script or a link.
 */
export function keptFlamegraph(svg: string): string | undefined {
  const drawing = svg.replace(style, '\n').replace(script, '\n');
  if (!isDrawn(drawing)) return undefined;
  return svg
    .replace(style, () => `<style><![CDATA[${flamegraphStyle()}]]></style>`)
    .replace(script, () => `<script><![CDATA[${flamegraphScript()}]]></script>`);
}

const style = /<style><!\[CDATA\[.*?\]\]><\/style>/s;
const script = /<script><!\[CDATA\[.*?\]\]><\/script>/s;

/** In XML each `<` begins a tag, a comment, an instruction or a CDATA section; `flamegraph` draws only tags. */
function isDrawn(drawing: string): boolean {
  for (let at = drawing.indexOf('<'); at !== -1; at = drawing.indexOf('<', tag.lastIndex)) {
    tag.lastIndex = at;
    if (!tag.test(drawing)) return false;
  }
  return true;
}

const tag =
  /<\/?(?:svg|g|title|text|rect|metadata)(?: xmlns="http:\/\/www\.w3\.org\/2000\/svg"| (?:class|role|aria-label|width|height|viewBox|transform|x|y|text-anchor)="[^"<]*")*\/?>/y;
