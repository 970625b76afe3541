// Runs a real etcd cluster on this machine, whose members can be killed, suspended, and cut off from the others.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Need } from '../needs.ts';
import { makeAuthority } from './authority.ts';

const run = promisify(execFile);

/** Requirements of a cluster; with `namespaces` also `root` and `ip`. */
export const etcdNeeds: readonly Need[] = ['etcd', 'etcdctl', 'openssl', 'setpriv'];

export type EtcdOptions = {
  /** Absent: 3. */
  members?: number;
  /** HTTPS, with a certificate for this address or host name; `true`: 127.0.0.1. Clients must show one, too. */
  tls?: true | { name: string };
  /** Passwords, and one user who may read and write keys with this prefix. */
  auth?: { prefix: string };
  /** Puts each member into its own network namespace, on a bridge that includes this machine. */
  namespaces?: boolean;
  /** Longest silence of a leader. Sessions can be as short as 1.5 times this, rounded up to whole seconds. */
  electionMs?: number;
};

export interface EtcdCluster extends AsyncDisposable {
  readonly endpoints: string[];
  readonly members: readonly EtcdMember[];
  /** Files for clients of a cluster with `tls`. */
  readonly tls: ClientFiles | undefined;
  /** User of a cluster with `auth`. */
  readonly account: Account | undefined;
  /** The member that is leader according to itself and a majority. Waits until there is one. */
  leader(): Promise<EtcdMember>;
  /** Cuts processes in the member's namespace off from all others; needs `namespaces`. */
  cut(member: EtcdMember): Promise<void>;
  fix(member: EtcdMember): Promise<void>;
  /** Ends all members, and removes everything they left. */
  stop(): Promise<void>;
}

export type ClientFiles = { caPath: string; certificatePath: string; keyPath: string };
export type Account = { user: string; passwordPath: string };

export interface EtcdMember {
  readonly name: string;
  readonly endpoint: string;
  /** Name of the network namespace, for `ip netns exec`; only with `namespaces`. */
  readonly namespace: string | undefined;
  /** End of its log. */
  readonly log: string;
  /** Sends SIGKILL, like a power cut; its data stays. */
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  restart(): void;
  /** Suspends it. */
  pause(): void;
}

/**
 * Starts a cluster, and waits until every member has joined and can serve: a fraction of a second, or 2 s if the disk
 * is slow to give 64 MB to each. TMPDIR=/dev/shm avoids that.
 */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-etcd-'));
  const network = options.namespaces ? await makeBridge() : loopback;
  const members: Member[] = [];
  const stop = async () => {
    await Promise.all(members.map((member) => member.kill()));
    await network.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const places = await makePlaces(network, options);
    const tls = options.tls === undefined ? undefined : await makeTls(folder, options.tls);
    members.push(...places.map((place) => startMember(place, { places, folder, tls, options })));
    await Promise.all(members.map(isServing));
    const endpoints = members.map(({ endpoint }) => endpoint);
    const account = options.auth && (await enableAuth(endpoints, folder, tls?.client, options.auth));
    return {
      endpoints,
      members,
      tls: tls?.client,
      account,
      leader: () => leaderOf(members),
      cut: (member) => network.connect(member.name, false),
      fix: (member) => network.connect(member.name, true),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    const logs = members.map(({ name, log }) => `${name}: ${log.slice(-2000)}`);
    await stop();
    throw new Error(`The etcd cluster did not start.\n${logs.join('\n')}`, { cause: error });
  }
}

type Member = EtcdMember & { metricsUrl: string; isRunning(): boolean };

/** Addresses of a member: for clients, for peers and, always by plain HTTP, for health checks. */
type Place = {
  name: string;
  namespace: string | undefined;
  host: string;
  ports: readonly [client: number, peer: number, metrics: number];
};

async function makePlaces(network: Network, { members = 3 }: EtcdOptions): Promise<Place[]> {
  const ports = network.hasOwnPorts ? undefined : await freePorts(3 * members);
  return Promise.all(
    Array.from({ length: members }, async (_, index) => {
      const name = `member-${index + 1}`;
      const [client = 2379, peer = 2380, metrics = 2381] = ports?.splice(0, 3) ?? [];
      return { name, ...(await network.place(name, index)), ports: [client, peer, metrics] };
    }),
  );
}

/** All at once, as one could otherwise be returned twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No free TCP port.');
    return address.port;
  });
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

type Plan = {
  places: readonly Place[];
  folder: string;
  tls: Tls | undefined;
  options: EtcdOptions;
};

function startMember(place: Place, plan: Plan): Member {
  const { name, namespace, host, ports } = place;
  const inNamespace = namespace === undefined ? [] : ['ip', 'netns', 'exec', namespace];
  // The members end with the tests, even if these are killed.
  const [program = '', ...words] = [...inNamespace, 'setpriv', '--pdeathsig', 'KILL', 'etcd', ...flagsOf(place, plan)];
  let log = '';
  const start = () => {
    const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (text) => {
      log = `${log}${text}`.slice(-100_000);
    });
    return child;
  };
  let child: ChildProcess = start();
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    name,
    endpoint: urlOf(plan.tls, host, ports[0]),
    namespace,
    metricsUrl: urlOf(undefined, host, ports[2]),
    get log() {
      return log;
    },
    isRunning,
    async kill() {
      if (isRunning() && child.kill('SIGKILL')) await once(child, 'exit');
    },
    restart() {
      if (!isRunning()) child = start();
    },
    pause: () => stopWhole(child),
  };
}

function flagsOf(place: Place, { places, folder, tls, options }: Plan): string[] {
  const { name, host, ports } = place;
  const { electionMs = 300 } = options;
  const clientUrl = urlOf(tls, host, ports[0]);
  const peerUrl = (of: Place) => urlOf(undefined, of.host, of.ports[1]);
  const settings = {
    name,
    'data-dir': join(folder, name),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl(place),
    'initial-advertise-peer-urls': peerUrl(place),
    'initial-cluster': places.map((of) => `${of.name}=${peerUrl(of)}`).join(),
    'listen-metrics-urls': urlOf(undefined, host, ports[2]),
    'heartbeat-interval': String(Math.ceil(electionMs / 10)),
    'election-timeout': String(electionMs),
    logger: 'zap',
    'log-outputs': 'stderr',
    // Makes passwords cheap to check: by default each check needs a tenth of a second of CPU time.
    'bcrypt-cost': '4',
    ...tls?.flags,
  };
  return Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`);
}

const urlOf = (tls: Tls | undefined, host: string, port: number): string =>
  `${tls === undefined ? 'http' : 'https'}://${host}:${port}`;

async function isServing(member: Member): Promise<void> {
  // A member that is asked for its health before there is a leader may need another half second.
  while (!member.log.includes('elected leader') || !(await isHealthy(member))) {
    if (!member.isRunning()) throw new Error(`The etcd ${member.name} ended.`);
    await wait(20);
  }
}

/** True only for a member that a majority of the cluster can reach. */
const isHealthy = async ({ metricsUrl }: Member): Promise<boolean> =>
  (await textAt(`${metricsUrl}/health`)).includes('"true"');

async function leaderOf(members: readonly Member[]): Promise<Member> {
  const onlyIfLeader = async (member: Member) => {
    if (await isLeader(member)) return member;
    throw new Error(`${member.name} does not lead.`);
  };
  for (;;) {
    // The first to reply, as suspended members do not.
    const leader = await Promise.any(members.map(onlyIfLeader)).catch(() => undefined);
    if (leader !== undefined) return leader;
    await wait(20);
  }
}

/** A member that was cut off may consider itself leader a little longer, but is not healthy. */
const isLeader = async (member: Member): Promise<boolean> =>
  /^etcd_server_is_leader 1$/m.test(await textAt(`${member.metricsUrl}/metrics`)) && (await isHealthy(member));

/** Empty without a response. */
async function textAt(url: string): Promise<string> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(1000) })).text();
  } catch {
    return '';
  }
}

type Network = {
  hasOwnPorts: boolean;
  place(name: string, index: number): Promise<{ namespace: string | undefined; host: string }>;
  connect(name: string, isConnected: boolean): Promise<void>;
  remove(): Promise<void>;
};

const loopback: Network = {
  hasOwnPorts: false,
  place: async () => ({ namespace: undefined, host: '127.0.0.1' }),
  connect: async () => {
    throw new Error('Only members of a cluster with `namespaces` can be cut off.');
  },
  remove: async () => {},
};

let bridges = 0;

/** This machine is .254 on it, the members are .1, .2 and so on. */
async function makeBridge(): Promise<Network> {
  bridges += 1;
  const id = `${process.pid}-${bridges}`;
  // Interface names have at most 15 characters.
  const bridge = `ppse${process.pid.toString(36)}-${bridges}`;
  const net = freeLinkLocalNet();
  const namespaceOf = (name: string) => `ppsgate-etcd-${id}-${name}`;
  const cableOf = (name: string) => `${bridge}-${name.slice('member-'.length)}`;
  const namespaces: string[] = [];
  await ip(`link add ${bridge} type bridge`);
  await ip(`address add ${net}.254/24 dev ${bridge}`);
  await ip(`link set ${bridge} up`);
  return {
    hasOwnPorts: true,
    async place(name, index) {
      const namespace = namespaceOf(name);
      const host = `${net}.${index + 1}`;
      await ip(`netns add ${namespace}`);
      namespaces.push(namespace);
      await ip(`link add ${cableOf(name)} type veth peer name bridge netns ${namespace}`);
      await ip(`-n ${namespace} address add ${host}/24 dev bridge`);
      await ip(`-n ${namespace} link set bridge up`);
      await ip(`-n ${namespace} link set lo up`);
      await ip(`link set ${cableOf(name)} master ${bridge} up`);
      return { namespace, host };
    },
    async connect(name, isConnected) {
      await ip(`link set ${cableOf(name)} ${isConnected ? 'up' : 'down'}`);
    },
    async remove() {
      for (const namespace of namespaces) {
        // A deleted namespace releases its cable only after a while; a deleted cable is gone at once.
        await ip(`-n ${namespace} link delete bridge`).catch(() => {});
        await ip(`netns delete ${namespace}`);
      }
      await ip(`link delete ${bridge}`);
    },
  };
}

/** Two clusters, even of different processes, must not share a network; 169.254.71 to 73 are the embedded lab's. */
function freeLinkLocalNet(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  for (let attempt = 0; attempt < 150; attempt += 1) {
    const net = `169.254.${80 + ((process.pid + bridges * 37 + attempt) % 150)}`;
    if (!addresses.some(({ address }) => address.startsWith(`${net}.`))) return net;
  }
  throw new Error('No free link-local net is left for a cluster: end what uses them.');
}

async function ip(command: string): Promise<void> {
  await run('ip', command.split(' '));
}

type Tls = { flags: Record<string, string>; client: ClientFiles };

async function makeTls(folder: string, options: true | { name: string }): Promise<Tls> {
  const authority = await makeAuthority(folder, 'authority');
  const server = await authority.issue('etcd', options === true ? '127.0.0.1' : options.name);
  const client = await authority.issue('client', 'client');
  return {
    flags: {
      'cert-file': server.certificatePath,
      'key-file': server.keyPath,
      'trusted-ca-file': authority.caPath,
      'client-cert-auth': 'true',
    },
    client: { caPath: authority.caPath, ...client },
  };
}

const rootPassword = 'the password of root';

/** Requires passwords from now on. */
async function enableAuth(
  endpoints: readonly string[],
  folder: string,
  tls: ClientFiles | undefined,
  { prefix }: { prefix: string },
): Promise<Account> {
  const [user, password] = ['ppsgate', 'the password of ppsgate'];
  const files =
    tls === undefined ? [] : [`--cacert=${tls.caPath}`, `--cert=${tls.certificatePath}`, `--key=${tls.keyPath}`];
  const etcdctl = async (...words: string[]) => {
    const all = [`--endpoints=${endpoints.join()}`, '--command-timeout=60s', ...files, ...words];
    while (!(await run('etcdctl', all).then(() => true, isDoneAlready)));
  };
  await etcdctl('user', 'add', 'root', `--new-user-password=${rootPassword}`);
  await etcdctl('user', 'add', user, `--new-user-password=${password}`);
  await etcdctl('role', 'add', user);
  await etcdctl('role', 'grant-permission', user, '--prefix=true', 'readwrite', prefix);
  await etcdctl('user', 'grant-role', user, user);
  await etcdctl('auth', 'enable');
  const passwordPath = join(folder, 'password');
  writeFileSync(passwordPath, `${password}\n`, { mode: 0o600 });
  return { user, passwordPath };
}

/** A starved etcd sometimes reports a change as failed but has made it. False if the change must be repeated. */
function isDoneAlready(error: Error & { stderr?: string }): boolean {
  const { stderr = '' } = error;
  if (stderr.includes('already exists')) return true;
  if (stderr.includes('timed out') || stderr.includes('deadline exceeded')) return false;
  throw error;
}

/** A thread that still runs while the others are stopped may reply. */
function stopWhole(child: ChildProcess): void {
  child.kill('SIGSTOP');
  const tasks = `/proc/${child.pid}/task`;
  // In proc_pid_stat(5), the name in parentheses precedes the state.
  const isStopped = (thread: string) =>
    / T [^)]*$/.test(readFileSync(join(tasks, thread, 'stat'), 'utf8').replace(/.*\)/s, ')'));
  while (!readdirSync(tasks).every(isStopped));
}
