// Manages the connection to a host: opens a few sessions at a time, and closes them all.
import type { Socket } from 'node:net';
import type { Client } from 'ssh2';
import { reasonOf } from '../../model/one-line.ts';
import type { Semaphore } from '../semaphore.ts';
import { HostError } from './host-error.ts';

export type Connection = {
  readonly name: string;
  /** May still be logging in. */
  readonly client: Client;
  readonly socket: Socket;
  /** Aborted when the connection ends, with an Error as its reason. */
  readonly over: AbortController;
  readonly inTurn: Semaphore;
};

export type SshSession = {
  readonly name: string;
  readonly what: string;
  readonly stop: AbortSignal;
};

// sshd allows 10 sessions (MaxSessions), and counts a closed one until its clean-up is done.
export const sessionsAtOnce = 5;

export function inSession<Channel, T>(
  { name, what, stop }: SshSession,
  open: (opened: (error: Error | undefined, channel: Channel) => void) => void,
  use: (channel: Channel) => Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      const why = `${name} refuses a session for ${what}: ${reasonOf(error)}.`;
      reject(new HostError('session-refused', why, { cause: error }));
    };
    try {
      // Uses the channel at once: the packet being read may hold the whole output of a short command.
      open((error, channel) => (error ? refuse(error) : resolve(use(channel))));
    } catch (error) {
      refuse(error);
    }
  });
}

/** Also ends running sessions. */
export async function closeConnection({ client, socket, over }: Connection): Promise<void> {
  over.abort(new Error('this side closed the connection'));
  if (socket.closed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // A host that no longer reads would delay our last bytes forever.
  const impatience = setTimeout(() => socket.destroy(), 1000);
  client.end();
  socket.destroySoon();
  await closed;
  clearTimeout(impatience);
}
