import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as format from '../../src/model/format.ts';
import { flamegraphAnchor } from '../../src/model/scenario.ts';
import { expectOutputs } from '../fakes/golden-lines.ts';

const { formatMetric, formatPps } = format;

test('golden/formats.txt has what each function prints', async () => {
  const functions = new Map<string, unknown>(Object.entries(format));
  await expectOutputs(join(import.meta.dirname, 'golden/formats.txt'), (input) => {
    const [name = '', ...words] = input.split(' ');
    const print = functions.get(name) as (...values: unknown[]) => string;
    return [print(...words.map((word) => JSON.parse(word)))];
  });
});

test('packets per second that are shown are within a thousandth of those measured', () => {
  const unit: Record<string, number> = { pps: 1, kpps: 1e3, Mpps: 1e6 };
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e12, noNaN: true }), (pps) => {
      const [number = '', name = ''] = formatPps(pps).split(' ');
      expect(Math.abs((Number(number) * (unit[name] ?? 0)) / pps - 1)).toBeLessThan(1e-3);
    }),
  );
});

test('a thousandth more instructions is another number', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), (count) => {
      const [less, more] = [count, count * 1.0011].map((one) => formatMetric(one, 'instructionsPerPacket'));
      expect(more).not.toBe(less);
    }),
  );
});

test('the anchor of a flamegraph consists of its cell and its kind', () => {
  const cell = { scenario: 'forwarding', family: 'inet4', frameBytes: 1518 } as const;
  expect(flamegraphAnchor(cell, 'base')).toBe('flamegraph-forwarding-inet4-1518-B-base');
});
