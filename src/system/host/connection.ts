// A connection to a host: its sessions, a few at a time, and its end.
import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { reasonOf } from '../../model/one-line.ts';
import { type Semaphore, semaphore } from '../semaphore.ts';
import { HostError } from './host-error.ts';

export type Connection = {
  readonly name: string;
  readonly client: Client;
  readonly socket: Socket;
  /** Aborted when the connection is over, with an Error that says why. */
  readonly over: AbortController;
  readonly inTurn: Semaphore;
};

export type SshSession = {
  readonly name: string;
  readonly what: string;
  readonly stop: AbortSignal;
};

/** `client` may have its login still before it. */
export function connectionOn(name: string, client: Client, socket: Socket): Connection {
  return { name, client, socket, over: new AbortController(), inTurn: semaphore(sessionsAtOnce) };
}

// sshd allows 10 sessions (MaxSessions) and counts a closed one until it has cleaned up after it.
const sessionsAtOnce = 5;

/** Opens a session and uses it; throws a HostError where the host gives none. */
export function inSession<Channel, T>(
  { name, what, stop }: SshSession,
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

/** Ends what still runs over it, too. */
export async function closeConnection({ client, socket, over }: Connection): Promise<void> {
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
