// Prepares an official image of FreeBSD for guests once, over its serial console, and keeps it by the digest of its
// file.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { GuestImage, OfficialImage } from '../../config/virtual-testbed.ts';
import { fileReasonOf, lastLine } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { checkOwn } from '../../system/own-file.ts';
import { shell } from '../../system/shell.ts';
import { parseIfconfig } from '../freebsd/dut/network.ts';
import type { FreebsdDeps } from '../freebsd/freebsd-deps.ts';
import { guestMac } from './vm/addresses.ts';
import { ConsoleShell, ConsoleShellError } from './vm/console-shell.ts';
import type { Guest } from './vm/guest.ts';
import type { VirtualLab } from './vm/virtual-lab.ts';

/** Returns an image that guests can boot; see `preparedImage`. */
export async function guestImage(
  image: GuestImage | OfficialImage,
  lab: Pick<VirtualLab, 'bootToPrepare'>,
  {
    imagesFolder: folder,
    notify = () => {},
    signal = new AbortController().signal,
  }: Pick<FreebsdDeps, 'imagesFolder' | 'notify' | 'signal'>,
): Promise<GuestImage> {
  if (image.hostKey !== undefined) return image;
  if (folder === undefined) throw new TypeError('There is no folder for prepared images.');
  return await preparedImage(image, { lab, folder, notify, signal });
}

type PreparingDeps = {
  lab: Pick<VirtualLab, 'bootToPrepare'>;
  /** Holds prepared images, readable by this user alone. */
  folder: string;
  notify(text: string): void;
  signal: AbortSignal;
};

/** Raise it whenever the preparation changes. */
const version = 1;
/** Each kept image has some gigabytes. */
const maxKept = 2;

/** Returns the kept image, or prepares it, which boots it once. Throws a UsageError for an unsuitable image. */
export async function preparedImage(image: OfficialImage, deps: PreparingDeps): Promise<GuestImage> {
  const { folder, notify, signal } = deps;
  notify(`reading the image ${image.path}`);
  const sha512 = await digestOf(image.path, signal);
  if (image.sha512 !== undefined && image.sha512 !== sha512) {
    throw new UsageError(
      `The image ${image.path} has the SHA-512 ${sha512}, but \`sha512\` is ${image.sha512}: download it again, or correct \`sha512\`.`,
    );
  }
  const kept = join(folder, `${sha512}-${version}`);
  checkOwn(join(kept, names.disk));
  if (!(await isThere(kept))) {
    await prepare(image, deps, kept);
    await prune(folder);
  }
  await utimes(kept, new Date(), new Date());
  return {
    path: join(kept, names.disk),
    privateKeyPath: join(kept, names.key),
    hostKey: (await readFile(join(kept, names.hostKey), 'utf8')).trim(),
    bootSeconds: image.bootSeconds,
  };
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const names = { disk: 'disk', key: 'key', hostKey: 'host-key' } as const;

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha512');
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1024 ** 2, signal })) {
      hash.update(piece);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(`The image ${path} cannot be read (${fileReasonOf(error)}).`);
  }
  return hash.digest('hex');
}

async function prepare(
  image: OfficialImage,
  { lab, folder, notify, signal }: PreparingDeps,
  kept: string,
): Promise<void> {
  const partial = join(folder, 'partial');
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true, mode: 0o700 });
  const disk = join(partial, names.disk);
  try {
    notify(`unpacking the image ${image.path}`);
    await unpack(image.path, disk, signal);
    await checkWhole(image.path, disk);
    await makeKey(join(partial, names.key));
    const publicKey = (await readFile(join(partial, `${names.key}.pub`), 'utf8')).trim();
    notify(`booting the image ${image.path} once to prepare it for later guests`);
    const guest = await lab.bootToPrepare(disk);
    // Ending the guest also ends each wait for its console.
    const stop = () => void guest.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const hostKey = await prepareGuest(guest, publicKey, image.bootSeconds);
      await writeFile(join(partial, names.hostKey), `${hostKey}\n`);
    } finally {
      signal.removeEventListener('abort', stop);
      await guest.stop();
    }
    await rename(partial, kept);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ConsoleShellError)) throw error;
    throw new UsageError(
      `The image ${image.path} could not be prepared: ${error.message}; see docs/how-to/virtual.md for what it needs.`,
    );
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function prune(folder: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name);
      return { path, usedAt: (await stat(path)).mtimeMs };
    }),
  );
  const oldest = found.toSorted((a, b) => b.usedAt - a.usedAt).slice(maxKept);
  for (const { path } of oldest) await rm(path, { recursive: true });
}

/** Recognizes compressed data by the first bytes; the last bound keeps an archive from filling the disk. */
const unpackers = [
  { magic: 'fd377a585a00', command: ['xz', '--decompress', '--stdout'] },
  { magic: '28b52ffd', command: ['zstd', '--decompress', '--stdout', '--sparse'] },
  { magic: '', command: ['dd', 'bs=1M', 'conv=sparse', 'status=none'] },
] as const;
const maxDiskBytes = 64 * 1024 ** 3;

async function unpack(path: string, disk: string, ended: AbortSignal): Promise<void> {
  await using source = await open(path);
  await using target = await open(disk, 'wx', 0o600);
  const { buffer } = await source.read(Buffer.alloc(8), 0, 8, 0);
  const start = buffer.toString('hex');
  const { command } = unpackers.find(({ magic }) => start.startsWith(magic)) ?? unpackers[2];
  const limited = [`--fsize=${maxDiskBytes}`, ...command];
  const child = spawn('prlimit', limited, { stdio: [source.fd, target.fd, 'pipe'] });
  const end = () => child.kill('SIGKILL');
  ended.addEventListener('abort', end, { once: true });
  let errors = '';
  child.stderr?.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(-4096);
  });
  const [code, signal] = await once(child, 'close');
  ended.removeEventListener('abort', end);
  ended.throwIfAborted();
  if (code === 0) {
    await endAtLength(disk);
    return;
  }
  const why = signal === 'SIGXFSZ' ? 'more than 64 GiB' : (lastLine(errors) ?? `exit code ${code}`);
  throw new UsageError(`The image ${path} cannot be unpacked (${command[0]}: ${why}): download it again.`);
}

/** QEMU only supports disks of whole sectors. */
async function endAtLength(disk: string): Promise<void> {
  await using file = await open(disk, 'r+');
  const { size } = await file.stat();
  await file.truncate(Math.ceil(size / sectorBytes) * sectorBytes);
}

const sectorBytes = 512;

/** Throws a UsageError for a raw disk that ends before its partition table does (UEFI specification, GPT header). */
async function checkWhole(path: string, disk: string): Promise<void> {
  await using file = await open(disk);
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(sectorBytes), 0, sectorBytes, sectorBytes);
  if (buffer.toString('latin1', 0, 8) !== 'EFI PART') return;
  const wholeBytes = (Number(buffer.readBigUInt64LE(32)) + 1) * sectorBytes;
  if (size >= wholeBytes) return;
  throw new UsageError(
    `The image ${path} is truncated: its partition table is for a disk of ${wholeBytes} bytes, but it has ${size}; download it again.`,
  );
}

async function makeKey(path: string): Promise<void> {
  const made = spawn('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ppsgate', '-f', path], {
    stdio: 'ignore',
  });
  const [code] = await once(made, 'close');
  if (code !== 0) throw new Error(`ssh-keygen exited with ${code}.`);
}

const secondsToShutDown = 120;

/** Sets the guest up, shuts it down, and returns the host key of its sshd. */
async function prepareGuest(guest: Guest, publicKey: string, limitSeconds: number) {
  using root = await ConsoleShell.logIn(guest, limitSeconds);
  const card = await managementCard(root);
  const keys = '/root/.ssh/authorized_keys';
  await root.run(shell`mkdir -p -m 700 /root/.ssh && echo ${publicKey} >>${keys} && chmod 600 ${keys}`);
  // sshd uses the first value of a keyword (sshd_config(5)).
  const sshd = '/etc/ssh/sshd_config';
  const own = shell`echo 'PermitRootLogin prohibit-password' | cat - ${sshd}`;
  await root.run(shell`${own} >${`${sshd}.new`} && mv ${`${sshd}.new`} ${sshd}`);
  // The boot would wait for DHCP on cards without a server.
  await root.run(shell`sysrc -n ifconfig_DEFAULT >/dev/null 2>&1 && sysrc -x ifconfig_DEFAULT; true`);
  for (const settings of settingsWith(card)) await root.run(shell`sysrc ${settings}`);
  await root.run(shell`rm -f /firstboot`);
  await root.run(shell`service sshd keygen`);
  const shown = await root.run(shell`cat /etc/ssh/ssh_host_ed25519_key.pub`);
  const hostKey = /ssh-ed25519 [A-Za-z0-9+/]{40,200}={0,3}/.exec(shown)?.[0];
  if (hostKey === undefined) {
    throw new ConsoleShellError(`its /etc/ssh/ssh_host_ed25519_key.pub shows "${lastLine(shown)}"`);
  }
  await root.runLast(shell`sync; shutdown -p now`);
  const isOff = await Promise.race([
    guest.ended.then(() => true),
    setTimeout(secondsToShutDown * 1000, false, { ref: false }),
  ]);
  if (!isOff) {
    throw new ConsoleShellError(`it was still running ${secondsToShutDown} s after "shutdown -p now"`);
  }
  return hostKey;
}

async function managementCard(root: ConsoleShell): Promise<string> {
  const cards = (await root.run(shell`ifconfig -l`)).trim().split(/\s+/);
  for (const name of cards) {
    const card = parseIfconfig(await root.run(shell`ifconfig ${name}`));
    if (card?.mac === guestMac.management) return name;
  }
  throw new ConsoleShellError(
    `"ifconfig -l" shows ${cards.join(', ')}, none with the MAC address ${guestMac.management}: its kernel needs vtnet(4)`,
  );
}

/** Lines of rc.conf(5), short enough to be typed: no waits, and no program that runs during the measurement. */
const settingsWith = (card: string): string[][] => [
  [`ifconfig_${card}=SYNCDHCP`, 'sshd_enable=YES', 'defaultroute_delay=0'],
  ['growfs_enable=NO', 'dumpdev=NO', 'cron_enable=NO', 'sendmail_enable=NONE', 'ntpd_enable=NO'],
  ['nuageinit_enable=NO', 'firstboot_freebsd_update_enable=NO', 'firstboot_pkgs_enable=NO'],
];
