import { expect, test } from 'vitest';
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
const loadless: LinuxSample = { seconds: 0.02, receivedPackets: 16_000, forwardedPackets: 16_000 };

const run = (samples: LinuxSample[], load: Partial<BlockLoad> = {}) =>
  measuredRun(planned, 2, samples, { offeredPps: 3e6, forwardedPps: 750_000, ...load });

const second = (pps: number): LinuxSample => ({
  seconds: 1,
  receivedPackets: pps,
  forwardedPackets: pps,
  busySeconds: 0.95,
});
const steady = Array.from({ length: 20 }, (_, index) => second(800_000 + (index % 3) * 1000));

test('reports forwarded packets per second as the median of samples of any length', () => {
  const samples = [sample(), sample({ forwardedPackets: 100 }), sample({ seconds: 0.04, forwardedPackets: 36_000 })];
  expect(run(samples).pps).toBeCloseTo(800_000);
});

test('leaves the ramp and the tail of ten samples or more out of the median', () => {
  const samples = [second(100_000), second(400_000), ...steady, second(300_000)];
  expect(run(samples)).toMatchObject({ pps: 801_000, samples, validity: { kind: 'valid' } });
});

test('its time per packet is that of packets received, for a dropped packet costs too', () => {
  const samples = [sample({ busySeconds: 0.017, receivedPackets: 10_000, forwardedPackets: 5_000 })];
  expect(run(samples).nsPerPacket).toBeCloseTo(1700);
});

const silent = sample({ forwardedPackets: 0 });
const nothing = sample({ forwardedPackets: 0, receivedPackets: 0 });
const denied = sample({ busySeconds: 0.012, deniedSeconds: 0.007 });
const idle = sample({ busySeconds: 0.012 });
const starved = { waitedRatio: 0.41 };
const drifting = Array.from({ length: 20 }, (_, index) => second(800_000 - index * 5000));
const holed = [...steady.slice(0, 9), second(0), ...steady.slice(9)];

type Run = ReturnType<typeof run>;
const rows: readonly (readonly [name: string, cause: string | undefined, run: Run])[] = [
  ['a DUT that was due, and was denied its CPU', undefined, run([denied, denied])],
  ['a hole', 'hole', run([sample(), silent])],
  ['nothing forwarded from the first sample to the last', undefined, run([silent, silent])],
  ['nothing arrived', 'hole', run([nothing, nothing])],
  ['a DUT that idles a tenth of the time', 'generator-limited', run([sample({ busySeconds: 0.0179 })])],
  ['a DUT that idles hardly less', undefined, run([sample({ busySeconds: 0.0181 })])],
  ['a DUT without a busy time, offered 2 % more', undefined, run([loadless], { offeredPps: 817_000 })],
  ['a DUT without a busy time, offered less', 'generator-limited', run([loadless], { offeredPps: 815_000 })],
  [
    'a run that outruns the mean of its trial',
    'generator-limited',
    run([idle], { offeredPps: 223_400, forwardedPps: 221_200 }),
  ],
  ['an idle DUT behind a sender that waited', 'machine-busy', run([idle], starved)],
  ['a DUT without a busy time behind one', 'machine-busy', run([loadless], { ...starved, offeredPps: 800_000 })],
  ['a hole behind a sender that waited', 'machine-busy', run([sample(), nothing], starved)],
  ['nothing from a sender that waited', 'machine-busy', run([nothing, nothing], starved)],
  ['a busy DUT behind a sender that waited', undefined, run([sample()], starved)],
  ['a DUT that lost all behind a sender that waited', undefined, run([silent], starved)],
  [
    'a hole of a DUT whose CPU others had',
    'machine-busy',
    run([sample(), sample({ forwardedPackets: 0, busySeconds: 0, deniedSeconds: 0.012 })]),
  ],
  ['a rate without a level', 'unsteady', run(drifting)],
  ['a rate without a level from a sender that waited', 'machine-busy', run(drifting, starved)],
  ['a hole within the steady stretch', 'hole', run(holed)],
];

test.each(rows)('%s: %s', (_, cause, { validity }) => {
  expect(validity).toMatchObject(cause === undefined ? { kind: 'valid' } : { kind: 'invalid', cause });
});

test('each invalid run has its reason', async () => {
  const reasons = rows.map(([name, , { validity }]) =>
    validity.kind === 'valid' ? '' : `${name}: ${validity.reason}\n`,
  );
  await expect(reasons.join('')).toMatchFileSnapshot('golden/validity.txt');
});

test('takes the time per packet from a run that was denied its CPU', () => {
  expect(run([denied]).nsPerPacket).toBeCloseTo(706, 0);
  expect(run([silent, silent]).pps).toBe(0);
});
