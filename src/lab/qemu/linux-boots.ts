// Boots Linux kernels in guests in parallel, proves which kernel runs, and explains failed boots.
import { setTimeout } from 'node:timers/promises';
import type { Variant } from '../../kernel/variant.ts';
import { reasonOf } from '../../model/one-line.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { type LastWords, lastWords } from '../console/console-text.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { type LinuxDut, linuxDut } from '../linux/linux-dut.ts';
import { interrupted } from './guests.ts';
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

type BootDeps = {
  lab: Pick<VirtualLab, 'boot' | 'login'>;
  connect: FreebsdDeps['connect'];
  cpus: readonly number[];
  signal: AbortSignal;
};

/** Longer than any successful boot, even on a busy machine. */
const mostBootSeconds = 120;
/** A guest that needs that many times longer than another one is considered dead. */
const mostTimesSlower = 4;
const leastSecondsBeside = 20;

export async function bootTogether(
  deps: BootDeps,
  bootables: readonly BootableKernel[],
): Promise<(BootedLinux | FailedLinuxBoot)[]> {
  const startedAt = performance.now();
  const isOneUp = Promise.withResolvers<number>();
  return Promise.all(
    bootables.map((bootable, index) => {
      const patience = patienceFrom(startedAt, isOneUp.promise);
      const number = index + 1;
      return boot(deps, bootable, number, patience, () =>
        isOneUp.resolve((performance.now() - startedAt) / 1000),
      );
    }),
  );
}

async function patienceFrom(startedAt: number, isOneUp: Promise<number>): Promise<number> {
  const elapsed = () => (performance.now() - startedAt) / 1000;
  const limit = setTimeout(mostBootSeconds * 1000, undefined, { ref: false });
  const durationSeconds = await Promise.race([isOneUp, limit]);
  if (durationSeconds === undefined) return mostBootSeconds;
  const mostSeconds = Math.max(
    durationSeconds * mostTimesSlower,
    durationSeconds + leastSecondsBeside,
  );
  await setTimeout((mostSeconds - elapsed()) * 1000, undefined, { ref: false });
  return Math.round(elapsed());
}

async function boot(
  { lab, connect, cpus, signal }: BootDeps,
  { variant, kernel }: BootableKernel,
  number: number,
  patience: Promise<number>,
  onUp: () => void,
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
  try {
    const isUp = guest.up.then(
      () => 'up' as const,
      () => 'ended' as const,
    );
    const how = await Promise.race([isUp, patience, aborted.promise]);
    if (how === 'ended') return notBooted('it reset itself before it was up');
    if (how !== 'up') {
      const { where, words } = await interrupted(guest);
      const reason = `it was not up after ${how} s${where}, and was power-cycled`;
      return { ...notBooted(reason), words };
    }
    onUp();
    const host = await connect(lab.login(guest), variant.variant, { keepaliveSeconds: 5 });
    const found = await identify(host, guest, kernel);
    if (found.kind === 'other') {
      await host.close();
      return notBooted(found.reason);
    }
    return { kind: 'booted', variant, guest, host, dut: linuxDut(host), kernel: found.kernel };
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
  const [release, build, told, notes, ...modules] = (
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
  if (told !== commandLine) return { kind: 'other', reason: `it was told "${told}"` };
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
