// Packs the userland of a guest: programs of this machine with their libraries, in an archive that the kernel unpacks.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, copyFile, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { labPath } from '../../netns/requirements.ts';
import { guestAddress, guestPorts, neighbours, receiverMac, senderMac } from './addresses.ts';
import { packing } from './kernel-files.ts';

const run = promisify(execFile);

const init = readFileSync(new URL('./guest-init.sh', import.meta.url));

/** Programs of this machine for guests; the kernel and the first program call kmod(8) by three names. */
const programs = ['bash', 'chrt', 'flock', 'ip', 'kmod', 'nft', 'sshd', 'sysctl', 'taskset', 'timeout'];
/** Executed by sshd(8) for each connection, from OpenSSH 9.8 and 10.0 on. */
const sshdParts = ['/usr/lib/openssh/sshd-session', '/usr/lib/openssh/sshd-auth'];
/** Counts drops of queueing disciplines. Distributions may package it apart from ip(8). */
const optionalPrograms = ['tc'];
/** Tables of nft(8) for names like icmp and ssh. */
const namesOfRules = ['/etc/protocols', '/etc/services'];
const kmodNames = ['modprobe', 'lsmod'];
const busyboxNames = [
  'basename',
  'cut',
  'df',
  'diff',
  'od',
  'cat',
  'chmod',
  'cp',
  'dirname',
  'dmesg',
  'grep',
  'head',
  'ls',
  'mkdir',
  'mktemp',
  'mount',
  'mv',
  'nproc',
  'pgrep',
  'pkill',
  'readlink',
  'rm',
  'sed',
  'sh',
  'sleep',
  'sync',
  'tail',
  'tr',
  'uname',
  'unshare',
  'wc',
];

type GuestKeys = {
  host: string;
  controller: string;
};

export async function packUserland(archive: string, keys: GuestKeys): Promise<void> {
  const root = `${archive}.folder`;
  await rm(root, { recursive: true, force: true });
  const usrBin = join(root, 'usr/bin');
  for (const folder of ['dev', 'etc/ssh', 'proc', 'root', 'run', 'sys', 'tmp', 'usr/bin']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  for (const link of ['bin', 'sbin', 'usr/sbin']) {
    await symlink(link === 'usr/sbin' ? 'bin' : 'usr/bin', join(root, link));
  }
  const found = await Promise.allSettled(optionalPrograms.map(pathOf));
  const names = [
    ...programs,
    'busybox',
    ...optionalPrograms.filter((_, index) => found[index]?.status === 'fulfilled'),
  ];
  const placed = await Promise.all(names.map(async (name) => [await pathOf(name), `/usr/bin/${name}`] as const));
  const files = [...placed, ...(await presentOf(sshdParts))];
  const libraries = await Promise.all(files.map(([path]) => librariesOf(path)));
  const shared = [...new Set(libraries.flat())].map((path) => [path, path] as const);
  for (const [path, place] of [...files, ...shared, ...(await presentOf(namesOfRules))]) {
    await mkdir(dirname(join(root, place)), { recursive: true });
    await copyFile(path, join(root, place));
  }
  for (const name of kmodNames) await symlink('kmod', join(usrBin, name));
  for (const name of busyboxNames) await symlink('busybox', join(usrBin, name));
  await copyFile(keys.host, join(root, 'etc/ssh/host'));
  const written: Record<string, string | Uint8Array> = {
    init,
    'etc/passwd': 'root:x:0:0::/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/bin/false\n',
    'etc/group': 'root:x:0:\n',
    'etc/ssh/authorized': keys.controller,
    'etc/ssh/sshd_config': sshdConfiguration,
    'etc/fstab': fstab,
    'etc/network.ip': `${network.join('\n')}\n`,
  };
  for (const [name, content] of Object.entries(written)) {
    await writeFile(join(root, name), content, { mode: name === 'init' ? 0o755 : 0o600 });
  }
  const [program = '', ...args] = packing(root, archive);
  await run(program, args);
  await rm(root, { recursive: true });
}

async function pathOf(program: string): Promise<string> {
  for (const folder of labPath().split(delimiter)) {
    const path = await realpath(join(folder, program)).catch(() => undefined);
    if (path !== undefined) return path;
  }
  throw new Error(`This machine has no ${program}, which guests need.`);
}

async function presentOf(paths: readonly string[]): Promise<(readonly [string, string])[]> {
  const found = await Promise.allSettled(paths.map((path) => access(path)));
  return paths.filter((_, index) => found[index]?.status === 'fulfilled').map((path) => [path, path]);
}

/** Paths of libraries, found by the loader, which is among them; none for a static program. */
async function librariesOf(path: string): Promise<string[]> {
  const listed = await run('ldd', [path]).catch(() => ({ stdout: '' }));
  return [...listed.stdout.matchAll(/(?:^\s*|=> )(\/\S+)/gm)].flatMap(([, library]) => library ?? []);
}

const sshdConfiguration = `
HostKey /etc/ssh/host
AuthorizedKeysFile /etc/ssh/authorized
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
PidFile none
SetEnv SHLVL=2
Subsystem sftp internal-sftp
`;

const fstab = `proc /proc proc
sys /sys sysfs
dev /dev devtmpfs
run /run tmpfs
`;

const { ingress, egress } = guestPorts;
const { sender, receiver } = neighbours;

const network = [
  `address add ${guestAddress}/24 dev management`,
  'link set dev management up',
  `address add ${ingress.inet4}/30 dev ppsgate-in`,
  `address add ${ingress.inet6}/126 dev ppsgate-in nodad`,
  'link set dev ppsgate-in up',
  `address add ${egress.inet4}/30 dev ppsgate-out`,
  `address add ${egress.inet6}/126 dev ppsgate-out nodad`,
  'link set dev ppsgate-out up',
  `neighbour replace ${sender.inet4} lladdr ${senderMac} dev ppsgate-in nud permanent`,
  `neighbour replace ${sender.inet6} lladdr ${senderMac} dev ppsgate-in nud permanent`,
  `neighbour replace ${receiver.inet4} lladdr ${receiverMac} dev ppsgate-out nud permanent`,
  `neighbour replace ${receiver.inet6} lladdr ${receiverMac} dev ppsgate-out nud permanent`,
  `route add 198.18.0.0/16 via ${sender.inet4}`,
  `route add 198.19.0.0/16 via ${receiver.inet4}`,
  `route add 2001:2::/49 via ${sender.inet6}`,
  `route add 2001:2:0:8000::/49 via ${receiver.inet6}`,
];
