// Limits the relay's open connections: beyond the limits, it closes the oldest one without a complete request.
import type { IncomingMessage } from 'node:http';
import { isIPv6, type Socket } from 'node:net';

export type ConnectionLimits = {
  connections: number;
  connectionsPerNetwork: number;
};

type Connection = { network: string; request?: IncomingMessage };

/** Tracks open connections. A client that sends its request at once outlives all idle connections opened before it. */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Oldest first. */
  readonly #open = new Map<Socket, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Returns the connection to close if there are too many; it may be the new one. */
  add(socket: Socket): Socket | undefined {
    const network = networkOf(socket.remoteAddress ?? '');
    this.#open.set(socket, { network });
    socket.once('close', () => this.#open.delete(socket));
    const ofNetwork = [...this.#open].filter(([, one]) => one.network === network);
    if (ofNetwork.length > this.#limits.connectionsPerNetwork) return this.#takeOldest(ofNetwork);
    if (this.#open.size > this.#limits.connections) return this.#takeOldest([...this.#open]);
    return undefined;
  }

  /** A connection with a complete request is being answered, so it is never closed for another one. */
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

/** Returns the network of addresses that one host can choose from: for IPv6, the first 64 bits (RFC 7421). */
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
