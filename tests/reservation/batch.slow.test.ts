import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { type Aboard, type Passenger, takeAboard } from '../../src/reservation/batch.ts';
import type { Lease } from '../../src/reservation/lease.ts';
import { readLog } from '../../src/reservation/records.ts';
import { setQuarantine } from '../../src/reservation/reservation.ts';
import { StoreError } from '../../src/reservation/store.ts';
import { etcdNeeds, startEtcd } from '../fakes/etcd.ts';
import {
  aLab,
  aRequest,
  type Claim,
  claim,
  type Process,
  type ReservationLab,
  realLab,
} from '../fakes/reservation-lab.ts';
import { describeWith } from '../needs.ts';

const clean = { outcome: 'pass', isClean: true };

test('who waits with the same base is taken aboard, gets what is measured for it, and never needs the testbed', async () =>
  rides(await aLab()));

describeWith(etcdNeeds, 'on etcd', () => {
  test('who waits is taken aboard in the same way', async () => {
    await using cluster = await startEtcd();
    // Nobody's lease is to end, however slow the machine.
    const lab = await realLab(cluster.endpoints, `/${randomUUID()}/`, 60);
    onTestFinished(() => lab.close());
    await rides(lab);
  });
});

async function rides(lab: ReservationLab): Promise<void> {
  const alice = await aHolder(lab, 'alice', ['x']);
  const bob = await aPassenger(lab, 'bob', ['x']);
  const taking: Aboard[] = [];
  await until(lab, async () => taking.push(...(await taken(lab, alice, 2))) > 0);
  const [aboard] = taking;
  expect(aboard).toMatchObject({ holder: { who: 'bob' }, text: 'bob lacks 3' });
  await until(lab, () => bob.boarded.length > 0);
  expect(bob.boarded).toEqual(['x by alice']);

  for (const item of ['one', 'two']) await settled(lab, sent(aboard, item));
  expect(bob.received).toEqual(['one', 'two']);
  expect(bob.claim).toEqual({});
  await settled(lab, sent(aboard, 'three'));
  await until(lab, () => bob.claim.isServed === true && aboard?.signal.aborted === true);
  expect(await readLog(lab.onlooker)).toMatchObject([
    { holder: { who: 'alice' } },
    { holder: { who: 'bob' }, testbed: 'x', outcome: "measured together with alice's gate" },
  ]);
}

test('nobody is taken aboard with another base, for another testbed, without an offer, or beyond the room that there is', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  await aPassenger(lab, 'other base', ['x'], { base: 'other' });
  await aHolder(lab, 'zoe', ['z']);
  await aPassenger(lab, 'other testbed', ['z']);
  claim(await lab.start('no offer'), aRequest('no offer', ['x']));
  await aPassenger(lab, 'bob', ['x']);
  await aPassenger(lab, 'carol', ['y', 'x']);
  await aPassenger(lab, 'dave', ['x']);
  expect(whoOf(await taken(lab, alice, 2))).toEqual(['bob', 'carol']);
  expect(whoOf(await taken(lab, alice, 0))).toEqual([]);
  expect(whoOf(await taken(lab, alice, 2))).toEqual(['dave']);
});

test('nobody is taken aboard past somebody of a higher priority', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  await aPassenger(lab, 'bob', ['x']);
  claim(await lab.start('eve'), aRequest('eve', ['x'], { priority: 'release' }));
  await lab.settle();
  expect(whoOf(await taken(lab, alice, 2))).toEqual([]);
});

test.for(['dies', 'gives the testbed back'] as const)(
  'when whoever measures %s, the others get the testbed in their turns, and offer what is still lacking',
  async (how) => {
    const lab = await aLab();
    const alice = await aHolder(lab, 'alice', ['x']);
    const zoe = await aHolder(lab, 'zoe', ['z']);
    const bob = await aPassenger(lab, 'bob', ['x', 'z']);
    const carol = await aPassenger(lab, 'carol', ['x']);
    const [first, second] = await taken(lab, alice, 2);
    await settled(lab, zoe.lease.release(clean));
    // Whoever is not next looks no sooner.
    await lab.elapse(5);
    await settled(lab, sent(first, 'one'));
    await settled(lab, sent(second, 'one'));

    if (how === 'dies') alice.process.kill();
    else await settled(lab, alice.lease.release(clean));
    await lab.elapse(lab.leaseSeconds + 5);
    // What was begun on the one testbed does not go on on another, though that is free.
    const lease = leaseOf(bob.claim);
    expect(lease.testbed).toBe('x');
    const [again] = await taken(lab, { process: bob.process, lease }, 2);
    expect(again).toMatchObject({ holder: { who: 'carol' }, text: 'carol lacks 2' });
    for (const item of ['two', 'three']) await settled(lab, sent(again, item));
    expect(carol.received).toEqual(['one', 'two', 'three']);
    expect(carol.claim).toEqual({ isServed: true });
  },
);

test.for(['is killed', 'is cancelled', 'is superseded'] as const)(
  'one who %s is not measured any more, and the others are',
  async (how) => {
    const lab = await aLab();
    const alice = await aHolder(lab, 'alice', ['x']);
    const bob = await aPassenger(lab, 'bob', ['x'], { subject: 'o/r#12' });
    const carol = await aPassenger(lab, 'carol', ['x']);
    const [first, second] = await taken(lab, alice, 2);
    if (how === 'is killed') bob.process.kill();
    if (how === 'is cancelled') bob.process.cancel(new Error('enough'));
    if (how === 'is superseded') await aPassenger(lab, 'bob again', ['x'], { subject: 'o/r#12' });
    await lab.elapse(lab.leaseSeconds + 5);

    expect(first?.signal.aborted).toBe(true);
    await expect(settled(lab, sent(first, 'one'))).rejects.toThrow('nobody waits');
    if (how === 'is superseded') expect(bob.claim.error).toMatchObject({ message: /bob again/ });
    expect(second?.signal.aborted).toBe(false);
    for (const item of ['one', 'two', 'three']) await settled(lab, sent(second, item));
    expect(carol.claim).toEqual({ isServed: true });
  },
);

test('what was taken counts once, also where nobody could say so in time', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  const bob = await aPassenger(lab, 'bob', ['x']);
  const [aboard] = await taken(lab, alice, 2);
  await settled(lab, sent(aboard, 'one'));
  bob.block();
  const late = sent(aboard, 'two');
  late.catch(() => {});
  await lab.settle();
  bob.process.cut('requests');
  bob.goOn();
  await lab.settle();
  expect(bob.received).toEqual(['one', 'two']);
  bob.process.mend();
  await lab.elapse(lab.leaseSeconds / 2);
  await late;
  await settled(lab, sent(aboard, 'three'));
  expect(bob.received).toEqual(['one', 'two', 'three']);
});

test('nobody is taken aboard a testbed in quarantine', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  await aPassenger(lab, 'bob', ['x', 'y']);
  const quarantine = { reason: 'no link', by: 'eve', since: '2026-11-20T12:00:00.000Z' };
  await setQuarantine(lab.onlooker, 'x', quarantine);
  expect(whoOf(await taken(lab, alice, 2))).toEqual([]);
});

test('what is not taken in time is told, and whoever is put ashore waits for the testbed again', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  const bob = await aPassenger(lab, 'bob', ['x']);
  const [aboard] = await taken(lab, alice, 2);
  bob.block();
  const late = sent(aboard, 'one');
  late.catch(() => {});
  await lab.elapse(lab.leaseSeconds);
  await expect(late).rejects.toThrow(StoreError);
  await settled(lab, aboard?.putAshore() ?? Promise.resolve());
  bob.goOn();
  await lab.settle();
  await settled(lab, alice.lease.release(clean));
  await lab.elapse(5);
  expect(leaseOf(bob.claim).testbed).toBe('x');
});

/** Lacks three items, and says how many. */
async function aPassenger(
  lab: ReservationLab,
  who: string,
  names: readonly string[],
  { base = 'base', subject }: { base?: string; subject?: string } = {},
) {
  const process = await lab.start(who);
  const received: string[] = [];
  const boarded: string[] = [];
  let bound: string | undefined;
  let going = Promise.withResolvers<void>();
  going.resolve();
  const passenger: Passenger = {
    boundTo: () => bound,
    offers() {
      const text = `${who} lacks ${3 - received.length}`;
      return new Map(names.map((name) => [name, { base, text }]));
    },
    async boarded(testbed, by) {
      bound = testbed;
      boarded.push(`${testbed} by ${by.who}`);
    },
    async receive(item) {
      await going.promise;
      received.push(item);
      return received.length === 3;
    },
  };
  const request = aRequest(who, names, subject === undefined ? {} : { subject });
  const own = claim(process, request, { passenger });
  await until(lab, () => process.waits.length > 0);
  await lab.settle();
  return {
    ...{ process, received, boarded, claim: own },
    block() {
      going = Promise.withResolvers<void>();
    },
    goOn: () => going.resolve(),
  };
}

type Holder = { process: Process; lease: Lease };

async function aHolder(lab: ReservationLab, who: string, names: readonly string[]) {
  const process = await lab.start(who);
  const own = claim(process, aRequest(who, names));
  await until(lab, () => own.lease !== undefined);
  return { process, lease: leaseOf(own) };
}

const taken = (lab: ReservationLab, { process, lease }: Holder, most: number): Promise<Aboard[]> =>
  settled(lab, takeAboard(lease, { base: 'base', most, except: new Set() }, process.world));

async function sent(aboard: Aboard | undefined, item: string): Promise<void> {
  await aboard?.send(item);
  await aboard?.kept();
}

const whoOf = (aboard: readonly Aboard[]): string[] => aboard.map(({ holder }) => holder.who);

function leaseOf({ lease, error }: Claim): Lease {
  if (lease === undefined) throw error ?? new Error('It still waits.');
  return lease;
}

/** Goes on until that is so: on a real cluster everything takes its time. */
async function until(lab: ReservationLab, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await lab.settle();
}

async function settled<T>(lab: ReservationLab, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  await lab.settle();
  return work;
}
