// The work of a relay and of a poller: through any fault, nothing is lost and nothing done twice.
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { phabricatorSchema } from '../../src/config/phabricator.ts';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type Conduit, openConduit } from '../../src/forge/phabricator/conduit.ts';
import { outcomeOfFailure } from '../../src/publish/reporters/outcome.ts';
import { giveAnswers, keepAnswer, keptOf } from '../../src/relay/answers.ts';
import { type JobRecord, openInbox } from '../../src/relay/inbox.ts';
import { pollOnce, type RelayDeps, replyText, workOn, workOnce } from '../../src/relay/relay.ts';
import type { JobStatus, Started } from '../../src/relay/starter.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { withMethods } from '../fakes/inbox.ts';
import { listen, smallDiff as raw } from '../fakes/phabricator/calling.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { times } from '../random.ts';

type User = ReturnType<FakePhabricator['addUser']>;
type Revision = ReturnType<FakePhabricator['addRevision']>;

const noon = new Date('2026-11-20T12:00:00Z');

/** Opens a Phabricator, where Alice is on the list and Eve is a stranger, and a relay beside it. */
async function openScene(path = join(temporaryFolder(), 'inbox.sqlite')) {
  const phabricator = await startPhabricator();
  const { url, token, send } = phabricator;
  const clock = { now: noon };
  const said: string[] = [];
  const log = { info: (text: string) => said.push(text), warn: (text: string) => said.push(text) };
  const inbox = openInbox(path, () => clock.now);
  /** Requests of the starter, and its answers: `started` by default. */
  const starter = {
    starts: [] as { key: string; mayBeStarted: boolean }[],
    cancelled: [] as string[],
    answers: [] as Started[],
    interimResults: new Map<string, JobStatus>(),
    isFull: false,
    meanwhile: (_job: Job) => {},
  };
  const conduit = openConduit({ url, token, send, log, pause: async () => {} });
  const now = () => clock.now;
  const signal = new AbortController().signal;
  const deps: RelayDeps = {
    conduit,
    config: phabricatorSchema.parse({ url, people: ['alice'] }),
    me: phabricator.bot.phid,
    inbox,
    log,
    now,
    signal,
    // Only time limits, of 3, 30 and 300 s, last until they are lifted.
    pause: (seconds, lifted) =>
      [3, 30, 300].includes(seconds)
        ? new Promise<void>((resolve) => lifted.addEventListener('abort', () => resolve()))
        : Promise.resolve(),
    check() {},
    starter: {
      async start(job, mayBeStarted) {
        starter.starts.push({ key: job.key, mayBeStarted });
        starter.meanwhile(job);
        return starter.answers.shift() ?? { kind: 'started', where: `at ${job.key}` };
      },
      async cancel({ key }) {
        starter.cancelled.push(key);
        return undefined;
      },
      hasRoom: async () => !starter.isFull,
      ended: async ({ key }) => starter.interimResults.get(key) ?? { kind: 'running' },
    },
  };
  const alice = phabricator.addUser('alice');
  const eve = phabricator.addUser('eve');
  return {
    phabricator,
    clock,
    said,
    inbox,
    starter,
    deps,
    path,
    alice,
    eve,
    async [Symbol.asyncDispose]() {
      inbox[Symbol.dispose]();
      await phabricator.stop();
    },
  };
}

let scene: Awaited<ReturnType<typeof openScene>>;

beforeEach(async () => {
  scene = await openScene();
});

afterEach(async () => {
  await scene[Symbol.asyncDispose]();
  expect(scene.phabricator.violations).toEqual([]);
});

const work = () => workOnce(scene.deps);
const waiting = () => scene.inbox.waitingAnswers(scene.phabricator.url);

const revisionBy = (author: User, of: FakePhabricator = scene.phabricator) =>
  of.addRevision({ author, title: 'Forward faster', diff: { raw } });

const newestOf = ({ diffPHID }: Revision, { state }: FakePhabricator = scene.phabricator): number =>
  state.diffs.find(({ phid }) => phid === diffPHID)?.id ?? 0;

/** Occurrence as a webhook reports it: everything on a revision, or one transaction. */
function heard(revision: Revision, transactions?: readonly { phid: string }[]): string {
  const all = scene.phabricator.state.transactions.filter(({ objectPHID }) => objectPHID === revision.phid);
  const phids = (transactions ?? all).map(({ phid }) => phid);
  const id = `delivery ${phids.join(' ')}`;
  const delivery = { kind: 'webhook', id, at: noon, object: revision.phid } as const;
  scene.inbox.accept([{ ...delivery, transactions: phids }]);
  return id;
}

/** Comments two minutes later, so that the earlier state could be read; returns the key of the result. */
function told(revision: Revision, by: User, text: string): string {
  scene.phabricator.letPass(120);
  const comment = scene.phabricator.comment(revision, by, text);
  heard(revision, [comment]);
  return comment.phid;
}

/** Harbormaster requests a build of the newest diff. */
async function asked(revision: Revision) {
  await using endpoint = await listen();
  const plan = scene.phabricator.addBuildPlan({ uri: endpoint.url, holdDrafts: 'never' });
  const target = await scene.phabricator.startBuild(revision, plan);
  const { phid, buildPHID: build } = target;
  const diff = newestOf(revision);
  scene.inbox.accept([{ kind: 'build', id: phid, at: noon, target: phid, build, diff }]);
  return target;
}

const laterBy = (seconds: number) => {
  scene.clock.now = new Date(scene.clock.now.getTime() + seconds * 1000);
};

const commentsOn = ({ phid }: Revision): string[] =>
  scene.phabricator.state.transactions.flatMap((one) =>
    one.objectPHID === phid && one.authorPHID === scene.phabricator.bot.phid ? (one.comment?.raw ?? []) : [],
  );

const startedKeys = () => scene.starter.starts.map(({ key }) => key);

const stateOf = (key: string): JobRecord['state'] | undefined =>
  scene.phabricator.state.revisions.flatMap(({ id }) => scene.inbox.jobsOf(id)).find(({ job }) => job.key === key)
    ?.state;

const keyOf = (revision: Revision) => `D${revision.id}:${newestOf(revision)}`;

// A stranger writes hundreds of commands on a revision, to send mail.
test('a stranger gets one reply to all mistyped commands, and one to each other kind', async () => {
  const revision = revisionBy(scene.alice);
  for (const text of ['rnu1', 'rnu2', 'run @eve']) told(revision, scene.eve, `@ppsgate ${text}`);
  await work();
  expect(commentsOn(revision)).toHaveLength(1);
  for (const text of ['help', 'run', 'cancel', 'run 9999', 'help', 'run', 'cancel', 'run 9999']) {
    told(revision, scene.eve, `@ppsgate ${text}`);
  }
  await work();
  expect(commentsOn(revision)).toHaveLength(4);
  told(revision, scene.alice, '@ppsgate rnu');
  told(revision, scene.alice, '@ppsgate rnu');
  await work();
  expect(commentsOn(revision)).toHaveLength(6);
});

describe('a delivery', () => {
  test('waits while Phabricator is down, and is done when it is back', async () => {
    const revision = revisionBy(scene.alice);
    heard(revision);
    const { faults } = scene.phabricator;
    for (const fault of ['broken', 'reset', 'rate-limit'] as const) {
      faults.order(undefined, { kind: fault }, 1000);
      await work();
      faults.clear();
      expect(scene.inbox.countPending()).toBe(1);
      expect(startedKeys()).toEqual([]);
    }
    await work();
    expect(startedKeys()).toEqual([keyOf(revision)]);
    expect(scene.inbox.countPending()).toBe(0);
  });

  test('that Phabricator refuses is dropped, logged, and does not delay the next one', async () => {
    const [one, other] = [revisionBy(scene.alice), revisionBy(scene.alice)];
    heard(one);
    heard(other);
    scene.phabricator.faults.order('transaction.search', {
      kind: 'answer',
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ result: null, error_code: 'ERR-CONDUIT-CORE', error_info: 'No.' }),
    });
    await work();
    expect(scene.inbox.countPending()).toBe(0);
    expect(startedKeys()).toEqual([keyOf(other)]);
    expect(scene.said.join('\n')).toMatch(/is dropped: .+ refused transaction\.search/);
  });

  test('is dropped, with a log line, after 7 days of failures', async () => {
    heard(revisionBy(scene.alice));
    laterBy(7 * 86_400 + 60);
    scene.phabricator.faults.order(undefined, { kind: 'html' }, 100);
    await work();
    expect(scene.inbox.countPending()).toBe(0);
    expect(scene.said.join('\n')).toMatch(/PHID-DREV-\w+ is dropped: /);
  });
});

describe('a reply', () => {
  test('is in Remarkup, with the untrusted reason as code', async () => {
    const texts = [
      replyText('mistaken', 'run takes no "@eve"; write @ppsgate run'),
      replyText('refused', 'There is no workflow in /var/lib/ppsgate.'),
      replyText('not-cancelled', 'Thank you, eve.'),
      replyText('help', ''),
    ];
    await expect(texts.join('\n\n----\n\n')).toMatchFileSnapshot('golden/replies.txt');
  });

  test.each(['settle', 'dropAnswer'] as const)('is posted once though the process dies in %s', async (step) => {
    const revision = revisionBy(scene.alice);
    told(revision, scene.eve, '@ppsgate run');
    const killed = () => {
      throw new Error('killed');
    };
    const dying = { ...scene.deps, inbox: withMethods(scene.inbox, { [step]: killed }) };
    await expect(workOnce(dying)).rejects.toThrow('killed');
    expect(scene.inbox.countPending() + waiting().length).toBeGreaterThan(0);
    scene.inbox[Symbol.dispose]();
    using inbox = openInbox(scene.path, () => noon);
    await workOnce({ ...scene.deps, inbox });
    expect(commentsOn(revision)).toHaveLength(1);
    expect([inbox.countPending(), inbox.waitingAnswers(scene.phabricator.url)]).toEqual([0, []]);
  });
});

describe('a job', () => {
  /** A job from a comment. */
  const commanded = () => {
    const revision = revisionBy(scene.eve);
    const diff = newestOf(revision);
    return { revision, key: told(revision, scene.alice, `@ppsgate run ${diff}`) };
  };

  test('that cannot be started is tried again, after pauses that grow to ten minutes', async () => {
    const { key } = commanded();
    const pauses: number[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      scene.starter.answers = [{ kind: 'failed', why: 'GitHub is away.' }];
      await work();
      expect(scene.starter.starts).toHaveLength(tries + 1);
      await work();
      expect(scene.starter.starts).toHaveLength(tries + 1);
      const state = stateOf(key);
      if (state?.kind !== 'due') throw new Error(`It is ${state?.kind}.`);
      expect(state.why).toBe('GitHub is away.');
      pauses.push((state.from.getTime() - scene.clock.now.getTime()) / 1000);
      scene.clock.now = state.from;
    }
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 600, 600]);
    await work();
    expect(stateOf(key)?.kind).toBe('started');
    const [first, ...others] = scene.starter.starts.map(({ mayBeStarted }) => mayBeStarted);
    expect([first, new Set(others)]).toEqual([false, new Set([true])]);
  });

  test('waits while the maximum of jobs runs', async () => {
    const { key } = commanded();
    scene.starter.isFull = true;
    await work();
    expect(stateOf(key)?.kind).toBe('due');
    scene.starter.isFull = false;
    await work();
    expect(stateOf(key)?.kind).toBe('started');
  });

  test('that is refused is reported to the author of the command', async () => {
    const { revision, key } = commanded();
    scene.starter.answers = [{ kind: 'refused', why: 'There is no workflow.' }];
    await work();
    await work();
    expect(commentsOn(revision)).toEqual([
      expect.stringContaining('**ppsgate: not measured**\n\n`There is no workflow.`'),
    ]);
    expect(stateOf(key)).toEqual({ kind: 'dropped', why: 'There is no workflow.' });
    expect(scene.starter.starts).toHaveLength(1);
  });

  test('that is lost is started again, as perhaps started, until that succeeds', async () => {
    const { key } = commanded();
    await work();
    scene.starter.interimResults.set(key, { kind: 'lost' });
    scene.starter.answers = [{ kind: 'failed', why: 'No memory.' }];
    await work();
    await work();
    scene.starter.interimResults.set(key, { kind: 'running' });
    await work();
    expect(scene.starter.starts.map(({ mayBeStarted }) => mayBeStarted)).toEqual([false, true, true]);
    expect(scene.said).toContain('No memory.');
    expect(stateOf(key)?.kind).toBe('started');
  });

  test('that ended without an answer gets one, on its revision', async () => {
    const { revision, key } = commanded();
    await work();
    scene.starter.interimResults.set(key, { kind: 'ended', how: 'the lab failed' });
    await work();
    await work();
    expect(commentsOn(revision)).toEqual([expect.stringContaining('ended without a result (the lab failed)')]);
    expect(commentsOn(revision)[0]).toMatch(new RegExp(`run ${key}\`$`));
    expect(stateOf(key)?.kind).toBe('ended');
  });

  test('that ended with its answer on disk gets no other', async () => {
    const { revision, key } = commanded();
    await work();
    const about = { number: revision.id, diff: newestOf(revision) };
    const ending = keptOf(outcomeOfFailure('infrastructure', 'No disk.'));
    keepAnswer({ kind: 'comment', revision: about, run: key, takesCommands: true, ending }, scene.deps);
    await giveAnswers(scene.deps);
    scene.starter.interimResults.set(key, { kind: 'ended', how: 'the lab failed' });
    await work();
    expect(commentsOn(revision)).toEqual([expect.stringContaining('No disk.')]);
  });

  test('is taken to have ended after three days without a report', async () => {
    const { key } = commanded();
    await work();
    scene.starter.interimResults.set(key, { kind: 'elsewhere' });
    laterBy(3 * 86_400);
    await work();
    expect(stateOf(key)?.kind).toBe('started');
    laterBy(1);
    await work();
    expect(stateOf(key)?.kind).toBe('ended');
  });

  test('that was dropped while it was starting is cancelled, and ends no other', async () => {
    const revision = revisionBy(scene.alice);
    const older = keyOf(revision);
    heard(revision);
    await work();
    scene.phabricator.updateRevision(revision, { raw });
    const newer = keyOf(revision);
    heard(revision);
    using another = openInbox(scene.path, () => scene.clock.now);
    scene.starter.meanwhile = ({ key }) => another.drop(key, 'another relay has ended it');
    await work();
    expect(scene.starter.cancelled).toEqual([newer]);
    expect([stateOf(newer)?.kind, stateOf(older)?.kind]).toEqual(['dropped', 'started']);
  });

  test('that was starting when the process died is started by the next, which looks for it', async () => {
    const { key } = commanded();
    scene.starter.meanwhile = () => {
      throw new Error('killed');
    };
    await expect(work()).rejects.toThrow('killed');
    expect(stateOf(key)).toEqual({ kind: 'starting' });
    scene.inbox[Symbol.dispose]();
    scene.starter.meanwhile = () => {};
    using inbox = openInbox(scene.path, () => noon);
    await workOnce({ ...scene.deps, inbox });
    expect(scene.starter.starts.at(-1)).toEqual({ key, mayBeStarted: true });
  });
});

test('a relay starts requests while an answer waits for the server', async () => {
  const { deps, alice } = scene;
  const end = new AbortController();
  const isSent = Promise.withResolvers<void>();
  const isTaken = Promise.withResolvers<void>();
  const call: Conduit['call'] = async (method, params, schema) => {
    if (method === 'differential.revision.edit') {
      isSent.resolve();
      await isTaken.promise;
    }
    return deps.conduit.call(method, params, schema);
  };
  const revision = revisionBy(alice);
  keepAnswer({ kind: 'reply', of: revision.id, to: 'help', text: 'Help.' }, deps);
  let key = '';
  const rounds = async () => {
    await isSent.promise;
    if (key === '') {
      key = told(revision, alice, '@ppsgate run');
      return;
    }
    expect([startedKeys(), commentsOn(revision)]).toEqual([[key], []]);
    end.abort();
    isTaken.resolve();
  };
  const conduit = { ...deps.conduit, call };
  await workOn({ ...deps, conduit, signal: end.signal }, { wait: rounds });
  expect(commentsOn(revision)).toEqual([expect.stringContaining('Help.')]);
}, 60_000);

describe('a newer diff', () => {
  test('ends the measurement of the older one once its own has begun, and not before', async () => {
    const revision = revisionBy(scene.alice);
    const older = keyOf(revision);
    heard(revision);
    await work();
    scene.phabricator.updateRevision(revision, { raw });
    const newer = keyOf(revision);
    heard(revision);
    scene.starter.answers = [{ kind: 'failed', why: 'Not now.' }];
    await work();
    expect(scene.starter.cancelled).toEqual([]);
    laterBy(15);
    await work();
    expect(startedKeys()).toEqual([older, newer, newer]);
    expect(scene.starter.cancelled).toEqual([older]);
    expect(stateOf(older)).toMatchObject({ kind: 'dropped', why: 'diff 2 replaced it' });
    expect(scene.said).toContain(`${older} was stopped: diff 2 replaced it.`);
  });

  test('does not affect requests, and other revisions', async () => {
    const revision = revisionBy(scene.alice);
    const other = revisionBy(scene.alice);
    heard(other);
    const command = told(revision, scene.alice, '@ppsgate run');
    await work();
    scene.phabricator.updateRevision(revision, { raw });
    heard(revision);
    await work();
    expect(scene.starter.cancelled).toEqual([]);
    expect([stateOf(command)?.kind, stateOf(keyOf(other))?.kind]).toEqual(['started', 'started']);
  });

  test('ends the build of an older one, with the reason if no gate can give it', async () => {
    const revision = revisionBy(scene.alice);
    const target = await asked(revision);
    scene.starter.answers = [{ kind: 'failed', why: 'Not now.' }];
    await work();
    scene.phabricator.updateRevision(revision, { raw });
    await asked(revision);
    await work();
    expect(stateOf(target.phid)).toMatchObject({ kind: 'dropped' });
    expect(target.messages).toEqual(['fail']);
    expect(JSON.stringify(target.units)).toContain('Diff 2 is newer and has replaced it');
  });
});

describe('a build', () => {
  test('replaces the automatic measurement of the same diff', async () => {
    const revision = revisionBy(scene.alice);
    heard(revision);
    await work();
    const { phid } = await asked(revision);
    await work();
    expect(scene.starter.cancelled).toEqual([keyOf(revision)]);
    expect(stateOf(keyOf(revision))).toMatchObject({ why: 'Harbormaster requested it' });
    expect(stateOf(phid)?.kind).toBe('started');
  });

  test('of a stranger fails with the way to approve it, and nothing is started', async () => {
    const target = await asked(revisionBy(scene.eve));
    await work();
    expect(target.messages).toEqual(['fail']);
    expect(JSON.stringify(target.units)).toContain('Thank you, eve');
    expect(startedKeys()).toEqual([]);
  });
});

describe('@ppsgate cancel', () => {
  test('ends all that runs or waits of the revision, and nothing else', async () => {
    const revision = revisionBy(scene.alice);
    const other = revisionBy(scene.alice);
    heard(revision);
    heard(other);
    const command = told(revision, scene.alice, '@ppsgate run margin=1%');
    await work();
    scene.starter.isFull = true;
    const waiting = told(revision, scene.alice, '@ppsgate rerun');
    await work();
    told(revision, scene.alice, '@ppsgate cancel');
    await work();
    expect(scene.starter.cancelled).toEqual([keyOf(revision), command]);
    for (const key of [keyOf(revision), command, waiting]) {
      expect(stateOf(key)).toMatchObject({ kind: 'dropped', why: 'cancelled' });
    }
    expect(stateOf(keyOf(other))?.kind).toBe('started');
  });
});

describe('a poll', () => {
  const poll = () => pollOnce(scene.deps);
  const keysOf = (revision: Revision) =>
    scene.inbox
      .jobsOf(revision.id)
      .map(({ job }) => job.key)
      .toReversed();

  test('for the first time only records the past, even of the same second', async () => {
    const revision = revisionBy(scene.alice);
    scene.phabricator.letPass(120);
    scene.phabricator.comment(revision, scene.alice, '@ppsgate run');
    await poll();
    await poll();
    expect(keysOf(revision)).toEqual([]);
    expect(scene.inbox.pollState(scene.phabricator.url)).toBe(scene.phabricator.state.now);
    const { phid } = scene.phabricator.comment(revision, scene.alice, '@ppsgate run 1');
    await poll();
    expect(keysOf(revision)).toEqual([phid]);
  });

  test('finds what shows up late, of a second that was polled already', async () => {
    revisionBy(scene.eve);
    await poll();
    scene.phabricator.state.now -= 5;
    const revision = revisionBy(scene.alice);
    scene.phabricator.state.now += 5;
    await poll();
    expect(keysOf(revision)).toEqual([keyOf(revision)]);
  });
});

/** Events on one of two revisions between two polls. */
const happening = fc.record({
  revision: fc.nat({ max: 1 }),
  what: fc.constantFrom('diff', 'run', 'cancel', 'chat', 'help', 'stranger'),
  secondsBefore: fc.constantFrom(0, 1, 59, 61, 4000),
});

/** A poll, which succeeds unless Phabricator is gone after so many calls. */
const round = fc.record({
  happenings: fc.array(happening, { maxLength: 4 }),
  failure: fc.option(
    fc.record({
      afterCalls: fc.nat({ max: 30 }),
      kind: fc.constantFrom('broken', 'reset', 'rate-limit'),
      carriedOut: fc.boolean(),
    }),
    { nil: undefined },
  ),
});

/** Jobs expected of a revision, after its events since the last poll that succeeded. */
function modelOf(number: number) {
  const kept = new Map<string, 'due' | 'dropped'>();
  let fresh: string[] = [];
  let isCancelled = false;
  return {
    run: (key: string) => fresh.push(key),
    /** The newest of those that one poll finds counts. */
    diff(id: number) {
      fresh = [...fresh.filter((key) => !key.startsWith('D')), `D${number}:${id}`];
    },
    cancel() {
      fresh = [];
      isCancelled = true;
    },
    polled() {
      if (isCancelled) for (const key of kept.keys()) kept.set(key, 'dropped');
      for (const key of fresh) kept.set(key, 'due');
      fresh = [];
      isCancelled = false;
    },
    kept,
  };
}

test('loses no event and acts on none twice when polls fail at any step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
      await using own = await openScene();
      const { phabricator, deps, inbox, alice, eve } = own;
      const revisions = [1, 2].map((number) => ({
        revision: revisionBy(alice, phabricator),
        model: modelOf(number),
      }));
      const poll = async () => {
        await pollOnce(deps);
        for (const { model } of revisions) model.polled();
      };
      await poll();
      for (const { happenings, failure } of rounds) {
        for (const { revision: index, what, secondsBefore } of happenings) {
          phabricator.letPass(secondsBefore);
          const { revision, model } = revisions[index] ?? expect.fail();
          const write = (by: User, text: string) => phabricator.comment(revision, by, text).phid;
          const run = `@ppsgate run ${newestOf(revision, phabricator)}`;
          if (what === 'diff') model.diff(phabricator.updateRevision(revision, { raw }).id);
          if (what === 'run') model.run(write(alice, run));
          if (what === 'chat') write(alice, 'Nice.');
          if (what === 'help') write(alice, '@ppsgate help');
          if (what === 'stranger') write(eve, run);
          if (what === 'cancel') {
            write(alice, '@ppsgate cancel');
            model.cancel();
          }
        }
        let calls = 0;
        const { afterCalls = 0, ...fault } = failure ?? {};
        const isGone = () => {
          calls += 1;
          return failure !== undefined && calls > afterCalls;
        };
        phabricator.faults.order(isGone, { kind: 'broken', ...fault }, 1000);
        await poll().catch((error: Error) => expect(error.name).toBe('ConduitError'));
        phabricator.faults.clear();
      }
      await poll();
      for (const { revision, model } of revisions) {
        const jobs = inbox.jobsOf(revision.id).map(({ job, state }) => [job.key, state.kind]);
        expect(Object.fromEntries(jobs)).toEqual(Object.fromEntries(model.kept));
      }
      expect(phabricator.violations).toEqual([]);
    }),
    { numRuns: times(20) },
  );
});
