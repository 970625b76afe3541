// A FreeBSD machine as the DUT: kernels are installed on it, booted for once, and proven to run.

import { reasonOf } from '../../../model/one-line.ts';
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import type { LastWords } from '../../console/console-text.ts';
import type { ConsoleRecorder } from '../../console/recorder.ts';
import { type Power, PowerError } from '../../power/power.ts';
import type { BootMachine, BootMethod, InstallOutcome, KernelArchive } from '../boot/boot.ts';
import { bootEnvironment } from '../boot/boot-environment.ts';
import { type BootMethodName, whyUnfit } from '../boot/boot-fit.ts';
import { loadedFiles } from '../boot/boot-modules.ts';
import { nanobsd } from '../boot/boot-nanobsd.ts';
import { nextboot } from '../boot/boot-nextboot.ts';
import {
  hasBootedSinceMark,
  isOurs,
  isSamePlace,
  markBoot,
  runningSystem,
  type System,
  whyOther,
} from '../boot/boot-system.ts';
import { panicSince, tracesOf, waitForDump } from './panic.ts';

export type { InstallOutcome, KernelArchive } from '../boot/boot.ts';
export type { BootMethodName } from '../boot/boot-fit.ts';

/** `seconds` is the time from the order to reboot until the machine answered again. */
type BootOutcome =
  /** `version` is what `uname -v` says. */
  | { kind: 'booted'; version: string; seconds: number }
  /** The machine is up again, on its own kernel. */
  | ({ kind: 'boot-failed'; reason: string; seconds: number } & LastWords);

export type FreebsdDut = {
  /**
   * Brings a kernel to the machine under a name of ours; the same content that is there already is kept. Where it is not,
   * what was installed of other variants than `wanted` is removed first, but for what runs; nothing where that is absent.
   */
  install(kernel: KernelArchive, wanted?: ReadonlySet<string>): Promise<InstallOutcome>;
  /** Boots a installed kernel for once, or with `undefined` the machine's own, and proves what came up. */
  boot(variant: string | undefined): Promise<BootOutcome>;
  /** Reboots without a word of what is to come, and proves that this was the machine's own kernel. */
  rebootUnordered(): Promise<BootOutcome>;
  /** The connection of the moment: every boot makes a new one. */
  host(): Host;
  /** After a trial was lost: up on its own kernel again, and what it panicked of since the last boot. */
  recover(): Promise<LastWords>;
  /** Its own kernel running, and nothing of ours left to boot; a second time does nothing. */
  restore(): Promise<void>;
};

const methods: Record<BootMethodName, (machine: BootMachine) => BootMethod> = {
  /** A folder in /boot; the boot after the next is the machine's own again. */
  nextboot,
  /** A clone of its own environment on ZFS; likewise for one boot. */
  'boot-environment': bootEnvironment,
  /** A whole image in the other slice of an appliance, where nothing falls back by itself. */
  nanobsd,
};

export type FreebsdDutOptions = {
  method: BootMethodName;
  connect(): Promise<Host>;
  /** Absent: a machine that hangs stays lost. */
  power?: Pick<Power, 'cycle'> | undefined;
  /** Absent: what it dies of is known only where it leaves traces. */
  console?: Pick<ConsoleRecorder, 'beginBoot' | 'lastWords' | 'describe'> | undefined;
  /** How long a machine may take to be up again after it was told to reboot. */
  bootSeconds: number;
  sleep(seconds: number): Promise<void>;
  /** The time in seconds, of any origin. */
  now(): number;
};

/** The machine does not come back: nothing can be measured on it until somebody has looked. */
export class DutLostError extends Error {
  override readonly name = 'DutLostError';
}

/**
 * Connects to a machine, whose own kernel is the one that runs: `restore` goes back to it. One of ours, left running by
 * a controller that died, is rebooted first.
 */
export async function openFreebsdDut(options: FreebsdDutOptions): Promise<FreebsdDut> {
  await using opened = new AsyncDisposableStack();
  let host = await leaveOurs(await options.connect(), options);
  opened.defer(() => host.close());
  const unfit = await whyUnfit(host, options.method);
  if (unfit !== undefined) {
    throw new HostError(
      'command-failed',
      `${host.name} is not to be booted by the method ${options.method}: ${unfit.why}; ${unfit.fix}.`,
    );
  }
  const own = await runningSystem(host);
  const modules = await loadedFiles(host);
  /** Traces of panics before what runs now. */
  let traces = await tracesOf(host);

  const reconnect = async (): Promise<Host> => {
    await host.close();
    host = (await waitForUp('answers', options)).host;
    return host;
  };
  const method = methods[options.method]({ own, modules, host: () => host, reconnect });

  const boot = async (variant: string | undefined): Promise<BootOutcome> => {
    if (variant !== undefined && method.needsOwn?.(variant, await runningSystem(host))) {
      await goHome();
    }
    const wanted = await method.arm(variant);
    return rebootTo(wanted, variant === undefined);
  };

  /** What fails to come up is followed by the machine's own, unless that is what failed. */
  const rebootTo = async (wanted: System, isOwn: boolean): Promise<BootOutcome> => {
    traces = await tracesOf(host);
    await options.console?.beginBoot();
    const toldAt = options.now();
    await orderReboot(host);
    const up = await waitForUp('has booted', options);
    const seconds = options.now() - toldAt;
    host = up.host;
    const proof = await prove(host, wanted);
    if (isOwn) return { ...proof, seconds };
    if (up.wasCycled) {
      const reason = `it was not up after ${options.bootSeconds} s, and was power-cycled`;
      return { kind: 'boot-failed', reason, seconds, ...(await recover()) };
    }
    if (proof.kind === 'booted') return { ...proof, seconds };
    return { ...proof, seconds, ...(await recover()) };
  };

  const goHome = async (): Promise<void> => {
    if (isSamePlace(await runningSystem(host), own)) return;
    const outcome = await boot(undefined);
    if (outcome.kind === 'boot-failed') throw new DutLostError(outcome.reason);
  };

  /** The same connection where it still carries a command, or a new one. */
  const reach = async (): Promise<void> => {
    try {
      await host.output(shell`uname`, { timeoutSeconds: answerSeconds });
    } catch {
      await reconnect();
    }
  };

  const recover = async (): Promise<LastWords> => {
    await reach();
    await waitForDump(host, options.sleep);
    const tracesNow = await tracesOf(host);
    const shown = options.console?.lastWords() ?? {};
    const panic = panicSince(traces, tracesNow) ?? shown.panic;
    traces = tracesNow;
    await goHome();
    return { ...shown, ...(panic !== undefined && { panic }) };
  };

  opened.move();
  return {
    install: (kernel, wanted) => method.install(kernel, wanted),
    boot,
    rebootUnordered: () => rebootTo(own, true),
    host: () => host,
    recover,

    async restore() {
      await reach();
      await goHome();
      await method.arm(undefined);
      await method.clear();
    },
  };
}

type BootProof = { kind: 'booted'; version: string } | { kind: 'boot-failed'; reason: string };

/** A kernel may well panic when the machine is just up. */
async function prove(host: Host, wanted: System): Promise<BootProof> {
  try {
    const [running, version] = await Promise.all([
      runningSystem(host),
      host.output(shell`uname -v`),
    ]);
    const reason = whyOther(running, wanted);
    if (reason !== undefined) return { kind: 'boot-failed', reason };
    return { kind: 'booted', version: version.trim() };
  } catch (error) {
    ifNotUp(error);
    return { kind: 'boot-failed', reason: 'it was lost again as soon as it was up' };
  }
}

/** Answers when the machine does; one that boots is waited for, and one that stays away is power-cycled. */
export async function wakeFreebsdDut(options: FreebsdDutOptions): Promise<void> {
  const host = await options.connect().catch(ifNotUp);
  if (host === undefined) await options.console?.beginBoot();
  const awake = host ?? (await waitForUp('answers', options)).host;
  await awake.close();
}

/** Whoever died may have ordered another one while one of ours ran; each was ordered for one boot only. */
const mostBootsOfOurs = 2;

/** The boot after those of ours is the machine's own. */
async function leaveOurs(first: Host, options: FreebsdDutOptions): Promise<Host> {
  let host = first;
  for (let boots = 0; ; boots += 1) {
    const running = await runningSystem(host);
    if (!isOurs(running)) return host;
    if (boots === mostBootsOfOurs) {
      await host.close();
      throw new DutLostError(
        `The DUT runs ${running.kernel} of an earlier experiment, after two reboots too; boot its own kernel.`,
      );
    }
    await options.console?.beginBoot();
    await orderReboot(host);
    host = (await waitForUp('has booted', options)).host;
  }
}

const answerSeconds = 10;

/** The connection mostly breaks before the command has said that it succeeded. */
async function orderReboot(host: Host): Promise<void> {
  await markBoot(host);
  try {
    await host.output(shell`shutdown -r now`);
  } catch (error) {
    if (!(error instanceof HostError) || error.kind === 'command-failed') throw error;
  }
  await host.close();
}

const secondsBetweenLooks = 2;

/** An answer is not enough where a machine was told to reboot: it may still shut down. */
type UpState = 'answers' | 'has booted';

/** One that is late is power-cycled, twice if need be. */
async function waitForUp(
  wanted: UpState,
  { connect, power, console, bootSeconds, sleep, now }: FreebsdDutOptions,
): Promise<{ host: Host; wasCycled: boolean }> {
  let powerFailure: unknown;
  for (const cycles of [0, 1, 2]) {
    if (cycles > 0 && power === undefined) break;
    if (cycles > 0) powerFailure = await power?.cycle().then(noFailure, asFailure);
    const deadline = now() + bootSeconds;
    while (powerFailure === undefined && now() < deadline) {
      await sleep(secondsBetweenLooks);
      const host = await connectOnceUp(connect, wanted).catch(ifNotUp);
      if (host !== undefined) return { host, wasCycled: cycles > 0 };
    }
  }
  const shown = console?.describe();
  throw new DutLostError(
    `The DUT was not up after ${bootSeconds} s, ${powerAttempts(power, powerFailure)}; ${shown === undefined ? 'look at its console' : `its console ${shown}`}.`,
  );
}

const noFailure = (): undefined => undefined;
/** Whoever may not touch the power any more may not go on either. */
const asFailure = (error: unknown): PowerError => {
  if (error instanceof PowerError) return error;
  throw error;
};

function powerAttempts(power: FreebsdDutOptions['power'], failure: unknown): string {
  if (power === undefined) return 'and has no power control';
  return failure === undefined
    ? 'not even power-cycled twice'
    : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
}

/** Undefined while the machine still shuts down. */
async function connectOnceUp(
  connect: () => Promise<Host>,
  wanted: UpState,
): Promise<Host | undefined> {
  const host = await connect();
  try {
    if (wanted === 'answers' || (await hasBootedSinceMark(host))) return host;
  } catch (error) {
    await host.close();
    throw error;
  }
  await host.close();
  return undefined;
}

function ifNotUp(error: unknown): undefined {
  if (error instanceof HostError && ['unreachable', 'lost', 'timeout'].includes(error.kind)) {
    return undefined;
  }
  throw error;
}
