// Speaks QEMU's control protocol over a socket: see its docs/interop/qmp-spec.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';

const reply = z.union([z.object({ return: z.unknown() }), z.object({ error: z.object({ desc: bounded.prose() }) })]);

type Qmp = Disposable & {
  /** Executes a command without arguments; throws with QEMU's message if QEMU refuses it. */
  execute(command: 'inject-nmi' | 'quit' | 'system_reset' | 'query-status'): Promise<unknown>;
};

export async function openQmp(path: string): Promise<Qmp> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  socket.on('error', () => {});
  const answer = async (): Promise<unknown> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('QEMU ended before it answered.');
      // Skips greetings and events, which arrive in between.
      const read = reply.safeParse(JSON.parse(value));
      if (!read.success) continue;
      if ('error' in read.data) throw new Error(`QEMU refused: ${read.data.error.desc}.`);
      return read.data.return;
    }
  };
  const overrides = (execute: string) => {
    socket.write(`${JSON.stringify({ execute })}\n`);
    return answer();
  };
  await overrides('qmp_capabilities');
  return {
    execute: overrides,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
