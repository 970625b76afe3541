import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  counted,
  formatChange,
  formatChangeAndError,
  formatDifference,
  formatDuration,
  formatInterval,
  formatMetric,
  formatPercent,
  formatPps,
  formatProbability,
  formatShare,
  formatSizeAndError,
  formatTick,
  grouped,
  metricName,
} from '../../src/model/format.ts';
import { flamegraphAnchor } from '../../src/model/scenario.ts';

test.for([
  [0, '0 pps'],
  [7, '7.000 pps'],
  [999, '999.0 pps'],
  [1000, '1.000 kpps'],
  [805_312, '805.3 kpps'],
  [999_999, '1000 kpps'],
  [1_000_000, '1.000 Mpps'],
  [4_982_000, '4.982 Mpps'],
  [14_880_952, '14.88 Mpps'],
  [1_488_095_238, '1488 Mpps'],
] as const)('%d packets per second are %s', ([pps, text]) => {
  expect(formatPps(pps)).toBe(text);
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

test('a metric is shown in its unit', () => {
  expect(formatMetric(1057.4, 'nsPerPacket')).toBe('1,057 ns');
  expect(formatMetric(61.237, 'nsPerPacket')).toBe('61.24 ns');
  expect(formatMetric(805_312, 'pps')).toBe('805.3 kpps');
  expect(formatMetric(8314.2, 'instructionsPerPacket')).toBe('8,314 instructions');
  expect(formatMetric(831.42, 'instructionsPerPacket')).toBe('831.4 instructions');
});

test('at an axis instructions are a number alone', () => {
  expect(formatTick(8314.2, 'instructionsPerPacket')).toBe('8,314');
  expect(formatTick(1057.4, 'nsPerPacket')).toBe('1,057 ns');
});

test('a thousandth more instructions is another number', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e9, noNaN: true }), (count) => {
      const [less, more] = [count, count * 1.0011].map((one) => formatMetric(one, 'instructionsPerPacket'));
      expect(more).not.toBe(less);
    }),
  );
});

test('a metric names its better direction', () => {
  expect(metricName('pps')).toBe('packets per second (more is better)');
  expect(metricName('nsPerPacket')).toBe('CPU time per packet (less is better)');
  expect(metricName('instructionsPerPacket')).toBe('instructions per packet (less is better)');
});

test.for([
  [0.0833, '+8.33 %'],
  [0.264, '+26.4 %'],
  [-0.264, '−26.4 %'],
  [1.5, '+150 %'],
  [-1, '−100 %'],
  [0, '±0.00 %'],
  [-0.00001, '±0.00 %'],
  [-0.0001, '−0.01 %'],
] as const)('a change of %d is %s', ([ratio, text]) => {
  expect(formatChange(ratio)).toBe(text);
});

test('an interval is two changes in percent', () => {
  expect(formatInterval(0.0679, 0.0986)).toBe('+6.79 … +9.86');
  expect(formatInterval(-0.112, 0.00001)).toBe('−11.2 … ±0.00');
});

test.for([
  [0.02, '2 %'],
  [0.005, '0.5 %'],
  [0.995, '99.5 %'],
  [0.07, '7 %'],
] as const)('a share of %d is %s', ([ratio, text]) => {
  expect(formatPercent(ratio)).toBe(text);
});

test.for([
  [0, '0 s'],
  [41.4, '41 s'],
  [59.6, '1 min 0 s'],
  [125, '2 min 5 s'],
] as const)('%d seconds are %s', ([seconds, text]) => {
  expect(formatDuration(seconds)).toBe(text);
});

test('thousands are grouped', () => {
  expect(grouped(65536)).toBe('65,536');
});

test.for([
  [3.14, '+3.1'],
  [-0.84, '−0.8'],
  [-0.04, '±0.0'],
] as const)('a difference of %d is %s', ([difference, text]) => {
  expect(formatDifference(difference)).toBe(text);
});

test('a share beside another is in percent', () => {
  expect(formatShare(0.0934)).toBe('9.3');
});

test('the anchor of a flamegraph consists of its cell and its kind', () => {
  const cell = { scenario: 'forwarding', family: 'inet4', frameBytes: 1518 } as const;
  expect(flamegraphAnchor(cell, 'base')).toBe('flamegraph-forwarding-inet4-1518-B-base');
});

test.for([
  [-0.5591, 0.0024, '55.9 ± 0.2 %'],
  [0.083, 0.0004, '8.30 ± 0.04 %'],
  [-0.25, 0.04, '25 ± 4 %'],
  [-0.25, 0.4, '25 ± 40 %'],
  [-0.02, 0.000001, '2.00 ± 0.00 %'],
  [-0.02, 0, '2.0 ± 0.0 %'],
] as const)('a change of %f that may be off by %f is %s', ([ratio, error, text]) => {
  expect(formatSizeAndError(ratio, error)).toBe(text);
});

test('such a change has a sign unless none is shown', () => {
  expect(formatChangeAndError(0.001, 0.003)).toBe('+0.1 ± 0.3 %');
  expect(formatChangeAndError(-0.5591, 0.0024)).toBe('−55.9 ± 0.2 %');
  expect(formatChangeAndError(-0.0001, 0.003)).toBe('0.0 ± 0.3 %');
});

test.for([
  [1, '> 0.999'],
  [0.9991, '> 0.999'],
  [0.987, '0.987'],
  [0.5, '0.500'],
  [0.0001, '< 0.001'],
] as const)('a probability of %f is %s', ([probability, text]) => {
  expect(formatProbability(probability)).toBe(text);
});

test('A count of one is singular, and all others are plural', () => {
  expect([0, 1, 2, 1200].map((count) => counted(count, 'run'))).toEqual(['0 runs', '1 run', '2 runs', '1,200 runs']);
});
