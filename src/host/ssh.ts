// Runs commands and lays files on another machine over ssh.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Client, ClientChannel, ConnectConfig, ParsedKey, SFTPWrapper } from 'ssh2';
import {
  algorithmsFor,
  checkHostKey,
  fingerprint,
  type HostKeyVerdict,
  type KnownHosts,
  keyType,
  parseKnownHosts,
} from './known-hosts.ts';
import { type Command, commandText } from './shell.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
  /** Whose login shell has to be a POSIX shell. */
  readonly user: string;
  /** The text of an unencrypted key, in OpenSSH's or PEM format. */
  readonly privateKey?: string;
  /** Whether to log in with the keys of the agent at SSH_AUTH_SOCK. */
  readonly agent?: boolean;
  /** The text of a known_hosts file: a host that is not in it is refused. */
  readonly knownHosts: string;
  /** How people call the machine: `DUT`, `hp-t540`. */
  readonly label?: string;
}

export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** For all of it, from the first packet to the login; 20 when absent. */
  readonly timeoutSeconds?: number;
  /**
   * How often to ask an otherwise silent host for a sign of life; 0.5 when absent, 0 for never. A host is
   * lost when it owes `keepaliveCount` (3) answers: give a DUT that is deaf while packets flow more time.
   */
  readonly keepaliveSeconds?: number;
  readonly keepaliveCount?: number;
}

export interface Limits {
  readonly signal?: AbortSignal;
  /** Without it a task may take as long as the connection lives. */
  readonly timeoutSeconds?: number;
}

export interface OutputOptions extends Limits {
  /** What the command reads: without it an end of file, with a stream all of it, as it comes. */
  readonly stdin?: string | Uint8Array | Readable;
  /** More bytes on stdout or stderr than this end the command; 64 MiB when absent. */
  readonly maxOutputBytes?: number;
}

export interface RunOptions extends OutputOptions {
  /** Takes stdout as it comes, whatever its size; the outcome's `stdout` is then empty. */
  readonly onStdout?: (chunk: Uint8Array) => void;
}

/** How a command ended: by itself, or by a signal such as `SIGKILL`. */
export type Outcome =
  | {
      readonly kind: 'exited';
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    }
  | {
      readonly kind: 'signaled';
      readonly signal: string;
      readonly stdout: string;
      readonly stderr: string;
    };

/**
 * A machine one is logged in to. Tasks may overlap; five go on at once, more wait for their turn.
 * A task that is cut short by its limits loses its session, and sshd tells the command nothing of it: one
 * that could go on in silence is to be started under timeout(1).
 */
export interface Host extends AsyncDisposable {
  readonly name: string;
  /** Answers how the command ended; throws a HostError when that cannot be known. */
  run(command: Command, options?: RunOptions): Promise<Outcome>;
  /** The stdout of a command that exits with 0; throws a HostError for any other. */
  output(command: Command, options?: OutputOptions): Promise<string>;
  /** Lays bytes, or the local file at a path, on the host: all of it at once or not at all. */
  upload(
    source: Uint8Array | string,
    remotePath: string,
    mode: number,
    limits?: Limits,
  ): Promise<void>;
  /** Ends the connection and what still runs over it. */
  close(): Promise<void>;
}

export type HostFailure =
  | 'unreachable'
  | 'host-key'
  | 'login'
  | 'lost'
  | 'timeout'
  | 'aborted'
  | 'session-refused'
  | 'too-much-output'
  | 'command-failed'
  | 'upload-failed';

/** What went wrong between us and a host, in a sentence that names the host and what it was to do. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly kind: HostFailure;

  constructor(kind: HostFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Logs in to a host whose key is known; throws a HostError when that does not succeed. */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Host> {
  const name = nameOf(target);
  // ssh2 is big, and CommonJS: its names are sure to be found on the default export alone.
  const { default: ssh2 } = await import('ssh2');
  const credentials = credentialsOf(target, name, ssh2.utils.parseKey);
  const task = { name, what: 'the login', timeoutSeconds: 20, ...options };
  const connection = await withinLimits(task, async (stop) => {
    const socket = await dial(target, name, stop.signal);
    const config = { ...credentials, ...keepaliveOf(options), sock: socket };
    return await logIn(new ssh2.Client(), socket, target, name, config);
  });
  const close = () => closeConnection(connection);
  return {
    name,
    run: (command, options = {}) => run(connection, command, options),
    output: (command, options = {}) => output(connection, command, options),
    upload: (source, remotePath, mode, limits = {}) =>
      upload(connection, source, remotePath, mode, limits),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Connection {
  readonly name: string;
  readonly client: Client;
  readonly socket: Socket;
  /** Aborted when the connection is over, with an Error that says why. */
  readonly over: AbortController;
  readonly inTurn: Turns;
}

// sshd allows 10 sessions (MaxSessions) and counts a closed one until it has cleaned up after it.
const sessionsAtOnce = 5;

// --- Logging in ---

function nameOf({ host, port, label }: Target): string {
  return label === undefined ? `${host}:${port}` : `${label} (${host}:${port})`;
}

type Credentials = Pick<ConnectConfig, 'username' | 'privateKey' | 'agent'>;

function credentialsOf(
  { user, privateKey, agent }: Target,
  name: string,
  parseKey: typeof import('ssh2').utils.parseKey,
): Credentials {
  const agentSocket = agent === true ? process.env.SSH_AUTH_SOCK : undefined;
  if (privateKey === undefined && agentSocket === undefined) {
    const missing = agent === true ? 'the environment has no SSH_AUTH_SOCK' : 'there is no key';
    throw new HostError(
      'login',
      `Cannot log in to ${name} because ${missing}; give a private key or start an agent.`,
    );
  }
  const wrong = privateKey === undefined ? undefined : whyUnfit(parseKey(privateKey));
  if (wrong !== undefined) {
    throw new HostError(
      'login',
      `The private key for ${name} cannot be used (${wrong}); give the whole text of an unencrypted one.`,
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

async function dial({ host, port }: Target, name: string, stop: AbortSignal): Promise<Socket> {
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

function logIn(
  client: Client,
  socket: Socket,
  target: Target,
  name: string,
  config: ConnectConfig,
): Promise<Connection> {
  const known = parseKnownHosts(target.knownHosts);
  const algorithms = algorithmsFor(known.entries, target);
  const over = new AbortController();
  let refusal: HostError | undefined;
  let agentFailure: Error | undefined;
  return new Promise((resolve, reject) => {
    const end = (error: Error) => {
      over.abort(error);
      reject(refusal ?? loginError(error, name, target.user));
      socket.destroy();
    };
    client.on('ready', () =>
      resolve({ name, client, socket, over, inTurn: turns(sessionsAtOnce) }),
    );
    client.on('error', (error) => {
      // An agent that fails is no end: other keys may still be tried.
      if (error.level === 'agent') agentFailure = error;
      else end(error.level === 'client-authentication' ? (agentFailure ?? error) : error);
    });
    client.on('close', () => end(new Error('the other side closed the connection')));
    client.connect({
      ...config,
      readyTimeout: 0,
      ...(algorithms.length > 0 ? { algorithms: { serverHostKey: algorithms } } : {}),
      hostVerifier: (key: Buffer) => {
        const verdict = checkHostKey(known.entries, target, key);
        refusal = refusalOf(verdict, key, known.ignored, target, name);
        return verdict.kind === 'known';
      },
    });
  });
}

function refusalOf(
  verdict: HostKeyVerdict,
  key: Buffer,
  ignored: KnownHosts['ignored'],
  { host, port }: Target,
  name: string,
): HostError | undefined {
  const shown = `${name} shows the ${keyType(key)} key ${fingerprint(key)}`;
  switch (verdict.kind) {
    case 'known':
      return undefined;
    case 'unknown': {
      const unused = ignored.map(({ line, reason }) => ` (line ${line} is ignored: ${reason})`);
      return new HostError(
        'host-key',
        `${shown}, but its known hosts have no line for it${unused.join('')}; compare the fingerprint on the machine itself, then add what "ssh-keyscan -p ${port} ${host}" prints.`,
      );
    }
    case 'changed': {
      const expected = verdict.expected.map((one) => `${one.fingerprint} (line ${one.line})`);
      return new HostError(
        'host-key',
        `${shown}, but its known hosts have ${expected.join(' and ')}; another machine may be answering, so replace the line only when you know why the key changed.`,
      );
    }
    case 'revoked':
      return new HostError(
        'host-key',
        `${shown}, which line ${verdict.line} of its known hosts revokes; give the machine a new host key.`,
      );
  }
}

function loginError(error: Error & { level?: string }, name: string, user: string): HostError {
  if (error.level === 'agent') {
    return new HostError(
      'login',
      `Cannot log in to ${name} with the agent: ${reasonOf(error)}; check that it runs at SSH_AUTH_SOCK and holds the key.`,
      { cause: error },
    );
  }
  if (error.level === 'client-authentication') {
    return new HostError(
      'login',
      `${name} refuses to let ${user} in with the key given; add its public half to the authorized_keys of ${user} there.`,
      { cause: error },
    );
  }
  if (error.message.includes('no matching host key format')) {
    return new HostError(
      'host-key',
      `${name} has no key of a type that its known hosts have; find out why it changed before you add the new one.`,
      { cause: error },
    );
  }
  return new HostError(
    'lost',
    `${name} ended the login: ${reasonOf(error)}; check that sshd answers there, and its log.`,
    { cause: error },
  );
}

// --- Running commands ---

function run(connection: Connection, command: Command, options: RunOptions): Promise<Outcome> {
  const text = commandText(command);
  const task = { ...options, name: connection.name, what: `"${shortened(text)}"` };
  return withinLimits({ ...task, over: connection.over.signal }, (stop) => {
    stopWhenTorn(options.stdin, stop);
    const execution = { ...task, stop: stop.signal };
    return connection.inTurn(() => execute(connection.client, text, execution));
  });
}

async function output(
  connection: Connection,
  command: Command,
  options: OutputOptions,
): Promise<string> {
  const outcome = await run(connection, command, options);
  if (outcome.kind === 'exited' && outcome.code === 0) return outcome.stdout;
  const ending =
    outcome.kind === 'exited' ? `exited with ${outcome.code}` : `was ended by ${outcome.signal}`;
  const said = lastLine(outcome.stderr) ?? 'it said nothing on stderr';
  throw new HostError(
    'command-failed',
    `"${shortened(commandText(command))}" on ${connection.name} ${ending}: ${said}`,
  );
}

type Stdin = OutputOptions['stdin'];

/** From the start, while the command may still wait for its turn. */
function stopWhenTorn(stdin: Stdin, stop: AbortController): void {
  if (!(stdin instanceof Readable)) return;
  if (stdin.errored) stop.abort(stdin.errored);
  stdin.on('error', (error) => stop.abort(error));
}

interface Execution extends RunOptions, Session {}

function execute(client: Client, text: string, execution: Execution): Promise<Outcome> {
  return inSession<ClientChannel, Outcome>(
    execution,
    (opened) => client.exec(text, opened),
    (channel) => follow(channel, execution),
  );
}

async function follow(channel: ClientChannel, execution: Execution): Promise<Outcome> {
  const { stop, stdin, onStdout, maxOutputBytes = 64 * 1024 ** 2 } = execution;
  const stopped = rejectionOf(stop);
  try {
    // Both streams are read to their ends, else the channel never reports its own.
    const ended = Promise.all([
      endOf(channel),
      onStdout ? passOn(channel, onStdout) : collect(channel, 'stdout', maxOutputBytes, execution),
      collect(channel.stderr, 'stderr', maxOutputBytes, execution),
    ]);
    feed(channel, stdin);
    const [ending, stdout, stderr] = await Promise.race([ended, stopped]);
    if (ending.signal !== undefined)
      return { kind: 'signaled', signal: ending.signal, stdout, stderr };
    if (ending.code !== undefined) return { kind: 'exited', code: ending.code, stdout, stderr };
    throw new HostError(
      'lost',
      `${execution.name} ended ${execution.what} without saying how; check sshd's log there.`,
    );
  } finally {
    if (stdin instanceof Readable) stdin.unpipe(channel);
    channel.close();
  }
}

function feed(channel: ClientChannel, stdin: Stdin): void {
  if (stdin instanceof Readable) stdin.pipe(channel);
  else channel.end(stdin);
}

interface Ending {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

function endOf(channel: ClientChannel): Promise<Ending> {
  return new Promise((resolve, reject) => {
    channel.on('error', reject);
    channel.on('close', (code?: number | null, signal?: string) =>
      resolve({ code: code ?? undefined, signal }),
    );
  });
}

function passOn(stream: Readable, receive: (chunk: Uint8Array) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    stream.on('end', () => resolve(''));
    const take = (chunk: Buffer) => {
      try {
        receive(chunk);
      } catch (error) {
        stream.off('data', take).resume();
        reject(error);
      }
    };
    stream.on('data', take);
  });
}

function collect(
  stream: Readable,
  streamName: string,
  maxBytes: number,
  { name, what }: Execution,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    stream.on('end', () => resolve(Buffer.concat(chunks).toString()));
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else
        reject(
          new HostError(
            'too-much-output',
            `${what} on ${name} wrote more than ${maxBytes} bytes to ${streamName}; let it write less, or to a file.`,
          ),
        );
    });
  });
}

// --- Uploading ---

function upload(
  connection: Connection,
  source: Uint8Array | string,
  remotePath: string,
  mode: number,
  limits: Limits,
): Promise<void> {
  const what = `the upload of ${remotePath}`;
  const task = { ...limits, name: connection.name, what };
  return withinLimits({ ...task, over: connection.over.signal }, ({ signal: stop }) =>
    connection.inTurn(() =>
      inSession<SFTPWrapper, void>(
        { ...task, stop },
        (opened) => connection.client.sftp(opened),
        (sftp) => lay(sftp, source, remotePath, mode, stop),
      ),
    ),
  ).catch((error: unknown) => {
    if (error instanceof HostError) throw error;
    const from = typeof source === 'string' ? ` from ${source}` : '';
    throw new HostError(
      'upload-failed',
      `Cannot lay ${remotePath}${from} on ${connection.name}: ${reasonOf(error)}; check that both folders exist and that ours there can be written.`,
      { cause: error },
    );
  });
}

/** Under another name first, so that nobody meets half a file. */
async function lay(
  sftp: SFTPWrapper,
  source: Uint8Array | string,
  remotePath: string,
  mode: number,
  stop: AbortSignal,
): Promise<void> {
  const partial = `${remotePath}.${randomUUID()}.part`;
  const stopped = rejectionOf(stop);
  const broken = new Promise<never>((_, reject) => {
    sftp.on('error', reject);
    sftp.on('close', () => reject(new Error('the sftp session was closed')));
  });
  try {
    const steps = async () => {
      await done((callback) => send(sftp, source, partial, callback));
      await done((callback) => sftp.chmod(partial, mode, callback));
      await done((callback) => sftp.ext_openssh_rename(partial, remotePath, callback));
    };
    await Promise.race([steps(), stopped, broken]);
  } catch (error) {
    const removed = done((callback) => sftp.unlink(partial, callback));
    await Promise.race([removed, broken]).catch(() => {});
    throw error;
  } finally {
    sftp.end();
  }
}

type Callback = (error?: Error | null) => void;

function send(
  sftp: SFTPWrapper,
  source: Uint8Array | string,
  remotePath: string,
  callback: Callback,
): void {
  if (typeof source === 'string') {
    sftp.fastPut(source, remotePath, { mode: 0o600 }, callback);
    return;
  }
  // ssh2 takes only a Buffer for bytes, and prints whatever else it gets.
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  sftp.writeFile(remotePath, bytes, { mode: 0o600 }, callback);
}

function done(start: (callback: Callback) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

// --- Sessions and their ends ---

interface Session {
  readonly name: string;
  readonly what: string;
  readonly stop: AbortSignal;
}

function inSession<Channel, T>(
  { name, what, stop }: Session,
  open: (opened: (error: Error | undefined, channel: Channel) => void) => void,
  use: (channel: Channel) => Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) =>
      reject(
        new HostError(
          'session-refused',
          `${name} gives no session for ${what}: ${reasonOf(error)}; check MaxSessions and what still runs there.`,
          { cause: error },
        ),
      );
    try {
      // Used at once: the whole life of a short command may be in the packet that is being read.
      open((error, channel) => (error ? refuse(error) : resolve(use(channel))));
    } catch (error) {
      refuse(error);
    }
  });
}

type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so many pieces of work go on at once; the others wait, first come, first served. */
function turns(atOnce: number): Turns {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

async function closeConnection({ client, socket, over }: Connection): Promise<void> {
  over.abort(new Error('this side closed the connection'));
  if (socket.closed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // A host that reads no more would keep our last words waiting for ever.
  const impatience = setTimeout(() => socket.destroy(), 1000);
  client.end();
  socket.destroySoon();
  await closed;
  clearTimeout(impatience);
}

interface Task extends Limits {
  readonly name: string;
  readonly what: string;
  /** The connection's end. */
  readonly over?: AbortSignal;
}

/** Rejects as soon as the time is up, the caller aborts or the connection is over; `work` learns it by `stop`, and may stop itself. */
async function withinLimits<T>(
  task: Task,
  work: (stop: AbortController) => Promise<T>,
): Promise<T> {
  const { name, what, timeoutSeconds } = task;
  const stop = new AbortController();
  const finished = new AbortController();
  const stopWith = (kind: HostFailure, message: string, cause?: unknown) =>
    stop.abort(new HostError(kind, message, { cause }));
  const timeUp = () =>
    stopWith(
      'timeout',
      `Gave up on ${what} on ${name} after ${timeoutSeconds} s; check the machine, or allow more time.`,
    );
  whenAborted(task.over, finished.signal, (why) =>
    stopWith('lost', `Lost ${name} during ${what}: ${reasonOf(why)}; check that it is up.`, why),
  );
  whenAborted(task.signal, finished.signal, (why) =>
    stopWith('aborted', `Cancelled ${what} on ${name}.`, why),
  );
  const timer =
    timeoutSeconds === undefined ? undefined : setTimeout(timeUp, timeoutSeconds * 1000);
  try {
    stop.signal.throwIfAborted();
    return await Promise.race([rejectionOf(stop.signal), work(stop)]);
  } finally {
    clearTimeout(timer);
    finished.abort();
  }
}

function whenAborted(
  signal: AbortSignal | undefined,
  until: AbortSignal,
  act: (reason: unknown) => void,
): void {
  if (signal?.aborted) act(signal.reason);
  signal?.addEventListener('abort', () => act(signal.reason), { once: true, signal: until });
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

// --- Words for people: what a host says stays on one line and brings no control characters ---

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // Where a name has several addresses, Node's error has a code but no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  return oneLine(error.message);
}

function shortened(text: string): string {
  const line = oneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}

const lastLine = (text: string): string | undefined =>
  text.split('\n').map(oneLine).findLast(Boolean);

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
