// A machine's sshd: a real ssh server that runs while the machine is up. Lost uploads, and the silence of a machine that
// does not reply, are only in direct-host.ts.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import type { Deps, Machine } from './machine.ts';
import type { Ending } from './process.ts';
import { serveSftp } from './sftp.ts';

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
  /** Public half of the only key that root may use, in OpenSSH's format. */
  userPublicKey: string;
  execute(execution: Execution): Promise<Ending>;
};

export const isListening = ({ stage, isCutOff }: Machine): boolean =>
  (stage === 'up' || stage === 'shutting-down') && !isCutOff;

export type Sshd = { host: string; port: number; stop(): Promise<void> };

/**
 * Listens on a private address, which is the same across reboots. A machine that is off, hangs or is cut off refuses
 * connections, while a real one would not reply at all.
 */
export async function startSshd(options: SshdOptions): Promise<Sshd> {
  const { machine, deps } = options;
  const host = loopbackAddress();
  const sockets = new Set<Socket>();
  const server = new ssh2.Server({ hostKeys: [options.hostKey] }, (connection) => serveConnection(connection, options));
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    deps.clock.touch();
    server.injectSocket(socket);
  });
  listener.on('error', () => {});
  listener.listen(0, host);
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const loseAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const follow = () => {
    if (isListening(machine)) {
      if (!listener.listening) listener.listen(port, host);
      return;
    }
    if (listener.listening) listener.close();
    loseAll();
  };
  machine.watchers.add(follow);
  return {
    host,
    port,
    async stop() {
      machine.watchers.delete(follow);
      if (listener.listening) listener.close();
      loseAll();
    },
  };
}

/** A private port: it stays reserved while the machine is down. */
function loopbackAddress(): string {
  const byte = () => 1 + Math.floor(Math.random() * 253);
  return `127.${byte()}.${byte()}.${byte()}`;
}

function serveConnection(connection: Connection, options: SshdOptions): void {
  const allowed = ssh2.utils.parseKey(options.userPublicKey);
  if (allowed instanceof Error) throw allowed;
  const release = options.deps.clock.hold();
  connection.on('error', () => {});
  connection.on('close', release);
  connection.on('ready', release);
  connection.on('authentication', (context) => {
    if (context.method !== 'publickey' || context.username !== 'root') {
      return context.reject(['publickey']);
    }
    const { key, signature, blob, hashAlgo } = context;
    // A request without a signature only probes the key.
    const isProven =
      signature === undefined || blob === undefined || allowed.verify(blob, signature, hashAlgo) === true;
    if (allowed.getPublicSSH().equals(key.data) && isProven) context.accept();
    else context.reject(['publickey']);
  });
  connection.on('session', (accept) => {
    const session = accept();
    session.on('exec', (acceptCommand, _, { command }) => void serveCommand(acceptCommand(), command, options));
    session.on('subsystem', (acceptSftp) => serveSftp(acceptSftp(), options.machine.files));
  });
}

async function serveCommand(channel: ServerChannel, line: string, { execute, deps }: SshdOptions): Promise<void> {
  const unheard = new AbortController();
  deps.clock.touch();
  // Without a reason Node makes an exception with its stack, for every command.
  channel.on('close', () => unheard.abort('closed'));
  channel.on('error', () => {});
  const stdin = readAll(channel);
  const write = (stream: NodeJS.WritableStream) => (text: string | Uint8Array) => {
    if (!unheard.signal.aborted) stream.write(text);
  };
  const ending = await execute({
    line,
    stdin: () => stdin,
    say: write(channel),
    complain: write(channel.stderr),
    unheard: unheard.signal,
  });
  deps.clock.touch();
  if (unheard.signal.aborted) return;
  if (ending.kind === 'exited') channel.exit(ending.code);
  else channel.exit(ending.signal);
  channel.end();
}

export function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    for (const end of ['end', 'close']) stream.on(end, () => resolve(Buffer.concat(chunks)));
  });
}
