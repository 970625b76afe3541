import { beforeAll, expect, test } from 'vitest';
import { type LabTime, labTime, sharesOf, verdictsOf } from '../../../bench/lab-time.ts';

const scenarios = [
  ...(['forwarding', 'pf-stateless', 'pf-stateful'] as const),
  ...(['ipfw-stateless', 'ipfw-stateful'] as const),
];
const request = { scenarios, change: -0.1, hasHistory: true, seed: 1 };

let time: LabTime;

beforeAll(async () => {
  time = await labTime(request);
});

test('two pairs show a loss of 10 % in all five cells', () => {
  expect(verdictsOf(time.result)).toEqual(scenarios.map(() => 'regression'));
  expect(time.trials).toHaveLength(2 * 2 * scenarios.length);
});

test('one boot serves all cells of a pair and variant, and one more gives the DUT back', () => {
  expect(time.reboots).toHaveLength(2 * 2 + 1);
});

test('profiles need no boot, and the verdicts stay the same', async () => {
  const profiled = await labTime({ ...request, hasProfiles: true });
  expect(profiled.reboots).toHaveLength(time.reboots.length);
  expect(verdictsOf(profiled.result)).toEqual(verdictsOf(time.result));
  const { outcome } = profiled.result;
  const kinds = outcome.kind === 'judged' ? outcome.cells.flatMap(({ profiles }) => profiles) : [];
  expect(kinds.map(({ kind }) => kind)).toEqual(Array(2 * scenarios.length).fill('profiled'));
});

test('the controller adds less than 3 % to the time of reboots and traffic, at 50 ms a command', () => {
  expect(sharesOf(time).overhead).toBeLessThan(0.03);
});

test('links settle once a boot, and half of the trials take 15 s at most', () => {
  const { boots, settlingSeconds } = sharesOf(time);
  expect(settlingSeconds / boots).toBeGreaterThan(3.5);
  expect(settlingSeconds / boots).toBeLessThan(4.5);
  const seconds = time.trials.map(({ from, to }) => to - from).toSorted((a, b) => a - b);
  expect(seconds[Math.floor(seconds.length / 2)]).toBeLessThanOrEqual(15);
});

test('no command reaches the DUT while packets flow', () => {
  expect(time.floods).toHaveLength(time.trials.length);
  const disturbed = time.floods.filter(({ from, to }) => time.dutCommands.some((at) => at >= from && at < to));
  expect(disturbed).toEqual([]);
});

test('a receiver that died costs one trial, and one boot at most', async () => {
  const fault = { kind: 'receiver-crash', at: 2 } as const;
  const { trials, reboots } = await labTime({
    ...request,
    scenarios: ['forwarding'],
    faults: [fault],
  });
  expect(trials).toHaveLength(4 + 1);
  expect(reboots.length).toBeLessThanOrEqual(4 + 1 + 1);
});
