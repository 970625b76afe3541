// Checks with one guest that this machine's guests boot, count instructions and panic as a testbed requires.
import { readFile } from 'node:fs/promises';
import type { FreebsdGuestsConfig, LinuxGuestsConfig, VirtualTestbed } from '../../config/virtual-testbed.ts';
import { grouped } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';
import { lastWords } from '../console/console-text.ts';
import { inspectDut } from '../freebsd/boots.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { ownerFile } from '../netns/embedded-lab.ts';
import { claimWhenFree, LabInUseError } from '../netns/owner.ts';
import { LabImpossibleError, requireLab } from '../netns/requirements.ts';
import { isOfImage } from '../qemu/freebsd-guests.ts';
import { openImage } from '../qemu/freebsd-image.ts';
import { bootTogether } from '../qemu/linux-boots.ts';
import { guestImage } from '../qemu/official-image.ts';
import { type Guest, GuestEndedError } from '../qemu/vm/guest.ts';
import { KernelFilesError, NoOwnKernelError } from '../qemu/vm/kernel-files.ts';
import { guestCpu, type VirtualLab, virtualLabUp } from '../qemu/vm/virtual-lab.ts';
import { type CheckStep, type Diagnostic, lookAgain, ok, skipped, walk, wrong } from './diagnostic.ts';

export type MachineOfGuests = {
  /** Throws a LabImpossibleError. */
  require(): Promise<void>;
  /** Waits until no other process uses this machine. */
  up(testbed: VirtualTestbed, wait: { notify?: (text: string) => void; signal: AbortSignal }): Promise<VirtualLab>;
};

const thisMachine: MachineOfGuests = {
  require: () => requireLab('virtual'),
  async up(testbed, wait) {
    await claimWhenFree(ownerFile, wait);
    return virtualLabUp(testbed);
  },
};

export async function* checkVirtualTestbed(
  testbed: VirtualTestbed,
  { signal, ...deps }: FreebsdDeps & { signal: AbortSignal },
  machine = thisMachine,
): AsyncGenerator<Diagnostic> {
  await using opened = new AsyncDisposableStack();
  const steps: CheckStep[] = [
    {
      what: programs,
      async run(what) {
        await machine.require();
        return [ok(what, 'all are installed, and this process may use them')];
      },
    },
    {
      what: 'a guest',
      needs: [programs],
      async run(what) {
        const lab = await machine.up(testbed, { ...deps, signal });
        opened.defer(() => lab.down());
        return testbed.system === 'linux'
          ? bootLinux(what, lab, testbed, { signal, deps })
          : bootImage(what, lab, testbed, deps);
      },
    },
  ];
  yield* walk(steps, { signal, failed });
}

const programs = 'the programs of this machine';

async function bootLinux(
  what: string,
  lab: VirtualLab,
  testbed: LinuxGuestsConfig,
  { signal, deps }: { signal: AbortSignal; deps: FreebsdDeps },
): Promise<Diagnostic[]> {
  const kernel = await lab.kernel(testbed.kernelPath).catch(unlessOthersBoot(testbed));
  if (kernel === undefined) return [skipped(what, withoutKernel(testbed))];
  const startedAt = performance.now();
  const variant = { variant: 'base', commit: '', files: [] };
  const [booted] = await bootTogether({ ...deps, lab, cpus: [guestCpu], signal }, [{ variant, kernel }]);
  if (booted?.kind !== 'booted') {
    const why = booted === undefined ? 'no guest was booted' : `it did not boot: ${booted.reason}`;
    return [wrong(what, why, lookAgain)];
  }
  const { guest, host } = booted;
  return [
    ok(what, `${booted.kernel} was up after ${secondsSince(startedAt)} s`),
    await counted(guest, testbed),
    await panicked(guest, host, shell`echo c > /proc/sysrq-trigger`),
  ];
}

/** Returns undefined if this machine has no kernel: gates may build theirs, or get them by options. */
const unlessOthersBoot =
  ({ kernelPath }: LinuxGuestsConfig) =>
  (error: unknown): undefined => {
    if (error instanceof NoOwnKernelError) return undefined;
    if (!(error instanceof KernelFilesError) || kernelPath === undefined) throw error;
    throw new KernelFilesError(`the kernel ${kernelPath} ${error.message}`);
  };

const withoutKernel = ({ builder }: LinuxGuestsConfig): string =>
  builder === undefined
    ? 'this machine has no kernel in /boot to try: pass --base-kernel and --patched-kernel to each gate, or set `kernel` in ppsgate.yml'
    : 'this machine has no kernel in /boot to try; the `builder` builds the kernels of a gate. Set `kernel` in ppsgate.yml to test a boot';

async function bootImage(
  what: string,
  lab: VirtualLab,
  testbed: FreebsdGuestsConfig,
  deps: FreebsdDeps,
): Promise<Diagnostic[]> {
  const image = await guestImage(testbed.image, lab, deps);
  const startedAt = performance.now();
  const guest = await lab.bootImage(1, image, guestCpu);
  const opened = { image, accelerator: testbed.accelerator };
  const { dut, boots, console } = await openImage(guest, opened, { lab, deps });
  const seconds = secondsSince(startedAt);
  const version = (await dut.host().output(shell`uname -v`)).trim();
  const problems = await inspectDut(boots, ['inet4', 'inet6']);
  const diagnostics = [
    ok(what, `${version} was up after ${seconds} s`),
    await counted(guest, testbed),
    ...problems.filter(isOfImage).map(({ setting, message }) => wrong(`its ${setting}`, message, lookAgain)),
  ];
  const again = await dut.rebootUnordered();
  if (again.kind === 'boot-failed') {
    return [...diagnostics, wrong('its reboot', again.reason, lookAgain)];
  }
  diagnostics.push(ok('its reboot', `it was up again after ${Math.round(again.seconds)} s`));
  diagnostics.push(await panicked(guest, dut.host(), shell`sysctl debug.debugger_on_panic=0 debug.kdb.panic=1`));
  await console.close();
  return diagnostics;
}

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(1);

async function counted(guest: Guest, { accelerator }: VirtualTestbed): Promise<Diagnostic> {
  const what = 'its instructions';
  if (guest.counts === undefined) {
    const why = `\`accelerator: ${accelerator}\` does not count them: CPU time is reported instead`;
    return { kind: 'skipped', what, why };
  }
  const executed = Number((await readFile(guest.counts)).readBigUInt64LE());
  return ok(what, `${grouped(executed)} were counted so far`);
}

/** The command ends the guest, and so the connection. */
async function panicked(guest: Guest, host: Host, command: Command): Promise<Diagnostic> {
  await host.run(command, { timeoutSeconds: 120 }).catch(() => {});
  await host.close();
  const { panic } = lastWords(guest.console(), false);
  await guest.stop();
  return panic === undefined
    ? wrong('its console', 'it was made to panic, but shows no panic', lookAgain)
    : ok('its console', `after a forced panic it shows "${panic}"`);
}

function failed(what: string, error: unknown): Diagnostic {
  const isOurs = [LabImpossibleError, LabInUseError, KernelFilesError, GuestEndedError, UsageError].some(
    (kind) => error instanceof kind,
  );
  if (!isOurs) throw error;
  return wrong(what, reasonOf(error), lookAgain);
}
