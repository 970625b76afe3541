// Drives a FreeBSD machine as the DUT: installs kernels, boots each once, and proves which one runs.
import { reasonOf } from '../../../model/one-line.ts';
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import type { LastWords } from '../../console/console-text.ts';
import type { ConsoleRecorder } from '../../console/recorder.ts';
import { type Power, PowerError } from '../../power/power.ts';
import {
  type BootMachine,
  type BootMethod,
  type BootMethodName,
  DutLostError,
  type InstallOutcome,
  type KernelArchive,
  whyUnfit,
} from '../boot/boot.ts';
import { bootEnvironment } from '../boot/boot-environment.ts';
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
import { panicSince, type Traces, tracesOf, waitForDump } from './panic.ts';

export type { BootMethodName, InstallOutcome, KernelArchive } from '../boot/boot.ts';

/** `seconds` is the time from the order to reboot until the machine accepted a login again. */
type BootOutcome =
  /** `version` is the output of `uname -v`. */
  | { kind: 'booted'; version: string; seconds: number }
  /** The machine is up again with its own kernel. */
  | ({ kind: 'boot-failed'; reason: string; seconds: number } & LastWords);

const methods: Record<BootMethodName, (machine: BootMachine) => BootMethod> = {
  /** Installs into a folder in /boot; the boot after the next is the machine's own again. */
  nextboot,
  /** Installs into a clone of the machine's own environment on ZFS, activated for one boot. */
  'boot-environment': bootEnvironment,
  /** Installs a whole image into the other slice of an appliance, where nothing falls back automatically. */
  nanobsd,
};

export type FreebsdDutOptions = {
  method: BootMethodName;
  connect(): Promise<Host>;
  /** Absent: a machine that hangs stays lost. */
  power?: Pick<Power, 'cycle'> | undefined;
  /** Absent: only a panic's traces show its cause. */
  console?: Pick<ConsoleRecorder, 'beginBoot' | 'lastWords' | 'describe'> | undefined;
  /** Time limit from an order to reboot until the machine is up. */
  bootSeconds: number;
  sleep(seconds: number): Promise<void>;
  now(): number;
};

/** A machine whose own kernel ran when it was opened; `restore` goes back to that kernel. */
export class FreebsdDut {
  readonly #options: FreebsdDutOptions;
  readonly #method: BootMethod;
  readonly #own: System;
  #host: Host;
  #traces: Traces;

  private constructor(
    options: FreebsdDutOptions,
    start: { host: Host; own: System; modules: ReadonlySet<string>; traces: Traces },
  ) {
    const { host, own, modules, traces } = start;
    this.#options = options;
    this.#host = host;
    this.#own = own;
    this.#traces = traces;
    this.#method = methods[options.method]({
      own,
      modules,
      host: () => this.#host,
      reconnect: () => this.#reconnect(),
    });
  }

  /** Connects to the machine; reboots it first if a dead controller left one of our kernels running. */
  static async open(options: FreebsdDutOptions): Promise<FreebsdDut> {
    const host = await leaveTestKernel(await options.connect(), options);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => host.close());
    const unfit = await whyUnfit(host, options.method);
    if (unfit !== undefined) {
      throw new HostError(
        'command-failed',
        `${host.name} cannot boot with the method ${options.method}: ${unfit.why}; ${unfit.fix}.`,
      );
    }
    const own = await runningSystem(host);
    const modules = await loadedFiles(host);
    const traces = await tracesOf(host);
    const dut = new FreebsdDut(options, { host, own, modules, traces });
    opened.move();
    return dut;
  }

  /**
   * Copies a kernel to the machine under one of our names, unless the same content is there. First removes kernels of
   * variants outside `kept`, except for the running one; removes none if `kept` is absent.
   */
  install(kernel: KernelArchive, kept?: ReadonlySet<string>): Promise<InstallOutcome> {
    return this.#method.install(kernel, kept);
  }

  /** Boots an installed kernel once, or the machine's own for `undefined`, and proves which one came up. */
  async boot(variant: string | undefined): Promise<BootOutcome> {
    if (variant !== undefined && this.#method.needsOwn?.(variant, await runningSystem(this.#host))) {
      await this.#bootOwn();
    }
    const ordered = await this.#method.arm(variant);
    return this.#rebootTo(ordered, variant === undefined);
  }

  /** Reboots without an order for the next boot, and proves that the machine's own kernel came up. */
  rebootUnordered(): Promise<BootOutcome> {
    return this.#rebootTo(this.#own, true);
  }

  host(): Host {
    return this.#host;
  }

  /** Recovers from a lost trial: boots the machine's own kernel, and returns the panic since the last boot. */
  async recover(): Promise<LastWords> {
    await this.#reach();
    await waitForDump(this.#host, this.#options.sleep);
    const traces = await tracesOf(this.#host);
    const shown = this.#options.console?.lastWords() ?? {};
    const panic = panicSince(this.#traces, traces) ?? shown.panic;
    this.#traces = traces;
    await this.#bootOwn();
    return { ...shown, ...(panic !== undefined && { panic }) };
  }

  /** Boots the machine's own kernel, and removes every installed one; has no effect a second time. */
  async restore(): Promise<void> {
    await this.#reach();
    await this.#bootOwn();
    await this.#method.arm(undefined);
    await this.#method.clear();
  }

  /** After a kernel that fails to come up, the machine boots its own, unless that one failed. */
  async #rebootTo(ordered: System, isOwn: boolean): Promise<BootOutcome> {
    const { console, now, bootSeconds } = this.#options;
    this.#traces = await tracesOf(this.#host);
    await console?.beginBoot();
    const orderedAt = now();
    await orderReboot(this.#host);
    const up = await waitForUp('has booted', this.#options);
    const seconds = now() - orderedAt;
    this.#host = up.host;
    const proof = await prove(this.#host, ordered);
    if (isOwn) return { ...proof, seconds };
    if (up.wasCycled) {
      const reason = `it did not come up within ${bootSeconds} s, and was power-cycled`;
      return { kind: 'boot-failed', reason, seconds, ...(await this.recover()) };
    }
    if (proof.kind === 'booted') return { ...proof, seconds };
    return { ...proof, seconds, ...(await this.recover()) };
  }

  async #bootOwn(): Promise<void> {
    if (isSamePlace(await runningSystem(this.#host), this.#own)) return;
    const outcome = await this.boot(undefined);
    if (outcome.kind === 'boot-failed') throw new DutLostError(outcome.reason);
  }

  /** Keeps the connection if it still carries a command. */
  async #reach(): Promise<void> {
    try {
      await this.#host.output(shell`uname`, { timeoutSeconds: answerSeconds });
    } catch {
      await this.#reconnect();
    }
  }

  async #reconnect(): Promise<Host> {
    await this.#host.close();
    this.#host = (await waitForUp('answers', this.#options)).host;
    return this.#host;
  }
}

type BootProof = { kind: 'booted'; version: string } | { kind: 'boot-failed'; reason: string };

/** Treats a machine that is lost again as a failed boot: a kernel may panic just after the machine is up. */
async function prove(host: Host, expected: System): Promise<BootProof> {
  try {
    const [running, version] = await Promise.all([runningSystem(host), host.output(shell`uname -v`)]);
    const reason = whyOther(running, expected);
    if (reason !== undefined) return { kind: 'boot-failed', reason };
    return { kind: 'booted', version: version.trim() };
  } catch (error) {
    ifNotUp(error);
    return { kind: 'boot-failed', reason: 'it was lost again right after it came up' };
  }
}

/** Returns when the machine accepts a login. Waits while it boots, and power-cycles a machine that stays away. */
export async function wakeFreebsdDut(options: FreebsdDutOptions): Promise<void> {
  const host = await options.connect().catch(ifNotUp);
  if (host === undefined) await options.console?.beginBoot();
  const awake = host ?? (await waitForUp('answers', options)).host;
  await awake.close();
}

/** A dead controller may have ordered another of our kernels while one was running; each order is for one boot. */
const maxBootsOfOurs = 2;

async function leaveTestKernel(first: Host, options: FreebsdDutOptions): Promise<Host> {
  let host = first;
  for (let boots = 0; ; boots += 1) {
    const running = await runningSystem(host);
    if (!isOurs(running)) return host;
    if (boots === maxBootsOfOurs) {
      await host.close();
      throw new DutLostError(
        `The DUT runs ${running.kernel} of an earlier experiment, even after two reboots; boot its own kernel.`,
      );
    }
    await options.console?.beginBoot();
    await orderReboot(host);
    host = (await waitForUp('has booted', options)).host;
  }
}

const answerSeconds = 10;

/** The connection usually breaks before the command reports its success. */
async function orderReboot(host: Host): Promise<void> {
  await markBoot(host);
  try {
    await host.output(shell`shutdown -r now`);
  } catch (error) {
    if (!(error instanceof HostError) || error.kind === 'command-failed') throw error;
  }
  await host.close();
}

const pollSeconds = 2;

type UpState = 'answers' | 'has booted';

/** Power-cycles a late machine, up to twice. */
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
      await sleep(pollSeconds);
      const host = await connectOnceUp(connect, wanted).catch(ifNotUp);
      if (host !== undefined) return { host, wasCycled: cycles > 0 };
    }
  }
  const shown = console?.describe();
  throw new DutLostError(
    `The DUT did not come up within ${bootSeconds} s, ${powerAttempts(power, powerFailure)}; ${shown === undefined ? 'check its console' : `its console ${shown}`}.`,
  );
}

const noFailure = (): undefined => undefined;
/** Rethrows a FencedError: without the lease the controller stops. */
const asFailure = (error: unknown): PowerError => {
  if (error instanceof PowerError) return error;
  throw error;
};

function powerAttempts(power: FreebsdDutOptions['power'], failure: unknown): string {
  if (power === undefined) return 'and has no power control';
  return failure === undefined
    ? 'even after two power cycles'
    : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
}

/** Returns undefined while the machine still shuts down. */
async function connectOnceUp(connect: () => Promise<Host>, wanted: UpState): Promise<Host | undefined> {
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
