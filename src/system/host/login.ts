// Logs in to a machine: connects, checks its key, and authenticates.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { ConnectConfig, ParsedKey } from 'ssh2';
import { reasonOf } from '../../model/one-line.ts';
import { type Connection, connectionOn } from './connection.ts';
import { HostError } from './host-error.ts';
import { algorithmsFor, checkHostKey, parseKnownHosts } from './known-hosts.ts';
import { withinLimits } from './limits.ts';
import { hostKeyError, loginError } from './login-error.ts';

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
  return await withinLimits(task, async (stop) => {
    const socket = await dial(target, name, stop.signal);
    const connection = connectionOn(name, new ssh2.Client(), socket);
    return await authenticate(connection, target, { ...credentials, ...keepaliveOf(options) });
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
    throw new HostError(
      'login',
      `Cannot log in to ${name} because ${missing}; supply a private key or start an agent.`,
    );
  }
  const wrong = privateKey === undefined ? undefined : whyUnfit(parseKey(privateKey));
  if (wrong !== undefined) {
    throw new HostError(
      'login',
      `The private key for ${name} cannot be used (${wrong}); supply the whole text of an unencrypted one.`,
    );
  }
  return {
    username: user,
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(agentSocket === undefined ? {} : { agent: agentSocket }),
  };
}

function whyUnfit(key: ParsedKey | Error): string | undefined {
  if (key instanceof Error) return key.message;
  return key.isPrivateKey() ? undefined : 'it is a public key';
}

function keepaliveOf({ keepaliveSeconds = 0.5, keepaliveCount = 3 }: ConnectOptions) {
  return { keepaliveInterval: keepaliveSeconds * 1000, keepaliveCountMax: keepaliveCount };
}

async function dial({ host, port }: SshTarget, name: string, stop: AbortSignal): Promise<Socket> {
  const socket = createConnection({ host, port, noDelay: true });
  stop.addEventListener('abort', () => socket.destroy(), { once: true });
  try {
    await once(socket, 'connect', { signal: stop });
    return socket;
  } catch (error) {
    throw new HostError(
      'unreachable',
      `Cannot reach ${name}: ${reasonOf(error)}; check its address, that it is up, and that sshd listens there.`,
      { cause: error },
    );
  }
}

function authenticate(connection: Connection, target: SshTarget, config: ConnectConfig): Promise<Connection> {
  const { name, client, socket, over } = connection;
  const known = parseKnownHosts(target.knownHosts);
  const algorithms = algorithmsFor(known.entries, target);
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
        const verdict = checkHostKey(known.entries, target, key);
        refusal = hostKeyError(verdict, key, known.ignored, target, name);
        return verdict.kind === 'known';
      },
    });
  });
}
