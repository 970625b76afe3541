// Sends requests to servers on loopback, good and bad ones.
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type HttpRequest, openHttpClient, sendRequest } from '../../src/system/http.ts';
import { type Certificate, makeCertificate, startHttps } from '../lab/power/https-server.ts';
import { describeWith } from '../needs.ts';

/** No test lasts so long. */
const longSeconds = 600;
const maxBytes = 1000;
const limits = { answerSeconds: longSeconds, maxBytes };

describeWith(['openssl'], 'a server with a pinned certificate', () => {
  let certificate: Certificate;

  beforeAll(() => {
    certificate = makeCertificate();
  });
  afterAll(() => certificate.remove());

  const get = (origin: string, answerSeconds = longSeconds, pinnedSha256 = certificate.sha256) =>
    sendRequest(new URL('/path?query', origin), {
      trust: { pinnedSha256 },
      answerSeconds,
      maxBytes,
    });

  test('returns status, headers and body', async () => {
    await using server = await startHttps(certificate, ({ url }, response) => {
      response.writeHead(418, { 'x-pot': 'tea' }).end(url);
    });
    const answer = await get(server.origin);
    if (answer.kind === 'no-answer') expect.fail(answer.why);
    expect(answer).toMatchObject({ status: 418, statusText: "I'm a Teapot" });
    expect(answer.headers.get('x-pot')).toBe('tea');
    expect(String(answer.body)).toBe('/path?query');
  });

  test.each([
    ['says nothing', () => {}],
    ['stops halfway', (_: unknown, response: { write(text: string): void }) => response.write('x')],
  ])('that %s is given up', async (_, answer) => {
    await using server = await startHttps(certificate, answer);
    expect(await get(server.origin, 0.3)).toMatchObject({
      kind: 'no-answer',
      why: 'no complete response within 0.3 s',
      lateSeconds: 0.3,
    });
  });

  test('receives nothing without the pin, or if it shows another one', async () => {
    let requests = 0;
    await using server = await startHttps(certificate, () => {
      requests += 1;
    });
    expect(await get(server.origin, longSeconds, '0'.repeat(64))).toMatchObject({
      kind: 'no-answer',
      wasSent: false,
      distrust: { fault: 'pin', sha256: certificate.sha256 },
    });
    expect(await sendRequest(server.origin, limits)).toMatchObject({
      kind: 'no-answer',
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      wasSent: false,
      distrust: { fault: 'authority', sha256: certificate.sha256 },
    });
    expect(requests).toBe(0);
  });

  test('is never contacted without TLS', async () => {
    const origin = await serve((_, response) => response.end());
    expect(await get(origin)).toMatchObject({ code: 'ERR_INVALID_PROTOCOL', wasSent: false });
  });
});

describe('a response', () => {
  test('is refused above its size limit, and taken up to it', async () => {
    const origin = await serve(({ url }, response) => {
      response.end('x'.repeat(Number(url?.slice(1))));
    });
    const lengthOf = async (bytes: number) => {
      const answer = await sendRequest(`${origin}/${bytes}`, limits);
      return answer.kind === 'answered' ? answer.body?.length : answer.why;
    };
    expect(await lengthOf(maxBytes)).toBe(maxBytes);
    expect(await lengthOf(maxBytes + 1)).toBeUndefined();
  });

  test('may be a redirect, which is not followed', async () => {
    const paths: (string | undefined)[] = [];
    const origin = await serve(({ url }, response) => {
      paths.push(url);
      response.writeHead(302, { location: '/next' }).end();
    });
    const answer = await sendRequest(`${origin}/first`, limits);
    expect(answer).toMatchObject({ kind: 'answered', status: 302 });
    expect(paths).toEqual(['/first']);
  });

  test('is not waited for after an abort', async () => {
    const aborting = new AbortController();
    const origin = await serve(() => aborting.abort());
    const answer = await sendRequest(origin, { ...limits, signal: aborting.signal });
    expect(answer).toMatchObject({ kind: 'no-answer', code: 'ABORT_ERR', wasSent: true });
    expect(await sendRequest(origin, { ...limits, signal: aborting.signal })).toMatchObject({
      kind: 'no-answer',
      wasSent: false,
    });
  });
});

describe('a client with kept connections', () => {
  const post = { method: 'POST', body: '{}', ...limits } as const;

  function open() {
    const client = openHttpClient({});
    onTestFinished(() => client.close());
    return (origin: string, request: HttpRequest) => client.send(new URL(origin), request);
  }

  test('accepts a response that arrived in time, although this process was not scheduled until later', async () => {
    const send = open();
    const answerSeconds = 0.5;
    let askedAt = 0;
    let isInTime = false;
    const origin = await serve((_, response) => {
      response.end('{}');
      isInTime = performance.now() - askedAt < answerSeconds * 1000;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, answerSeconds * 1000);
    });
    const ask = () => {
      askedAt = performance.now();
      return send(origin, { ...post, answerSeconds });
    };
    let answer = await ask();
    // A starved machine may be late.
    while (!isInTime) answer = await ask();
    expect(answer).toMatchObject({ kind: 'answered', body: Buffer.from('{}') });
  });

  test('uses one connection again, also after an abort of a request that has ended', async () => {
    const send = open();
    const sockets = new Set<Socket>();
    const origin = await serve(({ socket }, response) => {
      sockets.add(socket);
      response.end();
    });
    const aborting = new AbortController();
    await send(origin, { ...post, signal: aborting.signal });
    aborting.abort();
    expect(await send(origin, post)).toMatchObject({ kind: 'answered' });
    expect(sockets.size).toBe(1);
  });

  test('passes lines on as they arrive, beyond the time limit, until one is too long', async () => {
    const send = open();
    const origin = await serve(async (_, response) => {
      response.write('first\nsec');
      await later.promise;
      response.write('ond\n');
      await last.promise;
      response.write('x'.repeat(maxBytes + 1));
    });
    const later = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    const received: string[] = [];
    const answer = send(origin, {
      ...post,
      answerSeconds: 1,
      onLine(line) {
        received.push(line);
        if (line === 'second') last.resolve();
        else setTimeout(later.resolve, 1500);
      },
    });
    expect(await answer).toMatchObject({
      kind: 'no-answer',
      why: 'more than 1000 bytes in a line',
    });
    expect(received).toEqual(['first', 'second']);
  });
});

const serve = (listener: RequestListener) => listen(createHttpServer(listener));

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
