// Runs a plan, journals each step, and continues from where an earlier process stopped.
import type { Testbed, TrialOutcome } from '../../lab/testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { PlannedTrial } from '../../model/planned-trial.ts';
import type { Rejected } from '../../model/rejection.ts';
import { cellName } from '../../model/scenario.ts';
import { variantsLeft } from './cells.ts';
import type { ExperimentEvent } from './experiment-event.ts';
import { type Journal, type JournalEntry, journalIn, openJournal } from './journal.ts';
import { keepLogIn, trialFolder } from './log-folders.ts';
import { decidedCells, type NextTrial, nextTrial } from './next-trial.ts';
import type { Plan } from './plan.ts';
import { type ProfilesDeps, takeProfiles, takeProfilesOfBoot } from './profiles.ts';
import { BaseRejectedError, faultOf } from './rejection-message.ts';

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
  decided: Set<string>;
};

/** Returns the whole journal. Ends early if patched cannot be measured; omits any other such variant. */
export async function runExperiment(options: ExperimentOptions): Promise<JournalEntry[]> {
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

/** Prepares all remaining variants. False if patched is rejected. */
async function prepare(experiment: Experiment): Promise<boolean> {
  const { directory, plan, testbed, journal, onEvent, signal } = experiment;
  for (;;) {
    signal.throwIfAborted();
    const prepared = await testbed.prepare({
      variants: variantsLeft(plan, journal.entries),
      rules: plan.rules,
      cells: plan.cells.map(({ cell }) => cell),
      keepLog: keepLogIn(directory, 'builds'),
      notify: (text) => onEvent({ kind: 'preparing', text }),
      signal,
    });
    if (prepared.kind === 'ready') return true;
    if (!(await goesOnWithout(prepared, experiment))) return false;
  }
}

/** Measures until no cell needs a trial. False if patched is rejected. */
async function measureAll(experiment: Experiment): Promise<boolean> {
  const { plan, journal, signal } = experiment;
  let boot: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const next = nextTrial(plan, journal.entries);
    if (next === undefined) return true;
    const isOtherBoot = boot !== undefined && boot !== bootOf(next.trial);
    if (isOtherBoot) await takeProfilesOfBoot(plan, profilesDeps(experiment));
    boot = bootOf(next.trial);
    if (!(await measure(next, experiment))) return false;
  }
}

/** Identifies a boot: booted variants run one per trial, and a boot serves all cells of a pair. */
const bootOf = ({ runs: [run] }: PlannedTrial): string => `${run?.variant} ${run?.pair}`;

/** False if patched is rejected. */
async function measure(next: NextTrial, experiment: Experiment): Promise<boolean> {
  const { directory, testbed, journal, at, onEvent, signal } = experiment;
  const { trial, attempt } = next;
  const logs = trialFolder(trial, attempt);
  onEvent({ kind: 'trial', ...next });
  const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
  for (const text of outcome.warnings ?? []) {
    await journal.append({ kind: 'warned', at: at(), text });
    onEvent({ kind: 'warning', text });
  }
  if (outcome.kind === 'rejected') return goesOnWithout(outcome, experiment);
  const entry: JournalEntry =
    outcome.kind === 'measured'
      ? { kind: 'measured', at: at(), ...measuredAs(trial, outcome, { attempt, logs }) }
      : { kind: 'failed', at: at(), trial: trial.number, reason: outcome.reason };
  await journal.append(entry);
  onEvent({ kind: 'ended', trial, entry });
  reportDecided(experiment);
  return true;
}

function reportDecided({ plan, journal, decided, onEvent }: Experiment): void {
  for (const one of decidedCells(plan, journal.entries)) {
    const name = cellName(one.cell);
    if (!decided.has(name)) onEvent({ kind: 'decided', ...one });
    decided.add(name);
  }
}

async function finish(experiment: Experiment): Promise<void> {
  await takeProfiles(experiment.plan, profilesDeps(experiment));
  await experiment.journal.append({ kind: 'finished', at: experiment.at() });
}

/** Journals the rejection of a variant. False if it is patched; throws if it is base. */
async function goesOnWithout({ variant, rejection }: Rejected, { journal, at, onEvent }: Experiment): Promise<boolean> {
  if (variant === 'base') throw new BaseRejectedError(rejection);
  await journal.append({ kind: 'rejected', at: at(), variant, rejection });
  if (variant === 'patched') return false;
  const text = `${variant} ${faultOf(rejection)} and is left out: ${reasonOf(rejection.message)}`;
  onEvent({ kind: 'warning', text });
  return true;
}

const profilesDeps = (experiment: Experiment): ProfilesDeps => {
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

const measuredAs = (
  { number, runs: planned }: PlannedTrial,
  { summary, runs }: Extract<TrialOutcome, { kind: 'measured' }>,
  { attempt, logs }: { attempt: number; logs: string },
): Pick<Extract<JournalEntry, { kind: 'measured' }>, 'summary' | 'runs'> => ({
  summary: { ...summary, number, attempt, logs },
  runs: runs.map((run) => ({
    ...run,
    ...(planned.length === 1 && planned[0]),
    trial: number,
    attempt,
  })),
});
