// Measures a patch on a testbed per selector in one job: in parallel, each to its own end.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type GateRequest, requestText } from '../../src/action/approved-request.ts';
import { runGate } from '../../src/action/run-gate.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { inSession } from '../../src/gate/session.ts';
import { type Reserved, unshared } from '../../src/lab/testbed.ts';
import type { PullRequest } from '../../src/model/patch.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { memoryHistory } from '../fakes/history.ts';
import { jobHere } from '../fakes/job.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { type FakeTestbedOptions, fakeTestbed } from '../fakes/testbed.ts';
import { twoRacks } from '../fakes/two-racks.ts';

const repository = 'example/router';
const config = parseConfig(`${twoRacks}each: [left, right]\n`, { path: 'ppsgate.yml', home: '/' });

let github: FakeGitHub;
let workspace: string;
let patch: PullRequest;

beforeEach(async () => {
  workspace = newRepository();
  const baseCommit = commit(workspace, { 'dut/nftables.conf': '# one\n' });
  const headCommit = commit(workspace, { 'dut/nftables.conf': '# two\n' });
  const pullRequest = { number: 7, title: 'A change', author: 'alice', baseCommit, headCommit };
  github = await startFakeGitHub({
    repository,
    pullRequests: [{ ...pullRequest, headRepository: repository }],
  });
  const url = 'https://github.com/example/router/pull/7';
  patch = { kind: 'pull-request', repository, url, baseBranch: 'main', ...pullRequest };
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

/** Runs the measuring job with these testbeds; each becomes ours once the job has requested all of them. */
async function measured(testbeds: Record<string, FakeTestbedOptions | Error>) {
  const request: GateRequest = { patch, overrides: {}, priority: 'patch', purpose: 'patch' };
  const { context, folder, output } = await jobHere({
    github,
    workspace,
    command: 'gate',
    request: requestText(request),
    config,
    event: { name: 'pull_request_target' },
  });
  const all = Promise.withResolvers<void>();
  const leases: string[] = [];
  const reserved = (name: string): Reserved => {
    const given = testbeds[name];
    if (given instanceof Error) throw given;
    return unshared(name, async () => fakeTestbed(given));
  };
  const within: typeof inSession = ({ repository: opened, signal, leaseFolder }, work) =>
    work({
      repository: opened,
      async reserve([name = '']) {
        leases.push(leaseFolder);
        if (leases.length === Object.keys(testbeds).length) all.resolve();
        await all.promise;
        return reserved(name);
      },
      history: memoryHistory(),
      now: () => new Date('2026-11-20T12:00:00.000Z'),
      onEvent() {},
      signal,
    });
  const exitCode = await runGate(context, new AbortController().signal, within).catch((error: unknown) => error);
  const verdict = (number: number) =>
    JSON.parse(readFileSync(join(folder, `result-${number}.json`), 'utf8')).outcome.verdict;
  return { exitCode, folder, output: readFileSync(output, 'utf8'), leases, verdict };
}

const slower = { speed: () => 0.8 };

test('all gates of a job run at once, each with its result, and the worst decides the exit code', async () => {
  const { exitCode, verdict, output } = await measured({ left: {}, right: slower });
  expect([verdict(1), verdict(2), exitCode]).toEqual(['no-regression', 'regression', 1]);
  const verdicts = [...output.matchAll(/^verdict<<\S+\n(\S+)$/gm)].map(([, told]) => told);
  expect(verdicts.at(-1)).toBe('regression');
});

test('one that cannot be measured leaves the others', async () => {
  const gone = new Error('There is no testbed left.');
  const { exitCode, folder, verdict } = await measured({ left: gone, right: slower });
  expect(exitCode).toBe(gone);
  expect(verdict(2)).toBe('regression');
  expect(existsSync(join(folder, 'result-1.json'))).toBe(false);
  const { said } = JSON.parse(readFileSync(join(folder, 'failure-1.json'), 'utf8'));
  expect(said).toBe(gone.message);
});

test('each lease is stored in a separate folder', async () => {
  const { leases, folder } = await measured({ left: {}, right: {} });
  expect(leases.toSorted()).toEqual([join(folder, '1'), join(folder, '2')]);
});
