// Logs in to a machine: connects, checks its key, and authenticates.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { ConnectConfig } from 'ssh2';
import { reasonOf } from '../../model/one-line.ts';
import { semaphore } from '../semaphore.ts';
import { type Connection, sessionsAtOnce } from './connection.ts';
import { HostError } from './host-error.ts';
import {
  algorithmsFor,
  checkHostKey,
  fingerprint,
  type HostKeyVerdict,
  keyType,
  parseKnownHosts,
} from './known-hosts.ts';
import { withinLimits } from './limits.ts';

export type SshTarget = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Text of an unencrypted key, in OpenSSH's or PEM format. */
  readonly privateKey?: string;
  readonly agent?: boolean;
  /** Refuses any host that this known_hosts file lacks. */
  readonly knownHosts: string;
  readonly label?: string;
};

export type ConnectOptions = {
  readonly signal?: AbortSignal;
  /** Time limit from the first packet to the end of the login. Absent: 20. */
  readonly timeoutSeconds?: number;
  /**
   * Seconds between keepalives to a silent host. Absent: 0.5; 0: none. A host is lost after `keepaliveCount` (3)
   * missing replies. Allow more time for a DUT that does not reply under load.
   */
  readonly keepaliveSeconds?: number;
  readonly keepaliveCount?: number;
};

/** Throws a HostError if the host is unreachable, its key is unknown, or it refuses the login. */
export async function logIn(target: SshTarget, options: ConnectOptions): Promise<Connection> {
  const name = nameOf(target);
  // ssh2 is large, and CommonJS: only its default export reliably has all names.
  const { default: ssh2 } = await import('ssh2');
  const credentials = credentialsOf(target, name, ssh2.utils.parseKey);
  const task = { name, what: 'the login', timeoutSeconds: 20, ...options };
  const { keepaliveSeconds = 0.5, keepaliveCount = 3 } = options;
  const keepalive = { keepaliveInterval: keepaliveSeconds * 1000, keepaliveCountMax: keepaliveCount };
  return await withinLimits(task, async (stop) => {
    const socket = await dial(target, name, stop.signal);
    const inTurn = semaphore(sessionsAtOnce);
    const connection = { name, client: new ssh2.Client(), socket, over: new AbortController(), inTurn };
    return await authenticate(connection, target, { ...credentials, ...keepalive });
  });
}

function nameOf({ host, port, label }: SshTarget): string {
  return label === undefined ? `${host}:${port}` : `${label} (${host}:${port})`;
}

type Credentials = Pick<ConnectConfig, 'username' | 'privateKey' | 'agent'>;

function credentialsOf(
  { user, privateKey, agent }: SshTarget,
  name: string,
  parseKey: typeof import('ssh2').utils.parseKey,
): Credentials {
  const agentSocket = agent === true ? process.env.SSH_AUTH_SOCK : undefined;
  if (privateKey === undefined && agentSocket === undefined) {
    const missing = agent === true ? 'the environment has no SSH_AUTH_SOCK' : 'there is no key';
    throw new HostError('login', `Cannot log in to ${name}: ${missing}.`);
  }
  const key = privateKey === undefined ? undefined : parseKey(privateKey);
  if (key instanceof Error || key?.isPrivateKey() === false) {
    const why = key instanceof Error ? key.message : 'it is a public key';
    throw new HostError('login', `The private key for ${name} cannot be used: ${why}.`);
  }
  return {
    username: user,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(agentSocket === undefined ? {} : { agent: agentSocket }),
  };
}

async function dial({ host, port }: SshTarget, name: string, stop: AbortSignal): Promise<Socket> {
  const socket = createConnection({ host, port, noDelay: true });
  stop.addEventListener('abort', () => socket.destroy(), { once: true });
  try {
    await once(socket, 'connect', { signal: stop });
    return socket;
  } catch (error) {
    throw new HostError('unreachable', `Cannot reach ${name}: ${reasonOf(error)}.`, { cause: error });
  }
}

function authenticate(connection: Connection, target: SshTarget, config: ConnectConfig): Promise<Connection> {
  const { name, client, socket, over } = connection;
  const known = parseKnownHosts(target.knownHosts);
  const algorithms = algorithmsFor(known, target);
  let refusal: HostError | undefined;
  let agentFailure: Error | undefined;
  return new Promise((resolve, reject) => {
    const end = (error: Error) => {
      over.abort(error);
      reject(refusal ?? loginError(error, name, target.user));
      socket.destroy();
    };
    client.on('ready', () => resolve(connection));
    client.on('error', (error) => {
      // Continues with other keys when the agent fails.
      if (error.level === 'agent') agentFailure = error;
      else end(error.level === 'client-authentication' ? (agentFailure ?? error) : error);
    });
    client.on('close', () => end(new Error('the other side closed the connection')));
    client.connect({
      ...config,
      sock: socket,
      readyTimeout: 0,
      ...(algorithms.length > 0 ? { algorithms: { serverHostKey: algorithms } } : {}),
      hostVerifier: (key: Buffer) => {
        const verdict = checkHostKey(known, target, key);
        refusal = hostKeyError(verdict, key, name);
        return verdict.kind === 'known';
      },
    });
  });
}

function hostKeyError(verdict: HostKeyVerdict, key: Buffer, name: string): HostError | undefined {
  const shown = `${name} shows the ${keyType(key)} key ${fingerprint(key)}`;
  switch (verdict.kind) {
    case 'known':
      return undefined;
    case 'unknown':
      return new HostError('host-key', `${shown}, which its known hosts file lacks: compare it on the machine itself.`);
    case 'changed':
      return new HostError('host-key', `${shown}, but its known hosts file has ${verdict.expected.join(' and ')}.`);
    case 'revoked':
      return new HostError('host-key', `${shown}, which its known hosts file revokes.`);
  }
}

/** The `level` of ssh2's error names the stage of the login. */
function loginError(error: Error & { level?: string }, name: string, user: string): HostError {
  const cause = { cause: error };
  if (error.level === 'agent') {
    return new HostError(
      'login',
      `Cannot log in to ${name} with the agent at SSH_AUTH_SOCK: ${reasonOf(error)}.`,
      cause,
    );
  }
  if (error.level === 'client-authentication') {
    const advice = `add its public half to the authorized_keys of ${user} there`;
    return new HostError('login-refused', `${name} refused the login of ${user} with this key: ${advice}.`, cause);
  }
  if (error.message.includes('no matching host key format')) {
    return new HostError('host-key', `${name} has no key of a type in its known hosts file.`, cause);
  }
  return new HostError('lost', `${name} ended the login: ${reasonOf(error)}.`, cause);
}
