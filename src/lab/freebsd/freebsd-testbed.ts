// Runs FreeBSD machines as a testbed: boots kernels on the DUT, and runs pkt-gen on the machines around it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreebsdBuilder } from '../../config/cross-builder.ts';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import { noSums } from '../../kernel/kernel-sums.ts';
import type { Cell } from '../../model/scenario.ts';
import { HostError } from '../../system/host/host-error.ts';
import { thisMachine } from '../../system/host/local.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { ConsoleRecorder } from '../console/recorder.ts';
import type { Power, PowerConfig } from '../power/power.ts';
import type { Inspection, PrepareRequest, Testbed } from '../testbed.ts';
import { DutLostError } from './boot/boot.ts';
import { loadedModules } from './boot/boot-modules.ts';
import { hasBootedSinceMark } from './boot/boot-system.ts';
import { bootsOf, fingerprintOfDut, inspectDut, portsOf, setListed } from './boots.ts';
import { FreebsdDut, type FreebsdDutOptions, wakeFreebsdDut } from './dut/freebsd-dut.ts';
import { parseIfconfig } from './dut/network.ts';
import { bounded, type FreebsdDeps } from './freebsd-deps.ts';
import { type FreebsdMachines, profile, trial } from './freebsd-trial.ts';
import { Generators, silenceGenerators } from './generators.ts';
import { type KernelBuilder, Kernels } from './kernels.ts';
import { requireMtu } from './mtu.ts';
import { PreflightError } from './preflight.ts';
import { firewallWarnings, removeRules, rulesFolder, siteFirewalls } from './rules.ts';
import type { Firewall } from './scenario.ts';

export type OpenFreebsd = {
  lab: FreebsdMachines;
  dut: FreebsdDut;
  /** Begins to build or fetch kernels, which trials then wait for. */
  prepare(request: PrepareRequest): Promise<void>;
  restore(): Promise<void>;
};

/**
 * Connects to all machines, and ends generators of a lost controller. Throws a HostError if a machine is unreachable.
 */
export async function openFreebsdTestbed(
  name: string,
  config: FreebsdTestbed,
  traffic: Traffic,
  deps: FreebsdDeps,
): Promise<Testbed> {
  const { lab, prepare, restore } = await openFreebsdMachines(name, config, traffic, deps);
  return {
    name,
    inspect: (cells) => inspect(name, lab, cells),

    async prepare(request) {
      await prepare(request);
      return { kind: 'ready' };
    },

    ready: () => lab.prepared?.kernels.ready() ?? new Set(),

    trial: (planned, keepLog, signal) => trial(lab, planned, keepLog, signal),

    // Without power control, a DUT that hangs while sampled would cost the verdict.
    booted: () => (config.dut.power === undefined ? undefined : lab.boots.booted?.variant),

    profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),

    restore,
  };
}

/** Opens the machines of a testbed, for callers that do more than measure. */
export async function openFreebsdMachines(
  name: string,
  config: FreebsdTestbed,
  traffic: Traffic,
  deps: FreebsdDeps,
): Promise<OpenFreebsd> {
  await using opened = new AsyncDisposableStack();
  const cycles = { done: 0 };
  // Opens the generators first: the DUT does not reply while packets flow.
  const generators = await Generators.open(config, traffic, deps);
  opened.defer(() => generators.close());
  const console = consoleOf(name, config, deps);
  opened.defer(async () => console?.close());
  const dut = await FreebsdDut.open(await dutOptions(name, config, { deps, cycles, console }));
  opened.defer(() => dut.host().close());
  const { mac: dutMac, gigabits } = await ingressOf(dut.host(), config.dut.ingress.interface);
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-kernels-'));
  const boots = bootsOf(config, dut, deps, { addresses: traffic.packets?.addresses });
  const firewallsOfSite = await siteFirewalls(dut.host());
  const glitches = { inARow: 0 };
  const lab: FreebsdMachines = {
    boots,
    generators,
    cycles,
    console,
    glitches,
    firewallsOfSite,
    traffic,
    dutMac,
    lineGigabits: gigabits,
    prepared: undefined,
  };
  const over = new AbortController();
  opened.move();
  return {
    lab,
    dut,

    async prepare(request) {
      const { rules, variants } = request;
      if (lab.prepared === undefined) {
        // Runs while the DUT runs its own kernel, whose modules the builder must know.
        const builder = await builderFor(dut.host(), { name, builder: config.builder }, deps);
        lab.prepared = { kernels: new Kernels(folder, builder), rules };
      }
      lab.prepared.rules = rules;
      boots.mayDiffer = request.mayDiffer === true;
      setListed(
        boots,
        variants.map(({ variant }) => variant),
      );
      const signal = AbortSignal.any([request.signal, over.signal]);
      lab.prepared.kernels.list({ ...request, signal });
    },

    async restore() {
      over.abort(new Error('the testbed is released'));
      try {
        // The DUT does not reply while packets flow.
        await generators.silence();
        await giveBack(name, dut, firewallsOfSite);
      } finally {
        await Promise.allSettled([
          dut.host().close(),
          generators.close(),
          console?.close(),
          lab.prepared?.kernels.ended(),
        ]);
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Recovers the DUT after a dead controller, by a power cycle if needed. Throws a HostError or a DutLostError. */
export async function wakeFreebsdTestbed(name: string, config: FreebsdTestbed, deps: FreebsdDeps): Promise<void> {
  await silenceGenerators(config, deps);
  const console = consoleOf(name, config, deps);
  try {
    const cycles = { done: 0 };
    await wakeFreebsdDut(await dutOptions(name, config, { deps, cycles, console }));
  } finally {
    await console?.close();
  }
}

function consoleOf(name: string, { dut }: FreebsdTestbed, deps: FreebsdDeps): ConsoleRecorder | undefined {
  const { console } = dut;
  if (console === undefined) return undefined;
  const machine = `the DUT of ${name}`;
  return new ConsoleRecorder(machine, (onOutput) => deps.openConsole(machine, console, onOutput));
}

type DutContext = {
  deps: FreebsdDeps;
  cycles: { done: number };
  console: ConsoleRecorder | undefined;
};

async function dutOptions(
  name: string,
  { dut }: FreebsdTestbed,
  { deps, cycles, console }: DutContext,
): Promise<FreebsdDutOptions> {
  return {
    // Uses no keepalives: the DUT does not reply while packets flow.
    connect: async () => bounded(await deps.connect(dut, 'DUT', { keepaliveSeconds: 0 })),
    power: dut.power && (await openPower(name, dut.power, { deps, cycles, console })),
    console,
    method: dut.boot.method,
    bootSeconds: dut.boot.limitSeconds,
    sleep: deps.sleep,
    now: deps.now,
  };
}

/** Counts power cycles, and ends the recorded boot at each. Reopens a console that ends with it. */
async function openPower(
  name: string,
  config: PowerConfig,
  { deps, cycles, console }: DutContext,
): Promise<Pick<Power, 'cycle'>> {
  const power = await deps.openPower(`the DUT of ${name}`, config);
  return {
    async cycle() {
      await (console?.whileCycled(() => power.cycle()) ?? power.cycle());
      cycles.done += 1;
    },
  };
}

async function ingressOf(host: Host, name: string): Promise<{ mac: string; gigabits: number | undefined }> {
  const port = parseIfconfig(await host.output(shell`ifconfig ${name}`));
  if (port?.mac !== undefined) return { mac: port.mac, gigabits: port.gigabits };
  throw new HostError('command-failed', `${name} on ${host.name} has no MAC address.`);
}

/** Runs while the DUT runs its own kernel. Returns undefined if only prebuilt kernels can be measured. */
export async function builderFor(
  dut: Host,
  { name, builder }: { name: string; builder: FreebsdBuilder | undefined },
  deps: Pick<FreebsdDeps, 'connect' | 'now' | 'kernelSums'>,
): Promise<KernelBuilder | undefined> {
  if (builder === undefined) return undefined;
  return {
    config: builder,
    async connect() {
      const { host } = builder;
      return host === undefined ? thisMachine() : deps.connect({ ...builder, host }, 'builder');
    },
    now: deps.now,
    sums: deps.kernelSums ?? noSums,
    owner: `ppsgate on ${name}`,
    ...(builder.recipe.kind === 'make' && { loaded: await loadedModules(dut) }),
  };
}

async function inspect(
  name: string,
  { boots, generators, console, traffic, firewallsOfSite }: FreebsdMachines,
  cells: readonly Cell[],
): Promise<Inspection> {
  const families = [...new Set(cells.map(({ family }) => family))];
  const firewalls = await firewallWarnings(boots.dut.host(), firewallsOfSite);
  const problems = await inspectDut(boots, families);
  const isStrict = boots.config.preflight === 'fail';
  const grave = problems.filter(({ isVital, isWaived }) => isVital || (isStrict && !isWaived));
  if (grave.length > 0) throw new PreflightError(name, grave);
  const largest = Math.max(...cells.map((cell) => frameBytesFor(traffic, cell)));
  for (const port of portsOf(boots)) await requireMtu(boots.dut.host(), port, largest, 'dut');
  const around = await generators.facts(largest);
  await console?.open();
  return {
    fingerprint: { ...(await fingerprintOfDut(boots)), ...around },
    warnings: [...problems.map(({ message }) => message), ...firewalls, ...(console?.takeProblems() ?? [])],
  };
}

const maxRestores = 3;

async function giveBack(name: string, dut: FreebsdDut, firewallsOfSite: readonly Firewall[]): Promise<void> {
  for (let time = 1; ; time += 1) {
    try {
      await dut.restore();
      if (firewallsOfSite.length === 0) await removeRules(dut.host());
      else await bringFirewallsBack(dut);
      await dut.host().output(shell`rm -rf ${rulesFolder}`);
      return;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (time < maxRestores) continue;
      throw new DutLostError(
        `The DUT of ${name} may still run an experiment's kernel: restoring it failed ${time} times, most recently because of this: ${error.message}`,
        { cause: error },
      );
    }
  }
}

/** Boots, as only rc.conf loads the site's rules; `installRulesOf` has marked the boot. */
async function bringFirewallsBack(dut: FreebsdDut): Promise<void> {
  if (await hasBootedSinceMark(dut.host())) return;
  await removeRules(dut.host());
  const outcome = await dut.boot(undefined);
  if (outcome.kind === 'boot-failed') throw new DutLostError(outcome.reason);
}
