// Tests `ppsgate testbeds`: holders, expected ends, and the queue.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { changedLines, overviewText } from '../../../src/cli/lab/overview-text.ts';
import { setQuarantine } from '../../../src/gate/reserve/reservation.ts';
import type { TestbedsOverview } from '../../../src/gate/reserve/testbeds-overview.ts';
import { aPlace, linuxOf } from '../../fakes/place.ts';

const names = ['hp', 'netgate', 'shelf', 'rack', 'attic'];
const all = () => aPlace(Object.fromEntries(names.map((name) => [name, linuxOf(name)])));

/** A testbed in each state, and a queue of two. */
async function aLabInUse() {
  const place = await all();
  const { store, take, wait } = place;
  const taken = await take('hp', { patch: 'main..fast' });
  const broken = { reason: 'port 1 loses its link.', by: 'carol@lab2', since: longAgo };
  await setQuarantine(store, 'netgate', broken);
  const left = await take('shelf', { who: 'dan@lab3', purpose: 'by hand' });
  await store.endSession(left.session);
  await take('attic', { who: 'eve@lab1' });
  await setQuarantine(store, 'attic', broken);
  await wait(['hp', 'netgate'], { who: 'bob@lab2', patch: 'main..slow' });
  await wait(['hp'], { who: 'ci', priority: 'release' });
  return { ...place, taken };
}

const longAgo = '2026-03-01T10:00:00.000Z';

test('shows for each testbed whether it is free, held, in quarantine or left behind, and the queue', async () => {
  const { ppsgate, taken } = await aLabInUse();
  const { status, stdout } = await ppsgate('testbeds', '--json');
  expect(status).toBe(0);
  const { testbeds, queue }: TestbedsOverview = JSON.parse(stdout);
  const expectedUntil = new Date(Date.parse(taken.since) + 30 * 60_000).toISOString();
  expect(testbeds).toMatchObject([
    // Its duration is unknown yet.
    { name: 'hp', state: 'held', held: { who: 'alice@lab1', token: taken.token, since: taken.since, expectedUntil } },
    { name: 'netgate', state: 'quarantine', quarantine: { by: 'carol@lab2', since: longAgo } },
    { name: 'shelf', state: 'left-behind', leftBy: [{ who: 'dan@lab3', purpose: 'by hand', testbed: 'shelf' }] },
    { name: 'rack', kind: 'linux', state: 'free' },
    { name: 'attic', state: 'held', held: { who: 'eve@lab1' }, quarantine: { by: 'carol@lab2' } },
  ]);
  expect(queue).toMatchObject([
    { place: 1, of: 2, who: 'ci', priority: 'release', wants: ['hp'] },
    { place: 2, of: 2, who: 'bob@lab2', patch: 'main..slow', wants: ['hp', 'netgate'] },
  ]);
  const [first = 0, second = 0] = queue.map(({ expectedSeconds }) => expectedSeconds);
  expect(first).toBeGreaterThan(29 * 60);
  expect(second).toBe(first + 30 * 60);
  const shown = overviewText(onOneDay({ at: local('14:00'), testbeds, queue }), false);
  await expect(shown).toMatchFileSnapshot('golden/overview.txt');
});

/** Shows the lab as at 14:00, because midnight would change the table. */
function onOneDay({ testbeds, queue }: TestbedsOverview): TestbedsOverview {
  const since = local('13:45');
  return {
    at: local('14:00'),
    testbeds: testbeds.map(({ held, leftBy, quarantine, ...rest }) => ({
      ...rest,
      ...(held && { held: { ...held, since, expectedUntil: local('14:15') } }),
      ...(leftBy && { leftBy: leftBy.map((left) => ({ ...left, since })) }),
      ...(quarantine && { quarantine: { ...quarantine, since: local('10:00', '2026-03-01') } }),
    })),
    queue: queue.map((waiting) => ({ ...waiting, since })),
  };
}

const local = (time: string, day = '2026-11-20') => new Date(`${day}T${time}:00`).toISOString();

test('a testbed that shares a machine with one that is held is held, too', async () => {
  const { ppsgate, take } = await aPlace({ hp: linuxOf('hp'), twin: linuxOf('hp') });
  await take('hp');
  const { testbeds }: TestbedsOverview = JSON.parse((await ppsgate('testbeds', '--json')).stdout);
  expect(testbeds).toMatchObject([{ state: 'held' }, { state: 'held', held: { testbed: 'hp' } }]);
  expect((await ppsgate('testbeds')).stdout).toContain('\n    as hp, which shares a machine with it\n');
});

const held: TestbedsOverview = {
  at: '2026-11-20T14:00:00.000Z',
  testbeds: [
    {
      name: 'hp',
      kind: 'linux',
      state: 'held',
      held: {
        ...{ who: 'alice\x1b[2J\n::error::', purpose: 'gate', testbed: 'hp', priority: 'patch', token: 1 },
        ...{ since: '2026-11-20T13:00:00.000Z', expectedUntil: '2026-11-20T13:30:00.000Z' },
      },
    },
    { name: 'rack', kind: 'linux', state: 'free' },
  ],
  queue: [],
};

test('states have colours on a terminal, and what others wrote stays on its line', () => {
  const text = overviewText(held, true);
  expect(text).toContain('\x1b[33mheld \x1b[0m  alice [2J ::error::  gate');
  expect(text).toContain('longer than usual');
  expect(text.split('\n')).toHaveLength(5);
  expect(overviewText(held, false)).not.toContain('\x1b');
});

test('only a change is printed again, and passed time is no change', () => {
  const lines = (before: TestbedsOverview | undefined, after: TestbedsOverview) =>
    changedLines(before, after).map((line) => line.replace(/^\S+ \S+ /, ''));
  expect(lines(undefined, held)).toEqual([
    'hp: held by alice [2J ::error:: (gate)',
    'rack: free',
    'the queue is empty',
  ]);
  expect(lines(held, { ...held, at: '2026-11-20T15:00:00.000Z' })).toEqual([]);
  const free: TestbedsOverview = { ...held, testbeds: [{ name: 'hp', kind: 'linux', state: 'free' }] };
  expect(lines(held, free)).toEqual(['hp: free']);
});

test('watches no longer than its output is read', async () => {
  const { folder, take } = await all();
  const cli = join(inject('bundle'), 'cli.js');
  const watch = spawn(process.execPath, [cli, 'testbeds', '--watch', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: folder,
  });
  onTestFinished(() => void watch.kill('SIGKILL'));
  const ended = once(watch, 'close');
  await once(watch.stdout, 'data');
  watch.stdout.destroy();
  await take('hp');
  expect(await ended).toEqual([0, null]);
});
