// A nightly run in separate jobs: the artifact of the measuring job, and its verification by the publishing job.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type GateRequest, requestText } from '../../src/action/approved-request.ts';
import { runGate } from '../../src/action/run-gate.ts';
import { runPublish } from '../../src/action/run-publish.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { patchOfRange } from '../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { bisect } from '../../src/gate/bisect/bisect.ts';
import { assembleResult } from '../../src/gate/experiment/assemble.ts';
import { makePlan } from '../../src/gate/experiment/plan.ts';
import type { inSession } from '../../src/gate/session.ts';
import { openFreebsdTestbed } from '../../src/lab/freebsd/freebsd-testbed.ts';
import { unshared } from '../../src/lab/testbed.ts';
import { patchName } from '../../src/model/patch.ts';
import type { Result } from '../../src/model/result.ts';
import { indexPath, parseIndex } from '../../src/publish/data-branch/layout.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { depsOf } from '../fakes/freebsd-testbed.ts';
import { commitAt, entryAt } from '../fakes/github/git-objects.ts';
import { type FakeGitHub, startFakeGitHub } from '../fakes/github/server.ts';
import { jobHere } from '../fakes/job.ts';
import { journalOf, still } from '../fakes/journal.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { forwarding } from '../fakes/result.ts';
import { zipOf } from '../fakes/zip.ts';
import { describeWith } from '../needs.ts';
import { type Builder, startBuilder, startStudy, surroundingsOf } from '../studies/study.ts';

const repository = 'example/router';
const written = 'testbeds: { lab: { kind: embedded-linux } }\nfamilies: [inet4, inet6]\n';
const config = parseConfig(written, { path: 'ppsgate.yml', home: '/' });

let github: FakeGitHub;
let workspace: string;
let ids: string[];

beforeEach(async () => {
  workspace = newRepository();
  ids = Array.from({ length: 4 }, (_, place) => {
    const version = `FreeBSD 15.0-CURRENT #0 c${place}\n`;
    const files = { 'sys/conf/version': version, 'sys/dev/nic/driver': `${place}\n` };
    return commit(workspace, { 'dut/nftables.conf': `# ${place}\n`, ...files });
  });
  github = await startFakeGitHub({ repository, pullRequests: [] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

/** Context of a job of the nightly run. */
async function job(command: string, held: Config) {
  const patch = await patchOfRange(openRepository(workspace), 'main..main');
  const request: GateRequest = { patch, overrides: {}, priority: 'rerun', purpose: 'nightly' };
  const given = { command, request: requestText(request), event: { name: 'schedule' } };
  return jobHere({ github, workspace, ...given, config: held });
}

async function publish(own: Result, parts: readonly object[] = [], held = config): Promise<number> {
  const files = [own, ...parts].map((result, part) => ({
    name: part === 0 ? 'result.json' : `nightly-${part}.json`,
    content: JSON.stringify(result),
  }));
  const artifact = { id: 7001, runId: 42, name: 'ppsgate-result', bytes: zipOf(files) };
  github.state.artifacts = [artifact];
  return runPublish((await job('publish', held)).context);
}

/** The text of a file of the data branch. */
function kept(path: string): string | undefined {
  const { git } = github.state;
  const tip = commitAt(git, git.refs.get('refs/heads/ppsgate-data') ?? '');
  const entry = tip && entryAt(git, tip.tree, path);
  return entry && git.read(entry.id)?.bytes.toString();
}

const keptResults = () =>
  (parseIndex(kept(indexPath) ?? '')?.results ?? []).map(({ patch, testbed }) => [testbed, patch].join(' '));

/** A gate of two commits as an honest job leaves it, in some of the cells. */
async function resultOf(
  [base = '', head = '']: readonly (string | undefined)[],
  { cells = [forwarding], testbed = 'lab', speed = 1 } = {},
): Promise<Result> {
  const patch = await patchOfRange(openRepository(workspace), `${base}..${head}`);
  const overlays = [
    { variant: 'base', commit: base, files: [] },
    { variant: 'patched', commit: head, files: [] },
  ];
  const plan = makePlan({ patch, config, testbed, seed: 6, cells }, overlays, []);
  return assembleResult(plan, journalOf(plan, { ...still, speed }));
}

const both = [forwarding, { ...forwarding, family: 'inet6' as const }];
const ownResult = () => resultOf([ids.at(-1), ids.at(-1)], { cells: both });
const nameOf = (result: Result): string => `${result.testbed.name} ${patchName(result.patch)}`;

test('the parts of a nightly run are published with it, for their own cells', async () => {
  const own = await ownResult();
  const gate = await resultOf([ids[0], ids[3]], { speed: 0.8 });
  expect(await publish(own, [gate])).toBe(0);
  expect(keptResults().toSorted()).toEqual([own, gate].map(nameOf).toSorted());
});

test('a nightly run that was measured again is two nightly runs of the cells that were off', async () => {
  const own = await ownResult();
  const again = await resultOf([ids.at(-1), ids.at(-1)]);
  const later = { ...again, startedAt: new Date(Date.parse(own.startedAt) + 60_000).toISOString() };
  expect(await publish(own, [later])).toBe(0);
  const year = new Date(own.startedAt).getUTCFullYear();
  const occasionsOf = (cell: string) =>
    [...(kept(`trend/lab/${cell}/${year}.jsonl`) ?? '').matchAll(/"occasion":"(\w+)"/g)].map(
      ([, occasion]) => occasion,
    );
  expect(occasionsOf('forwarding-inet4')).toEqual(['nightly', 'again']);
  expect(occasionsOf('forwarding-inet6')).toEqual(['nightly']);
});

test('git, not the artifact, determines the place of a nightly run among others', async () => {
  const own = { ...(await ownResult()), startedAt: new Date().toISOString() };
  await publish(own);
  const year = new Date(own.startedAt).getUTCFullYear();
  const line = JSON.parse(kept(`trend/lab/forwarding-inet4/${year}.jsonl`) ?? '');
  const madeAt = Number(git(workspace, 'show', '--no-patch', '--format=%ct', 'main')) * 1000;
  expect(line).toMatchObject({ commit: ids.at(-1), committedAt: new Date(madeAt).toISOString() });
});

const stateful = { ...forwarding, scenario: 'nftables-stateful' };

test.for<[string, () => Promise<object>]>([
  [
    'of a commit that was never merged',
    async () => {
      git(workspace, 'checkout', '--quiet', '-b', 'fork', 'HEAD~1');
      const fork = commit(workspace, { 'dut/nftables.conf': '# a fork\n' });
      git(workspace, 'checkout', '--quiet', 'main');
      return resultOf([ids[0], fork], { speed: 0.8 });
    },
  ],
  ['of another commit against itself', () => resultOf([ids[1], ids[1]])],
  ['of another testbed', () => resultOf([ids[0], ids[3]], { testbed: 'the fast one' })],
  ['of cells that are not configured', () => resultOf([ids[0], ids[3]], { cells: [stateful] })],
  [
    'that says that nothing is installed otherwise, where it is',
    async () => ({ ...(await resultOf([ids[0], ids[3]])), outcome: { kind: 'unchanged' } }),
  ],
  ['that is no result', async () => ({ kind: 'bisect', good: '../../etc', bad: 7 })],
])('a part %s is not published, and the nightly run is', async ([, forged]) => {
  const part = await forged();
  const own = await ownResult();
  expect(await publish(own, [part])).toBe(0);
  expect(keptResults()).toEqual([nameOf(own)]);
});

test('a part with a forged verdict is published with the verdict of its runs', async () => {
  const own = await ownResult();
  const gate = await resultOf([ids[0], ids[3]], { speed: 0.8 });
  const { outcome } = gate;
  if (outcome.kind !== 'judged') throw new TypeError('It is not judged.');
  const lie = { ...gate, outcome: { ...outcome, verdict: 'no-regression' } };
  await publish(own, [lie]);
  const outcomes = parseIndex(kept(indexPath) ?? '')?.results.map(({ outcome }) => outcome);
  expect(outcomes?.toSorted()).toEqual(['no-regression', 'regression']);
});

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'the job that measures a nightly run', () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder('cat sys/conf/version sys/dev/nic/driver > out/kernel && echo module > out/if_nic.ko');
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  test('passes with any finding, and leaves the parts to publish; a bisection of the nightly run, too', async () => {
    await using study = await startStudy({
      name: 'rack',
      lab: {
        truth: ({ ident }) => (Number(ident.slice(1)) >= 2 ? 4e6 : 5e6),
        noise: { perBoot: 0.003 },
        hardware: { 'hw.model': 'Intel(R) Atom(TM) CPU C2758 @ 2.40GHz', 'hw.ncpu': '8' },
        generatorPps: 14_880_000,
      },
      port: '',
      testbedLines: builder.linesFor(workspace),
      settings: 'scenarios: [forwarding]\ntraffic: { flows: 2000 }\n',
    });
    const testbed = study.config.testbeds.rack;
    if (testbed?.kind !== 'freebsd') throw new TypeError('It is no FreeBSD testbed.');
    /** Instead of a testbed that is reserved the laboratory, whose time goes by at once. */
    const within: typeof inSession = ({ repository: opened, signal }, work) =>
      work({
        repository: opened,
        reserve: async () =>
          unshared('rack', (traffic) => openFreebsdTestbed('rack', testbed, traffic, depsOf(study.lab))),
        history: study.history,
        now: () => new Date(study.lab.clock.now() * 1000),
        onEvent() {},
        signal,
      });
    const { context, folder } = await job('gate', study.config);
    expect(await runGate(context, new AbortController().signal, within)).toBe(0);
    const own: Result = JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'));
    expect(await publish(own, [], study.config)).toBe(0);
    expect(keptResults()).toEqual([nameOf(own)]);

    const [good = '', bad = ''] = [ids[0], ids[3]];
    const range = { good, bad, fixUps: [], skips: [], config: study.config, testbeds: ['rack'] };
    const found = await bisect(
      { ...range, seed: 1, mostBoots: 40, isVerified: false },
      join(temporaryFolder(), 'work'),
      surroundingsOf(study, openRepository(workspace)),
    );
    const elsewhere = { ...found, testbed: { ...found.testbed, name: 'the fast one' } };
    await publish(own, [elsewhere], study.config);
    expect(keptResults()).toEqual([nameOf(own)]);
    await publish(own, [found], study.config);
    const name = `rack bisect ${good.slice(0, 7)}..${bad.slice(0, 7)}`;
    // Both are years old by the laboratory's clock, and only the newest of such stays.
    expect(keptResults()).toEqual([name]);
  });
});
