// Reports to the Harbormaster build that waits for a gate: it passes or fails with the gate's outcome.

import { z } from 'zod';
import type { GithubConfig } from '../../config/github.ts';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import { ConduitError, isFinal } from '../../forge/phabricator/failure.ts';
import * as bounded from '../../model/bounds.ts';
import type { Conclusion } from '../../model/conclusion.ts';
import { outcomeName } from '../../model/conclusion.ts';
import { plainBlock } from '../../model/escape.ts';
import { formatChange, formatInterval, formatMetric, formatPercent } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { RevisionDiff } from '../../model/patch.ts';
import { type Pause, realPause } from '../../model/pause.ts';
import type { CellResult, CellVerdict, Comparison, Result } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import { bisectHeadline } from '../../report/bisect-headline.ts';
import { remarkOf } from '../../report/cell-rows.ts';
import { plainText } from '../../report/document.ts';
import { sentence } from '../../report/headline.ts';
import { unchangedMeaning } from '../../report/next-steps.ts';
import { invalidLines } from '../../report/sections.ts';
import { newerDiff } from './newer-diff.ts';
import { conclusionOf, type ReportedOutcome, resultOf } from './outcome.ts';
import { deliverySeconds, type Reporter } from './reporter.ts';
import { ThrottledUpdates, type UpdateAttempt } from './throttled-updates.ts';

export type BuildOptions = {
  /** Key of the gate; distinguishes its link from those of the build's other gates. */
  run: string;
  details?: string;
  /** Outcome of the build for an undecided gate: `neutral` passes it. */
  undecided: GithubConfig['undecided'];
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  pause?: Pause;
  /** Seconds to keep trying to deliver the outcome, if longer than usual. */
  patienceSeconds?: number;
};

/**
 * Reports to the build's waiting target: a restart makes a new one, and Harbormaster silently accepts messages to the
 * old one. A finished build gets no more messages.
 *
 * @param build its PHID: PHID-HMBD-…
 */
export function openBuild(conduit: Conduit, build: string, revision: RevisionDiff, options: BuildOptions): Reporter {
  const log = { info: eachOnce(options.log.info), warn: eachOnce(options.log.warn) };
  const updater = new BuildUpdater(conduit, build, revision, { ...options, log });
  const updates = new ThrottledUpdates((view: BuildView) => updater.post(view), {
    ...options,
    log,
    secondsBetween: 60,
    tooSlow: (seconds) => notShown(revision, `Phabricator did not respond within ${seconds} s`),
  });
  const working = () => updates.send('working');
  return {
    queued: working,
    waiting: working,
    measuring: working,
    conclude: (reportedOutcome) =>
      updates.sendLast(reportedOutcome, deliverySeconds(reportedOutcome, options.patienceSeconds)),
    addLinks: async () => {},
    leaveOpen: () => updates.stop(),
  };
}

/**
 * Warns if the build holds a draft revision back from its reviewers, or if its failure would return the draft to its
 * author: a benchmark should do neither. Throws a ConduitError.
 */
export async function draftWarning(
  conduit: Conduit,
  build: string,
  revision: RevisionDiff,
): Promise<string | undefined> {
  const constraints = { ids: [revision.number] };
  const [own] = await conduit.search('differential.revision.search', { constraints }, revisions);
  // A draft held by its author does not wait for builds.
  if (own?.fields.status.value !== 'draft' || own.fields.holdAsDraft) return undefined;
  const plan = await planOf(conduit, build);
  const holdsDrafts = plan?.behaviors['hold-drafts']?.value;
  // A plan hidden from the bot probably holds drafts, which is Harbormaster's default.
  if (holdsDrafts === 'never') return undefined;
  const named = plan === undefined ? 'its build plan' : `the build plan "${plan.name}"`;
  return `D${revision.number} is a draft until its builds pass, so this build passes with any outcome: set "Hold Drafts" of ${named} to "Never" so that it shows the result.`;
}

const revisions = z.object({
  fields: z.object({ status: z.object({ value: bounded.word }), holdAsDraft: z.boolean() }),
});

const plans = z.object({
  fields: z.object({
    name: bounded.word,
    behaviors: bounded.byName(z.object({ value: bounded.word })),
  }),
});

async function planOf(conduit: Conduit, build: string) {
  const fields = await buildFields(conduit, build);
  if (fields === undefined) return undefined;
  const constraints = { phids: [fields.buildPlanPHID] };
  const [plan] = await conduit.search('harbormaster.buildplan.search', { constraints }, plans);
  return plan?.fields;
}

const builds = z.object({
  fields: z.object({ buildPlanPHID: bounded.word, buildStatus: z.object({ value: bounded.word }) }),
});

async function buildFields(conduit: Conduit, build: string) {
  const constraints = { phids: [build] };
  const [own] = await conduit.search('harbormaster.build.search', { constraints }, builds);
  return own?.fields;
}

export function attemptOfError(error: unknown, sentence: (why: string) => string): UpdateAttempt {
  const why = sentence(reasonOf(error).replace(/\.$/, ''));
  if (!(error instanceof ConduitError) || isFinal(error)) return { kind: 'refused', why };
  // The database may refuse only this text, which must not delay other answers.
  const isOfText = error.kind === 'unsure' && error.code !== undefined;
  return { kind: isOfText ? 'not-yet' : 'failed', why };
}

type BuildView = 'working' | ReportedOutcome;
type BuildMessage = { type: 'work' | 'pass' | 'fail'; unit?: HarbormasterUnit[] };

/**
 * Sends `work` and an outcome, each once per target, as Harbormaster adds up the units of all messages. It acts a
 * second or two after its reply, or never: the outcome counts as delivered once the target shows it.
 */
export class BuildUpdater {
  readonly #conduit: Conduit;
  readonly #build: string;
  readonly #revision: RevisionDiff;
  readonly #options: BuildOptions;
  readonly #pause: Pause;
  readonly #log: Record<'info' | 'warn', (sentence: string) => void>;
  readonly #workedOn = new Set<string>();
  readonly #linked = new Set<string>();
  readonly #ends = new Map<string, { shows: string; isSure: boolean }>();
  #newer: Promise<string | undefined> | undefined;

  constructor(conduit: Conduit, build: string, revision: RevisionDiff, options: BuildOptions) {
    this.#conduit = conduit;
    this.#build = build;
    this.#revision = revision;
    this.#options = options;
    this.#pause = options.pause ?? realPause;
    this.#log = { info: eachOnce(options.log.info), warn: eachOnce(options.log.warn) };
  }

  /** Never throws. */
  async post(view: BuildView): Promise<UpdateAttempt> {
    const attempt = await this.#tryPosting(view).catch((error: unknown) =>
      attemptOfError(error, (why) => notShown(this.#revision, why)),
    );
    // Sends the outcome all the same: without it the build would wait forever.
    if (view !== 'working' || attempt.kind !== 'refused') return attempt;
    this.#log.info(attempt.why);
    return { kind: 'delivered' };
  }

  async #tryPosting(view: BuildView): Promise<UpdateAttempt> {
    for (const seconds of [0, 1, 2, 4, 8]) {
      if (seconds > 0) await this.#pause(seconds, never);
      const current = await readBuildStatus(this.#conduit, this.#build);
      if (current === undefined) return { kind: 'refused', why: unseen(this.#revision) };
      const { status, targets } = current;
      const ended = targets.find(({ phid }) => this.#ends.has(phid));
      const end = ended && this.#ends.get(ended.phid);
      if (ended !== undefined && ended.status !== waiting) {
        if (ended.status !== end?.shows) {
          this.#log.info(endedElsewhere(this.#revision, ended.status));
        }
        return { kind: 'delivered' };
      }
      if (over.has(status)) {
        this.#log.info(`${buildName(this.#revision)} is ${status}: it gets no further updates.`);
        return { kind: 'delivered' };
      }
      // A message lost in an earlier try would have arrived by now.
      const isSent = end !== undefined && (end.isSure || seconds > 0);
      const target = targets.find(({ status }) => status === waiting);
      if (!isSent && target !== undefined) await this.#send(target.phid, view);
      if (view === 'working') return { kind: 'delivered' };
    }
    return { kind: 'not-yet', why: notShown(this.#revision, 'none of its targets accepted it') };
  }

  async #send(target: string, view: BuildView): Promise<void> {
    await this.#link(target);
    if (view === 'working' && this.#workedOn.has(target)) return;
    const message = await this.#messageFor(view);
    const isSure = await send(this.#conduit, target, message);
    if (message.type === 'work') this.#workedOn.add(target);
    else this.#ends.set(target, { shows: `target/${message.type}ed`, isSure });
  }

  async #messageFor(view: BuildView): Promise<BuildMessage> {
    const message: BuildMessage =
      view === 'working' ? { type: 'work' } : messageOf(await this.#withReason(view), this.#options.undecided);
    if (message.type === 'pass') return message;
    const warning = await draftWarning(this.#conduit, this.#build, this.#revision);
    if (warning === undefined) return message;
    this.#log.warn(warning);
    const { unit = [] } = message;
    const name = view === 'working' ? 'result comes as a comment' : 'passed for the draft';
    return { type: 'pass', unit: [aUnit(name, 'skip', warning), ...unit] };
  }

  /** Names the newer diff of a cancelled gate. Asks once, and only briefly, as the job is killed soon. */
  async #withReason(outcome: ReportedOutcome): Promise<ReportedOutcome> {
    if (outcome.kind !== 'unmeasured' || outcome.reason !== 'cancelled') return outcome;
    this.#newer ??= unlessSlow(newerDiff(this.#conduit, this.#build, this.#revision), this.#pause);
    const message = await this.#newer;
    return message === undefined ? outcome : { ...outcome, message };
  }

  /** May fail, as the comment contains the link, too. */
  async #link(target: string): Promise<void> {
    const { details, run } = this.#options;
    if (details === undefined || this.#linked.has(target)) return;
    const link = linkTo(target, run, details);
    try {
      await this.#conduit.call('harbormaster.createartifact', link, z.unknown());
      this.#linked.add(target);
    } catch (error) {
      const why = reasonOf(error);
      if (/duplicate entry/i.test(why)) this.#linked.add(target);
      else {
        this.#log.info(`${buildName(this.#revision)} does not show the link to ${details} (${why}).`);
      }
    }
  }
}

const never = new AbortController().signal;

const slowSeconds = 3;

async function unlessSlow(request: Promise<string | undefined>, pause: Pause): Promise<string | undefined> {
  const isSettled = new AbortController();
  const tooLate = pause(slowSeconds, isSettled.signal).then(() => undefined);
  const first = await Promise.race([request.catch(() => undefined), tooLate]);
  isSettled.abort();
  return first;
}

function eachOnce(log: (sentence: string) => unknown): (sentence: string) => void {
  const logged = new Set<string>();
  return (sentence) => {
    if (!logged.has(sentence)) log(sentence);
    logged.add(sentence);
  };
}

const buildName = (revision: RevisionDiff): string => `The build of D${revision.number} on Harbormaster`;

const unseen = (revision: RevisionDiff): string =>
  `${buildName(revision)} gets no updates, because it does not exist or is hidden from the bot.`;

const endedElsewhere = (revision: RevisionDiff, status: string): string =>
  `${buildName(revision)} shows ${status}, set by another client.`;

const notShown = (revision: RevisionDiff, why: string): string =>
  `${buildName(revision)} may not show the gate's progress (${why}).`;

/** Resolves to false if the reply was lost. */
async function send(conduit: Conduit, receiver: string, message: BuildMessage): Promise<boolean> {
  try {
    await conduit.call('harbormaster.sendmessage', { receiver, ...message }, z.unknown());
    return true;
  } catch (error) {
    if (error instanceof ConduitError && error.kind === 'unsure') return false;
    throw error;
  }
}

const waiting = 'target/waiting';

/** Excludes `paused`: such a build continues. */
const over = new Set(['passed', 'failed', 'aborted', 'error', 'deadlocked']);

const targetSchema = z.object({
  phid: bounded.word,
  fields: z.object({ buildGeneration: z.int(), status: z.object({ value: bounded.word }) }),
});

type BuildStatus = { status: string; targets: { phid: string; status: string }[] };

/** Reads the targets since the last start, oldest first; earlier ones stay `waiting`. Undefined for a hidden build. */
async function readBuildStatus(conduit: Conduit, build: string): Promise<BuildStatus | undefined> {
  const fields = await buildFields(conduit, build);
  if (fields === undefined) return undefined;
  const constraints = { buildPHIDs: [build] };
  const all = await conduit.search('harbormaster.target.search', { constraints }, targetSchema);
  const newest = Math.max(...all.map(({ fields }) => fields.buildGeneration));
  const targets = all
    .filter(({ fields }) => fields.buildGeneration === newest)
    .map(({ phid, fields }) => ({ phid, status: fields.status.value }))
    .toReversed();
  return { status: fields.buildStatus.value, targets };
}

/** `ui.external` must be a boolean in this encoding. The key is unique within a target. */
const linkTo = (target: string, run: string, uri: string) => ({
  buildTargetPHID: target,
  artifactKey: `ppsgate-${run}`,
  artifactType: 'uri',
  artifactData: { uri, name: 'ppsgate', 'ui.external': true },
});

/**
 * Only a pass passes, unless the site lets undecided gates pass. A cancelled gate fails with its reason: otherwise the
 * build would wait forever, and `abort` shows no reason. Both can be restarted.
 */
function messageOf(reported: ReportedOutcome, undecided: BuildOptions['undecided']): BuildMessage {
  const conclusion = conclusionOf(reported);
  const isPass = conclusion === 'pass' || (conclusion === 'undecided' && undecided === 'neutral');
  return { type: isPass ? 'pass' : 'fail', unit: unitsOf(reported) };
}

/** `duration` is in seconds. Harbormaster shows `details` as plain text, three lines of it on the revision. */
type HarbormasterUnit = {
  engine: 'ppsgate';
  name: string;
  result: 'pass' | 'fail' | 'skip' | 'broken' | 'unsound';
  duration?: number;
  format: 'text';
  details: string;
};

function unitsOf(reported: ReportedOutcome): HarbormasterUnit[] {
  if (reported.kind === 'unmeasured') {
    return [aUnit('gate', resultsWithout[conclusionOf(reported)] ?? 'broken', reported.message)];
  }
  if (reported.kind === 'bisected') {
    const blame = conclusionOf(reported) === 'pass' ? 'pass' : 'unsound';
    return [aUnit('bisection', blame, bisectHeadline(reported.result))];
  }
  const result = resultOf(reported);
  const { outcome } = result;
  if (outcome.kind === 'judged') return unitsOfCells(outcome.cells, result);
  if (outcome.kind === 'unchanged') return [aUnit('unchanged', 'skip', unchangedMeaning(outcome))];
  const blame = outcome.kind === 'out-of-disk' ? 'broken' : 'fail';
  return [aUnit(outcomeName(result), blame, outcome.message)];
}

const resultsWithout: Partial<Record<Conclusion, HarbormasterUnit['result']>> = {
  patchAtFault: 'fail',
  cancelled: 'skip',
};

/** Returns one unit for all cells if none was measured, as Harbormaster shows only five. */
function unitsOfCells(cells: readonly CellResult[], result: Result): HarbormasterUnit[] {
  const isMeasured = cells.some(({ verdict }) => verdict.kind !== 'invalid');
  if (isMeasured || cells.length === 1) return cells.map((cell) => unitOf(cell, result));
  const lines = [`invalid: ${plainText(sentence(result))}`, ...invalidLines(cells).map(plainText)];
  return [aUnit('gate', unitResults.invalid, lines.join('\n'))];
}

function unitOf(cell: CellResult, { trials, policy }: Result): HarbormasterUnit {
  const name = cellName(cell.cell);
  const seconds = trials
    .filter((trial) => cellName(trial.cell) === name)
    .reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
  const [comparison] = cell.comparisons;
  const confidence = formatPercent(policy.confidenceRatio);
  const lines = [
    cell.verdict.kind === 'invalid' ? `invalid: ${cell.verdict.reason}` : `${cell.verdict.kind}${remarkOf(cell)}`,
    comparison && changeText(comparison, confidence),
  ];
  const details = lines.filter(Boolean).join('\n');
  return { ...aUnit(name, unitResults[cell.verdict.kind], details), duration: seconds };
}

/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }: Comparison, confidence: string): string =>
  [
    `${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`,
    `${confidence} interval ${formatInterval(interval.low, interval.high)} %`,
  ].join(', ');

/** `unsound`: measured without a verdict; `broken`: not measured. The revision hides a `skip` and its reason. */
const unitResults: Record<CellVerdict['kind'], HarbormasterUnit['result']> = {
  'no-regression': 'pass',
  improvement: 'pass',
  regression: 'fail',
  inconclusive: 'unsound',
  invalid: 'broken',
};

const aUnit = (name: string, result: HarbormasterUnit['result'], details: string): HarbormasterUnit => ({
  engine: 'ppsgate',
  format: 'text',
  name,
  result,
  details: plainBlock(details, 2000),
});
