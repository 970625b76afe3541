// Boots Linux kernels in guests in parallel, proves which kernel runs, and explains failed boots.
import type { Variant } from '../../kernel/variant.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { TestNetworks } from '../../model/traffic.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { type LinuxDut, linuxDut } from '../linux/linux-dut.ts';
import { interrupted } from './guests.ts';
import { linuxGuestPorts } from './vm/addresses.ts';
import type { KernelFiles } from './vm/kernel-files.ts';
import type { LinuxGuest, VirtualLab } from './vm/virtual-lab.ts';

export type BootableKernel = { variant: Variant; kernel: KernelFiles };

export type BootedLinux = {
  kind: 'booted';
  variant: Variant;
  guest: LinuxGuest;
  host: Host;
  dut: LinuxDut;
  kernel: string;
};

type FailedLinuxBoot = {
  kind: 'not-booted';
  variant: Variant;
  /** Continues the variant's name and "did not boot". */
  reason: string;
  words: LastWords;
  console: string;
};

type BootDeps = Pick<FreebsdDeps, 'connect' | 'sleep' | 'now'> & {
  lab: Pick<VirtualLab, 'boot' | 'login'>;
  cpus: readonly number[];
  addresses?: TestNetworks | undefined;
  signal: AbortSignal;
};

/** Longer than any successful boot, even on a busy machine. */
const maxBootSeconds = 120;
/** A guest that needs this many times longer than another one is considered dead. */
const maxTimesSlower = 4;
const minSecondsBeside = 20;

/** Boots of one pair; the first guest that is up shortens the time limit of the others. */
type Together = { startedAt: number; firstUpSeconds: number | undefined };

export async function bootTogether(
  deps: BootDeps,
  bootables: readonly BootableKernel[],
): Promise<(BootedLinux | FailedLinuxBoot)[]> {
  const together: Together = { startedAt: deps.now(), firstUpSeconds: undefined };
  return Promise.all(bootables.map((bootable, index) => boot(deps, bootable, index + 1, together)));
}

function limitSeconds({ firstUpSeconds }: Together): number {
  if (firstUpSeconds === undefined) return maxBootSeconds;
  return Math.max(firstUpSeconds * maxTimesSlower, firstUpSeconds + minSecondsBeside);
}

async function boot(
  { lab, connect, sleep, now, cpus, addresses, signal }: BootDeps,
  { variant, kernel }: BootableKernel,
  number: number,
  together: Together,
): Promise<BootedLinux | FailedLinuxBoot> {
  signal.throwIfAborted();
  const guest = await lab.boot(number, kernel, cpus[(number - 1) % cpus.length] ?? 0);
  const notBooted = (reason: string): FailedLinuxBoot => ({
    kind: 'not-booted',
    variant,
    reason,
    words: lastWords(guest.console(), false),
    console: guest.console(),
  });
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  const elapsedSeconds = () => now() - together.startedAt;
  try {
    let how: 'up' | 'ended' | undefined;
    const upOrEnded = guest.up.then(
      () => {
        how = 'up';
      },
      () => {
        how = 'ended';
      },
    );
    while (how === undefined && elapsedSeconds() < limitSeconds(together)) {
      await Promise.race([upOrEnded, sleep(1), aborted.promise]);
    }
    if (how === 'ended') return notBooted('it reset itself before it came up');
    if (how === undefined) {
      const { where, words } = await interrupted(guest);
      const seconds = Math.round(limitSeconds(together));
      const reason = `it did not come up within ${seconds} s${where}, and was power-cycled`;
      return { ...notBooted(reason), words };
    }
    together.firstUpSeconds ??= elapsedSeconds();
    const host = await connect(lab.login(guest), variant.variant, { keepaliveSeconds: 5 });
    const found = await identify(host, guest, kernel);
    if (found.kind === 'other') {
      await host.close();
      return notBooted(found.reason);
    }
    return {
      kind: 'booted',
      variant,
      guest,
      host,
      dut: linuxDut(host, linuxGuestPorts, addresses),
      kernel: found.kernel,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HostError)) throw error;
    return notBooted(`no login was possible (${reasonOf(error)})`);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Proves which kernel runs: by its version, its command line, and the modules that it loaded. */
async function identify(
  host: Host,
  { commandLine }: LinuxGuest,
  { version, atBoot }: KernelFiles,
): Promise<{ kind: 'same'; kernel: string } | { kind: 'other'; reason: string }> {
  const [release, build, bootedLine, notes, ...modules] = (
    await host.output(
      shell`uname -r && uname -v && cat /proc/cmdline && od -A n -v -t x1 /sys/kernel/notes | tr -d ' \n' && echo && cut -d ${' '} -f 1 /proc/modules`,
    )
  ).split('\n');
  if (!version.startsWith(`${release} `) || !version.includes(` ${build}`)) {
    return {
      kind: 'other',
      reason: `${release} ${build} came up instead of ${version}`,
    };
  }
  if (bootedLine !== commandLine) return { kind: 'other', reason: `its kernel command line is "${bootedLine}"` };
  const missing = atBoot.filter((name) => !modules.includes(name));
  if (missing.length > 0) {
    return { kind: 'other', reason: `it loaded no ${missing.join(' and no ')}` };
  }
  const id = buildIdIn(notes ?? '');
  return { kind: 'same', kernel: `${release} ${build}${id === undefined ? '' : `, build ${id}`}` };
}

/** Hexadecimal note of type 3, owner `GNU`; see elf(5), NT_GNU_BUILD_ID. */
const buildIdIn = (notes: string): string | undefined =>
  /04000000(14000000)03000000474e5500([0-9a-f]{40})/.exec(notes)?.[2];
