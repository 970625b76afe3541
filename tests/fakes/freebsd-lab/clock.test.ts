import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { virtualClock } from './clock.ts';

test('wakes sleepers in the order of their times', async () => {
  const clock = virtualClock(0);
  const woken: number[] = [];
  const sleep = async (seconds: number) => {
    await clock.sleep(seconds);
    woken.push(clock.now());
  };
  await Promise.all([sleep(180), sleep(2), sleep(60)]);
  expect(woken).toEqual([2, 60, 180]);
});

test('scheduled events happen on the way, but do not make time run', async () => {
  const clock = virtualClock(0);
  const times: number[] = [];
  clock.after(3, () => times.push(clock.now()));
  await delay(20);
  expect(clock.now()).toBe(0);
  await clock.sleep(5);
  expect(times).toEqual([3]);
  expect(clock.now()).toBe(5);
});

test('time stands still while it is held', async () => {
  const clock = virtualClock(0);
  const release = clock.hold();
  const sleeping = clock.sleep(1);
  await delay(20);
  expect(clock.now()).toBe(0);
  release();
  await sleeping;
  expect(clock.now()).toBe(1);
});

test('a sleeper that is called wakes at once', async () => {
  const clock = virtualClock(0);
  const call = new AbortController();
  const sleeping = clock.sleep(3600, { signal: call.signal });
  call.abort();
  await sleeping;
  expect(clock.now()).toBe(0);
});
