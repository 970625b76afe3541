import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import { LeaseLostError, NotReservedError } from '../../../src/gate/reserve/lease.ts';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { openSqlite } from '../../../src/gate/reserve/store/sqlite.ts';
import type { Store } from '../../../src/gate/reserve/store/store.ts';
import { type LeasedTestbed, reserveTestbed } from '../../../src/gate/testbeds/reserve.ts';
import { FencedError } from '../../../src/lab/lease/fence.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FreebsdLab, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, depsOf, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { aConfig } from '../../fakes/plan.ts';
import { storeWith } from '../../fakes/store-with.ts';

const traffic = { ...usualTraffic, measureSeconds: 30 };
const signal = new AbortController().signal;
const leaseSeconds = 30;

/** Controllers that share a store, and the clock by which leases end. */
async function aPlace(labs: Record<string, FreebsdLab>) {
  const folder = temporaryFolder();
  const clock = { seconds: 1000 };
  const now = () => clock.seconds;
  const path = join(folder, 'reservations.sqlite');
  const testbeds = Object.entries(labs).map(([name, lab]) => [name, testbedOf(lab, folder)]);
  const config = aConfig({ testbeds: Object.fromEntries(testbeds), traffic });
  const told: string[] = [];
  let ids = 0;
  const reserve = async (who: string, changes: { store?: Store; names?: string[] } = {}) => {
    const store = changes.store ?? (await openSqlite(path, { now }));
    const [lab] = Object.values(labs);
    if (lab === undefined) throw new Error('no laboratory');
    return reserveTestbed(
      changes.names ?? Object.keys(labs),
      { priority: 'patch', holder: { who, purpose: 'gate' } },
      config,
      {
        store,
        leaseSeconds,
        now,
        date: () => new Date('2026-11-20T12:00:00Z'),
        // Leases are renewed only if a test advances the time.
        sleep: (_, until) => new Promise((_, reject) => until.addEventListener('abort', () => reject(until.reason))),
        randomId: () => `id${ids++}`,
        signal,
        machines: depsOf(lab),
        notify: (sentence) => told.push(sentence),
        onWait() {},
      },
    );
  };
  return { clock, config, folder, told, reserve, store: await openSqlite(path, { now }) };
}

async function bootPatched(testbed: Testbed, folder: string): Promise<void> {
  const variants = ['base', 'patched'].map((ident) => builtVariant(ident, { ident }, folder));
  const cells = [{ scenario: 'forwarding', family: 'inet4' } as const];
  const keepLog = async () => {};
  await testbed.prepare({ variants, cells, rules: {}, keepLog, notify() {}, signal });
  const [cell] = cells;
  if (cell === undefined) return;
  const runs = [{ number: 1, variant: 'patched', pair: 1 }];
  expect(await testbed.trial({ number: 1, cell, runs }, keepLog, signal)).toMatchObject({
    kind: 'measured',
  });
}

const measureOn = async (reserved: LeasedTestbed, config: Config, folder: string): Promise<Testbed> => {
  const testbed = await reserved.open(config.traffic);
  await bootPatched(testbed, folder);
  return testbed;
};

const asleep = (): Promise<void> => new Promise(() => {});

const baseAgain = { stage: 'up', kernel: 'base', leftovers: [], scenario: 'forwarding' };

test('a testbed is measured under a lease, and is free and on its base afterwards', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, config, folder } = await aPlace({ shelf: lab });
  const reserved = await reserve('alice');
  const testbed = await measureOn(reserved, config, folder);
  expect((await readLab(store)).held.values().next().value).toMatchObject({
    testbed: 'shelf',
    holder: { who: 'alice' },
    token: reserved.lease.token,
  });

  await testbed.restore();
  expect(await reserved.giveBack('no-regression')).toBeUndefined();
  expect(lab.state()).toMatchObject(baseAgain);
  expect(await readLab(store)).toMatchObject({ held: new Map(), used: new Map() });
  expect(await readLog(store)).toMatchObject([{ testbed: 'shelf', outcome: 'no-regression' }]);
});

test('a testbed whose holder died is restored before the next gate gets it, and the dead holder is locked out', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, clock, config, folder, told } = await aPlace({ shelf: lab });
  const dead = await reserve('alice');
  const left = await measureOn(dead, config, folder);
  expect(lab.state()).toMatchObject({ kernel: 'patched' });
  clock.seconds += leaseSeconds;

  const next = await reserve('bob');
  expect(told).toEqual(['Restoring shelf to its base: alice did not.']);
  expect(lab.state()).toMatchObject(baseAgain);
  expect(next.lease.token).toBeGreaterThan(dead.lease.token);

  await expect(bootPatched(left, folder)).rejects.toThrow(LeaseLostError);
  expect(dead.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(lab.state()).toMatchObject(baseAgain);
  expect(await dead.giveBack('no-regression')).toBeUndefined();
  await next.giveBack('no-regression');
  expect(await readLog(store)).toMatchObject([
    { holder: { who: 'alice' }, outcome: 'it was not renewed in time' },
    { holder: { who: 'bob' }, outcome: 'no-regression' },
  ]);
});

test('a controller that does not know of its replacement is refused by the machines themselves', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, clock, config, folder } = await aPlace({ shelf: lab });
  const frozen = { now: clock.seconds };
  const slept = await reserve('alice', { store: storeWith(store, { changed: asleep }) });
  const testbed = await slept.open(config.traffic);
  clock.seconds += leaseSeconds;
  const next = await reserve('bob');
  // The reading of a suspended machine's clock.
  clock.seconds = frozen.now;
  expect(() => slept.lease.assertHeld()).not.toThrow();
  await expect(bootPatched(testbed, folder)).rejects.toThrow(FencedError);
  expect(lab.state()).toMatchObject(baseAgain);
  await next.giveBack('ended');
});

test('a testbed that does not respond is quarantined, and the next one is used', async () => {
  await using broken = await startFreebsdLab();
  await using lab = await startFreebsdLab();
  const { reserve, store, told } = await aPlace({ shelf: broken, rack: lab });
  await (await reserve('carol', { names: ['shelf'] })).giveBack('no-regression');
  await broken.power.off();
  const reserved = await reserve('alice');
  expect(reserved.name).toBe('rack');
  expect((await readLab(store)).quarantines.get('shelf')).toMatchObject({
    by: 'ppsgate',
    reason: expect.stringContaining('DUT'),
  });
  expect(told[0]).toMatch(/^shelf is now in quarantine: .*ppsgate quarantine shelf --lift/);

  await reserved.giveBack('ended');
  await expect(reserve('bob', { names: ['shelf'] })).rejects.toThrow(NotReservedError);
});

test('A testbed that has never answered is a mistake in its configuration, and is not quarantined', async () => {
  await using broken = await startFreebsdLab();
  const { reserve, store } = await aPlace({ shelf: broken });
  await broken.power.off();
  const reserving = reserve('alice');
  await expect(reserving).rejects.toThrow(UsageError);
  await expect(reserving).rejects.toThrow(
    /^Cannot reach DUT .*No testbed was quarantined; `ppsgate testbeds check shelf` shows details\.$/,
  );
  expect(await readLab(store)).toMatchObject({ held: new Map(), quarantines: new Map() });
});

test('another testbed replaces one that has never responded', async () => {
  await using broken = await startFreebsdLab();
  await using lab = await startFreebsdLab();
  const { reserve, store, told } = await aPlace({ shelf: broken, rack: lab });
  await broken.power.off();
  const reserved = await reserve('alice');
  expect(reserved.name).toBe('rack');
  expect(told).toEqual([expect.stringMatching(/^Continuing without shelf: Cannot reach DUT /)]);
  expect((await readLab(store)).quarantines.size).toBe(0);
  await reserved.giveBack('ended');
});

test('a name unknown to every server is a mistake in the configuration, even of a testbed that has responded', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, config } = await aPlace({ shelf: lab });
  await (await reserve('alice')).giveBack('no-regression');
  const { shelf } = config.testbeds;
  if (shelf?.kind !== 'freebsd') throw new Error('another kind of testbed');
  shelf.dut.host = 'no-such-host.invalid';
  await expect(reserve('bob')).rejects.toThrow(UsageError);
  expect((await readLab(store)).quarantines.size).toBe(0);
});

test('a controller that the machines reject gets an error, and the testbed stays free for others', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, config } = await aPlace({ shelf: lab });
  const { shelf } = config.testbeds;
  if (shelf?.kind !== 'freebsd') throw new Error('another kind of testbed');
  const knownHosts = readFileSync(shelf.dut.knownHostsPath, 'utf8');
  writeFileSync(shelf.dut.knownHostsPath, '');
  await expect(reserve('alice')).rejects.toThrow(/^DUT .* shows .* key/);
  expect(await readLab(store)).toMatchObject({
    held: new Map(),
    used: new Map(),
    quarantines: new Map(),
  });

  writeFileSync(shelf.dut.knownHostsPath, knownHosts);
  await (await reserve('bob')).giveBack('ended');
});

test('a testbed that is not restored at its release is quarantined, and the verdict holds', async () => {
  await using lab = await startFreebsdLab();
  const { reserve, store, config } = await aPlace({ shelf: lab });
  const reserved = await reserve('alice');
  const testbed = await reserved.open(config.traffic);
  await testbed.restore();
  await lab.power.off();
  expect(await reserved.giveBack('no-regression')).toMatch(/^shelf is now in quarantine: /);
  const { quarantines, held, used } = await readLab(store);
  expect([...quarantines.keys()]).toEqual(['shelf']);
  expect(held.size).toBe(0);
  expect(used.size).toBeGreaterThan(0);
});
