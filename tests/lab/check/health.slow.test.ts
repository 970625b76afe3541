import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import { type Diagnostic, ok, skipped, wrong } from '../../../src/lab/check/diagnostic.ts';
import { healthOf, whyUnhealthy } from '../../../src/lab/check/health.ts';
import type { CheckDeps } from '../../../src/lab/check/power-check.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import type { FreebsdDeps } from '../../../src/lab/freebsd/freebsd-deps.ts';
import { openFreebsdTestbed, wakeFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { type Command, commandText, shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { nextbootFile } from '../../fakes/freebsd-lab/machine.ts';
import { builtVariant, depsOf, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';

const signal = new AbortController().signal;

type Setup = FreebsdLabOptions & { method?: FreebsdTestbed['dut']['boot']['method'] };

async function aTestbed({ method = 'nextboot', ...options }: Setup = {}) {
  const lab = await startFreebsdLab(options);
  onTestFinished(() => lab.stop());
  const folder = temporaryFolder();
  const testbed = testbedOf(lab, folder);
  testbed.dut.boot = { method, limitSeconds: 600 };
  const health = async (changes: Partial<CheckDeps> = {}): Promise<Diagnostic[]> =>
    Array.fromAsync(healthOf(testbed, { ...depsOf(lab), notify() {}, signal, ...changes }));
  return { lab, folder, testbed, health };
}

const wrongs = (diagnostics: readonly Diagnostic[]) => diagnostics.filter(({ kind }) => kind === 'wrong');

/** All files of a machine, and its other state that could change. */
function picture(lab: FreebsdLab): unknown {
  const machines = [lab.dut, lab.receiver, ...lab.senders].map(({ machine }) => ({
    files: structuredClone([...machine.files.nodes]),
    sysctls: structuredClone([...machine.sysctls]),
    boots: machine.boots,
  }));
  return [machines, lab.state()];
}

test('an unused testbed is healthy, and the check changes nothing', async () => {
  const { health, lab } = await aTestbed();
  const before = picture(lab);
  const diagnostics = await health();
  expect(diagnostics.filter(({ kind }) => kind !== 'ok')).toEqual([]);
  expect(whyUnhealthy(diagnostics)).toBeUndefined();
  expect(picture(lab)).toEqual(before);
});

test('a firewall that the site starts at boot is its own', async () => {
  const { health } = await aTestbed({ ownFirewalls: ['pf'] });
  const diagnostics = await health();
  expect(wrongs(diagnostics)).toEqual([]);
  expect(diagnostics).toContainEqual({
    kind: 'ok',
    what: 'the firewalls of the DUT',
    why: 'pf of its own',
  });
});

/** Changes to the DUT, by hand or by an experiment. */
const onDut = async (lab: FreebsdLab, ...commands: readonly Command[]) => {
  await using host = await connect(lab.dut.target);
  for (const command of commands) await host.output(command);
};

function layFolder({ dut }: FreebsdLab, path: string): void {
  makeFolder(dut.machine.files, path, true);
  writeFile(dut.machine.files, `${path}/kernel`, 'FreeBSD 14.0-CURRENT #0 patched\n');
}

const onZfs: Setup = { root: 'zfs', method: 'boot-environment' };

/** Faults of a testbed after use. */
const spoilt: Record<string, Setup & { spoil(lab: FreebsdLab): unknown }> = {
  'a port of the DUT that is down': {
    spoil: ({ dut }) => {
      const [port] = dut.machine.interfaces;
      if (port !== undefined) port.isUp = false;
    },
  },
  'a port of the receiver that is down': {
    spoil: ({ receiver }) => {
      const port = receiver.machine.interfaces.find(({ name }) => name === 'vcxl1');
      if (port !== undefined) port.isUp = false;
    },
  },
  'a folder of ours in /boot': { spoil: (lab) => layFolder(lab, '/boot/ppsgate.patched') },
  'rules or archives of ours': { spoil: (lab) => onDut(lab, shell`mkdir -p ${'/var/tmp/ppsgate'}`) },
  'another kernel that is ordered for the next boot': {
    spoil: ({ dut }) => writeFile(dut.machine.files, nextbootFile, 'nextboot_enable="YES"\nkernel="kernel.old"\n'),
  },
  'a boot environment of ours': {
    ...onZfs,
    spoil: (lab) => onDut(lab, shell`bectl create ppsgate.patched`),
  },
  'a boot environment that is activated for once': {
    ...onZfs,
    spoil: (lab) => onDut(lab, shell`bectl create other`, shell`bectl activate -t other`),
  },
  'an image in the slice that boots next': {
    root: 'nanobsd',
    method: 'nanobsd',
    spoil({ dut: { machine } }) {
      writeFile(machine.files, '/etc/fstab', '/dev/ufs/BSDRPs2a / ufs ro 1 1\n');
      if (machine.root.kind === 'nanobsd') machine.root.active = new Set(['s2']);
    },
  },
  'pf that is enabled': { spoil: (lab) => onDut(lab, shell`kldload pf`, shell`pfctl -e`) },
  'ipfw that is enabled': { spoil: (lab) => onDut(lab, shell`kldload ipfw`) },
  'a kernel of ours that still runs': {
    async spoil(lab) {
      layFolder(lab, '/boot/ppsgate.patched');
      await onDut(lab, shell`nextboot -k ppsgate.patched`, shell`shutdown -r now`);
      await lab.clock.sleep(200);
    },
  },
  'a pkt-gen that still runs': {
    cabling: { generators: 'separate' },
    async spoil({ receiver, cabling }) {
      const host = await connect(receiver.target);
      onTestFinished(() => host.close());
      const running = shell`timeout -s INT 1000000 pkt-gen -N -f rx -i ${cabling.receiver.interface} -w 4`;
      await new Promise<void>((started) => {
        host.run(running, { onStderr: () => started() }).catch(() => {});
      });
    },
  },
  'a DUT that is off': { spoil: ({ power }) => power.off() },
};

test('each fault is found with its fix, and nothing is changed', async () => {
  let text = '';
  for (const [name, { spoil, ...setup }] of Object.entries(spoilt)) {
    const { health, lab } = await aTestbed(setup);
    await spoil(lab);
    const before = picture(lab);
    const lines = (await health()).flatMap((one) =>
      one.kind === 'wrong' ? `  ${one.what}: ${one.why}\n    fix: ${one.fix}\n` : [],
    );
    text += `${name}\n${lines.join('')}`;
    expect(picture(lab), name).toEqual(before);
  }
  const masked = text.replaceAll(/127(?:\.\d+){3}:\d+/g, 'HOST').replaceAll(/\/\S*ppsgate-test-\w+\/\S*/g, 'PATH');
  await expect(masked).toMatchFileSnapshot('golden/health.txt');
});

test('one sentence names the first fault, and the number of others', () => {
  const one = wrong('the next boot of the DUT', 'something was ordered.', 'cancel it');
  expect(whyUnhealthy([])).toBeUndefined();
  expect(whyUnhealthy([ok('a', 'b'), skipped('c', 'd')])).toBeUndefined();
  expect(whyUnhealthy([ok('a', 'b'), one])).toBe('the next boot of the DUT: something was ordered.');
  expect(whyUnhealthy([one, one])).toBe('the next boot of the DUT: something was ordered (and one more check failed).');
  expect(whyUnhealthy([one, one, one])).toBe(
    'the next boot of the DUT: something was ordered (and 2 more checks failed).',
  );
});

/** Connects to machines that other users may need: they respond at once, or not at all. */
const impatient: FreebsdDeps['connect'] = (host, label) =>
  connectTo(host, label, { keepaliveSeconds: 0, timeoutSeconds: 2 });

const never = new Promise<never>(() => {});

/** Simulates a controller that loses its power: it then neither sends nor receives, and the machines do not notice. */
function mortal(deps: FreebsdDeps, diesAt: (command: string) => boolean) {
  const { promise: death, resolve } = Promise.withResolvers<void>();
  let isDead = false;
  const die = () => {
    isDead = true;
    resolve();
  };
  const whileAlive = async <T>(work: () => Promise<T>, command?: Command): Promise<T> => {
    if (command !== undefined && diesAt(commandText(command))) die();
    if (isDead) return never;
    const [outcome] = await Promise.allSettled([work()]);
    if (isDead) return never;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
  const mortalHost = (host: Host): Host => ({
    ...host,
    run: (command, options) => whileAlive(() => host.run(command, options), command),
    output: (command, options) => whileAlive(() => host.output(command, options), command),
    upload: (...words) => whileAlive(() => host.upload(...words)),
  });
  const mortalDeps: FreebsdDeps = {
    ...deps,
    connect: (...words) => whileAlive(async () => mortalHost(await deps.connect(...words))),
    sleep: (seconds) => whileAlive(() => deps.sleep(seconds)),
  };
  return { deps: mortalDeps, death, die };
}

type Death = Setup & {
  /** The command that it does not send any more. */
  command?: string;
  /** A state of the DUT. */
  stage?: 'booting' | 'hung' | 'under load';
  behaviour?: Behaviour;
  /** Rules are installed on the DUT's own kernel. */
  bootsNothing?: true;
  /** The DUT does not answer, and is waited for. */
  isAway?: true;
};

const deaths: Record<string, Death> = {
  'after a kernel was installed': { command: 'nextboot -k' },
  'after a kernel was installed in a boot environment': { ...onZfs, command: 'bectl activate -t' },
  'after a boot was ordered': { command: 'shutdown -r' },
  'after a boot environment was activated': { ...onZfs, command: 'shutdown -r' },
  'while a kernel of ours boots': { stage: 'booting', isAway: true },
  'while a kernel of ours hangs': { stage: 'hung', behaviour: { kind: 'hangs-at-boot' }, isAway: true },
  'after a boot environment of ours has booted': { ...onZfs, command: 'uname -v' },
  'with rules installed': { command: 'pfctl -e' },
  'during a trial from several senders': { stage: 'under load', cabling: { senders: 2, generators: 'separate' } },
  'during a trial through its own kernel': { stage: 'under load', bootsNothing: true },
};

const cell: Cell = { scenario: 'pf-stateful', family: 'inet4' };

/** Longer than any timeout. */
const endless = { ...usualTraffic, measureSeconds: 1e6, measureAtLeastSeconds: 1e6 };

/** A gate that comes as far as that. */
async function dieMeasuring(
  { lab, testbed, folder }: Awaited<ReturnType<typeof aTestbed>>,
  { command, stage, behaviour = { kind: 'works' }, bootsNothing }: Death,
): Promise<void> {
  const diesAt = (text: string) => command !== undefined && text.replaceAll("'", '').includes(command);
  const { deps, death, die } = mortal(depsOf(lab), diesAt);
  const { machine } = lab.dut;
  const look = () => {
    if (machine.stage === stage || (stage === 'under load' && machine.isOverloaded)) die();
  };
  machine.watchers.add(look);
  const controller = await openFreebsdTestbed('shelf', testbed, endless, deps);
  const built = builtVariant('patched', { ident: 'patched', behaviour }, folder);
  const { kernel: _, ...own } = built;
  const variants = [bootsNothing ? own : built];
  const keepLog = async () => {};
  await controller.prepare({ variants, cells: [cell], rules: {}, keepLog, notify() {}, signal });
  const run = { number: 1, variant: 'patched', pair: 1 };
  const trial = controller.trial({ number: 1, cell, runs: [run] }, keepLog, signal);
  await Promise.race([death, trial.then((outcome) => expect(outcome).toBe('cut short'))]);
  machine.watchers.delete(look);
}

describe('a controller that dies leaves a testbed', () => {
  // Its own disk is lost.
  beforeEach(() => vi.stubEnv('TMPDIR', temporaryFolder()));
  afterEach(() => vi.unstubAllEnvs());

  test.for(Object.entries(deaths))('%s, which is healthy once it is restored', async ([, death]) => {
    const { isAway, ...setup } = death;
    const used = await aTestbed(setup);
    const { lab, testbed, health } = used;
    await dieMeasuring(used, death);
    expect(whyUnhealthy(await health({ connect: impatient }))).toBeDefined();
    if (isAway) await wakeFreebsdTestbed('shelf', testbed, depsOf(lab));
    const next = await openFreebsdTestbed('shelf', testbed, usualTraffic, depsOf(lab));
    await next.restore();
    expect(wrongs(await health())).toEqual([]);
    expect(lab.state()).toMatchObject({
      stage: 'up',
      kernel: 'base',
      nextboot: undefined,
      leftovers: [],
      environments: lab.dut.machine.root.kind === 'zfs' ? ['default'] : [],
      scenario: 'forwarding',
      pf: { isEnabled: false, rules: [] },
    });
    const generators = [lab.receiver, ...lab.senders];
    expect(generators.map(({ machine }) => machine.programs.size)).toEqual(generators.map(() => 0));
  });

  test('with a kernel of ours that runs and another that was ordered, which boots twice', async () => {
    const { health, lab, testbed } = await aTestbed();
    layFolder(lab, '/boot/ppsgate.base');
    layFolder(lab, '/boot/ppsgate.patched');
    await onDut(lab, shell`nextboot -k ppsgate.base`, shell`shutdown -r now`);
    await lab.clock.sleep(200);
    await onDut(lab, shell`nextboot -k ppsgate.patched`);
    const next = await openFreebsdTestbed('shelf', testbed, usualTraffic, depsOf(lab));
    await next.restore();
    expect(wrongs(await health())).toEqual([]);
    expect(lab.dut.machine.boots).toBe(3);
  });
});

test('a clean testbed is restored without a reboot, and a generator gets one command each time', async () => {
  const { lab, testbed } = await aTestbed({ cabling: { generators: 'separate' } });
  await wakeFreebsdTestbed('shelf', testbed, depsOf(lab));
  const before = lab.receiver.journal.length;
  const opened = await openFreebsdTestbed('shelf', testbed, usualTraffic, depsOf(lab));
  await opened.restore();
  expect(lab.receiver.journal.slice(before).map(({ command }) => command)).toEqual([
    'pkill -INT -x pkt-gen',
    'pkill -INT -x pkt-gen',
  ]);
  expect(lab.dut.machine.boots).toBe(0);
});
