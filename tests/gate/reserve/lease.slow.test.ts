import { expect, test } from 'vitest';
import { type Lease, LeaseLostError, NotReservedError } from '../../../src/gate/reserve/lease.ts';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { type LeaseEnd, setQuarantine } from '../../../src/gate/reserve/reservation.ts';
import { StoreError } from '../../../src/gate/reserve/store/store.ts';
import {
  aLab,
  aRequest,
  type Claim,
  claim,
  type Process,
  type ReservationLab,
  takeAway,
} from '../../fakes/reservation-lab.ts';

const clean = { outcome: 'pass', isClean: true };
const dirty = { outcome: 'fail', isClean: false };
/** Seconds that a gate that is not next waits at least between reads. */
const moment = 5;
const broken = { reason: 'no link', by: 'eve', since: '2026-11-20T12:00:00.000Z' };

test('waits in line for a testbed in use, and reports what it waits for', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  const bob = await aWaiter(lab, 'bob', ['y']);
  const carol = await aWaiter(lab, 'carol', ['y']);
  expect(carol.process.waits.at(-1)?.lab.tickets.map(({ holder }) => holder.who)).toEqual(['bob', 'carol']);
  await settled(lab, alice.lease.release(clean));
  expect(leaseOf(bob.claim).testbed).toBe('y');
  expect(carol.claim).toEqual({});
  await settled(lab, leaseOf(bob.claim).release(clean));
  await lab.elapse(moment);
  expect(leaseOf(carol.claim).testbed).toBe('y');
});

test('a cancelled gate leaves the queue, with the reason that was given', async () => {
  const lab = await aLab();
  const { lease } = await aHolder(lab, 'alice', ['x']);
  const bob = await aWaiter(lab, 'bob', ['x']);
  const carol = await aWaiter(lab, 'carol', ['x']);
  const reason = new Error('enough');
  bob.process.cancel(reason);
  await lab.settle();
  expect(bob.claim).toEqual({ error: reason });
  expect(await waiting(lab)).toEqual(['carol']);
  await settled(lab, lease.release(clean));
  await lab.elapse(moment);
  expect(leaseOf(carol.claim).testbed).toBe('x');
});

test('a gate that was cancelled before it began reserves nothing', async () => {
  const lab = await aLab();
  const bob = await lab.start('bob');
  bob.cancel(new Error('enough'));
  const request = claim(bob, aRequest('bob', ['x']));
  await lab.settle();
  expect(request).toEqual({ error: new Error('enough') });
  expect((await lab.onlooker.read('')).entries).toEqual([]);
});

test('a quarantine ends the wait of a gate that no other testbed can serve', async () => {
  const lab = await aLab();
  await aHolder(lab, 'alice', ['x']);
  const bob = await aWaiter(lab, 'bob', ['x']);
  const carol = await aWaiter(lab, 'carol', ['x', 'y']);
  await setQuarantine(lab.onlooker, 'x', broken);
  await lab.settle();
  expect(bob.claim.error).toBeInstanceOf(NotReservedError);
  expect(carol.claim).toEqual({});
});

test('a repeated request with the earlier order has the old place', async () => {
  const lab = await aLab();
  const alice = await aHolder(lab, 'alice', ['x']);
  const bob = await aHolder(lab, 'bob', ['z']);
  await aWaiter(lab, 'carol', ['x', 'z']);
  const { order } = alice.lease.holding;
  // No other gate has a turn in between.
  bob.process.stop();
  await settled(lab, alice.lease.release({ ...clean, quarantine: broken }));
  const again = claim(alice.process, aRequest('alice', ['x', 'z']), { order });
  await lab.settle();
  expect(again).toEqual({});
  expect(await waiting(lab)).toEqual(['alice', 'carol']);
  bob.process.goOn();
  await settled(lab, bob.lease.release(clean));
  expect(leaseOf(again)).toMatchObject({ testbed: 'z', holding: { order } });
});

test('a waiting gate that cannot reach the store for longer than a lease leaves the queue with an error', async () => {
  const lab = await aLab();
  await aHolder(lab, 'alice', ['x']);
  const bob = await aWaiter(lab, 'bob', ['x']);
  bob.process.cut('requests');
  await lab.elapse(1.5 * lab.leaseSeconds);
  expect(await waiting(lab)).toEqual([]);
  expect(bob.claim.error).toBeInstanceOf(NotReservedError);
  expect(bob.claim.error).toMatchObject({
    message: expect.stringContaining('lost the reservation store'),
  });
});

test('a store that is unreachable from the beginning is an error at once', async () => {
  const lab = await aLab();
  const alice = await lab.start('alice');
  alice.cut('requests');
  const request = claim(alice, aRequest('alice', ['x']));
  await lab.settle();
  expect(request.error).toBeInstanceOf(StoreError);
});

test('a lease that expired before its holder got it is lost, even if the store still has it', async () => {
  const lab = await aLab();
  const alice = await lab.start('alice');
  // Keeps sessions alive for longer, like a store whose leader has changed.
  const generous = { openSession: () => alice.store.openSession(10 * lab.leaseSeconds) };
  const { deps } = alice;
  const request = claim(
    { ...alice, deps: { ...deps, store: { ...alice.store, ...generous } } },
    aRequest('alice', ['x']),
  );
  while ((await readLab(lab.onlooker)).held.size === 0) await lab.step(1);
  alice.stop();
  await lab.elapse(lab.leaseSeconds);
  alice.goOn();
  await lab.settle();
  const { signal } = leaseOf(request);
  expect(signal.reason).toBeInstanceOf(LeaseLostError);
  expect(await holders(lab)).toEqual({});
});

test('a holder whose testbed is taken away is notified at once, with the taker', async () => {
  const lab = await aLab();
  const { lease } = await aHolder(lab, 'alice', ['x']);
  await takeAway(lab.onlooker, 'x', 'eve', lab.date());
  await lab.settle();
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(() => lease.assertHeld()).toThrow('The lease of x was lost: taken away by eve;');
});

test('a holder that checks the store before a step detects an unnoticed loss', async () => {
  const lab = await aLab();
  const { lease } = await aHolder(lab, 'alice', ['x']);
  await takeAway(lab.onlooker, 'x', 'eve', lab.date());
  lease.assertHeld();
  await expect(settled(lab, lease.prove())).rejects.toThrow('taken away by eve');
});

test('releasing a released testbed again has no effect', async () => {
  const lab = await aLab();
  const { process, lease } = await aHolder(lab, 'alice', ['x']);
  const bob = await aWaiter(lab, 'bob', ['x']);
  const releases = [lease.release(clean), lease.release({ ...clean, quarantine: broken })];
  await settled(lab, Promise.all(releases));
  // No request is sent any more.
  process.cut('requests');
  await settled(lab, lease.release(clean));
  leaseOf(bob.claim).assertHeld();
  expect((await readLab(lab.onlooker)).quarantines.size).toBe(0);
  expect(await readLog(lab.onlooker, lease.holding.id)).toMatchObject([{ outcome: 'pass' }]);
});

test('a released testbed is not touched, and its release is no loss', async () => {
  const lab = await aLab();
  const { lease } = await aHolder(lab, 'alice', ['x']);
  await settled(lab, lease.release(clean));
  expect(() => lease.assertHeld()).toThrow('it was released');
  await lab.elapse(3 * lab.leaseSeconds);
  expect(lease.signal.aborted).toBe(false);
});

test('a release that was done without confirmation counts', async () => {
  const lab = await aLab();
  const { process, lease } = await aHolder(lab, 'alice', ['x']);
  const releasing = lease.release(clean);
  while ((await readLab(lab.onlooker)).held.size > 0) await lab.step(1);
  process.cut('answers');
  await expect(settled(lab, releasing)).rejects.toThrow(StoreError);
  expect(await readLog(lab.onlooker)).toMatchObject([{ outcome: 'pass' }]);
  const bob = await aHolder(lab, 'bob', ['x']);
  expect(bob.lease.holding.leftBy).toEqual([]);
});

test('a holder whose reservation was unconfirmed is notified once the store is reachable', async () => {
  const lab = await aLab();
  const { process, claim } = await unconfirmedHolder(lab, 'bob', dirty);
  await lab.elapse(lab.leaseSeconds / 2);
  expect(claim).toEqual({});
  process.fix();
  await lab.elapse(lab.leaseSeconds / 5);
  const lease = leaseOf(claim);
  lease.assertHeld();
  expect(lease.holding.leftBy).toMatchObject([{ holder: { who: 'alice' } }]);
  expect((await readLab(lab.onlooker)).held.get('dut-x')).toEqual(lease.holding);
});

test('a request whose testbed, taken at once, was unconfirmed fails without the store, and leaves it free', async () => {
  const lab = await aLab();
  const { process, request } = await aClaim(lab, 'bob', ['x']);
  while ((await readLab(lab.onlooker)).held.size === 0) await lab.step(1);
  process.cut('answers');
  await lab.settle();
  expect(request.error).toBeInstanceOf(StoreError);
  const { lease } = await aHolder(lab, 'carol', ['x']);
  expect(lease.holding.leftBy).toMatchObject([{ holder: { who: 'bob' } }]);
});

async function aClaim(
  lab: ReservationLab,
  who: string,
  names: readonly string[],
  changes = {},
): Promise<{ process: Process; request: Claim }> {
  const process = await lab.start(who);
  return { process, request: claim(process, aRequest(who, names, changes)) };
}

async function aWaiter(
  lab: ReservationLab,
  who: string,
  names: readonly string[],
  changes = {},
): Promise<{ process: Process; claim: Claim }> {
  const { process, request } = await aClaim(lab, who, names, changes);
  await lab.settle();
  expect(request).toEqual({});
  return { process, claim: request };
}

async function aHolder(
  lab: ReservationLab,
  who: string,
  names: readonly string[],
): Promise<{ process: Process; lease: Lease }> {
  const { process, request } = await aClaim(lab, who, names);
  await lab.settle();
  return { process, lease: leaseOf(request) };
}

/** Has waited for x, and has it without confirmation. */
async function unconfirmedHolder(
  lab: ReservationLab,
  who: string,
  ending: LeaseEnd,
): Promise<{ process: Process; claim: Claim }> {
  const before = await aHolder(lab, 'alice', ['x']);
  const waiter = await aWaiter(lab, who, ['x']);
  const releasing = before.lease.release(ending);
  const holder = async () => (await readLab(lab.onlooker)).held.get('dut-x')?.holder.who;
  while ((await holder()) !== who) await lab.step(1);
  waiter.process.cut('answers');
  await settled(lab, releasing);
  return waiter;
}

function leaseOf({ lease, error }: Claim): Lease {
  if (lease === undefined) throw error ?? new Error('It still waits.');
  return lease;
}

async function settled<T>(lab: ReservationLab, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  await lab.settle();
  return work;
}

async function waiting(lab: ReservationLab): Promise<string[]> {
  return (await readLab(lab.onlooker)).tickets.map(({ holder }) => holder.who);
}

async function holders(lab: ReservationLab): Promise<Record<string, string>> {
  const { held } = await readLab(lab.onlooker);
  return Object.fromEntries([...held].map(([machine, { holder }]) => [machine, holder.who]));
}
