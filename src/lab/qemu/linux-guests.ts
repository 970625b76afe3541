// Guests with Linux: kernels that are built, given or one for all, the files of an overlay installed on them, and nftables' rules.
import { execFile } from 'node:child_process';
import { release } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LinuxGuests } from '../../config/virtual-testbed.ts';
import { noSums } from '../../kernel/kernel-sums.ts';
import { buildLinuxKernel } from '../../kernel/linux-kernels.ts';
import { givenKernel, type Variant } from '../../kernel/variant.ts';
import type { Rejected } from '../../model/rejection.ts';
import { isLinuxScenario, type LinuxScenario } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import { pathName } from '../../model/variant-name.ts';
import { shell } from '../../system/shell.ts';
import { connectTo } from '../connect.ts';
import type { LastWords } from '../console/console-text.ts';
import { isToBlame, lacksControl, type Tallies, tallyOf } from '../fault-attribution.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import type { PrepareRequest, TrialOutcome } from '../testbed.ts';
import { type Booted, type GuestSystem, machineOf } from './guests.ts';
import { type Bootable, type BootedLinux, bootTogether } from './linux-boots.ts';
import { type KernelFiles, KernelFilesError } from './vm/kernel-files.ts';
import { kernelCommandLine, type VirtualLab } from './vm/virtual-lab.ts';

const run = promisify(execFile);

/** What kernels are built with. */
export type BuildDeps = Pick<FreebsdDeps, 'connect' | 'now' | 'kernelSums'>;

type LinuxDeps = {
  lab: VirtualLab;
  tallies: Tallies;
  /** Those that guests boot on. */
  cpus: readonly number[];
  deps: BuildDeps;
};

export function linuxGuests(
  name: string,
  config: LinuxGuests,
  { lab, tallies, cpus, deps }: LinuxDeps,
): GuestSystem {
  /** What was readied, by the names of variants. */
  let wanted: ReadonlyMap<string, Bootable> = new Map();
  let scenarios: readonly LinuxScenario[] = [];
  const duts = new WeakMap<Booted, BootedLinux>();
  const dutOf = (one: Booted): BootedLinux['dut'] => {
    const dut = duts.get(one)?.dut;
    if (dut === undefined) throw new TypeError(`${one.variant} was not booted here.`);
    return dut;
  };

  const end: GuestSystem['end'] = async (booted) => {
    for (const { host, guest } of booted) {
      await host.close().catch(() => {});
      await guest.stop();
    }
  };

  return {
    inspect: async () => ({ fingerprint: await fingerprint(config), warnings: [] }),

    async prepare({ variants, cells, keepLog, notify, signal }) {
      scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(isLinuxScenario);
      const readied = new Map<string, Bootable>();
      for (const variant of variants) {
        signal.throwIfAborted();
        const known = wanted.get(variant.variant);
        if (known !== undefined) {
          readied.set(variant.variant, known);
          continue;
        }
        const archive = await archiveOf(variant, { keepLog, notify, signal });
        if (archive.kind === 'rejected') return archive;
        notify(`unpacking the kernel of ${variant.variant}`);
        readied.set(variant.variant, { variant, kernel: await unpacked(lab, archive.path) });
      }
      wanted = readied;
      return { kind: 'ready' };
    },

    ready: () => new Set(wanted.keys()),

    async boot({ runs, signal }) {
      const bootables = runs.map(({ variant }) => {
        const bootable = wanted.get(variant);
        if (bootable === undefined) throw new TypeError(`${variant} was not readied.`);
        return bootable;
      });
      const all = await bootTogether({ lab, connect: connectTo, cpus, signal }, bootables);
      for (const { kind, variant } of all) {
        const tally = tallyOf(tallies, variant.variant);
        if (kind === 'booted') Object.assign(tally, { hasBooted: true, bootFailures: 0 });
        else tally.bootFailures += 1;
      }
      return all.map((one) => {
        const variant = one.variant.variant;
        if (one.kind === 'not-booted') {
          const outcome = afterBootFailure(tallies, variant, one);
          return { kind: 'not-booted', variant, outcome, console: one.console };
        }
        const { guest, host, kernel } = one;
        const booted: Booted = { kind: 'booted', variant, guest, host, kernel };
        duts.set(booted, one);
        return booted;
      });
    },

    async tryAll(booted) {
      try {
        const all = await Promise.all(
          booted.map(async (one) => {
            const variant = wanted.get(one.variant)?.variant;
            return dutOf(one).prepare(variant === undefined ? [] : [variant], scenarios);
          }),
        );
        const refused = all.filter((prepared) => prepared.kind === 'rejected');
        // What base is refused as well is not the patch's fault.
        return refused.find(({ variant }) => variant === 'base') ?? refused[0];
      } catch (error) {
        const full = await withoutRoom(tallies, booted);
        if (full !== undefined) return full;
        throw error;
      }
    },

    async lay(one, { scenario }) {
      if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
      const installed = await dutOf(one).lay(one.variant, scenario);
      return installed.kind === 'rejected' ? installed : undefined;
    },

    // A ruleset that nft has taken is in force as a whole.
    whyNotInForce: async () => undefined,

    symbols: ({ host }) =>
      host.output(shell`cat /proc/kallsyms`, { maxOutputBytes: mostSymbolBytes }),

    leave: end,
    end,
    close: async () => {},
  };

  /** What boots a variant: a kernel that was given or is built, or the configuration's where only files differ. */
  async function archiveOf(
    { variant, kernel }: Variant,
    told: Pick<PrepareRequest, 'keepLog' | 'notify' | 'signal'>,
  ): Promise<{ kind: 'archive'; path: string | undefined } | Rejected> {
    if (kernel === undefined) return { kind: 'archive', path: config.kernelPath };
    if (kernel.kind === 'archive') {
      await requireSame(kernel);
      return { kind: 'archive', path: kernel.path };
    }
    if (config.builder === undefined) {
      throw new UsageError(`${name} has no \`builder\`, which the kernels of a tree need.`);
    }
    const path = join(lab.folder, `${pathName(variant)}.tar.zst`);
    const { connect, now, kernelSums: sums = noSums } = deps;
    const owner = `ppsgate on ${name}`;
    const request = { variant, kernel, path, owner, connect, now, sums, ...told };
    const built = await buildLinuxKernel(config.builder, request);
    return built.kind === 'rejected' ? { ...built, variant } : built;
  }
}

/** A kernel of a distribution names some 150,000 symbols in 7 MB. */
const mostSymbolBytes = 64 * 1024 ** 2;

/** Undefined is this machine's own kernel. */
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
    `The kernel ${path} has changed since this gate began: give it back its old content, or begin anew.`,
  );
}

function afterBootFailure(
  tallies: Tallies,
  name: string,
  { reason, words: { panic, console } }: { reason: string; words: LastWords },
): TrialOutcome {
  if (isToBlame(tallies, name, 'bootFailures', 'hasBooted')) {
    const rejection = {
      ...({ kind: 'boot-failed', message: `Twice in a row: ${reason}.` } as const),
      ...(panic !== undefined && { panic }),
      ...(console !== undefined && { console }),
    };
    return { kind: 'rejected', variant: name, rejection };
  }
  const why = panic === undefined ? '' : ` (panic: ${panic})`;
  return {
    ...{ kind: 'failed', reason: `${name} did not boot: ${reason}${why}` },
    ...(lacksControl(tallies, name, 'hasBooted') && { lacksControl: true }),
  };
}

/** What has nothing left where rules are installed; a kernel that keeps it full is to blame. */
async function withoutRoom(
  tallies: Tallies,
  booted: readonly Booted[],
): Promise<TrialOutcome | undefined> {
  for (const { host, variant } of booted) {
    const shown = await host.output(shell`df -P -k /run | tail -n 1`).catch(() => '');
    // See POSIX, df: the fourth column is what is available.
    if (shown.trim().split(/\s+/)[3] !== '0') continue;
    tallyOf(tallies, variant).refusals += 1;
    const message = `no room is left in /run of the guest with ${variant}`;
    if (!isToBlame(tallies, variant, 'refusals', 'hasBooted')) {
      return { kind: 'failed', reason: message };
    }
    const rejection = { kind: 'out-of-disk', message: `Twice: ${message}.` } as const;
    return { kind: 'rejected', variant, rejection };
  }
  return undefined;
}

async function fingerprint(config: LinuxGuests): Promise<Record<string, string>> {
  const nftables = await run('nft', ['--version']);
  return {
    ...(await machineOf(config)),
    'kernel command line': kernelCommandLine('…'),
    nftables: nftables.stdout.trim(),
    'kernel of this machine': release(),
  };
}
