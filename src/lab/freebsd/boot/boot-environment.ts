// Boots a kernel with bectl(8): in a clone of the machine's own boot environment, activated for one boot.
import { basename, dirname } from 'node:path/posix';
import { shortened } from '../../../model/one-line.ts';
import { pathName } from '../../../model/variant-name.ts';
import { isGood } from '../../../system/host/execute.ts';
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { resetsAtPanic } from '../dut/panic.ts';
import type { BootMachine, BootMethod, InstallOutcome } from './boot.ts';
import { archiveFolder, unpack, withArchive } from './boot-archive.ts';
import { missingModule } from './boot-modules.ts';
import { fileSystemsOf, type System, sha256Of } from './boot-system.ts';

export function bootEnvironment(machine: BootMachine): BootMethod {
  const { own, host } = machine;
  /** By variant; `archive` is the SHA-256 of the archive. */
  const installed = new Map<string, { archive: string; system: System }>();
  return {
    async install({ variant, ...kernel }, kept) {
      if (installed.get(variant)?.archive === kernel.sha256) return { kind: 'installed' };
      if (kept !== undefined) await destroyOthers([variant, ...kept]);
      const name = environmentOf(variant);
      return withArchive(machine, { variant, ...kernel }, async (archive) => {
        installed.delete(variant);
        if ((await ourEnvironments(host())).includes(name)) await destroy(host(), name);
        // Clones the machine's own environment by name, as another variant may be running.
        await host().output(shell`bectl create -e ${basename(own.root)} ${name}`);
        const filled = await fill(machine, name, archive);
        if (filled.kind !== 'filled') {
          await destroy(host(), name);
          return filled;
        }
        const system = { ...own, root: `${dirname(own.root)}/${name}`, sha256: filled.sha256 };
        installed.set(variant, { archive: kernel.sha256, system });
        return { kind: 'installed' };
      });
    },

    async arm(variant) {
      if (variant === undefined) {
        await host().output(shell`bectl activate -T`);
        return own;
      }
      const system = installed.get(variant)?.system;
      if (system === undefined) throw new TypeError(`The variant ${variant} was never installed.`);
      await host().output(shell`bectl activate -t ${basename(system.root)}`);
      return system;
    },

    async clear() {
      for (const name of await ourEnvironments(host())) await destroy(host(), name);
      await host().output(shell`rm -rf ${archiveFolder}`);
      installed.clear();
    },
  };

  async function destroyOthers(variants: readonly string[]): Promise<void> {
    const kept = new Set(variants.map(environmentOf));
    const others = (await ourEnvironments(host())).filter((name) => !kept.has(name));
    if (others.length === 0) return;
    const [root] = await fileSystemsOf(host(), ['/']);
    const gone = others.filter((name) => name !== basename(root?.device ?? ''));
    for (const name of gone) await destroy(host(), name);
    for (const variant of installed.keys()) {
      if (gone.includes(environmentOf(variant))) installed.delete(variant);
    }
  }
}

const prefix = 'ppsgate.';

const environmentOf = (variant: string): string => `${prefix}${pathName(variant)}`;

async function ourEnvironments(host: Host): Promise<string[]> {
  const rows = (await host.output(shell`bectl list -H`)).split('\n');
  return rows.map((row) => row.split('\t')[0] ?? '').filter((name) => name.startsWith(prefix));
}

async function destroy(host: Host, name: string): Promise<void> {
  await host.output(shell`bectl destroy -F -o ${name}`);
}

type Filled = Exclude<InstallOutcome, { kind: 'installed' }> | { kind: 'filled'; sha256: string };

/** Replaces the machine's own kernel in the clone, as both have the same loader.conf. */
async function fill(machine: BootMachine, name: string, archive: string): Promise<Filled> {
  const { own, modules } = machine;
  const host = machine.host();
  const mounted = await mount(host, own, name);
  const target = `${mounted}${dirname(own.kernel)}`;
  try {
    await host.output(shell`rm -rf ${target}`);
    await host.output(shell`mkdir -p ${target}`);
    const outcome = await unpack(host, archive, target);
    if (outcome.kind !== 'installed') return outcome;
    const reason = await missingModule(host, target, { loaded: modules, rootType: 'zfs' });
    if (reason !== undefined) {
      return { kind: 'lacks-module', reason: reason.replace(target, dirname(own.kernel)) };
    }
    await addLoaderLine(host, `${mounted}/boot/loader.conf.local`);
    return { kind: 'filled', sha256: await sha256Of(host, `${target}/kernel`) };
  } finally {
    await host.output(shell`bectl unmount ${name}`);
    await host.output(shell`rmdir ${mounted}`);
  }
}

/** Checks the mount point with df(1): `fill` removes a folder there, which elsewhere could be the running kernel. */
async function mount(host: Host, own: System, name: string): Promise<string> {
  const path = (await host.output(shell`bectl mount ${name}`)).trim();
  const dataset = `${dirname(own.root)}/${name}`;
  const [fileSystem] = /^\/[\w./-]+$/.test(path) ? await fileSystemsOf(host, [path]) : [];
  if (fileSystem?.device === dataset && fileSystem.mountedOn === path) return path;
  throw new HostError(
    'command-failed',
    `"bectl mount ${name}" on ${host.name} prints ${JSON.stringify(shortened(path))}, where ${dataset} is not mounted, so nothing was installed: check the output of \`mount\` there.`,
  );
}

async function addLoaderLine(host: Host, file: string): Promise<void> {
  const there = await host.run(shell`cat ${file}`);
  const before = isGood(there) ? there.stdout.trimEnd() : '';
  const text = [before, resetsAtPanic.line, ''].filter((line, at) => at > 0 || line !== '');
  await host.upload(Buffer.from(text.join('\n')), file, 0o644);
}
