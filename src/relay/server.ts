// Receives webhooks of Herald and requests of Harbormaster, and replies once they are on disk.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { reasonOf } from '../model/one-line.ts';
import { type ConnectionLimits, Connections } from './connections.ts';
import { checkAgent, readBuild, readWebhook } from './delivery.ts';
import type { Delivery, Inbox } from './inbox.ts';

export type RelayServerOptions = {
  host: string;
  /** Zero: any free port. */
  port: number;
  /** HMAC key of Herald's webhook. Absent or empty: no /webhook. */
  webhookKey?: string;
  /** `user:password` of Harbormaster. Absent or empty: no /build. */
  buildPassword?: string;
  inbox: Pick<Inbox, 'accept' | 'countPending'>;
  now(): Date;
  log(sentence: string): void;
  limits?: Limits;
};

/** Limits for a sender without key and password, in addition to the last 64 KiB, which are read at once. */
export type Limits = ConnectionLimits & {
  headerBytes: number;
  bodyBytes: number;
  seconds: number;
};

/** An edit has a few transactions; even a webhook with 700 fits into these 64 KiB. */
export const usualLimits: Limits = {
  headerBytes: 16 * 1024,
  bodyBytes: 48 * 1024,
  seconds: 5,
  connections: 256,
  // All connections through a reverse proxy count as one network.
  connectionsPerNetwork: 64,
};

export type RelayServer = AsyncDisposable & {
  port: number;
  /** Replies to complete requests, and closes all other connections. */
  close(): Promise<void>;
};

class RelayServerError extends Error {
  override readonly name = 'RelayServerError';
}

export async function startRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  const { host, port, now, log, limits = usualLimits } = options;
  let arrived = 0;
  const { accept, acceptAll } = together(options.inbox, () => arrived);
  const logRefusal = refusalLog(options);
  const routes = routesOf(options, limits.bodyBytes, accept, logRefusal);
  // Imported here, as it loads Node's whole fetch, and a gate starts no server.
  const { createServer } = await import('node:http');
  const server = createServer({ maxHeaderSize: limits.headerBytes });
  const connections = new Connections(limits);
  // Node would deliver all requests of one packet, but only the first gets a reply.
  server.maxRequestsPerSocket = 1;

  const handle = (request: IncomingMessage, goOn: () => void) => {
    const { socket } = request;
    connections.setRequest(socket, request);
    const route = routeOf(request, routes);
    if (route.kind === 'refused') return end(socket, route.reply, now());
    goOn();
    route
      .answer()
      .catch((error: unknown) => {
        log(`The relay answered a request with 500: ${reasonOf(error)}`);
        return replyOf(500, 'The relay cannot queue requests; see its log.');
      })
      .then((reply) => end(socket, reply, now()));
  };
  server.on('request', (request) => handle(request, () => {}));
  server.on('checkContinue', (request, response) => handle(request, () => response.writeContinue()));
  server.on('connection', (socket) => {
    arrived += 1;
    // Node checks its own limits only periodically.
    const late = replyOf(408, `The request was incomplete after ${limits.seconds} s.`);
    const deadline = setTimeout(() => end(socket, late, now()), limits.seconds * 1000);
    socket.once('close', () => clearTimeout(deadline));
    const surplus = connections.add(socket);
    if (surplus === undefined) return;
    logRefusal({ socket: surplus, headers: {} }, 'the oldest of too many open connections');
    end(surplus, replyOf(503, 'Too many connections are open, and this was the oldest.'), now());
  });
  server.on('clientError', (error, socket) => {
    if (socket instanceof Socket) end(socket, refusalOf(error, limits.headerBytes), now());
  });

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeOnce();
    return closing;
  };
  return { port: await listen(), close, [Symbol.asyncDispose]: close };

  async function closeOnce(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    acceptAll();
    // Writes the replies before the connections close.
    await nextTurn();
    server.closeAllConnections();
    await closed;
  }

  async function listen(): Promise<number> {
    try {
      await once(server.listen(port, host), 'listening');
    } catch (error) {
      throw new RelayServerError(
        `The relay cannot listen on ${host}, port ${port} (${reasonOf(error)}): stop the program that listens there, or set relay.host and relay.port in ppsgate.yml.`,
        { cause: error },
      );
    }
    const address = server.address();
    return address === null || typeof address === 'string' ? port : address.port;
  }
}

/** See RFC 9110, section 15, and RFC 6585, section 5. */
const reasons = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  411: 'Length Required',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

type HttpStatus = keyof typeof reasons;

type HttpReply = { status: HttpStatus; text: string; headers?: Readonly<Record<string, string>> };

const replyOf = (status: HttpStatus, text: string, headers: HttpReply['headers'] = {}): HttpReply => ({
  status,
  text,
  headers,
});

/**
 * Reads nothing after the reply: Phabricator opens one connection per request, and Node would read the rest of the
 * body.
 */
function end(socket: Socket, { status, text, headers }: HttpReply, date: Date): void {
  if (socket.destroyed) return;
  const body = `${text}\n`;
  const lines = Object.entries({
    Date: date.toUTCString(),
    Connection: 'close',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // The first write to a connection fits into its buffer, so the kernel has it when this returns.
  socket.write(`HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroy();
}

function refusalOf(error: Error, headerBytes: number): HttpReply {
  if ('code' in error && error.code === 'HPE_HEADER_OVERFLOW') {
    return replyOf(431, `The headers are longer than ${headerBytes} bytes.`);
  }
  return replyOf(400, 'This is not an HTTP request.');
}

type Route = {
  method: 'GET' | 'POST';
  /** Refuses a request by its headers; its body is then never read. */
  refuse(request: IncomingMessage): HttpReply | undefined;
  answer(request: IncomingMessage, query: URLSearchParams): Promise<HttpReply>;
};

type Routed = { kind: 'refused'; reply: HttpReply } | { kind: 'taken'; answer(): Promise<HttpReply> };

function routeOf(request: IncomingMessage, routes: ReadonlyMap<string, Route>): Routed {
  const refused = (reply: HttpReply): Routed => ({ kind: 'refused', reply });
  // Compares the path as sent: a URL parser would take `/webhook/%2e%2e/build` for `/build`, unlike a proxy in front.
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/.exec(request.url ?? '') ?? [];
  const route = routes.get(path);
  if (route === undefined) return refused(replyOf(404, 'This page does not exist.'));
  const { method } = route;
  if (request.method !== method) {
    return refused(replyOf(405, `Only ${method} is supported here.`, { Allow: method }));
  }
  const reply = route.refuse(request);
  if (reply !== undefined) return refused(reply);
  return { kind: 'taken', answer: () => route.answer(request, new URLSearchParams(query)) };
}

function routesOf(
  options: RelayServerOptions,
  bodyBytes: number,
  accept: Accept,
  logRefusal: LogRefusal,
): ReadonlyMap<string, Route> {
  const { webhookKey, buildPassword, inbox } = options;
  const routes = new Map([['/health', healthRoute(inbox)]]);
  const deps = { ...options, logRefusal };
  if (webhookKey) routes.set('/webhook', webhookRoute(webhookKey, bodyBytes, accept, deps));
  if (buildPassword) routes.set('/build', buildRoute(buildPassword, accept, deps));
  return routes;
}

type RouteDeps = Pick<RelayServerOptions, 'now' | 'log'> & { logRefusal: LogRefusal };

type Accept = (delivery: Delivery) => Promise<'new' | 'known'>;

/** Writes simultaneous deliveries in one batch, before the replies; Node accepts one connection per turn. */
function together(inbox: Pick<Inbox, 'accept'>, countArrived: () => number): { accept: Accept; acceptAll(): void } {
  type Waiting = PromiseWithResolvers<'new' | 'known'> & { delivery: Delivery };
  let waiting: Waiting[] = [];
  const acceptAll = () => {
    const all = waiting;
    waiting = [];
    if (all.length === 0) return;
    try {
      const found = inbox.accept(all.map(({ delivery }) => delivery));
      for (const [index, { resolve }] of all.entries()) resolve(found[index] ?? 'known');
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  };
  const acceptSoon = (arrivedBefore: number, turnsLeft: number) => {
    setImmediate(() => {
      const arrived = countArrived();
      if (arrived > arrivedBefore && turnsLeft > 0) acceptSoon(arrived, turnsLeft - 1);
      else acceptAll();
    });
  };
  return {
    acceptAll,
    accept(delivery) {
      const one = { ...Promise.withResolvers<'new' | 'known'>(), delivery };
      if (waiting.push(one) === 1) acceptSoon(0, maxTurns);
      return one.promise;
    },
  };
}

/** Limits the wait under constant load to about ten milliseconds. */
const maxTurns = 100;

const queued = (found: 'new' | 'known'): HttpReply => replyOf(200, found === 'new' ? 'queued' : 'known');

const healthRoute = (inbox: Pick<Inbox, 'countPending'>): Route => ({
  method: 'GET',
  refuse: () => undefined,
  answer: async () => replyOf(200, `${inbox.countPending()} pending`),
});

function webhookRoute(key: string, maxBytes: number, accept: Accept, { now, log, logRefusal }: RouteDeps): Route {
  const unsigned = (request: IncomingMessage) => {
    logRefusal(request, 'a webhook whose signature is missing or wrong');
    return replyOf(401, 'The signature is missing or wrong.');
  };
  return {
    method: 'POST',
    refuse(request) {
      if (signatureOf(request) === undefined) return unsigned(request);
      const length = request.headers['content-length'];
      if (length === undefined) return replyOf(411, 'Send the whole body, with its length in Content-Length.');
      if (Number(length) <= maxBytes) return undefined;
      return replyOf(413, `A body may have at most ${maxBytes} bytes.`);
    },
    async answer(request) {
      const body = await buffer(request).catch(() => undefined);
      if (body === undefined) return replyOf(400, 'The body is incomplete.');
      if (!isSigned(body, signatureOf(request), key)) return unsigned(request);
      const webhook = readWebhook(body, now());
      switch (webhook.kind) {
        case 'webhook':
          return queued(await accept(webhook));
        case 'test':
          log(
            webhook.isOfCheck
              ? `\`${checkCommand}\` has tested the webhook, and its signature is valid.`
              : 'A test webhook has arrived, and its signature is valid.',
          );
          return replyOf(200, 'ignored');
        case 'other':
          return replyOf(200, 'ignored');
        case 'strange':
          log("A webhook with a valid signature was refused, because it is not in Herald's format.");
          return replyOf(400, 'This is not a webhook of Herald.');
      }
    },
  };
}

function signatureOf({ headers }: IncomingMessage): string | undefined {
  const signature = headers['x-phabricator-webhook-signature'];
  return typeof signature === 'string' ? signature : undefined;
}

const buildRoute = (password: string, accept: Accept, { now, log, logRefusal }: RouteDeps): Route => ({
  method: 'POST',
  refuse(request) {
    if (!isAuthorized(request.headers.authorization, password)) {
      logRefusal(request, 'a build whose user or password is missing or wrong');
      return replyOf(401, 'The user or the password is missing or wrong.', {
        'WWW-Authenticate': 'Basic realm="ppsgate"',
      });
    }
    return hasBody(request) ? replyOf(413, 'Send no body: the parameters belong in the query.') : undefined;
  },
  async answer({ headers }, query) {
    const build = readBuild(query, now());
    if (build.kind === 'build') return queued(await accept(build));
    log(
      headers['user-agent'] === checkAgent
        ? `The user and password of builds were tested and are right; the request claims to be from \`${checkCommand}\`.`
        : `A build with the right password was refused: ${build.why} Correct the URI of the build step.`,
    );
    return replyOf(400, build.why);
  },
});

/** True if the header has this user and password, in the scheme Basic (RFC 7617). */
function isAuthorized(header: string | undefined, userAndPassword: string): boolean {
  const [, encoded = ''] = /^basic +([\w+/=-]+)$/i.exec(header ?? '') ?? [];
  const received = hash('sha256', Buffer.from(encoded, 'base64'), 'buffer');
  return timingSafeEqual(received, hash('sha256', userAndPassword, 'buffer'));
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const checkCommand = 'ppsgate phabricator check';

type LogRefusal = (from: Pick<IncomingMessage, 'headers' | 'socket'>, why: string) => void;

const secondsBetweenLines = 60;

/** Logs each kind of refusal once a minute, without the request's text: strangers control its rate. */
function refusalLog({ now, log }: Pick<RelayServerOptions, 'now' | 'log'>): LogRefusal {
  const logged = new Map<string, { at: Date; suppressed: number }>();
  return ({ headers, socket }, why) => {
    const isOfCheck = headers['user-agent'] === checkAgent;
    const kind = `${why} ${isOfCheck}`;
    const last = logged.get(kind);
    // A clock that was set back must not silence the log.
    if (last !== undefined && Math.abs(+now() - +last.at) < secondsBetweenLines * 1000) {
      last.suppressed += 1;
      return;
    }
    const more = last?.suppressed ? ` ${last.suppressed} more were refused since the last such line.` : '';
    logged.set(kind, { at: now(), suppressed: 0 });
    const whose = isOfCheck ? `; it claims to be from \`${checkCommand}\`` : '';
    log(`Refused from ${socket.remoteAddress ?? 'a closed connection'}: ${why}${whose}.${more}`);
  };
}

/** @param signature hexadecimal HMAC-SHA256 of the bytes as sent */
export function isSigned(body: Uint8Array, signature: string | undefined, key: string): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac('sha256', key).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
