import { beforeAll, expect, test } from 'vitest';
import { type LabTime, labTime, sharesOf } from '../../../bench/lab-time.ts';

const scenarios = [
  ...(['forwarding', 'pf-stateless', 'pf-stateful'] as const),
  ...(['ipfw-stateless', 'ipfw-stateful'] as const),
];
const request = { scenarios, change: -0.1, hasHistory: true, seed: 1 };

let time: LabTime;

beforeAll(async () => {
  time = await labTime(request);
});

test('one boot serves all cells of a pair and variant, and one more gives the DUT back', () => {
  expect(time.reboots).toHaveLength(2 * 2 + 1);
});

test('the controller adds less than 3 % to the time of reboots and traffic, at 50 ms a command', () => {
  expect(sharesOf(time).overhead).toBeLessThan(0.03);
});

test('no command reaches the DUT while packets flow', () => {
  expect(time.floods).toHaveLength(time.trials.length);
  const disturbed = time.floods.filter(({ from, to }) => time.dutCommands.some((at) => at >= from && at < to));
  expect(disturbed).toEqual([]);
});
