import { expect, test } from 'vitest';
import type { Profile } from '../../src/analysis/profile/profile.ts';
import { renderHtml } from '../../src/report/reports.ts';
import { aCell, forwarding, judged } from '../fakes/result.ts';

test('flamegraphs that do not fit in a page of six megabytes are linked elsewhere, those of the worst cells last', () => {
  const many = Array.from({ length: 5 }, (_, index) => {
    const cell = { ...forwarding, frameBytes: 64 + index };
    const variants = ['base', 'patched'].map((variant) => ({
      variant,
      profile: deep(variant),
      idleFrames: [],
    }));
    return { cell, variants };
  });
  const cells = many.map(({ cell }, index) => ({
    ...aCell({ kind: index === 4 ? 'regression' : 'no-regression' }),
    cell,
  }));
  const large = renderHtml(judged(cells), many);
  expect(Buffer.byteLength(large)).toBeLessThan(6e6);
  const graph = '<svg[^>]*class="ppsgate-flamegraph';
  expect(large).toMatch(new RegExp(`id="flamegraph-forwarding-inet4-68-B-base">${graph}`));
  expect(large).toMatch(/too large for this page; see <code>flamegraph-forwarding-inet4-67-B-base\.svg/);
});

/** Twelve calls deep, with as many paths as a busy kernel has. */
function deep(variant: string): Profile {
  const stacks = Array.from({ length: 1000 }, (_, index) => ({
    frames: Array.from({ length: 12 }, (_, depth) => ({
      name: `function_${depth}_${Math.floor(index / 2 ** Math.max(0, 11 - depth))}`.padEnd(100, '_'),
      module: depth % 3 === 0 ? 'ipfw.ko' : 'kernel',
    })),
    samples: 1 + ((index * 7) % 50) + (variant === 'patched' ? index % 3 : 0),
  }));
  return { format: 'folded', stacks };
}
