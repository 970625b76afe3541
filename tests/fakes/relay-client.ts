// Clients of a relay that write raw HTTP, in Phabricator's form or malformed.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export const webhookKey = 'b'.repeat(32);
export const buildPassword = 'phorge:correct horse';

/** Formats a body like Herald, with a final line break. */
export function webhookBody({
  type = 'DREV',
  transaction = 'a',
  test = false,
}: {
  type?: string;
  transaction?: string;
  test?: boolean;
} = {}): string {
  const webhook = {
    object: { type, phid: `PHID-${type}-a` },
    triggers: [{ phid: 'PHID-HWBH-a' }],
    action: { test, silent: false, secure: false, epoch: 1795213398 },
    transactions: [{ phid: `PHID-XACT-${type}-${transaction}` }],
  };
  return `${JSON.stringify(webhook, null, 2)}\n`;
}

export const signatureOf = (body: string, key = webhookKey): string =>
  createHmac('sha256', key).update(body).digest('hex');

export type Headers = Readonly<Record<string, string | undefined>>;

/** Omits an undefined header. */
export function requestText(start: string, headers: Headers = {}, body = '', version = '1.1'): string {
  const all = { Host: 'relay', 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return `${start} HTTP/${version}\r\n${lines.join('')}\r\n${body}`;
}

/** Signed, unless `headers` override that. */
export const webhookText = (body: string, headers: Headers = {}): string =>
  requestText('POST /webhook', { 'X-Phabricator-Webhook-Signature': signatureOf(body), ...headers }, body);

export const buildText = (query: string, headers: Headers = {}): string =>
  requestText(`POST /build?${query}`, {
    Authorization: `Basic ${Buffer.from(buildPassword).toString('base64')}`,
    ...headers,
  });

/** `status` is 0 without a response. */
export type Answer = { status: number; head: string; text: string };

export type Client = {
  socket: Socket;
  /** Resolves once the response so far contains this. */
  hears(text: string): Promise<void>;
  /** Resolves once the relay has closed the connection. */
  answer: Promise<Answer>;
};

export function clientOf(port: number): Client {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  // A client that is cut off while it writes gets an error, the response, or both.
  socket.on('error', () => {});
  socket.setEncoding('utf8').on('data', (data) => {
    heard += data;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return {
    socket,
    async hears(text) {
      while (!heard.includes(text)) await once(socket, 'data');
    },
    answer: closed.then(() => {
      const final = heard.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
      const [head = '', text = ''] = final.split('\r\n\r\n', 2);
      return { status: Number(head.split(' ')[1] ?? 0), head, text: text.trimEnd() };
    }),
  };
}

/** Sends everything at once, over a new connection. */
export function send(port: number, request: string | Uint8Array): Promise<Answer> {
  const { socket, answer } = clientOf(port);
  socket.write(request);
  return answer;
}
