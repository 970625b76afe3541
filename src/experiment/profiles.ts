// Where the time goes: one profile of every variant in every cell that was judged, taken after all that is measured.
import { join } from 'node:path';
import { standings } from '../stats/standing.ts';
import type { KeepLog, Testbed } from '../testbed/testbed.ts';
import { reasonOf } from '../words/one-line.ts';
import type { CellProfile } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';
import { withoutPaths } from '../words/without-paths.ts';
import { cellsSoFar, leftOutIn } from './cells.ts';
import type { Entry, Journal } from './journal.ts';
import type { Plan } from './plan.ts';

export type NextProfile = { cell: Cell; variant: string; attempt: number };

type ProfilesWorld = {
  plan: Plan;
  testbed: Testbed;
  journal: Journal;
  /** What keeps the logs of one profile in a folder relative to the result file. */
  keepLogIn(folder: string): KeepLog;
  at(): string;
  onNext(next: NextProfile): void;
  warn(text: string): void;
  signal: AbortSignal;
};

/** Takes every profile that the journal lacks. Where the testbed fails the rest are not taken: what was measured stands. */
export async function takeProfiles(world: ProfilesWorld): Promise<void> {
  const { plan, testbed, journal, keepLogIn, at, onNext, warn, signal } = world;
  for (;;) {
    signal.throwIfAborted();
    const next = nextProfile(plan, journal.entries);
    if (next === undefined || plan.profile === undefined) return;
    onNext(next);
    const { cell, variant } = next;
    const folder = folderOf(next);
    try {
      const request = { ...next, ...plan.profile };
      const outcome = await testbed.profile(request, keepLogIn(folder), signal);
      const profile: CellProfile =
        outcome.kind === 'profiled'
          ? {
              ...withoutLog(outcome),
              ...{ variant, seconds: plan.profile.seconds, file: `${folder}/${outcome.log}` },
            }
          : { kind: 'missing', variant, reason: outcome.reason };
      const isFinal = outcome.kind !== 'missed';
      await journal.append({ kind: 'profiled', at: at(), cell, profile, isFinal });
    } catch (error) {
      signal.throwIfAborted();
      const reason = reasonOf(error);
      const profile: CellProfile = { kind: 'missing', variant, reason: withoutPaths(reason) };
      await journal.append({ kind: 'profiled', at: at(), cell, profile, isFinal: false });
      warn(`no more profiles are taken: ${reason}`);
      return;
    }
  }
}

function withoutLog<Taken extends { log: string }>({ log: _, ...rest }: Taken) {
  return rest;
}

const mostAttempts = 3;

/** Variant by variant, as each may have to be booted; the one that ran last comes first. */
function nextProfile(plan: Plan, entries: readonly Entry[]): NextProfile | undefined {
  if (plan.profile === undefined) return undefined;
  const cells = judgedCells(plan, entries);
  const wanted = variantsInOrder(plan, entries).flatMap((variant) =>
    cells.map((cell) => ({ cell, variant, tries: triesOf(entries, cell, variant) })),
  );
  const next = wanted.find(
    ({ tries }) => tries.length < mostAttempts && !tries.some(({ isFinal }) => isFinal),
  );
  return next && { cell: next.cell, variant: next.variant, attempt: next.tries.length + 1 };
}

/** What came of each variant's profile in a cell; none where none were to be taken. */
export function profilesOf(plan: Plan, entries: readonly Entry[], cell: Cell): CellProfile[] {
  const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
  if (plan.profile === undefined || !isJudged) return [];
  return variantsLeft(plan, entries).map((variant) => {
    const last = triesOf(entries, cell, variant).at(-1);
    return last?.profile ?? { kind: 'missing', variant, reason: 'the experiment ended before' };
  });
}

const judgedCells = (plan: Plan, entries: readonly Entry[]): Cell[] =>
  standings(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) =>
    judgement === undefined ? [] : input.cell,
  );

function variantsLeft({ variants }: Plan, entries: readonly Entry[]): string[] {
  const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
  return variants.map(({ variant }) => variant).filter((variant) => !out.has(variant));
}

function variantsInOrder(plan: Plan, entries: readonly Entry[]): string[] {
  const runs = entries.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : []));
  const last = runs.at(-1)?.variant;
  const left = variantsLeft(plan, entries);
  return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}

type Try = Extract<Entry, { kind: 'profiled' }>;

const triesOf = (entries: readonly Entry[], cell: Cell, variant: string): Try[] =>
  entries.flatMap((entry) =>
    entry.kind === 'profiled' &&
    entry.profile.variant === variant &&
    cellName(entry.cell) === cellName(cell)
      ? entry
      : [],
  );

/** `profiles/forwarding-inet4-base`, and `profiles/forwarding-inet4-base.2` for a second attempt. */
function folderOf({ cell, variant, attempt }: NextProfile): string {
  const name = `${cellName(cell)}-${variant}`.replaceAll(' ', '-');
  return join('profiles', attempt === 1 ? name : `${name}.${attempt}`);
}
