// Guests with FreeBSD: copies of an image, on which kernels are installed and booted as on any FreeBSD DUT. Each variant has a
// guest of its own, which boots once for each pair.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreebsdGuests } from '../../config/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import type { Cell, Family, Scenario } from '../../model/scenario.ts';
import type { HostError } from '../../system/host/host-error.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import type { ConsoleRecorder } from '../console/recorder.ts';
import { isToBlame, type Tallies, tallyOf } from '../fault-attribution.ts';
import {
  afterBootFailure,
  type Boots,
  bootFor,
  failed,
  fingerprintOfDut,
  inspectDut,
  pathProblem,
  rejected,
  setListed,
} from '../freebsd/boots.ts';
import { DutLostError, type FreebsdDut } from '../freebsd/dut/freebsd-dut.ts';
import type { SettingProblem } from '../freebsd/dut/setting.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { builderFor } from '../freebsd/freebsd-testbed.ts';
import { Kernels, type VariantKernel } from '../freebsd/kernels.ts';
import { preflight, settingsContext } from '../freebsd/preflight.ts';
import { installRules, proofOf } from '../freebsd/rules.ts';
import { provesScenario } from '../freebsd/scenario.ts';
import type { PrepareRequest, TrialOutcome } from '../testbed.ts';
import { isHostError, isOfOneCopy, openImage, symbolsOf } from './freebsd-image.ts';
import { type Booted, type GuestSystem, machineOf, type NotBooted } from './guests.ts';
import type { Guest } from './vm/guest.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

/** What guests are made in. */
type GuestDeps = {
  lab: Pick<VirtualLab, 'bootImage' | 'loginTo'>;
  tallies: Tallies;
  /** Those that guests boot on. */
  cpus: readonly number[];
  flows: number;
  deps: FreebsdDeps;
};

/** A guest that booted the image, and the DUT that it is. */
type Machine = {
  number: number;
  guest: Guest;
  dut: FreebsdDut;
  boots: Boots;
  console: ConsoleRecorder;
  /** The last that QEMU said where it has ended. */
  said: () => string | undefined;
};

export function freebsdGuests(
  name: string,
  config: FreebsdGuests,
  { lab, tallies, cpus, flows, deps }: GuestDeps,
): GuestSystem {
  /** By the variants that they boot. */
  const machines = new Map<string, Machine>();
  /** Has booted the image, and waits for a variant. */
  let spare: Machine | undefined;
  /** A copy of the image was up. */
  let isFit = false;
  /** What base has taken of scenarios' rules. */
  const taken = new Set<Scenario>();
  const numbers = new Set<number>();
  let families: readonly Family[] = ['inet4'];
  let prepared: { kernels: Kernels; folder: string } | undefined;
  let request: PrepareRequest | undefined;
  const over = new AbortController();

  const cpuOf = (number: number): number => cpus[(number - 1) % cpus.length] ?? 0;

  /** A copy of the image that is up, on its own kernel. */
  const newMachine = async (): Promise<Machine> => {
    let number = 1;
    while (numbers.has(number)) number += 1;
    numbers.add(number);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => void numbers.delete(number));
    const guest = await lab.bootImage(number, config.image, cpuOf(number));
    opened.defer(() => guest.stop());
    let said: string | undefined;
    void guest.ended.then((last) => {
      said = last;
    });
    const { dut, boots, console } = await openImage(guest, config.image, { lab, deps });
    opened.defer(async () => {
      await dut.host().close();
      await console.close();
    });
    await inspectDut(boots, families);
    await fingerprintOfDut(boots);
    isFit = true;
    opened.move();
    return { number, guest, dut, boots: { ...boots, tallies }, console, said: () => said };
  };

  /** That of the variant, or another where QEMU has ended by itself. */
  const machineFor = async (variant: string): Promise<Machine> => {
    const known = machines.get(variant);
    if (known !== undefined && known.said() === undefined) return known;
    await endOf(variant);
    const waiting = spare;
    spare = undefined;
    const isThere = waiting !== undefined && waiting.said() === undefined;
    if (waiting !== undefined && !isThere) await switchOff(waiting);
    const machine = isThere ? waiting : await newMachine();
    machines.set(variant, machine);
    return machine;
  };

  const switchOff = async ({ number, guest, dut, console }: Machine): Promise<void> => {
    await dut
      .host()
      .close()
      .catch(() => {});
    await guest.stop();
    await console.close();
    numbers.delete(number);
  };

  const endOf = async (variant: string): Promise<void> => {
    const machine = machines.get(variant);
    machines.delete(variant);
    if (machine !== undefined) await switchOff(machine);
  };

  const bootsOfOne = ({ variant }: Booted): Boots => {
    const machine = machines.get(variant);
    if (machine === undefined) throw new TypeError(`${variant} was not booted here.`);
    return machine.boots;
  };

  /** What a kernel has lost would be lost for all cells of its pair, as it boots for the next one only. */
  const fixPaths = ({ config: { preflight: mode, waive }, config, dut }: Boots, family: Family) =>
    preflight(dut.host(), {
      ...{ mode, waive, sleep: deps.sleep },
      context: settingsContext(config, [family]),
    });

  /** Base is asked where it has not shown yet that it takes what another refuses: it need not be next, nor get so far. */
  const afterRefusal = async (
    variant: string,
    scenario: Scenario,
    refusal: string,
  ): Promise<TrialOutcome> => {
    tallyOf(tallies, variant).refusals += 1;
    const base = machines.get('base');
    if (variant !== 'base' && !taken.has(scenario) && base !== undefined) {
      const ofBase = await installRules(base.dut.host(), scenario, request?.rules ?? {});
      if (ofBase === undefined) taken.add(scenario);
    }
    const isShown = variant === 'base' || taken.has(scenario);
    if (!isShown) return { kind: 'failed', reason: refusal, lacksControl: true };
    if (!isToBlame(tallies, variant, 'refusals', 'hasBooted')) return failed(refusal);
    return rejected(variant, { kind: 'does-not-load', scenario, message: `Twice: ${refusal}.` });
  };

  const bootOne = async (run: Omit<PlannedRun, 'number'>): Promise<Booted | NotBooted> => {
    const { variant, link } = run;
    const kernel = await prepared?.kernels.get(variant, link);
    const notBooted = (outcome: TrialOutcome, console = ''): NotBooted => ({
      ...{ kind: 'not-booted', variant, outcome, console },
    });
    if (kernel === undefined) throw new TypeError(`${variant} was not readied.`);
    if (kernel.kind === 'rejected') return notBooted(rejected(variant, kernel.rejection));
    const machine = await machineFor(variant).catch((error: unknown) => {
      // An image that was up before says nothing of the variant.
      if (isFit && isOfOneCopy(error)) return reasonOf(error);
      throw error;
    });
    if (typeof machine === 'string') return notBooted(failed(machine));
    const { guest, boots } = machine;
    setListed(boots, [variant]);
    boots.families = families;
    boots.mayDiffer = request?.mayDiffer === true;
    // Only how long it takes to boot depends on it.
    await guest.pinTo(cpuOf(machine.number)).catch(() => {});
    const outcome = await bootedFor(machine, { number: 1, ...run }, kernel);
    if (outcome.kind === 'ready') {
      const { kernel: version } = outcome.boot;
      return { kind: 'booted', variant, guest, host: machine.dut.host(), kernel: version };
    }
    const console = guest.console();
    // Whatever the kernel has written is gone with its copy of the image.
    await endOf(variant);
    return notBooted(outcome, console);
  };

  return {
    async inspect(cells) {
      families = [...new Set(cells.map(({ family }) => family))];
      spare ??= await newMachine();
      const told = await inspectDut(spare.boots, families);
      return {
        fingerprint: { ...(await machineOf(config)), ...(await fingerprintOfDut(spare.boots)) },
        warnings: told.filter(isOfImage).map(({ message }) => message),
      };
    },

    async prepare(asked) {
      request = asked;
      families = [...new Set(asked.cells.map(({ family }) => family))];
      if (prepared === undefined) {
        spare ??= await newMachine();
        const { builder } = config;
        const folder = await mkdtemp(join(tmpdir(), 'ppsgate-kernels-'));
        const builds = await builderFor(spare.dut.host(), { name, builder }, deps);
        prepared = { kernels: new Kernels(folder, builds), folder };
      }
      const wanted = new Set(asked.variants.map(({ variant }) => variant));
      for (const variant of machines.keys()) if (!wanted.has(variant)) await endOf(variant);
      const signal = AbortSignal.any([asked.signal, over.signal]);
      prepared.kernels.list({ ...asked, signal });
      return { kind: 'ready' };
    },

    ready: () => prepared?.kernels.ready() ?? new Set(),

    async boot({ pair, runs, signal }) {
      signal.throwIfAborted();
      const all = await Promise.allSettled(runs.map((run) => bootOne({ ...run, pair })));
      signal.throwIfAborted();
      return all.map((one) => {
        if (one.status === 'rejected') throw one.reason;
        return one.value;
      });
    },

    // Rules are installed anew for every trial, and what refuses them is told then.
    tryAll: async () => undefined,

    async lay(one, { scenario, family }) {
      const boots = bootsOfOne(one);
      const refusal = await installRules(one.host, scenario, request?.rules ?? {});
      if (refusal !== undefined) return afterRefusal(one.variant, scenario, refusal);
      if (one.variant === 'base') taken.add(scenario);
      if ((await pathProblem(boots, family)) === undefined) return undefined;
      await fixPaths(boots, family);
      const astray = await pathProblem(boots, family);
      return astray === undefined ? undefined : failed(astray);
    },

    async whyNotInForce(one, { scenario }, { isSilent }) {
      const proof = provesScenario(scenario, await proofOf(one.host), {
        // What lets no packet through has made no states of them.
        ...(!isSilent && { trial: { flows } }),
        own: request?.rules ?? {},
      });
      if (proof.kind === 'in-force') return undefined;
      return `${scenario} was not in force on ${one.variant}: ${proof.reason}`;
    },

    symbols: ({ host }) => symbolsOf(host),

    // They boot again for the next pair, and keep the kernels that were installed on them.
    leave: async () => {},

    async end(booted) {
      for (const { variant } of booted) await endOf(variant);
    },

    async close() {
      over.abort(new Error('the testbed is given back'));
      for (const variant of machines.keys()) await endOf(variant);
      if (spare !== undefined) await switchOff(spare);
      spare = undefined;
      await prepared?.kernels.ended();
      if (prepared !== undefined) await rm(prepared.folder, { recursive: true, force: true });
    },
  };
}

/** What packets need is made in the boots to come, and has to be there then. */
export const isOfImage = ({ isWaived, isVital }: SettingProblem): boolean => !isWaived && !isVital;

/** One boot serves all cells of a pair. */
const anyCell: Cell = { scenario: 'forwarding', family: 'inet4' };

/**
 * What never comes back is the variant's, like any that does not come up: its own kernel does on a new copy of the image. So is
 * what is lost when it was up, as nothing but this machine lies between.
 */
async function bootedFor(
  { boots, guest, console: recorder, said }: Machine,
  run: PlannedRun,
  kernel: Exclude<VariantKernel, { kind: 'rejected' }>,
): ReturnType<typeof bootFor> {
  const planned: PlannedTrial = { number: 1, cell: anyCell, runs: [run] };
  try {
    return await bootFor(boots, planned, run, kernel);
  } catch (error) {
    if (!isOfOneCopy(error)) throw error;
    const { variant } = run;
    if (error instanceof DutLostError || said() !== undefined) {
      const words = lastWords(guest.console(), false);
      return afterBootFailure(boots, variant, { reason: whyGone(said()), ...words });
    }
    if (!isHostError(error) || !isBroken(error)) return failed(reasonOf(error));
    return afterEarlyDeath(boots.tallies, variant, recorder.lastWords());
  }
}

const whyGone = (said: string | undefined): string =>
  said === undefined
    ? 'it did not come up, and neither did its image after it, not even power-cycled twice'
    : `its QEMU has ended (${said})`;

/** It came up, which no boot failure in a row is counted over; base, which lives on beside it, has shown that one can. */
function afterEarlyDeath(
  tallies: Tallies,
  variant: string,
  { panic, console }: LastWords,
): TrialOutcome {
  tallyOf(tallies, variant).deaths += 1;
  const how = 'it was lost again as soon as it was up';
  if (!isToBlame(tallies, variant, 'deaths', 'hasBooted')) {
    const why = panic === undefined ? '' : ` (panic: ${panic})`;
    return failed(`the guest with ${variant} died right after it had booted: ${how}${why}`);
  }
  return rejected(variant, {
    ...{ kind: 'boot-failed', message: `Twice: ${how}.` },
    ...(panic !== undefined && { panic }),
    ...(console !== undefined && { console }),
  });
}

const isBroken = ({ kind }: HostError): boolean =>
  ['unreachable', 'lost', 'timeout'].includes(kind);
