// Stores answers on disk and delivers them to Phabricator, as the server's maintenance may outlast a gate.

import { z } from 'zod';
import { bisectOverridesSchema } from '../forge/patch/bisect-command.ts';
import type { Conduit } from '../forge/phabricator/conduit.ts';
import { secondsOfPatience } from '../forge/phabricator/failure.ts';
import { bisectResultSchema } from '../model/bisect-result.ts';
import * as bounded from '../model/bounds.ts';
import { formatRoughly } from '../model/format.ts';
import { parseJson } from '../model/json.ts';
import { diffPhids, type RevisionDiff } from '../model/patch.ts';
import { type Pause, realPause } from '../model/pause.ts';
import { resultSchema } from '../model/result.ts';
import { BuildUpdater } from '../publish/reporters/build.ts';
import { failureReasonSchema, outcomeOfResult, type ReportedOutcome } from '../publish/reporters/outcome.ts';
import { deliverySeconds, type Reporter } from '../publish/reporters/reporter.ts';
import { postReply, revisionCommenter } from '../publish/reporters/revision-comment.ts';
import type { Delivery, UpdateAttempt } from '../publish/reporters/throttled-updates.ts';
import type { Inbox, WaitingAnswer } from './inbox.ts';

/** A gate's final comment, the end of its build, or a reply of the relay. */
export type KeptAnswer = z.infer<typeof keptAnswerSchema>;

export type AnswersDeps = {
  conduit: Conduit;
  inbox: Pick<Inbox, 'keepAnswer' | 'waitingAnswers' | 'readAnswer' | 'postponeAnswer' | 'dropAnswer' | 'lockAnswers'>;
  now(): Date;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  signal: AbortSignal;
  pause?: Pause;
};

/** Writes an answer to disk, once per key. Throws an `InboxError`. */
export function keepAnswer(answer: KeptAnswer, { conduit, inbox }: AnswersDeps): void {
  const revision = answer.kind === 'reply' ? answer.of : answer.revision.number;
  const text = JSON.stringify(answer);
  inbox.keepAnswer({ key: keyOf(answer), server: conduit.url, revision, text });
}

/**
 * Delivers waiting answers of all processes, oldest first, until the server fails. Returns if another process delivers.
 * A refused answer delays only later ones of its revision.
 */
export async function giveAnswers(deps: AnswersDeps): Promise<void> {
  const { conduit, inbox, now, log, signal } = deps;
  if (inbox.waitingAnswers(conduit.url).length === 0) return;
  using lock = inbox.lockAnswers();
  if (lock === undefined) return;
  const heldBack = new Set<number>();
  for (const waiting of inbox.waitingAnswers(conduit.url)) {
    const { key, revision, keptAt, from, why = 'not tried yet' } = waiting;
    if (signal.aborted) return;
    if (now().getTime() - keptAt.getTime() > keptMilliseconds) {
      log.warn(`The reply ${key} is dropped: ${conduit.url} did not accept it for 7 days (${why}).`);
      inbox.dropAnswer(key);
    } else if (heldBack.has(revision) || from > now()) {
      heldBack.add(revision);
    } else {
      const given = await give(waiting, deps);
      if (given === 'not-now') return;
      if (given === 'later') heldBack.add(revision);
    }
  }
}

/** Returns `not-now` if the server accepts nothing at all. */
async function give(waiting: WaitingAnswer, deps: AnswersDeps): Promise<'done' | 'later' | 'not-now'> {
  const { inbox, now, log } = deps;
  const { key, keptAt } = waiting;
  const answer = keptAnswerSchema.safeParse(parseJson(inbox.readAnswer(key) ?? ''));
  if (!answer.success) {
    log.warn(`The reply ${key} is dropped: it was stored by another version of ppsgate.`);
    inbox.dropAnswer(key);
    return 'done';
  }
  const allUpdates = allUpdatesOf(inbox);
  const notify = allUpdates.get(key) ?? updatesOf(answer.data, deps);
  allUpdates.set(key, notify);
  const notified = await notify();
  if (notified.kind === 'pointless') {
    log.warn(`The reply ${key} is dropped: ${notified.why}.`);
    allUpdates.delete(key);
    inbox.dropAnswer(key);
    return 'done';
  }
  if (notified.kind === 'delivered') {
    allUpdates.delete(key);
    inbox.dropAnswer(key);
    const late = (now().getTime() - keptAt.getTime()) / 1000;
    if (late > secondsLate) {
      log.info(`${nameOf(answer.data)} has its reply, ${formatRoughly(late)} late.`);
    }
    return 'done';
  }
  const { kind, why } = notified;
  if (waiting.why !== why) log.warn(`${why} It is kept and posted later.`);
  inbox.postponeAnswer(key, new Date(now().getTime() + postponedMilliseconds[kind]), why);
  return kind === 'failed' ? 'not-now' : 'later';
}

export function keeping(
  answer: Reporter,
  keptEnd: (ending: ReportedOutcome) => KeptAnswer,
  deps: AnswersDeps,
): Reporter {
  const { log, signal, pause = realPause } = deps;
  let ended: Promise<Delivery> | undefined;
  const end = async (ending: ReportedOutcome): Promise<Delivery> => {
    const kept = keptEnd(ending);
    keepAnswer(kept, deps);
    const limit = new AbortController();
    const over = AbortSignal.any([limit.signal, signal]);
    const late = pause(deliverySeconds(ending), over);
    await Promise.race([answer.leaveOpen().then(() => giveUntil(keyOf(kept), over, deps)), late]);
    limit.abort();
    if (interim(keyOf(kept), deps) === undefined) return 'delivered';
    log.warn(
      `The reply to ${nameOf(kept)} waits: \`ppsgate relay\`, \`ppsgate poll\` or the next gate with --answer on this machine posts it.`,
    );
    return 'undelivered';
  };
  return {
    ...answer,
    conclude: (ending) => {
      ended ??= end(ending);
      return ended;
    },
  };
}

const interim = (key: string, { conduit, inbox }: AnswersDeps): WaitingAnswer | undefined =>
  inbox.waitingAnswers(conduit.url).find((waiting) => waiting.key === key);

/** Tries until the answer is delivered or refused, or `over` is aborted. */
async function giveUntil(key: string, over: AbortSignal, deps: AnswersDeps): Promise<void> {
  const { now, pause = realPause } = deps;
  for (;;) {
    await giveAnswers(deps);
    const waiting = interim(key, deps);
    const isRefused = waiting?.why !== undefined && waiting.from.getTime() - now().getTime() > patienceMilliseconds;
    if (waiting === undefined || isRefused || over.aborted) return;
    await pause(secondsBetweenTries, over);
  }
}

/** `3 replies wait, the oldest for 2 h: D7:12`. */
export function waitingText(waiting: readonly WaitingAnswer[], now: Date): string {
  const [oldest] = waiting;
  const count = waiting.length === 1 ? '1 reply waits' : `${waiting.length} replies wait`;
  if (oldest === undefined) return 'no reply waits';
  const age = formatRoughly((now.getTime() - oldest.keptAt.getTime()) / 1000);
  return `${count}, the oldest for ${age}, to D${oldest.revision}`;
}

/** Deliveries within this time are not logged as late. */
const secondsLate = 60;
const secondsBetweenTries = 5;
/** Gates do not wait for an answer that is postponed for longer. */
const patienceMilliseconds = 300_000;
/** A refusal may be temporary: the bot may be allowed to see the revision tomorrow. */
const postponedMilliseconds = { failed: 0, 'not-yet': 15_000, refused: 3_600_000 };
const keptMilliseconds = secondsOfPatience * 1000;

const revision = z.object({
  number: bounded.id,
  diff: bounded.id,
  /** Absent in answers of older versions. */
  phids: diffPhids.optional(),
});

const keptEnding = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('measured'), result: resultSchema }),
  z.object({
    kind: z.literal('bisected'),
    result: bisectResultSchema,
    asked: bisectOverridesSchema,
  }),
  z.object({ kind: z.literal('unmeasured'), why: failureReasonSchema, said: bounded.prose() }),
]);

const keptAnswerSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('comment'),
    revision,
    run: bounded.word,
    details: bounded.word.optional(),
    page: bounded.word.optional(),
    takesCommands: z.boolean(),
    rerun: bounded.document.optional(),
    ending: keptEnding,
  }),
  z.object({
    kind: z.literal('build'),
    revision,
    build: bounded.word,
    run: bounded.word,
    details: bounded.word.optional(),
    undecided: z.enum(['failure', 'neutral']),
    ending: keptEnding,
  }),
  z.object({
    kind: z.literal('reply'),
    of: bounded.id,
    /** Absent in answers of older versions. */
    phid: diffPhids.shape.revision.optional(),
    to: bounded.word,
    text: bounded.document,
  }),
]);

export function keptOf(ending: ReportedOutcome): z.infer<typeof keptEnding> {
  switch (ending.kind) {
    case 'unmeasured':
      return { kind: 'unmeasured', why: ending.reason, said: ending.message };
    case 'bisected':
      return { kind: 'bisected', result: ending.result, asked: ending.request };
    case 'measured':
      return { kind: 'measured', result: ending.result };
    case 'uncounted':
      return keptOf(ending.measured);
  }
}

function endingOf(kept: z.infer<typeof keptEnding>): ReportedOutcome {
  switch (kept.kind) {
    case 'unmeasured':
      return { kind: 'unmeasured', reason: kept.why, message: kept.said };
    case 'bisected':
      return { kind: 'bisected', result: kept.result, request: kept.asked, links: {} };
    case 'measured':
      return outcomeOfResult(kept.result, {});
  }
}

const nameOf = (answer: KeptAnswer): string =>
  answer.kind === 'reply' ? `D${answer.of}` : `D${answer.revision.number}:${answer.revision.diff}`;

/** True if the gate of this run has stored its comment, delivered or not. */
export const hasConcluded = (inbox: Pick<Inbox, 'hasConcluded'>, revision: RevisionDiff, run: string): boolean =>
  inbox.hasConcluded(commentKey(revision, run));

const commentKey = ({ number, diff }: RevisionDiff, run: string): string => `comment D${number}:${diff} ${run}`;

function keyOf(answer: KeptAnswer): string {
  switch (answer.kind) {
    case 'comment':
      return commentKey(answer.revision, answer.run);
    case 'build':
      return `build ${nameOf(answer)} ${answer.build} ${answer.run}`;
    case 'reply':
      return `reply ${nameOf(answer)} ${answer.to}`;
  }
}

/** Shared by all updates of an answer, which remember the target that has its units, and the uploaded picture. */
function allUpdatesOf(inbox: AnswersDeps['inbox']): Map<string, () => Promise<UpdateAttempt>> {
  const updates = updatesByInbox.get(inbox) ?? new Map();
  updatesByInbox.set(inbox, updates);
  return updates;
}

const updatesByInbox = new WeakMap<object, Map<string, () => Promise<UpdateAttempt>>>();

function updatesOf(answer: KeptAnswer, { conduit, log, pause }: AnswersDeps): () => Promise<UpdateAttempt> {
  const deps = { log, ...(pause && { pause }) };
  switch (answer.kind) {
    case 'comment': {
      const { revision, run, details, page, takesCommands, rerun, ending } = answer;
      const links = {
        ...(details && { details }),
        ...(page && { page }),
        ...(rerun && { rerun }),
        takesCommands,
      };
      const notify = revisionCommenter(conduit, revision, { run, ...links, ...deps });
      return () => notify(endingOf(ending));
    }
    case 'build': {
      const { revision, build, run, details, undecided, ending } = answer;
      const options = { run, undecided, ...(details && { details }), ...deps };
      const updater = new BuildUpdater(conduit, build, revision, options);
      return () => updater.post(endingOf(ending));
    }
    case 'reply':
      return () => postReply(conduit, answer.of, answer.text, answer.to, answer.phid);
  }
}
