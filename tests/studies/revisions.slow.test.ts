// Follows a revision from an event on Phabricator through a FreeBSD testbed to the comment on it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { phabricatorSchema } from '../../src/config/phabricator.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { parseEarlier, patchOfRevision } from '../../src/forge/patch/revision.ts';
import { openConduit } from '../../src/forge/phabricator/conduit.ts';
import { outcomeOfResult } from '../../src/publish/reporters/outcome.ts';
import { reportOutcome } from '../../src/publish/reporters/reporter.ts';
import { openRevisionReporter } from '../../src/publish/reporters/revision-comment.ts';
import { type Inbox, openInbox } from '../../src/relay/inbox.ts';
import { pollOnce, type RelayDeps, workOnce } from '../../src/relay/relay.ts';
import { type RelayServer, startRelayServer } from '../../src/relay/server.ts';
import type { RelayStarter } from '../../src/relay/starter.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { describeWith } from '../needs.ts';
import { type Builder, judgePatch, type Study, startBuilder, startStudy } from './study.ts';

const version = (revision: string): string => `FreeBSD 13.0-CURRENT #0 main-${revision}`;

/** Packets per second by the kernel's ident. */
const speeds: Record<string, number> = {
  'main-base': 4_000_000,
  'main-first': 2_800_000,
  'main-second': 4_100_000,
  'main-third': 4_290_000,
  'main-fourth': 4_300_000,
};

const webhookKey = 'k'.repeat(32);
const credential = { user: 'harbormaster', password: 'sesame' };

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a revision', () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder('cat sys/conf/version > out/kernel');
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  let phabricator: FakePhabricator;
  let directory: string;
  let base: string;
  let study: Study;
  let inbox: Inbox;
  let relay: RelayServer;
  let deps: RelayDeps;
  let gates: Promise<void>[];
  let said: string[];
  let author: ReturnType<FakePhabricator['addUser']>;

  beforeEach(async () => {
    phabricator = await startPhabricator();
    author = phabricator.addUser('author');
    phabricator.addProject('network', [author]);
    directory = newRepository();
    base = commit(directory, { 'sys/conf/version': `${version('base')}\n` });
    study = await startStudy({
      name: 'shelf',
      lab: {
        truth: ({ ident }) => speeds[ident] ?? 0,
        noise: { perBoot: 0.002 },
        hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 0 @ 2.00GHz', 'hw.ncpu': '8' },
        generatorPps: 14_880_000,
      },
      port: 'speed: 10 Gbit/s',
      testbedLines: builder.linesFor(directory),
      settings: 'scenarios: [forwarding]\nfamilies: [inet4]\n',
    });
    inbox = openInbox(join(temporaryFolder(), 'inbox.sqlite'), () => new Date());
    gates = [];
    said = [];
    const say = (sentence: string) => said.push(sentence);
    const log = { info: say, warn: say };
    const conduit = openConduit({ url: phabricator.url, token: phabricator.token, log });
    const now = () => new Date();
    const signal = new AbortController().signal;
    deps = {
      conduit,
      inbox,
      log,
      now,
      me: phabricator.bot.phid,
      config: phabricatorSchema.parse({ url: phabricator.url, projects: ['network'] }),
      starter: starterOf(),
      check() {},
      signal,
    };
    relay = await startRelayServer({
      host: '127.0.0.1',
      port: 0,
      inbox,
      now: deps.now,
      log: say,
      webhookKey,
      buildPassword: `${credential.user}:${credential.password}`,
    });
  });
  afterEach(async () => {
    await relay[Symbol.asyncDispose]();
    await Promise.all(gates);
    inbox[Symbol.dispose]();
    await study[Symbol.asyncDispose]();
    await phabricator[Symbol.asyncDispose]();
  });

  /** Gates run in this process, on the fake laboratory; all else is as `ppsgate gate --answer` does it. */
  function starterOf(): RelayStarter {
    const ended = new Set<string>();
    return {
      async start(job, _mayBeStarted, signal) {
        const { revision, diff, overrides, build, key: run } = job;
        const repository = openRepository(directory);
        const judge = async () => {
          const { conduit, config, log } = deps;
          const earlier = parseEarlier(overrides.earlier || 'none', 'earlier');
          const patch = await patchOfRevision({ revision, diff }, earlier, {
            conduit,
            repository,
            config: { ...config, branch: 'main' },
          });
          const options = { run, undecided: config.undecided, log, ...(build && { build }) };
          const answer = openRevisionReporter(conduit, patch, options);
          await reportOutcome(answer, signal, async () => {
            answer.measuring('shelf');
            return outcomeOfResult((await judgePatch(study, repository, patch)).result, {});
          });
          ended.add(run);
        };
        gates.push(judge());
        return { kind: 'started', where: 'here' };
      },
      cancel: async () => undefined,
      hasRoom: async () => true,
      ended: async ({ key }) => (ended.has(key) ? { kind: 'ended', how: 'it passed' } : { kind: 'running' }),
    };
  }

  /** A change of the kernel, as git diff prints it. */
  function diffTo(name: string): string {
    git(directory, 'switch', '--quiet', '--detach', base);
    writeFileSync(join(directory, 'sys/conf/version'), `${version(name)}\n`);
    const raw = git(directory, 'diff');
    git(directory, 'checkout', '--quiet', '--', '.');
    git(directory, 'switch', '--quiet', 'main');
    return `${raw}\n`;
  }

  const revisionOf = (name: string) =>
    phabricator.addRevision({
      author,
      title: 'Forward faster',
      diff: { raw: diffTo(name), base },
    });

  /** All rounds that there is something to do in, and the gates that they start. */
  async function settle(): Promise<void> {
    await phabricator.settled();
    await workOnce(deps);
    await Promise.all(gates);
    await workOnce(deps);
  }

  /** URI with the variables that Harbormaster fills in. */
  const buildUri = (): string =>
    `http://127.0.0.1:${relay.port}/build?target=\${target.phid}&build=\${build.phid}&diff=\${buildable.diff}`;

  const commentsOn = (revision: { phid: string }): string[] =>
    phabricator.state.transactions.flatMap((one) =>
      one.objectPHID === revision.phid && one.authorPHID === phabricator.bot.phid ? (one.comment?.raw ?? []) : [],
    );

  test('is measured when a webhook announces its new diff, and gets one comment', async () => {
    phabricator.addWebhook({ uri: `http://127.0.0.1:${relay.port}/webhook`, hmacKey: webhookKey });
    const revision = revisionOf('fourth');
    await settle();
    await settle();

    const comments = commentsOn(revision);
    expect(comments, said.join('\n')).toHaveLength(1);
    expect(comments[0]).toMatch(/gains 7\.\d\d %/);
    expect(phabricator.violations).toEqual([]);
    expect(inbox.unendedJobs()).toEqual([]);
  });

  test('with a requested Harbormaster build has that passed, with a unit for each cell', async () => {
    const revision = revisionOf('third');
    const plan = phabricator.addBuildPlan({ uri: buildUri(), credential, holdDrafts: 'never' });
    const target = await phabricator.startBuild(revision, plan);
    await settle();
    await settle();

    expect(target, said.join('\n')).toMatchObject({
      messages: ['work', 'pass'],
      units: [{ name: 'forwarding inet4', result: 'pass' }],
    });
    expect(commentsOn(revision)).toHaveLength(1);
    expect(phabricator.violations).toEqual([]);
  });

  test('with a request of a member for all diffs side by side gets them in one comment', async () => {
    await pollOnce(deps);
    const revision = revisionOf('first');
    for (const name of ['second', 'third', 'fourth']) {
      phabricator.updateRevision(revision, { raw: diffTo(name), base });
    }
    phabricator.letPass(600);
    deps.config = { ...deps.config, relay: { ...deps.config.relay, on: ['comments'] } };
    phabricator.comment(revision, author, '@ppsgate run earlier=all');
    await pollOnce(deps);
    await settle();

    const comments = commentsOn(revision);
    expect(comments, said.join('\n')).toHaveLength(1);
    const rows = (comments[0] ?? '').split('\n').filter((line) => /^\|.*Mpps/.test(line));
    expect(rows).toEqual([
      expect.stringMatching(/forwarding inet4`.*\+7\.\d/),
      expect.stringMatching(/`diff 1`.*−(?:29|30)/),
      expect.stringMatching(/`diff 2`.*\+2\.\d/),
      expect.stringMatching(/`diff 3`.*\+7\.\d/),
    ]);
    expect(phabricator.violations).toEqual([]);
  });
});
