// Runs guests with Linux: installs built or given kernels, overlay files, and nftables rules.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { LinuxGuestsConfig } from '../../config/virtual-testbed.ts';
import { noSums } from '../../kernel/kernel-sums.ts';
import { buildLinuxKernel } from '../../kernel/linux-kernels.ts';
import { givenKernel, type Variant } from '../../kernel/variant.ts';
import type { PrepareOutcome, Rejected } from '../../model/rejection.ts';
import { type Cell, isLinuxScenario, type LinuxScenario } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import { pathName } from '../../model/variant-name.ts';
import { shell } from '../../system/shell.ts';
import { isAtFault, type Tallies, tallyOf } from '../fault-attribution.ts';
import { failed, rejected } from '../freebsd/boots.ts';
import { findInertChanges, ignoredParts, loadable } from '../linux/linux-overlay.ts';
import type { Inspection, PrepareRequest, TrialOutcome } from '../testbed.ts';
import {
  type BootedGuest,
  blameOrFail,
  type GuestResources,
  type GuestSystem,
  maxSymbolBytes,
  type NotBooted,
  type PairOfGuests,
} from './guests.ts';
import { type BootableKernel, type BootedLinux, bootTogether } from './linux-boots.ts';
import { linuxGuestPorts } from './vm/addresses.ts';
import { type KernelFiles, KernelFilesError } from './vm/kernel-files.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

export class LinuxGuests implements GuestSystem {
  readonly #name: string;
  readonly #config: LinuxGuestsConfig;
  readonly #resources: GuestResources;
  #bootable: ReadonlyMap<string, BootableKernel> = new Map();
  #scenarios: readonly LinuxScenario[] = [];
  #warnings: string[] = [];
  /** Variants whose rules all scenarios have loaded. */
  readonly #proved = new Set<string>();
  #symbols = { key: '', text: '' };
  /** The scenario of each guest's rules. */
  readonly #inForce = new WeakMap<BootedGuest, LinuxScenario>();
  readonly #duts = new WeakMap<BootedGuest, BootedLinux['dut']>();

  constructor(name: string, config: LinuxGuestsConfig, resources: GuestResources) {
    this.#name = name;
    this.#config = config;
    this.#resources = resources;
  }

  async inspect(): Promise<Inspection> {
    return { fingerprint: await this.#resources.facts(), warnings: [] };
  }

  async prepare({ variants, cells, ...request }: PrepareRequest): Promise<PrepareOutcome> {
    const { signal, notify } = request;
    this.#scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(isLinuxScenario);
    const compared = findInert(variants, this.#scenarios[0]);
    if (compared.kind === 'rejected') return compared;
    this.#warnings = [...ignoredParts(variants), ...compared.warnings];
    const archives: { variant: Variant; path: string | undefined }[] = [];
    for (const variant of variants) {
      signal.throwIfAborted();
      if (this.#bootable.has(variant.variant)) continue;
      const archive = await this.#archiveOf(variant, request);
      if (archive.kind === 'rejected') return archive;
      archives.push({ variant, path: archive.path });
    }
    for (const { variant } of archives) notify(`unpacking the kernel of ${variant.variant}`);
    const unpacking = archives.map(async ({ variant, path }) => ({
      variant,
      kernel: await unpacked(this.#resources.lab, path),
    }));
    // A failure removes the folder in which the others unpack.
    await Promise.allSettled(unpacking);
    const all = [...this.#bootable.values(), ...(await Promise.all(unpacking))];
    const names = new Set(variants.map(({ variant }) => variant));
    this.#bootable = new Map(
      all.flatMap((one) => (names.has(one.variant.variant) ? [[one.variant.variant, one]] : [])),
    );
    return { kind: 'ready' };
  }

  ready(): ReadonlySet<string> {
    return new Set(this.#bootable.keys());
  }

  takeWarnings(): string[] {
    return this.#warnings.splice(0);
  }

  async boot({ runs, signal }: PairOfGuests): Promise<(BootedGuest | NotBooted)[]> {
    const { lab, cpus, tallies, addresses, deps } = this.#resources;
    const bootables = runs.map(({ variant }) => this.#bootableOf(variant));
    const all = await bootTogether({ ...deps, lab, cpus, addresses, signal }, bootables);
    for (const { kind, variant } of all) {
      const tally = tallyOf(tallies, variant.variant);
      if (kind === 'booted') Object.assign(tally, { hasBooted: true, bootFailures: 0 });
      else tally.bootFailures += 1;
    }
    return all.map((one) => {
      const variant = one.variant.variant;
      if (one.kind === 'not-booted') {
        const { reason, words, console } = one;
        const why = words.panic === undefined ? '' : ` (panic: ${words.panic})`;
        const outcome = blameOrFail(tallies, variant, ['bootFailures', 'hasBooted'], {
          rejection: { kind: 'boot-failed', message: `Twice in a row: ${reason}.`, ...words },
          reason: `${variant} did not boot: ${reason}${why}`,
        });
        return { kind: 'not-booted', variant, outcome, console };
      }
      const { guest, host, kernel, dut } = one;
      const booted: BootedGuest = { kind: 'booted', variant, guest, host, kernel };
      this.#duts.set(booted, dut);
      return booted;
    });
  }

  async tryRules(booted: readonly BootedGuest[]): Promise<TrialOutcome | undefined> {
    try {
      const all = await Promise.all(booted.map((one) => this.#upload(one)));
      const refused = firstToBlame(all.filter((prepared) => prepared.kind === 'rejected'));
      if (refused === undefined) for (const { variant } of booted) this.#proved.add(variant);
      return refused;
    } catch (error) {
      const full = await fullGuest(this.#resources.tallies, booted);
      if (full !== undefined) return full;
      throw error;
    }
  }

  /** Proves rules once in a gate. The trial of an only scenario installs them next anyway. */
  async #upload(booted: BootedGuest): Promise<PrepareOutcome> {
    const { variant } = this.#bootableOf(booted.variant);
    const isProved = this.#proved.has(booted.variant) || this.#scenarios.length === 1;
    const toProve = isProved ? [] : this.#scenarios;
    return this.#dutOf(booted).prepareToDiscard(variant, this.#scenarios, toProve);
  }

  async installRules(booted: BootedGuest, { scenario }: Cell): Promise<TrialOutcome | undefined> {
    if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is not a Linux scenario.`);
    if (this.#inForce.get(booted) === scenario) return undefined;
    const installed = await this.#dutOf(booted).install(booted.variant, scenario);
    if (installed.kind === 'rejected') return installed;
    this.#inForce.set(booted, scenario);
    return undefined;
  }

  /** All at once: while one waits for this machine, the other has the CPU. */
  async installCounting(
    booted: readonly BootedGuest[],
    { scenario }: Cell,
  ): ReturnType<GuestSystem['installCounting']> {
    if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
    const all = await Promise.allSettled(booted.map((one) => this.#dutOf(one).installCounting(one.variant, scenario)));
    const begun = all.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const counting = begun.filter((one) => one.kind === 'counting');
    if (counting.length === booted.length) {
      for (const one of booted) this.#inForce.set(one, scenario);
      return { kind: 'counting', counting };
    }
    for (const one of counting) one.cancel();
    for (const one of all) if (one.status === 'rejected') throw one.reason;
    const outcome = firstToBlame(begun.filter((one) => one.kind === 'rejected'));
    if (outcome === undefined) throw new TypeError('No guest was refused.');
    return { kind: 'refused', outcome };
  }

  /** None: a ruleset that nft has loaded is in force as a whole. */
  async whyNotInForce(): Promise<undefined> {}

  async droppedBy(booted: BootedGuest, send: () => Promise<unknown>): Promise<string | undefined> {
    const [by] = await Promise.all([this.#dutOf(booted).droppedBy(secondsToStart), send()]);
    return by;
  }

  /** Reads megabytes only if no guest with the same kernel, and with modules at the same addresses, has shown them. */
  async symbols({ host, kernel }: BootedGuest): Promise<string> {
    const modules = await host.output(shell`cut -d ${' '} -f 1,6 /proc/modules`);
    const key = `${kernel}\n${modules}`;
    if (this.#symbols.key !== key) {
      const options = { maxOutputBytes: maxSymbolBytes };
      this.#symbols = { key, text: await host.output(shell`cat /proc/kallsyms`, options) };
    }
    return this.#symbols.text;
  }

  release(booted: readonly BootedGuest[]): Promise<void> {
    return this.stop(booted);
  }

  async stop(booted: readonly BootedGuest[]): Promise<void> {
    await Promise.all(
      booted.map(async ({ host, guest }) => {
        await host.close().catch(() => {});
        await guest.stop();
      }),
    );
  }

  async close(): Promise<void> {}

  #bootableOf(variant: string): BootableKernel {
    const bootable = this.#bootable.get(variant);
    if (bootable === undefined) throw new TypeError(`${variant} was not prepared.`);
    return bootable;
  }

  #dutOf(booted: BootedGuest): BootedLinux['dut'] {
    const dut = this.#duts.get(booted);
    if (dut === undefined) throw new TypeError(`${booted.variant} was not booted here.`);
    return dut;
  }

  /** Builds the variant's kernel, or returns the given one; returns the configuration's if only files differ. */
  async #archiveOf(
    { variant, kernel }: Variant,
    request: Pick<PrepareRequest, 'keepLog' | 'notify' | 'signal'>,
  ): Promise<{ kind: 'archive'; path: string | undefined } | Rejected> {
    const { builder, kernelPath } = this.#config;
    if (kernel === undefined) return { kind: 'archive', path: kernelPath };
    if (kernel.kind === 'archive') {
      await requireSame(kernel);
      return { kind: 'archive', path: kernel.path };
    }
    if (builder === undefined) {
      throw new UsageError(`${this.#name} has no \`builder\`, which is needed to build the kernels of a tree.`);
    }
    const { lab, deps } = this.#resources;
    const built = await buildLinuxKernel(builder, {
      variant,
      kernel,
      path: join(lab.folder, `${pathName(variant)}.tar.zst`),
      owner: `ppsgate on ${this.#name}`,
      connect: deps.connect,
      now: deps.now,
      sums: deps.kernelSums ?? noSums,
      ...request,
    });
    return built.kind === 'rejected' ? { ...built, variant } : built;
  }
}

/** The patch is not to blame if base is refused, too. */
const firstToBlame = (refused: readonly Rejected[]): Rejected | undefined =>
  refused.find(({ variant }) => variant === 'base') ?? refused[0];

/** Exceeds the start of nft(8) in a guest with translated instructions. */
const secondsToStart = 1;

/** Guests get their interfaces before their settings, like any DUT. */
function findInert(
  variants: readonly Variant[],
  scenario: LinuxScenario = 'forwarding',
): Rejected | { kind: 'acts'; warnings: string[] } {
  const read = variants
    .map((variant) => loadable(variant, linuxGuestPorts))
    .filter((overlay) => overlay.kind === 'loadable');
  // Accepts an overlay that cannot be loaded: the guest reports the file.
  if (read.length < variants.length) return { kind: 'acts', warnings: [] };
  const kernelOf = (name?: string) => variants.find(({ variant }) => variant === name)?.kernel;
  const base = kernelOf(variants[0]?.variant);
  const nothingKnown = { before: new Map(), fixed: new Set<string>() };
  const compared = findInertChanges(read, nothingKnown, (name) => !isDeepStrictEqual(kernelOf(name), base));
  if (compared.kind === 'acts') return compared;
  const { variant, message } = compared;
  return rejected(variant, { kind: 'does-not-load', scenario, message });
}

/** Unpacks a kernel; `undefined` is this machine's own. */
async function unpacked(lab: VirtualLab, path: string | undefined): Promise<KernelFiles> {
  try {
    return await lab.kernel(path);
  } catch (error) {
    if (!(error instanceof KernelFilesError)) throw error;
    const subject = path === undefined ? '' : `The kernel ${path} `;
    throw new UsageError(`${subject}${error.message}.`);
  }
}

async function requireSame({ path, sha256 }: { path: string; sha256: string }): Promise<void> {
  const now = await givenKernel(path);
  if (now.kind === 'archive' && now.sha256 === sha256) return;
  throw new UsageError(
    `The kernel ${path} has changed since this gate began: restore its old content, or start a new gate.`,
  );
}

/** Finds a guest without free space for rules; a kernel that fills the space is to blame. */
async function fullGuest(tallies: Tallies, booted: readonly BootedGuest[]): Promise<TrialOutcome | undefined> {
  for (const { host, variant } of booted) {
    const usage = await host.output(shell`df -P -k /run | tail -n 1`).catch(() => '');
    // POSIX df: the fourth column is the available space.
    if (usage.trim().split(/\s+/)[3] !== '0') continue;
    tallyOf(tallies, variant).refusals += 1;
    const message = `no space is left in /run of the guest with ${variant}`;
    return isAtFault(tallies, variant, 'refusals', 'hasBooted')
      ? rejected(variant, { kind: 'out-of-disk', message: `Twice: ${message}.` })
      : failed(message);
  }
  return undefined;
}
