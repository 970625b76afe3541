// Tests gates by a Jenkins job: a build with parameters, found by one of them, the key.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type JenkinsOptions, startOnJenkins } from '../../src/relay/start-jenkins.ts';
import type { Started } from '../../src/relay/starter.ts';
import { type FakeJenkins, type Fault, jobPath, ownUrl, type Parameters, startFakeJenkins } from '../fakes/jenkins.ts';

const { signal } = new AbortController();
const job: Job = { key: 'D7-12', revision: 7, diff: 12, overrides: {}, by: 'alice' };
const unaskedParameters = {
  BUILD: '',
  SCENARIOS: '',
  FAMILIES: '',
  MARGIN: '',
  MAX_RUNS: '',
  PROFILE: '',
  TESTBED: '',
  EARLIER: '',
};
const bisect = { good: 'v1', bad: 'v2', fixUp: 'a,b:c', maxBoots: '30', verifyRevert: 'true' };
const parameters: Parameters = { PATCH: 'D7:12', KEY: 'D7-12', ...unaskedParameters };

let jenkins: FakeJenkins;

beforeEach(async () => {
  jenkins = await startFakeJenkins();
});

afterEach(async () => {
  await jenkins.stop();
});

const starter = (changes: Partial<JenkinsOptions> = {}) =>
  startOnJenkins({ url: `${jenkins.url}${jobPath}`, user: 'ppsgate', token: '11bot', ...changes });

const builds = () => jenkins.requests.filter((line) => line.endsWith('/buildWithParameters'));

function addBuild(changes: Partial<FakeJenkins['state']['builds'][number]> = {}) {
  const number = jenkins.state.builds.length + 1;
  const build = { number, parameters, isBuilding: true, result: null, ...changes };
  jenkins.state.builds.unshift(build);
  return build;
}

describe('a gate is started', () => {
  test('with all overrides', async () => {
    const asked = {
      scenarios: 'forwarding',
      families: 'inet6',
      margin: '1 % & more',
      maxRuns: '30',
      profile: 'off',
      testbed: 'mellanox and 40G',
      earlier: 'all',
    };
    const started = await starter().start({ ...job, overrides: asked, build: 'PHID-HMBD-x' }, false, signal);
    expect(started).toEqual({ kind: 'started', where: `${ownUrl}/queue/item/41/` });
    const { maxRuns: MAX_RUNS, ...others } = asked;
    const named = Object.entries(others).map(([name, value]) => [name.toUpperCase(), value]);
    const sent = { PATCH: 'D7:12', KEY: 'D7-12', BUILD: 'PHID-HMBD-x', MAX_RUNS, ...Object.fromEntries(named) };
    expect(jenkins.state.queue).toMatchObject([{ parameters: sent }]);
  });

  test('or a bisection is, where the job has its parameters', async () => {
    jenkins.state.defined?.push('COMMAND', 'GOOD', 'BAD', 'FIX_UP', 'MAX_BOOTS', 'VERIFY_REVERT');
    expect(await starter().start({ ...job, bisect }, false, signal)).toMatchObject({ kind: 'started' });
    const own = { PATCH: 'D7:12', KEY: 'D7-12', COMMAND: 'bisect', GOOD: 'v1', BAD: 'v2' };
    const named = { FIX_UP: 'a,b:c', MAX_BOOTS: '30', VERIFY_REVERT: 'true' };
    expect(jenkins.state.queue).toMatchObject([{ parameters: { ...own, ...named } }]);
  });

  test('by an address as a browser shows it', async () => {
    const url = `${jenkins.url}/view/all/job/lab/view/mine/job/ppsgate`;
    expect(await starter({ url }).start(job, true, signal)).toMatchObject({ kind: 'started' });
  });

  test('by a job that has no more parameters than are needed', async () => {
    jenkins.state.defined = ['PATCH', 'KEY'];
    expect(await starter().start(job, false, signal)).toMatchObject({ kind: 'started' });
  });
});

describe('a gate that may have been started', () => {
  test.for<Omit<Fault, 'path'>>([{ with: 'reset' }, { with: { status: 502 } }])(
    'is found in the queue: %j',
    async (fault) => {
      jenkins.faults.push({ ...fault, path: /buildWithParameters/, carriedOut: true });
      expect(await starter().start(job, false, signal)).toMatchObject({ kind: 'failed' });
      expect(await starter().start(job, true, signal)).toEqual({
        kind: 'started',
        where: `${jenkins.url}/queue/item/41/`,
      });
      expect(builds()).toHaveLength(1);
    },
  );

  test('is found among the builds, though it has ended', async () => {
    addBuild({ isBuilding: false, result: 'SUCCESS' });
    addBuild({ parameters: { ...parameters, KEY: 'D7-13' } });
    expect(await starter().start(job, true, signal)).toEqual({
      kind: 'started',
      where: `${jenkins.url}${jobPath}/1/`,
    });
    expect(builds()).toEqual([]);
  });

  test('is found where it leaves the queue meanwhile', async () => {
    await starter().start(job, false, signal);
    jenkins.meanwhile.push(jenkins.begin);
    expect(await starter().start(job, true, signal)).toMatchObject({ kind: 'started' });
    expect(builds()).toHaveLength(1);
  });

  test.for([
    ['another job', { jobPath: '/job/lab/job/other', parameters }],
    ['another key', { jobPath, parameters: { ...parameters, KEY: 'D7-123' } }],
    ['another parameter', { jobPath, parameters: { ...parameters, KEY: '', BUILD: 'D7-12' } }],
  ] as const)('is not taken for %s in the queue', async ([, item]) => {
    jenkins.state.queue.push({ id: 7, ...item });
    await starter().start(job, true, signal);
    expect(builds()).toHaveLength(1);
  });

  test.for<[Fault['path'], string, Fault['with']]>([
    [/queue/, 'failed', { status: 503 }],
    [/ppsgate\/api/, 'failed', { status: 503 }],
    [/queue/, 'refused', { status: 200, body: '<html>Log in</html>' }],
    [/queue/, 'refused', { status: 200, body: '{"items":[{}]}' }],
    [/queue/, 'refused', { status: 200, body: '{}' }],
  ])('is not started again after an unclear answer: %s %s %j', async ([path, kind, answer]) => {
    jenkins.faults.push({ path, with: answer });
    expect(await starter().start(job, true, signal)).toMatchObject({ kind });
    expect(builds()).toEqual([]);
  });
});

const reader = { user: 'reader', token: '11reader' };

/** Without effect on Jenkins. */
const failures: Record<string, () => Promise<Started | string | undefined>> = {
  'a job without parameters': () => startOn({ defined: undefined }),
  'a job that is disabled': () => startOn({ isDisabled: true }),
  'an unknown token': () => startOn({}, { token: '11wrong' }),
  'a user who may only read': () => startOn({}, reader),
  'a password, for which Jenkins wants a crumb': () => startOn({}, { token: 'secret' }),
  'a job that is hidden': () => startOn({}, { user: 'stranger', token: '11stranger' }),
  'a job without a requested parameter, which Jenkins would drop': () =>
    startOn({ defined: ['PATCH', 'KEY'] }, {}, { ...job, overrides: { margin: '1%' } }),
  'a job without the parameters of a bisection': () => startOn({}, {}, { ...job, bisect }),
  'an experiment that is elsewhere': () => startOn({}, {}, { ...job, extend: { key: 'D7-11' } }),
  'a relay that ends': () => starter().start(job, false, AbortSignal.abort()),
  'a page in place of JSON': () => {
    jenkins.faults.push({ path: /api/, with: { status: 200, body: '<html>Log in</html>' } });
    return startOn();
  },
  'an unreachable Jenkins': () => startOn({}, { url: `http://127.0.0.1:1${jobPath}` }),
  'a cancellation of none': () => starter().cancel(job, signal),
  'a cancellation by a reader': () => {
    addBuild();
    return starter(reader).cancel(job, signal);
  },
  'a cancellation in the queue by a reader': () => {
    jenkins.state.queue.push({ id: 41, jobPath, parameters });
    return starter(reader).cancel(job, signal);
  },
};

function startOn(state: Partial<FakeJenkins['state']> = {}, options: Partial<JenkinsOptions> = {}, asked: Job = job) {
  Object.assign(jenkins.state, state);
  return starter(options).start(asked, false, signal);
}

test('a failure is told with its fix and without a token, and starts nothing', async () => {
  const texts: string[] = [];
  for (const [name, fail] of Object.entries(failures)) {
    await jenkins.stop();
    jenkins = await startFakeJenkins();
    const outcome = await fail();
    const isOfReader = /cancellation .*by a reader/.test(name);
    const { queue, builds } = jenkins.state;
    expect(queue.length + builds.filter(({ isBuilding }) => isBuilding).length).toBe(isOfReader ? 1 : 0);
    const text =
      typeof outcome === 'object' && outcome.kind !== 'started' ? `${outcome.kind}: ${outcome.why}` : outcome;
    texts.push(`# ${name}\n${text}\n`.replaceAll(/127\.0\.0\.1:\d{2,}/g, 'jenkins'));
  }
  expect(texts.join('')).not.toMatch(/11[a-z]|secret/);
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/jenkins-failures.txt');
});

test('the token is not sent to where Jenkins redirects', async () => {
  const heard: string[] = [];
  const stranger = createServer((request, response) => {
    heard.push(request.url ?? '');
    response.end();
  });
  await once(stranger.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void stranger.close());
  const { port } = stranger.address() as AddressInfo;
  const location = `http://127.0.0.1:${port}/`;
  for (const path of [/api/, /buildWithParameters/]) {
    jenkins.faults.push({ path, with: { status: 307, headers: { location } } });
    const started = await startOn();
    expect(started).toMatchObject({ kind: 'refused', why: expect.stringContaining(`redirects to ${location}`) });
  }
  expect([heard, jenkins.state.queue]).toEqual([[], []]);
});

describe('a gate is cancelled', () => {
  test('in the queue', async () => {
    await starter().start({ ...job, key: 'D7-11' }, false, signal);
    await starter().start(job, false, signal);
    expect(await starter().cancel(job, signal)).toBeUndefined();
    expect(jenkins.state.queue).toMatchObject([{ parameters: { KEY: 'D7-11' } }]);
  });

  test('while it builds', async () => {
    const other = addBuild({ parameters: { ...parameters, KEY: 'D7-11' } });
    const build = addBuild();
    expect(await starter().cancel(job, signal)).toBeUndefined();
    expect(build).toMatchObject({ isBuilding: false, result: 'ABORTED' });
    expect(other.isBuilding).toBe(true);
  });

  test('if it began meanwhile', async () => {
    await starter().start(job, false, signal);
    jenkins.meanwhile.push(jenkins.begin);
    expect(await starter().cancel(job, signal)).toBeUndefined();
    expect(jenkins.requests).toContain('POST /jenkins/queue/cancelItem');
    expect(jenkins.state.builds).toMatchObject([{ result: 'ABORTED' }]);
  });
});
