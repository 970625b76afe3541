// The build that Harbormaster has waiting for a gate: worked on while the gate lasts, passed or failed as it ends.

import { z } from 'zod';
import type { GithubConfig } from '../../config/github.ts';
import { type Conduit, ConduitError, mayPass } from '../../forge/phabricator/conduit.ts';
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
import { outcomeName, sentence } from '../../report/headline.ts';
import { unchangedMeaning } from '../../report/next-steps.ts';
import { invalidLines } from '../../report/sections.ts';
import { newerDiff } from './newer-diff.ts';
import { conclusionOf, type Ending, type Unmeasured } from './outcome-text.ts';
import { type Answer, secondsFor } from './reporter.ts';
import { type Told, throttledUpdates } from './throttled-updates.ts';

export type BuildOptions = {
  /** Key of the gate: tells its link from those of other gates of the build. */
  run: string;
  /** URL of the report, or of the job. */
  details?: string;
  /** What becomes of the build where nobody can say anything of the patch: `neutral` passes it. */
  undecided: GithubConfig['undecided'];
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  pause?: Pause;
  /** How long the end is tried, where that is longer than usual. */
  patienceSeconds?: number;
};

/**
 * Answers the target of the build that waits: a restart makes a new one, and Harbormaster takes messages to the old
 * one without a word. A build that is over is told nothing more.
 *
 * @param build its PHID: PHID-HMBD-…
 */
export function openBuild(
  conduit: Conduit,
  build: string,
  revision: RevisionDiff,
  options: BuildOptions,
): Answer {
  const log = { info: eachOnce(options.log.info), warn: eachOnce(options.log.warn) };
  const updates = throttledUpdates(tellBuild(conduit, build, revision, { ...options, log }), {
    ...options,
    log,
    secondsBetween: 60,
    tooSlow: (seconds) => notTaken(revision, `Phabricator did not answer within ${seconds} s`),
  });
  const working = () => updates.notify('working');
  return {
    queued: working,
    waiting: working,
    measuring: working,
    ended: (ending) => updates.tellLast(ending, secondsFor(ending, options.patienceSeconds)),
    linked: async () => {},
    left: updates.left,
  };
}

/**
 * A sentence where the build keeps the revision from its reviewers while it lasts, or would send it back to its author
 * by failing: a benchmark should do neither. Throws a ConduitError.
 */
export async function draftWarning(
  conduit: Conduit,
  build: string,
  revision: RevisionDiff,
): Promise<string | undefined> {
  const constraints = { ids: [revision.number] };
  const [found] = await conduit.search('differential.revision.search', { constraints }, revisions);
  // A draft that its author holds does not wait for builds.
  if (found?.fields.status.value !== 'draft' || found.fields.holdAsDraft) return undefined;
  const plan = await planOf(conduit, build);
  const holdsDrafts = plan?.behaviors['hold-drafts']?.value;
  // Where the bot may not see the plan, it is taken to hold drafts, as Harbormaster makes them.
  if (holdsDrafts === 'never') return undefined;
  const named = plan === undefined ? 'its build plan' : `the build plan "${plan.name}"`;
  return `D${revision.number} is a draft until its builds have passed, so this one passes whatever comes of it: set "Hold Drafts" of ${named} to "Never" to have it tell the result.`;
}

const revisions = z.object({
  fields: z.object({ status: z.object({ value: z.string() }), holdAsDraft: z.boolean() }),
});

const plans = z.object({
  fields: z.object({
    name: z.string(),
    behaviors: z.record(z.string(), z.object({ value: z.string() })),
  }),
});

async function planOf(conduit: Conduit, build: string) {
  const found = await buildOf(conduit, build);
  if (found === undefined) return undefined;
  const constraints = { phids: [found.buildPlanPHID] };
  const [plan] = await conduit.search('harbormaster.buildplan.search', { constraints }, plans);
  return plan?.fields;
}

const builds = z.object({
  fields: z.object({ buildPlanPHID: z.string(), buildStatus: z.object({ value: z.string() }) }),
});

async function buildOf(conduit: Conduit, build: string) {
  const constraints = { phids: [build] };
  const [found] = await conduit.search('harbormaster.build.search', { constraints }, builds);
  return found?.fields;
}

/** What a server that is busy, or whose answer was lost, may yet be told. */
export function failureOf(error: unknown, sentence: (why: string) => string): Told {
  const isPassing = error instanceof ConduitError && mayPass(error);
  const why = reasonOf(error).replace(/\.$/, '');
  return { kind: isPassing ? 'failed' : 'refused', why: sentence(why) };
}

type View = 'working' | Ending;
type Message = { type: 'work' | 'pass' | 'fail'; unit?: Unit[] };

/**
 * Tells `work` and an end, each once to a target, for Harbormaster adds up the units of all messages. It obeys a second
 * or two after it has answered, or never: so the end is told when the target shows it. Never throws.
 */
export function tellBuild(
  conduit: Conduit,
  build: string,
  revision: RevisionDiff,
  { run, details, undecided, pause = realPause, ...options }: BuildOptions,
): (view: View) => Promise<Told> {
  const log = { info: eachOnce(options.log.info), warn: eachOnce(options.log.warn) };
  const workedOn = new Set<string>();
  const linked = new Set<string>();
  const ends = new Map<string, { shows: string; isSure: boolean }>();
  const what = buildName(revision);
  let newer: Promise<string | undefined> | undefined;

  const put = async (view: View): Promise<Told> => {
    for (const seconds of [0, 1, 2, 4, 8]) {
      if (seconds > 0) await pause(seconds, never);
      const interim = await interimOf(conduit, build);
      if (interim === undefined) return { kind: 'refused', why: unseen(revision) };
      const { status, targets } = interim;
      const answered = targets.find(({ phid }) => ends.has(phid));
      const end = answered && ends.get(answered.phid);
      if (answered !== undefined && answered.status !== waiting) {
        if (answered.status !== end?.shows) log.info(answeredElse(revision, answered.status));
        return { kind: 'told' };
      }
      if (over.has(status)) {
        log.info(`${what} is ${status}: it is told nothing more.`);
        return { kind: 'told' };
      }
      // What was lost the last time, if at all, would be there by now.
      const isTold = end !== undefined && (end.isSure || seconds > 0);
      const target = targets.find(({ status }) => status === waiting);
      if (!isTold && target !== undefined) await notify(target.phid, view);
      if (view === 'working') return { kind: 'told' };
    }
    return { kind: 'not-yet', why: notTaken(revision, 'none of its targets has taken it') };
  };

  const notify = async (target: string, view: View) => {
    await link(target);
    if (view === 'working' && workedOn.has(target)) return;
    const message = await messageFor(view);
    const isSure = await send(conduit, target, message);
    if (message.type === 'work') workedOn.add(target);
    else ends.set(target, { shows: `target/${message.type}ed`, isSure });
  };

  const messageFor = async (view: View): Promise<Message> => {
    const message: Message =
      view === 'working' ? { type: 'work' } : endOf(await withReason(view), undecided);
    if (message.type === 'pass') return message;
    const warning = await draftWarning(conduit, build, revision);
    if (warning === undefined) return message;
    log.warn(warning);
    const { unit = [] } = message;
    const name = view === 'working' ? 'result comes as a comment' : 'passed for the draft';
    return { type: 'pass', unit: [aUnit(name, 'skip', warning), ...unit] };
  };

  /** To say of a cancelled gate what took its place: asked once, and not for long, for its job is killed soon. */
  const withReason = async (ending: Ending): Promise<Ending> => {
    if (ending.kind !== 'unmeasured' || ending.why !== 'cancelled') return ending;
    newer ??= knownSoon(newerDiff(conduit, build, revision), pause);
    const said = await newer;
    return said === undefined ? ending : { ...ending, said };
  };

  /** A convenience: the comment has the link as well. */
  const link = async (target: string) => {
    if (details === undefined || linked.has(target)) return;
    try {
      await conduit.call('harbormaster.createartifact', linkTo(target, run, details), z.unknown());
      linked.add(target);
    } catch (error) {
      const why = reasonOf(error);
      if (/duplicate entry/i.test(why)) linked.add(target);
      else log.info(`${what} does not show the link to ${details} (${why}).`);
    }
  };

  return async (view) => {
    const told = await put(view).catch((error: unknown) =>
      failureOf(error, (why) => notTaken(revision, why)),
    );
    // The end is tried all the same: without it the build waits for ever.
    if (view !== 'working' || told.kind !== 'refused') return told;
    log.info(told.why);
    return { kind: 'told' };
  };
}

const never = new AbortController().signal;

const mostSecondsToKnow = 3;

/** Undefined where it is not known soon, or not at all. */
async function knownSoon(
  asked: Promise<string | undefined>,
  pause: Pause,
): Promise<string | undefined> {
  const isKnown = new AbortController();
  const tooLate = pause(mostSecondsToKnow, isKnown.signal).then(() => undefined);
  const known = await Promise.race([asked.catch(() => undefined), tooLate]);
  isKnown.abort();
  return known;
}

function eachOnce(say: (sentence: string) => unknown): (sentence: string) => void {
  const said = new Set<string>();
  return (sentence) => {
    if (!said.has(sentence)) say(sentence);
    said.add(sentence);
  };
}

const buildName = (revision: RevisionDiff): string =>
  `The build of D${revision.number} on Harbormaster`;

const unseen = (revision: RevisionDiff): string =>
  `${buildName(revision)} is told nothing because it is not there, or not for the bot to see.`;

const answeredElse = (revision: RevisionDiff, status: string): string =>
  `${buildName(revision)} shows ${status}, which somebody else has told it.`;

const notTaken = (revision: RevisionDiff, why: string): string =>
  `${buildName(revision)} may not show how the gate stands (${why}).`;

/** Resolves to whether it has surely got there: false where the answer was lost. */
async function send(conduit: Conduit, receiver: string, message: Message): Promise<boolean> {
  try {
    await conduit.call('harbormaster.sendmessage', { receiver, ...message }, z.unknown());
    return true;
  } catch (error) {
    if (error instanceof ConduitError && error.kind === 'unsure') return false;
    throw error;
  }
}

const waiting = 'target/waiting';

/** A build that is `paused` goes on. */
const over = new Set(['passed', 'failed', 'aborted', 'error', 'deadlocked']);

const targetSchema = z.object({
  phid: z.string(),
  fields: z.object({ buildGeneration: z.int(), status: z.object({ value: z.string() }) }),
});

type InterimResult = { status: string; targets: { phid: string; status: string }[] };

/**
 * How the build stands, with the targets since its last start, the oldest first; those from before it stay `waiting` for ever.
 * Undefined where the bot sees no such build.
 */
async function interimOf(conduit: Conduit, build: string): Promise<InterimResult | undefined> {
  const found = await buildOf(conduit, build);
  if (found === undefined) return undefined;
  const constraints = { buildPHIDs: [build] };
  const all = await conduit.search('harbormaster.target.search', { constraints }, targetSchema);
  const newest = Math.max(...all.map(({ fields }) => fields.buildGeneration));
  const targets = all
    .filter(({ fields }) => fields.buildGeneration === newest)
    .map(({ phid, fields }) => ({ phid, status: fields.status.value }))
    .toReversed();
  return { status: found.buildStatus.value, targets };
}

/** In this encoding `ui.external` has to be a boolean; the key is a target's own. */
const linkTo = (target: string, run: string, uri: string) => ({
  buildTargetPHID: target,
  artifactKey: `ppsgate-${run}`,
  artifactType: 'uri',
  artifactData: { uri, name: 'ppsgate', 'ui.external': true },
});

/**
 * Only a pass is one, unless a site wants those passed of which nobody can say anything. A gate that is cancelled fails
 * as well, and says so: the build would wait for ever, `abort` leaves no word of why, and whoever wants it to go on can
 * restart it either way.
 */
function endOf(ending: Ending, undecided: BuildOptions['undecided']): Message {
  const conclusion = conclusionOf(ending);
  const isPass = conclusion === 'pass' || (conclusion === 'undecided' && undecided === 'neutral');
  return { type: isPass ? 'pass' : 'fail', unit: unitsOf(ending) };
}

/** `duration` in seconds. Harbormaster shows `details` as plain text, and of that three lines on the revision. */
type Unit = {
  engine: 'ppsgate';
  name: string;
  result: 'pass' | 'fail' | 'skip' | 'broken' | 'unsound';
  duration?: number;
  format: 'text';
  details: string;
};

function unitsOf(ending: Ending): Unit[] {
  if (ending.kind === 'unmeasured') {
    return [aUnit('gate', resultsWithout.get(ending.why) ?? 'broken', ending.said)];
  }
  if (ending.kind === 'bisected') {
    const blame = conclusionOf(ending) === 'pass' ? 'pass' : 'unsound';
    return [aUnit('bisection', blame, bisectHeadline(ending.result))];
  }
  const { result } = ending.kind === 'measured' ? ending : ending.measured;
  const { outcome } = result;
  if (outcome.kind === 'judged') return unitsOfCells(outcome.cells, result);
  if (outcome.kind === 'unchanged') return [aUnit('unchanged', 'skip', unchangedMeaning(outcome))];
  const blame = outcome.kind === 'out-of-disk' ? 'broken' : 'fail';
  return [aUnit(outcomeName(result), blame, outcome.message)];
}

const resultsWithout = new Map<Unmeasured['why'], Unit['result']>([
  ['patchAtFault', 'fail'],
  ['cancelled', 'skip'],
]);

/** Where nothing was measured one tells of all, for of many Harbormaster shows five. */
function unitsOfCells(cells: readonly CellResult[], result: Result): Unit[] {
  const isMeasured = cells.some(({ verdict }) => verdict.kind !== 'invalid');
  if (isMeasured || cells.length === 1) return cells.map((cell) => unitOf(cell, result));
  const lines = [`invalid: ${plainText(sentence(result))}`, ...invalidLines(cells).map(plainText)];
  return [aUnit('gate', resultOf.invalid, lines.join('\n'))];
}

function unitOf(cell: CellResult, { trials, policy }: Result): Unit {
  const name = cellName(cell.cell);
  const seconds = trials
    .filter((trial) => cellName(trial.cell) === name)
    .reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
  const [comparison] = cell.comparisons;
  const confidence = formatPercent(policy.confidenceRatio);
  const lines = [
    cell.verdict.kind === 'invalid'
      ? `invalid: ${cell.verdict.reason}`
      : `${cell.verdict.kind}${remarkOf(cell)}`,
    comparison && changeText(comparison, confidence),
  ];
  const details = lines.filter(Boolean).join('\n');
  return { ...aUnit(name, resultOf[cell.verdict.kind], details), duration: seconds };
}

/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }: Comparison, confidence: string): string =>
  [
    `${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`,
    `${confidence} interval ${formatInterval(interval.low, interval.high)} %`,
  ].join(', ');

/**
 * `unsound` is measured without an answer, `broken` could not be measured, by what these words mean to Harbormaster. It
 * would call that `skip`, too, and then shows neither unit nor reason on the revision, as of all that passes.
 */
const resultOf: Record<CellVerdict['kind'], Unit['result']> = {
  'no-regression': 'pass',
  improvement: 'pass',
  regression: 'fail',
  inconclusive: 'unsound',
  invalid: 'broken',
};

const aUnit = (name: string, result: Unit['result'], details: string): Unit => ({
  ...{ engine: 'ppsgate', format: 'text' },
  ...{ name, result, details: plainBlock(details, 2000) },
});
