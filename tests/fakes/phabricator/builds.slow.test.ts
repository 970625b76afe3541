import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testWith } from '../../needs.ts';
import { call, type Listener, listen, rows, smallDiff } from './calling.ts';
import { readInbound, recordingsNeeded } from './recorded.ts';
import { type FakePhabricator, startPhabricator } from './server.ts';
import type { BuildPlan, Revision, Target } from './state.ts';

async function buildOf(
  phabricator: FakePhabricator,
  relay: Listener,
  wanted: { holdDrafts?: BuildPlan['holdDrafts']; holdAsDraft?: boolean; status?: 'draft' } = {},
) {
  const author = phabricator.addUser('author');
  const repository = phabricator.addRepository('SRC');
  const { holdDrafts = 'always', ...draft } = wanted;
  const diff = { raw: smallDiff };
  const revision = phabricator.addRevision({
    author,
    repository,
    title: 'Prefetch',
    diff,
    ...draft,
  });
  const uri = `${relay.url}/build?target=\${target.phid}`;
  const plan = phabricator.addBuildPlan({ uri, holdDrafts });
  return { revision, plan, target: await phabricator.startBuild(revision, plan) };
}

function notify(phabricator: FakePhabricator, receiver: string, type: string, unit?: unknown[]) {
  const units = unit === undefined ? {} : { unit };
  return call(phabricator, 'harbormaster.sendmessage', { receiver, type, ...units });
}

const silence = { result: null, error_code: null, error_info: null };

test('a build asks its endpoint with all in the URI and nothing in the body, then waits', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { target } = await buildOf(phabricator, relay);
  expect(target.status).toBe('target/waiting');
  expect(relay.heard).toEqual([
    {
      method: 'POST',
      path: `/build?target=${target.phid}`,
      headers: expect.arrayContaining(['User-Agent', 'Arcanist/1.0 cURL/7.88.1']),
      body: '',
    },
  ]);
});

test('fails the target of an endpoint that returns 500 or is down, without a retry', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen(500);
  const { revision, target } = await buildOf(phabricator, relay);
  expect(target.status).toBe('target/failed');
  const dead = phabricator.addBuildPlan({ uri: 'http://127.0.0.1:1/' });
  expect(await phabricator.startBuild(revision, dead)).toMatchObject({ status: 'target/failed' });
  expect(relay.heard).toHaveLength(1);
});

test('calls no endpoint for the staging area of a revision without a repository', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const author = phabricator.addUser('author');
  const diff = { raw: smallDiff };
  const revision = phabricator.addRevision({ author, title: 'Prefetch', diff });
  const plan = phabricator.addBuildPlan({ uri: `${relay.url}/\${repository.staging.ref}` });
  expect(await phabricator.startBuild(revision, plan)).toMatchObject({ status: 'target/failed' });
  expect(relay.heard).toEqual([]);
});

test('a password of the plan comes as HTTP Basic', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { revision } = await buildOf(phabricator, relay);
  const credential = { user: 'phorge', password: 'made-up' };
  await phabricator.startBuild(revision, phabricator.addBuildPlan({ uri: relay.url, credential }));
  expect(relay.heard[1]?.headers).toContain(`Basic ${btoa('phorge:made-up')}`);
});

describe('a restart', () => {
  test('requests another target of the same build and leaves the old one waiting', async () => {
    await using phabricator = await startPhabricator();
    await using relay = await listen();
    const { target } = await buildOf(phabricator, relay);
    await notify(phabricator, target.buildPHID, 'restart');
    await phabricator.settled();
    const found = await rows(
      phabricator,
      'harbormaster.target.search',
      { constraints: { buildPHIDs: [target.buildPHID] } },
      z.object({
        phid: z.string(),
        fields: z.object({ buildGeneration: z.int(), status: z.object({ value: z.string() }) }),
      }),
    );
    const status = { value: 'target/waiting' };
    expect(found).toMatchObject([
      { fields: { buildGeneration: 2, status } },
      { phid: target.phid, fields: { buildGeneration: 1, status } },
    ]);
    expect(relay.heard).toMatchObject([{}, { path: `/build?target=${found[0]?.phid}` }]);
  });

  test('makes messages to the old target too late', async () => {
    await using phabricator = await startPhabricator();
    await using relay = await listen();
    const { target } = await buildOf(phabricator, relay);
    await notify(phabricator, target.buildPHID, 'restart');
    expect(await notify(phabricator, target.phid, 'pass')).toEqual(silence);
    await phabricator.settled();
    expect(phabricator.state.builds).toMatchObject([{ status: 'building', generation: 2 }]);
    expect(target).toMatchObject({ status: 'target/waiting', messages: [] });
  });
});

test('a build that was restarted meanwhile does not fail when its first request is answered with 500', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  relay.meanwhile = async () => {
    delete relay.meanwhile;
    relay.status = 200;
    await notify(phabricator, phabricator.state.builds[0]?.phid ?? '', 'restart');
    await phabricator.settled();
    relay.status = 500;
  };
  const { target } = await buildOf(phabricator, relay);
  expect(target.status).toBe('target/building');
  expect(phabricator.state.builds).toMatchObject([{ status: 'building', generation: 2 }]);
});

test('a pass after a fail, and after an abort, changes nothing and is not refused', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { target, revision, plan } = await buildOf(phabricator, relay);
  await notify(phabricator, target.phid, 'fail');
  expect(await notify(phabricator, target.phid, 'pass')).toEqual(silence);
  const aborted = await phabricator.startBuild(revision, plan);
  await notify(phabricator, aborted.buildPHID, 'abort');
  expect(await notify(phabricator, aborted.phid, 'pass')).toEqual(silence);
  expect([target.status, aborted.status]).toEqual(['target/failed', 'target/waiting']);
  expect(phabricator.state.builds.map(({ status }) => status)).toEqual(['failed', 'aborted']);
});

test('results of units add up, and a message of no known type is taken in silence', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { target } = await buildOf(phabricator, relay);
  const unit = { name: 'forwarding inet4', result: 'pass' };
  await notify(phabricator, target.phid, 'work', [unit]);
  expect(await notify(phabricator, target.phid, 'passed')).toEqual(silence);
  expect(target).toMatchObject({ status: 'target/waiting', messages: ['work', 'passed'] });
  await notify(phabricator, target.phid, 'pass', [unit]);
  expect(target.units).toEqual([unit, unit]);
  expect(phabricator.violations).toEqual([
    'harbormaster.sendmessage was called with the type "passed", which nothing answers to.',
  ]);
});

test('the key of an artifact is taken once a target, and free again for that of a restart', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { target } = await buildOf(phabricator, relay);
  const link = (of: Target) =>
    call(phabricator, 'harbormaster.createartifact', {
      buildTargetPHID: of.phid,
      artifactKey: 'report',
      artifactType: 'uri',
      artifactData: { uri: 'https://example.org/1', name: 'Report', 'ui.external': true },
    });
  expect(await link(target)).toMatchObject({ error_code: null });
  expect(await link(target)).toMatchObject({
    error_code: 'ERR-CONDUIT-CORE',
    error_info: expect.stringMatching(/^#1062: Duplicate entry 'uri-.{12}' for key/),
  });
  await notify(phabricator, target.buildPHID, 'restart');
  const [, second = target] = phabricator.state.targets;
  expect(await link(second)).toMatchObject({ error_code: null });
});

describe('a draft', () => {
  const after = async (
    wanted: Parameters<typeof buildOf>[2],
    message?: 'pass' | 'fail',
  ): Promise<Pick<Revision, 'status' | 'isDraft'>> => {
    await using phabricator = await startPhabricator();
    await using relay = await listen();
    const { revision, target } = await buildOf(phabricator, relay, { status: 'draft', ...wanted });
    if (message !== undefined) await notify(phabricator, target.phid, message);
    const { status, isDraft } = revision;
    return { status, isDraft };
  };

  test('is held while its build goes on, published by a pass, bounced by a fail', async () => {
    expect(await after({})).toEqual({ status: 'draft', isDraft: true });
    expect(await after({}, 'pass')).toEqual({ status: 'needs-review', isDraft: false });
    expect(await after({}, 'fail')).toEqual({ status: 'changes-planned', isDraft: true });
  });

  test('is published at once by a plan that never holds drafts, and stays so after a fail', async () => {
    const published = { status: 'needs-review', isDraft: false };
    expect(await after({ holdDrafts: 'never' })).toEqual(published);
    expect(await after({ holdDrafts: 'never' }, 'fail')).toEqual(published);
  });

  test('that its author holds stays one', async () => {
    expect(await after({ holdAsDraft: true }, 'pass')).toEqual({ status: 'draft', isDraft: true });
  });
});

test('a newer diff gets a buildable of its own, and the old build goes on', async () => {
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { revision, plan } = await buildOf(phabricator, relay);
  const diff = phabricator.updateRevision(revision, { raw: smallDiff }, 'another try');
  await phabricator.startBuild(revision, plan);
  expect(phabricator.state.buildables).toMatchObject([
    { status: 'building' },
    { status: 'building', objectPHID: diff.phid },
  ]);
});

describe('a search for builds', () => {
  test('knows the constraints of HarbormasterBuildSearchEngine, which all have to hold', async () => {
    await using phabricator = await startPhabricator();
    await using relay = await listen();
    const { revision, plan, target } = await buildOf(phabricator, relay);
    const other = phabricator.addBuildPlan({ uri: relay.url });
    await phabricator.startBuild(revision, other);
    const [buildable] = phabricator.state.buildables;
    const found = async (constraints: object) => {
      const item = z.object({ phid: z.string() });
      const all = await rows(phabricator, 'harbormaster.build.search', { constraints }, item);
      return all.map(({ phid }) => phid);
    };
    const buildables = [buildable?.phid];
    expect(await found({ buildables })).toHaveLength(2);
    expect(await found({ buildables, plans: [plan.phid] })).toEqual([target.buildPHID]);
    expect(await found({ buildables: ['PHID-HMBB-none'], plans: [plan.phid] })).toEqual([]);
  });

  test.each([
    [{ buildablePHIDs: ['PHID-HMBB-a'] }, 'ERR-INVALID-CONSTRAINT'],
    [{ buildables: [] }, 'ERR-CONDUIT-CORE'],
    [{ plans: 'PHID-HMCP-a' }, 'ERR-CONDUIT-CORE'],
  ])('refuses others, and what is no list of PHIDs: %j', async (constraints, code) => {
    await using phabricator = await startPhabricator();
    const answer = await call(phabricator, 'harbormaster.build.search', { constraints });
    expect(answer).toMatchObject({ result: null, error_code: code });
  });
});

testWith([recordingsNeeded], 'a request for a build is the recorded one', async () => {
  const recorded = readInbound('0012-build.json');
  await using phabricator = await startPhabricator();
  await using relay = await listen();
  const { revision, target: first } = await buildOf(phabricator, relay);
  const variables = {
    target: 'target.phid',
    build: 'build.id',
    diff: 'buildable.diff',
    revision: 'buildable.revision',
    callsign: 'repository.callsign',
    repo: 'repository.phid',
    vcs: 'repository.vcs',
    uri: 'repository.uri',
    staging_uri: 'repository.staging.uri',
    staging_ref: 'repository.staging.ref',
    buildable: 'buildable.phid',
    object: 'buildable.object.phid',
    container: 'buildable.container.phid',
    build_phid: 'build.phid',
    initiator: 'initiator.phid',
    ts: 'step.timestamp',
  };
  const query = Object.entries(variables).map(([name, variable]) => `${name}=\${${variable}}`);
  const plan = phabricator.addBuildPlan({ uri: `${relay.url}/build?${query.join('&')}` });
  await phabricator.startBuild(revision, plan);
  const [, sent] = relay.heard;
  // Ids and hosts differ, with the same shapes.
  const shape = (path: string) =>
    path
      .replace(/-[a-z0-9]{20}\b/g, '-…')
      .replace(/\d+/g, '1')
      .replace('phorge.local.test', '1.1.1.1');
  expect(shape(sent?.path ?? '')).toBe(shape(recorded.path));
  const ownHost = (headers: string[]) => headers.with(1, 'host');
  expect(ownHost(sent?.headers ?? [])).toEqual(ownHost(recorded.headers.flat()));
  expect(sent).toMatchObject({ method: recorded.method, body: recorded.body });
  expect(first.phid).not.toBe(phabricator.state.targets[1]?.phid);
});
