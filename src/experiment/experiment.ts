// Runs what was planned, writes down each step as it ends, and goes on where an earlier process stopped.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from '../build/variant.ts';
import { type RunCounts, runCounts, type Standing, standings } from '../stats/standing.ts';
import { cellVerdict } from '../stats/verdict.ts';
import type { BlastOutcome, KeepLog, Testbed } from '../testbed/testbed.ts';
import { lastLine, reasonOf, shortened } from '../words/one-line.ts';
import type { PlannedBlast } from '../words/planned-blast.ts';
import type { Rejected, Rejection } from '../words/rejection.ts';
import type { CellVerdict } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';
import { type BlastTries, type CellProgress, cellsSoFar, isOfVerdict, leftOutIn } from './cells.ts';
import { type Entry, type Journal, journalIn, openJournal } from './journal.ts';
import type { Plan } from './plan.ts';
import {
  type NextProfile,
  type ProfilesWorld,
  takeProfiles,
  takeProfilesOfBoot,
} from './profiles.ts';

export type ExperimentEvent =
  | { kind: 'planned'; plan: Plan }
  /** There is nothing to do any more. */
  | { kind: 'finished-before'; at: string }
  | { kind: 'warning'; text: string }
  /** What has come of something, in a sentence. */
  | { kind: 'told'; text: string }
  /** What is being done before the next blast. */
  | { kind: 'preparing'; text: string }
  | ({ kind: 'blast' } & NextBlast)
  | { kind: 'ended'; blast: PlannedBlast; entry: Entry }
  /** Nothing is measured any more, or not in this boot, and it is asked where the time went. */
  | ({ kind: 'profile' } & NextProfile)
  /** The cell gets no more runs. */
  | { kind: 'decided'; cell: Cell; verdict: CellVerdict; counts: RunCounts };

type NextBlast = {
  blast: PlannedBlast;
  attempt: number;
  done: number;
  of: number;
  /** What was the matter with the attempt before. */
  why?: string;
};

type ExperimentOptions = {
  directory: string;
  plan: Plan;
  testbed: Testbed;
  now: () => Date;
  onEvent: (event: ExperimentEvent) => void;
  signal: AbortSignal;
};

type Experiment = ExperimentOptions & {
  journal: Journal;
  at(): string;
  /** Cells whose verdict was told. */
  decided: Set<string>;
};

/**
 * Runs every blast that the journal lacks, and returns the whole journal. Ends early when nothing can be measured with
 * patched; any other such variant is left out from then on.
 */
export async function runExperiment(options: ExperimentOptions): Promise<Entry[]> {
  const journal = await openJournal(journalIn(options.directory));
  const at = () => options.now().toISOString();
  const experiment = { ...options, journal, at, decided: new Set<string>() };
  try {
    await inspect(experiment);
    const isMeasured = (await prepare(experiment)) && (await measureAll(experiment));
    if (isMeasured) await finish(experiment);
    return journal.entries;
  } finally {
    await journal.close();
  }
}

async function inspect({ plan, testbed, journal, at, onEvent }: Experiment): Promise<void> {
  onEvent({ kind: 'planned', plan });
  const inspection = await testbed.inspect(plan.cells.map(({ cell }) => cell));
  await journal.append({ kind: 'started', at: at(), ...inspection });
  for (const text of inspection.warnings) onEvent({ kind: 'warning', text });
}

/** Readies all variants that are left; false where patched is rejected. */
async function prepare(experiment: Experiment): Promise<boolean> {
  const { directory, plan, testbed, journal, onEvent, signal } = experiment;
  for (;;) {
    signal.throwIfAborted();
    const prepared = await testbed.prepare({
      variants: variantsLeft(plan, journal.entries),
      rules: plan.rules,
      cells: plan.cells.map(({ cell }) => cell),
      keepLog: keepLogIn(directory, 'builds'),
      tell: (text) => onEvent({ kind: 'preparing', text }),
      signal,
    });
    if (prepared.kind === 'ready') return true;
    if (!(await goesOnWithout(prepared, experiment))) return false;
  }
}

/** Measures until no cell needs a blast any more; false where patched is rejected. */
async function measureAll(experiment: Experiment): Promise<boolean> {
  const { plan, journal, signal } = experiment;
  let boot: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const next = nextBlast(plan, journal.entries);
    if (next === undefined) return true;
    const isOtherBoot = boot !== undefined && boot !== bootOf(next.blast);
    if (isOtherBoot) await takeProfilesOfBoot(plan, profilesWorld(experiment));
    boot = bootOf(next.blast);
    if (!(await measure(next, experiment))) return false;
  }
}

/** Where a testbed boots its variants each blast has one run, and a boot serves all cells of a pair. */
const bootOf = ({ runs: [run] }: PlannedBlast): string => `${run?.variant} ${run?.pair}`;

/** False where patched is rejected. */
async function measure(next: NextBlast, experiment: Experiment): Promise<boolean> {
  const { directory, testbed, journal, at, onEvent, signal } = experiment;
  const { blast, attempt } = next;
  const logs = join('blasts', logFolder(blast, attempt));
  onEvent({ kind: 'blast', ...next });
  const outcome = await testbed.blast(blast, keepLogIn(directory, logs), signal);
  for (const text of outcome.warnings ?? []) {
    await journal.append({ kind: 'warned', at: at(), text });
    onEvent({ kind: 'warning', text });
  }
  if (outcome.kind === 'rejected') return goesOnWithout(outcome, experiment);
  const entry: Entry =
    outcome.kind === 'measured'
      ? { kind: 'measured', at: at(), ...measuredAs(blast, outcome, { attempt, logs }) }
      : { kind: 'failed', at: at(), blast: blast.number, reason: outcome.reason };
  await journal.append(entry);
  onEvent({ kind: 'ended', blast, entry });
  tellDecided(experiment);
  return true;
}

function tellDecided({ plan, journal, decided, onEvent }: Experiment): void {
  for (const closed of closedCells(plan, journal.entries)) {
    const name = cellName(closed.cell);
    if (!decided.has(name)) onEvent({ kind: 'decided', ...closed });
    decided.add(name);
  }
}

async function finish(experiment: Experiment): Promise<void> {
  await takeProfiles(experiment.plan, profilesWorld(experiment));
  await experiment.journal.append({ kind: 'finished', at: experiment.at() });
}

/** Writes down that nothing can be measured with a variant; false where that is patched. Throws where it is base. */
async function goesOnWithout(
  { variant, rejection }: Rejected,
  { journal, at, onEvent }: Experiment,
): Promise<boolean> {
  if (variant === 'base') throw new BaseRejectedError(rejection);
  await journal.append({ kind: 'rejected', at: at(), variant, rejection });
  if (variant === 'patched') return false;
  const text = `${variant} ${faults[rejection.kind]} and is left out: ${reasonOf(rejection.message)}`;
  onEvent({ kind: 'warning', text });
  return true;
}

const profilesWorld = (experiment: Experiment): ProfilesWorld => {
  const { directory, plan, testbed, journal, at, onEvent, signal } = experiment;
  return {
    profile: plan.profile,
    testbed,
    journal,
    at,
    signal,
    keepLogIn: (folder) => keepLogIn(directory, folder),
    onNext: (next) => onEvent({ kind: 'profile', ...next }),
    warn: (text) => onEvent({ kind: 'warning', text }),
  };
};

/** What a testbed measured, with the numbers of the plan. */
const measuredAs = (
  { number, runs: planned }: PlannedBlast,
  { summary, runs }: Extract<BlastOutcome, { kind: 'measured' }>,
  { attempt, logs }: { attempt: number; logs: string },
): Pick<Extract<Entry, { kind: 'measured' }>, 'summary' | 'runs'> => ({
  summary: { ...summary, number, attempt, logs },
  runs: runs.map((run) => ({
    ...run,
    ...(planned.length === 1 && planned[0]),
    blast: number,
    attempt,
  })),
});

function variantsLeft({ variants }: Plan, entries: readonly Entry[]): Variant[] {
  const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
  return variants.filter(({ variant }) => !out.has(variant));
}

/** Nothing can be said of a patch whose base does not work. */
export class BaseRejectedError extends Error {
  override readonly name = 'BaseRejectedError';

  constructor(rejection: Rejection) {
    super(
      `The base itself ${faults[rejection.kind]}, so nothing was measured: ${whyRejected(rejection)}`,
    );
  }
}

/** The message of a rejection, with what the kernel died of. */
function whyRejected(rejection: Rejection): string {
  const { message } = rejection;
  const panic = 'panic' in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : '';
  const shown = 'console' in rejection ? lastLine(rejection.console ?? '') : undefined;
  const last = panic || !shown ? '' : ` The last on its console: "${shortened(shown)}".`;
  return `${message}${panic}${last}`;
}

/** What is the matter with a variant, after its name: `does not boot: …`. */
export const rejectionText = (rejection: Rejection): string =>
  `${faults[rejection.kind]}: ${whyRejected(rejection)}`;

const faults: Record<Rejection['kind'], string> = {
  'does-not-apply': 'does not apply',
  'build-failed': 'does not build',
  'out-of-disk': 'finds no room',
  'does-not-load': 'does not load',
  'boot-failed': 'does not boot',
  'panics-under-load': 'panics under load',
};

/**
 * The next blast that an undecided cell needs for its next look, or that is lacking beside what decided a cell; one that
 * failed comes again after all others. Nothing but the journal decides, so a resumed experiment goes the same way.
 */
export function nextBlast(
  plan: Pick<Plan, 'cells' | 'blasts' | 'policy'>,
  entries: readonly Entry[],
): NextBlast | undefined {
  const { cells, open } = openIn(plan, entries);
  const [next] = open;
  return next === undefined ? undefined : announcedAs(cells, next);
}

/** All that is lacking by then, the next one first. */
function openIn(plan: Pick<Plan, 'cells' | 'blasts' | 'policy'>, entries: readonly Entry[]) {
  const cells = standings(cellsSoFar(plan, entries), plan.policy);
  const open = cells
    .flatMap(openBlasts)
    .toSorted((a, b) => a.tries.length - b.tries.length || a.blast.number - b.blast.number);
  return { cells, open };
}

const announcedAs = (
  cells: readonly Standing<CellProgress>[],
  { blast, tries }: BlastTries,
): NextBlast => ({ blast, attempt: tries.length + 1, ...blastCount(cells), ...whyAgain(tries) });

function whyAgain(tries: readonly Entry[]): Pick<NextBlast, 'why'> {
  const last = tries.at(-1);
  if (last?.kind === 'failed') return { why: last.reason };
  if (last?.kind !== 'measured') return {};
  const faults = last.runs.flatMap(({ validity }) =>
    validity.kind === 'invalid' ? validity.reason : [],
  );
  const [fault] = faults;
  const silent = last.runs.find(({ pps }) => pps === 0);
  if (fault === undefined) {
    return {
      why: silent ? `${silent.variant} forwarded nothing` : 'it stood apart from the others',
    };
  }
  return { why: `${faults.length} of ${last.runs.length} runs do not count: ${fault}` };
}

/** When nothing was left to do; undefined where something is. */
export function finishedAt(plan: Plan, entries: readonly Entry[]): string | undefined {
  const last = entries.at(-1);
  const isFinished = last?.kind === 'finished' && nextBlast(plan, entries) === undefined;
  return isFinished ? last.at : undefined;
}

/** Other variants are measured in as many pairs as patched is, and no more. */
function openBlasts({ input, judgement, closed, stopped }: Standing<CellProgress>): BlastTries[] {
  if (stopped) return [];
  const pairs = closed ? (judgement?.look.pairs ?? 0) : input.nextPairs;
  const beside = input.blasts.filter(
    (one) => one.needed && !isOfVerdict(one) && one.blast.runs.every((run) => run.pair <= pairs),
  );
  return closed ? beside : [...input.open, ...beside];
}

function closedCells(plan: Pick<Plan, 'cells' | 'blasts' | 'policy'>, entries: readonly Entry[]) {
  const closed = standings(cellsSoFar(plan, entries), plan.policy).filter(
    (one) => one.closed && openBlasts(one).length === 0,
  );
  return closed.map((standing) => ({
    cell: standing.input.cell,
    verdict: cellVerdict(standing, plan.policy),
    counts: runCounts(
      { ...standing.input, pairs: standing.judgement?.look.pairs ?? standing.input.closedPairs },
      plan.policy.metric,
    ),
  }));
}

/** How many blasts were measured, and how many there will be at most. */
function blastCount(cells: readonly Standing<CellProgress>[]): { done: number; of: number } {
  const blasts = cells.flatMap((cell) => {
    const due = new Set(openBlasts(cell));
    const open = new Set([...cell.input.open, ...due]);
    return cell.input.blasts.map((one) => {
      const isDone = !open.has(one) && one.tries.some(({ kind }) => kind === 'measured');
      const mayCome = cell.closed ? due.has(one) : isOfVerdict(one) || one.needed;
      return { isDone, isAhead: mayCome && !isDone };
    });
  });
  const done = blasts.filter(({ isDone }) => isDone).length;
  return { done, of: done + blasts.filter(({ isAhead }) => isAhead).length };
}

/** `003-forwarding-inet4`, and `003-forwarding-inet4.2` for a second attempt. */
function logFolder(blast: PlannedBlast, attempt: number): string {
  const number = String(blast.number).padStart(3, '0');
  const name = `${number}-${cellName(blast.cell).replaceAll(' ', '-')}`;
  return attempt === 1 ? name : `${name}.${attempt}`;
}

/** What keeps logs in a folder of the work directory. */
export function keepLogIn(directory: string, folder: string): KeepLog {
  return async (name, content) => {
    await mkdir(join(directory, folder), { recursive: true });
    await writeFile(join(directory, folder, name), content);
  };
}
