import { expect, test } from 'vitest';
import type { Sample } from '../../src/dut/linux-script.ts';
import { measuredRun } from '../../src/testbed/run.ts';

const planned = { number: 5, variant: 'patched', pair: 3 };

const sample = (changes: Partial<Sample> = {}): Sample => ({
  seconds: 0.02,
  receivedPackets: 17_000,
  forwardedPackets: 16_000,
  busySeconds: 0.019,
  ...changes,
});

/** On a DUT that does not tell how busy it is. */
const untold = (forwardedPackets: number): Sample => ({
  seconds: 0.02,
  receivedPackets: forwardedPackets,
  forwardedPackets,
});

const run = (samples: Sample[], offeredPps = 3e6) => measuredRun(planned, 2, samples, offeredPps);

test('a run keeps its place in the plan and its samples', () => {
  const samples = [sample(), sample()];
  expect(run(samples)).toMatchObject({ ...planned, blast: 2, samples });
});

test('its packets per second are those forwarded, the median of the samples, whatever their lengths', () => {
  const samples = [
    sample({ forwardedPackets: 16_000 }),
    sample({ forwardedPackets: 100 }),
    sample({ seconds: 0.04, forwardedPackets: 36_000 }),
  ];
  expect(run(samples).pps).toBeCloseTo(800_000);
});

test('its time per packet is that of packets received, for a dropped packet costs too', () => {
  const samples = [
    sample({ busySeconds: 0.017, receivedPackets: 10_000, forwardedPackets: 5_000 }),
  ];
  expect(run(samples).nsPerPacket).toBeCloseTo(1700);
});

test('there is no time per packet where one sample lacks it', () => {
  expect(run([sample(), untold(16_000)])).not.toHaveProperty('nsPerPacket');
});

test('a run whose DUT was busy counts', () => {
  expect(run([sample(), sample()]).validity).toEqual({ kind: 'valid' });
});

test('a run with a hole does not count', () => {
  expect(run([sample(), sample({ forwardedPackets: 0 })]).validity).toEqual({
    kind: 'invalid',
    reason: 'no packet was forwarded for 20 ms',
  });
});

test('a run that forwards nothing from its first sample to its last is a number: 0', () => {
  const silent = sample({ forwardedPackets: 0 });
  expect(run([silent, silent])).toMatchObject({ pps: 0, validity: { kind: 'valid' } });
});

test('a run without samples does not count', () => {
  expect(run([])).toMatchObject({
    pps: 0,
    validity: { kind: 'invalid', reason: 'no sample was taken' },
  });
});

test('a DUT that idles a tenth of the time was not the limit', () => {
  const [idle, busy] = [sample({ busySeconds: 0.0179 }), sample({ busySeconds: 0.0181 })];
  expect(run([idle]).validity).toEqual({
    kind: 'invalid',
    reason: 'generator-limited: the DUT had time to spare',
  });
  expect(run([busy]).validity).toEqual({ kind: 'valid' });
});

test('a DUT that does not tell how busy it is was the limit where it was offered 2 % more', () => {
  const samples = [untold(16_000)];
  expect(run(samples, 817_000).validity).toEqual({ kind: 'valid' });
  expect(run(samples, 815_000).validity.kind).toBe('invalid');
});
