// Bounds the relay's open connections: beyond the bounds, the oldest one without a whole request is closed.
import type { IncomingMessage } from 'node:http';
import { isIPv6, type Socket } from 'node:net';

export type ConnectionLimits = {
  connections: number;
  connectionsPerNetwork: number;
};

type Connection = { network: string; request?: IncomingMessage };

/** A client that sends its request at once outlives any number of idle connections that were opened before it. */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Oldest first. */
  readonly #open = new Map<Socket, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Returns the connection to close, if there are too many now; it may be the new one. */
  add(socket: Socket): Socket | undefined {
    const network = networkOf(socket.remoteAddress ?? '');
    this.#open.set(socket, { network });
    socket.once('close', () => this.#open.delete(socket));
    const ofNetwork = [...this.#open].filter(([, one]) => one.network === network);
    if (ofNetwork.length > this.#limits.connectionsPerNetwork) return this.#takeOldest(ofNetwork);
    if (this.#open.size > this.#limits.connections) return this.#takeOldest([...this.#open]);
    return undefined;
  }

  /** A connection whose request is complete is being answered, and is not closed for others. */
  setRequest(socket: Socket, request: IncomingMessage): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.request = request;
  }

  #takeOldest(candidates: readonly (readonly [Socket, Connection])[]): Socket | undefined {
    const [oldest] = candidates.find(([, { request }]) => request?.complete !== true) ?? [];
    if (oldest !== undefined) this.#open.delete(oldest);
    return oldest;
  }
}

/** Returns the addresses that one host can choose from: of IPv6 the first 64 bits (RFC 7421). */
export function networkOf(address: string): string {
  if (!isIPv6(address) || /^::ffff:/i.test(address)) return address;
  const [head, tail] = address
    .replace(/%.*/, '')
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const missing = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  const zeros = Array.from({ length: missing }, () => '0');
  return [...(head ?? []), ...zeros, ...(tail ?? [])].slice(0, 4).join(':');
}
