// Processes that are identified by their number and their start.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRunning, openProcessView, type ProcessMark, signalGroup, startOf } from '../../src/system/process.ts';
import { stateOf } from '../fakes/running.ts';
import { describeWith } from '../needs.ts';

/** Starts it in its own group. */
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
  test('a process has a constant start time', async () => {
    const { pid } = await sleeper();
    const started = await startOf(pid, platform);
    expect(started).toMatch(/\d/);
    expect(await startOf(pid, platform)).toBe(started);
  });

  test('an ended process has no start time, though its parent has not waited for it', async () => {
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

describeWith(['unshare'], 'the end of a process is certain', () => {
  test('once it has ended, and not while it is stopped', async () => {
    const { pid, ended } = await sleeper();
    const { mark, hasEnded } = await viewOf(pid);
    expect(await hasEnded(mark)).toBe(false);
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => stateOf(pid)).toMatch(/^T/);
    expect(await hasEnded(mark)).toBe(false);
    process.kill(pid, 'SIGKILL');
    await ended;
    expect(await hasEnded(mark)).toBe(true);
  });

  test('if another process has its number', async () => {
    const { pid } = await sleeper();
    const { mark, hasEnded } = await viewOf(pid);
    expect(await hasEnded({ ...mark, ticks: '1' })).toBe(true);
  });

  test('of no process of another boot', async () => {
    const { pid } = await sleeper();
    const { mark, hasEnded } = await viewOf(pid);
    expect(await hasEnded({ ...mark, pid: 2 ** 31 - 1, view: `0${mark.view}` })).toBe(false);
  });
});

describeWith(['root', 'unshare'], 'the end of a process in another container', () => {
  const programOf = (options: string[]) => {
    const path = new URL('../../src/system/process.ts', import.meta.url).href;
    const program = `const { openProcessView } = await import('${path}');
      console.log(JSON.stringify((await openProcessView())?.own ?? null));`;
    const run = spawnSync('unshare', [...options, process.execPath, '-e', program]);
    return JSON.parse(run.stdout.toString());
  };

  test('is never certain: its number is of that container', async () => {
    const mark: ProcessMark = programOf(['--pid', '--fork', '--mount-proc']);
    expect(mark.pid).toBe(1);
    const view = await openProcessView();
    expect(mark.view).not.toBe(view?.own.view);
    expect(await view?.hasEnded({ ...mark, pid: 2 ** 31 - 1 })).toBe(false);
  });

  test('is not looked for with the /proc of another one', () => {
    expect(programOf(['--pid', '--fork'])).toBeNull();
  });
});

/** Marks a process of that id as it would have marked itself. */
async function viewOf(pid: number) {
  const view = await openProcessView();
  if (view === undefined) throw new Error('This machine has no view of its processes.');
  const [ticks = ''] = ((await startOf(pid)) ?? '').split(' ');
  return { hasEnded: view.hasEnded, mark: { ...view.own, pid, ticks } };
}
