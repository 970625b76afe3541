// Downloads of artifacts, from where GitHub points to.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { artifactLimits, fetchArtifact } from '../../../src/forge/github/artifact.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { installationToken } from '../../fakes/github/server.ts';

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A server with a separate origin, which records its requests. */
async function serve(answer: RequestListener): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const anArtifact = (changes: object = {}) => ({
  id: 11,
  name: 'ppsgate',
  size_in_bytes: 1000,
  expired: false,
  ...changes,
});

/** GitHub as far as artifacts go: a list of them, and one answer to a download. */
function gitHub(artifacts: object[], download: (id: string) => { status: number; location?: string }) {
  return serve((request, response) => {
    const [, id] = /\/repos\/example\/router\/actions\/artifacts\/(\d+)\/zip$/.exec(request.url ?? '') ?? [];
    const isList = request.url?.startsWith('/repos/example/router/actions/runs/5/artifacts?');
    const { status, location } = id === undefined ? { status: isList ? 200 : 404 } : download(id);
    response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
    response.end(JSON.stringify(isList ? { total_count: artifacts.length, artifacts } : { message: 'said' }));
  });
}

/** Tries to fetch the only artifact from where GitHub points to. */
const pointingTo = (location: string | undefined) =>
  gitHub([anArtifact()], () => ({ status: 302, ...(location && { location }) }));

async function fetchFrom(github: { url: string }, limits = {}) {
  const wanted = { repository: 'example/router', runId: 5, name: 'ppsgate' };
  return fetchArtifact(await hastyOctokit(github), wanted, { ...artifactLimits, ...limits });
}

const whys = new Map<string, string>();
const keep = <T extends { kind: string }>(what: string, answer: T): T => {
  if ('why' in answer) whys.set(what, String(answer.why).replaceAll(/127\.0\.0\.1:\d{4,5}/g, 'HOST'));
  return answer;
};

test('the host that GitHub points to does not get the token', async () => {
  const store = await serve((_request, response) => response.end('zip'));
  const github = await pointingTo(`${store.url}/a?sig=x`);
  expect(await fetchFrom(github)).toEqual({ kind: 'fetched', bytes: Buffer.from('zip') });
  expect(github.asked.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill(`token ${installationToken}`));
  expect(store.asked.map(({ url }) => url)).toEqual(['/a?sig=x']);
  expect(JSON.stringify(store.asked.map(({ rawHeaders }) => rawHeaders))).not.toContain(installationToken);
});

test('GitHub itself does not get the token where it points to itself', async () => {
  const github = await gitHub([anArtifact()], () => ({ status: 302, location: `${github.url}/blob` }));
  await fetchFrom(github);
  expect(github.asked.map(({ url, headers }) => [url, headers.authorization]).at(-1)).toEqual(['/blob', undefined]);
});

test('the newest of its name is fetched', async () => {
  const store = await serve((request, response) => response.end(request.url));
  const others = [anArtifact(), anArtifact({ id: 13 }), anArtifact({ id: 12 }), anArtifact({ id: 14, name: 'x' })];
  const github = await gitHub(others, (id) => ({ status: 302, location: `${store.url}/${id}` }));
  expect(await fetchFrom(github)).toEqual({ kind: 'fetched', bytes: Buffer.from('/13') });
});

test('a download is cut off beyond the bound, while it still comes', async () => {
  const full = await serve((_request, response) => response.end(Buffer.alloc(1000)));
  expect(await fetchFrom(await pointingTo(full.url), { zipBytes: 1000 })).toMatchObject({ kind: 'fetched' });
  const endless = await serve((_request, response) => response.write(Buffer.alloc(1001)));
  const answer = keep('too large', await fetchFrom(await pointingTo(endless.url), { zipBytes: 1000 }));
  expect(answer.kind).toBe('refused');
});

test.for<[string, object, string]>([
  ['that does not exist', { name: 'other' }, 'none'],
  ['that has expired', { expired: true }, 'none'],
  ['that is said to be too large', { size_in_bytes: 200 * 1024 ** 2 + 1 }, 'refused'],
])('an artifact %s is not requested', async ([what, changes, kind]) => {
  const github = await gitHub([anArtifact(changes)], () => ({ status: 500 }));
  expect(keep(what, await fetchFrom(github)).kind).toBe(kind);
  expect(github.asked).toHaveLength(1);
});

test.each([
  'http://example.org/a',
  'file:///etc/passwd',
  'data:text/plain,x',
  'http://127.0.0.1.example.org/a',
  'https://someone:secret@example.org/a',
  '/relative',
  undefined,
])('nothing is fetched from %s', async (location) => {
  expect(keep('no address', await fetchFrom(await pointingTo(location))).kind).toBe('refused');
});

test('a further redirect is not followed', async () => {
  const further = await serve((_request, response) => response.end('zip'));
  const store = await serve((_request, response) => response.writeHead(302, { location: further.url }).end());
  const answer = keep('points further', await fetchFrom(await pointingTo(store.url)));
  expect(answer).toMatchObject({ kind: 'failed', mayPass: true });
  expect(further.asked).toEqual([]);
});

test.for<[string, RequestListener]>([
  ['refuses', (_request, response) => response.writeHead(403).end('no')],
  [
    'breaks off',
    (_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    },
  ],
  ['sends nothing in time', () => {}],
])('a host that %s may pass, and its address stays a secret', async ([what, answer]) => {
  const store = await serve(answer);
  const fetched = keep(what, await fetchFrom(await pointingTo(`${store.url}/?sig=secret`), { seconds: 0.1 }));
  expect(fetched).toMatchObject({ kind: 'failed', mayPass: true });
  expect(JSON.stringify(fetched)).not.toContain('secret');
});

test.each([410, 403, 401])('a GitHub that answers %d does not pass soon', async (status) => {
  const github = await gitHub([anArtifact()], () => ({ status }));
  expect(keep(`GitHub answers ${status}`, await fetchFrom(github))).toMatchObject({ kind: 'failed', mayPass: false });
});

test('a GitHub that cannot be reached may pass', async () => {
  const answer = keep('GitHub is away', await fetchFrom({ url: 'http://127.0.0.1:1' }));
  expect(answer).toMatchObject({ kind: 'failed', mayPass: true });
});

test('each failure has a sentence', async () => {
  const text = [...whys].map(([what, why]) => `${what}\n  ${why}\n`).join('');
  await expect(text).toMatchFileSnapshot('golden/artifact-failures.txt');
});
