// Starters of a relay's gates by ppsgate.yml.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { openStarter } from '../../src/relay/open-starter.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { personalToken, startFakeGitHub } from '../fakes/github/server.ts';
import { jobPath, startFakeJenkins } from '../fakes/jenkins.ts';

const { signal } = new AbortController();
const job: Job = { key: 'D7-12', revision: 7, diff: 12, overrides: {}, by: 'alice' };
const repository = 'freebsd/freebsd-src';

test.for([
  [0, 'it passed'],
  [1, 'the patch is at fault'],
  [130, 'it was cancelled'],
  [126, 'it exited with 126'],
] as const)('a gate here that ends with %i: %s', async ([code, how]) => {
  const folder = temporaryFolder();
  const program = join(folder, 'ppsgate');
  writeFileSync(program, `#!/bin/sh\necho "$@"\nexit ${code}\n`);
  chmodSync(program, 0o755);
  const start = { kind: 'here', repository: '/src', most: 2 } as const;
  const deps = { configPath: '/etc/ppsgate.yml', program: [program] };
  const starter = await openStarter({ start, directory: folder }, deps);
  await starter.start(job, false, signal);
  await expect.poll(() => starter.ended(job)).toEqual({ kind: 'ended', how });
  expect(readFileSync(join(folder, 'D7-12.log'), 'utf8')).toBe(
    `gate --patch D7:12 --answer --run D7-12 --config /etc/ppsgate.yml --repository /src --directory ${join(folder, 'D7-12')}\n`,
  );
});

test('a gate on GitHub is started with the token of a file', async () => {
  const github = await startFakeGitHub({ repository, pullRequests: [] });
  onTestFinished(github.stop);
  const runName = () => job.key;
  github.state.listeners = [{ eventType: 'measure', runName, missingIn: 0 }];
  const tokenPath = join(temporaryFolder(), 'token');
  writeFileSync(tokenPath, `${personalToken}\n`, { mode: 0o600 });
  const start = { kind: 'github', repository, tokenPath, event: 'measure' } as const;
  const relay = { start: { ...start, apiUrl: github.url }, directory: '/nonexistent' };
  const starter = await openStarter(relay, { configPath: '' });
  expect(await starter.start(job, false, signal)).toMatchObject({ kind: 'started' });
  expect(github.state.dispatches).toMatchObject([{ eventType: 'measure' }]);
  expect(await starter.hasRoom()).toBe(true);
  expect(await starter.ended(job)).toEqual({ kind: 'elsewhere' });
});

test('a gate on Jenkins is started with the token of the environment', async () => {
  const jenkins = await startFakeJenkins();
  onTestFinished(jenkins.stop);
  vi.stubEnv('PPSGATE_JENKINS_TOKEN', '11bot');
  onTestFinished(() => void vi.unstubAllEnvs());
  const start = { kind: 'jenkins', url: `${jenkins.url}${jobPath}`, user: 'ppsgate' } as const;
  const starter = await openStarter({ start, directory: '/nonexistent' }, { configPath: '' });
  expect(await starter.start(job, false, signal)).toMatchObject({ kind: 'started' });
  expect(jenkins.state.queue).toHaveLength(1);
});

test('without a token nothing is opened', async () => {
  const tokenPath = '/nonexistent/token';
  const start = {
    kind: 'jenkins',
    url: 'https://ci.example.org/job/x',
    user: 'a',
    tokenPath,
  } as const;
  await expect(openStarter({ start, directory: '/' }, { configPath: '' })).rejects.toThrow(
    'The token for Jenkins is missing: /nonexistent/token cannot be read',
  );
});
