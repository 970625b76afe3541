// What running a program, and asking a server, answer where they do not go well.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realPowerWorld } from '../../src/power/power.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { describeWith } from '../needs.ts';
import { type Certificate, makeCertificate, startHttps } from './https-server.ts';

const { run, request } = realPowerWorld;
/** No test lasts so long. */
const longSeconds = 600;
const sh = (script: string, options = {}) =>
  run('sh', ['-c', script], { timeoutSeconds: longSeconds, ...options });

test('a program answers its code and both outputs', async () => {
  expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
    kind: 'exited',
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  });
});

test('a program reads what it is given, or an end of file', async () => {
  expect(await sh('cat', { stdin: 'word' })).toMatchObject({ stdout: 'word' });
  expect(await sh('cat')).toMatchObject({ code: 0, stdout: '' });
});

test('a program may leave unread what it is given', async () => {
  expect(await sh('exec true', { stdin: 'x'.repeat(5_000_000) })).toMatchObject({ code: 0 });
});

test('a program has our environment and more', async () => {
  const ran = await sh('echo "$MORE"; [ -n "$PATH" ]', { env: { MORE: 'more' } });
  expect(ran).toMatchObject({ code: 0, stdout: 'more\n' });
});

test('a program that does not end is killed with what it started', async () => {
  const fifo = join(temporaryFolder(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Ends when nobody has the other side open any more.
  const allGone = readFile(fifo);
  const ran = await sh(`sleep 60 >${fifo} & sleep 60`, { timeoutSeconds: 0.2 });
  expect(ran).toEqual({ kind: 'failed', why: 'did not end within 0.2 s' });
  expect(await allGone).toHaveLength(0);
});

test('a program that is killed says by what', async () => {
  expect(await sh('kill -TERM $$')).toEqual({ kind: 'failed', why: 'was ended by SIGTERM' });
});

test('a program that writes without end is ended', async () => {
  expect(await sh('yes')).toEqual({ kind: 'failed', why: 'wrote more than 1048576 bytes' });
});

test('a program that is not there has failed', async () => {
  expect(await run('/nowhere/program', [], { timeoutSeconds: longSeconds })).toEqual({
    kind: 'failed',
    why: 'cannot be started: spawn /nowhere/program ENOENT',
  });
});

describeWith(['openssl'], 'a server', () => {
  let certificate: Certificate;

  beforeAll(() => {
    certificate = makeCertificate();
  });
  afterAll(() => certificate.remove());

  const ask = (origin: string, timeoutSeconds = longSeconds) =>
    request({
      method: 'GET',
      url: new URL('/path?query', origin),
      headers: {},
      trust: { kind: 'pinned', sha256: certificate.sha256 },
      timeoutSeconds,
    });

  test('answers status, headers and body', async () => {
    await using server = await startHttps(certificate, ({ url }, response) => {
      response.writeHead(418, { 'x-pot': 'tea' }).end(url);
    });
    expect(await ask(server.origin)).toMatchObject({
      kind: 'answered',
      status: 418,
      headers: { 'x-pot': 'tea' },
      body: '/path?query',
    });
  });

  test.each([
    ['says nothing', () => {}],
    ['stops halfway', (_: unknown, response: { write(text: string): void }) => response.write('x')],
  ])('that %s is given up', async (_, answer) => {
    await using server = await startHttps(certificate, answer);
    expect(await ask(server.origin, 0.3)).toEqual({
      kind: 'no-answer',
      why: 'no whole answer within 0.3 s',
    });
  });

  test('that does not speak TLS gives no answer', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-bmc\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect((await ask(`https://127.0.0.1:${port}`)).kind).toBe('no-answer');
    server.close();
  });

  test('that takes the connection and is silent gives no answer', async () => {
    const server = createServer(() => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect((await ask(`https://127.0.0.1:${port}`, 0.3)).kind).toBe('no-answer');
    server.close();
  });
});
