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

describe('a webhook', () => {
  // A webhook is sent twice. Defence: Its bytes are recognized.
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

  // A webhook is forged. Defence: Its bytes are signed with the key of the hook.
  test.each([
    ['without a signature', undefined],
    ['signed with another key', signatureOf(webhookBody(), 'another')],
    ['with the signature of another body', signatureOf(webhookBody({ transaction: 'b' }))],
    ['with two signatures', `${signatureOf(webhookBody())}, ${signatureOf(webhookBody())}`],
  ])('%s is answered with 401 and not queued', async (_, signature) => {
    const { port, inbox, logged } = await start();
    const headers = { 'X-Phabricator-Webhook-Signature': signature };
    const answer = await send(port, webhookText(webhookBody(), headers));
    expect(answer).toMatchObject({ status: 401 });
    expect(inbox.countPending()).toBe(0);
    expect(logged).toEqual([unsigned]);
  });

  const unsigned = 'Refused from 127.0.0.1: a webhook whose signature is missing or wrong.';

  // Refused requests fill the log or write into it. Defence: Each kind has one line a minute with a count, and no text
  // of the request.
  test('that is refused is in the log once a minute, with how many more there were', async () => {
    let now = at;
    const { port, logged } = await start({ now: () => now });
    const request = webhookText('x', { 'X-Phabricator-Webhook-Signature': undefined });
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

  test('that is refused leaves nothing of its words in the log', async () => {
    const { port, logged } = await start();
    const headers = {
      'X-Phabricator-Webhook-Signature': 'STRANGE',
      'User-Agent': 'STRANGE\tppsgate-check',
      'X-Forwarded-For': 'STRANGE',
    };
    await send(port, webhookText('STRANGE', headers));
    expect(logged).toEqual([unsigned]);
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
    await send(port, webhookText(body, { 'X-Phabricator-Webhook-Signature': '0' }));
    expect(logged).toEqual([
      '`ppsgate phabricator check` has tested the webhook, and its signature is valid.',
      unsigned.replace(/\.$/, '; it claims to be from `ppsgate phabricator check`.'),
      unsigned,
    ]);
  });

  test('of any other object than a revision is ignored', async () => {
    const { port, inbox } = await start();
    for (const type of ['DIFF', 'HMBD', 'CMIT', 'PROJ']) {
      const answer = await send(port, webhookText(webhookBody({ type })));
      expect(answer).toMatchObject({ status: 200, text: 'ignored' });
    }
    expect(inbox.countPending()).toBe(0);
  });

  test('that was sent manually is logged, and not queued', async () => {
    const { port, inbox, logged } = await start();
    const answer = await send(port, webhookText(webhookBody({ test: true })));
    expect(answer).toMatchObject({ status: 200, text: 'ignored' });
    expect(logged).toEqual(['A test webhook has arrived, and its signature is valid.']);
    expect(inbox.countPending()).toBe(0);
  });

  test.each(['', '{', 'null', '{"object":{"type":"DREV"}}', webhookBody().replace('DREV-a', "'")])(
    'that is signed but not of Herald is refused, and logged: %j',
    async (body) => {
      const { port, inbox, logged } = await start();
      const answer = await send(port, webhookText(body));
      expect(answer).toMatchObject({ status: 400 });
      expect(logged).toHaveLength(1);
      expect(inbox.countPending()).toBe(0);
    },
  );

  test('that does not declare its length is refused', async () => {
    const { port } = await start();
    const body = webhookBody();
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const headers = {
      'X-Phabricator-Webhook-Signature': signatureOf(body),
      'Content-Length': undefined,
    };
    const chunked = { ...headers, 'Transfer-Encoding': 'chunked' };
    for (const request of [requestText('POST /webhook', headers), requestText('POST /webhook', chunked, chunks)]) {
      expect(await send(port, request)).toMatchObject({ status: 411 });
    }
  });

  test('of the maximum length is accepted, and one that is a byte longer is refused unread', async () => {
    const { port } = await start();
    const longest = webhookBody().padEnd(limits.bodyBytes);
    expect(await send(port, webhookText(longest))).toMatchObject({ status: 200, text: 'queued' });
    const headers = {
      'X-Phabricator-Webhook-Signature': signatureOf(`${longest} `),
      'Content-Length': String(limits.bodyBytes + 1),
    };
    expect(await send(port, requestText('POST /webhook', headers))).toMatchObject({ status: 413 });
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

    const unsigned = await send(port, asking({ 'X-Phabricator-Webhook-Signature': undefined }));
    expect(unsigned).toMatchObject({ status: 401, head: expect.stringMatching(/^HTTP\/1\.1 401/) });
    expect(await send(port, asking({ 'Content-Length': '10000000' }))).toMatchObject({
      status: 413,
    });
  });

  test('that breaks off is not queued, and no fault of ours', async () => {
    const { port, inbox, logged } = await start();
    const { socket, answer } = clientOf(port);
    socket.end(webhookText(webhookBody()).slice(0, -1));
    await answer;
    expect(inbox.countPending()).toBe(0);
    expect(logged).toEqual([]);
  });
});

describe('a build', () => {
  test('is queued by its target, and recognized when requested again', async () => {
    const { port, inbox } = await start();
    expect(await send(port, buildText(query))).toMatchObject({ status: 200, text: 'queued' });
    expect(await send(port, buildText(query))).toMatchObject({ status: 200, text: 'known' });
    const restarted = query.replace('HMBT-a', 'HMBT-b');
    expect(await send(port, buildText(restarted))).toMatchObject({ status: 200, text: 'queued' });
    const build = { kind: 'build', at, build: 'PHID-HMBD-a', diff: 80677, revision: 27401 };
    expect(inbox.pendingDeliveries()).toEqual([
      { ...build, id: 'PHID-HMBT-a', target: 'PHID-HMBT-a' },
      { ...build, id: 'PHID-HMBT-b', target: 'PHID-HMBT-b' },
    ]);
  });

  test.each([
    ['revision=27401', { revision: 27401 }],
    ['revision=D27401', { revision: 27401 }],
    ['revision=', {}],
    ['more=of&it', {}],
  ])('may name its revision as Harbormaster does: %s', async (rest, revision) => {
    const { port, inbox } = await start();
    const request = buildText(`target=PHID-HMBT-a&build=PHID-HMBD-a&diff=80677&${rest}`);
    expect(await send(port, request)).toMatchObject({ status: 200, text: 'queued' });
    const common = { id: 'PHID-HMBT-a', target: 'PHID-HMBT-a', build: 'PHID-HMBD-a', diff: 80677 };
    expect(inbox.pendingDeliveries()).toEqual([{ kind: 'build', at, ...common, ...revision }]);
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

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

  // A build request is forged. Defence: It needs the password; the reply reveals nothing else.
  test.each([
    ['no password', undefined],
    ['another password', basic('phorge:correct horses')],
    ['another user', basic('phorg:correct horse')],
    ['an empty password', 'Basic '],
    ['a password of another scheme', basic(buildPassword).replace('Basic', 'Bearer')],
    ['a password that is not encoded', `Basic ${buildPassword}`],
  ])('with %s is answered with 401 and not queued, right or wrong', async (_, authorization) => {
    const { port, inbox } = await start();
    for (const text of [query, '']) {
      const answer = await send(port, buildText(text, { Authorization: authorization }));
      expect(answer.status).toBe(401);
      expect(answer.head).toContain('WWW-Authenticate: Basic realm="ppsgate"');
    }
    expect(inbox.countPending()).toBe(0);
  });

  test('has no body', async () => {
    const { port } = await start();
    for (const headers of [
      { 'Content-Length': '10000000' },
      { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
    ]) {
      expect(await send(port, buildText(query, headers))).toMatchObject({ status: 413 });
    }
  });
});

describe('the relay', () => {
  test('reports to monitoring how many deliveries wait', async () => {
    const { port } = await start();
    expect(await send(port, requestText('GET /health'))).toMatchObject({ text: '0 pending' });
    await send(port, buildText(query));
    const answer = await send(port, requestText('GET /health'));
    expect(answer).toMatchObject({ status: 200, text: '1 pending' });
  });

  // The relay has no key or no password. Defence: A path without its key does not exist.
  test('has no path that it was given no key or no password for', async () => {
    const { port } = await start({ webhookKey: '', buildPassword: '' });
    const webhook = webhookText(webhookBody(), {
      'X-Phabricator-Webhook-Signature': signatureOf(webhookBody(), ''),
    });
    const build = buildText(query, { Authorization: 'Basic =' });
    for (const request of [webhook, build, requestText('GET /'), requestText('GET //')]) {
      expect(await send(port, request)).toMatchObject({ status: 404 });
    }
  });

  // `/webhook/%2e%2e/build` passes a proxy that allows only `/webhook`. Defence: Paths are compared as sent, and any
  // other spelling does not exist.
  test.each([
    '/webhook/%2e%2e/build',
    '/webhook/../build',
    '/./build',
    '//build',
    '/build/',
    '/%62uild',
    '/BUILD',
    '\\\\build',
    '/build#',
    '/build;a',
    'http://relay/build',
  ])('has nothing at a path that a parser may take for another: %s', async (path) => {
    const { port, inbox } = await start();
    const request = buildText(query).replace('POST /build', `POST ${path}`);
    expect([400, 404]).toContain((await send(port, request)).status);
    expect(inbox.countPending()).toBe(0);
  });

  test.each([
    ['GET /webhook', 'POST'],
    ['PUT /build', 'POST'],
    ['POST /health', 'GET'],
  ])('answers 405 to %s', async (startLine, allowed) => {
    const { port } = await start();
    const answer = await send(port, requestText(startLine));
    expect(answer).toMatchObject({ status: 405, text: `Only ${allowed} is supported here.` });
    expect(answer.head).toContain(`Allow: ${allowed}`);
  });

  test('refuses headers and request lines that are too long', async () => {
    const { port } = await start();
    const long = 'x'.repeat(limits.headerBytes);
    for (const request of [requestText('GET /health', { Cookie: long }), requestText(`GET /health?${long}`)]) {
      expect(await send(port, request)).toMatchObject({ status: 431 });
    }
  });

  test.each([
    'hello\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    requestText('POST /webhook', { 'Transfer-Encoding': 'chunked' }, 'x'),
    requestText('POST /webhook', { 'Content-Length': '-1' }),
  ])('answers 400 to what is no HTTP: %j', async (text) => {
    const { port } = await start();
    expect(await send(port, text)).toMatchObject({ status: 400 });
  });

  // A second request is in the body of the first. Defence: One request per connection is served.
  test('replies to the first of several requests on a connection and ignores the others', async () => {
    const { port, inbox } = await start();
    const requests = ['a', 'b', 'c'].map((transaction) => webhookText(webhookBody({ transaction })));
    const answer = await send(port, requests.join(''));
    expect(answer).toMatchObject({ status: 200, text: 'queued' });
    expect(answer.head).toContain('Connection: close');
    expect(inbox.pendingDeliveries()).toMatchObject([{ transactions: ['PHID-XACT-DREV-a'] }]);
    const unanswered = await send(port, webhookText(webhookBody({ transaction: 'b' })));
    expect(unanswered.text).toBe('queued');
  });

  // Requests are slow, large, broken or many. Defence: Time, headers, body and connections have bounds; larger requests
  // are refused unread.
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

  // Idle connections, from one address or many, keep webhooks out. Defence: The oldest connection without a whole
  // request is closed, in the same network first (IPv6: a /64).
  test.each([
    ['nothing', ''],
    ['half of its headers', 'POST /webhook HTTP/1.1\r\nHost: relay\r\n'],
    ['its headers and half of its body', webhookText(webhookBody()).slice(0, -9)],
  ])('takes a webhook beside 300 connections of which each has sent %s', async (_, sent) => {
    const { port, inbox, logged } = await start({ limits: { ...usualLimits, seconds: 60 } });
    const idle = Array.from({ length: 300 }, () => clientOf(port));
    for (const { socket } of idle) socket.write(sent);
    expect((await idle[0]?.answer)?.status).toBe(503);
    const webhook = webhookText(webhookBody({ transaction: 'good' }));
    expect(await send(port, webhook)).toMatchObject({ status: 200, text: 'queued' });
    expect(inbox.pendingDeliveries()).toMatchObject([{ transactions: ['PHID-XACT-DREV-good'] }]);
    expect(logged).toEqual(['Refused from 127.0.0.1: the oldest of too many open connections.']);
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
