// Boots an image on an appliance made with nanobsd(8), such as BSDRP, from the slice that is not running.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { reasonOf } from '../../../model/one-line.ts';
import { HostError } from '../../../system/host/host-error.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { fieldsOf, nextRoot, type Slices, slicesOf } from '../dut/slices.ts';
import type { BootMachine, BootMethod, KernelArchive } from './boot.ts';
import { fileSystemsOf, type System, sha256Of } from './boot-system.ts';

/**
 * The other slice holds the image booted last, and boots until the machine's own is active again. Nothing falls back
 * automatically: after a kernel without ssh, a person must use the boot menu. Never saves the configuration.
 */
export function nanobsd({ own, host }: BootMachine): BootMethod {
  const images = new Map<string, KernelArchive>();
  let other: { sha256: string; system: System } | undefined;
  return {
    // `upgrade` overwrites the slice that is not running, so the machine's own must run.
    needsOwn: (variant, running) =>
      other?.sha256 !== images.get(variant)?.sha256 || other?.system.root !== running.root,

    async install(image) {
      const hash = createHash('sha256');
      await pipeline(createReadStream(image.path), hash);
      const actual = hash.digest('hex');
      if (actual !== image.sha256) {
        throw new Error(`The image ${image.path} has the SHA-256 ${actual} instead of ${image.sha256}.`);
      }
      images.set(image.variant, image);
      return { kind: 'installed' };
    },

    async arm(variant) {
      if (variant === undefined) {
        await goBack(host(), own.root);
        return own;
      }
      const image = images.get(variant);
      if (image === undefined) throw new TypeError(`The variant ${variant} was never installed.`);
      const [running] = await fileSystemsOf(host(), ['/']);
      if (running?.device !== own.root) {
        if (other?.sha256 === image.sha256 && (await nextRoot(host())) === running?.device) {
          return other.system;
        }
        throw new TypeError('An upgrade from there would overwrite its own slice.');
      }
      other = undefined;
      // Throws if the next boot is unknown, as the way back would be unknown, too.
      await nextRoot(host());
      const stdin = Readable.from(decompressed(image.path), { objectMode: false });
      try {
        await host().output(shell`upgrade`, { stdin });
      } finally {
        stdin.destroy();
      }
      const root = await nextRoot(host());
      const sha256 = await sumOn(host(), root, own.kernel);
      other = { sha256: image.sha256, system: { root, kernel: own.kernel, sha256 } };
      return other.system;
    },

    async clear() {
      images.clear();
      other = undefined;
    },
  };
}

/** Runs xz(1), which Node lacks. Throws before the end of the stream if xz fails, so that no partial image counts. */
async function* decompressed(path: string): AsyncGenerator<Buffer> {
  const xz = spawn('xz', ['-d', '-c', '--', path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(xz, 'close').then(([code]) => (code === 0 ? undefined : `it exited with ${code}`), reasonOf);
  try {
    for await (const chunk of xz.stdout) yield chunk;
    const failure = await ended;
    if (failure === undefined) return;
    throw new Error(`xz cannot decompress ${path}: ${failure}.`);
  } finally {
    xz.kill();
  }
}

/** On an MBR, only the appliance's own command changes everything that belongs to a slice. */
async function goBack(host: Host, ownRoot: string): Promise<void> {
  const slices = await slicesOf(host);
  const [root] = await fileSystemsOf(host, ['/']);
  if (slices.scheme === 'GPT') await makeActive(host, slices, ownRoot);
  else if (root?.device !== ownRoot && slices.root !== ownRoot) {
    await host.output(shell`system rollback`, { stdin: 'y\n' });
  }
  const next = await nextRoot(host);
  if (next === ownRoot) return;
  throw new HostError(
    'command-failed',
    `${host.name} would boot from ${next} instead of its own ${ownRoot}: make that slice active manually.`,
  );
}

/** Replaces `system rollback` on a GPT, which dies with both slices active. Each step may be repeated. */
async function makeActive(host: Host, slices: Slices, ownRoot: string): Promise<void> {
  const { providers, active, disk } = slices;
  const own = providers.get(ownRoot) ?? '';
  const isDone = slices.root === ownRoot && active.length === 1 && active[0] === own;
  if (isDone) return;
  const pair = [...providers].filter(([device]) => stemOf(device) === stemOf(ownRoot));
  const [ownIndex, otherIndex] = [
    pair.find(([device]) => device === ownRoot),
    pair.find(([device]) => device !== ownRoot),
  ].map((slice) => /p(\d+)$/.exec(slice?.[1] ?? '')?.[1]);
  const isPair = pair.length === 2 && ownIndex !== undefined && otherIndex !== undefined;
  const isOfPair = active.every((provider) => pair.some(([, one]) => one === provider));
  if (!isPair || !isOfPair) {
    throw new HostError(
      'command-failed',
      `${host.name} does not have exactly its two slices, or another slice is active: check \`gpart show -p ${disk}\` there, and make ${ownRoot} active manually.`,
    );
  }
  await writeFstab(host, slices.fstab, ownRoot);
  await host.output(shell`gpart set -a bootme -i ${ownIndex} ${disk}`);
  if (active.some((provider) => provider !== own)) {
    await host.output(shell`gpart unset -a bootme -i ${otherIndex} ${disk}`);
  }
}

const stemOf = (device: string): string => device.replace(/[12]$/, '');

/** Every boot recreates /etc, and copies /cfg over it. */
async function writeFstab(host: Host, fstab: string, root: string): Promise<void> {
  const lines = fstab.split('\n').map((line) => {
    const [device = '', path] = fieldsOf(line);
    return path === '/' ? line.replace(device, () => root) : line;
  });
  const bytes = Buffer.from(lines.join('\n'));
  await host.upload(bytes, '/etc/fstab', 0o644);
  const [cfg] = await fileSystemsOf(host, ['/cfg']);
  const wasMounted = cfg?.mountedOn === '/cfg';
  if (!wasMounted) await host.output(shell`mount /cfg`);
  try {
    await host.upload(bytes, '/cfg/fstab', 0o644);
  } finally {
    if (!wasMounted) await host.output(shell`umount /cfg`);
  }
}

async function sumOn(host: Host, device: string, file: string): Promise<string> {
  await host.output(shell`mount -t ufs -o ro ${device} /mnt`);
  try {
    return await sha256Of(host, `/mnt${file}`);
  } finally {
    await host.output(shell`umount /mnt`);
  }
}
