// Runs guests with FreeBSD: copies of an image, one for each variant, that boot its kernel once for each pair.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FreebsdGuestsConfig, GuestImage } from '../../config/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import { ignoredFiles } from '../../model/overlay-files.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import type { PrepareOutcome } from '../../model/rejection.ts';
import type { Cell, Family, OwnRules, Scenario } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { HostError } from '../../system/host/host-error.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import { isAtFault, type Tallies, tallyOf } from '../fault-attribution.ts';
import { DutLostError } from '../freebsd/boot/boot.ts';
import {
  afterBootFailure,
  bootFor,
  failed,
  pathProblem,
  rejected,
  setListed,
  settingsThatFail,
} from '../freebsd/boots.ts';
import type { SettingProblem } from '../freebsd/dut/setting.ts';
import { builderFor } from '../freebsd/freebsd-testbed.ts';
import { Kernels, type VariantKernel } from '../freebsd/kernels.ts';
import { droppedByRules } from '../freebsd/rule-drops.ts';
import { installRules, proofOf } from '../freebsd/rules.ts';
import { provesScenario } from '../freebsd/scenario.ts';
import { mapOwnRules, portNames } from '../map-interfaces.ts';
import type { Inspection, PrepareRequest, TrialOutcome } from '../testbed.ts';
import { ImageCopies, type ImageGuest } from './freebsd-copies.ts';
import { countPackets } from './freebsd-counting.ts';
import { isHostError, isOfOneCopy } from './freebsd-image.ts';
import { overlayRules, whyNotInstallable } from './freebsd-overlay.ts';
import { type Symbols, symbolsOf } from './freebsd-symbols.ts';
import type { BootedGuest, GuestResources, GuestSystem, NotBooted, PairOfGuests } from './guests.ts';

/** Base and patched; more variants are booted once they are known. */
const guestsOfPair = 2;

export class FreebsdGuests implements GuestSystem {
  readonly #name: string;
  readonly #config: FreebsdGuestsConfig & { image: GuestImage };
  readonly #resources: GuestResources;
  readonly #copies: ImageCopies;
  readonly #loadedByBase = new Set<Scenario>();
  readonly #symbols = new WeakMap<BootedGuest, Symbols>();
  #prepared: { kernels: Kernels; folder: string } | undefined;
  #request: PrepareRequest | undefined;
  #warnings: string[] = [];
  readonly #closed = new AbortController();

  constructor(name: string, config: FreebsdGuestsConfig & { image: GuestImage }, resources: GuestResources) {
    this.#name = name;
    this.#config = config;
    this.#resources = resources;
    this.#copies = new ImageCopies(config, resources);
  }

  async inspect(cells: readonly Cell[]): Promise<Inspection> {
    this.#copies.families = familiesOf(cells);
    this.#copies.begin(guestsOfPair);
    const { problems, fingerprint } = await this.#copies.first();
    return {
      // A guest's SMBIOS names neither QEMU's version nor the accelerator.
      fingerprint: { ...fingerprint, ...(await this.#resources.facts()) },
      warnings: problems.filter(isOfImage).map(({ message }) => message),
    };
  }

  async prepare(request: PrepareRequest): Promise<PrepareOutcome> {
    const refusal = whyNotInstallable(request);
    if (refusal !== undefined) throw new UsageError(refusal);
    this.#warnings = ignoredFiles(request.variants, 'freebsd');
    this.#request = request;
    this.#copies.families = familiesOf(request.cells);
    const names = new Set(request.variants.map(({ variant }) => variant));
    await this.#copies.stopOthers(names);
    this.#copies.begin(names.size);
    this.#prepared ??= await this.#openKernels();
    const signal = AbortSignal.any([request.signal, this.#closed.signal]);
    this.#prepared.kernels.list({ ...request, signal });
    return { kind: 'ready' };
  }

  ready(): ReadonlySet<string> {
    return this.#prepared?.kernels.ready() ?? new Set();
  }

  takeWarnings(): string[] {
    return this.#warnings.splice(0);
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

  async installRules({ variant, host }: BootedGuest, { scenario, family }: Cell): Promise<TrialOutcome | undefined> {
    const boots = this.#copies.get(variant)?.boots;
    if (boots === undefined) throw new TypeError(`${variant} was not booted here.`);
    const refusal = await this.#loadRules(host, scenario, variant);
    if (refusal !== undefined) return this.#afterRefusal(variant, scenario, refusal);
    if (variant === 'base') this.#loadedByBase.add(scenario);
    if ((await pathProblem(boots, family)) === undefined) return undefined;
    // Fixes settings again, as a fault would cost all cells of the pair: its kernel boots only for the next pair.
    await settingsThatFail(boots, [family]);
    const astray = await pathProblem(boots, family);
    return astray === undefined ? undefined : failed(astray);
  }

  /** Installs them one after the other: a refusal tries the same rules on base. */
  async installCounting(booted: readonly BootedGuest[], cell: Cell): ReturnType<GuestSystem['installCounting']> {
    for (const one of booted) {
      const outcome = await this.installRules(one, cell);
      if (outcome !== undefined) return { kind: 'refused', outcome };
    }
    const counting = await Promise.all(booted.map(({ host, variant }) => countPackets(host, this.#portsOf(variant))));
    return { kind: 'counting', counting };
  }

  async whyNotInForce(
    { host, variant }: BootedGuest,
    { scenario }: Cell,
    { isSilent }: { isSilent: boolean },
  ): Promise<string | undefined> {
    const { flows } = this.#resources;
    const proof = provesScenario(scenario, await proofOf(host), {
      // A guest that forwards no packet creates no states.
      ...(!isSilent && { trial: { flows } }),
      own: this.#rulesOf(variant),
    });
    if (proof.kind === 'in-force') return undefined;
    return `${scenario} was not in force on ${variant}: ${proof.reason}`;
  }

  /** The rules' counters need no further packets. */
  droppedBy({ host }: BootedGuest): Promise<string | undefined> {
    return droppedByRules(host);
  }

  async symbols(booted: BootedGuest): Promise<string> {
    const symbols = await symbolsOf(booted.host, this.#symbols.get(booted));
    this.#symbols.set(booted, symbols);
    return symbols.table;
  }

  /** Keeps the guests for the next pair, with their installed kernels. */
  async release(): Promise<void> {}

  async stop(booted: readonly BootedGuest[]): Promise<void> {
    for (const { variant } of booted) await this.#copies.stop(variant);
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the testbed is released'));
    await this.#copies.close();
    await this.#prepared?.kernels.ended();
    if (this.#prepared !== undefined) {
      await rm(this.#prepared.folder, { recursive: true, force: true });
    }
  }

  async #openKernels(): Promise<{ kernels: Kernels; folder: string }> {
    const { dut } = await this.#copies.first();
    const { builder } = this.#config;
    const folder = await mkdtemp(join(tmpdir(), 'ppsgate-kernels-'));
    const builds = await builderFor(dut.host(), { name: this.#name, builder }, this.#resources.deps);
    return { kernels: new Kernels(folder, builds), folder };
  }

  #loadRules(...[host, scenario, variant]: [BootedGuest['host'], Scenario, string]): ReturnType<typeof installRules> {
    return installRules(host, scenario, this.#rulesOf(variant));
  }

  /** Returns the rules of the site's own scenarios, and the variant's own for the scenario without rules. */
  #rulesOf(variant: string): Readonly<Record<string, OwnRules>> {
    const { rules = {}, variants = [] } = this.#request ?? {};
    const overlaid = variants.find((one) => one.variant === variant);
    if (this.#copies.get(variant) === undefined) return rules;
    const ports = this.#portsOf(variant);
    const names = portNames(overlaid?.interfaces, ports);
    return { ...mapOwnRules(rules, names), ...overlayRules(overlaid, ports) };
  }

  #portsOf(variant: string): { ingress: string; egress: string } {
    const dut = this.#copies.get(variant)?.boots.config.dut;
    if (dut === undefined) throw new TypeError(`${variant} was not booted here.`);
    return { ingress: dut.ingress.interface, egress: dut.egress.interface };
  }

  /** Tries base where it has not loaded the same rules yet, which the trial itself may never reach. */
  async #afterRefusal(variant: string, scenario: Scenario, refusal: string): Promise<TrialOutcome> {
    const { tallies } = this.#resources;
    tallyOf(tallies, variant).refusals += 1;
    const base = this.#copies.get('base');
    if (variant !== 'base' && !this.#loadedByBase.has(scenario) && base !== undefined) {
      const refusalOfBase = await this.#loadRules(base.dut.host(), scenario, 'base');
      if (refusalOfBase === undefined) this.#loadedByBase.add(scenario);
    }
    const hasControl = variant === 'base' || this.#loadedByBase.has(scenario);
    if (!hasControl) return { kind: 'failed', reason: refusal, lacksControl: true };
    if (!isAtFault(tallies, variant, 'refusals', 'hasBooted')) return failed(refusal);
    return rejected(variant, { kind: 'does-not-load', scenario, message: `Twice: ${refusal}.` });
  }

  async #bootVariant(run: Omit<PlannedRun, 'number'>): Promise<BootedGuest | NotBooted> {
    const { variant, layout } = run;
    // Assigns copies in the order of the runs, not of their kernels.
    const assigned = this.#copies.guestFor(variant);
    assigned.catch(() => {});
    const kernel = await this.#prepared?.kernels.get(variant, layout);
    const notBooted = (outcome: TrialOutcome, console = ''): NotBooted => ({
      kind: 'not-booted',
      variant,
      outcome,
      console,
    });
    if (kernel === undefined) throw new TypeError(`${variant} was not prepared.`);
    if (kernel.kind === 'rejected') return notBooted(rejected(variant, kernel.rejection));
    // The variant's copy may have ended while the kernel was built.
    const alive = assigned.then(() => this.#copies.guestFor(variant));
    const imageGuest = await alive.catch((error: unknown) => {
      // The variant is not to blame if an image was up before.
      if (this.#copies.isFit && isOfOneCopy(error)) return reasonOf(error);
      throw error;
    });
    if (typeof imageGuest === 'string') return notBooted(failed(imageGuest));
    const { guest, boots, dut, number } = imageGuest;
    setListed(boots, [variant]);
    boots.families = this.#copies.families;
    boots.mayDiffer = this.#request?.mayDiffer === true;
    await guest.pinTo(this.#copies.cpuOf(number));
    const outcome = await bootKernel(imageGuest, { number: 1, ...run }, kernel);
    if (outcome.kind === 'ready') {
      return { kind: 'booted', variant, guest, host: dut.host(), kernel: outcome.boot.kernel };
    }
    const console = guest.console();
    // Also removes the guest's copy of the image, with the files that the kernel has written.
    await this.#copies.stop(variant);
    return notBooted(outcome, console);
  }
}

const familiesOf = (cells: readonly Cell[]): Family[] => [...new Set(cells.map(({ family }) => family))];

/** True for settings of the image itself; vital settings are checked before each cell. */
export const isOfImage = ({ isVital }: SettingProblem): boolean => !isVital;

/** Any cell will do: a boot serves all cells of a pair. */
const anyCell: Cell = { scenario: 'forwarding', family: 'inet4' };

/** Blames the variant for a failure: the image's own kernel boots here, and only this machine could interfere. */
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
    ? 'it did not come up, and neither did its image after it, even after two power cycles'
    : `its QEMU has ended (${lastLine})`;

/**
 * Counts a death, not a boot failure, as the guest was up; base, which runs beside it, has proven that guests can be
 * up.
 */
function afterEarlyDeath(tallies: Tallies, variant: string, words: LastWords): TrialOutcome {
  tallyOf(tallies, variant).deaths += 1;
  const how = 'it was lost again right after it came up';
  if (!isAtFault(tallies, variant, 'deaths', 'hasBooted')) {
    const why = words.panic === undefined ? '' : ` (panic: ${words.panic})`;
    return failed(`the guest with ${variant} died right after its boot: ${how}${why}`);
  }
  return rejected(variant, { kind: 'boot-failed', message: `Twice: ${how}.`, ...words });
}

const isConnectionLost = ({ kind }: HostError): boolean => ['unreachable', 'lost', 'timeout'].includes(kind);
