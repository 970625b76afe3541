// Conduit, the API of Phabricator: its requests, its responses, and what is repeated.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Conduit, type ConduitOptions, mapOf, openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { ConduitError, isFinal, isRead } from '../../../src/forge/phabricator/failure.ts';
import { databaseFaults, proxyFaults } from '../../fakes/phabricator/outages.ts';
import { describeWith, sharedFolder } from '../../needs.ts';
import { times } from '../../random.ts';

const token = 'api-abcdefghijklmnopqrstuvwxyz23';
const write = 'harbormaster.sendmessage';

type Request = { path: string; headers: IncomingHttpHeaders; body: string };
/** Handles a request; stays silent if it returns nothing. */
type Reply = (response: ServerResponse, request: Request) => unknown;

/** Replies to requests in order, and repeats its last reply. */
async function serve(...replies: Reply[]) {
  const requests: Request[] = [];
  const server = createServer(async (asked, response) => {
    const { url: path = '', headers } = asked;
    const request = { path, headers, body: await text(asked) };
    const reply = replies[Math.min(requests.length, replies.length - 1)];
    requests.push(request);
    reply?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    params: () => requests.map(({ body }) => paramsIn(body)),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const paramsIn = (body: string) => JSON.parse(new URLSearchParams(body).get('params') ?? '');

const json =
  (answer: unknown): Reply =>
  (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  };
const result = (value: unknown) => json({ result: value, error_code: null, error_info: null });
const error = (code: string, info: string) => json({ result: null, error_code: code, error_info: info });
const page =
  (status: number, headers: Record<string, string> = {}, body = '<!DOCTYPE html>'): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=UTF-8', ...headers });
    response.end(body);
  };
const jsonType = { 'content-type': 'application/json' };
const tooMany = page(429, { 'content-type': 'text/plain; charset=utf-8' });
const readOnly = error(
  'ERR-CONDUIT-CORE',
  'Unable to establish a write-mode connection because this server is in read-only mode.',
);
const reset: Reply = (response) => response.destroy();

let waits: number[];
let sentences: string[];

beforeEach(() => {
  waits = [];
  sentences = [];
});

function open({ url }: { url: string }, options: Partial<ConduitOptions> = {}): Conduit {
  const pause = async (seconds: number) => waits.push(seconds);
  const log = { info: (sentence: string) => sentences.push(sentence) };
  return openConduit({ url, token, log, pause, ...options });
}

/** Returns the error of a call that must fail. */
async function failureOf(conduit: Conduit, method: string, schema: z.ZodType = z.unknown()) {
  const thrown = await conduit.call(method, {}, schema).catch((error: unknown) => error);
  if (!(thrown instanceof ConduitError)) expect.fail(`${method} did not fail: ${thrown}`);
  const { kind, code, message } = thrown;
  return { kind, code, message };
}

describe('a request', () => {
  test('is one form field, params, of JSON with the token in it', async () => {
    await using server = await serve(result('vm'));
    await open(server).call('conduit.ping', { ids: [1], isDraft: false }, z.string());
    expect(server.requests).toEqual([
      {
        path: '/api/conduit.ping',
        headers: expect.objectContaining({ 'content-type': 'application/x-www-form-urlencoded' }),
        body: expect.stringMatching(/^params=[^&]*$/),
      },
    ]);
    expect(server.params()).toEqual([{ ids: [1], isDraft: false, __conduit__: { token } }]);
  });

  test('has no half of a letter in it, which PHP would not take', async () => {
    await using server = await serve(result(null));
    await open(server).call(write, { value: 'cut \ud83d', whole: '🟢' }, z.null());
    expect(server.requests[0]?.body).not.toMatch(/%5Cud83d/i);
    expect(server.params()).toMatchObject([{ value: 'cut \ufffd', whole: '🟢' }]);
  });

  // The token could be read on its way.
  test('goes over https, or stays on this machine', () => {
    for (const url of ['http://reviews.example.org', 'http://localhost.example.org']) {
      expect(() => open({ url })).toThrow(ConduitError);
    }
    for (const url of ['https://reviews.example.org', 'http://localhost:80', 'http://[::1]:80']) {
      expect(open({ url }).url).toBe(url);
    }
  });

  test.each(['', 'api-abc\n', 'api abc', '"api-abc"'])('has no token like %j', (token) => {
    const conduit = () => open({ url: 'https://reviews.example.org' }, { token });
    expect(conduit).toThrow(ConduitError);
  });

  test('does not follow a redirect, so that the token goes nowhere else', async () => {
    await using other = await serve(result('vm'));
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `${other.url}/api/user.whoami`;
      await using server = await serve(page(status, { location }));
      expect(await failureOf(open(server), 'user.whoami')).toMatchObject({ kind: 'refused' });
    }
    expect(other.requests).toEqual([]);
  });
});

describe('a response', () => {
  const odd = z.object({ data: z.array(z.object({ id: z.int() })) });

  test('that is no success is an error of its kind, and says what to do', async () => {
    const lines: string[] = [];
    for (const [what, reply, kind, method = 'user.whoami'] of [
      ['an unknown method', error('ERR-CONDUIT-CALL', 'No such method.'), 'refused', 'no.such'],
      ['no such diff', error('ERR_NOT_FOUND', 'Diff not found.'), 'refused'],
      ['no such object', error('ERR-INVALID-OBJECT-PHID', 'Specified "x" does not exist.'), 'refused'],
      ['no such monogram', error('ERR-CONDUIT-CORE', 'Monogram "D3" does not identify a valid object.'), 'refused'],
      ['an invisible object', error('ERR-CONDUIT-CORE', '[You Shall Not Pass: Unknown Object] x'), 'refused'],
      ['no session', error('ERR-INVALID-SESSION', 'Session key is not present.'), 'refused'],
      ['no permission', error('ERR-INVALID-AUTH', 'User account is not permitted to use the API.'), 'refused'],
      ['many lines', error('ERR-CONDUIT-CORE', 'Exception:\n\n   1  x\u0007'), 'refused'],
      ['a page with HTTP 200', page(200), 'refused'],
      ['cut off', page(200, jsonType, '{"result": {'), 'refused'],
      ['of another program', page(200, jsonType, '{"message": "ok"}'), 'refused'],
      ['empty', page(200, jsonType, ''), 'refused'],
      ['not as described', result({ data: [{ id: '1' }] }), 'refused'],
      ['not as described, after a write', result({ data: [{ id: '1' }] }), 'unsure', write],
      ['an error page', page(500), 'busy'],
      ['an error page, after a write', page(500), 'unsure', write],
      ['too many requests', tooMany, 'busy'],
    ] as [string, Reply, string, string?][]) {
      await using server = await serve(reply);
      const failure = await failureOf(open(server), method, odd);
      expect(failure.kind, what).toBe(kind);
      lines.push(`${what}\n  ${failure.message.replace(server.url, 'URL')}\n`);
    }
    await expect(lines.join('')).toMatchFileSnapshot('golden/conduit.txt');
  });

  test('of more than 32 MiB is aborted while it arrives', async () => {
    const chunk = Buffer.alloc(1024 ** 2, ' ');
    let sent = 0;
    const endless: Reply = (response) => {
      response.setHeader('content-type', 'application/json');
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += 1;
        sent += 1;
      };
      response.on('drain', more);
      more();
    };
    await using server = await serve(endless);
    expect(await failureOf(open(server), 'user.whoami')).toMatchObject({ kind: 'refused' });
    expect(server.requests).toHaveLength(1);
    expect(sent).toBeLessThan(64);
  });

  test('loses our token of any form', async () => {
    await using server = await serve(error('ERR-INVALID-AUTH', 'API token "xyz-secret" is wrong.'));
    const { message } = await failureOf(open(server, { token: 'xyz-secret' }), 'user.whoami');
    expect(message).not.toContain('xyz-secret');
  });

  // Phabricator's own answer repeats it.
  test('repeats a wrong token, which is removed from the error', async () => {
    const letters = fc.stringMatching(/^[ -~]{0,320}$/);
    const secret = fc.constantFrom(token, 'cli-2345', 'API-QRSTUVWXYZ', 'clr-a_b');
    let info = '';
    await using server = await serve((...args) => error('ERR-INVALID-AUTH', info)(...args));
    const conduit = open(server);
    await fc.assert(
      fc.asyncProperty(letters, secret, letters, async (before, secret, after) => {
        info = `${before} "${secret}" ${after}`;
        const { message } = await failureOf(conduit, 'user.whoami');
        expect(message).not.toContain(secret);
        expect(message).not.toMatch(/(api|cli|clr)-\w/i);
        expect(message.length).toBeLessThan(600);
      }),
      { numRuns: times(25) },
    );
  });
});

describe('a busy server', () => {
  test('returns 429 without a Retry-After, and is tried again after growing waits, with a notice of the long', async () => {
    await using server = await serve(tooMany, tooMany, tooMany, result('done'));
    expect(await open(server).call(write, { type: 'work' }, z.string())).toBe('done');
    expect(waits).toEqual([1, 2, 5]);
    expect(sentences).toHaveLength(1);
    expect(server.params()).toEqual(Array(4).fill({ type: 'work', __conduit__: { token } }));
  });

  test('is obeyed if a proxy names the wait, within limits', async () => {
    await using server = await serve(page(429, { 'retry-after': '60' }), result('done'));
    await open(server).call(write, {}, z.string());
    expect(waits).toEqual([60]);

    await using patient = await serve(page(429, { 'retry-after': '3600' }));
    expect(await failureOf(open(patient), write)).toMatchObject({ kind: 'busy' });
    expect(patient.requests).toHaveLength(1);
  });

  test('is in read-only mode for a while, and a write is done when that is over', async () => {
    await using server = await serve(readOnly, readOnly, result('done'));
    expect(await open(server).call(write, {}, z.string())).toBe('done');

    await using forever = await serve(readOnly);
    expect(await failureOf(open(forever), write)).toMatchObject({ kind: 'busy', code: 'ERR-CONDUIT-CORE' });
  });

  test('is not there yet, and nothing was done', async () => {
    const { url, stop } = await serve(result('vm'));
    await stop();
    expect(await failureOf(open({ url }), write)).toMatchObject({ kind: 'busy', code: undefined });
    expect(waits).toHaveLength(5);
  });
});

const breakdowns: [string, Reply][] = [
  ['breaks down with HTTP 500', page(500)],
  ['is gone before there is an answer', reset],
  [
    'is gone in the middle of an answer',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"result":', () => response.destroy());
    },
  ],
];

describe.each(breakdowns)('a server that %s', (_, reply) => {
  test('gets reads again', async () => {
    await using server = await serve(reply, reply, result({ phid: 'PHID-USER-a' }));
    const schema = z.object({ phid: z.string() });
    expect(await open(server).call('user.whoami', {}, schema)).toEqual({ phid: 'PHID-USER-a' });
    expect(waits).toEqual([1, 2]);
  });

  test('is busy where it stays so', async () => {
    await using server = await serve(reply);
    expect(await failureOf(open(server), 'user.whoami')).toMatchObject({ kind: 'busy' });
    expect(server.requests).toHaveLength(6);
  });

  test('may have done a write, which is not sent twice', async () => {
    await using server = await serve(reply, result('done'));
    expect(await failureOf(open(server), write)).toMatchObject({ kind: 'unsure' });
    expect(server.requests).toHaveLength(1);
  });
});

test('a server that begins no answer, or does not end it, is waited for so many seconds', async () => {
  const half: Reply = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  };
  for (const reply of [() => {}, half]) {
    await using server = await serve(reply);
    expect(await failureOf(open(server, { answerSeconds: 0.2 }), write)).toMatchObject({ kind: 'unsure' });
  }
});

test('methods that only read may be repeated, and others not', () => {
  const reads = ['conduit.ping', 'user.whoami', 'phid.lookup', 'phid.query', 'differential.getrawdiff'];
  reads.push('differential.querydiffs', 'differential.revision.search', 'harbormaster.querybuildables');
  const writes = ['differential.revision.edit', 'differential.createcomment', 'harbormaster.createartifact'];
  expect([...reads, ...writes, write, 'file.upload'].filter(isRead)).toEqual(reads);
});

describe('cancelling', () => {
  test('ends a wait, and sends nothing more', async () => {
    const cancel = new AbortController();
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      cancel.abort();
    };
    await using server = await serve(tooMany);
    const conduit = open(server, { signal: cancel.signal, pause });
    expect(await failureOf(conduit, write)).toMatchObject({ kind: 'busy' });
    expect(server.requests).toHaveLength(1);
    expect(pauses).toBe(1);
  });

  test('ends a write that is under way, which may then have been done', async () => {
    const cancel = new AbortController();
    await using server = await serve(() => cancel.abort());
    expect(await failureOf(open(server, { signal: cancel.signal }), write)).toMatchObject({ kind: 'unsure' });
  });
});

describe('searching', () => {
  const item = z.object({ id: z.int() });
  const rows = (...ids: number[]) => ids.map((id) => ({ id }));
  const pageOf = (ids: number[], after: string | null) =>
    result({ data: rows(...ids), cursor: { limit: 100, after, before: null } });
  const vanished = (why: string) => error('ERR-CONDUIT-CORE', why);
  const askedFor = (server: { params(): { after?: unknown; limit?: unknown }[] }) =>
    server.params().map(({ after, limit }) => ({ after, limit }));

  test('reads page after page, by cursors that are strings, until one is null', async () => {
    await using server = await serve(pageOf([9, 7], '7'), pageOf([6], '6'), pageOf([1], null));
    const params = { constraints: { ids: [1] } };
    expect(await open(server).search('x.search', params, item)).toEqual(rows(9, 7, 6, 1));
    expect(server.params()).toEqual([
      { ...params, limit: 100, __conduit__: { token } },
      { ...params, limit: 100, after: '7', __conduit__: { token } },
      { ...params, limit: 100, after: '6', __conduit__: { token } },
    ]);
  });

  test('continues after a page of rows that are all invisible, and reads no more than requested', async () => {
    await using server = await serve(pageOf([], '7'), pageOf([6], '6'));
    expect(await open(server).search('x.search', {}, item, 3)).toEqual(rows(6, 6, 6));
    expect(askedFor(server).slice(0, 2)).toEqual([
      { limit: 3, after: undefined },
      { limit: 3, after: '7' },
    ]);
  });

  test('begins anew where the row of the cursor has vanished', async () => {
    for (const why of [
      'Cursor "7" does not identify a valid object in query "DifferentialRevisionQuery".',
      '[You Shall Not Pass: Restricted Differential Revision] Only its owner may.',
    ]) {
      await using server = await serve(pageOf([9, 7], '7'), vanished(why), pageOf([9], '9'), pageOf([6], null));
      expect(await open(server).search('x.search', {}, item)).toEqual(rows(9, 6));
    }
  });

  test("fails if the cursor's row vanishes repeatedly", async () => {
    const why = 'Cursor "7" does not identify a valid object.';
    const replies = Array(9)
      .fill([pageOf([7], '7'), vanished(why)])
      .flat();
    await using server = await serve(...replies);
    const search = open(server).search('x.search', {}, item);
    await expect(search).rejects.toThrow(why);
    expect(server.requests).toHaveLength(8);
  });

  test('does not start again for an error of the first page', async () => {
    await using server = await serve(vanished('Expected a numeric scalar.'));
    await expect(open(server).search('x.search', {}, item)).rejects.toThrow('numeric scalar');
    expect(server.requests).toHaveLength(1);
  });

  test('ends where a server has pages for ever', async () => {
    await using server = await serve(pageOf([7], '7'));
    await expect(open(server).search('x.search', {}, item)).rejects.toThrow(
      `${server.url} has more than 200 pages for x.search`,
    );
  });
});

describe('a failure', () => {
  const finality = async (reply: Reply) => {
    await using server = await serve(reply);
    const calls = ['differential.revision.search', write].map((method) =>
      open(server).call(method, {}, z.object({ data: z.string() })),
    );
    return (await Promise.allSettled(calls)).map((settled) => settled.status === 'rejected' && isFinal(settled.reason));
  };

  test('of the database or a proxy, or that is corrected elsewhere, is not final', async () => {
    const faults = Object.values({ ...databaseFaults, ...proxyFaults }).map((fault): Reply => {
      if (fault.kind !== 'answer') expect.fail('It is no answer.');
      const { status, contentType, body } = fault;
      return (response) => response.writeHead(status, { 'content-type': contentType }).end(body);
    });
    for (const reply of [
      ...faults,
      result({ data: 1 }),
      error('ERR-INVALID-AUTH', 'API token "…" has expired.'),
      error('ERR-INVALID-SESSION', 'Session key is not present.'),
      readOnly,
      error('ERR-CONDUIT-CORE', '#1213: Deadlock found when trying to get lock'),
      error('AphrontConnectionLostQueryException', 'gone away'),
    ]) {
      expect(await finality(reply)).toEqual([false, false]);
    }
  });

  test.each([
    ['ERR-CONDUIT-CORE', "#1062: Duplicate entry 'x' for key 'key_artifact'"],
    ['ERR_NOT_FOUND', 'Diff not found.'],
    ['ERR-CONDUIT-CORE', 'Monogram "D7" does not identify a valid object.'],
    ['ERR-CONDUIT-CORE', 'You Shall Not Pass: Restricted Differential Revision'],
  ])('that is Conduit’s own word on an object is final: %s', async (code, info) => {
    expect(await finality(error(code, info))).toEqual([true, true]);
  });
});

test('a map may be an empty list where it is empty, and no other', () => {
  const map = mapOf(z.int());
  for (const [written, read] of [
    [[], {}],
    [{}, {}],
    [{ a: 1 }, { a: 1 }],
    [[1], undefined],
    [{ a: 'b' }, undefined],
  ]) {
    expect(map.safeParse(written).data).toEqual(read);
  }
});

describeWith(['shared/phabricator'], 'every recorded answer', () => {
  const recording = z.object({
    method: z.string(),
    http_status: z.int(),
    response_headers: z.array(z.tuple([z.string(), z.string()])),
    response_json: z
      .object({
        result: z.unknown(),
        error_code: z.string().nullable(),
        error_info: z.string().nullable(),
      })
      .optional(),
    response_text: z.string().optional(),
  });
  const folder = sharedFolder('phabricator/calls');
  const recordings = readdirSync(folder).map((name) =>
    recording.parse(JSON.parse(readFileSync(join(folder, name), 'utf8'))),
  );

  let played: z.infer<typeof recording> | undefined;
  let server: Awaited<ReturnType<typeof serve>>;
  beforeEach(async () => {
    server = await serve((response) => {
      if (played === undefined) return;
      const { http_status, response_headers, response_json, response_text = '' } = played;
      const type = response_headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
      response.writeHead(http_status, { 'content-type': type ?? '' });
      response.end(response_json === undefined ? response_text : JSON.stringify(response_json));
    });
  });
  afterEach(() => server.stop());

  test('is taken for what it is', async () => {
    const kinds = new Map<string, number>();
    for (const each of recordings) {
      played = each;
      const { http_status: status, response_json: body } = each;
      const outcome = await open(server)
        .call('user.whoami', {}, z.unknown())
        .then(
          (value) => ({ kind: 'answered', value }),
          (error: ConduitError) => ({ kind: error.kind, code: error.code }),
        );
      kinds.set(outcome.kind, (kinds.get(outcome.kind) ?? 0) + 1);
      if (status !== 200) expect(outcome).toEqual({ kind: 'busy' });
      else if (body === undefined) expect(outcome).toEqual({ kind: 'refused' });
      else if (body.error_code === null) {
        expect(outcome).toEqual({ kind: 'answered', value: body.result });
      } else {
        const isPassing = body.error_info?.includes('read-only mode');
        expect(outcome).toEqual({
          kind: isPassing ? 'busy' : 'refused',
          code: body.error_code,
        });
      }
    }
    expect([...kinds.keys()].toSorted()).toEqual(['answered', 'busy', 'refused']);
    expect(recordings.length).toBeGreaterThan(250);
  });
});
