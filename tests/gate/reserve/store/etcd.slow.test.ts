import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type EtcdConfig, openEtcd } from '../../../../src/gate/reserve/store/etcd.ts';
import { type Store, StoreError } from '../../../../src/gate/reserve/store/store.ts';
import { makeAuthority } from '../../../fakes/authority.ts';
import { type EtcdCluster, type EtcdMember, type EtcdOptions, etcdNeeds, startEtcd } from '../../../fakes/etcd.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';

const run = promisify(execFile);

const prefix = '/ppsgate/';
const soon = { timeout: 120_000, interval: 20 };
/** No test lasts so long. */
const longSeconds = 600;

describeWith(etcdNeeds, 'the members of an etcd cluster', () => {
  test('may lose their leader: changes continue, and sessions are kept', async () => {
    const cluster = await start();
    const leader = await cluster.leader();
    const store = await open(membersFirst(cluster, leader));
    const session = await store.openSession(longSeconds);
    await commit(store, { put: [{ key: 'testbed', value: 'taken', session }] });
    await leader.kill();

    await expect.poll(() => store.renew(session), soon).toBe(true);
    await put(store, 'other', 'free');
    expect(await valuesIn(store)).toEqual({ other: 'free', testbed: 'taken' });
    await store.endSession(session);
    expect(await valuesIn(store)).toEqual({ other: 'free' });
  });

  test('are missed in a sentence when too few of them are left', async () => {
    const cluster = await start();
    const store = await open({ endpoints: cluster.endpoints }, { now: impatient() });
    const [left, ...others] = cluster.members;
    await Promise.all(others.map((member) => member.kill()));
    await expect.poll(() => leaderKnownTo(left), soon).toBe(false);
    await expect(store.read('')).rejects.toThrow(
      new RegExp(`^etcd cannot be used \\(.*${left?.endpoint}: etcdserver: no leader.*ECONNREFUSED.*\\)\\.$`),
    );
    await expect(put(store, 'testbed', 'taken')).rejects.toThrow('etcdserver: no leader');
  });

  test('may lose the response to a change, which is repeated only if that is harmless', async () => {
    const cluster = await start();
    const follower = await followerOf(cluster);
    const [careful, careless] = [
      await open(membersFirst(cluster, follower)),
      await open(membersFirst(cluster, follower)),
    ];
    const revision = await put(careful, 'testbed', 'free');
    await put(careless, 'other', 'free');
    follower.pause();
    const [made, unconfirmed] = await Promise.allSettled([
      careful.commit({
        conditions: [{ key: 'testbed', revision }],
        put: [{ key: 'testbed', value: 'taken' }],
        remove: [],
      }),
      put(careless, 'other', 'taken'),
    ]);
    expect(made).toEqual({ status: 'fulfilled', value: expect.any(Number) });
    expect(unconfirmed).toEqual({ status: 'rejected', reason: expect.any(StoreError) });
    expect(unconfirmed).toHaveProperty(
      'reason.message',
      `etcd did not confirm a change (${follower.endpoint}: no response within 5 s), which may nevertheless have been made; check the reservations before you repeat it.`,
    );
  });
});

describeWith(etcdNeeds, 'a waiting gate on etcd', () => {
  test('is notified after the member that should have notified it was killed', async () => {
    const cluster = await start();
    const follower = await followerOf(cluster);
    const store = await open(membersFirst(cluster, follower));
    const others = await open({ endpoints: [(await cluster.leader()).endpoint] });
    await hearOne(store, others);
    const { revision } = await store.read('');
    const heard = store.changed(revision, never);
    await follower.kill();
    await put(others, 'testbed', 'taken');
    await heard;
  });

  test('is notified after that member was stopped, once another request was sent to it', async () => {
    const cluster = await start();
    const follower = await followerOf(cluster);
    const store = await open(membersFirst(cluster, follower));
    const others = await open({ endpoints: [(await cluster.leader()).endpoint] });
    await hearOne(store, others);
    follower.pause();
    const { revision } = await store.read('');
    const heard = store.changed(revision, never);
    await put(others, 'testbed', 'taken');
    await heard;
  });

  test('follows only the keys that it waits for, and nothing once it waits no longer', async () => {
    const cluster = await start({ members: 1 });
    const store = await open({ endpoints: cluster.endpoints });
    const { revision } = await store.read('');
    const left = new AbortController();
    const waiting = [
      store.changed(revision, left.signal, 'lab/wait/'),
      store.changed(revision, left.signal, 'lab/held/a'),
    ];
    await expect.poll(() => streamsOf(cluster), soon).toBe(2);
    await put(store, 'lab/held/b', 'of another machine');
    await put(store, 'lab/held/a', 'of this one');
    await waiting[1];
    left.abort();
    await expect(waiting[0]).rejects.toThrow('aborted');
    await expect.poll(() => streamsOf(cluster), soon).toBe(0);
    await hearOne(store, store);
  });

  test('is woken when etcd has forgotten what came before', async () => {
    const cluster = await start({ members: 1 });
    const store = await open({ endpoints: cluster.endpoints });
    const first = await put(store, 'testbed', 'free');
    const last = await put(store, 'testbed', 'taken');
    await etcdctl(cluster, 'del', `${prefix}testbed`);
    await etcdctl(cluster, 'compact', String(last + 1));
    await store.changed(first, never);
    await hearOne(store, store);
  });
});

describeWith(etcdNeeds, 'etcd with certificates', () => {
  test('is used if each trusts the other, and else refused with the reason', async () => {
    const secure = await start({ members: 1, tls: true });
    const trusted = await open({ endpoints: secure.endpoints, ...secure.tls });
    await put(trusted, 'testbed', 'free');
    await hearOne(trusted, trusted);
    const misnamed = await start({ members: 1, tls: { name: 'etcd.lab' } });
    const plain = await start({ members: 1 });
    const { endpoints, tls: { caPath = '', certificatePath = '', keyPath = '' } = {} } = secure;
    const stranger = await makeAuthority(temporaryFolder(), 'stranger');
    const own = { endpoints, certificatePath, keyPath };
    const asSecure = plain.endpoints.map((url) => url.replace('http', 'https'));
    const untrusted = 'its certificate is not trusted: unable to verify the first certificate';
    const unknown = "it refuses this client's certificate, or requires one";
    const refusals: [Omit<EtcdConfig, 'prefix'>, string][] = [
      [{ endpoints: misnamed.endpoints, ...misnamed.tls }, 'its certificate is for DNS:etcd.lab, not for 127.0.0.1'],
      [{ ...own, caPath: stranger.caPath }, untrusted],
      [own, untrusted],
      [{ endpoints, caPath }, unknown],
      [{ endpoints, caPath, ...(await stranger.issue('me', 'me')) }, unknown],
      [{ endpoints: asSecure }, 'it closed the connection, as a server of plain http does'],
    ];
    for (const [config, why] of refusals) {
      await expect(put(await open(config, { now: impatient() }), 'testbed', 'taken')).rejects.toThrow(
        `etcd cannot be used (${config.endpoints[0]}: ${why}).`,
      );
    }
    const asPlain = endpoints.map((url) => url.replace('https', 'http'));
    await expect((await open({ endpoints: asPlain }, { now: impatient() })).read('')).rejects.toThrow(
      `etcd cannot be used (${asPlain[0]}: it closed the connection, as a server of https does).`,
    );
  });
});

describeWith(etcdNeeds, 'etcd with passwords', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await startEtcd({ members: 1, auth: { prefix } });
  });
  afterAll(() => cluster?.stop());

  test('lets its user in, again and again', async () => {
    const store = await open({ endpoints: cluster.endpoints, ...cluster.account });
    const session = await store.openSession(longSeconds);
    await put(store, 'testbed', 'free');
    await hearOne(store, store);
    // Its tokens are deleted with it.
    for (const member of cluster.members) {
      await member.kill();
      member.restart();
    }
    expect(await valuesIn(store)).toMatchObject({ testbed: 'free' });
    expect(await store.renew(session)).toBe(true);
    await hearOne(store, store);
  });

  test('names the user that it does not let in', async () => {
    const { endpoints } = cluster;
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'a guess\n', { mode: 0o600 });
    const wrong = await open({ endpoints, user: 'ppsgate', passwordPath });
    await expect(wrong.read('')).rejects.toThrow(
      `etcd at ${endpoints[0]} refuses a request with the user ppsgate and the prefix ${prefix}: etcdserver: authentication failed, invalid user ID or password.`,
    );
    const anonymous = await open({ endpoints });
    await expect(anonymous.openSession(5).then(() => put(anonymous, 'testbed', 'x'))).rejects.toThrow(
      `etcd at ${endpoints[0]} refuses a request with no user and the prefix ${prefix}: etcdserver: user name is empty.`,
    );
    const elsewhere = await open({ endpoints, ...cluster.account, prefix: '/others/' });
    await expect(elsewhere.read('')).rejects.toThrow(
      `etcd at ${endpoints[0]} refuses a request with the user ppsgate and the prefix /others/: etcdserver: permission denied.`,
    );
  });
});

describe('a session that etcd has lost', () => {
  test('is requested again once its leader has caught up', async () => {
    const paths: string[] = [];
    const leases = [{}, { TTL: '5' }];
    const endpoint = await startHttp(({ url = '' }, response) => {
      paths.push(url);
      const isLease = url === '/v3/lease/keepalive';
      const answer = isLease ? { result: leases.shift() } : { header: { revision: '7' } };
      response.end(JSON.stringify(answer));
    });
    const store = await open({ endpoints: [endpoint] });
    expect(await store.renew('4607923489067944709')).toBe(true);
    expect(paths).toEqual(['/v3/lease/keepalive', '/v3/kv/range', '/v3/lease/keepalive']);
  });
});

describe('a response of etcd', () => {
  test('may take longer than others are left for it, where there are no others', async () => {
    const endpoint = await startHttp(async (_, response) => {
      await setTimeout(2200);
      response.end(JSON.stringify({ header: { revision: '7' } }));
    });
    const store = await open({ endpoints: [endpoint] });
    expect(await store.read('')).toEqual({ entries: [], revision: 7 });
  });
});

describe('a foreign endpoint', () => {
  test('is named if the port is closed', async () => {
    const endpoints = ['http://127.0.0.1:1', 'http://etcd.invalid:2379'];
    const store = await open({ endpoints }, { now: impatient() });
    await expect(store.read('')).rejects.toThrow(
      /^etcd cannot be used \(http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*; http:\/\/etcd\.invalid:2379: .*ENOTFOUND.*\)\.$/,
    );
  });

  test('is named if another program responds', async () => {
    const endpoints = [await startHttp((_, response) => response.end('<h1>It works!</h1>'))];
    const store = await open({ endpoints });
    await expect(put(store, 'testbed', 'taken')).rejects.toThrow(
      `etcd cannot be used (${endpoints[0]}: it responds with 200).`,
    );
  });

  test.each(['passwordPath', 'keyPath'] as const)(
    'gets no credentials that others on this machine can read: %s',
    async (which) => {
      const path = join(temporaryFolder(), 'secret');
      writeFileSync(path, 'open sesame\n', { mode: 0o644 });
      const opened = open({ endpoints: ['http://127.0.0.1:1'], user: 'ali', [which]: path });
      await expect(opened).rejects.toThrow(
        `${path} has the mode 644, by which others than its owner can get at it: run 'chmod 600 ${path}'.`,
      );
    },
  );

  test('is not quoted with our password', async () => {
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'open sesame\n', { mode: 0o600 });
    const endpoint = await startHttp(async (request, response) => {
      const said = await new Response(request).text();
      response.writeHead(400).end(JSON.stringify({ code: 3, message: `What is ${said}?` }));
    });
    const store = await open({ endpoints: [endpoint], user: 'ali', passwordPath });
    await expect(store.read('')).rejects.toThrow('What is {"name":"ali","password":"…"}?');
  });

  test('gets no request once the store is closed', async () => {
    const store = await open({ endpoints: ['http://127.0.0.1:1'] });
    const waiting = store.changed(1, never);
    const reading = store.read('');
    await store.close();
    await waiting;
    await expect(reading).rejects.toThrow('The connection to etcd is closed.');
  });
});

test('refuses files that are missing, or hold no credentials of etcd, with their path', async () => {
  const endpoints = ['https://127.0.0.1:1'];
  const path = join(temporaryFolder(), 'file');
  await expect(open({ endpoints, caPath: path })).rejects.toThrow(`etcd cannot be used with ${path}: ENOENT`);
  writeFileSync(path, 'two\nlines\n', { mode: 0o600 });
  for (const config of [{ caPath: path }, { certificatePath: path, keyPath: path }]) {
    await expect(open({ endpoints, ...config })).rejects.toThrow(`etcd cannot be used with ${path}`);
  }
  const password = open({ endpoints, user: 'ppsgate', passwordPath: path });
  await expect(password).rejects.toThrow(`The password of etcd is missing: the file ${path} has more than a line`);
});

async function start(options: EtcdOptions = {}): Promise<EtcdCluster> {
  const cluster = await startEtcd(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

async function open(
  config: Omit<EtcdConfig, 'prefix'> & { prefix?: string },
  { now = () => performance.now() / 1000 } = {},
): Promise<Store> {
  // Only a notification wakes a waiting gate.
  const store = await openEtcd({ prefix, ...config }, { now, wakeSeconds: 1e6 });
  onTestFinished(() => store.close());
  return store;
}

/** A clock on which every reading takes a minute. */
function impatient(): () => number {
  let minutes = 0;
  return () => {
    minutes += 1;
    return minutes * 60;
  };
}

const membersFirst = ({ endpoints }: EtcdCluster, { endpoint }: EtcdMember) => ({
  endpoints: [endpoint, ...endpoints.filter((other) => other !== endpoint)],
});

async function followerOf(cluster: EtcdCluster): Promise<EtcdMember> {
  const leader = await cluster.leader();
  const follower = cluster.members.find((member) => member !== leader);
  if (follower === undefined) throw new Error('A cluster of one has no follower.');
  return follower;
}

async function leaderKnownTo(member: EtcdMember | undefined): Promise<boolean> {
  const options = { method: 'POST', body: '{}' };
  const response = await fetch(`${member?.endpoint}/v3/maintenance/status`, options);
  return 'leader' in Object(await response.json());
}

/** Number of streams, by etcd's own count. */
async function streamsOf({ endpoints }: EtcdCluster): Promise<number> {
  const metrics = await (await fetch(`${endpoints[0]}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_watcher_total (\S+)$/m.exec(metrics)?.[1]);
}

const etcdctl = ({ endpoints }: EtcdCluster, ...words: string[]) =>
  run('etcdctl', [`--endpoints=${endpoints.join()}`, ...words]);

const put = (store: Store, key: string, value: string): Promise<number> => commit(store, { put: [{ key, value }] });

async function commit(store: Store, change: Pick<Parameters<Store['commit']>[0], 'put'>) {
  const revision = await store.commit({ conditions: [], remove: [], ...change });
  if (revision === undefined) throw new Error('The session is over.');
  return revision;
}

async function valuesIn(store: Store): Promise<Record<string, string>> {
  const { entries } = await store.read('');
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

/** Waits until the store has received a change of the others. */
async function hearOne(store: Store, others: Store): Promise<void> {
  const { revision } = await store.read('');
  const heard = store.changed(revision, never);
  await put(others, 'bell', String(revision));
  await heard;
}

/** A test has a time limit of its own. */
const never = new AbortController().signal;

async function startHttp(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No free TCP port.');
  return `http://127.0.0.1:${address.port}`;
}
