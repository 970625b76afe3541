// Runs what was planned, writes down each step as it ends, and goes on where an earlier process stopped.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from '../build/variant.ts';
import { type RunCounts, runCounts, type Standing, standings } from '../stats/standing.ts';
import { cellVerdict } from '../stats/verdict.ts';
import type { BlastOutcome, Inspection, KeepLog, Testbed } from '../testbed/testbed.ts';
import { lastLine, reasonOf, shortened } from '../words/one-line.ts';
import type { PlannedBlast } from '../words/planned-blast.ts';
import type { Rejected, Rejection } from '../words/rejection.ts';
import type { CellVerdict } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';
import { isArmName } from '../words/variant-name.ts';
import {
  type Arm,
  buildLogOf,
  type Claim,
  type Company,
  heardBy,
  inWordsOf,
  mayShareBase,
  nextTurn,
  rejectionOf,
  sharedBoots,
  type Turn,
  testbedOf,
} from './arms.ts';
import { type BlastTries, type CellProgress, cellsSoFar, isOfVerdict, leftOutIn } from './cells.ts';
import { type Entry, journalIn, openJournal } from './journal.ts';
import type { Plan } from './plan.ts';
import { type NextProfile, takeProfiles, takeProfilesOfBoot } from './profiles.ts';

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
  /** Absent: nobody else is measured beside. */
  company?: Company;
};

/**
 * Runs every blast that the journal lacks; ends early when nothing can be measured with patched. Any other variant of
 * which that is so is left out from then on. Whoever has come beside is served to the end as well, and what goes wrong
 * there leaves the own patch alone; what goes wrong once that has ended is told and not thrown. Answers the whole journal.
 */
export async function runExperiment(options: ExperimentOptions): Promise<Entry[]> {
  const { directory, plan, testbed, now, onEvent, signal, company } = options;
  const journal = await openJournal(journalIn(directory));
  const at = () => now().toISOString();
  const own: Arm = {
    ...{ name: 'patched', plan, journal, onEvent, signal },
    keepLogIn: (folder) => keepLogIn(directory, folder),
  };
  /** Arms that are measured: who has waited longest since it came, or its patched kernel was booted, comes first. */
  let aboard = [own];
  let isPrepared = false;
  let isOwnEndTold = false;
  const boots = sharedBoots(plan);
  const base = plan.variants.find(({ variant }) => variant === 'base');
  const told = new Set<string>();
  try {
    onEvent({ kind: 'planned', plan });
    const inspection = await testbed.inspect(cellsOf([plan]));
    await begin(own, inspection);
    while (aboard.length > 0) {
      await welcome(inspection);
      await tellOwnEnd();
      signal.throwIfAborted();
      aboard.filter((arm) => arm.signal.aborted).forEach(leave);
      if (!isPrepared) await prepare();
      signal.throwIfAborted();
      const turn = nextTurn(claims(), boots.running());
      const isBootOver = turn?.isSameBoot !== true;
      if (isBootOver && turn !== undefined && boots.running() !== undefined) {
        for (const arm of aboard) {
          await guarded(arm, () => takeProfilesOfBoot(arm.plan, profilesWorld(arm)));
        }
      }
      if (isBootOver) boots.end();
      await endThoseDone(isBootOver);
      // Who has left meanwhile may have been waited for.
      if (turn !== undefined && isPrepared) await measure(turn);
    }
    return journal.entries;
  } catch (error) {
    if (aboard.includes(own)) throw error;
    onEvent({ kind: 'told', text: `The others are measured no more: ${reasonOf(error)}` });
    return journal.entries;
  } finally {
    await journal.close();
  }

  async function begin({ journal, onEvent }: Arm, inspection: Inspection): Promise<void> {
    await journal.append({ kind: 'started', at: at(), ...inspection });
    for (const text of inspection.warnings) onEvent({ kind: 'warning', text });
  }

  async function welcome(inspection: Inspection): Promise<void> {
    if (company === undefined || !lacksSomething(own)) return;
    const come = await company.joined().catch((error: unknown) => {
      onEvent({ kind: 'told', text: `Nobody else is measured beside: ${reasonOf(error)}` });
      return [];
    });
    for (const arm of come) {
      const isNew = isArmName(arm.name) && aboard.every(({ name }) => name !== arm.name);
      if (!isNew || !mayShareBase(plan, arm.plan)) {
        onEvent({ kind: 'told', text: `${arm.name} cannot be measured beside this patch.` });
        continue;
      }
      boots.share();
      aboard = [...aboard, arm];
      isPrepared = false;
      await guarded(arm, async () => {
        arm.onEvent({ kind: 'planned', plan: arm.plan });
        await begin(arm, inspection);
      });
    }
  }

  async function tellOwnEnd(): Promise<void> {
    if (isOwnEndTold || aboard.includes(own)) return;
    isOwnEndTold = true;
    await company?.ownEnded?.(journal.entries);
  }

  /** Asked again without what is rejected. */
  async function prepare(): Promise<void> {
    while (!isPrepared && aboard.length > 0) {
      signal.throwIfAborted();
      isPrepared = true;
      const prepared = await testbed.prepare({
        variants: variantsOf(base, aboard),
        rules: Object.assign({}, ...aboard.map((arm) => arm.plan.rules)),
        cells: cellsOf(aboard.map((arm) => arm.plan)),
        keepLog: keepBuildLog,
        tell,
        signal,
      });
      if (prepared.kind === 'ready') return;
      isPrepared = false;
      await reject(prepared);
    }
  }

  async function keepBuildLog(name: string, content: string | Uint8Array): Promise<void> {
    const { arm, name: ownName } = buildLogOf(name, aboard) ?? { arm: own, name };
    await guarded(arm, () => arm.keepLogIn('builds')(ownName, content));
  }

  function tell(text: string): void {
    for (const arm of heardBy(text, aboard)) {
      const event: ExperimentEvent = { kind: 'preparing', text: inWordsOf(arm, text) };
      if (arm === own) onEvent(event);
      // An abort is seen before the next run.
      else guarded(arm, () => arm.onEvent(event)).catch(() => {});
    }
  }

  /** Nobody waits for the kernel of another while there is something to measure. */
  function claims(): Claim[] {
    const all = aboard.map((arm) => ({ arm, open: openIn(arm.plan, arm.journal.entries).open }));
    const lacking = all.filter(({ open }) => open.length > 0);
    const built = testbed.ready();
    const ready = lacking.filter(({ arm }) => built.has(arm.name));
    return ready.length > 0 ? ready : lacking;
  }

  function lacksSomething(arm: Arm): boolean {
    return aboard.includes(arm) && openIn(arm.plan, arm.journal.entries).open.length > 0;
  }

  /** One whose profiles are taken waits with that for the end of a boot, which others may need yet. */
  async function endThoseDone(isBootOver: boolean): Promise<void> {
    for (const arm of aboard) {
      const isWaiting = arm.plan.profile !== undefined && !isBootOver;
      if (lacksSomething(arm) || isWaiting) continue;
      await guarded(arm, async () => {
        await takeProfiles(arm.plan, profilesWorld(arm));
        await arm.journal.append({ kind: 'finished', at: at() });
      });
      leave(arm);
    }
  }

  async function measure(turn: Turn): Promise<void> {
    const { variant, isSameBoot, served } = turn;
    const [{ arm: first }] = served;
    if (variant === first.name && !isSameBoot) {
      aboard = [...aboard.filter((one) => one !== first), first];
    }
    const tries = served.map(({ arm, next }) => {
      const { cells } = openIn(arm.plan, arm.journal.entries);
      const blast = announcedAs(cells, next);
      return { arm, ...blast, logs: join('blasts', logFolder(blast.blast, blast.attempt)) };
    });
    for (const { arm, logs: _, ...next } of tries) {
      await guarded(arm, () => arm.onEvent({ kind: 'blast', ...next }));
    }
    const keepLog: KeepLog = async (name, content) => {
      for (const { arm, logs } of tries) {
        await guarded(arm, () => arm.keepLogIn(logs)(name, content));
      }
    };
    const outcome = await testbed.blast(boots.planned(turn), keepLog, signal);
    for (const { arm } of tries) {
      for (const warning of outcome.warnings ?? []) {
        const text = inWordsOf(arm, warning);
        await guarded(arm, async () => {
          await arm.journal.append({ kind: 'warned', at: at(), text });
          arm.onEvent({ kind: 'warning', text });
        });
      }
    }
    if (outcome.kind === 'rejected') return reject(outcome);
    for (const { arm, blast, attempt, logs } of tries) {
      const isShared = arm !== first;
      const entry: Entry =
        outcome.kind === 'measured'
          ? {
              kind: 'measured',
              at: at(),
              ...measuredAs(blast, outcome, { attempt, logs, isShared }),
            }
          : {
              kind: 'failed',
              at: at(),
              blast: blast.number,
              reason: inWordsOf(arm, outcome.reason),
            };
      await guarded(arm, async () => {
        await arm.journal.append(entry);
        arm.onEvent({ kind: 'ended', blast, entry });
        tellDecided(arm);
      });
    }
  }

  function tellDecided({ name, plan, journal, onEvent }: Arm): void {
    for (const decided of closedCells(plan, journal.entries)) {
      const key = `${name}: ${cellName(decided.cell)}`;
      if (!told.has(key)) onEvent({ kind: 'decided', ...decided });
      told.add(key);
    }
  }

  async function reject({ variant, rejection }: Rejected): Promise<void> {
    if (variant === 'base') throw new BaseRejectedError(rejection);
    const arm = aboard.find(({ name }) => name === variant);
    if (arm !== undefined) {
      const entry: Entry = {
        ...{ kind: 'rejected', at: at(), variant: 'patched' },
        rejection: rejectionOf(arm, rejection),
      };
      await guarded(arm, () => arm.journal.append(entry));
      leave(arm);
    } else if (!isArmName(variant)) {
      await journal.append({ kind: 'rejected', at: at(), variant, rejection });
      const text = `${variant} ${faults[rejection.kind]} and is left out: ${reasonOf(rejection.message)}`;
      onEvent({ kind: 'warning', text });
    }
  }

  function profilesWorld(arm: Arm): Parameters<typeof takeProfiles>[1] {
    return {
      ...{ profile: arm.plan.profile, testbed: testbedOf(arm, testbed), journal: arm.journal },
      ...{ at, signal },
      keepLogIn: (folder) => (name, content) =>
        guarded(arm, () => arm.keepLogIn(folder)(name, content)),
      onNext(next) {
        arm.signal.throwIfAborted();
        arm.onEvent({ kind: 'profile', ...next });
      },
      warn: (text) => arm.onEvent({ kind: 'warning', text: inWordsOf(arm, text) }),
    };
  }

  /** Another patch than the own is left out where its process cannot take what it is given. */
  async function guarded(arm: Arm, work: () => void | Promise<void>): Promise<void> {
    if (!aboard.includes(arm)) return;
    try {
      await work();
    } catch (error) {
      if (arm === own || signal.aborted) throw error;
      leave(arm);
      onEvent({ kind: 'told', text: `${arm.name} is measured no more: ${reasonOf(error)}` });
    }
  }

  function leave(arm: Arm): void {
    aboard = aboard.filter((one) => one !== arm);
    isPrepared = false;
  }
}

/** What a testbed measured, as an arm's own blast. */
const measuredAs = (
  { number, runs: planned }: PlannedBlast,
  { summary, runs }: Extract<BlastOutcome, { kind: 'measured' }>,
  { attempt, logs, isShared }: { attempt: number; logs: string; isShared: boolean },
): Pick<Extract<Entry, { kind: 'measured' }>, 'summary' | 'runs'> => ({
  summary: { ...summary, number, attempt, logs, ...(isShared && { isShared: true }) },
  runs: runs.map((run) => ({
    ...run,
    ...(planned.length === 1 && planned[0]),
    blast: number,
    attempt,
  })),
});

/** One base for all, and of each arm the others that are left. */
function variantsOf(base: Variant | undefined, aboard: readonly Arm[]): Variant[] {
  const others = aboard.flatMap(({ name, plan, journal }) =>
    variantsLeft(plan, journal.entries)
      .filter(({ variant }) => variant !== 'base')
      .map((one) => (one.variant === 'patched' ? { ...one, variant: name } : one)),
  );
  return [...(base ? [base] : []), ...others];
}

/** Each once. */
const cellsOf = (plans: readonly Plan[]): Cell[] => {
  const cells = plans.flatMap((plan) => plan.cells.map(({ cell }) => cell));
  return [...new Map(cells.map((cell) => [cellName(cell), cell])).values()];
};

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
