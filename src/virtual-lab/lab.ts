// Virtual machines of this machine as a laboratory: what all guests of a testbed share, made once and taken down as a whole.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostConfig } from '../config/fields.ts';
import type { VirtualTestbed } from '../config/virtual-testbed.ts';
import { ownerFile } from '../linux-lab/lab.ts';
import { claim, disclaim } from '../linux-lab/owner.ts';
import { type Guest, portOf, startGuest } from './guest.ts';
import { type KernelFiles, ownKernel, unpackKernel } from './kernel-files.ts';
import { packUserland } from './userland.ts';
import { openWire, type Wire, wireAddress } from './wire.ts';

const run = promisify(execFile);

const pluginSource = readFileSync(new URL('./instructions.c', import.meta.url));

const folder = '/run/ppsgate-virtual';
const mostGuests = 16;

// With two CPUs guests execute on one and the sender sends on the other; else the sender would be measured.
export const senderCpu = 0;
export const guestCpu = availableParallelism() > 1 ? 1 : 0;

export type VirtualLab = {
  readonly wire: Wire;
  /** Unpacks a kernel, once for each archive; `undefined` is this machine's own. Throws a KernelFilesError for none. */
  kernel(archive: string | undefined): Promise<KernelFiles>;
  /** Starts a guest, which comes up meanwhile. */
  boot(number: number, kernel: KernelFiles, cpu: number): Promise<Guest>;
  /** How a guest is logged in to. */
  login(guest: Guest): HostConfig;
  /** A folder of it for files of a name, which lives as long as the laboratory. */
  readonly folder: string;
  /** Ends all guests, and leaves nothing. */
  down(): Promise<void>;
};

/** Makes one, after whatever an earlier process left; throws a LabInUseError while another process has this machine. */
export async function virtualLabUp(
  machine: Pick<VirtualTestbed, 'accelerator' | 'memoryMebibytes' | 'modules'>,
): Promise<VirtualLab> {
  await claim(ownerFile);
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => {
    await rm(folder, { recursive: true, force: true });
    await disclaim(ownerFile);
  });
  await rm(folder, { recursive: true, force: true });
  // Nobody goes through it to what is theirs.
  await mkdir(folder, { mode: 0o711, recursive: true });
  const keys = await makeKeys();
  const userland = join(folder, 'userland.cpio');
  const plugin = join(folder, 'instructions.so');
  await Promise.all([
    packUserland(userland, keys),
    machine.accelerator === 'tcg' && compilePlugin(plugin),
  ]);
  const wire = opened.use(await openWire());
  const kernels = new Map<string, Promise<KernelFiles>>();
  const guests = new Map<number, Guest>();
  const all = opened.move();
  return {
    wire,
    folder,

    kernel(archive) {
      const key = archive ?? '';
      const known = kernels.get(key);
      if (known !== undefined) return known;
      const place = join(folder, `kernel-${kernels.size + 1}`);
      const unpacking = (
        archive === undefined
          ? ownKernel(place, machine.modules)
          : unpackKernel(archive, place, machine.modules)
      ).then(async (files) => {
        await concatenate([userland, files.modules], join(place, 'initial.cpio'));
        return files;
      });
      kernels.set(key, unpacking);
      return unpacking;
    },

    async boot(number, kernel, cpu) {
      await guests.get(number)?.stop();
      const guest = await startGuest(wire, {
        number,
        folder: join(folder, `guest-${number}`),
        kernel: kernel.image,
        initialFiles: join(kernel.image, '../initial.cpio'),
        machine,
        cpu,
        ...(machine.accelerator === 'tcg' && { plugin }),
      });
      guests.set(number, guest);
      return guest;
    },

    login: ({ address }) => ({
      ...address,
      user: 'root',
      privateKeyPath: keyPath('controller'),
      knownHostsPath,
    }),

    down: () => all.disposeAsync(),
  };
}

const keyPath = (name: string): string => join(folder, name);
const knownHostsPath = join(folder, 'known_hosts');

async function makeKeys() {
  for (const name of ['controller', 'guest']) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keyPath(name)]);
  }
  const [type, key] = (await readFile(`${keyPath('guest')}.pub`, 'utf8')).split(' ');
  const lines = Array.from({ length: mostGuests }, (_, index) => {
    return `[${wireAddress}]:${portOf(index + 1)} ${type} ${key}\n`;
  });
  await writeFile(knownHostsPath, lines.join(''));
  return {
    host: keyPath('guest'),
    controller: await readFile(`${keyPath('controller')}.pub`, 'utf8'),
  };
}

/** Debian's QEMU has plugins and no header of theirs, so the source declares what it uses. */
async function compilePlugin(plugin: string): Promise<void> {
  const compiling = run('gcc', ['-O2', '-shared', '-fPIC', '-x', 'c', '-o', plugin, '-']);
  compiling.child.stdin?.on('error', () => {}).end(pluginSource);
  await compiling;
}

async function concatenate(files: readonly string[], target: string): Promise<void> {
  await run('sh', ['-c', 'umask 077; out=$1; shift; cat "$@" >"$out"', 'sh', target, ...files]);
}
