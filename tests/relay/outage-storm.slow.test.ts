// Many gates of a relay, each with an outage at a random moment from its request to its answer. Some die meanwhile,
// and some revisions are lost by a restore of the server, which gives their numbers to others.
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pinnedDiff } from '../../src/cli/gate/kept-answers.ts';
import { phabricatorSchema } from '../../src/config/phabricator.ts';
import { type Job, patchOf } from '../../src/forge/patch/job-key.ts';
import { type ConduitOptions, openConduit, withPatience } from '../../src/forge/phabricator/conduit.ts';
import { fetchDiff } from '../../src/forge/phabricator/diff.ts';
import { findRevision, parseRevisionName } from '../../src/forge/phabricator/revision.ts';
import type { Pause } from '../../src/model/pause.ts';
import { outcomeOfError, outcomeOfFailure } from '../../src/publish/reporters/outcome.ts';
import { combineReporters } from '../../src/publish/reporters/reporter.ts';
import { keeping, keptOf } from '../../src/relay/answers.ts';
import { type Inbox, openInbox } from '../../src/relay/inbox.ts';
import { pollOnce, type RelayDeps, workOn } from '../../src/relay/relay.ts';
import type { JobStatus } from '../../src/relay/starter.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { withMethods } from '../fakes/inbox.ts';
import { smallDiff as raw } from '../fakes/phabricator/calling.ts';
import type { Fault } from '../fakes/phabricator/faults.ts';
import { databaseFaults, proxyFaults } from '../fakes/phabricator/outages.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';
import { type VirtualTime, virtualTime } from '../fakes/virtual-time.ts';
import { times } from '../random.ts';

type Revision = ReturnType<FakePhabricator['addRevision']>;
type Send = NonNullable<ConduitOptions['send']>;

const gates = times(100);
const measuringSeconds = 120;

type Outage = Fault | 'read-only' | 'php' | 'database' | 'account';

const faults: Fault[] = [
  ...Object.values(databaseFaults),
  ...Object.values(proxyFaults),
  { kind: 'rate-limit' },
  { kind: 'reset' },
  { kind: 'reset', carriedOut: true },
  { kind: 'broken', carriedOut: true },
];

const fate = fc.record({
  /** Calls of relay and gate from the request to the outage. */
  callsBefore: fc.nat(27),
  minutes: fc.integer({ min: 1, max: 15 }),
  outage: fc.constantFrom<Outage>(...faults, 'read-only', 'php', 'database', 'account'),
  isRestored: fc.nat(9).map((chance) => chance === 0),
  deaths: fc.array(
    fc.record({
      /** Calls of the gate before it dies; it may make fewer. */
      calls: fc.nat(14),
      /** True if the server carries out the last call before the process dies without its response. */
      isDone: fc.boolean(),
      /** True for an exit without an answer, after which it is not started again. */
      isExit: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
} as const);

type Fate = typeof fate extends fc.Arbitrary<infer T> ? T : never;

test('each gate with an outage at a random moment has one answer, on its own revision', async () => {
  await using phabricator = await startPhabricator();
  const { state, bot, url } = phabricator;
  const time = virtualTime(new Date(state.now * 1000));
  const weather = weatherOver(phabricator, time);
  using inbox = openInbox(join(temporaryFolder(), 'inbox.sqlite'), time.now);
  const end = new AbortController();
  const deaths: Fate['deaths'] = [];
  const deps = relayOn(phabricator, {
    time,
    inbox,
    deaths,
    send: weather.send,
    signal: end.signal,
  });
  const alice = phabricator.addUser('alice');
  const add = () => phabricator.addRevision({ author: alice, title: 'ipfw', diff: { raw } });
  const revisions: Revision[] = [];
  const lost: Revision[] = [];

  const live = async (fate: Fate) => {
    deaths.splice(0, Number.POSITIVE_INFINITY, ...fate.deaths);
    let revision = add();
    weather.expect(fate, () => {
      if (!fate.isRestored) return;
      lost.push(revision);
      revision = inPlaceOf(revision, add(), phabricator);
    });
    const isDone = () =>
      weather.isOver() &&
      inbox.unendedJobs().length + inbox.waitingAnswers(url).length === 0 &&
      inbox.jobsOf(revision.id).some(({ job }) => job.phids?.revision === revision.phid);
    for (let minutes = 0; !isDone(); minutes += 1) {
      if (minutes === 360) expect.fail(`D${revision.id} is not done: ${JSON.stringify(fate)}`);
      await time.pause(60, end.signal);
    }
    revisions.push(revision);
  };
  const story = async () => {
    // The first poll only finds its starting point.
    await time.pause(60, end.signal);
    for (const one of fc.sample(fate, { seed: 45, numRuns: gates })) await live(one);
    // Late answers would come now.
    await time.pause(3600, end.signal);
    end.abort();
  };
  const relay = workOn(deps, {
    before: () => pollOnce(deps).catch(() => {}),
    wait: () => time.pause(60, end.signal),
  });
  await time.run(() => Promise.all([relay, story()]));

  /** PHIDs of the revisions whose gates answered on this one. */
  const answered = ({ id, phid }: Revision) =>
    state.transactions
      .filter(({ objectPHID, authorPHID }) => objectPHID === phid && authorPHID === bot.phid)
      .map(({ comment }) => {
        const run = /run (\S+)`$/.exec(comment?.raw ?? '')?.[1];
        return inbox.jobsOf(id).find(({ job }) => job.key === run)?.job.phids?.revision;
      });
  expect(revisions).toHaveLength(gates);
  expect(revisions.map(answered)).toEqual(revisions.map(({ phid }) => [phid]));
  expect(lost.length).toBeGreaterThan(gates / 20);
  for (const revision of lost) {
    expect([[], [revision.phid]]).toContainEqual(answered(revision));
  }
  expect(phabricator.violations).toEqual([]);
});

/** Makes each call last a second, so that those of relay and gate interleave. */
function weatherOver(phabricator: FakePhabricator, { now, pause }: VirtualTime) {
  const { state, bot } = phabricator;
  const { signal } = new AbortController();
  let coming: Fate | undefined;
  let calls = 0;
  let isOver = true;
  let atEnd = () => {};
  const strike = async ({ outage, minutes }: Fate) => {
    coming = undefined;
    if (outage === 'read-only') state.isReadOnly = true;
    else if (outage === 'account') bot.isDisabled = true;
    else if (outage === 'php' || outage === 'database') state.away = outage;
    else phabricator.faults.order(undefined, outage, 5000);
    await pause(minutes * 60, signal);
    phabricator.faults.clear();
    state.isReadOnly = false;
    bot.isDisabled = false;
    delete state.away;
    atEnd();
    isOver = true;
  };
  const send: Send = async (...request) => {
    if (coming !== undefined && calls === coming.callsBefore) void strike(coming);
    calls += 1;
    await pause(1, signal);
    state.now = Math.floor(now().getTime() / 1000);
    return phabricator.send(...request);
  };
  return {
    send,
    isOver: () => isOver,
    expect(next: Fate, then: () => void) {
      state.now = Math.floor(now().getTime() / 1000);
      coming = next;
      calls = 0;
      isOver = false;
      atEnd = then;
    },
  };
}

/** The server knows the old one no more, and has given its number and its diff's to the new one. */
function inPlaceOf(old: Revision, newer: Revision, { state }: FakePhabricator): Revision {
  const diffOf = ({ diffPHID }: Revision) => state.diffs.find(({ phid }) => phid === diffPHID);
  const [lost, diff] = [diffOf(old), diffOf(newer)];
  if (lost === undefined || diff === undefined) throw new Error('A revision has no diff.');
  state.revisions = state.revisions.filter((one) => one !== old);
  state.diffs = state.diffs.filter((one) => one !== lost);
  diff.id = lost.id;
  return Object.assign(newer, { id: old.id });
}

type GateDeps = {
  time: VirtualTime;
  inbox: Inbox;
  send: Send;
  /** Deaths of the next gates; each takes the first one. */
  deaths: Fate['deaths'];
};

/** A relay whose gates run beside it. */
function relayOn(
  { url, token, bot }: FakePhabricator,
  { signal, ...gateDeps }: GateDeps & { signal: AbortSignal },
): RelayDeps {
  const { time, inbox, send } = gateDeps;
  const statuses = new Map<string, JobStatus>();
  return {
    conduit: openConduit({ url, token, log, pause: time.pause, send }),
    config: phabricatorSchema.parse({ url, people: ['alice'] }),
    me: bot.phid,
    inbox,
    log,
    now: time.now,
    pause: time.pause,
    signal,
    check() {},
    starter: {
      async start(job) {
        statuses.set(job.key, { kind: 'running' });
        void liveOf(job, { url, token }, gateDeps).then((status) => statuses.set(job.key, status));
        return { kind: 'started', where: job.key };
      },
      cancel: async () => undefined,
      hasRoom: async () => true,
      ended: async ({ key }) => statuses.get(key) ?? { kind: 'lost' },
    },
  };
}

const log = { info() {}, warn() {} };

/** Runs a gate in a process that may die at a call: all its work stops, and its lock is free. */
async function liveOf(
  job: Job,
  server: { url: string; token: string },
  { time, inbox, send, deaths }: GateDeps,
): Promise<JobStatus> {
  const death = deaths.shift();
  const died = Promise.withResolvers<JobStatus>();
  const never = new Promise<never>(() => {});
  let lock: Disposable | undefined;
  let isDead = false;
  let calls = 0;
  const alive = <T>(done: T): T | Promise<never> => (isDead ? never : done);
  const mortalSend: Send = async (...request) => {
    const isLast = calls === death?.calls;
    calls += 1;
    const answer = isLast && !death?.isDone ? undefined : await send(...request);
    if (isLast) {
      isDead = true;
      lock?.[Symbol.dispose]();
      died.resolve(death?.isExit ? { kind: 'ended', how: 'it exited' } : { kind: 'lost' });
    }
    return alive(answer) ?? never;
  };
  const mortalPause: Pause = async (...asked) => alive(await time.pause(...asked));
  const own = withMethods(inbox, {
    lockAnswers() {
      lock = inbox.lockAnswers();
      return lock;
    },
  });
  const ended = gate(job, server, {
    pause: mortalPause,
    send: mortalSend,
    now: time.now,
    inbox: own,
  });
  return Promise.race([died.promise, ended]);
}

/** Does what `ppsgate gate --answer` does for a relay. */
async function gate(
  job: Job,
  { url, token }: { url: string; token: string },
  { pause, send, now, inbox }: { pause: Pause; send: Send; now: () => Date; inbox: Inbox },
): Promise<JobStatus> {
  const { signal } = new AbortController();
  const conduit = openConduit({ url, token, log, pause, send });
  const patient = withPatience(conduit, { log, signal, pause });
  const name = parseRevisionName(patchOf(job), url);
  if (name === undefined) throw new Error('The name of the patch is none.');
  const revision = await pinnedDiff(patient, name);
  const measured = async () => {
    const { diff } = await findRevision(patient, name);
    await fetchDiff(patient, diff);
    await pause(measuringSeconds, signal);
    return outcomeOfFailure('infrastructure', `Diff ${diff.id} was measured.`);
  };
  const ending = await measured().catch(outcomeOfError);
  await keeping(
    combineReporters([]),
    (ended) => ({
      kind: 'comment',
      revision,
      run: job.key,
      takesCommands: true,
      ending: keptOf(ended),
    }),
    { conduit, inbox, now, log, signal, pause },
  ).conclude(ending);
  return { kind: 'ended', how: 'it passed' };
}
