// Checks after each use that a testbed is as before. Changes nothing on it.

import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { LinuxTestbed, TestbedConfig } from '../../config/schema.ts';
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';
import type { BootMethodName } from '../freebsd/boot/boot.ts';
import { isOurs, runningSystem } from '../freebsd/boot/boot-system.ts';
import { nextRoot } from '../freebsd/dut/slices.ts';
import { bounded } from '../freebsd/freebsd-deps.ts';
import { proofOf, rulesFolder, siteFirewalls } from '../freebsd/rules.ts';
import { firewallsOn, removalCommands } from '../freebsd/scenario.ts';
import { ourFolder, ourPrograms } from '../netns/netns-testbed.ts';
import {
  type CheckedMachine,
  type CheckStep,
  type Connect,
  type Diagnostic,
  does,
  limits,
  loginStep,
  ok,
  on,
  skipped,
  testbedFailed,
  typed,
  walk,
  wrong,
} from './diagnostic.ts';
import { dutPortSteps, generatorPortSteps, machinesOf } from './freebsd-check.ts';
import { interfaceStep, linuxMachinesOf } from './linux-check.ts';
import { type CheckDeps, powerSteps } from './power-check.ts';

export async function* healthOf(testbed: TestbedConfig, deps: CheckDeps): AsyncGenerator<Diagnostic> {
  await using opened = new AsyncDisposableStack();
  const connect: Connect = async (host, label) => {
    const connected = opened.use(await deps.connect(host, label));
    return bounded(connected, limits.timeoutSeconds);
  };
  yield* walk(stepsOf(testbed, { ...deps, connect }), {
    signal: deps.signal,
    failed: testbedFailed,
  });
}

export function whyUnhealthy(diagnostics: readonly Diagnostic[]): string | undefined {
  const [first, ...others] = diagnostics.filter(({ kind }) => kind === 'wrong');
  if (first === undefined) return undefined;
  const sentence = `${first.what}: ${first.why.replace(/\.$/, '')}`;
  if (others.length === 0) return `${sentence}.`;
  const more = others.length === 1 ? 'one more check' : `${others.length} more checks`;
  return `${sentence} (and ${more} failed).`;
}

function stepsOf(testbed: TestbedConfig, deps: CheckDeps): CheckStep[] {
  switch (testbed.kind) {
    case 'embedded-linux':
    case 'virtual':
      return [embedded];
    case 'linux':
      return linuxSteps(testbed, deps);
    case 'freebsd':
      return freebsdSteps(testbed, deps);
  }
}

const embedded: CheckStep = {
  what: 'the embedded lab',
  needs: [],
  run: async () => [
    skipped('the embedded lab', 'none exists between two experiments: each experiment creates its own'),
  ],
};

function freebsdSteps(testbed: FreebsdTestbed, deps: CheckDeps): CheckStep[] {
  const { dut, generators } = machinesOf(testbed);
  const { method } = testbed.dut.boot;
  const name = testbed.dut.host;
  return [
    ...[dut, ...generators].map((machine) => loginStep(machine, deps.connect)),
    on(dut, 'the kernel of the DUT', ownKernel),
    on(dut, 'the next boot of the DUT', (host, what) => nextBoot(host, method, what)),
    on(dut, 'the firewalls of the DUT', firewalls),
    on(dut, 'the files of the DUT', files),
    ...(method === 'boot-environment' ? [on(dut, 'the boot environments of the DUT', environments)] : []),
    ...generators.map((machine) => on(machine, `the programs on ${machine.label}`, pktGen)),
    ...dutPortSteps(testbed, dut, deps),
    ...generators.flatMap((machine) => generatorPortSteps(machine, deps)),
    ...powerSteps({ name, testbed, dut, cycles: false, deps }),
  ];
}

async function ownKernel(host: Host, what: string): Promise<Diagnostic[]> {
  const system = await runningSystem(host);
  const kernel = `${system.kernel} of ${system.root}`;
  if (!isOurs(system)) return [ok(what, `it runs ${kernel}`)];
  const fix = `${typed(shell`shutdown -r now`)} on the DUT to boot its own kernel`;
  return [wrong(what, `it still runs ${kernel} of an experiment`, fix)];
}

async function nextBoot(host: Host, method: BootMethodName, what: string): Promise<Diagnostic[]> {
  if (method === 'nanobsd') return [await nextSlice(host, what)];
  if (await does(host, shell`test -e ${'/boot/nextboot.conf'}`)) {
    const fix = `${typed(shell`nextboot -D`)} on the DUT`;
    return [wrong(what, '/boot/nextboot.conf selects another kernel for it', fix)];
  }
  const once = method === 'boot-environment' ? await activatedOnce(host) : undefined;
  if (once === undefined) return [ok(what, 'no other kernel is selected')];
  const fix = `${typed(shell`bectl activate -T`)} on the DUT`;
  return [wrong(what, `the boot environment ${once} is activated for the next boot`, fix)];
}

/** Compares the next boot with the current one, as an appliance does not know its own slice. */
async function nextSlice(host: Host, what: string): Promise<Diagnostic> {
  const [{ root }, next] = [await runningSystem(host), await nextRoot(host)];
  if (next === root) return ok(what, `from ${root}, the running slice`);
  const fix = `make the slice of ${root} active again manually`;
  return wrong(what, `it will boot from ${next}, but the DUT runs from ${root}`, fix);
}

type Environment = { name: string; flags: string };

async function environmentsOn(host: Host): Promise<Environment[]> {
  const rows = (await host.output(shell`bectl list -H`)).trim().split('\n');
  return rows.map((row) => {
    const [name = '', flags = ''] = row.split('\t');
    return { name, flags };
  });
}

const activatedOnce = async (host: Host): Promise<string | undefined> =>
  (await environmentsOn(host)).find(({ flags }) => flags.includes('T'))?.name;

const isOurName = (name: string): boolean => name.startsWith('ppsgate.');

async function environments(host: Host, what: string): Promise<Diagnostic[]> {
  const names = (await environmentsOn(host)).map(({ name }) => name).filter(isOurName);
  if (names.length === 0) return [ok(what, 'nothing of an experiment is left')];
  const destroy = names.map((name) => typed(shell`bectl destroy -F -o ${name}`));
  return [wrong(what, `left behind: ${names.join(', ')}`, `${destroy.join(', ')} on the DUT`)];
}

async function files(host: Host, what: string): Promise<Diagnostic[]> {
  const names = (await host.output(shell`ls -1 /boot`)).split('\n').filter(isOurName);
  const hasRules = await does(host, shell`test -e ${rulesFolder}`);
  const leftovers = [...names.map((name) => `/boot/${name}`), ...(hasRules ? [rulesFolder] : [])];
  if (leftovers.length === 0) return [ok(what, 'nothing of an experiment is left')];
  const fix = `${typed(shell`rm -rf ${leftovers}`)} on the DUT`;
  return [wrong(what, `left behind: ${leftovers.join(', ')}`, fix)];
}

async function firewalls(host: Host, what: string): Promise<Diagnostic[]> {
  const ofSite = await siteFirewalls(host);
  const on = firewallsOn(await proofOf(host));
  const stranger = on.find((name) => !ofSite.includes(name));
  if (stranger === undefined) {
    return [ok(what, on.length === 0 ? 'none filters packets' : `${on.join(' and ')} of its own`)];
  }
  const commands = removalCommands.flat().map(typed).join(', ');
  const fix = `run ${commands} on the DUT; commands of an absent firewall fail`;
  return [wrong(what, `${stranger} is enabled`, fix)];
}

const pktGen = (host: Host, what: string): Promise<Diagnostic[]> => programs(host, what, shell`pgrep -x pkt-gen`);

/** pgrep(1) exits with 1 if nothing matches. */
async function programs(host: Host, what: string, pgrep: Command): Promise<Diagnostic[]> {
  const outcome = await host.run(pgrep, limits);
  if (outcome.kind === 'exited' && outcome.code === 1) return [ok(what, 'nothing of an experiment is left')];
  if (!isGood(outcome)) {
    return [wrong(what, `${typed(pgrep)} fails`, 'run it there and fix the error')];
  }
  const ids = outcome.stdout.trim().split('\n');
  const fix = `${typed(shell`kill ${ids}`)} there`;
  return [wrong(what, `still running, with process IDs ${ids.join(', ')}`, fix)];
}

function linuxSteps(testbed: LinuxTestbed, deps: CheckDeps): CheckStep[] {
  const machines = linuxMachinesOf(testbed);
  const { sender, dut } = machines;
  const all = Object.values(machines);
  return [
    ...all.map((machine) => loginStep(machine, deps.connect)),
    ...[sender, dut].flatMap((machine) => [
      on(machine, `the programs on ${machine.label}`, linuxPrograms),
      on(machine, `the files of ${machine.label}`, linuxFiles),
    ]),
    ...all.flatMap((machine) =>
      machine.names.flatMap((name) => [interfaceStep(machine, name), linkStep(machine, name)]),
    ),
  ];
}

const linuxPrograms = (host: Host, what: string): Promise<Diagnostic[]> =>
  programs(host, what, shell`pgrep ${ourPrograms}`);

/** The DUT's files contain its former rules and settings. */
async function linuxFiles(host: Host, what: string): Promise<Diagnostic[]> {
  const outcome = await host.run(shell`ls -A ${ourFolder}`, limits);
  const names = isGood(outcome) ? outcome.stdout.split('\n').filter(Boolean) : [];
  if (names.length === 0) return [ok(what, 'nothing of an experiment is left')];
  const leftovers = names.map((name) => `${ourFolder}/${name}`);
  const script = `${ourFolder}/dut/dut.bash`;
  const restoreFirst = names.includes('dut') ? `${typed(shell`bash ${script} restore`)} and then ` : '';
  const fix = `${restoreFirst}${typed(shell`rm -rf ${ourFolder}`)} there`;
  return [wrong(what, `left behind: ${leftovers.join(', ')}`, fix)];
}

/** The kernel reports no carrier for an interface that is down. */
function linkStep(machine: CheckedMachine, name: string): CheckStep {
  const what = `the link of ${name} of ${machine.label}`;
  const readCarrier = shell`cat ${`/sys/class/net/${name}/carrier`}`;
  return {
    ...on(machine, what, async (host) => {
      const outcome = await host.run(readCarrier, limits);
      if (!isGood(outcome)) {
        const up = typed(shell`ip link set ${name} up`);
        return [wrong(what, 'the interface is down', `${up} on ${machine.label}`)];
      }
      if (outcome.stdout.trim() === '1') return [ok(what, 'it is up')];
      const fix = 'check its cable, its transceiver and the port at the other end';
      return [wrong(what, 'it does not exist', fix)];
    }),
    needs: [interfaceStep(machine, name).what],
  };
}
