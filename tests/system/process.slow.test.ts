// Processes that are identified by their number and their start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRunning, signalGroup, startOf } from '../../src/system/process.ts';
import { stateOf } from '../fakes/running.ts';

/** In a group of its own. */
async function sleeper(): Promise<{ pid: number; ended: Promise<unknown> }> {
  const child = spawn('sleep', ['600'], { detached: true });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child, 'spawn');
  return { pid: child.pid ?? 0, ended };
}

describe.each<NodeJS.Platform>(['linux', 'freebsd'])('on %s', (platform) => {
  test('a process started when it did, however often one asks', async () => {
    const { pid } = await sleeper();
    const started = await startOf(pid, platform);
    expect(started).toMatch(/\d/);
    expect(await startOf(pid, platform)).toBe(started);
  });

  test('one that has ended did not start', async () => {
    const { pid, ended } = await sleeper();
    process.kill(pid);
    await ended;
    expect(await startOf(pid, platform)).toBeUndefined();
  });

  test('one that has ended did not start, though its parent has not asked how', async () => {
    const program = 'sleep 600 & echo $!; wait';
    const parent = spawn('sh', ['-c', program], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    parent.kill('SIGSTOP');
    await expect.poll(() => stateOf(parent.pid ?? 0)).toMatch(/^T/);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => startOf(pid, platform)).toBeUndefined();
    expect(stateOf(pid)).toMatch(/^Z/);
  });
});

test('distinguishes processes that started one after the other', async () => {
  const { pid } = await sleeper();
  expect(await startOf(pid)).not.toBe(await startOf(process.pid));
});

test('a process with the same number that started at another time is another one', async () => {
  const { pid } = await sleeper();
  const started = (await startOf(pid)) ?? '';
  expect(await isRunning({ pid, started })).toBe(true);
  expect(await isRunning({ pid, started: `${started}1` })).toBe(false);
});

test('a signal reaches only the group of that process', async () => {
  const { pid, ended } = await sleeper();
  const started = (await startOf(pid)) ?? '';
  expect(await signalGroup({ pid, started: 'long ago' }, 'SIGTERM')).toBe(false);
  expect(await isRunning({ pid, started })).toBe(true);
  expect(await signalGroup({ pid, started }, 'SIGTERM')).toBe(true);
  await ended;
  expect(await signalGroup({ pid, started }, 'SIGTERM')).toBe(false);
});
