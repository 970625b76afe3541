// Checks the set-up of a FreeBSD testbed: logins, ports, settings, kernels, power, speed.

import type { FreebsdTestbed, GeneratorConfig } from '../../config/freebsd-testbed.ts';
import type { Traffic } from '../../config/schema.ts';
import { whyNoRoot } from '../../kernel/needed-modules.ts';
import { isFlowControlUnknown } from '../../model/freebsd-drivers.ts';
import { netmapPort } from '../../model/freebsd-port.ts';
import { lastLine } from '../../model/one-line.ts';
import type { Family } from '../../model/scenario.ts';
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { type BootMethodName, whyUnfit } from '../freebsd/boot/boot.ts';
import { loadedModules } from '../freebsd/boot/boot-modules.ts';
import { fileSystemsOf } from '../freebsd/boot/boot-system.ts';
import { type Interface, parseIfconfig } from '../freebsd/dut/network.ts';
import { generatorPortSettings } from '../freebsd/dut/ports.ts';
import { advice, problemOf, readsOf, type SettingProblem, waived } from '../freebsd/dut/setting.ts';
import { checkSettings, type SettingsContext, settingsCommands } from '../freebsd/dut/settings.ts';
import { minMtu, shortMtu } from '../freebsd/mtu.ts';
import { onceSettled, pathProblems, readAll, settingsContext } from '../freebsd/preflight.ts';
import { firewallWarnings, siteFirewalls } from '../freebsd/rules.ts';
import { type BuilderMachine, builderSteps } from './builder-check.ts';
import { consoleStep } from './console-check.ts';
import {
  type CheckedMachine,
  type CheckStep,
  type Diagnostic,
  does,
  inGigabytes,
  limits,
  loginStep,
  ok,
  on,
  skipped,
  sshTo,
  testbedFailed,
  typed,
  unquoted,
  walk,
  wrong,
} from './diagnostic.ts';
import { checkCeiling } from './freebsd-ceiling.ts';
import { type CheckDeps, powerCycled, powerSteps } from './power-check.ts';

export type FreebsdCheck = {
  name: string;
  testbed: FreebsdTestbed;
  families: readonly Family[];
  traffic: Traffic;
  frameSizes?: readonly number[];
  sends: boolean;
  cycles: boolean;
};

/** Changes nothing on any machine, except for the DUT's power cycle. */
export async function* checkFreebsdTestbed(check: FreebsdCheck, deps: CheckDeps): AsyncGenerator<Diagnostic> {
  await using opened = new AsyncDisposableStack();
  const lab = checkedTestbed(check, deps);
  for (const machine of allOf(lab)) opened.defer(async () => machine.host?.close());
  yield* walk(stepsOf(lab), { signal: deps.signal, failed: testbedFailed });
}

type CheckedTestbed = FreebsdCheck & {
  deps: CheckDeps;
  dut: CheckedMachine;
  generators: GeneratorMachine[];
  builder: BuilderMachine | undefined;
};

/** A sender and the receiver are often the same machine. */
type GeneratorMachine = CheckedMachine & { roles: GeneratorRole[] };

type GeneratorRole = { label: string; port: GeneratorConfig };

const allOf = ({ dut, generators, builder }: CheckedTestbed): CheckedMachine[] => [
  dut,
  ...generators,
  ...(builder === undefined ? [] : [builder]),
];

function checkedTestbed(check: FreebsdCheck, deps: CheckDeps): CheckedTestbed {
  const { builder } = check.testbed;
  return {
    ...check,
    deps,
    ...machinesOf(check.testbed),
    builder: builder && { label: 'the builder', config: builder, host: undefined },
  };
}

export function machinesOf({ dut, senders, receiver }: FreebsdTestbed): {
  dut: CheckedMachine;
  generators: GeneratorMachine[];
} {
  const roles: GeneratorRole[] = [
    ...senders.map((port, index) => ({
      port,
      label: senders.length === 1 ? 'the sender' : `sender ${index + 1}`,
    })),
    { port: receiver, label: 'the receiver' },
  ];
  const login = ({ port }: GeneratorRole) => `${port.user}@${port.host.toLowerCase()} ${port.port}`;
  const generators = [...Map.groupBy(roles, login).values()].map(
    (same): GeneratorMachine => ({
      label: same.map(({ label }) => label).join(' and '),
      config: same[0]?.port ?? receiver,
      roles: same,
      host: undefined,
    }),
  );
  return { dut: { label: 'the DUT', config: dut, host: undefined }, generators };
}

function stepsOf(lab: CheckedTestbed): CheckStep[] {
  const { dut, generators, builder, deps, testbed } = lab;
  const dutPorts = dutPortSteps(testbed, dut, deps);
  const generatorSteps = generators.flatMap((machine) => [
    ...generatorPortSteps(machine, deps),
    on(machine, `the flow control of ${machine.label}`, (host, what) => flowControl(host, machine, what)),
    on(machine, `pkt-gen on ${machine.label}`, pktGen),
    on(machine, `netmap on ${machine.label}`, netmap),
  ]);
  const mtus = mtuSteps(lab);
  const ports = dutPorts.map(({ what }) => what);
  const paths: CheckStep = {
    ...on(dut, 'the routes and neighbours of the DUT', (host, what) => pathsOf(lab, host, what)),
    needs: [sshTo(dut), ...ports],
  };
  const trafficNeeds = [
    sshTo(dut),
    ...ports,
    paths.what,
    powerCycled,
    ...[...generatorSteps, ...mtus].map(({ what }) => what),
  ];
  return [
    ...allOf(lab).map((machine) => loginStep(machine, deps.connect)),
    ...allOf(lab).map((machine) => on(machine, `FreeBSD on ${machine.label}`, release)),
    ...dutPorts,
    ...generatorSteps,
    ...mtus,
    paths,
    {
      ...on(dut, 'the settings of the DUT', (host, what) => settingsOf(lab, host, what)),
      needs: [sshTo(dut), ...ports],
    },
    on(dut, 'the firewalls of the DUT', firewalls),
    ...bootSteps(lab),
    ...builderSteps(builder),
    ...moduleSteps(lab),
    ...powerSteps(lab),
    consoleStep(lab),
    checkCeiling(lab, trafficNeeds),
  ];
}

const oldestRelease = 12;

async function release(host: Host, what: string): Promise<Diagnostic[]> {
  const system = lastLine(await host.output(shell`uname -s -r`, limits)) ?? '';
  const [, major] = /^FreeBSD (\d+)/.exec(system) ?? [];
  if (major === undefined) return [wrong(what, `it runs ${system}`, 'install FreeBSD on it')];
  if (Number(major) >= oldestRelease) return [ok(what, system)];
  return [wrong(what, `it runs ${system}`, `install FreeBSD ${oldestRelease} or later`)];
}

type Sleeper = Pick<CheckDeps, 'sleep'>;

export const dutPortSteps = ({ dut }: FreebsdTestbed, machine: CheckedMachine, deps: Sleeper): CheckStep[] =>
  [dut.ingress, dut.egress].map(({ interface: name }) =>
    on(machine, `${name} of the DUT`, (host, what) => dutPort(host, name, what, deps)),
  );

export const generatorPortSteps = (machine: GeneratorMachine, deps: Sleeper): CheckStep[] =>
  machine.roles.map((role) => {
    const what = `${netmapPort(role.port.interface)} of ${role.label}`;
    return on(machine, what, (host) => generatorPort(host, role, what, deps));
  });

async function dutPort(host: Host, name: string, what: string, deps: Sleeper): Promise<Diagnostic[]> {
  const port = await settledInterface(host, name, deps);
  if (port === undefined) return [await noInterface(host, name, what)];
  return [linkOf(port, 'the DUT', what)];
}

/** Seconds without a link, at both ends of the cable, after pkt-gen had the port open. */
const settleSeconds = 5;

async function settledInterface(host: Host, name: string, deps: Sleeper): Promise<Interface | undefined> {
  const port = await interfaceOn(host, name);
  if (port === undefined || port.isActive || !port.flags.includes('UP')) return port;
  await deps.sleep(settleSeconds);
  return interfaceOn(host, name);
}

async function interfaceOn(host: Host, name: string): Promise<Interface | undefined> {
  const outcome = await host.run(shell`ifconfig ${name}`, limits);
  return isGood(outcome) ? parseIfconfig(outcome.stdout) : undefined;
}

async function noInterface(host: Host, name: string, what: string): Promise<Diagnostic> {
  const names = lastLine(await host.output(shell`ifconfig -l`, limits)) ?? 'nothing';
  const why = `there is no ${name}: ifconfig lists ${names}`;
  return wrong(what, why, 'correct `interface` in ppsgate.yml, or load the driver of its card');
}

const speedOf = ({ gigabits, media }: Interface): string =>
  gigabits === undefined ? (media ?? 'it is active') : `${gigabits} Gbit/s`;

async function generatorPort(
  host: Host,
  { label, port: { interface: name, mac } }: GeneratorRole,
  what: string,
  deps: Sleeper,
): Promise<Diagnostic[]> {
  const opened = netmapPort(name);
  const port = await settledInterface(host, opened, deps);
  const native = opened === name ? undefined : await interfaceOn(host, name);
  if (port === undefined && native !== undefined) {
    const fix = `put \`hw.cxgbe.num_vis="2"\` into /boot/loader.conf of ${label}, and reboot it`;
    return [wrong(what, `${name} exists, but its interface for netmap, ${opened}, does not`, fix)];
  }
  if (port === undefined) return [await noInterface(host, opened, what)];
  return [linkOf(port, label, what), macOf(port, mac, native, what)];
}

function linkOf(port: Interface, label: string, what: string): Diagnostic {
  const { name, flags } = port;
  if (!flags.includes('UP')) {
    const up = typed(shell`ifconfig ${name} up`);
    const fix = `run ${up} on ${label}, and add a line \`ifconfig_${name}\` to its /etc/rc.conf for every boot`;
    return wrong(what, 'it is down', fix);
  }
  if (port.isActive) return ok(what, speedOf(port));
  return wrong(what, 'it has no link', 'check its cable, its transceiver and the port at the other end');
}

function macOf({ mac }: Interface, configured: string, native: Interface | undefined, port: string): Diagnostic {
  const what = `the MAC address of ${port}`;
  if (mac === configured) return ok(what, configured);
  const whose = native?.mac === configured ? `, the address of ${native.name}` : '';
  const why = `it is ${mac ?? 'none'}, but ppsgate.yml has ${configured}${whose}`;
  return wrong(what, why, `write \`mac: "${mac}"\` in ppsgate.yml, and into static_arp and static_ndp of the DUT`);
}

async function flowControl(host: Host, { roles }: GeneratorMachine, what: string): Promise<Diagnostic[]> {
  const problems = await Promise.all(
    roles.map(async ({ label, port }) => {
      const settings = generatorPortSettings(port.interface);
      const outputs = await readAll(host, readsOf(settings));
      return settings
        .flatMap((setting) => problemOf(setting, outputs, label))
        .map((problem) => diagnosticOf(problem, label));
    }),
  );
  const diagnostics = problems.flat();
  const unknown = unknownFlowControl(roles.map(({ port }) => port.interface));
  return [...(diagnostics.length > 0 ? diagnostics : [ok(what, 'none is enabled')]), ...unknown];
}

const unknownFlowControl = (ports: readonly string[]): Diagnostic[] =>
  [...new Set(ports)]
    .filter(isFlowControlUnknown)
    .map((port) =>
      skipped(
        `the flow control of ${port}`,
        'the setting of its driver is unknown; turn pause frames off as described in its manual page, or a congested port slows its senders',
      ),
    );

/** Prints the usage, as it has no arguments. timeout(1) exits with 126 or 127 if it cannot start the program. */
async function pktGen(host: Host, what: string): Promise<Diagnostic[]> {
  const outcome = await host.run(shell`timeout 5 pkt-gen`, limits);
  const isThere = outcome.kind === 'exited' && outcome.code !== 126 && outcome.code !== 127;
  if (isThere) return [ok(what, 'it is installed')];
  return [wrong(what, 'it is not installed', 'run `pkg install pkt-gen` on it')];
}

async function netmap(host: Host, what: string): Promise<Diagnostic[]> {
  if (await does(host, shell`test -e /dev/netmap`)) return [ok(what, '/dev/netmap is there')];
  const fix = 'run `kldload netmap` on it, or boot a kernel with `device netmap` in its configuration';
  return [wrong(what, 'there is no /dev/netmap', fix)];
}

/** Smaller frames fit any MTU that IPv6 allows. */
const maxBytesOfAnyMtu = 1280;

function mtuSteps({ dut, generators, testbed, traffic, frameSizes }: CheckedTestbed): CheckStep[] {
  const frameBytes = Math.max(...(frameSizes ?? [traffic.frameBytes]));
  if (frameBytes <= maxBytesOfAnyMtu) return [];
  const step = (machine: CheckedMachine, label: string, port: string, role: keyof typeof minMtu) =>
    on(machine, `frames of ${frameBytes} bytes on ${port} of ${label}`, async (host, what) => {
      const short = await shortMtu(host, port, minMtu[role](frameBytes));
      return [short === undefined ? ok(what, 'they fit its MTU') : wrong(what, `it ${short.is}`, short.fix)];
    });
  const { ingress, egress } = testbed.dut;
  return [
    ...[ingress, egress].map((port) => step(dut, dut.label, port.interface, 'dut')),
    ...generators.flatMap((machine) =>
      machine.roles.map(({ label, port }) =>
        step(machine, label, netmapPort(port.interface), port === testbed.receiver ? 'receiver' : 'sender'),
      ),
    ),
  ];
}

const contextOf = ({ testbed, families, traffic }: CheckedTestbed): SettingsContext => ({
  ...settingsContext(testbed, families),
  addresses: traffic.packets?.addresses,
});

/** Separate from other settings, as a trial without routes would use the default route. */
async function pathsOf(lab: CheckedTestbed, host: Host, what: string): Promise<Diagnostic[]> {
  const { families } = lab;
  const problems = await pathProblems(host, { context: contextOf(lab), families });
  return problems.length === 0
    ? [ok(what, `both ways, ${lab.families.join(' and ')}`)]
    : problems.map((problem) => diagnosticOf(problem));
}

async function settingsOf(lab: CheckedTestbed, host: Host, what: string): Promise<Diagnostic[]> {
  const context = contextOf(lab);
  const { waive = {} } = lab.testbed;
  const read = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
  const settled = await onceSettled(read, lab.deps.sleep);
  const problems = settled.filter(({ isVital }) => !isVital);
  const superfluous = Object.keys(waive)
    .filter((name) => problems.every(({ setting }) => setting !== name))
    .map((name) => ok(name, 'it passes, so remove it from `waive` in ppsgate.yml'));
  const but = problems.length === 0 ? '' : ' except the waived ones';
  return [
    ...(problems.every(({ isWaived }) => isWaived) ? [ok(what, `all pass${but}`)] : []),
    ...problems.map((problem) => diagnosticOf(problem)),
    ...unknownFlowControl([lab.testbed.dut.ingress, lab.testbed.dut.egress].map((port) => port.interface)),
    ...superfluous,
  ];
}

async function firewalls(host: Host, what: string): Promise<Diagnostic[]> {
  const warnings = await firewallWarnings(host, await siteFirewalls(host));
  if (warnings.length === 0) return [ok(what, 'none is enabled')];
  return warnings.map((sentence) => ok(what, sentence.replace(/\.$/, '')));
}

function diagnosticOf({ setting, message, fix, isWaived }: SettingProblem, where = 'the DUT'): Diagnostic {
  if (isWaived) return ok(setting, message.replace(`${setting} `, '').replace(/\.$/, ''));
  const fixed = advice(fix, where);
  const why = message.replace(`${setting} `, '').replace(`: ${fixed}.`, '');
  return wrong(setting, unquoted(why), unquoted(fixed));
}

function bootSteps({ dut, testbed }: CheckedTestbed): CheckStep[] {
  const { method } = testbed.dut.boot;
  const boots = on(dut, `the boot method, ${method}`, (host, what) => bootMethod(host, method, what));
  // An image goes into a slice, not into /boot.
  if (method === 'nanobsd') return [boots];
  return [boots, on(dut, 'the space in /boot of the DUT', bootSpace)];
}

const tools: Record<BootMethodName, string> = {
  nextboot: '/sbin/nextboot',
  'boot-environment': '/sbin/bectl',
  nanobsd: '/usr/local/sbin/upgrade',
};

/** Does not call the tools, as each would change the next boot. */
async function bootMethod(host: Host, method: BootMethodName, what: string): Promise<Diagnostic[]> {
  const tool = tools[method];
  if (!(await does(host, shell`test -e ${tool}`))) {
    const other = 'choose another `boot.method` in ppsgate.yml';
    return [wrong(what, `the DUT has no ${tool}`, other)];
  }
  const unfit = await whyUnfit(host, method);
  if (unfit !== undefined) return [wrong(what, unfit.why, unfit.fix)];
  const [root] = await fileSystemsOf(host, ['/']);
  const device = root?.device;
  return [ok(what, `${tool} is there, and the root is on ${device}`)];
}

/** Checks that kernels are built with the modules that the DUT needs to find its root. */
function moduleSteps({ dut, testbed: { builder } }: CheckedTestbed): CheckStep[] {
  if (builder?.recipe.kind !== 'make') return [];
  const { recipe } = builder;
  const run = async (host: Host, what: string): Promise<Diagnostic[]> => {
    const loaded = await loadedModules(host);
    const why = whyNoRoot(recipe, loaded);
    if (why !== undefined) return [wrong(what, why, 'add zfs to it, or remove it')];
    return [ok(what, `${loaded.names.join(' ') || 'none'} of FreeBSD ${loaded.release}`)];
  };
  return [on(dut, 'the modules that the DUT has loaded', run)];
}

const minBootBytes = 1e9;

async function bootSpace(host: Host, what: string): Promise<Diagnostic[]> {
  const [boot] = await fileSystemsOf(host, ['/boot']);
  const bytes = boot?.availableBytes ?? 0;
  if (bytes >= minBootBytes) return [ok(what, `${inGigabytes(bytes)} free`)];
  const why = `${inGigabytes(bytes)} free, and two kernels need ${inGigabytes(minBootBytes)}`;
  return [wrong(what, why, 'remove old kernels such as kernel.old; `ls /boot` lists them')];
}
