import { expect, test } from 'vitest';
import type { HostConfig } from '../../../src/config/fields.ts';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import type { LinuxTestbed } from '../../../src/config/schema.ts';
import type { FreebsdDeps } from '../../../src/lab/freebsd/freebsd-deps.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { type Fence, FencedError, tokenFolder } from '../../../src/lab/lease/fence.ts';
import { fencedConnect, fencedDeps, type ProvenFence, raiseFences } from '../../../src/lab/lease/testbed-fence.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { makeFolder, namesIn, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { setCutOff } from '../../fakes/freebsd-lab/machine.ts';
import type { LabMachine } from '../../fakes/freebsd-lab/open-machine.ts';
import { builtVariant, depsOf, labConsole, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';

const ours = 7;
const later = 8;
const held: Fence = { token: ours, assertHeld() {} };
const lease: ProvenFence = { ...held, async prove() {} };
const inet4: Cell = { scenario: 'forwarding', family: 'inet4' };
const { signal } = new AbortController();
const request = { cells: [inet4], rules: {}, keepLog: async () => {}, notify() {}, signal };
const isOver = (): never => {
  throw new RangeError('the lease is over');
};
const lost: ProvenFence = { ...lease, prove: async () => isOver() };

test('a trial is measured under its lease, and the DUT keeps the token over its boots', () =>
  onTestbed({}, async ({ testbed, lab }) => {
    expect(await testbed.trial(trialOf('patched', 1), async () => {}, signal)).toMatchObject({
      kind: 'measured',
      runs: [{ validity: { kind: 'valid' } }],
    });
    await testbed.restore();
    expect(lab.dut.machine.boots).toBe(2);
    expect(lab.state()).toMatchObject({ kernel: 'base', leftovers: [] });
    for (const machine of machinesOf(lab)) expect(tokensOn(machine)).toEqual(['7']);
  }));

test('a testbed that a later lease has is not touched any more, not even to be restored', () =>
  onTestbed({}, async ({ testbed, lab, config, deps }) => {
    const send = (variant: string, pair: number) => testbed.trial(trialOf(variant, pair), async () => {}, signal);
    expect(await send('patched', 1)).toMatchObject({ kind: 'measured' });
    await raiseFences(config, { ...held, token: later }, deps.connect);
    const before = traceOf(lab);
    await expect(send('patched', 1)).rejects.toThrow(FencedError);
    await expect(send('base', 1)).rejects.toThrow(FencedError);
    // Listing variants again removes nothing from the DUT.
    const variants = [builtVariant('middle', { ident: 'middle' }, temporaryFolder())];
    await testbed.prepare({ ...request, variants });
    expect(testbed.ready()).toEqual(new Set(['middle']));
    await expect(send('middle', 2)).rejects.toThrow(FencedError);
    await expect(testbed.restore()).rejects.toThrow(FencedError);
    expect(traceOf(lab)).toEqual(before);
    expect(lab.state()).toMatchObject({ kernel: 'patched', stage: 'up', power: 'on' });
  }));

test('the power of a DUT that hangs is left alone where its generators have seen a later lease', async () => {
  const options: FreebsdLabOptions = { faults: [{ kind: 'hang-at-boot', at: 1 }] };
  await onTestbed(options, async ({ testbed, lab }) => {
    const taken = () => lab.dut.machine.stage === 'hung' && lay(lab.receiver, String(later));
    lab.dut.machine.watchers.add(taken);
    const trial = testbed.trial(trialOf('patched', 1), async () => {}, signal);
    await expect(trial).rejects.toThrow('a later lease (token 8) has replaced ours');
    expect(lab.dut.machine).toMatchObject({ stage: 'hung', boots: 1 });
  });
});

test('a generator that cannot be reached does not keep the power from being cycled', async () => {
  await using lab = await startFreebsdLab({ cabling: { generators: 'separate' } });
  const { power } = await openedPower(lab);
  setCutOff(lab.receiver.machine, true);
  await power.cycle();
  expect(lab.dut.machine.boots).toBe(1);
  lay(only(lab.senders), String(later));
  await expect(power.cycle()).rejects.toThrow(FencedError);
  expect(lab.dut.machine.boots).toBe(1);
});

// The new holder needs the power, and the DUT's only console session.
test('power and console are touched only if the store confirms the lease', async () => {
  await using lab = await startFreebsdLab();
  const { power } = await openedPower(lab, lost);
  await expect(power.cycle()).rejects.toThrow(RangeError);
  const openConsole = () => Promise.reject(new TypeError('It was opened.'));
  const deps = fencedDeps({ ...depsOf(lab), openConsole }, testbedOf(lab, temporaryFolder()), lost);
  await expect(deps.openConsole('the DUT', labConsole, () => {})).rejects.toThrow(RangeError);
  expect(machinesOf(lab).flatMap(({ journal }) => journal)).toEqual([]);
  expect(lab.dut.machine.boots).toBe(0);
});

test('an appliance forgets its tokens at a boot, and gets ours at the next login', async () => {
  await using lab = await startFreebsdLab({ root: 'nanobsd' });
  const config = testbedOf(lab, temporaryFolder());
  const connect = fencedConnect(depsOf(lab).connect, held);
  const before = await connect(config.dut, 'DUT');
  expect(tokensOn(lab.dut)).toEqual(['7']);
  await before.output(shell`shutdown -r now`);
  await before.close();
  await lab.clock.sleep(130);
  expect(tokensOn(lab.dut)).toEqual([]);
  await (await connect(config.dut, 'DUT')).close();
  expect(tokensOn(lab.dut)).toEqual(['7']);
});

test('refuses to log in under a lease that has expired or was replaced', async () => {
  await using lab = await startFreebsdLab();
  const config = testbedOf(lab, temporaryFolder());
  const { open, opened, connect } = counting(depsOf(lab));
  const login = fencedConnect(connect, { ...held, assertHeld: isOver })(config.dut, 'DUT');
  await expect(login).rejects.toThrow(RangeError);
  expect(opened()).toBe(0);
  lay(lab.dut, String(later));
  await expect(fencedConnect(connect, held)(config.dut, 'DUT')).rejects.toThrow(FencedError);
  expect(open.size).toBe(0);
});

test('every machine of a FreeBSD or Linux testbed is fenced, and none of an embedded one', async () => {
  await using lab = await startFreebsdLab({ cabling: { generators: 'separate' } });
  const config = testbedOf(lab, temporaryFolder());
  const linux: LinuxTestbed = {
    kind: 'linux',
    dut: { ...config.dut, ingress: 'eth0', egress: 'eth1', cpu: 0 },
    sender: { ...only(config.senders), cpu: 0 },
    receiver: config.receiver,
  };
  const { open, opened, connect } = counting(depsOf(lab));
  await raiseFences({ kind: 'embedded-linux' }, held, connect);
  expect(opened()).toBe(0);
  await raiseFences(config, held, connect);
  expect(machinesOf(lab).map(tokensOn)).toEqual([['7'], ['7'], ['7']]);
  await raiseFences(linux, { ...held, token: later }, connect);
  expect(machinesOf(lab).map(tokensOn)).toEqual([['8'], ['8'], ['8']]);
  expect(open.size).toBe(0);
});

type Opened = {
  testbed: Awaited<ReturnType<typeof openFreebsdTestbed>>;
  lab: FreebsdLab;
  config: FreebsdTestbed;
  deps: FreebsdDeps;
};

/** A testbed that is held by our lease. */
async function onTestbed(options: FreebsdLabOptions, work: (opened: Opened) => Promise<void>): Promise<void> {
  await using lab = await startFreebsdLab(options);
  const folder = temporaryFolder();
  const config = testbedOf(lab, folder);
  const deps = depsOf(lab);
  const testbed = await openFreebsdTestbed(
    'shelf',
    config,
    { ...usualTraffic, measureSeconds: 30 },
    fencedDeps(deps, config, lease),
  );
  await testbed.prepare({
    ...request,
    variants: ['base', 'patched'].map((ident) => builtVariant(ident, { ident }, folder)),
  });
  await work({ testbed, lab, config, deps });
}

const trialOf = (variant: string, pair: number): PlannedTrial => ({
  number: 2 * pair,
  cell: inet4,
  runs: [{ number: 2 * pair, variant, pair }],
});

async function openedPower(lab: FreebsdLab, fence = lease) {
  const config = testbedOf(lab, temporaryFolder());
  const deps = fencedDeps(depsOf(lab), config, fence);
  const power = await deps.openPower('the DUT', { kind: 'command', on: [], off: [], state: [] });
  return { power };
}

/** Counts connections that were opened, and those still open. */
function counting(deps: FreebsdDeps) {
  const open = new Set<object>();
  let opened = 0;
  const connect: FreebsdDeps['connect'] = async (config: HostConfig, label, options) => {
    const host = await deps.connect(config, label, options);
    open.add(host);
    opened += 1;
    const close = async () => {
      open.delete(host);
      await host.close();
    };
    return { ...host, close, [Symbol.asyncDispose]: close };
  };
  return { open, opened: () => opened, connect };
}

const machinesOf = ({ dut, senders, receiver }: FreebsdLab): LabMachine[] => [...new Set([dut, ...senders, receiver])];

const tokensOn = ({ machine }: LabMachine): string[] => namesIn(machine.files, tokenFolder);

function lay({ machine: { files } }: LabMachine, token: string): void {
  makeFolder(files, tokenFolder, true);
  writeFile(files, `${tokenFolder}/${token}`, '');
}

/** All that an intruder could change in a laboratory, except a lower token beside the highest. */
const traceOf = (lab: FreebsdLab) => ({
  state: lab.state(),
  machines: machinesOf(lab).map(({ machine, journal }) => ({
    files: [...machine.files.nodes.keys()].filter((path) => !path.startsWith(tokenFolder)),
    commands: journal.map(({ command }) => command).filter((command) => !command.startsWith('sh -c')),
    boots: machine.boots,
    stage: machine.stage,
  })),
});

function only<Item>([item, ...more]: readonly Item[]): Item {
  if (item === undefined || more.length > 0) throw new TypeError('This is not one.');
  return item;
}
