// Makes a disk image for guests that boot by BIOS, as its owner would supply it: a Linux that acts like FreeBSD.
import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FreebsdGuestsConfig, GuestImage } from '../../src/config/virtual-testbed.ts';
import { connectTo } from '../../src/lab/connect.ts';
import type { Guest } from '../../src/lab/qemu/vm/guest.ts';
import { packing, unpackKernel } from '../../src/lab/qemu/vm/kernel-files.ts';
import { packUserland } from '../../src/lab/qemu/vm/userland.ts';
import type { VirtualLab } from '../../src/lab/qemu/vm/virtual-lab.ts';
import type { Host } from '../../src/system/host/ssh.ts';
import { makeKey, publicKey } from './sshd.ts';

const run = promisify(execFile);

/** Programs that make it, besides those of guests. */
export const diskImagePrograms = ['mcopy', 'mformat', 'syslinux', 'ssh-keygen'];

const megabytes = 64;

/** Makes a raw image named `disk.img`, with a login key and a host key, in a private folder. */
export async function makeDiskImage(folder: string, kernelPackage: string): Promise<Required<GuestImage>> {
  const place = (name: string) => join(folder, name);
  // The unpacking user `nobody` must be able to enter it.
  await chmod(folder, 0o711);
  const hostKey = makeKey(folder, 'ed25519', 'host');
  const ownerKey = makeKey(folder, 'ed25519', 'owner');
  const keys = { host: hostKey, controller: publicKey(ownerKey) };
  const [kernel] = await Promise.all([
    unpackKernel(kernelPackage, place('kernel'), modules),
    packUserland(place('userland.cpio'), keys),
    packOwn(place('own')),
  ]);
  const archives = [place('userland.cpio'), kernel.modules, place('own.cpio')];
  await run('sh', ['-c', 'out=$1; shift; cat "$@" >"$out"', 'sh', place('initial'), ...archives]);
  await writeFile(place('syslinux.cfg'), bootLoader);

  const path = place('disk.img');
  const sectors = String((megabytes * 1024 ** 2) / 512);
  await run('mformat', ['-C', '-i', path, '-T', sectors, '-h', '255', '-s', '63', '::']);
  const files = [kernel.image, place('initial'), place('syslinux.cfg')];
  await run('mcopy', ['-i', path, ...files, '::']);
  await run('syslinux', ['--install', path]);
  for (const name of ['kernel', 'userland.cpio', 'own.cpio', 'initial', 'syslinux.cfg']) {
    await rm(place(name), { recursive: true });
  }
  return {
    path,
    privateKeyPath: ownerKey,
    hostKey: publicKey(hostKey).split(' ').slice(0, 2).join(' '),
    bootSeconds: 120,
  };
}

/** A machine for it, with the same requirements as our own guests. */
export const machineWith = (image: GuestImage): FreebsdGuestsConfig => ({
  kind: 'virtual',
  system: 'freebsd',
  accelerator: 'tcg',
  memoryMebibytes: 256,
  image,
});

/** Waits until a guest's disk has booted this often, as its console shows, and logs in. */
export async function logInTo(lab: VirtualLab, image: GuestImage, guest: Guest, boots = 1): Promise<Host> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  // Nothing waits for a guest that is up already, and it may end later.
  over.catch(() => {});
  guest.ended.then((why) => reject(new Error(`QEMU has ended (${why}): ${guest.console()}`)));
  while (guest.console().split(upWords).length <= boots) {
    await Promise.race([setTimeout(50), over]);
  }
  return connectTo(await lab.loginTo(image, guest), 'a guest');
}

const upWords = 'the disk is up';

/** Its disk, its file system, and the two character tables that this needs. */
const modules = ['virtio_blk', 'vfat', 'nls_cp437', 'nls_ascii'];

const bootLoader = `DEFAULT linux
LABEL linux
KERNEL vmlinuz
APPEND initrd=initial console=ttyS0 loglevel=4 panic=-1 cryptomgr.notests net.ifnames=0
`;

/** Replaces the first program of our guests, which know their address and cards beforehand. */
async function packOwn(folder: string): Promise<void> {
  const programs = join(folder, 'usr/bin');
  await mkdir(programs, { recursive: true });
  await mkdir(join(folder, 'disk'));
  await writeFile(join(folder, 'init'), init, { mode: 0o755 });
  await writeFile(join(programs, 'dhcp-told'), dhcpTold, { mode: 0o755 });
  for (const name of ['arping', 'dd', 'udhcpc', 'umount']) {
    await symlink('busybox', join(programs, name));
  }
  const [program = '', ...args] = packing(folder, `${folder}.cpio`);
  await run(program, args);
  await rm(folder, { recursive: true });
}

const init = `#!/bin/bash
export PATH=/usr/bin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs run /run
mkdir -p /run/sshd
exec </dev/null >/dev/console 2>&1
read -ra modules </etc/modules
modprobe --all "\${modules[@]}"
mount -t vfat /dev/vda /disk
ip link set dev lo up
ip link set dev eth0 up
udhcpc -i eth0 -f -q -s /usr/bin/dhcp-told
/usr/bin/sshd -f /etc/ssh/sshd_config
# Port 22, state LISTEN.
until grep -q ':0016 00000000:0000 0A' /proc/net/tcp; do sleep 0.05; done
echo '${upWords}'
while :; do wait; sleep 1000; done
`;

/** See udhcpc's documentation: the argument is the event, and the environment has the lease. */
const dhcpTold = `#!/bin/bash
[[ $1 == bound ]] || exit 0
ip address replace "$ip/$mask" dev "$interface"
for one in $router; do
  ip route add default via "$one" dev "$interface"
done
echo "DHCP tells: $ip/$mask, router \${router:-none}, names \${dns:-none}"
`;
