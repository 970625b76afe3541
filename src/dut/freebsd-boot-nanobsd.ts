// An appliance made with nanobsd(8), as BSDRP is: a whole image in the slice that does not run.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HostError } from '../host/host-error.ts';
import { shell } from '../host/shell.ts';
import type { Host } from '../host/ssh.ts';
import { reasonOf } from '../words/one-line.ts';
import type { BootMethod, KernelArchive, Machine } from './freebsd-boot.ts';
import { fileSystemsOf, sha256Of } from './freebsd-boot-system.ts';

/**
 * The other slice holds the image that was booted last, and is what boots until its own is active again:
 * nothing falls back by itself, and a kernel that never lets ssh in needs somebody at the boot menu.
 * The configuration is never saved.
 */
export function nanobsd({ own, host }: Machine): BootMethod {
  const images = new Map<string, KernelArchive>();
  return {
    // `upgrade` writes over the slice that does not run.
    armsFromOwn: true,

    async lay(image) {
      await refuseTorn(image);
      images.set(image.variant, image);
      return { kind: 'laid' };
    },

    async arm(variant) {
      if (variant === undefined) {
        await goBack(host(), own.root);
        return own;
      }
      const image = images.get(variant);
      if (image === undefined) throw new TypeError(`The variant ${variant} was never laid.`);
      await upgrade(host(), image.path);
      const root = await nextRoot(host());
      return { root, kernel: own.kernel, sha256: await sumOn(host(), root, own.kernel) };
    },

    async clear() {
      images.clear();
    },
  };
}

async function refuseTorn({ path, sha256 }: KernelArchive): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const found = hash.digest('hex');
  if (found === sha256) return;
  throw new Error(`The image ${path} has the SHA-256 ${found} and not ${sha256}; build it again.`);
}

async function upgrade(host: Host, path: string): Promise<void> {
  const image = Readable.from(decompressed(path), { objectMode: false });
  try {
    await host.output(shell`upgrade`, { stdin: image });
  } finally {
    image.destroy();
  }
}

/** Node has no xz. Fails before its end where xz(1) does, so that no half image counts as a whole one. */
async function* decompressed(path: string): AsyncGenerator<Buffer> {
  const xz = spawn('xz', ['-d', '-c', '--', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(xz, 'close').then(
    ([code]) => (code === 0 ? undefined : `it exited with ${code}`),
    reasonOf,
  );
  try {
    for await (const chunk of xz.stdout) yield chunk;
    const failure = await ended;
    if (failure === undefined) return;
    throw new Error(
      `xz cannot decompress ${path}: ${failure}; install xz here or build the image again.`,
    );
  } finally {
    xz.kill();
  }
}

/** Only the appliance's own commands know all that belongs to a change of slices. */
async function goBack(host: Host, ownRoot: string): Promise<void> {
  const [root] = await fileSystemsOf(host, ['/']);
  if (root?.device !== ownRoot) {
    await host.output(shell`system rollback`, { stdin: 'y\n' });
  }
  const next = await nextRoot(host);
  if (next === ownRoot) return;
  throw new HostError(
    'command-failed',
    `${host.name} would boot from ${next} and not from its own ${ownRoot}: make that slice active by hand.`,
  );
}

/** Both `upgrade` and `system rollback` write into fstab(5) what the slice that is active now has as its root. */
export async function nextRoot(host: Host): Promise<string> {
  const rows = (await host.output(shell`cat /etc/fstab`)).split('\n');
  const [device] = rows.map((row) => row.split(/\s+/)).find(([, place]) => place === '/') ?? [];
  if (device !== undefined) return device;
  throw new HostError(
    'command-failed',
    `/etc/fstab on ${host.name} names no root: it is no appliance that nanobsd(8) made; choose another boot method.`,
  );
}

async function sumOn(host: Host, device: string, file: string): Promise<string> {
  await host.output(shell`mount -t ufs -o ro ${device} /mnt`);
  try {
    return await sha256Of(host, `/mnt${file}`);
  } finally {
    await host.output(shell`umount /mnt`);
  }
}
