// Tests gates by a Jenkins job: a build with parameters, found by one of them, the key.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type JenkinsOptions, startOnJenkins } from '../../src/relay/start-jenkins.ts';
import { type FakeJenkins, type Fault, jobPath, ownUrl, type Parameters, startFakeJenkins } from '../fakes/jenkins.ts';

const { signal } = new AbortController();
const job: Job = { key: 'D7-12', revision: 7, diff: 12, overrides: {}, by: 'alice' };
const nobodyAsked = {
  BUILD: '',
  SCENARIOS: '',
  FAMILIES: '',
  MARGIN: '',
  MAX_RUNS: '',
  PROFILE: '',
  TESTBED: '',
  EARLIER: '',
};
const parameters: Parameters = { PATCH: 'D7:12', KEY: 'D7-12', ...nobodyAsked };

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
    const overrides = {
      scenarios: 'forwarding',
      families: 'inet6',
      margin: '1 % & more',
      maxRuns: '30',
      profile: 'off',
      testbed: 'mellanox and 40G',
      earlier: 'all',
    };
    const started = await starter().start({ ...job, overrides, build: 'PHID-HMBD-x' }, false, signal);
    expect(started).toEqual({ kind: 'started', where: `${ownUrl}/queue/item/41/` });
    expect(jenkins.state.queue).toMatchObject([
      {
        parameters: {
          PATCH: 'D7:12',
          KEY: 'D7-12',
          BUILD: 'PHID-HMBD-x',
          SCENARIOS: 'forwarding',
          FAMILIES: 'inet6',
          MARGIN: '1 % & more',
          MAX_RUNS: '30',
          PROFILE: 'off',
          TESTBED: 'mellanox and 40G',
          EARLIER: 'all',
        },
      },
    ]);
  });

  test('or a bisection is, where the job has its parameters', async () => {
    const bisect = { good: 'v1', bad: 'v2', fixUp: 'a,b:c', maxBoots: '30', verifyRevert: 'true' };
    const asked = { ...job, bisect };
    expect(await starter().start(asked, false, signal)).toEqual({
      kind: 'refused',
      why: 'No bisection of D7 was started by Jenkins, because its job has no parameter COMMAND, GOOD, BAD, FIX_UP, MAX_BOOTS, VERIFY_REVERT: define them as strings.',
    });
    const names = ['COMMAND', 'GOOD', 'BAD', 'FIX_UP', 'MAX_BOOTS', 'VERIFY_REVERT'];
    jenkins.state.defined?.push(...names);
    expect(await starter().start(asked, false, signal)).toMatchObject({ kind: 'started' });
    expect(jenkins.state.queue).toMatchObject([
      {
        parameters: {
          PATCH: 'D7:12',
          KEY: 'D7-12',
          COMMAND: 'bisect',
          GOOD: 'v1',
          BAD: 'v2',
          FIX_UP: 'a,b:c',
          MAX_BOOTS: '30',
          VERIFY_REVERT: 'true',
        },
      },
    ]);
  });

  test('with the defaults of the job for parameters without a request', async () => {
    await starter().start(job, false, signal);
    expect(jenkins.state.queue).toMatchObject([{ parameters }]);
    expect(jenkins.state.log).toEqual([]);
  });

  test('by a job that has no more parameters than are needed', async () => {
    jenkins.state.defined = ['PATCH', 'KEY'];
    expect(await starter().start(job, false, signal)).toMatchObject({ kind: 'started' });
  });

  test('by an address as a browser shows it', async () => {
    const url = `${jenkins.url}/view/all/job/lab/view/mine/job/ppsgate`;
    expect(await starter({ url }).start(job, true, signal)).toMatchObject({ kind: 'started' });
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

  test('is started where it was not', async () => {
    jenkins.faults.push({ path: /buildWithParameters/, with: { status: 503 } });
    await starter().start(job, false, signal);
    await starter().start(job, true, signal);
    expect(jenkins.state.queue).toHaveLength(1);
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

  test.for([/queue/, /ppsgate\/api/])('is not started again after an unclear answer: %s', async (path) => {
    jenkins.faults.push({ path, with: { status: 503 } });
    expect(await starter().start(job, true, signal)).toEqual({
      kind: 'failed',
      why: 'No gate of D7 was started by Jenkins, because it answered 503.',
    });
    expect(builds()).toEqual([]);
  });

  test.for(['<html>Log in</html>', '{"items":[{}]}', '{}'])(
    'is not started again if Jenkins returns something else: %s',
    async (body) => {
      jenkins.faults.push({ path: /queue/, with: { status: 200, body } });
      expect(await starter().start(job, true, signal)).toEqual({
        kind: 'refused',
        why: `No gate of D7 was started by Jenkins, because ${jenkins.url}/queue/api/json does not respond like Jenkins.`,
      });
      expect(builds()).toEqual([]);
    },
  );
});

describe('a gate is not started', () => {
  const refusal = async (changes?: Partial<JenkinsOptions>) => {
    const started = await starter(changes).start(job, false, signal);
    expect(started.kind).toBe('refused');
    expect(JSON.stringify(started)).not.toMatch(/11[a-z]/);
    expect(jenkins.state.queue).toEqual([]);
    return 'why' in started ? started.why : '';
  };
  const because = 'No gate of D7 was started by Jenkins, because';

  test.each<[string, Partial<FakeJenkins['state']>, Partial<JenkinsOptions>, RegExp]>([
    ['by a job without parameters', { defined: undefined }, {}, / no parameter PATCH, KEY: /],
    ['by a job that is disabled', { isDisabled: true }, {}, /\(409\): enable it/],
    ['by an unknown token', {}, { token: '11wrong' }, /\(401\): configure another one/],
    ['by a user who may only read', {}, { user: 'reader', token: '11reader' }, /\(403\): grant it .*Job\/Build/],
    ['by a password, for which Jenkins wants a crumb', {}, { token: 'secret' }, /may not \(403\)/],
    ['by a job that is hidden', {}, { user: 'stranger', token: '11stranger' }, /there is no job at .*, or the user/],
  ])('%s', async (_, state, options, why) => {
    Object.assign(jenkins.state, state);
    expect(await refusal(options)).toMatch(why);
  });

  test('by a job that lacks a requested parameter, which Jenkins would drop', async () => {
    jenkins.state.defined = ['PATCH', 'KEY'];
    const started = await starter().start({ ...job, overrides: { margin: '1%' } }, false, signal);
    expect(started).toEqual({
      kind: 'refused',
      why: `${because} its job has no parameter MARGIN: define it as a string.`,
    });
    expect(builds()).toEqual([]);
  });

  test('to extend an experiment, which is elsewhere', async () => {
    const started = await starter().start({ ...job, extend: { key: 'D7-11' } }, false, signal);
    expect(started).toEqual({
      kind: 'refused',
      why: `${because} the experiment to continue stays on Jenkins; measure it from the start.`,
    });
    expect(jenkins.requests).toEqual([]);
  });

  test('if Jenkins is temporarily unreachable', async () => {
    const { url } = jenkins;
    await jenkins.stop();
    const started = await starter({ url: `${url}${jobPath}` }).start(job, false, signal);
    jenkins = await startFakeJenkins();
    expect(started).toEqual({
      kind: 'failed',
      why: expect.stringMatching(/because it cannot be reached \(connect ECONNREFUSED .*\)\.$/),
    });
  });

  test('by a relay that ends meanwhile', async () => {
    expect(await starter().start(job, false, AbortSignal.abort())).toEqual({
      kind: 'failed',
      why: `${because} the relay is stopping.`,
    });
    expect(jenkins.requests).toEqual([]);
  });

  test('if Jenkins redirects elsewhere, and the token is not sent there', async () => {
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
      expect(await refusal()).toBe(
        `${because} it answered 307 and redirects to ${location}: set the address of its job to the one that Jenkins uses.`,
      );
    }
    expect(heard).toEqual([]);
  });
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

  test('after its end, which stays as it was', async () => {
    const build = addBuild({ isBuilding: false, result: 'SUCCESS' });
    expect(await starter().cancel(job, signal)).toBeUndefined();
    expect(build.result).toBe('SUCCESS');
  });

  test('not if there is none', async () => {
    expect(await starter().cancel(job, signal)).toBe(
      'The gate of D7 was not cancelled by Jenkins, because it has no build with the KEY D7-12.',
    );
  });

  test('not by a user without permission', async () => {
    addBuild();
    expect(await starter({ user: 'reader', token: '11reader' }).cancel(job, signal)).toBe(
      'The gate of D7 was not cancelled by Jenkins, because the user reader may not (403): grant it the permission Job/Cancel.',
    );
  });

  test('not in the queue by a user without permission', async () => {
    await starter().start(job, false, signal);
    expect(await starter({ user: 'reader', token: '11reader' }).cancel(job, signal)).toMatch(
      /because the user reader may not \(422\): grant it the permission Job\/Cancel\.$/,
    );
    expect(jenkins.state.queue).toHaveLength(1);
  });
});
