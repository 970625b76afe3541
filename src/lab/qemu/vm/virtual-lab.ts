// Sets up the shared parts of a testbed's virtual machines once, and removes them as a whole.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostConfig } from '../../../config/fields.ts';
import type { GuestImage, VirtualTestbed } from '../../../config/virtual-testbed.ts';
import { ownerFile } from '../../netns/embedded-lab.ts';
import { claim, disclaim } from '../../netns/owner.ts';
import { wireAddress } from './addresses.ts';
import { openDiskImage } from './disk-image.ts';
import { type BootSource, type Guest, GuestEndedError, portOf, startGuest, unprivileged } from './guest.ts';
import { type KernelFiles, ownKernel, unpackKernel } from './kernel-files.ts';
import { packUserland } from './userland.ts';
import { openWire, type Wire } from './wire.ts';

const run = promisify(execFile);

const pluginSource = readFileSync(new URL('./instructions.c', import.meta.url));

const folder = '/run/ppsgate-virtual';
const maxGuests = 16;

// With two CPUs, guests execute on one and the sender sends on the other; otherwise the sender would be measured.
export const senderCpu = 0;
export const guestCpu = availableParallelism() > 1 ? 1 : 0;

export type LinuxGuest = Guest & {
  readonly commandLine: string;
  /** Resolves once it is up; rejects with a GuestEndedError if it ends first. */
  readonly up: Promise<void>;
};

export type VirtualLab = {
  readonly wire: Wire;
  /** Unpacks a kernel once for each archive; `undefined` is this machine's own. Throws a KernelFilesError. */
  kernel(archive: string | undefined): Promise<KernelFiles>;
  /** Starts a guest, and returns before it is up; ends a running guest of the same number. */
  boot(number: number, kernel: KernelFiles, cpu: number): Promise<LinuxGuest>;
  /**
   * Like `boot`, but from a copy of the image; throws a UsageError if the image cannot be read or names other files.
   */
  bootImage(number: number, image: Pick<GuestImage, 'path'>, cpu: number): Promise<Guest>;
  /** Boots the image itself, which keeps its writes, with a console that can be typed on. */
  bootToPrepare(path: string): Promise<Guest>;
  login(guest: Guest): HostConfig;
  loginTo(image: GuestImage, guest: Guest): Promise<HostConfig>;
  /** Folder for the caller's files, removed with the lab. */
  readonly folder: string;
  down(): Promise<void>;
};

/** Removes an earlier process's leftovers first. Throws a LabInUseError while another process uses this machine. */
export async function virtualLabUp(machine: VirtualTestbed): Promise<VirtualLab> {
  await claim(ownerFile);
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => {
    await rm(folder, { recursive: true, force: true });
    await disclaim(ownerFile);
  });
  await rm(folder, { recursive: true, force: true });
  // Keeps other users from reading the files in it.
  await mkdir(folder, { mode: 0o711, recursive: true });
  const keys = await makeKeys();
  const userland = join(folder, 'userland.cpio');
  const plugin = machine.accelerator === 'tcg' ? join(folder, 'instructions.so') : undefined;
  const modules = machine.system === 'linux' ? machine.modules : [];
  const wire = opened.use(await openWire());
  const [user] = await Promise.all([
    unprivileged(wire),
    machine.system === 'linux' && packUserland(userland, keys),
    plugin !== undefined && compilePlugin(plugin),
  ]);
  const kernels = new Map<string, Promise<KernelFiles>>();
  const guests = new Map<number, Guest>();
  const all = opened.move();

  const start = async (number: number, boots: BootSource, cpu: number): Promise<Guest> => {
    await guests.get(number)?.stop();
    const place = join(folder, `guest-${number}`);
    const request = { number, folder: place, boots, machine, cpu, plugin, user };
    const guest = await startGuest(wire, request);
    guests.set(number, guest);
    return guest;
  };

  return {
    wire,
    folder,

    kernel(archive) {
      const key = archive ?? '';
      const known = kernels.get(key);
      if (known !== undefined) return known;
      const place = join(folder, `kernel-${kernels.size + 1}`);
      const unpacking = (
        archive === undefined ? ownKernel(place, modules) : unpackKernel(archive, place, modules)
      ).then(async (files) => {
        await concatenate([userland, files.modules], join(place, 'initial.cpio'));
        return files;
      });
      kernels.set(key, unpacking);
      return unpacking;
    },

    async boot(number, { image: path }, cpu) {
      const boot = randomUUID();
      const commandLine = kernelCommandLine(boot);
      const initrd = join(path, '../initial.cpio');
      const guest = await start(number, { kind: 'kernel', path, commandLine, initrd }, cpu);
      const up = shows(guest, `ppsgate: ${boot} is up`);
      // Waiting callers get the error; without any, it must not become an unhandled rejection.
      up.catch(() => {});
      return { ...guest, commandLine, up };
    },

    async bootImage(number, { path }, cpu) {
      await using image = await openDiskImage(path);
      return await start(number, { kind: 'disk', image }, cpu);
    },

    async bootToPrepare(path) {
      await using image = await openDiskImage(path, 'image');
      return await start(1, { kind: 'disk', image, hasConsoleInput: true }, guestCpu);
    },

    login: ({ address }) => ({
      ...address,
      user: 'root',
      privateKeyPath: keyPath('controller'),
      knownHostsPath,
    }),

    async loginTo({ privateKeyPath, hostKey }, { address, number }) {
      // Keeps a file for each guest, as another login may read its own meanwhile.
      const knownHostsPath = join(folder, `known_hosts-${number}`);
      await writeFile(knownHostsPath, knownHosts(hostKey));
      return {
        ...address,
        user: 'root',
        knownHostsPath,
        ...(privateKeyPath !== undefined && { privateKeyPath }),
      };
    },

    down: () => all.disposeAsync(),
  };
}

/** `panic=-1` resets the machine at once, which ends QEMU. Tests of the kernel's ciphers take a tenth of a boot. */
export const kernelCommandLine = (boot: string): string =>
  `console=ttyS0 loglevel=6 panic=-1 oops=panic unknown_nmi_panic nokaslr mitigations=off cryptomgr.notests net.ifnames=0 ppsgate.boot=${boot}`;

/** Resolves once the console has shown the words; rejects if QEMU ends first. */
function shows(guest: Guest, words: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // On a busy machine the guest may be up, and print nothing more, before QEMU was found.
  let shown = guest.console();
  if (shown.includes(words)) resolve();
  const leave = guest.listen((piece) => {
    shown = shown.slice(-words.length) + piece.toString('latin1');
    if (shown.includes(words)) resolve();
  });
  guest.ended.then((why) => reject(new GuestEndedError(why)));
  return promise.finally(leave);
}

const keyPath = (name: string): string => join(folder, name);
const knownHostsPath = join(folder, 'known_hosts');

async function makeKeys() {
  for (const name of ['controller', 'guest']) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keyPath(name)]);
  }
  const [type, key] = (await readFile(`${keyPath('guest')}.pub`, 'utf8')).split(' ');
  await writeFile(knownHostsPath, knownHosts(`${type} ${key}`));
  return {
    host: keyPath('guest'),
    controller: await readFile(`${keyPath('controller')}.pub`, 'utf8'),
  };
}

const knownHosts = (hostKey: string): string =>
  Array.from({ length: maxGuests }, (_, index) => `[${wireAddress}]:${portOf(index + 1)} ${hostKey}\n`).join('');

/** Debian packages QEMU's plugin support without its header, so the source declares what it uses. */
async function compilePlugin(plugin: string): Promise<void> {
  const compiling = run('gcc', ['-O2', '-shared', '-fPIC', '-x', 'c', '-o', plugin, '-']);
  compiling.child.stdin?.on('error', () => {}).end(pluginSource);
  await compiling;
}

async function concatenate(files: readonly string[], target: string): Promise<void> {
  await run('sh', ['-c', 'umask 077; out=$1; shift; cat "$@" >"$out"', 'sh', target, ...files]);
}
