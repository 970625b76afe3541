// A machine's sshd: a real ssh server that runs while the machine is up, and is silent while the machine does not
// reply.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type ParsedKey, type ServerChannel, type Session } from 'ssh2';
import { type Deps, isDeaf, type Machine } from './machine.ts';
import type { Ending } from './process.ts';
import { type OnWrite, serveSftp } from './sftp.ts';

/** Context of a command; `say` and `complain` write to stdout and stderr. */
export type Execution = {
  line: string;
  stdin: () => Promise<Buffer>;
  say: (text: string | Uint8Array) => void;
  complain: (text: string) => void;
  /** Aborted once the output has no reader: the command's next write kills it. */
  unheard: AbortSignal;
};

export type SshdOptions = {
  machine: Machine;
  deps: Deps;
  hostKey: string;
  /**
   * Whether QEMU's own network has the address, and accepts every connection. While the guest boots, it resets one and
   * leaves the next without a reply until a timeout; otherwise it closes those that the guest does not accept.
   */
  isForwarded?: boolean;
  /** Public half of the only key that root may use, in OpenSSH's format. */
  userPublicKey: string;
  execute(execution: Execution): Promise<Ending>;
  /** Called with every byte of an upload; false breaks the connection. */
  beginUpload(): OnWrite;
};

export const isListening = ({ stage, isCutOff }: Machine): boolean =>
  (stage === 'up' || stage === 'shutting-down') && !isCutOff;

export type Sshd = { host: string; port: number; stop(): Promise<void> };

/**
 * Listens on a private address, which is the same across reboots. A machine that is off, hangs or is cut off refuses
 * connections, while a real one would not reply at all.
 */
export async function startSshd(options: SshdOptions): Promise<Sshd> {
  const { machine, deps, isForwarded = false } = options;
  const host = loopbackAddress();
  const sockets = new Set<Socket>();
  const asleep = new Set<Socket>();
  const holds = new Set<() => void>();
  const queue: (() => void)[] = [];
  let port = 0;

  const whenAwake = (act: () => void) => void (isDeaf(machine) ? queue.push(act) : act());
  const hold = () => {
    const release = deps.clock.hold();
    holds.add(release);
    return () => {
      release();
      holds.delete(release);
    };
  };

  const server = new ssh2.Server({ hostKeys: [options.hostKey] }, (connection) =>
    serveConnection(connection, options, { whenAwake, hold, loseAll }),
  );
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    writeTogether(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      asleep.delete(socket);
    });
    deps.clock.touch();
    if (isForwarded && !isListening(machine)) return void forward(socket);
    whenAwake(() => {
      if (socket.destroyed) return;
      server.injectSocket(socket);
    });
  });

  let forwarded = 0;
  async function forward(socket: Socket): Promise<void> {
    if (machine.stage !== 'booting') return void socket.destroy();
    forwarded += 1;
    const left = new AbortController();
    socket.on('close', () => left.abort());
    const { signal } = left;
    if (forwarded % 2 === 0) await deps.clock.sleep(silentSeconds, { signal, pace: 'idle' });
    socket.resetAndDestroy();
  }

  function loseAll(isSudden: boolean): void {
    queue.length = 0;
    for (const socket of sockets) {
      if (isSudden) socket.resetAndDestroy();
      else {
        socket.uncork();
        socket.destroy();
      }
    }
  }

  const follow = () => {
    if (!isListening(machine)) {
      if (listener.listening && !isForwarded) listener.close();
      loseAll(machine.stage !== 'booting');
      return;
    }
    if (!listener.listening) listener.listen(port, host);
    if (isDeaf(machine)) {
      for (const release of holds) release();
      for (const socket of sockets) asleep.add(socket.pause());
      return;
    }
    for (const socket of asleep) socket.resume();
    asleep.clear();
    for (const act of queue.splice(0)) act();
  };

  listener.on('error', () => {});
  listener.listen(0, host);
  await once(listener, 'listening');
  port = (listener.address() as AddressInfo).port;
  machine.watchers.add(follow);
  return {
    host,
    port,
    async stop() {
      machine.watchers.delete(follow);
      if (listener.listening) listener.close();
      loseAll(false);
    },
  };
}

/**
 * ssh2 writes each packet separately. All packets of a short command share one turn of the event loop, and so one
 * system call here.
 */
function writeTogether(socket: Socket): void {
  const write = socket.write.bind(socket);
  let isWaiting = false;
  const waitAndWrite = (data: Uint8Array) => {
    if (!isWaiting) {
      isWaiting = true;
      socket.cork();
      setImmediate(() => {
        isWaiting = false;
        socket.uncork();
      });
    }
    return write(data);
  };
  Object.assign(socket, { write: waitAndWrite });
}

/** Silence before QEMU's network gives up a connection. */
const silentSeconds = 20;

/** A private port: it stays reserved while the machine is down. */
function loopbackAddress(): string {
  const byte = () => 1 + Math.floor(Math.random() * 253);
  return `127.${byte()}.${byte()}.${byte()}`;
}

type Means = {
  whenAwake: (act: () => void) => void;
  hold: () => () => void;
  loseAll: (isSudden: boolean) => void;
};

function serveConnection(connection: Connection, options: SshdOptions, means: Means): void {
  const allowed = ssh2.utils.parseKey(options.userPublicKey);
  if (allowed instanceof Error) throw allowed;
  const release = means.hold();
  connection.on('error', () => {});
  connection.on('close', release);
  connection.on('ready', release);
  connection.on('authentication', (context) => {
    if (context.method !== 'publickey' || context.username !== 'root') {
      return context.reject(['publickey']);
    }
    const { key, signature, blob, hashAlgo } = context;
    if (isRight(allowed, key.data, { signature, blob, hashAlgo })) context.accept();
    else context.reject(['publickey']);
  });
  connection.on('session', (accept) => {
    options.deps.clock.touch();
    serveSession(accept(), options, means);
  });
}

type Proof = {
  signature: Buffer | undefined;
  blob: Buffer | undefined;
  hashAlgo: string | undefined;
};

/** A request without a signature only probes the key. */
function isRight(allowed: ParsedKey, key: Buffer, { signature, blob, hashAlgo }: Proof): boolean {
  if (!allowed.getPublicSSH().equals(key)) return false;
  if (signature === undefined || blob === undefined) return true;
  return allowed.verify(blob, signature, hashAlgo) === true;
}

function serveSession(session: Session, options: SshdOptions, means: Means): void {
  session.on('exec', (accept, _, { command }) => {
    void serveCommand(accept(), command, options, means);
  });
  session.on('subsystem', (accept, reject, { name }) => {
    if (name !== 'sftp') return reject();
    const channel = accept();
    channel.on('close', means.hold());
    const onWrite = options.beginUpload();
    serveSftp(channel, options.machine.files, (bytes) => {
      const goesOn = onWrite(bytes);
      if (!goesOn) means.loseAll(true);
      return goesOn;
    });
  });
}

async function serveCommand(
  channel: ServerChannel,
  line: string,
  { execute, deps }: SshdOptions,
  { whenAwake }: Means,
): Promise<void> {
  const unheard = new AbortController();
  deps.clock.touch();
  // Without a reason Node makes an exception with its stack, for every command.
  channel.on('close', () => unheard.abort('closed'));
  channel.on('error', () => {});
  const stdin = readAll(channel);
  const write = (stream: NodeJS.WritableStream) => (text: string | Uint8Array) =>
    whenAwake(() => {
      if (!unheard.signal.aborted) stream.write(text);
    });
  const ending = await execute({
    line,
    stdin: () => stdin,
    say: write(channel),
    complain: write(channel.stderr),
    unheard: unheard.signal,
  });
  deps.clock.touch();
  whenAwake(() => {
    if (unheard.signal.aborted) return;
    if (ending.kind === 'exited') channel.exit(ending.code);
    else channel.exit(ending.signal);
    channel.end();
  });
}

function readAll(channel: ServerChannel): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    channel.on('data', (chunk: Buffer) => chunks.push(chunk));
    channel.on('end', () => resolve(Buffer.concat(chunks)));
    channel.on('close', () => resolve(Buffer.concat(chunks)));
  });
}
