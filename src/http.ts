// Puts a question to a web server and takes an answer that is bounded in time and size.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { isIP } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import { reasonOf } from './words/one-line.ts';

export type Question = {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | URLSearchParams;
  /** Time limit for the whole answer. */
  answerSeconds: number;
  mostBytes: number;
  /** PEM of the authority that alone is trusted. Absent: those that Node knows. */
  ca?: string | undefined;
  /** Ends the question, which then has no answer. */
  signal?: AbortSignal | undefined;
};

export type Answer = {
  kind: 'answered';
  status: number;
  statusText: string;
  headers: Headers;
  /** Undefined for one of more than `mostBytes`. */
  body: Buffer | undefined;
};

type NoAnswer = {
  kind: 'no-answer';
  why: string;
  /** Code of Node's error, or `noConnection`, where it has one. */
  code: string;
  /** Where the server's certificate is the reason; nothing was sent then. */
  distrust?: Distrust;
};

export type Distrust = {
  /** Like `a certificate that …`. */
  shown: string;
  fault: 'authority' | 'time' | 'name' | 'other';
};

/** Never rejects. Redirects are answers like others: to follow one would be to tell somebody else what was asked. */
export async function ask(url: URL | string, question: Question): Promise<Answer | NoAnswer> {
  const { answerSeconds, mostBytes, signal } = question;
  const timeout = AbortSignal.timeout(answerSeconds * 1000);
  const end = AbortSignal.any([timeout, ...(signal === undefined ? [] : [signal])]);
  let asked: ClientRequest | undefined;
  try {
    asked = begun(new URL(url), question, end);
    const response: IncomingMessage = (await once(asked, 'response'))[0];
    const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = response;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct)) {
      for (const value of values) headers.append(name, value);
    }
    const body = await bytesWithin(mostBytes, response);
    return { kind: 'answered', status, statusText, headers, body };
  } catch (error) {
    if (timeout.aborted && signal?.aborted !== true) {
      return { kind: 'no-answer', why: `no whole answer within ${answerSeconds} s`, code: '' };
    }
    const distrust = await distrustOf(asked, url, question, error, end);
    const why = distrust === undefined ? reasonOf(error) : `it shows ${distrust.shown}`;
    return { kind: 'no-answer', why, code: codeOf(error), ...(distrust && { distrust }) };
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

function begun(url: URL, { method, headers, body, ca }: Question, signal: AbortSignal) {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const asked = (url.protocol === 'https:' ? requestSecurely : request)(url, {
    method,
    headers: {
      'user-agent': 'ppsgate',
      ...(body instanceof URLSearchParams && form),
      ...headers,
      // On a kept connection, which the server may close meanwhile, nobody knows whether a question was taken.
      connection: 'close',
    },
    ...(ca !== undefined && { ca }),
    signal,
  });
  // Whoever waits for the answer hears it too; without a listener of its own a late one would end the process.
  asked.on('error', () => {});
  limitConnecting(asked);
  return asked.end(body?.toString());
}

/** The code where no connection came about in time. */
export const noConnection = 'NO_CONNECTION';
const connectSeconds = 10;

function limitConnecting(asked: ClientRequest): void {
  const late = Object.assign(new Error(`no connection within ${connectSeconds} s`), {
    code: noConnection,
  });
  const timer = setTimeout(() => asked.destroy(late), connectSeconds * 1000);
  const stop = () => clearTimeout(timer);
  asked.once('close', stop);
  asked.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', stop);
    else stop();
  });
}

/** Undefined where the certificate is not the reason. */
async function distrustOf(
  asked: ClientRequest | undefined,
  url: URL | string,
  { ca }: Question,
  error: unknown,
  signal: AbortSignal,
): Promise<Distrust | undefined> {
  const socket = asked?.socket;
  if (!(socket instanceof TLSSocket && socket.authorizationError)) return undefined;
  const code = codeOf(error);
  const found = (fault: Distrust['fault'], what: string): Distrust => ({
    fault,
    shown: `a certificate ${what} (${code})`,
  });
  if (unsigned.test(code)) {
    const foreign = 'that the authority of `ca` has not signed';
    const unknown = 'that is signed by nobody whom this machine trusts';
    return found('authority', ca === undefined ? unknown : foreign);
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return found('name', `for ${namesIn(error)}, and not for ${new URL(url).hostname}`);
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return found('time', goodWhen(await datesOf(new URL(url), signal)));
  }
  return found('other', `that is no good: ${reasonOf(error)}`);
}

const unsigned = /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_SELF|SELF_SIGNED|CERT_UNTRUSTED)/;

const mostNamesLength = 200;

function namesIn(error: unknown): string {
  const { cert } = error as { cert?: { subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? '').replace(/\b(?:DNS|IP Address):/g, '');
  return names === '' ? 'no name at all' : names.slice(0, mostNamesLength);
}

type Dates = { from: Date; until: Date };

function goodWhen(dates: Dates | undefined): string {
  const now = new Date();
  if (dates !== undefined && dates.until < now) return `that was good until ${dayOf(dates.until)}`;
  if (dates !== undefined && dates.from > now) return `that is good from ${dayOf(dates.from)} on`;
  return 'whose authority’s is not good today';
}

const dayOf = (date: Date): string => date.toISOString().replace(/T(.{5}).*/, ' $1 UTC');

/** The dates of a certificate that was refused, which Node has forgotten by then: it is looked at again, and nothing is sent. */
async function datesOf({ hostname, port }: URL, signal: AbortSignal): Promise<Dates | undefined> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    ...{ host, port: Number(port || 443), rejectUnauthorized: false },
    ...(isIP(host) === 0 && { servername: host }),
  });
  socket.on('error', () => {});
  try {
    await once(socket, 'secureConnect', { signal });
    const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
    return { from: new Date(from), until: new Date(until) };
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Undefined for more than so many: the stream is then closed, whatever was promised of its length. */
export async function bytesWithin(
  mostBytes: number,
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
