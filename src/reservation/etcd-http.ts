// Puts questions to a server by HTTP, or by HTTPS with certificates of our own, over connections that are kept.
import { once } from 'node:events';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as requestSecurely } from 'node:https';
import { TLSSocket } from 'node:tls';
import { bytesWithin } from '../http.ts';
import { reasonOf } from '../words/one-line.ts';
import type { Certificates } from './etcd-files.ts';

type Http = {
  /** Posts JSON; never rejects. */
  post(question: Question): Promise<Reply>;
  close(): void;
};

export type Question = {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: object;
  /** Time limit for the whole answer; with `onLine`, for its beginning. */
  answerSeconds: number;
  /** Takes the lines of an answer that is good, as they come. */
  onLine?: (line: string) => void;
  /** Ends the question, which then has no answer. */
  signal?: AbortSignal;
};

export type Reply =
  /** The body is empty where `onLine` has taken it. */
  { kind: 'answered'; status: number; type: string; body: string } | NoAnswer;

export type NoAnswer = {
  kind: 'no-answer';
  url: URL;
  why: string;
  /** Code of Node's error. */
  code: string;
  /** Whether anything of the question was sent. */
  wasSent: boolean;
  /** Whether the server's certificate is the reason. */
  isDistrusted: boolean;
  /** Those that a certificate has which is for others than the server that was asked. */
  certificateNames: string;
};

export function openHttp(certificates: Certificates): Http {
  const http = new HttpAgent({ keepAlive: true });
  const https = new HttpsAgent({ keepAlive: true, ...certificates });
  return {
    post(question) {
      const { url, headers, signal } = question;
      const options = { method: 'POST', headers, ...(signal !== undefined && { signal }) };
      const asked =
        url.protocol === 'https:'
          ? requestSecurely(url, { ...options, agent: https })
          : request(url, { ...options, agent: http });
      return exchange(asked, question);
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

async function exchange(asked: ClientRequest, question: Question): Promise<Reply> {
  const { body, answerSeconds, onLine } = question;
  // Whoever waits for the answer hears it too; without a listener of its own a late one would end the process.
  asked.on('error', () => {});
  const wasSent = watchSending(asked, question.url);
  let isOver = false;
  let isLate = false;
  const giveUp = () => {
    if (isOver) return;
    isLate = true;
    asked.destroy();
  };
  // What came while this process was not let run is read first.
  const timer = setTimeout(() => setImmediate(giveUp), answerSeconds * 1000);
  try {
    asked.end(JSON.stringify(body));
    const response: IncomingMessage = (await once(asked, 'response'))[0];
    const { statusCode: status = 0, headers } = response;
    const answered = { kind: 'answered', status, type: headers['content-type'] ?? '' } as const;
    if (onLine === undefined || status !== 200) return { ...answered, body: await read(response) };
    isOver = true;
    for await (const line of linesOf(response)) onLine(line);
    return { ...answered, body: '' };
  } catch (error) {
    const { socket } = asked;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return {
      kind: 'no-answer',
      url: question.url,
      ...(isLate
        ? { why: `no answer within ${answerSeconds} s`, code: 'ETIMEDOUT' }
        : { why: reasonOf(error), code }),
      wasSent: wasSent(),
      isDistrusted: socket instanceof TLSSocket && Boolean(socket.authorizationError),
      certificateNames: certificateNames(error),
    };
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

const certificateNames = (error: unknown): string =>
  (error as { cert?: { subjectaltname?: string } }).cert?.subjectaltname ?? 'no name at all';

/** Nothing of a question leaves before its connection stands and, by HTTPS, the certificate was found good. */
function watchSending(asked: ClientRequest, { protocol }: URL): () => boolean {
  let wasSent = false;
  asked.once('socket', (socket) => {
    const send = () => {
      wasSent = true;
    };
    if (asked.reusedSocket) send();
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', send);
  });
  return () => wasSent;
}

/** Far more than all reservations of a lab. */
const mostBytes = 16 * 1024 ** 2;

async function read(response: IncomingMessage): Promise<string> {
  const body = await bytesWithin(mostBytes, response);
  if (body === undefined) throw new Error(`more than ${mostBytes} bytes in an answer`);
  return body.toString();
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > mostBytes) throw new Error(`more than ${mostBytes} bytes in a line`);
    yield* lines;
  }
}
