// Tests answers that Phabricator does not accept at once: kept on disk, and delivered in order, once.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openConduit } from '../../src/forge/phabricator/conduit.ts';
import { cancelledOutcome, outcomeOfFailure, type ReportedOutcome } from '../../src/publish/reporters/outcome.ts';
import { combineReporters } from '../../src/publish/reporters/reporter.ts';
import {
  type AnswersDeps,
  giveAnswers,
  type KeptAnswer,
  keepAnswer,
  keeping,
  keptOf,
} from '../../src/relay/answers.ts';
import { type Inbox, openInbox } from '../../src/relay/inbox.ts';
import { mellanoxBroken } from '../fakes/bisect-result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { finish } from '../fakes/phabricator/builds.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import type { State } from '../fakes/phabricator/state.ts';

const raw = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-slow\n+fast\n';
const minute = 60_000;
const day = 1440 * minute;

let phabricator: FakePhabricator;
let inbox: Inbox;
let deps: AnswersDeps;
let path: string;
let now: Date;
let said: string[];

beforeEach(async () => {
  phabricator = await startPhabricator();
  path = join(temporaryFolder(), 'inbox.sqlite');
  now = new Date('2026-11-23T12:00:00Z');
  inbox = openInbox(path, () => now);
  said = [];
  deps = aDeps();
});

afterEach(async () => {
  inbox[Symbol.dispose]();
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

/** Pauses end at once, but for the last resort. */
function aDeps(): AnswersDeps {
  const log = { info: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
  const { url, token } = phabricator;
  return {
    conduit: openConduit({ url, token, log: { info() {} }, pause: async () => {} }),
    inbox,
    log,
    now: () => now,
    signal: new AbortController().signal,
    pause: (seconds, signal) =>
      seconds < 30 ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', resolve)),
  };
}

const aRevision = () => phabricator.addRevision({ author: alice(), title: 'ipfw', diff: { raw } });
const alice = () => phabricator.addUser(`alice${phabricator.state.users.length}`);

const failed = outcomeOfFailure('infrastructure', 'The lab is on fire.');

const commentOf = (number: number, run: string, ending: ReportedOutcome = failed): KeptAnswer => ({
  kind: 'comment',
  revision: { number, diff: number },
  run,
  takesCommands: true,
  ending: keptOf(ending),
});

/** Returns the runs named at the ends of comments. */
const told = (revision: number): string[] => {
  const phid = phabricator.state.revisions.find(({ id }) => id === revision)?.phid;
  return phabricator.state.transactions.flatMap(({ objectPHID, comment }) =>
    objectPHID === phid ? (/run (\S+)`$/.exec(comment?.raw ?? '')?.[1] ?? []) : [],
  );
};
const waiting = () => inbox.waitingAnswers(phabricator.url).map(({ key }) => key);

describe('the end of a gate', () => {
  test.each<[string, Partial<State>]>([
    ['is in maintenance', { isReadOnly: true }],
    ['has no database', { away: 'database' }],
    ['has no PHP', { away: 'php' }],
    ['has thrown the account out', { isReadOnly: false }],
  ])('waits while the server %s, which is said, and is told when it is well again', async (_, trouble) => {
    const { id } = aRevision();
    Object.assign(phabricator.state, trouble);
    phabricator.bot.isDisabled = trouble.isReadOnly === false;
    const answer = commentOf(id, '7');
    let tries = 0;
    const impatient: AnswersDeps = {
      ...deps,
      // Five minutes are over after some tries.
      pause: async (seconds, signal) => {
        if (seconds === 5) tries += 1;
        if (seconds > 5) await expect.poll(() => tries > 3 || signal.aborted).toBe(true);
      },
    };
    expect(await keeping(combineReporters([]), () => answer, impatient).conclude(failed)).toBe('undelivered');
    expect(said).toEqual([
      expect.stringMatching(/^The comment on D1 may be missing \(.+\)\. It is kept and posted later/),
      'The reply to D1:1 waits: `ppsgate relay`, `ppsgate poll` or the next gate with --answer on this machine posts it.',
    ]);
    expect([told(id), waiting()]).toEqual([[], ['comment D1:1 7']]);

    phabricator.state.isReadOnly = false;
    delete phabricator.state.away;
    phabricator.bot.isDisabled = false;
    now = new Date(now.getTime() + 400 * minute);
    // The try that was begun last may be on its way still.
    await expect
      .poll(async () => {
        await giveAnswers(deps);
        return waiting();
      })
      .toEqual([]);
    expect(told(id)).toEqual(['7']);
    expect(said.at(-1)).toBe('D1:1 has its reply, 7 h late.');
  });

  test('that was cancelled posts no comment, and nothing waits for it', async () => {
    const { id } = aRevision();
    const answer = keeping(combineReporters([]), (ended) => commentOf(id, '7', ended), deps);
    expect(await answer.conclude(cancelledOutcome)).toBe('delivered');
    expect([told(id), waiting()]).toEqual([[], []]);
  });

  test('is the first one that was reported', async () => {
    const { id } = aRevision();
    const answer = keeping(combineReporters([]), (ended) => commentOf(id, '7', ended), deps);
    await Promise.all([answer.conclude(failed), answer.conclude(cancelledOutcome)]);
    expect(told(id)).toEqual(['7']);
  });
});

describe('after a restore of the server', () => {
  // A restored server gives the number of a revision to another one.
  test('an answer to a lost revision is not posted to the one that has its number, which is logged', async () => {
    const { id, phid } = aRevision();
    const lost = { revision: 'PHID-DREV-lost', diff: 'PHID-DIFF-lost' };
    const answer = commentOf(id, '7');
    if (answer.kind !== 'comment') expect.fail('It is a comment.');
    keepAnswer({ ...answer, revision: { number: id, diff: 1, phids: lost } }, deps);
    keepAnswer({ kind: 'reply', of: id, phid: lost.revision, to: 'help', text: 'Help.' }, deps);
    await giveAnswers(deps);
    expect(phabricator.state.transactions.filter(({ comment }) => comment !== null)).toEqual([]);
    expect(waiting()).toEqual([]);
    expect(said).toEqual([
      `The reply comment D1:1 7 is dropped: D1 is now revision ${phid} instead of the measured PHID-DREV-lost.`,
      `The reply reply D1 help is dropped: D1 is now revision ${phid} instead of the measured PHID-DREV-lost.`,
    ]);
  });

  test('an answer to a lost diff of a revision that is still there is not posted', async () => {
    const { id, phid } = aRevision();
    const answer = commentOf(id, '7');
    if (answer.kind !== 'comment') expect.fail('It is a comment.');
    const phids = { revision: phid, diff: 'PHID-DIFF-lost' };
    keepAnswer({ ...answer, revision: { number: id, diff: 1, phids } }, deps);
    await giveAnswers(deps);
    expect([told(id), waiting()]).toEqual([[], []]);
    expect(said.join()).toContain('diff 1 is now ');
  });
});

describe('undelivered answers', () => {
  test('report the end of a bisection as an immediate answer would', async () => {
    const { id } = aRevision();
    const request = { families: 'inet4', fixUp: 'main' };
    const bisected = { kind: 'bisected', result: mellanoxBroken, request, links: {} } as const;
    keepAnswer(commentOf(id, '7', bisected), deps);
    await giveAnswers(deps);
    expect(told(id)).toEqual(['7']);
    const texts = phabricator.state.transactions.map(({ comment }) => comment?.raw ?? '');
    expect(texts.join()).toContain('@ppsgate bisect 1 inet4 fix-up=main,431980466ff0');
    expect(waiting()).toEqual([]);
  });

  test('all wait for a server that accepts none, so that none overtakes another', async () => {
    const ids = [aRevision().id, aRevision().id];
    for (const id of ids) keepAnswer(commentOf(id, '1'), deps);
    phabricator.faults.order('differential.revision.edit', { kind: 'read-only' }, 6);
    await giveAnswers(deps);
    expect(ids.flatMap(told)).toEqual([]);
    await giveAnswers(deps);
    expect(ids.flatMap(told)).toEqual(['1', '1']);
  });

  test('of another revision do not wait for one that the bot cannot see; its own do', async () => {
    const hidden = aRevision();
    const { viewPolicy } = hidden;
    hidden.viewPolicy = alice().phid;
    const { id } = aRevision();
    keepAnswer(commentOf(hidden.id, '1'), deps);
    keepAnswer(commentOf(hidden.id, '2'), deps);
    keepAnswer(commentOf(id, '1'), deps);
    await giveAnswers(deps);
    expect([told(hidden.id), told(id)]).toEqual([[], ['1']]);
    hidden.viewPolicy = viewPolicy;
    await giveAnswers(deps);
    expect(told(hidden.id)).toEqual([]);
    now = new Date(now.getTime() + 60 * minute);
    await giveAnswers(deps);
    expect(told(hidden.id)).toEqual(['1', '2']);
  });

  test('do not wait for a build that accepts none yet, which gets its own once', async () => {
    const heard = createServer((_request, response) => response.end('queued\n'));
    await once(heard.listen(0, '127.0.0.1'), 'listening');
    const uri = `http://127.0.0.1:${(heard.address() as AddressInfo).port}/build`;
    const plan = phabricator.addBuildPlan({ name: 'ppsgate', uri, holdDrafts: 'never' });
    const revision = aRevision();
    const target = await phabricator.startBuild(revision, plan);
    heard.close();
    const about = { revision: { number: revision.id, diff: 1 }, run: '1', ending: keptOf(failed) };
    const end = { ...about, kind: 'build', undecided: 'failure' } as const;
    keepAnswer({ ...end, build: target.buildPHID }, deps);
    const { id } = aRevision();
    keepAnswer(commentOf(id, '1'), deps);
    const build = phabricator.state.builds.find(({ phid }) => phid === target.buildPHID);
    Object.assign(build ?? {}, { generation: 2 });
    await giveAnswers(deps);
    expect([told(id), waiting()]).toEqual([['1'], [`build D1:1 ${target.buildPHID} 1`]]);
    Object.assign(build ?? {}, { generation: 1 });
    finish(phabricator.state, target, 'failed');
    now = new Date(now.getTime() + minute);
    await giveAnswers(deps);
    const sent = phabricator.requests.filter(({ method }) => method === 'harbormaster.sendmessage');
    expect([sent.length, waiting()]).toEqual([1, []]);
  });

  test('are given by one process at a time', async () => {
    const { id } = aRevision();
    keepAnswer(commentOf(id, '1'), deps);
    using another = openInbox(path, () => now);
    const lock = another.lockAnswers();
    await giveAnswers(deps);
    expect(told(id)).toEqual([]);
    lock?.[Symbol.dispose]();
    await giveAnswers(deps);
    expect(told(id)).toEqual(['1']);
  });

  test('are dropped after a week, with the reason', async () => {
    const { id } = aRevision();
    keepAnswer(commentOf(id, '1'), deps);
    phabricator.state.isReadOnly = true;
    await giveAnswers(deps);
    phabricator.state.isReadOnly = false;
    now = new Date(now.getTime() + 7 * day + 1);
    await giveAnswers(deps);
    expect([told(id), waiting()]).toEqual([[], []]);
    expect(said.at(-1)).toMatch(
      /^The reply comment D1:1 1 is dropped: http:.+ did not accept it for 7 days \(.+read-only mode/,
    );
  });

  test('of another server are left to it', async () => {
    const { id } = aRevision();
    const elsewhere = { ...deps.conduit, url: 'https://reviews.example.org' };
    keepAnswer(commentOf(id, '1'), { ...deps, conduit: elsewhere });
    await giveAnswers(deps);
    expect([told(id), inbox.waitingAnswers(elsewhere.url)]).toMatchObject([[], [{ revision: 1 }]]);
  });

  test('of another version of ppsgate are dropped with a log line, and delay no others', async () => {
    const { id } = aRevision();
    inbox.keepAnswer({ key: 'x', server: phabricator.url, revision: id, text: '{"kind":"song"}' });
    keepAnswer(commentOf(id, '1'), deps);
    await giveAnswers(deps);
    expect(told(id)).toEqual(['1']);
    expect(said).toEqual(['The reply x is dropped: it was stored by another version of ppsgate.']);
  });
});
