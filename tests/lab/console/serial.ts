// A serial line on loopback: its output goes to the connected client.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface Serial extends AsyncDisposable {
  readonly port: number;
  print(text: string): void;
  /** Text typed there. */
  typed(): string;
  /** Resolves when a client is connected. */
  connected(): Promise<void>;
}

export async function startSerial(): Promise<Serial> {
  const sockets = new Set<Socket>();
  let typed = '';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      typed += chunk.toString();
    });
    socket.on('close', () => sockets.delete(socket));
    server.emit('listener');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    print(text) {
      for (const socket of sockets) socket.write(text);
    },
    typed: () => typed,
    async connected() {
      if (sockets.size === 0) await once(server, 'listener');
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
