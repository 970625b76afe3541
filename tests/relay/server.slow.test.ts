// Responses of the relay to Phabricator, strangers and attackers.
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openInbox } from '../../src/relay/inbox.ts';
import { type RelayServerOptions, startRelayServer, usualLimits } from '../../src/relay/server.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { withMethods } from '../fakes/inbox.ts';
import {
  buildPassword,
  buildText,
  clientOf,
  requestText,
  send,
  signatureOf,
  webhookBody,
  webhookKey,
  webhookText,
} from '../fakes/relay-client.ts';
import { describeWith, sharedFolder } from '../needs.ts';

const at = new Date('2026-11-20T22:23:18Z');
const limits = {
  headerBytes: 4096,
  bodyBytes: 2048,
  seconds: 20,
  connections: 100,
  connectionsPerNetwork: 100,
};

async function start(options: Partial<RelayServerOptions> = {}) {
  const path = join(temporaryFolder(), 'inbox.sqlite');
  const inbox = openInbox(path, () => at);
  const logged: string[] = [];
  const server = await startRelayServer({
    host: '127.0.0.1',
    port: 0,
    webhookKey,
    buildPassword,
    inbox,
    now: () => at,
    limits,
    log: (sentence) => void logged.push(sentence),
    ...options,
  });
  onTestFinished(async () => {
    await server.close();
    inbox[Symbol.dispose]();
  });
  return { server, port: server.port, inbox, path, logged };
}

const query = 'target=PHID-HMBT-a&build=PHID-HMBD-a&diff=80677&revision=27401';
const signed = (signature: string | undefined, body = webhookBody()) =>
  webhookText(body, { 'X-Phabricator-Webhook-Signature': signature });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const withPassword = (authorization: string | undefined) => buildText(query, { Authorization: authorization });
const longest = webhookBody().padEnd(limits.bodyBytes);
const chunked = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };

describe('a webhook', () => {
  test('that is signed is queued, and recognized when repeated', async () => {
    const { port, inbox } = await start();
    const request = webhookText(webhookBody({ transaction: 'ylb3' }));
    expect(await send(port, request)).toMatchObject({ status: 200, text: 'queued' });
    expect(await send(port, request)).toMatchObject({ status: 200, text: 'known' });
    expect(inbox.pendingDeliveries()).toEqual([
      {
        kind: 'webhook',
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        at,
        object: 'PHID-DREV-a',
        transactions: ['PHID-XACT-DREV-ylb3'],
      },
    ]);
  });

  const unsigned = 'Refused from 127.0.0.1: a webhook whose signature is missing or wrong.';

  // Refused requests must not fill the log or write into it.
  test('that is refused is in the log once a minute, with how many more there were, and without its words', async () => {
    let now = at;
    const { port, logged } = await start({ now: () => now });
    const headers = {
      'X-Phabricator-Webhook-Signature': 'STRANGE',
      'User-Agent': 'STRANGE\tppsgate-check',
      'X-Forwarded-For': 'STRANGE',
    };
    const request = webhookText('STRANGE', headers);
    const minutesLater = (minutes: number) => {
      now = new Date(at.getTime() + minutes * 60_000);
    };
    for (let count = 0; count < 20; count += 1) await send(port, request);
    minutesLater(0.99);
    await send(port, request);
    expect(logged).toEqual([unsigned]);
    minutesLater(1);
    await send(port, request);
    minutesLater(-60);
    await send(port, request);
    expect(logged).toEqual([unsigned, `${unsigned} 20 more were refused since the last such line.`, unsigned]);
  });

  test('of the check is distinguished from those of strangers: the signed one surely, others by their word', async () => {
    const { port, logged } = await start();
    const headers = { 'User-Agent': 'ppsgate-check' };
    const body = JSON.stringify({
      object: { type: 'DREV', phid: 'PHID-DREV-ppsgatecheck' },
      action: { test: true },
      transactions: [],
    });
    await send(port, webhookText(body, headers));
    await send(port, webhookText(body, { ...headers, 'X-Phabricator-Webhook-Signature': '0' }));
    await send(port, signed('0', body));
    expect(logged).toEqual([
      '`ppsgate phabricator check` has tested the webhook, and its signature is valid.',
      unsigned.replace(/\.$/, '; it claims to be from `ppsgate phabricator check`.'),
      unsigned,
    ]);
  });

  test('whose client waits for a confirmation before the body gets it, if its headers are good', async () => {
    const { port } = await start();
    const body = webhookBody();
    const asking = (headers: Record<string, string | undefined>) =>
      webhookText(body, { Expect: '100-continue', ...headers }).slice(0, -body.length);

    const { socket, hears, answer } = clientOf(port);
    socket.write(asking({}));
    await hears('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    expect(await answer).toMatchObject({ status: 200, text: 'queued' });

    const refused = await send(port, asking({ 'X-Phabricator-Webhook-Signature': undefined }));
    expect(refused).toMatchObject({ status: 401, head: expect.stringMatching(/^HTTP\/1\.1 401/) });
    expect(await send(port, asking({ 'Content-Length': '10000000' }))).toMatchObject({ status: 413 });
  });
});

describe('a build', () => {
  test('is queued by its target, and recognized when requested again', async () => {
    const { port, inbox } = await start();
    expect(await send(port, buildText(query))).toMatchObject({ status: 200, text: 'queued' });
    expect(await send(port, buildText(query))).toMatchObject({ status: 200, text: 'known' });
    const restarted = query.replace('HMBT-a', 'HMBT-b').replace('=27401', '=D27401');
    expect(await send(port, buildText(restarted))).toMatchObject({ status: 200, text: 'queued' });
    const unnamed = query.replace('HMBT-a', 'HMBT-c').replace('=27401', '=');
    expect(await send(port, buildText(unnamed))).toMatchObject({ status: 200, text: 'queued' });
    const build = { kind: 'build', at, build: 'PHID-HMBD-a', diff: 80677 };
    expect(inbox.pendingDeliveries()).toEqual([
      { ...build, revision: 27401, id: 'PHID-HMBT-a', target: 'PHID-HMBT-a' },
      { ...build, revision: 27401, id: 'PHID-HMBT-b', target: 'PHID-HMBT-b' },
      { ...build, id: 'PHID-HMBT-c', target: 'PHID-HMBT-c' },
    ]);
  });

  test.each([
    ['target', 'target=&build=PHID-HMBD-a&diff=80677'],
    ['target', 'target=PHID-HMBD-a&build=PHID-HMBD-a&diff=80677'],
    ['build', "target=PHID-HMBT-a&build=PHID-HMBD-a'&diff=80677"],
    ['diff', 'target=PHID-HMBT-a&build=PHID-HMBD-a&diff='],
    ['diff', 'target=PHID-HMBT-a&build=PHID-HMBD-a&diff=D80677'],
    ['revision', 'target=PHID-HMBT-a&build=PHID-HMBD-a&diff=80677&revision=27401x'],
    ['target, build, diff', ''],
  ])('whose query is wrong is refused with what is wrong: %s in %j', async (wrong, text) => {
    const { port, inbox } = await start();
    expect(await send(port, buildText(text))).toMatchObject({
      status: 400,
      text: `Wrong or missing query parameters: ${wrong}.`,
    });
    expect(inbox.countPending()).toBe(0);
  });
});

test.each<[number, string, string]>([
  // A webhook is forged: its bytes are signed with the key of the hook.
  [401, 'no signature', signed(undefined)],
  [401, 'the signature of another key', signed(signatureOf(webhookBody(), 'another'))],
  [401, 'the signature of another body', signed(signatureOf(webhookBody({ transaction: 'b' })))],
  [401, 'two signatures', signed(`${signatureOf(webhookBody())}, ${signatureOf(webhookBody())}`)],
  ...['', '{', 'null', '{"object":{"type":"DREV"}}', webhookBody().replace('DREV-a', "'")].map(
    (body): [number, string, string] => [400, `a signed body that is not Herald's: ${body}`, webhookText(body)],
  ),
  [411, 'no length', webhookText(webhookBody(), { 'Content-Length': undefined })],
  [411, 'chunks', webhookText(webhookBody(), chunked)],
  [413, 'a body that is too long', webhookText(longest, { 'Content-Length': String(limits.bodyBytes + 1) })],
  // A build request is forged: it needs the password, and the reply reveals nothing else.
  [401, 'no password', withPassword(undefined)],
  [401, 'no password and no query', buildText('', { Authorization: undefined })],
  [401, 'another password', withPassword(basic('phorge:correct horses'))],
  [401, 'another user', withPassword(basic('phorg:correct horse'))],
  [401, 'an empty password', withPassword('Basic ')],
  [401, 'a password of another scheme', withPassword(basic(buildPassword).replace('Basic', 'Bearer'))],
  [401, 'a password that is not encoded', withPassword(`Basic ${buildPassword}`)],
  [413, 'a build with a body', buildText(query, { 'Content-Length': '10000000' })],
  [413, 'a build with chunks', buildText(query, chunked)],
  // `/webhook/%2e%2e/build` would pass a proxy that allows only `/webhook`: paths are compared as sent.
  ...['/webhook/%2e%2e/build', '/webhook/../build', '/./build', '//build', '/build/', '/%62uild', '/BUILD'].map(
    (path): [number, string, string] => [404, path, buildText(query).replace('/build', path)],
  ),
  ...['\\\\build', '/build#', '/build;a', 'http://relay/build'].map((path): [number, string, string] => [
    path.startsWith('\\') ? 400 : 404,
    path,
    buildText(query).replace('/build', path),
  ]),
  [405, 'GET /webhook', requestText('GET /webhook')],
  [405, 'PUT /build', requestText('PUT /build')],
  [405, 'POST /health', requestText('POST /health')],
  [431, 'long headers', requestText('GET /health', { Cookie: 'x'.repeat(limits.headerBytes) })],
  [431, 'a long request line', requestText(`GET /health?${'x'.repeat(limits.headerBytes)}`)],
  [400, 'no HTTP', 'hello\r\n\r\n'],
  [400, 'TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [400, 'chunks beside a length', requestText('POST /webhook', { 'Transfer-Encoding': 'chunked' }, 'x')],
  [400, 'a negative length', requestText('POST /webhook', { 'Content-Length': '-1' })],
])('answers %i and queues nothing: %s', async (status, _, request) => {
  const { port, inbox } = await start();
  const answer = await send(port, request);
  expect(answer.status).toBe(status);
  if (status === 401 && request.includes('/build'))
    expect(answer.head).toContain('WWW-Authenticate: Basic realm="ppsgate"');
  if (status === 405) expect(answer.head).toContain(`Allow: ${request.includes('/health') ? 'GET' : 'POST'}`);
  expect(inbox.countPending()).toBe(0);
});

describe('the relay', () => {
  test('reports to monitoring how many deliveries wait, and accepts the longest body', async () => {
    const { port } = await start();
    expect(await send(port, requestText('GET /health'))).toMatchObject({ text: '0 pending' });
    expect(await send(port, webhookText(longest))).toMatchObject({ status: 200, text: 'queued' });
    expect(await send(port, requestText('GET /health'))).toMatchObject({ status: 200, text: '1 pending' });
  });

  test('has no path that it was given no key or no password for', async () => {
    const { port } = await start({ webhookKey: '', buildPassword: '' });
    const webhook = signed(signatureOf(webhookBody(), ''));
    const build = withPassword('Basic =');
    for (const request of [webhook, build, requestText('GET /'), requestText('GET //')]) {
      expect(await send(port, request)).toMatchObject({ status: 404 });
    }
  });

  // A second request is in the body of the first.
  test('replies to the first of several requests on a connection and ignores the others', async () => {
    const { port, inbox } = await start();
    const requests = ['a', 'b', 'c'].map((transaction) => webhookText(webhookBody({ transaction })));
    const answer = await send(port, requests.join(''));
    expect(answer).toMatchObject({ status: 200, text: 'queued' });
    expect(answer.head).toContain('Connection: close');
    expect(inbox.pendingDeliveries()).toMatchObject([{ transactions: ['PHID-XACT-DREV-a'] }]);
  });

  test.each([
    ['headers', 0],
    ['a body', webhookText(webhookBody()).length - webhookBody().length],
    ['nothing', -1],
  ])('cuts who sends %s a byte at a time, however regularly', async (_, already) => {
    const { port, inbox } = await start({ limits: { ...limits, seconds: 0.2 } });
    const request = webhookText(webhookBody());
    const { socket, answer } = clientOf(port);
    let sent = Math.max(0, already);
    socket.write(request.slice(0, sent));
    const drip = setInterval(() => {
      // Never sends the last byte, however slow the machine.
      if (already >= 0 && sent < request.length - 1) socket.write(request.charAt(sent++));
    }, 10);
    onTestFinished(() => clearInterval(drip));
    expect(await answer).toMatchObject({ status: 408 });
    expect(inbox.countPending()).toBe(0);
  });

  // Idle connections, from one address or many, must not keep webhooks out.
  test.each([
    ['nothing', ''],
    ['its headers and half of its body', webhookText(webhookBody()).slice(0, -9)],
  ])('takes a webhook beside 300 connections of which each has sent %s', async (_, sent) => {
    const { port, inbox, logged } = await start({ limits: { ...usualLimits, seconds: 60 } });
    const idle = Array.from({ length: 300 }, () => clientOf(port));
    for (const { socket } of idle) socket.write(sent);
    expect((await idle[0]?.answer)?.status).toBe(503);
    const webhook = webhookText(webhookBody({ transaction: 'good' }));
    expect(await send(port, webhook)).toMatchObject({ status: 200, text: 'queued' });
    expect(inbox.pendingDeliveries()).toMatchObject([{ transactions: ['PHID-XACT-DREV-good'] }]);
    expect(logged).toHaveLength(1);
  });

  test('returns 500 if the queue cannot be written, with the reason in its log, and no secret in either', async () => {
    const { port, path, logged } = await start();
    renameSync(path, `${path}.old`);
    for (const request of [webhookText(webhookBody()), buildText(query)]) {
      expect(await send(port, request)).toMatchObject({ status: 500 });
    }
    const [first, second] = logged;
    expect(first).toBe(second);
    expect(first).toBe(
      `The relay answered a request with 500: The relay's queue ${path} was moved or replaced while in use: restart this process.`,
    );
  });

  test('puts those that wait at the same time on the disk together, before any is answered', async () => {
    const path = join(temporaryFolder(), 'inbox.sqlite');
    using inbox = openInbox(path, () => at);
    const batches: number[] = [];
    const accept: typeof inbox.accept = (deliveries) => {
      batches.push(deliveries.length);
      return inbox.accept(deliveries);
    };
    const { port, server } = await start({ inbox: withMethods(inbox, { accept }) });
    const clients = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const body = webhookBody({ transaction: String(index) });
        const client = clientOf(port);
        client.socket.write(webhookText(body, { Expect: '100-continue' }).slice(0, -body.length));
        await client.hears('100 Continue');
        return { ...client, body };
      }),
    );
    for (const { socket, body } of clients) socket.write(body);
    for (const { answer } of clients) expect((await answer).text).toBe('queued');
    expect(inbox.countPending()).toBe(20);
    expect(batches.length).toBeLessThan(20);
    await server.close();
  });

  test('replies to accepted requests when it closes, and drops unfinished ones', async () => {
    const closing = Promise.withResolvers<void>();
    const now = () => {
      // Between the end of the body and the write, which waits for others to come.
      setImmediate(() => server.close().then(closing.resolve, closing.reject));
      return at;
    };
    const { port, server, inbox } = await start({ now });
    const slow = clientOf(port);
    slow.socket.write(webhookText('x', { Expect: '100-continue' }).slice(0, -1));
    await slow.hears('100 Continue');
    expect(await send(port, webhookText(webhookBody()))).toMatchObject({ text: 'queued' });
    await closing.promise;
    expect(inbox.countPending()).toBe(1);
    expect(await slow.answer).toMatchObject({ status: 0 });
    expect(await send(port, requestText('GET /health'))).toMatchObject({ status: 0 });
  });
});

describeWith(['shared/phabricator/inbound'], 'what a real server sent', () => {
  const recordingSchema = z.object({
    method: z.string(),
    path: z.string(),
    headers: z.array(z.tuple([z.string(), z.string()])),
    body: z.string(),
  });
  const folder = sharedFolder('phabricator/inbound');
  const recordings = readdirSync(folder).map((name) =>
    recordingSchema.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))),
  );
  const headersOf = ({ headers }: (typeof recordings)[number]) => Object.fromEntries(headers);

  const webhooks = recordings.filter(({ path }) => path.startsWith('/hook/'));
  const builds = recordings.filter(({ path }) => path.startsWith('/build?'));

  test('webhooks are queued where they are of revisions', async () => {
    const { port, inbox } = await start();
    for (const recording of webhooks) {
      // Signs again, as the recordings do not have the keys of all hooks.
      const headers = {
        ...headersOf(recording),
        'X-Phabricator-Webhook-Signature': signatureOf(recording.body),
      };
      const answer = await send(port, requestText('POST /webhook', headers, recording.body));
      const isOfRevision = recording.body.includes('"type": "DREV"');
      const isTest = recording.body.includes('"test": true');
      expect(answer).toMatchObject({
        status: 200,
        text: isOfRevision && !isTest ? 'queued' : 'ignored',
      });
    }
    expect(inbox.countPending()).toBeGreaterThan(0);
    expect(inbox.countPending()).toBeLessThan(webhooks.length);
  });

  test('builds are queued, with the requested variables', async () => {
    const { port, inbox } = await start();
    expect(builds.length).toBeGreaterThan(0);
    for (const recording of builds) {
      const sent = new URL(recording.path, 'http://relay').searchParams;
      const asked = new URLSearchParams([...sent].filter(([name]) => name !== 'build'));
      asked.set('build', sent.get('build_phid') ?? '');
      const answer = await send(port, buildText(asked.toString(), headersOf(recording)));
      expect(answer).toMatchObject({ status: 200, text: 'queued' });
      expect(inbox.pendingDeliveries().at(-1)).toMatchObject({
        diff: Number(sent.get('diff')),
        revision: Number(sent.get('revision')),
      });
    }
  });
});
