// Tests guests that boot a real disk: the accepted logins, the reachable addresses, and the fate of their writes.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { GuestImage } from '../../../../src/config/virtual-testbed.ts';
import { controllerAddress, guestAddress, wireAddress } from '../../../../src/lab/qemu/vm/addresses.ts';
import { type Guest, portOf } from '../../../../src/lab/qemu/vm/guest.ts';
import { guestCpu, senderCpu, type VirtualLab, virtualLabUp } from '../../../../src/lab/qemu/vm/virtual-lab.ts';
import type { Host } from '../../../../src/system/host/ssh.ts';
import { shell } from '../../../../src/system/shell.ts';
import { diskImagePrograms, logInTo, machineWith, makeDiskImage } from '../../../fakes/disk-image.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { kernelPackage } from '../../../fakes/kernel-package.ts';
import { describeWith, virtualPrograms } from '../../../needs.ts';

const run = promisify(execFile);
const patience = { timeout: 120_000, interval: 50 };
const { path: kernel } = await kernelPackage();
const needs = ['root', ...virtualPrograms, ...diskImagePrograms, 'qemu-img', kernel];

let folder: string;
let image: Required<GuestImage>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ppsgate-image-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const makeImage = async (): Promise<void> => {
  image ??= await makeDiskImage(folder, kernel);
};

const sumOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

const note = '/disk/note.txt';
const write = (host: Host, words: string) => host.output(shell`echo ${words} >${note} && sync ${note}`);
/** The content on the disk, without the cache. */
async function noteOf(host: Host): Promise<string | undefined> {
  await host.output(shell`umount /disk && mount -t vfat /dev/vda /disk`);
  const { stdout } = await host.run(shell`cat ${note}`);
  return stdout.trim() || undefined;
}

describeWith(needs, 'a guest with a disk', () => {
  let lab: VirtualLab;
  let sum: string;
  const guests = new Map<number, Guest>();
  const hosts = new Map<number, Host>();

  async function boot(number: number, of: GuestImage = image): Promise<Host> {
    const guest = await lab.bootImage(number, of, number === 1 ? guestCpu : senderCpu);
    guests.set(number, guest);
    return cameUp(number);
  }
  async function cameUp(number: number, boots = 1): Promise<Host> {
    await hosts.get(number)?.close();
    const host = await logInTo(lab, image, guestOf(number), boots);
    hosts.set(number, host);
    return host;
  }
  function guestOf(number: number): Guest {
    const guest = guests.get(number);
    if (guest === undefined) throw new TypeError(`There is no guest ${number}.`);
    return guest;
  }
  function hostOf(number: number): Host {
    const host = hosts.get(number);
    if (host === undefined) throw new TypeError(`No login to guest ${number}.`);
    return host;
  }

  beforeAll(async () => {
    await makeImage();
    sum = await sumOf(image.path);
    lab = await virtualLabUp(machineWith(image));
    await Promise.all([boot(1), boot(2)]);
  });
  afterAll(async () => {
    for (const host of hosts.values()) await host.close();
    await lab?.down();
  });

  test('has its first card configured by DHCP, and accepts the key of its owner', async () => {
    const shown = await hostOf(1).output(shell`ip -brief -4 address show dev eth0`);
    expect(shown).toContain(`${guestAddress}/24`);
    expect(guestOf(1).console()).toContain(`DHCP tells: ${guestAddress}/24`);
  });

  test('reaches nothing of this machine or of the other guest, also by a route that it adds', async () => {
    const came: (string | undefined)[] = [];
    const server = createServer((socket) => {
      came.push(socket.remoteAddress);
      socket.destroy();
    }).listen(0, '0.0.0.0');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const own = Object.values(networkInterfaces())
      .flatMap((one) => one ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);
    expect(own.map((one) => one.address)).toContain(controllerAddress);
    // This machine itself reaches the addresses that its guest tries.
    for (const { address } of own) await once(createConnection(port, address), 'close');
    expect(came.splice(0)).toHaveLength(own.length);

    const ssh = String(portOf(2));
    const tried = [
      ...[...own.map((one) => one.address), wireAddress].map((one) => [one, String(port)]),
      ...[controllerAddress, wireAddress].map((one) => [one, ssh]),
      // A reachable address shows how the others would look.
      [guestAddress, '22'],
    ];
    const script = `ip route add default via ${controllerAddress}
for one in ${tried.map((one) => one.join('/')).join(' ')}; do
  timeout 10 bash -c "exec 3<>/dev/tcp/$one && echo $one" &
done
wait
ip route delete default`;
    const { stdout } = await hostOf(1).run(shell`bash -c ${script}`);
    expect(stdout.trim().split('\n')).toEqual([`${guestAddress}/22`]);
    expect(came).toEqual([]);
  });

  test('reaches no host at the other ends of its wires', async () => {
    const script = `for card in eth1 eth2; do
  ip link set dev $card up
  arping -c 1 -w 2 -I $card ${wireAddress} &
  arping -c 1 -w 2 -I $card -D ${wireAddress} &
done
wait`;
    const { stdout } = await hostOf(1).run(shell`bash -c ${script}`);
    expect(stdout.match(/Received \d+ response/g)).toEqual(Array(4).fill('Received 0 response'));
  });

  // Guests boot at once, as each has a CPU.
  test('that resets or panics boots again, with the cause on its console and the image as it was', async () => {
    const panic = 'Kernel panic - not syncing: sysrq triggered crash';
    await write(hostOf(1), 'before the reset');
    const reset = async () => {
      await guestOf(1).reset();
      await cameUp(1, 2);
    };
    const crash = async () => {
      const lost = expect(hostOf(2).run(shell`echo c >/proc/sysrq-trigger`)).rejects.toThrow();
      await vi.waitFor(() => expect(guestOf(2).console()).toContain(panic), patience);
      await cameUp(2, 2);
      await lost;
    };
    await Promise.all([reset(), crash()]);
    expect(guestOf(2).console()).toContain(panic);
    expect(await sumOf(image.path)).toBe(sum);
  });

  // A kernel may write to its disk for the next one to boot, or to change the format of the image.
  test('that follows another of its number sees nothing of what that one wrote, even to the header', async () => {
    // A header of another disk, which is based on a file of this machine.
    const header = join(folder, 'header.qcow2');
    const backing = ['-b', image.privateKeyPath, '-F', 'raw'];
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...backing, header, '10M']);
    await write(hostOf(1), 'the last of this one');
    await hostOf(1).output(shell`dd of=/dev/vda bs=64k conv=fsync,notrunc`, { stdin: await readFile(header) });
    expect(await hostOf(1).output(shell`head -c 3 /dev/vda`)).toBe('QFI');
    await guestOf(1).stop();
    await boot(1);
    expect(await noteOf(hostOf(1))).toBeUndefined();
    const { size } = await stat(image.path);
    const sectors = await hostOf(1).output(shell`cat /sys/block/vda/size`);
    expect(Number(sectors) * 512).toBe(size);
    expect(await hostOf(1).output(shell`head -c 3 /dev/vda`)).not.toBe('QFI');
  });
});

describeWith(needs, 'the copy of a disk that a guest writes to', () => {
  beforeAll(makeImage);

  test('is gone with the process that had the laboratory, even if that is killed', async () => {
    const place = temporaryFolder();
    const child = labOfItsOwn(place);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    await expect.poll(() => openIn(place)).not.toEqual([]);
    child.kill('SIGKILL');
    await expect.poll(() => openIn(place)).toEqual([]);
    expect(readdirSync(place)).toEqual([]);
  });
});

const module = (path: string): string => JSON.stringify(join(import.meta.dirname, '../../../..', path));

/** A process that boots the image, with temporary files in this folder. */
function labOfItsOwn(place: string) {
  const program = `
    import { guestCpu, virtualLabUp } from ${module('src/lab/qemu/vm/virtual-lab.ts')};
    import { machineWith } from ${module('tests/fakes/disk-image.ts')};
    const image = ${JSON.stringify(image)};
    const lab = await virtualLabUp(machineWith(image));
    await lab.bootImage(1, image, guestCpu);
    console.log('started');
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: place },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Files of a folder that processes of this machine have open, including deleted ones. */
const openIn = (place: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((process) => filesOf(process).filter((path) => path.startsWith(`${place}/`)));

function filesOf(process: string): string[] {
  try {
    const names = readdirSync(`/proc/${process}/fd`);
    return names.map((name) => readlinkSync(`/proc/${process}/fd/${name}`));
  } catch {
    // It has ended, or closed one meanwhile.
    return [];
  }
}
