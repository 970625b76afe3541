import { expect, test } from 'vitest';
import {
  estimateStart,
  estimateWaits,
  healthPurpose,
  readUsualSeconds,
  usualSecondsOf,
} from '../../../src/gate/estimate/queue.ts';
import { type LoggedReservation, putLogged, readLab } from '../../../src/gate/reserve/records.ts';
import { setQuarantine } from '../../../src/gate/reserve/reservation.ts';
import { aLab, aRequest, claim, type ReservationLab } from '../../fakes/reservation-lab.ts';

const minute = 60;

test('reports the place in the queue for the same machines, and the expected wait', async () => {
  const lab = await aLab();
  await queue(lab, { alice: 'x', zoe: 'z', bob: 'x', carol: 'y', dave: 'z', erin: 'x' });
  await lab.elapse(10 * minute);
  expect(await estimates(lab)).toEqual({
    bob: { place: 1, of: 3, expectedSeconds: 20 * minute },
    // y shares a machine with x.
    carol: { place: 2, of: 3, expectedSeconds: 50 * minute },
    dave: { place: 1, of: 1, expectedSeconds: 20 * minute },
    erin: { place: 3, of: 3, expectedSeconds: 80 * minute },
  });
});

test('reports the testbed and the start for a new gate', async () => {
  const lab = await aLab();
  await queue(lab, { alice: 'x', bob: 'x' });
  const start = async (...names: string[]) =>
    estimateStart(await readLab(lab.onlooker), aRequest('carol', names), halfAnHour, lab.date());
  expect(await start('x')).toEqual({ testbed: 'x', afterSeconds: 60 * minute });
  expect(await start('x', 'z')).toEqual({ testbed: 'z', afterSeconds: 0 });
  await setQuarantine(lab.onlooker, 'z', {
    reason: 'no link',
    by: 'eve',
    since: lab.date().toISOString(),
  });
  expect(await start('z')).toBeUndefined();
});

test('a holder that has been there for longer than usual is given another minute', async () => {
  const lab = await aLab();
  await queue(lab, { alice: 'x', bob: 'x' });
  await lab.elapse(31 * minute);
  expect(await estimates(lab)).toEqual({ bob: { place: 1, of: 1, expectedSeconds: minute } });
});

test('a holder whose clock is ahead stays for no longer than usual', async () => {
  const lab = await aLab();
  lab.jump(1e6);
  await queue(lab, { alice: 'x', bob: 'x' });
  lab.jump(-1e6);
  expect(await estimates(lab)).toEqual({ bob: { place: 1, of: 1, expectedSeconds: 30 * minute } });
});

test('reports no time if all suitable testbeds are in quarantine', async () => {
  const lab = await aLab();
  await queue(lab, { alice: 'x', bob: 'x' });
  const broken = { reason: 'no link', by: 'eve', since: lab.date().toISOString() };
  await setQuarantine(lab.onlooker, 'x', broken);
  expect(await estimates(lab)).toEqual({ bob: { place: 1, of: 1 } });
});

test('a testbed is held as long as it usually was, by the last twenty', () => {
  const early = Array.from({ length: 30 }, () => logged('x', 1000));
  const late = Array.from({ length: 20 }, (_, index) => logged('x', index));
  const usual = usualSecondsOf([...early, logged('y', 7), ...late]);
  expect(usual('x')).toBe(9.5);
  expect(usual('y')).toBe(7);
});

test('estimates a testbed without history like the others', () => {
  expect(usualSecondsOf([logged('x', 10), logged('y', 20), logged('y', 60)])('z')).toBe(20);
  expect(usualSecondsOf([])('z')).toBe(30 * minute);
});

test('leases without a usual duration do not count', () => {
  const [one] = [logged('x', 10)];
  const { since: _, ...superseded } = logged('x', 999);
  const { until: __, ...held } = logged('x', 999);
  const look = { ...logged('x', 999), holder: { who: 'alice', purpose: healthPurpose } };
  // When the loss was found differs from when it happened.
  const lost = { ...logged('x', 999), outcome: 'it was not renewed in time' };
  expect(usualSecondsOf([one, superseded, held, look, lost])('x')).toBe(10);
});

test.each(['not used: no route to host', 'ended: The connection to the DUT was lost.'])(
  'a failure of one testbed does not affect the estimate of any: %s',
  (outcome) => {
    const usual = usualSecondsOf([{ ...logged('x', 2), outcome }, logged('y', 600)]);
    expect([usual('x'), usual('y'), usual('z')]).toEqual([600, 600, 600]);
    expect(usualSecondsOf([{ ...logged('x', 2), outcome }])('z')).toBe(30 * minute);
  },
);

test('is read from what was logged this month and the last one', async () => {
  const lab = await aLab();
  const put = [
    logged('x', 1, '2025-12-31T23:00:00.000Z-3'),
    logged('x', 5, '2026-01-01T01:00:00.000Z-2'),
    logged('x', 7, '2026-02-02T01:00:00.000Z-1'),
  ].map(putLogged);
  await lab.onlooker.commit({ conditions: [], put, remove: [] });
  const usualIn = async (day: string) => (await readUsualSeconds(lab.onlooker, new Date(day)))('x');
  expect(await usualIn('2026-02-20T00:00:00Z')).toBe(6);
  expect(await usualIn('2026-01-20T00:00:00Z')).toBe(3);
  expect(await usualIn('2026-03-20T00:00:00Z')).toBe(7);
});

const halfAnHour = () => 30 * minute;

/** Each requests after the previous one holds the testbed, or waits. */
async function queue(lab: ReservationLab, asks: Record<string, string>): Promise<void> {
  for (const [who, testbed] of Object.entries(asks)) {
    claim(await lab.start(who), aRequest(who, [testbed]));
    await lab.settle();
  }
}

async function estimates(lab: ReservationLab) {
  const seen = await readLab(lab.onlooker);
  const waits = estimateWaits(seen, halfAnHour, lab.date());
  return Object.fromEntries(seen.tickets.map(({ id, holder }) => [holder.who, waits.get(id)]));
}

const logged = (testbed: string, seconds: number, id = 'id'): LoggedReservation => ({
  id,
  testbed,
  holder: { who: 'alice', purpose: 'gate' },
  priority: 'patch',
  waitingSince: '2026-11-20T12:00:00.000Z',
  since: '2026-11-20T12:00:00.000Z',
  until: new Date(Date.UTC(2026, 10, 20, 12, 0, seconds)).toISOString(),
  outcome: 'pass',
});
