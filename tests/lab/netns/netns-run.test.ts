import { describe, expect, test } from 'vitest';
import type { LinuxSample } from '../../../src/lab/linux/linux-script.ts';
import { type BlockLoad, measuredRun } from '../../../src/lab/netns/netns-run.ts';

const planned = { number: 5, variant: 'patched', pair: 3 };

const sample = (changes: Partial<LinuxSample> = {}): LinuxSample => ({
  seconds: 0.02,
  receivedPackets: 17_000,
  forwardedPackets: 16_000,
  busySeconds: 0.019,
  ...changes,
});

/** Without a busy time. */
const withoutBusyTime = (forwardedPackets: number): LinuxSample => ({
  seconds: 0.02,
  receivedPackets: forwardedPackets,
  forwardedPackets,
});

const run = (samples: LinuxSample[], load: Partial<BlockLoad> = {}) =>
  measuredRun(planned, 2, samples, { offeredPps: 3e6, forwardedPps: 750_000, ...load });

test('reports forwarded packets per second as the median of samples of any length', () => {
  const samples = [
    sample({ forwardedPackets: 16_000 }),
    sample({ forwardedPackets: 100 }),
    sample({ seconds: 0.04, forwardedPackets: 36_000 }),
  ];
  expect(run(samples).pps).toBeCloseTo(800_000);
});

test('its time per packet is that of packets received, for a dropped packet costs too', () => {
  const samples = [sample({ busySeconds: 0.017, receivedPackets: 10_000, forwardedPackets: 5_000 })];
  expect(run(samples).nsPerPacket).toBeCloseTo(1700);
});

test('a run whose DUT was due, and was denied its CPU, counts: the generator was not its limit', () => {
  const denied = sample({ busySeconds: 0.012, deniedSeconds: 0.007 });
  expect(run([denied, denied]).validity).toEqual({ kind: 'valid' });
  expect(run([denied]).nsPerPacket).toBeCloseTo(706, 0);
});

test('a run with a hole does not count', () => {
  expect(run([sample(), sample({ forwardedPackets: 0 })]).validity).toEqual({
    kind: 'invalid',
    cause: 'hole',
    reason: 'no packet was forwarded for 20 ms',
  });
});

test('a run that forwards nothing from its first sample to its last is a number: 0', () => {
  const silent = sample({ forwardedPackets: 0 });
  expect(run([silent, silent])).toMatchObject({ pps: 0, validity: { kind: 'valid' } });
});

test('a run in which nothing arrived does not count: the generator was kept from sending', () => {
  const silent = sample({ forwardedPackets: 0, receivedPackets: 0 });
  expect(run([silent, silent]).validity).toEqual({
    kind: 'invalid',
    cause: 'hole',
    reason: 'no packet arrived for 40 ms',
  });
});

test('a DUT that idles a tenth of the time was not the limit', () => {
  const [idle, busy] = [sample({ busySeconds: 0.0179 }), sample({ busySeconds: 0.0181 })];
  expect(run([idle]).validity).toEqual({
    kind: 'invalid',
    cause: 'generator-limited',
    reason:
      'generator-limited: 800.0 kpps came through in this run, 750.0 kpps of 3.000 Mpps offered (25 %) in its whole trial, and the DUT was busy for 89.5 % of the time',
  });
  expect(run([busy]).validity).toEqual({ kind: 'valid' });
});

test('a DUT that does not report its load was the limit if it was offered 2 % more', () => {
  const samples = [withoutBusyTime(16_000)];
  expect(run(samples, { offeredPps: 817_000 }).validity).toEqual({ kind: 'valid' });
  expect(run(samples, { offeredPps: 815_000 }).validity.kind).toBe('invalid');
});

test('a run that outruns the mean of its trial is no share of it', () => {
  const idle = sample({ busySeconds: 0.012 });
  const { validity } = run([idle], { offeredPps: 223_400, forwardedPps: 221_200 });
  expect(validity).toMatchObject({
    reason: expect.stringContaining('221.2 kpps of 223.4 kpps offered (99 %) in its whole trial'),
  });
});

describe('with a sender that waited for its CPU', () => {
  const starved = { waitedRatio: 0.41 };
  const busy = {
    kind: 'invalid',
    cause: 'machine-busy',
    reason:
      'machine too busy: the sender waited for a CPU 41 % of the time; stop other programs on its machine, or wait until they end',
  };

  test('a DUT that had time to spare proves nothing, and the machine is to blame', () => {
    expect(run([sample({ busySeconds: 0.012 })], starved).validity).toEqual(busy);
    expect(run([withoutBusyTime(16_000)], { ...starved, offeredPps: 800_000 }).validity).toEqual(busy);
  });

  test('a hole, and a rate that is not steady, are the machine’s too', () => {
    const silent = sample({ forwardedPackets: 0, receivedPackets: 0 });
    expect(run([sample(), silent], starved).validity).toEqual(busy);
    expect(run([silent, silent], starved).validity).toEqual(busy);
    const drifting = Array.from({ length: 20 }, (_, index) => sample({ seconds: 1 + index / 10 }));
    expect(run(drifting).validity).toMatchObject({ cause: 'unsteady' });
    expect(run(drifting, starved).validity).toEqual(busy);
  });

  test('a run whose DUT was busy all the same counts, and so does one that lost all', () => {
    expect(run([sample()], starved).validity).toEqual({ kind: 'valid' });
    expect(run([sample({ forwardedPackets: 0 })], starved).validity).toEqual({ kind: 'valid' });
  });
});

test('a hole is the machine’s where the DUT was due and others had its CPU', () => {
  const denied = sample({ forwardedPackets: 0, busySeconds: 0, deniedSeconds: 0.012 });
  expect(run([sample(), denied]).validity).toMatchObject({
    cause: 'machine-busy',
    reason: expect.stringMatching(/^machine too busy: the DUT waited for a CPU 30 % of the time;/),
  });
});

describe('with ten samples or more', () => {
  const second = (pps: number) => ({
    seconds: 1,
    receivedPackets: pps,
    forwardedPackets: pps,
    busySeconds: 0.95,
  });
  const steady = Array.from({ length: 20 }, (_, index) => second(800_000 + (index % 3) * 1000));

  test('the ramp and the tail are found, and left out of the median', () => {
    const samples = [second(100_000), second(400_000), ...steady, second(300_000)];
    expect(run(samples)).toMatchObject({ pps: 801_000, samples, validity: { kind: 'valid' } });
  });

  test('one that has no level does not count', () => {
    const drifting = steady.map((_, index) => second(800_000 - index * 5000));
    expect(run(drifting).validity).toMatchObject({
      cause: 'unsteady',
      reason: expect.stringMatching(/^no steady rate: it drifts from /),
    });
  });

  test('one with a hole within its steady stretch does not count', () => {
    const holed = [...steady.slice(0, 9), second(0), ...steady.slice(9)];
    expect(run(holed).validity).toMatchObject({
      cause: 'hole',
      reason: 'no packet was forwarded for 1000 ms',
    });
  });
});
