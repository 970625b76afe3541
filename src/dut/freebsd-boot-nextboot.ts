// nextboot(8): a kernel in a folder of its own in /boot, which the loader takes once.
import { dirname } from 'node:path/posix';
import { HostError } from '../host/host-error.ts';
import { shell } from '../host/shell.ts';
import type { Host } from '../host/ssh.ts';
import { pathName } from '../words/variant-name.ts';
import type { BootMethod, KernelArchive, LayOutcome, Machine } from './freebsd-boot.ts';
import { archiveFolder, unpack, withArchive } from './freebsd-boot-archive.ts';
import { type System, sha256Of } from './freebsd-boot-system.ts';
import { resetsAtPanic } from './freebsd-panic.ts';

export function nextboot(machine: Machine): BootMethod {
  const { own, host } = machine;
  const laid = new Map<string, System>();
  return {
    async lay(kernel) {
      const outcome = await layFolder(machine, kernel);
      if (outcome.kind === 'no-space') return outcome;
      const file = `${folderOf(kernel.variant)}/kernel`;
      const sha256 = await sha256Of(host(), file);
      laid.set(kernel.variant, { root: own.root, kernel: file, sha256 });
      return outcome;
    },

    async arm(variant) {
      if (variant === undefined) {
        await cancelNextBoot(host());
        return own;
      }
      const system = laid.get(variant);
      if (system === undefined) throw new TypeError(`The variant ${variant} was never laid.`);
      const name = dirname(system.kernel).replace('/boot/', '');
      await host().output(shell`nextboot -k ${name} -e ${resetsAtPanic.line}`);
      return system;
    },

    async clear() {
      const names = (await host().output(shell`ls -1 /boot`)).split('\n');
      const ours = names.filter((name) => name.startsWith(prefix));
      await host().output(shell`rm -rf ${[archiveFolder, ...ours.map((name) => `/boot/${name}`)]}`);
      laid.clear();
    },
  };
}

const prefix = 'ppsgate.';

const folderOf = (variant: string): string => `/boot/${prefix}${pathName(variant)}`;

async function layFolder(machine: Machine, kernel: KernelArchive): Promise<LayOutcome> {
  const folder = folderOf(kernel.variant);
  const mark = `${folder}/ppsgate.sha256`;
  const there = await machine.host().run(shell`cat ${mark}`);
  if (there.stdout === kernel.sha256) return { kind: 'laid' };
  return withArchive(machine, kernel, async (archive) => {
    const host = machine.host();
    // Under another name first: what is in the folder is whole.
    const part = `${folder}.part`;
    await host.output(shell`rm -rf ${part} ${folder}`);
    await host.output(shell`mkdir -p ${part}`);
    const outcome = await unpack(host, archive, part);
    if (outcome.kind === 'no-space') {
      await host.output(shell`rm -rf ${part}`);
      return outcome;
    }
    await host.output(shell`mv -f ${part} ${folder}`);
    await host.upload(Buffer.from(kernel.sha256), mark, 0o600);
    return outcome;
  });
}

/** Where there is nothing to cancel, nextboot(8) fails or not, by its age. */
async function cancelNextBoot(host: Host): Promise<void> {
  await host.run(shell`nextboot -D`);
  const left = await host.run(shell`test -e ${'/boot/nextboot.conf'}`);
  if (left.kind === 'exited' && left.code !== 0) return;
  throw new HostError(
    'command-failed',
    `"nextboot -D" on ${host.name} leaves /boot/nextboot.conf behind: remove it, or the next boot is not its own.`,
  );
}
