// The work behind a relay and a poller: from what happened on Phabricator to gates that run, and what people are told.

import type { PhabricatorConfig } from '../config/phabricator.ts';
import type { Ask } from '../forge/patch/command.ts';
import type { Job } from '../forge/patch/job-key.ts';
import { type Conduit, ConduitError, isOfToken } from '../forge/phabricator/conduit.ts';
import { oneLine } from '../model/one-line.ts';
import type { RevisionDiff } from '../model/patch.ts';
import {
  cancelledOutcome,
  outcomeOfFailure,
  type ReportedOutcome,
} from '../publish/reporters/outcome-text.ts';
import { giveAnswers, keepAnswer, keptOf } from './answers.ts';
import { type DecideDeps, type Decision, decide, type Occurrence } from './decide.ts';
import type { Inbox, JobRecord } from './inbox.ts';
import { happenedSoFar, occurrencesOf, occurrencesSince } from './occurrence.ts';
import { replyText } from './reply.ts';
import type { RelayStarter } from './starter.ts';

export type RelayDeps = {
  conduit: Conduit;
  config: PhabricatorConfig;
  /** PHID of the bot. */
  me: string;
  inbox: Inbox;
  starter: RelayStarter;
  /** Throws a `UsageError` for what ppsgate.yml does not let be measured. */
  check(ask: Ask): void;
  now(): Date;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  signal: AbortSignal;
};

/** One round of all that there is to do; it never throws for what Phabricator or a starter did. */
export async function workOnce(deps: RelayDeps): Promise<void> {
  await workOnDeliveries(deps);
  await startJobs(deps);
  await watchJobs(deps);
  await giveAnswers(deps);
}

/** One look at what has changed on the server since the last; the first finds out where to begin. */
export async function pollOnce(deps: RelayDeps): Promise<void> {
  const { conduit, inbox, log } = deps;
  const since = inbox.pollState(conduit.url);
  if (since === undefined) {
    const { until, seen } = await happenedSoFar(conduit, inbox.hasSeen);
    inbox.advancePoll(conduit.url, until, { seen, jobs: [] });
    log.info(`Begins with what changes on ${conduit.url} from now on.`);
    return;
  }
  const happened = await occurrencesSince(conduit, since, inbox.hasSeen);
  const jobs = await jobsFrom(happened.occurrences, deps);
  tellQueued(inbox.advancePoll(conduit.url, happened.until, { seen: happened.seen, jobs }), deps);
}

async function workOnDeliveries(deps: RelayDeps): Promise<void> {
  const { conduit, inbox, log, signal } = deps;
  for (const delivery of inbox.pendingDeliveries()) {
    if (signal.aborted) return;
    try {
      const { occurrences, seen, left } = await occurrencesOf(conduit, delivery, inbox.hasSeen);
      if (left !== undefined) log.info(left);
      const jobs = await jobsFrom(occurrences, deps);
      tellQueued(inbox.settle(delivery.id, { seen, jobs }), deps);
    } catch (error) {
      if (!(error instanceof ConduitError)) throw error;
      log.warn(error.message);
      // What Phabricator refuses once it refuses always, and the others wait for no good; a token can be fixed.
      if (error.kind !== 'refused' || isOfToken(error)) return;
      inbox.settle(delivery.id, { seen: [], jobs: [] });
    }
  }
}

/** What is told and cancelled comes before the jobs are kept: after a crash it is done again, which is harmless. */
async function jobsFrom(occurrences: readonly Occurrence[], deps: RelayDeps): Promise<Job[]> {
  let jobs: Job[] = [];
  for (const occurrence of occurrences) {
    const decision = await decide(occurrence, decideDeps(deps));
    if (decision.kind !== 'run') {
      await carryOut(decision, deps);
      // What was asked for just before is not kept yet, and need not be.
      if (decision.kind === 'cancel') jobs = jobs.filter((job) => job.revision !== decision.of);
      continue;
    }
    const { job } = decision;
    if (job.build !== undefined) await endUnasked(job, deps);
    jobs.push(job);
  }
  return jobs;
}

/** A diff that is measured by itself need not be, where somebody waits for a build of it. */
async function endUnasked({ revision, diff }: Job, deps: RelayDeps): Promise<void> {
  const record = deps.inbox.unendedJobs().find(({ job }) => job.key === `D${revision}:${diff}`);
  if (record !== undefined) await end(record, 'Harbormaster asked for it', deps);
}

const decideDeps = ({ log, ...deps }: RelayDeps): DecideDeps => ({ ...deps, warn: log.warn });

async function carryOut(
  decision: Exclude<Decision, { kind: 'run' }>,
  deps: RelayDeps,
): Promise<void> {
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
      const { of, topic, why, key } = decision;
      keepAnswer({ kind: 'reply', of, to: key, text: replyText(topic, why) }, deps);
      log.info(oneLine(`D${of}: ${topic} ${why}`));
      return;
    }
    case 'refuse-build': {
      const { build, of: number, diff, why } = decision;
      tellBuild(build, { number, diff }, outcomeOfFailure('usage', why), deps);
      log.info(oneLine(why));
    }
  }
}

/** A job that is not to go on: it leaves the queue, and its process the testbed. */
async function end(record: JobRecord, why: string, deps: RelayDeps): Promise<void> {
  const { inbox, starter, log, signal } = deps;
  const { job, state, tries } = record;
  log.info(`${jobName(job)} is ended: ${why}.`);
  const isDue = state.kind === 'due';
  // It may have been started though nobody heard of it.
  const trouble = isDue && tries === 0 ? undefined : await starter.cancel(job, signal);
  if (trouble !== undefined) log.info(trouble);
  if (isDue && job.build !== undefined) {
    const { revision: number, diff, build } = job;
    const said = `It was not measured: ${why}.`;
    tellBuild(build, { number, diff }, { ...cancelledOutcome, message: said }, deps);
  }
  inbox.drop(job.key, why);
}

/** Answers a build in place of a gate, where there is none. */
function tellBuild(
  build: string,
  revision: RevisionDiff,
  ending: ReportedOutcome,
  deps: RelayDeps,
): void {
  const { undecided } = deps.config;
  const about = { kind: 'build', revision, build, run: build, undecided } as const;
  keepAnswer({ ...about, ending: keptOf(ending) }, deps);
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
          log.info(`${jobName(job)} is ended: it was no longer wanted when it had begun.`);
          await starter.cancel(job, signal);
        }
        break;
      case 'failed': {
        const seconds = Math.min(15 * 2 ** tries, mostSecondsBetweenTries);
        inbox.postpone(job.key, new Date(now().getTime() + seconds * 1000), started.why);
        log.warn(started.why);
        break;
      }
      case 'refused':
        inbox.drop(job.key, started.why);
        log.warn(started.why);
        await tellRefused(job, started.why, deps);
    }
  }
}

const mostSecondsBetweenTries = 600;

/** After the newer one has begun, so that it takes the place of the older one in the queue for a testbed. */
async function endOlder(job: Job, deps: RelayDeps): Promise<void> {
  if (!isAutomatic(job)) return;
  const older = deps.inbox
    .unendedJobs()
    .filter(({ job: other }) => other.revision === job.revision && other.diff < job.diff);
  for (const record of older) {
    if (isAutomatic(record.job)) await end(record, `diff ${job.diff} took its place`, deps);
  }
}

/** Nobody asked for this very diff: its key is that of the diff, or of a build's target. */
const isAutomatic = ({ key }: Job): boolean => /^(?:D\d|PHID-HMBT-)/.test(key);

/** Whoever asked waits for an answer, and no gate will give one. */
async function tellRefused(job: Job, why: string, deps: RelayDeps): Promise<void> {
  const { revision: number, diff, build, key } = job;
  if (build !== undefined) {
    const ending = outcomeOfFailure('infrastructure', why);
    tellBuild(build, { number, diff }, ending, deps);
  } else if (!isAutomatic(job)) {
    await carryOut({ kind: 'reply', of: number, topic: 'refused', why, key }, deps);
  }
}

async function watchJobs(deps: RelayDeps): Promise<void> {
  const { inbox, starter, log, now, signal } = deps;
  for (const { job, state, queuedAt } of inbox.unendedJobs()) {
    if (state.kind !== 'started') continue;
    const ended = await starter.ended(job);
    if (ended.kind === 'ended') {
      inbox.markEnded(job.key, ended.how);
      log.info(`${jobName(job)} has ended: ${ended.how}`);
    }
    const seconds = (now().getTime() - queuedAt.getTime()) / 1000;
    if (ended.kind === 'elsewhere' && seconds > secondsElsewhere) {
      inbox.markEnded(job.key, 'it was handed over long ago');
      log.info(`${jobName(job)} has ended, or so it seems: it was handed over long ago`);
    }
    if (ended.kind !== 'lost') continue;
    const again = await starter.start(job, true, signal);
    if (again.kind === 'started') {
      log.info(`${jobName(job)} was lost, and goes on: ${again.where}`);
      continue;
    }
    if (again.kind === 'refused') {
      inbox.markEnded(job.key, again.why);
      await tellRefused(job, again.why, deps);
    }
    log.warn(again.why);
  }
}

/** No gate takes longer. */
const secondsElsewhere = 3 * 86_400;

function tellQueued(jobs: readonly Job[], { log }: RelayDeps): void {
  for (const job of jobs) log.info(`${jobName(job)} is queued, for ${job.by}.`);
}

const jobName = ({ revision, diff }: Job): string => `D${revision}:${diff}`;
