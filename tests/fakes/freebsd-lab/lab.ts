// A FreeBSD lab without machines: virtual time, a DUT of known speed, and faults on request.
import { setTimeout } from 'node:timers/promises';
import { tokenFolder } from '../../../src/lab/lease/fence.ts';
import type { Power } from '../../../src/lab/power/power.ts';
import { type Cabling, type CablingOptions, cabling } from './cabling.ts';
import { type Clock, virtualClock } from './clock.ts';
import { hasUnsavedDump } from './crash.ts';
import { type Fault, type Faults, faultsOf } from './faults.ts';
import { namesIn, textOf } from './file-system.ts';
import { scenarioInForce } from './firewall.ts';
import { type Deps, type Machine, nextbootFile } from './machine.ts';
import { type DutOptions, dutOf, generatorOf } from './machines.ts';
import { type Load, type Noise, networkThrough } from './network.ts';
import { type LabMachine, newKey, openMachine } from './open-machine.ts';
import { powerOf } from './power.ts';
import { mountOf } from './root.ts';
import { farEnd, type Port } from './wiring.ts';

export type FreebsdLabOptions = DutOptions & {
  /** Forwarding rate of a kernel in packets per second, by its ident; absent: 5 Mpps for all. */
  truth?: (load: Load) => number;
  /** Absent: 0.5 % per boot and 0.23 % per second, as on real machines. */
  noise?: Partial<Noise>;
  /** Others may be requested at any time. */
  faults?: readonly Fault[];
  /** Maximum rate of a sender, if below its port's. */
  generatorPps?: number;
  /** Maximum rate that a receiver counts, if below its port's. */
  receiverPps?: number;
  /** Absent: a sender and the receiver on one machine, 10 Gbit/s. */
  cabling?: Partial<CablingOptions>;
};

export type FreebsdLab = AsyncDisposable & {
  /** Its `now` and `sleep` are for tests of the fake lab, too, which has no other time. */
  readonly clock: Clock;
  readonly dut: LabMachine;
  readonly senders: readonly LabMachine[];
  /** Also the only sender by default. */
  readonly receiver: LabMachine;
  /** Names of interfaces and the DUT's MAC addresses. */
  readonly cabling: Cabling;
  /** Power of the DUT. */
  readonly power: Power;
  readonly faults: Faults;
  /** State of the DUT, for assertions. */
  state(): ReturnType<typeof stateOf>;
  /** Throws if a test requested a feature that the fake lab lacks. */
  stop(): Promise<void>;
};

/**
 * Starts all machines; root may log in with one key.
 *
 *     await using lab = await startFreebsdLab({ truth: ({ ident }) => (ident === 'base' ? 5e6 : 4e6) });
 *     await using dut = await connect(lab.dut.target);
 *     await dut.output(shell`shutdown -r now`);
 *     await lab.clock.sleep(180);
 *
 * Time runs only while a task sleeps on the clock, or a program of a machine does, and stands still while ssh is at
 * work. A task that does other work between two commands while a program runs (for example reads a file for 30 ms) may
 * lose some virtual seconds. Commands that FreeBSD would reject fail as they do there. A feature that FreeBSD has but
 * the fake lab lacks exits with 99, and `stop` throws. pkt-gen writes its rates and `Ready...` to stderr, its summary
 * to stdout.
 */
export async function startFreebsdLab(options: FreebsdLabOptions = {}): Promise<FreebsdLab> {
  const clock = virtualClock();
  const faults = faultsOf(options.faults ?? []);
  const complaints: string[] = [];
  const wires = cabling(options.cabling ?? {});
  const deps = { clock, faults };
  // Only the DUT's boots count for faults.
  const otherDeps = { clock, faults: faultsOf([]) };
  const dut = dutOf(wires, options);
  const network = networkThrough(dut, deps, {
    truth: options.truth ?? (() => 5_000_000),
    noise: { seed: 1, perBoot: 0.005, perSecond: 0.0023, perBuild: 0, ...options.noise },
    generatorPps: options.generatorPps ?? Number.POSITIVE_INFINITY,
    receiverPps: options.receiverPps ?? Number.POSITIVE_INFINITY,
  });
  const user = newKey();
  const uploads = uploadCounter(faults);
  const open = (machine: Machine, its: Deps) =>
    openMachine({
      machine,
      deps: its,
      network,
      complaints,
      user,
      beginUpload: uploads,
      faultsAt: (command) => faults.takeAt(machine.name, command),
    });

  const opened = [await open(dut, deps)];
  for (const generator of wires.generators) {
    const { name, interfaces } = generator;
    opened.push(await open(generatorOf(name, interfaces), otherDeps));
  }
  const named = (name: string): LabMachine => {
    const found = opened.find(({ machine }) => machine.name === name);
    if (found === undefined) throw new TypeError(`The laboratory has no machine ${name}.`);
    return found;
  };
  const stop = async () => {
    clock.stop();
    for (const { sshd, machine } of opened) {
      for (const end of [...machine.programs]) end();
      await sshd.stop();
    }
    const [first] = complaints;
    if (first !== undefined) throw new Error(`The FreeBSD laboratory complains: ${first}.`);
  };
  return {
    clock,
    dut: named(dut.name),
    senders: wires.senders.map(({ machine }) => named(machine)),
    receiver: named(wires.receiver.machine),
    cabling: wires,
    power: powerOf(dut, deps, faults),
    faults,
    state: () => stateOf(dut),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * The fake lab's time runs while one of its programs does. While the DUT boots, or saves a dump, no task sleeps there,
 * so this makes time run: that many seconds for each tenth of a real one.
 */
export async function keepTime(lab: FreebsdLab, seconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await setTimeout(100, undefined, { signal }).catch(() => {});
    const { machine } = lab.dut;
    const isWaitedFor = machine.stage !== 'up' || hasUnsavedDump(machine);
    if (isWaitedFor) await lab.clock.sleep(seconds, { signal });
  }
}

/** Number of the upload, and its permission to continue. */
function uploadCounter(faults: Faults): () => (bytes: number) => boolean {
  let uploads = 0;
  return () => {
    uploads += 1;
    const fault = faults.take('upload-lost', uploads);
    let written = 0;
    return (bytes) => {
      written += bytes;
      return fault === undefined || written < fault.afterBytes;
    };
  };
}

function stateOf(dut: Machine) {
  const { files, pf, ipfw, stage, power, root, modules } = dut;
  return {
    stage,
    power,
    kernel: dut.running?.kernel.ident,
    /** Device that `/` is mounted from. */
    root: mountOf(root, '/').device,
    environments: root.kind === 'zfs' ? [...root.all.keys()] : [],
    boot: namesIn(files, '/boot'),
    nextboot: textOf(files, nextbootFile),
    /** Files and folders with `ppsgate` in their names, except for the tokens, which stay. */
    leftovers: [...files.nodes.keys()].filter((path) => path.includes('ppsgate') && !path.startsWith(tokenFolder)),
    scenario: scenarioInForce(dut),
    modules: [...modules],
    /** Packets that left by the admin network, without ssh's; a trial must send none there. */
    packetsToAdmin: adminPort(dut)?.sent.packets ?? 0,
    pf: { isEnabled: pf.isEnabled, rules: pf.rules.map(({ text }) => text), states: pf.states },
    ipfw: { rules: [...ipfw.rules.values()].map(({ text }) => text), dynamicRules: ipfw.dynamicRules },
  };
}

const adminPort = ({ interfaces }: Machine): Port | undefined =>
  interfaces.find(({ port }) => farEnd(port)?.macs.length === 0)?.port;
