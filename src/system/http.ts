// Sends HTTP requests, bounding time and size of every response. The only HTTP client.
import { once } from 'node:events';
import type { ClientRequest, Agent as HttpAgent, RequestOptions as HttpOptions, IncomingMessage } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { reasonOf } from '../model/one-line.ts';
import {
  type Certificates,
  connectUnverified,
  type Distrust,
  describeDistrust,
  PinError,
  type Trust,
  verifyPin,
} from './certificate.ts';

export type HttpRequest = {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | URLSearchParams;
  /** Time limit for the whole response; with `onLine`, for its headers. */
  answerSeconds: number;
  connectSeconds?: number;
  /** Size limit of the body; with `onLine`, of one line. */
  maxBytes: number;
  /** Receives the lines of a response with status 200 as they arrive, in place of the body. */
  onLine?: (line: string) => void;
  signal?: AbortSignal | undefined;
};

export type HttpResponse = {
  kind: 'answered';
  status: number;
  statusText: string;
  headers: ReadonlyMap<string, string>;
  /** Undefined if the body is larger than `maxBytes`. */
  body: Buffer | undefined;
};

export type NoResponse = {
  kind: 'no-answer';
  why: string;
  /** Code of Node's error, or `noConnection`; absent if neither applies. */
  code: string;
  /** False if no byte of the request was sent. */
  wasSent: boolean;
  lateSeconds?: number;
  /** Set if the server's certificate is not trusted; no request was sent then. */
  distrust?: Distrust;
};

/** Sends one request over a new connection; never rejects. Follows no redirect, which could pass credentials on. */
export const sendRequest = (
  url: URL | string,
  request: HttpRequest & { trust?: Trust | undefined },
): Promise<HttpResponse | NoResponse> => exchange(url, request, { trust: request.trust ?? {} });

export type HttpClient = {
  /** Like `sendRequest`, but keeps connections open. */
  send(url: URL, request: HttpRequest): Promise<HttpResponse | NoResponse>;
  close(): void;
};

export function openHttpClient(certificates: Certificates): HttpClient {
  let agents: Promise<{ http: HttpAgent; https: HttpsAgent }> | undefined;
  return {
    async send(url, request) {
      agents ??= openAgents(certificates);
      return exchange(url, request, { trust: certificates, ...(await agents) });
    },
    close() {
      void agents?.then(({ http, https }) => {
        http.destroy();
        https.destroy();
      });
    },
  };
}

async function openAgents(certificates: Certificates) {
  const { http, https } = await modules();
  return {
    http: new http.Agent({ keepAlive: true }),
    https: new https.Agent({ keepAlive: true, ...certificates }),
  };
}

/** Imported by the first request: it loads Node's whole fetch, a tenth of a command's start-up time. */
async function modules() {
  const [http, https] = await Promise.all([import('node:http'), import('node:https')]);
  return { http, https };
}

/** Without agents, each request opens a new connection. */
type Connections = { trust: Trust; http?: HttpAgent; https?: HttpsAgent };

async function exchange(
  url: URL | string,
  request: HttpRequest,
  connections: Connections,
): Promise<HttpResponse | NoResponse> {
  const { answerSeconds, maxBytes, onLine, signal } = request;
  const limit = startLimit(answerSeconds);
  const end = AbortSignal.any([limit.signal, ...(signal === undefined ? [] : [signal])]);
  let sent: ClientRequest | undefined;
  let wasSent = () => false;
  const stop = () => sent?.destroy();
  try {
    const target = new URL(url);
    const loaded = await modules();
    end.throwIfAborted();
    sent = begin(loaded, target, request, connections, end);
    end.addEventListener('abort', stop);
    wasSent = watchSending(sent, target, connections);
    const response: IncomingMessage = (await once(sent, 'response', { signal: end }))[0];
    const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = response;
    const headers = new Map<string, string>();
    for (const [name, values = []] of Object.entries(headersDistinct)) {
      headers.set(name, values.join(', '));
    }
    const answered = { kind: 'answered', status, statusText, headers } as const;
    if (onLine === undefined || status !== 200) {
      return { ...answered, body: await bytesWithin(maxBytes, response) };
    }
    limit.clear();
    for await (const line of linesOf(response, maxBytes)) onLine(line);
    return { ...answered, body: Buffer.of() };
  } catch (error) {
    const failed = { kind: 'no-answer', code: codeOf(error), wasSent: wasSent() } as const;
    if (limit.signal.aborted && signal?.aborted !== true) {
      const why = `no complete response within ${answerSeconds} s`;
      return { ...failed, why, code: '', lateSeconds: answerSeconds };
    }
    if (!isDistrust(sent, error)) return { ...failed, why: reasonOf(error) };
    const distrust = await describeDistrust(error, new URL(url), connections.trust, end);
    return { ...failed, why: `it shows ${distrust.shown}`, distrust };
  } finally {
    end.removeEventListener('abort', stop);
    limit.clear();
  }
}

function startLimit(seconds: number): { signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  let isCleared = false;
  const abort = () => isCleared || limit.abort();
  // Prefers a response that arrived while this process was not scheduled.
  const timer = setTimeout(() => setImmediate(abort), seconds * 1000);
  return {
    signal: limit.signal,
    clear() {
      isCleared = true;
      clearTimeout(timer);
    },
  };
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

const isDistrust = (sent: ClientRequest | undefined, error: unknown): boolean =>
  error instanceof PinError || (sent?.socket instanceof TLSSocket && Boolean(sent.socket.authorizationError));

function begin(
  loaded: Awaited<ReturnType<typeof modules>>,
  url: URL,
  request: HttpRequest,
  connections: Connections,
  end: AbortSignal,
) {
  const { method, headers, body, connectSeconds = 10 } = request;
  const { trust, http, https } = connections;
  // Node refuses a plain URL here.
  const isSecure = url.protocol === 'https:' || 'pinnedSha256' in trust;
  const agent = isSecure ? https : http;
  const options: HttpOptions = {
    method,
    agent,
    headers: {
      'user-agent': 'ppsgate',
      ...(body instanceof URLSearchParams && {
        'content-type': 'application/x-www-form-urlencoded',
      }),
      ...headers,
      // Keeps connections only with an agent: the server may close a kept one at any time, and whether it accepted the
      // request is then unknown.
      ...(agent === undefined && { connection: 'close' }),
    },
  };
  const sent = isSecure
    ? loaded.https.request(url, { ...options, ...trustOptions(url, trust, end) })
    : loaded.http.request(url, options);
  sent.on('error', () => {});
  if (!('pinnedSha256' in trust) && connectSeconds < request.answerSeconds) {
    limitConnecting(sent, connectSeconds);
  }
  return sent.end(body?.toString());
}

function trustOptions(url: URL, trust: Trust, end: AbortSignal) {
  if (!('pinnedSha256' in trust)) return trust;
  return {
    /** Returns the connection once its certificate is verified; Node sends nothing earlier. */
    createConnection(_: unknown, created: (error: Error | null, socket: Duplex) => void) {
      const socket = connectUnverified(url, {}, end);
      const settle = (error?: Error) => created(error ?? null, socket);
      socket.once('error', settle);
      socket.once('secureConnect', () => {
        socket.off('error', settle);
        settle(verifyPin(socket, trust.pinnedSha256));
      });
      return undefined;
    },
  };
}

export const noConnection = 'NO_CONNECTION';

function limitConnecting(sent: ClientRequest, seconds: number): void {
  const late = Object.assign(new Error(`no connection within ${seconds} s`), {
    code: noConnection,
  });
  const timer = setTimeout(() => sent.destroy(late), seconds * 1000);
  const stop = () => clearTimeout(timer);
  sent.once('close', stop);
  sent.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', stop);
    else stop();
  });
}

/** The request is sent only after the connection is open and, for HTTPS, its certificate verified. */
function watchSending(sent: ClientRequest, { protocol }: URL, { trust }: Connections) {
  let wasSent = false;
  const send = () => {
    wasSent = true;
  };
  sent.once('socket', (socket) => {
    if (sent.reusedSocket || 'pinnedSha256' in trust) send();
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', send);
  });
  return () => wasSent;
}

/** Returns undefined and closes the stream beyond that many bytes, even if the server announced fewer. */
async function bytesWithin(maxBytes: number, stream: IncomingMessage) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* linesOf(response: IncomingMessage, maxBytes: number): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxBytes) throw new Error(`more than ${maxBytes} bytes in a line`);
    yield* lines;
  }
}

/**
 * Limits the time of Node's fetch for the whole response, and reads the body itself. Octokit treats a truncated body as
 * empty, and an empty list of comments would make it write a second comment.
 */
export const fetchWithin =
  (seconds: number): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(seconds * 1000) });
    await response.clone().arrayBuffer();
    return response;
  };
