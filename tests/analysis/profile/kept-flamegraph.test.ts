// Flamegraphs from files that others may have written.
import { expect, test } from 'vitest';
import { flamegraph, flamegraphScript, flamegraphStyle } from '../../../src/analysis/profile/flamegraph.ts';
import { keptFlamegraph } from '../../../src/analysis/profile/kept-flamegraph.ts';
import type { Profile } from '../../../src/analysis/profile/profile.ts';

const profileOf = (...names: string[]): Profile => ({
  format: 'folded',
  stacks: names.map((name, index) => ({
    frames: [{ name: 'main', module: 'kernel' }, { name }],
    samples: 10 + index,
  })),
});

const odd = ['a<b>&"c"', ']]>', '<script>', '…', ''];
const drawn = [
  flamegraph(profileOf(...odd), { title: 'forwarding <inet4>', subtitle: 'a "b" & c' }),
  flamegraph(profileOf('a', 'b'), { title: 'x', base: profileOf('b', 'c') }),
  flamegraph(profileOf(), { title: 'empty' }),
  flamegraph(
    {
      format: 'folded',
      stacks: odd.map((name, index) => ({ frames: [{ name }], samples: 1 + 9000 * index })),
    },
    { title: 'narrow frames' },
  ),
];

test.for(drawn)('A flamegraph of ours is kept as it is', (svg) => {
  expect(keptFlamegraph(svg)).toBe(svg);
});

test('A flamegraph of another version gets the style and the script of this one', () => {
  const [svg = ''] = drawn;
  const older = svg
    .replace(flamegraphScript(), () => 'fetch("https://example.org/")')
    .replace(flamegraphStyle(), () => '@import url("https://example.org/")');
  expect(older).toContain('example.org');
  expect(keptFlamegraph(older)).toBe(svg);
});

const within = (markup: string): string =>
  (drawn[1] ?? '').replace('<g class="body"', () => `${markup}<g class="body"`);

test.for([
  '<script>alert(1)</script>',
  '<script><![CDATA[alert(1)]]></script>',
  '<script href="https://example.org/x.js"/>',
  '<style>@import url("https://example.org/")</style>',
  '<g onload="alert(1)"></g>',
  '<g style="background:url(https://example.org/)"></g>',
  '<a href="javascript:alert(1)"><text>x</text></a>',
  '<image href="https://example.org/x.png"/>',
  '<use href="https://example.org/x.svg#a"/>',
  '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="x"/></foreignObject>',
  '<g xmlns="http://www.w3.org/1999/xhtml"></g>',
  '<set attributeName="onmouseover" to="alert(1)"/>',
  '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
  '<?xml-stylesheet href="https://example.org/x.xsl"?>',
  '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
  '<!-- --><script>alert(1)</script>',
  "<g class='x'/>",
  '<g class="<style><![CDATA[x]]></style>"/>',
  '<g\nonload="alert(1)"/>',
])('A drawing with anything else in it is none of ours: %s', (markup) => {
  expect(keptFlamegraph(within('<g class="x"></g>'))).toBeDefined();
  expect(keptFlamegraph(within(markup))).toBeUndefined();
  const [start = '', ...rest] = (drawn[1] ?? '').split('\n');
  expect(keptFlamegraph([markup, start, ...rest].join('\n'))).toBeUndefined();
});

test('a page in place of a drawing is rejected', () => {
  expect(keptFlamegraph('<html><body onload="alert(1)"></body></html>')).toBeUndefined();
});
