// Profiles every variant once in every judged cell, in boots that happen anyway or after all measurements.
import { join } from 'node:path';
import { type InterimResult, interimResults } from '../../analysis/stats/interim-result.ts';
import type { KeepLog, Testbed } from '../../lab/testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { CellProfile } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { withoutPaths } from '../../model/without-paths.ts';
import { cellsSoFar, variantsLeft } from './cells.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Plan } from './plan.ts';

export type NextProfile = { cell: Cell; variant: string; attempt: number };

export type ProfilesDeps = {
  profile: Plan['profile'];
  testbed: Testbed;
  journal: Pick<Journal, 'entries' | 'append'>;
  /** `folder` is relative to the result file. */
  keepLogIn(folder: string): KeepLog;
  at(): string;
  onNext(next: NextProfile): void;
  warn(text: string): void;
  signal: AbortSignal;
};

export const takeProfiles = (plan: Plan, deps: ProfilesDeps): Promise<void> =>
  takeProfilesOf(deps, (entries) => nextProfile(plan, entries));

/** Takes profiles until none is missing. If the testbed fails, skips the rest: the measurements stay valid. */
export async function takeProfilesOf(
  deps: ProfilesDeps,
  nextOf: (entries: readonly JournalEntry[]) => NextProfile | undefined,
): Promise<void> {
  const { journal, warn } = deps;
  for (;;) {
    const next = nextOf(journal.entries);
    if (next === undefined) return;
    const failure = await take(next, deps);
    if (failure !== undefined) {
      warn(`profiling is switched off: ${failure}`);
      return;
    }
  }
}

/** Runs at the end of a variant's boot. Missed profiles get another chance in a later boot, or at the end. */
export async function takeProfilesOfBoot(plan: Plan, deps: ProfilesDeps): Promise<void> {
  const { testbed, journal, warn } = deps;
  const variant = testbed.booted();
  if (variant === undefined) return;
  for (const next of missingProfiles(plan, journal.entries, measuredCells(plan, journal.entries, variant), variant)) {
    if (testbed.booted() !== variant) return;
    const failure = await take(next, deps);
    if (failure !== undefined) {
      warn(`no profile in this boot of ${variant}: ${failure}`);
      return;
    }
  }
}

/** Journals the outcome. Returns the reason if the testbed failed. */
async function take(
  next: NextProfile,
  { profile: wanted, testbed, journal, keepLogIn, at, onNext, signal }: ProfilesDeps,
): Promise<string | undefined> {
  signal.throwIfAborted();
  if (wanted === undefined) return undefined;
  onNext(next);
  const { cell, variant } = next;
  const folder = folderOf(next);
  try {
    const request = { ...next, ...wanted };
    const outcome = await testbed.profile(request, keepLogIn(folder), signal);
    const profile: CellProfile =
      outcome.kind === 'profiled'
        ? {
            ...withoutLog(outcome),
            variant,
            seconds: wanted.seconds,
            file: `${folder}/${outcome.log}`,
          }
        : { kind: 'missing', variant, reason: outcome.reason };
    const isFinal = outcome.kind !== 'missed';
    await journal.append({ kind: 'profiled', at: at(), cell, profile, isFinal });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    const profile: CellProfile = { kind: 'missing', variant, reason: withoutPaths(reason) };
    await journal.append({ kind: 'profiled', at: at(), cell, profile, isFinal: false });
    return reason;
  }
}

function withoutLog<Taken extends { log: string }>({ log: _, ...rest }: Taken) {
  return rest;
}

const maxAttempts = 3;

/** Proceeds by variant, as each may need a boot; starts with the variant that ran last. */
function nextProfile(plan: Plan, entries: readonly JournalEntry[]): NextProfile | undefined {
  const cells = interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, stopped, input }) =>
    stopped || !isTimed(judgement) ? [] : input.cell,
  );
  return variantsInOrder(plan, entries)
    .flatMap((variant) => missingProfiles(plan, entries, cells, variant))
    .at(0);
}

/** Missing profiles of the variant, except those tried often enough, or impossible on this machine. */
export function missingProfiles(
  { profile }: Pick<Plan, 'profile'>,
  entries: readonly JournalEntry[],
  cells: readonly Cell[],
  variant: string,
): NextProfile[] {
  if (profile === undefined || impossibleOf(entries, variant) !== undefined) return [];
  return cells.flatMap((cell) => {
    const tries = triesOf(entries, cell, variant);
    const isOver = tries.length >= maxAttempts || tries.some(({ isFinal }) => isFinal);
    return isOver ? [] : { cell, variant, attempt: tries.length + 1 };
  });
}

/** None unless profiles were requested. */
export function profilesOf(plan: Plan, entries: readonly JournalEntry[], cell: Cell): CellProfile[] {
  const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
  if (plan.profile === undefined || !isJudged) return [];
  return variantsLeft(plan, entries).map(({ variant }) => profileOf(entries, cell, variant));
}

export const profileOf = (entries: readonly JournalEntry[], cell: Cell, variant: string): CellProfile =>
  triesOf(entries, cell, variant).at(-1)?.profile ??
  impossibleOf(entries, variant)?.profile ?? {
    kind: 'missing',
    variant,
    reason: 'the experiment ended before',
  };

/** Profiles explain nothing about packets that are not forwarded. */
const isTimed = (judgement: InterimResult['judgement']): boolean => judgement?.evidence !== undefined;

const judgedCells = (plan: Plan, entries: readonly JournalEntry[]): Cell[] =>
  interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) =>
    isTimed(judgement) ? input.cell : [],
  );

/** Cells with a valid run of the variant that have, or will have, a verdict. */
const measuredCells = (plan: Plan, entries: readonly JournalEntry[], variant: string): Cell[] =>
  interimResults(cellsSoFar(plan, entries), plan.policy).flatMap((interim) => {
    const { judgement, closed, stopped, input } = interim;
    const isMeasured = input.runs.some((run) => run.variant === variant && run.validity.kind === 'valid');
    const isWanted = !stopped && (isTimed(judgement) || !closed);
    return isMeasured && isWanted ? input.cell : [];
  });

function variantsInOrder(plan: Plan, entries: readonly JournalEntry[]): string[] {
  const runs = entries.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : []));
  const last = runs.at(-1)?.variant;
  const left = variantsLeft(plan, entries).map(({ variant }) => variant);
  return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}

type ProfileAttempt = Extract<JournalEntry, { kind: 'profiled' }>;

const triesOf = (entries: readonly JournalEntry[], cell: Cell, variant: string): ProfileAttempt[] =>
  entries.flatMap((entry) =>
    entry.kind === 'profiled' && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell)
      ? entry
      : [],
  );

/** Returns the reason why a machine can take no profile, which is the same for all cells. */
const impossibleOf = (entries: readonly JournalEntry[], variant: string): ProfileAttempt | undefined =>
  entries
    .filter((entry) => entry.kind === 'profiled')
    .find(({ profile, isFinal }) => profile.kind === 'missing' && profile.variant === variant && isFinal);

/** `profiles/forwarding-inet4-base`; for a second attempt, `profiles/forwarding-inet4-base.2`. */
function folderOf({ cell, variant, attempt }: NextProfile): string {
  const name = `${cellName(cell)}-${variant}`.replaceAll(' ', '-');
  return join('profiles', attempt === 1 ? name : `${name}.${attempt}`);
}
