// A ppsgate.yml with a private reservation store, commands in its folder, and other processes that reserve.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import type { HostConfig } from '../../src/config/fields.ts';
import type { FreebsdTestbed, GeneratorConfig } from '../../src/config/freebsd-testbed.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { HeldTestbed } from '../../src/gate/reserve/records.ts';
import { enter, type ReservationRequest, tryReserve } from '../../src/gate/reserve/reservation.ts';
import { openStore } from '../../src/gate/reserve/store/open.ts';
import type { Store } from '../../src/gate/reserve/store/store.ts';
import { machinesOf } from '../../src/lab/machines.ts';
import { temporaryFolder } from './folder.ts';
import { makeFolder, writeFile } from './freebsd-lab/file-system.ts';
import { type FreebsdLab, startFreebsdLab } from './freebsd-lab/lab.ts';
import { testbedOf } from './freebsd-testbed.ts';

export type Ended = { status: number | null; stdout: string; stderr: string };

export type Person = {
  who?: string;
  purpose?: string;
  patch?: string;
  priority?: ReservationRequest['priority'];
  since?: Date;
};

export type Place = {
  folder: string;
  config: Config;
  store: Store;
  /** Runs a ppsgate command to its end; its standard input is not a terminal. */
  ppsgate(...args: string[]): Promise<Ended>;
  /** Starts a command; `said` is its output so far, on stdout and stderr. */
  start(...args: string[]): Started;
  /** Enters the queue; returns the id and the session of the request. */
  wait(names: string[], person?: Person): Promise<{ id: string; session: string }>;
  /** Reserves a free testbed, for longer than a test lasts without a renewal. */
  take(name: string, person?: Person): Promise<HeldTestbed & { session: string }>;
};

export type Started = { child: ChildProcess; said(): string; ended: Promise<Ended> };

const cli = join(inject('bundle'), 'cli.js');

/** Starts ppsgate in a folder. */
export const startIn =
  (cwd: string) =>
  (...args: string[]): Started => {
    const child = spawn(process.execPath, [cli, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd,
      env: { ...process.env, TZ: 'UTC' },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (said += part));
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const ended = once(child, 'close').then(async ([status]) => ({
      status,
      stdout: await stdout,
      stderr: await stderr,
    }));
    return { child, said: () => said, ended };
  };

/** `testbeds` as written in ppsgate.yml. */
export async function aPlace(testbeds: Readonly<Record<string, unknown>>): Promise<Place> {
  const folder = temporaryFolder();
  const path = join(folder, 'ppsgate.yml');
  const reservations = { file: './reservations.sqlite', lease: '60 s' };
  writeFileSync(path, JSON.stringify({ testbeds, reservations }));
  writeFileSync(join(folder, 'known_hosts'), '');
  const config = await loadConfig(path);
  const store = await openStore(config.reservations);
  onTestFinished(() => store.close());

  const start = startIn(folder);
  const wait: Place['wait'] = async (names, person = {}) => {
    const { who = 'alice@lab1', purpose = 'gate', patch, priority = 'patch' } = person;
    const { since = new Date() } = person;
    const session = await store.openSession(3600);
    const id = `${since.toISOString()}-${randomUUID()}`;
    const wanted = names.flatMap((name) => {
      const testbed = config.testbeds[name];
      return testbed === undefined ? [] : [[name, machinesOf(testbed)] as const];
    });
    const holder = { who, purpose, ...(patch !== undefined && { patch }) };
    const request = { testbeds: new Map(wanted), priority, holder };
    await enter(store, request, { id, session, at: since });
    return { id, session };
  };

  return {
    folder,
    config,
    store,
    start,
    ppsgate: (...args) => start(...args).ended,
    wait,
    async take(name, person = {}) {
      const { id, session } = await wait([name], person);
      const attempt = await tryReserve(store, id, session, person.since ?? new Date());
      if (attempt.kind !== 'taken') throw new Error(`${name} is not free: ${attempt.kind}`);
      return { ...attempt.holding, session };
    },
  };
}

/** A machine that exists in no lab. */
const away = { host: '127.0.0.1', port: 1, knownHosts: './known_hosts', key: './key' };

export const embedded = { kind: 'embedded-linux' };

/** Private machines, named after the testbed, and unreachable. */
export const linuxOf = (name: string) => ({
  kind: 'linux',
  sender: { ...away, host: `sender.${name}.invalid`, interface: 'eth0', cpu: 0 },
  dut: { ...away, host: `dut.${name}.invalid`, ingress: 'eth1', egress: 'eth2', cpu: 0 },
  receiver: { ...away, host: `receiver.${name}.invalid`, interface: 'eth0' },
});

/** A FreeBSD lab that passes `ppsgate testbeds check`, until the test ends, and its entry for ppsgate.yml. */
export async function aFreebsdLab(): Promise<{ lab: FreebsdLab; shelf: object }> {
  const lab = await startFreebsdLab();
  onTestFinished(() => lab.stop());
  const files = [
    [lab.dut, '/sbin/nextboot'],
    [lab.receiver, '/dev/netmap'],
  ] as const;
  for (const [{ machine }, path] of files) {
    makeFolder(machine.files, join(path, '..'), true);
    writeFile(machine.files, path, '');
  }
  return { lab, shelf: asWritten(testbedOf(lab, temporaryFolder())) };
}

/** Its entry in ppsgate.yml, without power control. */
const asWritten = ({ kind, dut, senders, receiver }: FreebsdTestbed) => ({
  kind,
  dut: { ...written(dut), ingress: dut.ingress, egress: dut.egress },
  senders: senders.map(generator),
  receiver: generator(receiver),
});

const written = ({ host, port, privateKeyPath, knownHostsPath }: HostConfig) => ({
  host,
  port,
  key: privateKeyPath,
  knownHosts: knownHostsPath,
});

const generator = (one: GeneratorConfig) => ({
  ...written(one),
  interface: one.interface,
  mac: one.mac,
  ...one.addresses,
  threads: one.threads,
});
