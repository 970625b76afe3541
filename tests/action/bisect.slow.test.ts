// A bisection from the requesting comment to the answer: three jobs, GitHub, and a laboratory that is a
// fake.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runAdmit } from '../../src/action/run-admit.ts';
import { runBisect } from '../../src/action/run-bisect.ts';
import { runPublish } from '../../src/action/run-publish.ts';
import type { inSession } from '../../src/gate/session.ts';
import { openFreebsdTestbed } from '../../src/lab/freebsd/freebsd-testbed.ts';
import { unshared } from '../../src/lab/testbed.ts';
import { type BisectResult, bisectResultSchema } from '../../src/model/bisect-result.ts';
import { depsOf } from '../fakes/freebsd-testbed.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { jobHere } from '../fakes/job.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { zipOf } from '../fakes/zip.ts';
import { describeWith } from '../needs.ts';
import { type Builder, type Study, startBuilder, startStudy } from '../studies/study.ts';

const repository = 'example/router';
const makeKernel = 'cat sys/conf/version sys/dev/nic/driver > out/kernel && echo module > out/if_nic.ko';

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a bisection that a comment asks for', () => {
  let builder: Builder;
  let study: Study;
  let github: FakeGitHub;
  let workspace: string;
  let commits: string[];

  beforeAll(async () => {
    builder = await startBuilder(makeKernel);
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  /** A pull request of six commits, the fourth of which loses a fifth; the gate has reported it. */
  beforeEach(async () => {
    workspace = newRepository();
    commits = Array.from({ length: 7 }, (_, place) => {
      const version = `FreeBSD 15.0-CURRENT #0 c${place}\n`;
      const files = { 'sys/conf/version': version, 'sys/dev/nic/driver': `${place}\n` };
      return commit(workspace, files, {}, `Change ${place} <!-- ppsgate --> @all`);
    });
    const [baseCommit = '', headCommit = ''] = [commits[0], commits[6]];
    const about = { number: 7, title: 'Six changes', author: 'alice', headRepository: repository };
    github = await startFakeGitHub({
      repository,
      pullRequests: [{ ...about, baseCommit, headCommit }],
    });
    github.state.permissions.carol = 'write';
    const body = '<!-- ppsgate -->\n\nThe verdict.';
    github.state.comments.push({ id: 400, number: 7, author: 'github-actions[bot]', body });
    study = await startStudy({
      name: 'rack',
      lab: {
        truth: ({ ident }) => (Number(ident.slice(1)) >= 4 ? 4e6 : 5e6),
        noise: { perBoot: 0.003 },
        hardware: { 'hw.model': 'Intel(R) Atom(TM) CPU C2758 @ 2.40GHz', 'hw.ncpu': '8' },
        generatorPps: 14_880_000,
      },
      port: '',
      testbedLines: builder.linesFor(workspace),
      settings: 'scenarios: [forwarding]\nfamilies: [inet4]\ntraffic: { flows: 2000 }\n',
    });
  });

  afterEach(async () => {
    await study[Symbol.asyncDispose]();
    await github.stop();
    expect(github.violations).toEqual([]);
  });

  /** A job of the same workflow run, with its outputs. */
  async function job(command: string, body: string, request = '') {
    const payload = {
      action: 'created',
      issue: { number: 7, pull_request: {} },
      comment: { id: 501, body, user: { login: 'carol' }, created_at: '2026-11-20T12:00:00Z' },
    };
    const { context, output, folder } = await jobHere({
      github,
      workspace,
      command,
      request,
      config: study.config,
      event: { name: 'issue_comment', payload },
    });
    const outputs = () => {
      const written = readFileSync(output, 'utf8').matchAll(/^(\S+)<<(\S+)\n(.*?)\n\2$/gms);
      return Object.fromEntries([...written].map(([, name = '', , text = '']) => [name, text]));
    };
    return { context, outputs, folder };
  }

  /** Instead of a testbed that is reserved the laboratory, whose time goes by at once. */
  const within: typeof inSession = ({ repository: opened, signal }, work) => {
    const testbed = study.config.testbeds.rack;
    if (testbed?.kind !== 'freebsd') throw new TypeError('It is no FreeBSD testbed.');
    return work({
      repository: opened,
      reserve: async () =>
        unshared('rack', (traffic) => openFreebsdTestbed('rack', testbed, traffic, depsOf(study.lab))),
      history: study.history,
      now: () => new Date(study.lab.clock.now() * 1000),
      onEvent() {},
      signal,
    });
  };

  async function asked(body: string) {
    github.state.comments.push({ id: 501, number: 7, author: 'carol', body });
    const admit = await job('admit', body);
    const exitCode = await runAdmit(admit.context);
    return { exitCode, outputs: admit.outputs() };
  }

  async function found(request: string) {
    const bisect = await job('bisect', '', request);
    const signal = new AbortController().signal;
    const exitCode = await runBisect(bisect.context, signal, within);
    const text = readFileSync(join(bisect.folder, 'result.json'), 'utf8');
    const result = bisectResultSchema.parse(JSON.parse(text));
    return { exitCode, result, outputs: bisect.outputs() };
  }

  async function published(request: string, result: unknown) {
    const bytes = zipOf([{ name: 'result.json', content: JSON.stringify(result) }]);
    github.state.artifacts = [{ id: 7001, runId: 42, name: 'ppsgate-result', bytes }];
    const publish = await job('publish', '', request);
    return runPublish(publish.context);
  }

  const ours = () => github.state.comments.filter(({ author }) => author !== 'carol');

  test('is admitted, carried out and answered in one comment beside the gate’s', async () => {
    const { exitCode, outputs } = await asked('/ppsgate bisect max-boots=40');
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({ go: 'false', bisect: 'true', cancel: 'false', subject: '#7' });
    const { request = '' } = outputs;
    const [gates, waiting, ...none] = ours();
    expect(none).toEqual([]);
    expect(waiting?.body).toMatch(/^<!-- ppsgate bisect -->\n\n### ⏳ .* the bisection of #7 waits/);

    const { result, ...bisected } = await found(request);
    expect(bisected).toMatchObject({ exitCode: 0, outputs: { verdict: 'culprit' } });
    expect(result.answer).toMatchObject({ kind: 'culprit' });

    expect(await published(request, result)).toBe(0);
    const [gate, answer, ...more] = ours();
    expect(more).toEqual([]);
    expect(gate).toEqual(gates);
    expect(answer?.id).toBe(waiting?.id);
    expect(answer?.body).toMatch(
      new RegExp(`^<!-- ppsgate bisect -->\n\n### 🔴 ppsgate: ${commits[4]?.slice(0, 12)} costs `),
    );
    // Subjects of commits are quoted as code.
    expect(answer?.body).toContain('`Change 4 <!-- ppsgate --> @all`');
    expect(github.state.checkRuns).toEqual([]);
    const kept = 'https://github.com/example/router/raw/ppsgate-data/results/2023/';
    expect(answer?.body).not.toContain('/ppsgate rerun');
    expect(answer?.body).toMatch(new RegExp(`!\\[.+\\]\\(${kept}\\S+/bisect\\.svg\\)`));
  });

  test('is not verified if it claims other commits, or other descriptions of them', async () => {
    const { outputs } = await asked(`/ppsgate bisect ${commits[2]} ${commits[6]} max-boots=40`);
    const { request = '' } = outputs;
    const { result } = await found(request);
    const lying = async (change: Partial<BisectResult>) => {
      await published(request, { ...result, ...change });
      return ours().at(-1)?.body ?? '';
    };
    const [first, ...others] = result.revisions;
    const forged = { ...first, commit: commits[0] } as BisectResult['revisions'][number];
    const cell = { scenario: 'forwarding', family: 'inet6' } as const;
    const answer = { kind: 'slide' as const, change: changeIn(result), steps: [99] };
    const doubled = result.revisions.flatMap((one) => [one, one]);
    const lies: [Partial<BisectResult>, string][] = [
      [{ revisions: [forged, ...others] }, 'of commits of another range'],
      [{ revisions: doubled }, 'of commits of another range'],
      [{ good: 'main' }, 'of commits other than the requested ones'],
      [{ cell }, 'of another cell'],
      [{ answer }, 'of commits that it does not contain'],
    ];
    for (const [change, why] of lies) expect(await lying(change)).toContain(why);
    const renamed = result.revisions.map((one) => ({ ...one, subject: 'Innocent', author: 'Eve' }));
    expect(await lying({ revisions: renamed })).not.toMatch(/Innocent|Eve/);
    expect(ours()).toHaveLength(2);
  });

  test('by a stranger starts nothing, and gets a reply on who may start one', async () => {
    delete github.state.permissions.carol;
    const { exitCode, outputs } = await asked('/ppsgate bisect');
    expect(exitCode).toBe(2);
    expect(outputs).toEqual({ go: 'false', bisect: 'false', cancel: 'false' });
    expect(ours().at(-1)?.body).toMatch(
      /^<!-- ppsgate notice -->\n\n### ⏸️ ppsgate: no bisection\n\n`Thank you, carol: /,
    );
  });
});

function changeIn({ answer }: BisectResult) {
  if (answer.kind === 'culprit') return answer.change;
  throw new Error(`It is ${answer.kind}.`);
}
