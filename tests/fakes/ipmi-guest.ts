// A machine that really boots, with a real BMC: a QEMU guest whose power and serial port belong to ipmi_sim.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostConfig } from '../../src/config/fields.ts';
import { guestAddress, guestMac, guestNetwork } from '../../src/lab/qemu/vm/addresses.ts';
import { unpackKernel } from '../../src/lab/qemu/vm/kernel-files.ts';
import { packUserland } from '../../src/lab/qemu/vm/userland.ts';
import { kernelCommandLine } from '../../src/lab/qemu/vm/virtual-lab.ts';
import { startSerial } from '../lab/console/serial.ts';
import { type IpmiSim, startIpmiSim } from '../lab/power/ipmi-sim.ts';
import { freePort, makeKey, publicKey } from './sshd.ts';

const run = promisify(execFile);

/** Requirements besides root and a kernel package. */
export const ipmiGuestPrograms = [
  'ipmi_sim',
  'ipmitool',
  'qemu-system-x86_64',
  'unshare',
  'setpriv',
  'bash',
  'busybox',
  'chrt',
  'cpio',
  'depmod',
  'dpkg-deb',
  'flock',
  'ip',
  'kmod',
  'ldd',
  'nft',
  'ssh-keygen',
  'sshd',
  'sysctl',
  'taskset',
  'timeout',
];

export type IpmiGuest = AsyncDisposable & {
  /** Address of its BMC, for power and for its console. */
  readonly bmc: IpmiSim['config'];
  /** Login once it is up. */
  readonly login: HostConfig;
  /** Printed once it is up; different at each power-on. */
  marks(): Promise<string[]>;
};

/** Initially powered off. */
export async function startIpmiGuest(kernelPackage: string): Promise<IpmiGuest> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-guest-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // The unpacking user `nobody` must be able to enter it.
  await chmod(folder, 0o711);
  const guestKey = makeKey(folder, 'ed25519', 'guest');
  const ourKey = makeKey(folder, 'ed25519', 'controller');
  const place = (name: string) => join(folder, name);
  const [kernel] = await Promise.all([
    unpackKernel(kernelPackage, place('kernel'), []),
    packUserland(place('userland.cpio'), { host: guestKey, controller: publicKey(ourKey) }),
  ]);
  const archives = [place('userland.cpio'), kernel.modules];
  await run('sh', ['-c', 'out=$1; shift; cat "$@" >"$out"', 'sh', place('initial'), ...archives]);

  const serial = opened.use(await startSerial());
  const port = opened.use(await serialPort(serial.print));
  const sshPort = await freePort();
  await writeFile(place('boots'), '');
  await writeFile(place('machine'), machineText(folder, kernel.image, port.number, sshPort), {
    mode: 0o700,
  });
  const bmc = opened.use(await startIpmiSim({ serialPort: serial.port, machineProgram: place('machine') }));
  await serial.connected();

  const [type, key] = publicKey(guestKey).split(' ');
  await writeFile(place('known_hosts'), `[127.0.0.1]:${sshPort} ${type} ${key}\n`);
  const marks = async () => {
    const boots = (await readFile(place('boots'), 'utf8')).split('\n').filter(Boolean);
    return boots.map((boot) => `ppsgate: ${boot} is up`);
  };
  const all = opened.move();
  return {
    bmc: bmc.config,
    login: {
      host: '127.0.0.1',
      port: sshPort,
      user: 'root',
      privateKeyPath: ourKey,
      knownHostsPath: place('known_hosts'),
    },
    marks,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/**
 * The machine's end of the cable. Serial over LAN would lose QEMU's own port after each power cycle, and look for it
 * only 10 s later; a real one stays.
 */
async function serialPort(hears: (text: string) => void): Promise<AsyncDisposable & { number: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => hears(chunk.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    number: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Power control for ipmi_sim: the machine is on while QEMU holds the lock. `startcmd` would keep it off for less than
 * the second that IPMI requires of a cycle, as it ends at the clock's next tick. The wires are not connected.
 */
const machineText = (folder: string, kernel: string, serial: number, ssh: number) => `#!/bin/sh
cd '${folder}' || exit 1
exec 9>lock
case "$2 $4" in
"get ") if flock -n 9; then echo power:0; else echo power:1; fi ;;
"set 0")
  if ! flock -n 9; then
    kill -KILL "$(cat pid)"
    flock 9
  fi
  ;;
"set 1")
  flock -n 9 || exit 0
  boot=$(cat /proc/sys/kernel/random/uuid)
  echo "$boot" >>boots
  qemu-system-x86_64 -nodefaults -no-user-config -machine q35,graphics=off -accel tcg -cpu max \\
    -smp 1 -m 256 -display none -kernel '${kernel}' -initrd initial \\
    -append "${kernelCommandLine('$boot')} no_timer_check" \\
    -chardev socket,id=console,host=127.0.0.1,port=${serial} -serial chardev:console \\
    -netdev user,id=control,restrict=on,ipv6=off,${guestNetwork},hostfwd=tcp:127.0.0.1:${ssh}-${guestAddress}:22 \\
    -device virtio-net-pci,netdev=control,mac=${guestMac.management},romfile= \\
    -device virtio-net-pci,mac=${guestMac.ingress},romfile= \\
    -device virtio-net-pci,mac=${guestMac.egress},romfile= \\
    -device virtio-rng-pci </dev/null >qemu.log 2>&1 &
  echo $! >pid
  ;;
esac
`;
