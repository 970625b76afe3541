// Boots a kernel with nextboot(8): from its own folder in /boot, for one boot.
import { dirname } from 'node:path/posix';
import { pathName } from '../../../model/variant-name.ts';
import { stdoutOf } from '../../../system/host/execute.ts';
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { resetsAtPanic } from '../dut/panic.ts';
import { type BootMachine, type BootMethod, BootMethodError, type InstallOutcome, type KernelArchive } from './boot.ts';
import { archiveFolder, unpack, withArchive } from './boot-archive.ts';
import { missingModule } from './boot-modules.ts';
import { fileSystemsOf, type System, sha256Of } from './boot-system.ts';

export function nextboot(machine: BootMachine): BootMethod {
  const { own, host } = machine;
  const installed = new Map<string, System>();
  return {
    async install(kernel, kept) {
      if (!(await isInstalled(host(), kernel))) {
        if (kept !== undefined) await removeOthers([kernel.variant, ...kept]);
        const outcome = await installFolder(machine, kernel);
        if (outcome.kind !== 'installed') return outcome;
      }
      const file = `${folderOf(kernel.variant)}/kernel`;
      const sha256 = await sha256Of(host(), file);
      installed.set(kernel.variant, { root: own.root, kernel: file, sha256 });
      return { kind: 'installed' };
    },

    async arm(variant) {
      if (variant === undefined) {
        await cancelNextBoot(host());
        return own;
      }
      const system = installed.get(variant);
      if (system === undefined) throw new TypeError(`The variant ${variant} was never installed.`);
      const name = dirname(system.kernel).replace('/boot/', '');
      await order(host(), name);
      return system;
    },

    async clear() {
      await host().output(shell`rm -rf ${[archiveFolder, ...(await ourFolders(host()))]}`);
      installed.clear();
    },
  };

  /** Keeps the running kernel's folder, as modules may yet be loaded from it. */
  async function removeOthers(variants: readonly string[]): Promise<void> {
    const kept = new Set(variants.map(folderOf));
    const others = (await ourFolders(host())).filter((folder) => !kept.has(folder));
    if (others.length === 0) return;
    const running = dirname((await host().output(shell`sysctl -n kern.bootfile`)).trim());
    const gone = others.filter((folder) => folder !== running);
    // Removes the mark first, so that a partial folder never passes for a whole one.
    for (const folder of gone) await host().output(shell`rm -rf ${[markIn(folder), folder]}`);
    for (const variant of installed.keys()) {
      if (gone.includes(folderOf(variant))) installed.delete(variant);
    }
  }
}

const prefix = 'ppsgate.';

const folderOf = (variant: string): string => `/boot/${prefix}${pathName(variant)}`;

async function ourFolders(host: Host): Promise<string[]> {
  const names = (await host.output(shell`ls -1 /boot`)).split('\n');
  return names.filter((name) => name.startsWith(prefix)).map((name) => `/boot/${name}`);
}

const markIn = (folder: string): string => `${folder}/ppsgate.sha256`;

async function isInstalled(host: Host, { variant, sha256 }: KernelArchive): Promise<boolean> {
  const there = await host.run(shell`cat ${markIn(folderOf(variant))}`);
  return there.stdout === sha256;
}

async function installFolder(machine: BootMachine, kernel: KernelArchive): Promise<InstallOutcome> {
  const folder = folderOf(kernel.variant);
  return withArchive(machine, kernel, async (archive) => {
    const host = machine.host();
    // Unpacks under another name first, so that the folder is always complete.
    const part = `${folder}.part`;
    await host.output(shell`rm -rf ${part} ${folder}`);
    await host.output(shell`mkdir -p ${part}`);
    const unpacked = await unpack(host, archive, part);
    const outcome = unpacked.kind === 'installed' ? await checkedModules(machine, part, folder) : unpacked;
    if (outcome.kind !== 'installed') {
      await host.output(shell`rm -rf ${part}`);
      return outcome;
    }
    await host.output(shell`mv -f ${part} ${folder}`);
    await host.upload(Buffer.from(kernel.sha256), markIn(folder), 0o600);
    return outcome;
  });
}

async function checkedModules(machine: BootMachine, part: string, folder: string): Promise<InstallOutcome> {
  const host = machine.host();
  const [root] = await fileSystemsOf(host, ['/']);
  const needs = { loaded: machine.modules, rootType: root?.type ?? '' };
  const reason = await missingModule(host, part, needs);
  if (reason === undefined) return { kind: 'installed' };
  return { kind: 'lacks-module', reason: reason.replace(part, folder) };
}

async function order(host: Host, name: string): Promise<void> {
  const command = shell`nextboot -k ${name} -e ${resetsAtPanic.line}`;
  const outcome = await host.run(command);
  // The first version of nextboot(8) that is a program passes zfsbootcfg(8) a dataset instead of the pool.
  const failure = /^.*zfsbootcfg.*$/m.exec(outcome.stderr)?.[0];
  if (outcome.kind === 'exited' && outcome.code !== 0 && failure !== undefined) {
    throw new BootMethodError(
      `The nextboot(8) of ${host.name} cannot select a kernel on ZFS (${failure}): choose \`boot.method: boot-environment\` in ppsgate.yml, or update the FreeBSD there.`,
    );
  }
  stdoutOf(outcome, host.name, command);
}

/**
 * Ignores failures, as nextboot(8) may fail without an order. On ZFS it removes the file, but leaves the loader's order
 * in the pool.
 */
async function cancelNextBoot(host: Host): Promise<void> {
  await host.run(shell`nextboot -D`);
  const [boot] = await fileSystemsOf(host, ['/boot']);
  const pool = boot?.type === 'zfs' ? boot.device.split('/')[0] : undefined;
  if (pool !== undefined && (await isOrderedIn(host, pool))) {
    await host.output(shell`zfsbootcfg ${inPool(pool)} -k nextboot_enable -v NO`);
  }
  const test = await host.run(shell`test -e ${'/boot/nextboot.conf'}`);
  const hasFile = test.kind !== 'exited' || test.code === 0;
  if (!hasFile && (pool === undefined || !(await isOrderedIn(host, pool)))) return;
  const remains = hasFile ? '/boot/nextboot.conf' : `nextboot_enable in the pool ${pool}`;
  throw new HostError(
    'command-failed',
    `"nextboot -D" on ${host.name} leaves ${remains} behind: remove it, or the next boot uses another kernel.`,
  );
}

/** The command fails if the pool never had an order. */
async function isOrderedIn(host: Host, pool: string): Promise<boolean> {
  const outcome = await host.run(shell`zfsbootcfg ${inPool(pool)} -p`);
  return /\bnextboot_enable\b.*\bYES\b/.test(outcome.stdout);
}

const inPool = (pool: string): string[] => ['-z', pool, '-n', 'freebsd:nvstore'];
