// Tests `ppsgate testbeds log`: past reservations with their outcomes.
import { expect, test } from 'vitest';
import { putLogged } from '../../../src/gate/reserve/records.ts';
import { giveBack } from '../../../src/gate/reserve/reservation.ts';
import { aPlace, linuxOf, type Place } from '../../fakes/place.ts';

const two = () => aPlace({ hp: linuxOf('hp'), rack: linuxOf('rack') });

const holder = { who: 'alice@lab1', purpose: 'gate', patch: 'main..fast' };

async function withPast({ store }: Place): Promise<void> {
  const past = [
    {
      id: '2026-03-01T09:00:00.000Z-1',
      testbed: 'hp',
      waitingSince: '2026-03-01T09:00:00.000Z',
      since: '2026-03-01T09:25:00.000Z',
      until: '2026-03-01T10:06:00.000Z',
      outcome: 'no-regression',
    },
    {
      id: '2026-03-01T09:30:00.000Z-1',
      testbed: '',
      waitingSince: '2026-03-01T09:30:00.000Z',
      until: '2026-03-01T09:31:00.000Z',
      outcome: 'its place in the queue went to main..faster',
    },
  ];
  const put = past.map((one) => putLogged({ ...one, holder, priority: 'patch' }));
  await store.commit({ conditions: [], put, remove: [] });
}

test('prints what was reserved, the newest last, with how long it was waited for and held', async () => {
  const place = await two();
  await withPast(place);
  const ended = await place.take('rack', { who: 'bob@lab2' });
  await giveBack(place.store, ended, { outcome: 'regression', isClean: true }, new Date());
  await place.take('hp', { who: 'carol@lab2', since: new Date(Date.now() - 5 * 60_000) });
  const { status, stdout } = await place.ppsgate('testbeds', 'log');
  expect(status).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split(/ {2,}/)).slice(0, 3)).toEqual([
    ['WHEN', 'TESTBED', 'WHO', 'FOR', 'WAITED', 'HELD', 'OUTCOME'],
    ['2026-03-01 09:25', 'hp', holder.who, 'gate of main..fast', '25 min', '41 min', 'no-regression'],
    [
      '2026-03-01 09:30',
      '–',
      holder.who,
      'gate of main..fast',
      '1 min',
      '–',
      'its place in the queue went to main..faster',
    ],
  ]);
  expect(rows.slice(3).join('\n')).toMatch(/carol@lab2 .* 5 min +holds it now\n.*bob@lab2 .* regression$/);
});

test('is of one testbed alone where it is named, as a table and as JSON', async () => {
  const place = await two();
  await withPast(place);
  await place.take('rack');
  expect((await place.ppsgate('testbeds', 'log', 'rack')).stdout.split('\n')).toHaveLength(3);
  const { stdout } = await place.ppsgate('testbeds', 'log', 'hp', '--json');
  expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ testbed: 'hp', holder, outcome: 'no-regression' })]);
});
