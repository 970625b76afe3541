import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { ReservationsConfig } from '../../src/config/reservations.ts';
import type { LinuxTestbed } from '../../src/config/schema.ts';
import { readLab } from '../../src/gate/reserve/records.ts';
import { openStore, steadySeconds } from '../../src/gate/reserve/store/open.ts';
import type { ContenderPlan, ContenderSays } from '../fakes/contender.ts';
import type { Timed } from '../fakes/contending.ts';
import { type EtcdCluster, type EtcdMember, type EtcdOptions, etcdNeeds, startEtcd } from '../fakes/etcd.ts';
import { diceOf, type Fate, fatesOf, fulfil, randomTurn } from '../fakes/fate.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type Holder, kindsOf, says, startHolder } from '../fakes/holders.ts';
import { type LogEntry, overlapsIn, startLoggingMachines } from '../fakes/machine-log.ts';
import { type Program, soon, startProgram, well } from '../fakes/program.ts';
import { describeWith } from '../needs.ts';
import { times } from '../random.ts';

describeWith(['setpriv'], 'contenders of one host that are killed and stopped at random', () => {
  test('never use a machine at the same time, and all others get their turns', async () => {
    const path = join(temporaryFolder(), 'reservations.sqlite');
    await contend({ store: 'sqlite', path, leaseSeconds: 2 });
    const check = new DatabaseSync(path).prepare('PRAGMA integrity_check').all();
    expect(check).toEqual([{ integrity_check: 'ok' }]);
  });
});

describeWith(etcdNeeds, 'contenders of several hosts that are killed and stopped', () => {
  test('never use a machine at the same time, and all others get their turns', async () => {
    await contend(etcdAt((await startCluster()).endpoints, 2));
  });
});

describeWith([...etcdNeeds, 'root', 'ip'], 'a gate that is cut off with a member of etcd', () => {
  test('loses a testbed before another gate gets it', async () => {
    // On a busy machine, etcd sometimes needs seconds for a response; others are in no haste.
    const leaseSeconds = 10;
    const cluster = await startCluster({ namespaces: true });
    const member = await cluster.leader();
    const minority = etcdAt([member.endpoint], leaseSeconds);
    const majority = etcdAt(endpointsFrom(member, cluster), 60);
    const cutOff = startHolder({ name: 'cut off', reservations: minority, testbed: 'shelf' }, member.namespace);
    const other = startHolder({ name: 'other', reservations: majority, testbed: 'attic' });
    await Promise.all([says(cutOff, 'renewed'), says(other, 'renewed')]);
    const waiter = startHolder({ name: 'waiter', reservations: majority, testbed: 'shelf' });
    await says(waiter, 'waits');

    await cluster.cut(member);
    const cutAt = steadySeconds();
    const taken = await says(waiter, 'holds');
    const lost = await says(cutOff, 'lost');
    // A stopped process can react to nothing, and do nothing wrong.
    expect(lost.at - lost.renewedAt - leaseSeconds).toBeLessThan(lost.stallSeconds);
    expect(lost.at - taken.at).toBeLessThan(lost.stallSeconds);
    await expect.poll(() => renewalsAfter(other, cutAt), soon).toBeGreaterThan(0);
    expect(kindsOf(other)).not.toContain('lost');

    await cluster.fix(member);
    const refused = await says(cutOff, 'refused');
    expect(refused).toMatchObject({ isRenewed: false, isGivenBack: false });
    for (const holder of [other, waiter]) holder.write('release');
    expect(await Promise.all([other.ended, waiter.ended])).toEqual([well, well]);
  });
});

type Contender = Program<ContenderSays>;

const startedAtOnce = 4;

/** Starts testbeds, two of which share a sender. */
async function startLab() {
  const folder = temporaryFolder();
  const names = ['dut1', 'dut2', 'dut3', 'dut4', 'sender12', 'sender3', 'sender4'] as const;
  const machines = await startLoggingMachines(names, folder);
  const { hosts } = machines;
  const testbedOf = (dut: keyof typeof hosts, sender: keyof typeof hosts): LinuxTestbed => ({
    kind: 'linux',
    dut: { ...hosts[dut], ingress: 'eth0', egress: 'eth1', cpu: 0 },
    sender: { ...hosts[sender], interface: 'eth0', cpu: 0 },
    receiver: { ...hosts[sender], interface: 'eth1' },
  });
  return {
    machines,
    testbeds: {
      shelf: testbedOf('dut1', 'sender12'),
      rack: testbedOf('dut2', 'sender12'),
      bench: testbedOf('dut3', 'sender3'),
      attic: testbedOf('dut4', 'sender4'),
    },
    [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose](),
  };
}

/** Starts processes with random fates, and inspects the machines' logs of them. */
async function contend(reservations: ReservationsConfig): Promise<void> {
  const { leaseSeconds } = reservations;
  const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 2 ** 31);
  onTestFailed(() => console.error(`With CHAOS_SEED=${seed} the same is chosen again.`));
  const dice = diceOf(seed);
  await using lab = await startLab();
  const store = await openStore(reservations);
  onTestFinished(() => store.close());
  const broken = Promise.withResolvers<never>();
  // The error may arrive before the test waits for it.
  broken.promise.catch(() => {});
  const contenders: (ContenderPlan & { fate: Fate; program: Contender })[] = [];
  for (const fate of Array.from({ length: times(1) }, () => fatesOf(leaseSeconds, dice)).flat()) {
    const plan: ContenderPlan = {
      name: `contender ${contenders.length + 1}`,
      reservations,
      testbeds: lab.testbeds,
      turns: [1, 2].map(() => randomTurn(Object.keys(lab.testbeds), dice)),
      heeds: fate.kind === 'stopped' && fate.isHeedless ? 'fence' : 'lease',
    };
    const strike = fulfil(fate);
    const program = startProgram<ContenderSays>('contender', plan, {
      onSaid(saying, program) {
        strike(saying, program);
        if (isUnexplained(saying, leaseSeconds)) {
          broken.reject(new Error(`${plan.name} lost what it was promised: ${saying.message}`));
        }
      },
    });
    contenders.push({ ...plan, fate, program });
    const starting = () => contenders.filter(({ program }) => program.said.length === 0);
    await expect.poll(() => starting().length, soon).toBeLessThan(startedAtOnce);
  }
  const ended = contenders.map(async (one) => ({ ...one, ending: await one.program.ended }));
  const all = await Promise.race([Promise.all(ended), broken.promise]);

  // Leases that no gate renews expire.
  await expect.poll(() => readLab(store), soon).toMatchObject({ held: new Map(), tickets: [] });
  const { log, surprises } = lab.machines;
  expect(surprises).toEqual([]);
  expect(overlapsIn(log)).toEqual([]);

  const killed = all.filter(({ ending }) => ending.signal === 'SIGKILL');
  const toBeKilled = contenders.filter(({ fate }) => fate.kind === 'killed');
  // Some end before their moment comes.
  expect(killed.length).toBeGreaterThanOrEqual(toBeKilled.length / 2);
  for (const { name, fate, ending, turns, program } of all) {
    const done = turnsDoneBy(program);
    if (fate.kind !== 'killed' || ending.signal !== 'SIGKILL') {
      expect(ending, name).toEqual(well);
      expect(done, name).toHaveLength(turns.length);
    }
    // Each use logs an entry for both machines of a testbed.
    const selected = turns.map(({ pausesMilliseconds: { length } }) => 2 * (length + 1));
    const used = done.map(({ token }) => usesIn(log, token));
    expect(used, name).toEqual(selected.slice(0, done.length));
  }
}

type Failed = Timed<Extract<ContenderSays, { kind: 'failed' }>>;

/** Something was lost while the store had still promised it. Stores and logins are slow on a busy machine. */
const isUnexplained = (saying: Timed<ContenderSays>, leaseSeconds: number): saying is Failed =>
  saying.kind === 'failed' &&
  !['StoreError', 'HostError'].includes(saying.error) &&
  saying.secondsAfterRenewal < leaseSeconds;

const turnsDoneBy = ({ said }: Contender) => said.filter((one) => one.kind === 'done');

const usesIn = (log: readonly LogEntry[], token: number | undefined): number =>
  log.filter((entry) => entry.act === 'use' && entry.isObeyed && entry.token === token).length;

/** Requests after a time. */
const renewalsAfter = ({ said }: Holder, at: number): number =>
  said.filter((one) => one.kind === 'renewed' && one.askedAt > at).length;

async function startCluster(options: EtcdOptions = {}): Promise<EtcdCluster> {
  const cluster = await startEtcd(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

const etcdAt = (endpoints: string[], leaseSeconds: number): ReservationsConfig => ({
  store: 'etcd',
  endpoints,
  prefix: '/ppsgate/',
  leaseSeconds,
});

/** Puts the member first. */
const endpointsFrom = ({ endpoint }: EtcdMember, { endpoints }: EtcdCluster): string[] => [
  endpoint,
  ...endpoints.filter((other) => other !== endpoint),
];
