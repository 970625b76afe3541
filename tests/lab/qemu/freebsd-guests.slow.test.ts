// Tests FreeBSD guests without faults: what is booted, installed and measured on them.
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TrialOutcome } from '../../../src/lab/testbed.ts';
import { type Cell, families } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakeGuest, fakeGuests } from '../../fakes/freebsd-guests.ts';
import { forwarding, onGuests, openGuests, prepare, rebootsOf, trialOf } from '../../fakes/freebsd-guests-testbed.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { textOf } from '../../fakes/freebsd-lab/file-system.ts';
import type { Machine } from '../../fakes/freebsd-lab/machine.ts';
import { builtVariant } from '../../fakes/freebsd-testbed.ts';
import { testWith } from '../../needs.ts';

const pfInet6: Cell = { scenario: 'pf-stateful', family: 'inet6' };

const valid = { kind: 'measured', runs: [1, 2].map(() => ({ validity: { kind: 'valid' } })) };

/** Instructions per packet of each variant. */
const measuredOf = (outcome: TrialOutcome): Record<string, number | undefined> =>
  outcome.kind === 'measured'
    ? Object.fromEntries(outcome.runs.map(({ variant, instructionsPerPacket }) => [variant, instructionsPerPacket]))
    : {};

const isNear = (value: number | undefined, wanted: number) =>
  expect(Math.abs((value ?? 0) / wanted - 1)).toBeLessThan(0.005);

test('runs have the instructions per packet of base and patched, and name their kernels', () =>
  onGuests({ truth: ({ ident }) => (ident === 'patched' ? 9900 : 9000) }, async ({ send, logs }) => {
    const outcome = await send(1);
    expect(outcome).toMatchObject({
      ...valid,
      summary: { kernels: { base: 'FreeBSD 14.0-CURRENT #0 base', patched: 'FreeBSD 14.0-CURRENT #0 patched' } },
    });
    const { base, patched } = measuredOf(outcome);
    isNear(base, 9000);
    isNear(patched, 9900);
    const counters = ['counters-1-base.log', 'counters-1-patched.log'];
    expect([...logs.keys()]).toEqual(['windows-1.log', ...counters]);
  }));

test('the first run has the first copy of the image, also where the kernel of another is there before', async () => {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  const folder = temporaryFolder();
  const small = builtVariant('base', { ident: 'base' }, folder);
  if (small.kernel?.kind !== 'archive') throw new TypeError('It is no archive.');
  const { path } = small.kernel;
  // A tar archive may end with any number of zeros.
  appendFileSync(path, Buffer.alloc(1024 ** 2));
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  const base = { ...small, kernel: { kind: 'archive', path, sha256 } as const };
  await prepare(testbed, [forwarding], [base, builtVariant('patched', { ident: 'patched' }, folder)]);
  await testbed.trial(trialOf(1, 1, forwarding, []), async () => {}, new AbortController().signal);
  const booted = guests.copies.map(({ machine }) => machine.running?.kernel.ident);
  expect(booted).toEqual(['base', 'patched']);
  await testbed.restore();
});

test('both guests boot at once, each is inspected once, and nothing is waited for but boots', async () => {
  const cells: Cell[] = [forwarding, pfInet6];
  await onGuests({ cells }, async ({ testbed, send, guests }) => {
    const before = guests.clock.now();
    for (const pair of [1, 2]) for (const cell of cells) await send(pair, cell);
    await testbed.inspect(cells);
    // Two reboots of 25 s, which polls find up to 2 s later, and 20 windows of 0.2 s in each of four trials.
    expect(guests.clock.now() - before).toBeLessThan(2 * (25 + 2 + 2 + 2) + 4 * 20 * 0.2);
    for (const { journal } of guests.copies) {
      const inspected = journal.filter(({ command }) => command === 'pciconf -lv');
      expect(inspected).toHaveLength(3);
      expect(journal.map(({ command }) => command).filter((one) => /sleep/.test(one))).toEqual([]);
    }
  });
});

test('addresses, routes, neighbours and forwarding are set at each boot, and not changed before packets are sent', () =>
  onGuests({ cells: [forwarding, pfInet6] }, async ({ send, guests }) => {
    for (const pair of [1, 2]) {
      await send(pair);
      for (const { machine } of guests.copies) {
        await expect(JSON.stringify(pathsOf(machine), undefined, 2)).toMatchFileSnapshot('golden/paths.txt');
      }
    }
    for (const { journal } of guests.copies) {
      const commands = journal.map(({ command }) => command);
      const afterBoot = commands.slice(commands.indexOf('shutdown -r now'));
      const changes = /^(?:route|arp -S|ndp -s|ifconfig \S+ \S|sysctl net\.inet6?\.ip6?\.(?!fw))/;
      expect(afterBoot.filter((command) => changes.test(command))).toEqual([]);
    }
  }));

const pathsOf = ({ interfaces, routes, neighbours, sysctls, files }: Machine) => ({
  addresses: interfaces.slice(1).flatMap(({ addresses }) => addresses),
  offloads: interfaces
    .slice(1)
    .flatMap(({ capabilities }) => ['TSO4', 'TSO6', 'LRO'].filter((one) => capabilities.has(one))),
  routes: routes.map(({ destination, gateway }) => `${destination} ${gateway}`),
  neighbours: neighbours.map(({ address, mac }) => `${address} ${mac}`),
  forwarding: ['net.inet.ip', 'net.inet6.ip6'].map((node) => sysctls.get(`${node}.forwarding`)?.value),
  loader: textOf(files, '/boot/loader.conf.local')?.trim().split('\n'),
});

const stateful: Cell[] = (['pf-stateful', 'ipfw-stateful'] as const).flatMap((scenario) =>
  families.map((family): Cell => ({ scenario, family })),
);

test('stateful rules are in force on both guests, and a state of each flow proves it', () =>
  onGuests({ cells: stateful }, async ({ send, guests }) => {
    for (const cell of stateful) {
      expect(await send(1, cell)).toMatchObject(valid);
      for (const { machine } of guests.copies) {
        const states = { pf: machine.pf.states, ipfw: machine.ipfw.dynamicRules };
        const isPf = cell.scenario === 'pf-stateful';
        // pf has one on a flow's way in, and one on its way out.
        expect(states).toEqual({ pf: isPf ? 4000 : 0, ipfw: isPf ? 0 : 2000 });
      }
    }
  }));

test('rules that made no states of the packets were not in force', () => {
  const says = 'Status: Enabled for 0 days 00:00:10\n  inserts                  2   0.1/s\n';
  const lie: Fault = { kind: 'command-lies', machine: 'guest', command: 'pfctl -si', at: 2, says };
  return onGuests({ cells: [pfInet6], faultsOf: () => [lie] }, async ({ send }) => {
    expect(await send(1, pfInet6)).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('pf has created 2 of the 2000 states'),
    });
    expect(await send(1, pfInet6)).toMatchObject(valid);
  });
});

const inet4Of = ({ machine }: FakeGuest): string[] => {
  const { routes, neighbours } = pathsOf(machine);
  return [...routes, ...neighbours].filter((line) => !line.includes('::'));
};

test('routes that are lost between two cells are restored, and packets follow them', () =>
  onGuests({ patched: { behaviour: { kind: 'loses-routes-at-boot' } } }, async (on) => {
    expect(await on.send(1)).toMatchObject(valid);
    const before = on.guests.copies.map(inet4Of);
    for (const { machine } of on.guests.copies) {
      machine.routes.length = 0;
      machine.neighbours.length = 0;
    }
    expect(await on.send(1)).toMatchObject(valid);
    expect(on.guests.copies.map(inet4Of)).toEqual(before);
  }));

test('a profile names the functions of kernel and modules, with instructions of each', () => {
  const truth = ({ ident }: { ident: string }) => (ident === 'patched' ? 9500 : 9000);
  return onGuests({ cells: [pfInet6], truth }, async ({ testbed, keepLog, logs, guests }) => {
    const samples: Record<string, Record<string, number>> = {};
    const profile = (variant: string, attempt = 1) =>
      testbed.profile({ cell: pfInet6, variant, seconds: 1, attempt }, keepLog, new AbortController().signal);
    for (const variant of ['base', 'patched']) {
      const outcome = await profile(variant);
      expect(outcome).toMatchObject({
        kind: 'profiled',
        event: 'instructions',
        kernel: `FreeBSD 14.0-CURRENT #0 ${variant}`,
      });
      samples[variant] = samplesIn(logs.get('stacks.txt') ?? '');
    }
    expect(Object.keys(samples.base ?? {}).toSorted()).toEqual([
      'kernel`acpi_cpu_c1',
      'kernel`ether_input',
      'kernel`ip_input',
      'kernel`vtnet_rxq_eof',
      'pf.ko`pf_test',
      'userland',
    ]);
    const grown = (samples.patched?.['pf.ko`pf_test'] ?? 0) - (samples.base?.['pf.ko`pf_test'] ?? 0);
    // 10,000 packets with 500 instructions each, in samples of a thousand.
    expect(Math.abs(grown - 5000)).toBeLessThan(500);
    // The functions are read once, as the modules are the same.
    await profile('base', 2);
    for (const { journal } of guests.copies) {
      expect(journal.filter(({ command }) => command.startsWith('readelf'))).toHaveLength(1);
    }
    // Counting leaves no trace, so each boots once.
    expect(guests.copies.map(rebootsOf)).toEqual([1, 1]);
  });
});

const samplesIn = (stacks: string): Record<string, number> =>
  Object.fromEntries(
    stacks
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.replace(/ \d+$/, ''), Number(/\d+$/.exec(line)?.[0])]),
  );

testWith(['qemu-system-x86_64'], 'an inspection tells of the machine that QEMU makes, and of nothing to fix', () =>
  onGuests({ cells: [forwarding, pfInet6] }, async ({ testbed }) => {
    const { fingerprint, warnings } = await testbed.inspect([forwarding, pfInet6]);
    expect(warnings).toEqual([]);
    expect(fingerprint).toMatchObject({
      machine: expect.stringMatching(/^virtual: QEMU emulator version .*, tcg, q35, .* 1024 MiB$/),
      cpu: 'QEMU TCG CPU version 2.5+',
      'NIC virtio_pci1': 'Red Hat, Inc. Virtio network device',
      'vtnet1 media': 'Ethernet autoselect (10Gbase-T <full-duplex>)',
      'net.inet6.ip6.forwarding': '1',
    });
  }),
);
