// Works as a relay or a poller: starts, watches and cancels gates for events on Phabricator.

import { createHash } from 'node:crypto';
import type { PhabricatorConfig } from '../config/phabricator.ts';
import { commandsFor, type GateOverrides } from '../forge/patch/command.ts';
import { type Job, workOf } from '../forge/patch/job-key.ts';
import type { Conduit } from '../forge/phabricator/conduit.ts';
import { ConduitError, isFinal, secondsOfPatience } from '../forge/phabricator/failure.ts';
import { oneLine } from '../model/one-line.ts';
import { callOnPhabricator, type RevisionDiff } from '../model/patch.ts';
import { type Pause, realPause } from '../model/pause.ts';
import { remarkupText } from '../model/remarkup.ts';
import { withoutPaths } from '../model/without-paths.ts';
import { cancelledOutcome, outcomeOfFailure, type ReportedOutcome } from '../publish/reporters/outcome.ts';
import { giveAnswers, hasConcluded, keepAnswer, keptOf } from './answers.ts';
import { type DecideDeps, type Decision, decide, type Occurrence, type ReplyTopic } from './decide.ts';
import type { Inbox, JobRecord } from './inbox.ts';
import { happenedSoFar, occurrencesOf, occurrencesSince } from './occurrence.ts';
import type { RelayStarter } from './starter.ts';

export type RelayDeps = {
  conduit: Conduit;
  config: PhabricatorConfig;
  me: string;
  inbox: Inbox;
  starter: RelayStarter;
  /** Throws a `UsageError` for overrides that ppsgate.yml does not allow. */
  check(overrides: GateOverrides): void;
  now(): Date;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  signal: AbortSignal;
  pause?: Pause;
};

/** Never throws for an error of Phabricator or a starter. */
export async function workOnce(deps: RelayDeps): Promise<void> {
  await workOnJobs(deps);
  await giveAnswers(deps);
}

async function workOnJobs(deps: RelayDeps): Promise<void> {
  await workOnDeliveries(deps);
  await startJobs(deps);
  await watchJobs(deps);
}

/**
 * Works until the signal is aborted. Answers have separate rounds, as an undeliverable one takes most of a minute, and
 * commands would wait.
 */
export async function workOn(deps: RelayDeps, rounds: RelayRounds): Promise<void> {
  const answers = openBell(deps.pause);
  const loop = async (round: () => Promise<void>, wait: () => Promise<unknown>) => {
    while (!deps.signal.aborted) {
      await round();
      await wait();
    }
  };
  const work = async () => {
    await rounds.before?.();
    await workOnJobs(deps);
    answers.ring();
  };
  await Promise.all([
    loop(work, rounds.wait),
    loop(
      () => giveAnswers(deps),
      () => answers.waitFor(secondsBetweenRounds, deps.signal),
    ),
  ]);
}

type RelayRounds = {
  before?: () => Promise<void>;
  /** Called between two rounds of work. */
  wait: () => Promise<unknown>;
};

/** Time between checks of started gates, and between retries. */
export const secondsBetweenRounds = 10;

/** A ring without a waiter is stored for the next one. */
export function openBell(pause: Pause = realPause) {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    async waitFor(seconds: number, signal: AbortSignal): Promise<void> {
      await pause(seconds, AbortSignal.any([signal, rung.signal]));
      rung = new AbortController();
    },
  };
}

/** Reads the changes on the server since the last poll. The first poll only finds its starting point. */
export async function pollOnce(deps: RelayDeps): Promise<void> {
  const { conduit, inbox, log } = deps;
  const since = inbox.pollState(conduit.url);
  if (since === undefined) {
    const { until, seen } = await happenedSoFar(conduit, inbox);
    inbox.advancePoll(conduit.url, until, { seen, jobs: [] });
    log.info(`Processes changes on ${conduit.url} from now on.`);
    return;
  }
  const happened = await occurrencesSince(conduit, since, inbox);
  const jobs = await jobsFrom(happened.occurrences, deps);
  logQueued(inbox.advancePoll(conduit.url, happened.until, { seen: happened.seen, jobs }), deps);
}

async function workOnDeliveries(deps: RelayDeps): Promise<void> {
  const { conduit, inbox, log, signal } = deps;
  const heldBack = new Set<string>();
  for (const delivery of inbox.pendingDeliveries()) {
    if (signal.aborted) return;
    const object = delivery.kind === 'build' ? delivery.build : delivery.object;
    if (heldBack.has(object)) continue;
    try {
      const { occurrences, seen, left } = await occurrencesOf(conduit, delivery, inbox);
      if (left !== undefined) log.info(left);
      const jobs = await jobsFrom(occurrences, deps);
      logQueued(inbox.settle(delivery.id, { seen, jobs }), deps);
    } catch (error) {
      if (!(error instanceof ConduitError)) throw error;
      log.warn(error.message);
      const late = deps.now().getTime() - delivery.at.getTime();
      if (isFinal(error) || late > secondsOfPatience * 1000) {
        log.warn(`An event for ${object} is dropped: ${error.message}`);
        inbox.settle(delivery.id, { seen: [], jobs: [] });
      } else {
        // The server may fail only for this object, which must not delay the others.
        heldBack.add(object);
        if (!isOfOne(error) || heldBack.size > maxHeldBack) return;
      }
    }
  }
}

const isOfOne = ({ kind, code }: ConduitError): boolean => kind === 'refused' && code === undefined;

const maxHeldBack = 3;

/** Replies and cancels before it stores the jobs. After a crash it does so again, which is harmless. */
async function jobsFrom(occurrences: readonly Occurrence[], deps: RelayDeps): Promise<Job[]> {
  let jobs: Job[] = [];
  for (const occurrence of occurrences) {
    const decision = await decide(occurrence, decideDeps(deps));
    if (decision.kind !== 'run') {
      await carryOut(decision, deps);
      // Jobs of the same batch are not stored yet.
      if (decision.kind === 'cancel') jobs = jobs.filter((job) => job.revision !== decision.of);
      continue;
    }
    const { job } = decision;
    if (job.build !== undefined) await endAutomatic(job, deps);
    jobs.push(job);
  }
  return jobs;
}

async function endAutomatic({ revision, diff }: Job, deps: RelayDeps): Promise<void> {
  const record = deps.inbox
    .unendedJobs()
    .find(({ job }) => job.revision === revision && job.diff === diff && /^D\d/.test(job.key));
  if (record !== undefined) await end(record, 'Harbormaster requested it', deps);
}

const decideDeps = ({ log, ...deps }: RelayDeps): DecideDeps => ({ ...deps, warn: log.warn });

async function carryOut(decision: Exclude<Decision, { kind: 'run' }>, deps: RelayDeps): Promise<void> {
  const { inbox, log } = deps;
  switch (decision.kind) {
    case 'nothing':
      log.info(oneLine(decision.why));
      return;
    case 'cancel': {
      log.info(`D${decision.of} is cancelled: ${decision.why}`);
      const { of } = decision;
      for (const record of inbox.unendedJobs().filter(({ job }) => job.revision === of)) {
        await end(record, 'cancelled', deps);
      }
      return;
    }
    case 'reply': {
      const { of, revision: phid, topic, why, key, isOfStranger } = decision;
      // A stranger chooses the text of a mistaken command.
      const same = topic === 'mistaken' ? '' : createHash('sha256').update(why).digest('hex');
      const to = isOfStranger ? `${topic} ${same}`.trim() : key;
      const text = replyText(topic, why);
      keepAnswer({ kind: 'reply', of, to, text, ...(phid && { phid }) }, deps);
      log.info(oneLine(`D${of}: ${topic} ${why}`));
      return;
    }
    case 'refuse-build': {
      const { build, of: number, diff, why } = decision;
      reportToBuild(build, { number, diff }, outcomeOfFailure('usage', why), deps);
      log.info(oneLine(why));
    }
  }
}

async function end(record: JobRecord, why: string, deps: RelayDeps): Promise<void> {
  const { inbox, starter, log, signal } = deps;
  const { job, state, tries } = record;
  log.info(`${jobName(job)} was stopped: ${why}.`);
  const isDue = state.kind === 'due';
  // The job may have been started without a reply.
  const trouble = isDue && tries === 0 ? undefined : await starter.cancel(job, signal);
  if (trouble !== undefined) log.info(trouble);
  if (isDue && job.build !== undefined) {
    const message = `It was not measured: ${why}.`;
    reportToBuild(job.build, revisionOf(job), { ...cancelledOutcome, message }, deps);
  }
  inbox.drop(job.key, why);
}

function reportToBuild(build: string, revision: RevisionDiff, outcome: ReportedOutcome, deps: RelayDeps): void {
  const { undecided } = deps.config;
  const about = { kind: 'build', revision, build, run: build, undecided } as const;
  keepAnswer({ ...about, ending: keptOf(outcome) }, deps);
}

async function startJobs(deps: RelayDeps): Promise<void> {
  const { inbox, starter, log, now, signal } = deps;
  for (const record of inbox.dueJobs()) {
    const { job, tries } = record;
    if (signal.aborted) return;
    if (!(await starter.hasRoom())) return;
    if (!inbox.markStarting(job.key)) continue;
    const started = await starter.start(job, tries > 0, signal);
    if (signal.aborted) return;
    switch (started.kind) {
      case 'started':
        log.info(`${jobName(job)} was started: ${started.where}`);
        if (inbox.markStarted(job.key, started.where)) {
          await endOlder(job, deps);
        } else {
          log.info(`${jobName(job)} was cancelled before it started.`);
          await starter.cancel(job, signal);
        }
        break;
      case 'failed': {
        const seconds = Math.min(15 * 2 ** tries, maxSecondsBetweenTries);
        inbox.postpone(job.key, new Date(now().getTime() + seconds * 1000), started.why);
        log.warn(started.why);
        break;
      }
      case 'refused':
        await reportRefusal(job, started.why, deps);
        inbox.drop(job.key, started.why);
        log.warn(started.why);
    }
  }
}

const maxSecondsBetweenTries = 600;

/** Runs after the newer gate's start, so that it inherits the older one's place in the queue. */
async function endOlder(job: Job, deps: RelayDeps): Promise<void> {
  if (!isAutomatic(job)) return;
  const older = deps.inbox
    .unendedJobs()
    .filter(({ job: other }) => other.revision === job.revision && other.diff < job.diff);
  for (const record of older) {
    if (isAutomatic(record.job)) await end(record, `diff ${job.diff} replaced it`, deps);
  }
}

/** True if no person requested this diff: the key is that of the diff or of a build's target. */
const isAutomatic = ({ key }: Job): boolean => /^(?:D\d|PHID-HMBT-)/.test(key);

async function reportRefusal(job: Job, why: string, deps: RelayDeps): Promise<void> {
  const { revision: of, build, key, phids } = job;
  if (build !== undefined) {
    reportToBuild(build, revisionOf(job), outcomeOfFailure('infrastructure', why), deps);
  } else if (!isAutomatic(job)) {
    const revision = phids?.revision;
    await carryOut({ kind: 'reply', of, revision, topic: 'refused', why, key }, deps);
  }
}

const revisionOf = ({ revision: number, diff, phids }: Job): RevisionDiff => ({
  number,
  diff,
  ...(phids && { phids }),
});

/** Stores the comment and the end of the build that a gate failed to post. */
function concludeFor(job: Job, why: string, deps: RelayDeps): void {
  const { build, key: run } = job;
  const revision = revisionOf(job);
  if (hasConcluded(deps.inbox, revision, run)) return;
  deps.log.warn(`${jobName(job)} ended without a reply, which is posted now: ${why}`);
  const outcome = outcomeOfFailure('infrastructure', why);
  const about = { revision, run, takesCommands: true, ending: keptOf(outcome) };
  keepAnswer({ kind: 'comment', ...about }, deps);
  if (build !== undefined) reportToBuild(build, revision, outcome, deps);
}

async function watchJobs(deps: RelayDeps): Promise<void> {
  const { inbox, starter, log, now, signal } = deps;
  for (const { job, state, queuedAt } of inbox.unendedJobs()) {
    if (state.kind !== 'started') continue;
    const ended = await starter.ended(job);
    if (ended.kind === 'ended') {
      // Stored before the job ends, so that a crash in between loses nothing.
      concludeFor(job, endedAlone(job, ended.how), deps);
      inbox.markEnded(job.key, ended.how);
      log.info(`${jobName(job)} has ended: ${ended.how}`);
    }
    const seconds = (now().getTime() - queuedAt.getTime()) / 1000;
    if (ended.kind === 'elsewhere' && seconds > secondsElsewhere) {
      if (job.build !== undefined) {
        const why = 'It was started, but no result arrived within 3 days: request it again.';
        reportToBuild(job.build, revisionOf(job), outcomeOfFailure('infrastructure', why), deps);
      }
      inbox.markEnded(job.key, 'it was started over 3 days ago');
      log.info(`${jobName(job)} has presumably ended: it was started over 3 days ago`);
    }
    if (ended.kind !== 'lost') continue;
    const again = await starter.start(job, true, signal);
    if (again.kind === 'started') {
      log.info(`${jobName(job)} was lost, and continues: ${again.where}`);
      continue;
    }
    if (again.kind === 'refused') {
      if (isAutomatic(job)) concludeFor(job, again.why, deps);
      else await reportRefusal(job, again.why, deps);
      inbox.markEnded(job.key, again.why);
    }
    log.warn(again.why);
  }
}

const endedAlone = (job: Job, how: string): string =>
  `The ${workOf(job)} of diff ${job.diff} ended without a result (${how}): request it again, or ask the operator to look up the reason in the relay's log.`;

/** Longer than any gate. */
const secondsElsewhere = 3 * 86_400;

function logQueued(jobs: readonly Job[], { log }: RelayDeps): void {
  for (const job of jobs) log.info(`${jobName(job)} is queued, for ${job.by}.`);
}

const jobName = ({ revision, diff }: Job): string => `D${revision}:${diff}`;

/** Renders one of the relay's own comments in Remarkup.
 *
 * @param why a sentence that may contain untrusted text, or empty */
export function replyText(topic: ReplyTopic, why: string): string {
  const reason = why === '' ? [] : [remarkupText(withoutPaths(why), 1000)];
  switch (topic) {
    case 'refused':
      return ['**ppsgate: not measured**', ...reason].join('\n\n');
    case 'not-cancelled':
      return ['**ppsgate: not cancelled**', ...reason].join('\n\n');
    case 'mistaken':
      return ['**ppsgate did not understand**', ...reason, help].join('\n\n');
    case 'help':
      return ['**ppsgate**', help].join('\n\n');
  }
}

/** A list, as phones would cut off a table of this width. */
const help = commandsFor(callOnPhabricator)
  .map(({ write, to }) => `- ${remarkupText(write)}: ${to}`)
  .join('\n');
