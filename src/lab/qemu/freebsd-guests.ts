// Runs guests with FreeBSD: copies of an image, one for each variant, that boot its kernel once for each pair.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreebsdGuestsConfig, GuestImage } from '../../config/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import type { PrepareOutcome } from '../../model/rejection.ts';
import type { Cell, Family, OwnRules, Scenario } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
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
import { builderFor } from '../freebsd/freebsd-testbed.ts';
import { Kernels, type VariantKernel } from '../freebsd/kernels.ts';
import { preflight, settingsContext } from '../freebsd/preflight.ts';
import { installRules, proofOf } from '../freebsd/rules.ts';
import { provesScenario } from '../freebsd/scenario.ts';
import type { Inspection, PrepareRequest, TrialOutcome } from '../testbed.ts';
import { isHostError, isOfOneCopy, openImage, symbolsOf } from './freebsd-image.ts';
import { overlayRules, whyNotInstallable } from './freebsd-overlay.ts';
import {
  type BootedGuest,
  type GuestResources,
  type GuestSystem,
  machineOf,
  type NotBooted,
  type PairOfGuests,
} from './guests.ts';
import type { Guest } from './vm/guest.ts';

type ImageGuest = {
  number: number;
  guest: Guest;
  dut: FreebsdDut;
  boots: Boots;
  console: ConsoleRecorder;
  /** QEMU's last line of output, once it has ended. */
  lastLine: () => string | undefined;
};

export class FreebsdGuests implements GuestSystem {
  readonly #name: string;
  readonly #config: FreebsdGuestsConfig & { image: GuestImage };
  readonly #resources: GuestResources;
  readonly #guests = new Map<string, ImageGuest>();
  /** Booted, and not yet assigned to a variant. */
  #spare: ImageGuest | undefined;
  /** True once a copy of the image was up. */
  #isFit = false;
  readonly #loadedByBase = new Set<Scenario>();
  readonly #numbers = new Set<number>();
  #families: readonly Family[] = ['inet4'];
  #prepared: { kernels: Kernels; folder: string } | undefined;
  #request: PrepareRequest | undefined;
  readonly #closed = new AbortController();

  constructor(
    name: string,
    config: FreebsdGuestsConfig & { image: GuestImage },
    resources: GuestResources,
  ) {
    this.#name = name;
    this.#config = config;
    this.#resources = resources;
  }

  async inspect(cells: readonly Cell[]): Promise<Inspection> {
    this.#families = [...new Set(cells.map(({ family }) => family))];
    this.#spare ??= await this.#bootImage();
    const { boots } = this.#spare;
    const problems = await inspectDut(boots, this.#families);
    return {
      fingerprint: { ...(await machineOf(this.#config)), ...(await fingerprintOfDut(boots)) },
      warnings: problems.filter(isOfImage).map(({ message }) => message),
    };
  }

  async prepare(request: PrepareRequest): Promise<PrepareOutcome> {
    const refusal = whyNotInstallable(request);
    if (refusal !== undefined) throw new UsageError(refusal);
    this.#request = request;
    this.#families = [...new Set(request.cells.map(({ family }) => family))];
    this.#prepared ??= await this.#openKernels();
    const names = new Set(request.variants.map(({ variant }) => variant));
    for (const variant of this.#guests.keys()) if (!names.has(variant)) await this.#stop(variant);
    const signal = AbortSignal.any([request.signal, this.#closed.signal]);
    this.#prepared.kernels.list({ ...request, signal });
    return { kind: 'ready' };
  }

  ready(): ReadonlySet<string> {
    return this.#prepared?.kernels.ready() ?? new Set();
  }

  async boot({ pair, runs, signal }: PairOfGuests): Promise<(BootedGuest | NotBooted)[]> {
    signal.throwIfAborted();
    const all = await Promise.allSettled(runs.map((run) => this.#bootVariant({ ...run, pair })));
    signal.throwIfAborted();
    return all.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
  }

  /** Does nothing: rules are installed for each trial, which reports a refusal. */
  async tryRules(): Promise<undefined> {}

  async installRules(
    { variant, host }: BootedGuest,
    { scenario, family }: Cell,
  ): Promise<TrialOutcome | undefined> {
    const boots = this.#guests.get(variant)?.boots;
    if (boots === undefined) throw new TypeError(`${variant} was not booted here.`);
    const refusal = await this.#loadRules(host, scenario, variant);
    if (refusal !== undefined) return this.#afterRefusal(variant, scenario, refusal);
    if (variant === 'base') this.#loadedByBase.add(scenario);
    if ((await pathProblem(boots, family)) === undefined) return undefined;
    await this.#fixPaths(boots, family);
    const astray = await pathProblem(boots, family);
    return astray === undefined ? undefined : failed(astray);
  }

  async whyNotInForce(
    { host, variant }: BootedGuest,
    { scenario }: Cell,
    { isSilent }: { isSilent: boolean },
  ): Promise<string | undefined> {
    const { flows } = this.#resources;
    const proof = provesScenario(scenario, await proofOf(host), {
      // A guest that forwards no packet makes no states.
      ...(!isSilent && { trial: { flows } }),
      own: this.#rulesOf(variant),
    });
    if (proof.kind === 'in-force') return undefined;
    return `${scenario} was not in force on ${variant}: ${proof.reason}`;
  }

  symbols({ host }: BootedGuest): Promise<string> {
    return symbolsOf(host);
  }

  /** Keeps the guests for the next pair, with their installed kernels. */
  async release(): Promise<void> {}

  async stop(booted: readonly BootedGuest[]): Promise<void> {
    for (const { variant } of booted) await this.#stop(variant);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the testbed is given back'));
    for (const variant of this.#guests.keys()) await this.#stop(variant);
    if (this.#spare !== undefined) await this.#switchOff(this.#spare);
    this.#spare = undefined;
    await this.#prepared?.kernels.ended();
    if (this.#prepared !== undefined) {
      await rm(this.#prepared.folder, { recursive: true, force: true });
    }
  }

  async #openKernels(): Promise<{ kernels: Kernels; folder: string }> {
    this.#spare ??= await this.#bootImage();
    const { builder } = this.#config;
    const folder = await mkdtemp(join(tmpdir(), 'ppsgate-kernels-'));
    const builds = await builderFor(
      this.#spare.dut.host(),
      { name: this.#name, builder },
      this.#resources.deps,
    );
    return { kernels: new Kernels(folder, builds), folder };
  }

  #cpuOf(number: number): number {
    const { cpus } = this.#resources;
    return cpus[(number - 1) % cpus.length] ?? 0;
  }

  async #bootImage(): Promise<ImageGuest> {
    const { lab, tallies, deps } = this.#resources;
    let number = 1;
    while (this.#numbers.has(number)) number += 1;
    this.#numbers.add(number);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => void this.#numbers.delete(number));
    const guest = await lab.bootImage(number, this.#config.image, this.#cpuOf(number));
    opened.defer(() => guest.stop());
    let lastLine: string | undefined;
    void guest.ended.then((line) => {
      lastLine = line;
    });
    const { dut, boots, console } = await openImage(guest, this.#config.image, { lab, deps });
    opened.defer(async () => {
      await dut.host().close();
      await console.close();
    });
    await inspectDut(boots, this.#families);
    await fingerprintOfDut(boots);
    this.#isFit = true;
    opened.move();
    return { number, guest, dut, boots: { ...boots, tallies }, console, lastLine: () => lastLine };
  }

  async #guestFor(variant: string): Promise<ImageGuest> {
    const own = this.#guests.get(variant);
    if (own !== undefined && own.lastLine() === undefined) return own;
    await this.#stop(variant);
    const spare = this.#spare;
    this.#spare = undefined;
    const isUp = spare !== undefined && spare.lastLine() === undefined;
    if (spare !== undefined && !isUp) await this.#switchOff(spare);
    const guest = isUp ? spare : await this.#bootImage();
    this.#guests.set(variant, guest);
    return guest;
  }

  async #switchOff({ number, guest, dut, console }: ImageGuest): Promise<void> {
    await dut
      .host()
      .close()
      .catch(() => {});
    await guest.stop();
    await console.close();
    this.#numbers.delete(number);
  }

  async #stop(variant: string): Promise<void> {
    const guest = this.#guests.get(variant);
    this.#guests.delete(variant);
    if (guest !== undefined) await this.#switchOff(guest);
  }

  #loadRules(
    ...[host, scenario, variant]: [BootedGuest['host'], Scenario, string]
  ): ReturnType<typeof installRules> {
    return installRules(host, scenario, this.#rulesOf(variant));
  }

  /** The site's own scenarios, and the variant's own rules in place of none. */
  #rulesOf(variant: string): Readonly<Record<string, OwnRules>> {
    const { rules = {}, variants = [] } = this.#request ?? {};
    return { ...rules, ...overlayRules(variants.find((one) => one.variant === variant)) };
  }

  /** Fixes faults that would cost all cells of the pair, as a kernel boots for the next pair only. */
  #fixPaths({ config, dut }: Boots, family: Family): ReturnType<typeof preflight> {
    return preflight(dut.host(), {
      mode: config.preflight,
      waive: config.waive,
      sleep: this.#resources.deps.sleep,
      context: settingsContext(config, [family]),
    });
  }

  /** Tries base where it has not loaded the same rules yet, which the trial itself may never reach. */
  async #afterRefusal(variant: string, scenario: Scenario, refusal: string): Promise<TrialOutcome> {
    const { tallies } = this.#resources;
    tallyOf(tallies, variant).refusals += 1;
    const base = this.#guests.get('base');
    if (variant !== 'base' && !this.#loadedByBase.has(scenario) && base !== undefined) {
      const refusalOfBase = await this.#loadRules(base.dut.host(), scenario, 'base');
      if (refusalOfBase === undefined) this.#loadedByBase.add(scenario);
    }
    const hasControl = variant === 'base' || this.#loadedByBase.has(scenario);
    if (!hasControl) return { kind: 'failed', reason: refusal, lacksControl: true };
    if (!isToBlame(tallies, variant, 'refusals', 'hasBooted')) return failed(refusal);
    return rejected(variant, { kind: 'does-not-load', scenario, message: `Twice: ${refusal}.` });
  }

  async #bootVariant(run: Omit<PlannedRun, 'number'>): Promise<BootedGuest | NotBooted> {
    const { variant, layout } = run;
    const kernel = await this.#prepared?.kernels.get(variant, layout);
    const notBooted = (outcome: TrialOutcome, console = ''): NotBooted => ({
      kind: 'not-booted',
      variant,
      outcome,
      console,
    });
    if (kernel === undefined) throw new TypeError(`${variant} was not readied.`);
    if (kernel.kind === 'rejected') return notBooted(rejected(variant, kernel.rejection));
    const imageGuest = await this.#guestFor(variant).catch((error: unknown) => {
      // The variant is not to blame where an image was up before.
      if (this.#isFit && isOfOneCopy(error)) return reasonOf(error);
      throw error;
    });
    if (typeof imageGuest === 'string') return notBooted(failed(imageGuest));
    const { guest, boots, dut, number } = imageGuest;
    setListed(boots, [variant]);
    boots.families = this.#families;
    boots.mayDiffer = this.#request?.mayDiffer === true;
    // Only the duration of the boot depends on it.
    await guest.pinTo(this.#cpuOf(number)).catch(() => {});
    const outcome = await bootKernel(imageGuest, { number: 1, ...run }, kernel);
    if (outcome.kind === 'ready') {
      return { kind: 'booted', variant, guest, host: dut.host(), kernel: outcome.boot.kernel };
    }
    const console = guest.console();
    // Its copy of the image goes with it, and so the files that the kernel has written.
    await this.#stop(variant);
    return notBooted(outcome, console);
  }
}

/** True for settings of the image itself; those that packets need are set in later boots, and checked then. */
export const isOfImage = ({ isWaived, isVital }: SettingProblem): boolean => !isWaived && !isVital;

/** Each boot serves all cells of a pair. */
const anyCell: Cell = { scenario: 'forwarding', family: 'inet4' };

/** Blames the variant for a failure: the image's own kernel boots here, and only this machine is in between. */
async function bootKernel(
  { boots, guest, console: recorder, lastLine }: ImageGuest,
  run: PlannedRun,
  kernel: Exclude<VariantKernel, { kind: 'rejected' }>,
): ReturnType<typeof bootFor> {
  const planned: PlannedTrial = { number: 1, cell: anyCell, runs: [run] };
  try {
    return await bootFor(boots, planned, run, kernel);
  } catch (error) {
    if (!isOfOneCopy(error)) throw error;
    const { variant } = run;
    if (error instanceof DutLostError || lastLine() !== undefined) {
      const words = lastWords(guest.console(), false);
      return afterBootFailure(boots, variant, { reason: whyGone(lastLine()), ...words });
    }
    if (!isHostError(error) || !isConnectionLost(error)) return failed(reasonOf(error));
    return afterEarlyDeath(boots.tallies, variant, recorder.lastWords());
  }
}

const whyGone = (lastLine: string | undefined): string =>
  lastLine === undefined
    ? 'it did not come up, and neither did its image after it, not even power-cycled twice'
    : `its QEMU has ended (${lastLine})`;

/** Counts a death, not a boot failure, as it was up; base, which runs beside it, has proven that a guest can be. */
function afterEarlyDeath(tallies: Tallies, variant: string, words: LastWords): TrialOutcome {
  tallyOf(tallies, variant).deaths += 1;
  const how = 'it was lost again as soon as it was up';
  if (!isToBlame(tallies, variant, 'deaths', 'hasBooted')) {
    const why = words.panic === undefined ? '' : ` (panic: ${words.panic})`;
    return failed(`the guest with ${variant} died right after it had booted: ${how}${why}`);
  }
  return rejected(variant, { kind: 'boot-failed', message: `Twice: ${how}.`, ...words });
}

const isConnectionLost = ({ kind }: HostError): boolean =>
  ['unreachable', 'lost', 'timeout'].includes(kind);
