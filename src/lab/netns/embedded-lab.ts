// Runs sender, DUT and receiver as network namespaces of this machine, each with its own sshd.
//
//   sender              DUT                      receiver
//   ppsgate-tx ──▶ ppsgate-in   ppsgate-out ──▶ ppsgate-rx
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { LinuxTestbed } from '../../config/schema.ts';
import { claim, disclaim } from './owner.ts';
import { labPath } from './requirements.ts';

const execute = promisify(execFile);
const run = (program: string, args: string[]) => execute(program, args, { env: { ...process.env, PATH: labPath() } });

const folder = '/run/ppsgate-lab';
/** Next to the folder, which is removed with the lab. The virtual lab on this machine uses the same file. */
export const ownerFile = `${folder}.owner`;
const roles = ['sender', 'dut', 'receiver'] as const;
type NamespaceRole = (typeof roles)[number];

const namespace = (role: NamespaceRole): string => `ppsgate-${role}`;
const outsideInterface = (role: NamespaceRole): string => `ppsgate-${role.slice(0, 3)}`;

// Link-local, so that only this machine can reach them: .1 is the controller, .2 the host.
const managementNetwork: Record<NamespaceRole, string> = {
  sender: '169.254.71',
  dut: '169.254.72',
  receiver: '169.254.73',
};

// With two CPUs, the DUT forwards on one and the sender sends on the other. Sharing one would measure the sender.
const senderCpu = 0;
const dutCpu = availableParallelism() > 1 ? 1 : 0;

/** Removes leftovers of an earlier lab, and sets up a new one. Throws if another process uses the lab. */
export async function labUp(): Promise<LinuxTestbed> {
  await claim(ownerFile);
  try {
    await removeLab();
    await mkdir('/run/sshd', { recursive: true });
    await makeKeys();
    await makeNetwork();
    await Promise.all(roles.map(startSshd));
    return describeLab();
  } catch (error) {
    await labDown();
    throw error;
  }
}

/** Has no effect the second time. Throws if another process uses the lab. */
export async function labDown(): Promise<void> {
  await claim(ownerFile);
  await removeLab();
  await rm(folder, { recursive: true, force: true });
  await disclaim(ownerFile);
}

export async function labLeftovers(): Promise<{ namespaces: string[]; processes: number[] }> {
  const namespaces = await existingNamespaces();
  const processes = await Promise.all(namespaces.map(processesIn));
  return { namespaces, processes: processes.flat() };
}

async function removeLab(): Promise<void> {
  for (const name of await existingNamespaces()) {
    // A namespace lives as long as a process in it, and trafgen's workers outlive their parent.
    await endProcessesIn(name);
  }
  // A deleted namespace releases its interfaces only after a while. A deleted cable is gone at once, with the
  // forwarding thread, which the next lab would mistake for its own.
  for (const end of cableEnds) await run('ip', [...end]).catch(() => {});
  for (const name of await existingNamespaces()) await run('ip', ['netns', 'delete', name]);
  // Files of all three hosts, which share this machine's file system.
  await rm('/run/ppsgate', { recursive: true, force: true });
}

/** Deleting one end of a cable deletes both. */
const cableEnds = [
  ...roles.map((role) => ['link', 'delete', outsideInterface(role)]),
  ['-n', namespace('sender'), 'link', 'delete', 'ppsgate-tx'],
  ['-n', namespace('receiver'), 'link', 'delete', 'ppsgate-rx'],
];

async function existingNamespaces(): Promise<string[]> {
  const { stdout } = await run('ip', ['-json', 'netns', 'list']);
  const known: { name: string }[] = stdout.trim() === '' ? [] : JSON.parse(stdout);
  const ours = new Set(roles.map(namespace));
  return known.map((entry) => entry.name).filter((name) => ours.has(name));
}

async function processesIn(name: string): Promise<number[]> {
  const { stdout } = await run('ip', ['netns', 'pids', name]);
  return stdout.split('\n').filter(Boolean).map(Number);
}

async function endProcessesIn(name: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const pids = await processesIn(name);
    if (pids.length === 0) return;
    for (const pid of pids) endProcess(pid);
    await wait(10);
  }
  throw new Error(`Processes in the namespace ${name} do not exit: see 'ip netns pids ${name}'.`);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function makeKeys(): Promise<void> {
  await rm(join(folder, 'keys'), { recursive: true, force: true });
  await mkdir(join(folder, 'keys'), { recursive: true, mode: 0o700 });
  await Promise.all(['controller', ...roles].map(makeKey));
  const lines = await Promise.all(roles.map(async (role) => `${managementNetwork[role]}.2 ${await publicKey(role)}`));
  await writeFile(knownHostsPath, `${lines.join('\n')}\n`);
}

const keyPath = (name: string): string => join(folder, 'keys', name);
const knownHostsPath = join(folder, 'known_hosts');

async function makeKey(name: string): Promise<void> {
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keyPath(name)]);
}

async function publicKey(name: string): Promise<string> {
  const [type, key] = (await readFile(`${keyPath(name)}.pub`, 'utf8')).split(' ');
  return `${type} ${key}`;
}

async function makeNetwork(): Promise<void> {
  for (const role of roles) await run('ip', ['netns', 'add', namespace(role)]);
  await ipBatch([], [...roles.flatMap(managementCable), ...dataCables]);
  await Promise.all(roles.map((role) => ipBatch(['-n', namespace(role)], addresses[role])));
  await Promise.all([
    inside('sender', ['ethtool', '-K', 'ppsgate-tx', 'tso', 'off']),
    inside('dut', ['ethtool', '-K', 'ppsgate-in', 'gro', 'on']),
    inside('dut', ['sysctl', '-qw', ...dutSettings]),
    inside('receiver', ['nft', '-f', '-'], countAndDrop),
  ]);
  await connectNeighbours();
  await forwardOnOwnCpu();
}

// A veth passes packets to NAPI, and so to a thread of their own, only with GRO on the receiving side and TSO off on
// the sending one. Otherwise the sender's CPU forwards them, and the sender is measured.
const dutSettings = [
  'net.ipv4.ip_forward=1',
  'net.ipv4.conf.all.send_redirects=0',
  'net.ipv6.conf.all.forwarding=1',
  'net.netfilter.nf_conntrack_max=1000000',
];

// The kernel counts a packet before this hook drops it; a later drop would only cost CPU time that the DUT needs.
const countAndDrop = `table netdev ppsgate {
  chain ingress {
    type filter hook ingress device ppsgate-rx priority 0; policy drop;
  }
}
`;

const dataCables = [
  `link add ppsgate-tx netns ppsgate-sender type veth peer name ppsgate-in netns ppsgate-dut`,
  `link add ppsgate-out netns ppsgate-dut type veth peer name ppsgate-rx netns ppsgate-receiver`,
];

function managementCable(role: NamespaceRole): string[] {
  const outside = outsideInterface(role);
  return [
    `link add ${outside} type veth peer name management netns ${namespace(role)}`,
    `address add ${managementNetwork[role]}.1/30 dev ${outside}`,
    `link set ${outside} up`,
  ];
}

const managementAddress = (role: NamespaceRole): string[] => [
  'link set lo up',
  `address add ${managementNetwork[role]}.2/30 dev management`,
  'link set management up',
];

// Benchmarking networks of RFC 2544 and RFC 5180.
const addresses: Record<NamespaceRole, string[]> = {
  sender: [
    ...managementAddress('sender'),
    'address add 198.18.0.2/30 dev ppsgate-tx',
    'address add 2001:2::2/126 dev ppsgate-tx nodad',
    'link set ppsgate-tx up',
  ],
  dut: [
    ...managementAddress('dut'),
    'address add 198.18.0.1/30 dev ppsgate-in',
    'address add 2001:2::1/126 dev ppsgate-in nodad',
    'link set ppsgate-in up',
    'address add 198.19.0.1/30 dev ppsgate-out',
    'address add 2001:2:0:8000::1/126 dev ppsgate-out nodad',
    'link set ppsgate-out up',
    'route add 198.18.0.0/16 via 198.18.0.2',
    'route add 198.19.0.0/16 via 198.19.0.2',
    'route add 2001:2::/49 via 2001:2::2',
    'route add 2001:2:0:8000::/49 via 2001:2:0:8000::2',
  ],
  receiver: [
    ...managementAddress('receiver'),
    'address add 198.19.0.2/30 dev ppsgate-rx',
    'address add 2001:2:0:8000::2/126 dev ppsgate-rx nodad',
    'link set ppsgate-rx up',
  ],
};

/** Static, so that no traffic needs ARP or NDP. */
async function connectNeighbours(): Promise<void> {
  const [tx, rx] = await Promise.all([macAddress('sender', 'ppsgate-tx'), macAddress('receiver', 'ppsgate-rx')]);
  await ipBatch(
    ['-n', namespace('dut')],
    [
      `neighbour replace 198.18.0.2 lladdr ${tx} dev ppsgate-in nud permanent`,
      `neighbour replace 2001:2::2 lladdr ${tx} dev ppsgate-in nud permanent`,
      `neighbour replace 198.19.0.2 lladdr ${rx} dev ppsgate-out nud permanent`,
      `neighbour replace 2001:2:0:8000::2 lladdr ${rx} dev ppsgate-out nud permanent`,
    ],
  );
}

async function macAddress(role: NamespaceRole, name: string): Promise<string> {
  return (await inside(role, ['cat', `/sys/class/net/${name}/address`])).trim();
}

async function forwardOnOwnCpu(): Promise<void> {
  await inside('dut', ['tee', '/sys/class/net/ppsgate-in/threaded'], '1');
  const thread = await forwardingThread();
  await run('taskset', ['--pid', '--cpu-list', String(dutCpu), thread]);
  await run('renice', ['-n', '-20', '-p', thread]);
}

async function forwardingThread(): Promise<string> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    if (name.startsWith('napi/ppsgate-in')) return pid;
  }
  throw new Error('The kernel created no NAPI thread for ppsgate-in: the embedded lab needs Linux 5.12 or later.');
}

async function startSshd(role: NamespaceRole): Promise<void> {
  const configuration = join(folder, `sshd-${role}.conf`);
  await writeFile(configuration, sshdConfiguration(role));
  await run('ip', ['netns', 'exec', namespace(role), '/usr/sbin/sshd', '-f', configuration]);
  await waitForSshd(role);
}

/** sshd enters the background before it listens, which may be much later on a busy machine. */
async function waitForSshd(role: NamespaceRole): Promise<void> {
  const address = { host: `${managementNetwork[role]}.2`, port: 22 };
  for (let attempt = 0; attempt < 1000; attempt++) {
    const socket = connect(address);
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await wait(10);
  }
  throw new Error(`sshd in the namespace ${namespace(role)} does not listen on ${address.host}:22.`);
}

const sshdConfiguration = (role: NamespaceRole): string => `
ListenAddress ${managementNetwork[role]}.2
HostKey ${keyPath(role)}
AuthorizedKeysFile ${keyPath('controller')}.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
# Bash reads .bashrc for a command over ssh, unless it is nested.
SetEnv SHLVL=2
Subsystem sftp internal-sftp
`;

function describeLab(): LinuxTestbed {
  const host = (role: NamespaceRole) => ({
    host: `${managementNetwork[role]}.2`,
    port: 22,
    user: 'root',
    privateKeyPath: keyPath('controller'),
    knownHostsPath,
  });
  return {
    kind: 'linux',
    sender: { ...host('sender'), interface: 'ppsgate-tx', cpu: senderCpu },
    dut: { ...host('dut'), ingress: 'ppsgate-in', egress: 'ppsgate-out', cpu: dutCpu },
    receiver: { ...host('receiver'), interface: 'ppsgate-rx' },
  };
}

async function inside(role: NamespaceRole, command: string[], input = ''): Promise<string> {
  return feed('ip', ['netns', 'exec', namespace(role), ...command], input);
}

async function ipBatch(options: string[], lines: string[]): Promise<void> {
  await feed('ip', [...options, '-batch', '-'], `${lines.join('\n')}\n`);
}

async function feed(program: string, args: string[], input: string): Promise<string> {
  const running = run(program, args);
  // A program that ends without reading its input is judged by its exit code.
  running.child.stdin?.on('error', () => {}).end(input);
  return (await running).stdout;
}
