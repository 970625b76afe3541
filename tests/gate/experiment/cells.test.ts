import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import { nextTrial } from '../../../src/gate/experiment/next-trial.ts';
import type { Plan } from '../../../src/gate/experiment/plan.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Run } from '../../../src/model/result.ts';
import { isJudged } from '../../../src/model/variant-name.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { aRun, aTrial, unfit } from '../../fakes/result.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';
import { times } from '../../random.ts';

const at = '2026-11-20T12:00:00.000Z';
const { signal } = new AbortController();

type Fate = 'measured' | 'failed' | 'unfit' | 'unfit beside' | 'idle' | 'idle but beside';

const fates = fc.array(
  fc.constantFrom<Fate>(
    ...(['measured', 'measured', 'failed', 'unfit', 'unfit beside'] as const),
    ...(['idle', 'idle but beside'] as const),
  ),
  {
    minLength: 30,
    maxLength: 30,
  },
);
const rejectedDiff = fc.option(fc.record({ variant: fc.constantFrom('diff 80345', 'diff 80654'), trial: fc.nat(60) }), {
  nil: undefined,
});
const story = fc.record({
  plan: fc.constantFrom(aPlanOfFour(), aPlanOfFour(singleRuns)),
  seed: fc.nat(1000),
  speed: fc.constantFrom(0.9, 0.97, 1, 1.05),
  fates,
  rejectedDiff,
  /** The number of trials sent. */
  cut: fc.nat(80),
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs an experiment by `nextTrial`, whose trials meet these fates in turn, cut after `cut` trials. */
async function journalOf({ plan, seed, speed, fates, rejectedDiff, cut }: Story): Promise<JournalEntry[]> {
  const testbed = fakeTestbed({ seed, noise: 0.02, speed: () => speed });
  const entries: JournalEntry[] = [{ kind: 'started', at, fingerprint: {}, warnings: [] }];
  for (let sent = 0; sent < cut; sent += 1) {
    const next = nextTrial(plan, entries);
    if (next === undefined) return entries;
    const { trial, attempt } = next;
    if (rejectedDiff !== undefined && sent === rejectedDiff.trial) {
      const rejection = { kind: 'build-failed', message: 'x' } as const;
      entries.push({ kind: 'rejected', at, variant: rejectedDiff.variant, rejection });
      continue;
    }
    const fate = fates[sent % fates.length] ?? 'measured';
    entries.push(await entryOf(trial, attempt, fate, testbed));
  }
  return entries;
}

async function entryOf(
  trial: PlannedTrial,
  attempt: number,
  fate: Fate,
  testbed: ReturnType<typeof fakeTestbed>,
): Promise<JournalEntry> {
  const outcome = await testbed.trial(trial, async () => {}, signal);
  if (fate === 'failed' || outcome.kind !== 'measured') {
    return { kind: 'failed', at, trial: trial.number, reason: 'trafgen ended' };
  }
  return {
    kind: 'measured',
    at,
    summary: { ...outcome.summary, attempt, logs: '' },
    runs: outcome.runs.map((run) => ({ ...run, attempt, ...spoilt(fate, run.variant) })),
  };
}

function spoilt(fate: Fate, variant: string): Partial<Run> {
  if (fate === 'unfit' || (fate === 'unfit beside' && !isJudged(variant))) {
    return { validity: unfit('a hole') };
  }
  const isIdle = fate === 'idle' || (fate === 'idle but beside' && isJudged(variant));
  return isIdle ? { validity: unfit('idle', 'generator-limited') } : {};
}

/** Faults by variant. */
type Fault = Record<string, Partial<Run>>;

/**
 * Runs an experiment by `nextTrial`, in which the tries of trial 1 have these faults and all else succeeds.
 *
 * @param between follows each trial in the journal
 * @returns the trials in their order, each as `trial.attempt`
 */
function sentTrials(plan: Plan, faults: readonly Fault[], between: readonly JournalEntry[] = []): string[] {
  const entries: JournalEntry[] = [];
  const sent: string[] = [];
  for (;;) {
    const next = nextTrial(plan, entries);
    if (next === undefined) return sent;
    const { trial, attempt } = next;
    const { number, cell, runs } = trial;
    sent.push(`${number}.${attempt}`);
    const fault = number === 1 ? (faults[attempt - 1] ?? {}) : {};
    const summary = aTrial({ number, attempt, cell });
    const pps = 8e5 + number;
    const measured = runs.map((run) => aRun({ ...run, trial: number, attempt, pps, ...fault[run.variant] }));
    entries.push({ kind: 'measured', at, summary, runs: measured }, ...between);
  }
}

/** The plan and journal without the earlier diffs. */
function withoutOthers(plan: Plan, entries: readonly JournalEntry[]): [Plan, JournalEntry[]] {
  const keep = <Runs extends { variant: string }>(runs: Runs[]) => runs.filter(({ variant }) => isJudged(variant));
  const trials = plan.trials
    .map((trial) => ({ ...trial, runs: keep(trial.runs) }))
    .filter(({ runs }) => runs.length > 0);
  const numbers = new Set(trials.map(({ number }) => number));
  const journal = entries.flatMap((entry): JournalEntry[] => {
    if (entry.kind === 'rejected') return [];
    if (entry.kind === 'failed') return numbers.has(entry.trial) ? [entry] : [];
    if (entry.kind !== 'measured') return [entry];
    const runs = keep(entry.runs);
    return runs.length > 0 ? [{ ...entry, runs }] : [];
  });
  return [{ ...plan, trials, variants: keep(plan.variants) }, journal];
}

describe('a variant shown beside patched', () => {
  test('influences no verdict, for any outcome and any end of the experiment', async () => {
    const decisive = async (one: Story) => {
      const entries = await journalOf(one);
      const judged = (plan: Plan, journal: readonly JournalEntry[]) => {
        const { outcome } = assembleResult(plan, journal);
        if (outcome.kind !== 'judged') return outcome;
        return outcome.cells.map(({ runs: _runs, others: _others, ...rest }) => rest);
      };
      expect(judged(one.plan, entries)).toEqual(judged(...withoutOthers(one.plan, entries)));
    };
    await fc.assert(fc.asyncProperty(story, decisive), { numRuns: times(20) });
  });

  test('is not why a cell of base and patched is invalid', () => {
    const plan = aPlanOfFour(singleRuns);
    const failed = (variant: string, times: number, reason: string) =>
      plan.trials
        .filter(({ runs }) => runs.some((run) => run.variant === variant && run.pair <= 3))
        .flatMap(({ number }) => new Array<JournalEntry>(times).fill({ kind: 'failed', at, trial: number, reason }));
    const { outcome } = assembleResult(plan, [
      ...failed('diff 80345', 1, 'an earlier diff did not boot'),
      ...failed('diff 80654', 1, 'an earlier diff did not boot'),
      ...failed('patched', 1, 'a cable is loose'),
    ]);
    const reason = '0 of 2 pairs of runs count: a cable is loose';
    expect(outcome).toMatchObject({ cells: [{ verdict: { kind: 'invalid', reason } }] });
  });

  test('is measured once, not again where it is left out, and no trial more than three times', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (one) => {
        const entries = await journalOf({ ...one, cut: 1000 });
        expect(nextTrial(one.plan, entries)).toBeUndefined();
        const tried = entries.flatMap((entry) =>
          entry.kind === 'measured' ? entry.summary.number : entry.kind === 'failed' ? entry.trial : [],
        );
        for (const [number, { length }] of Map.groupBy(tried, (one) => one)) {
          const trial = one.plan.trials.find((planned) => planned.number === number);
          const isBeside = trial?.runs.every(({ variant }) => !isJudged(variant));
          expect(length).toBeLessThanOrEqual(isBeside ? 1 : 3);
        }
        const from = entries.findIndex(({ kind }) => kind === 'rejected');
        const runs = entries.flatMap((entry, at) => (entry.kind === 'measured' && at > from ? entry.runs : []));
        if (from >= 0) expect(runs.map(({ variant }) => variant)).not.toContain(one.rejectedDiff?.variant);
      }),
      { numRuns: times(20) },
    );
  });
});

describe('a trial of one pair, as where base and patched boot side by side', () => {
  const onePair = { traffic: { ...singleRuns.traffic, runsPerTrial: 2 }, gate: singleRuns.gate };
  const plan = aPlan(onePair);

  const attempts = (...faults: readonly Fault[]): number =>
    sentTrials(plan, faults).filter((sent) => sent.startsWith('1.')).length;

  test.for<[string, Fault]>([
    ['base lets nothing through', { base: { pps: 0 } }],
    ['neither lets anything through', { base: { pps: 0 }, patched: { pps: 0 } }],
    ['a run does not count', { base: { validity: unfit('a hole') } }],
  ])('is sent again where %s, up to three times', ([, fault]) => {
    expect(attempts(fault)).toBe(2);
    expect(attempts(fault, fault)).toBe(3);
    expect(attempts(fault, fault, fault, fault)).toBe(3);
  });

  test('is sent again where patched lets nothing through, and no third time: twice is enough to blame it', () => {
    const fault = { patched: { pps: 0 } };
    expect(attempts(fault)).toBe(2);
    expect(attempts(fault, fault, fault)).toBe(2);
  });
});

describe('a trial of one run, which needs a boot of its variant', () => {
  const plan = aPlan(singleRuns);

  const validity = unfit('a hole');
  const invalid = { base: { validity }, patched: { validity } };

  test('is repeated at once where its run does not count, while the variant is still booted', () => {
    expect(sentTrials(plan, [invalid]).slice(0, 3)).toEqual(['1.1', '1.2', '2.1']);
  });

  test('is not repeated a second time in one boot, which may be the fault', () => {
    expect(sentTrials(plan, [invalid, invalid]).slice(0, 4)).toEqual(['1.1', '1.2', '2.1', '3.1']);
  });

  test('is repeated after the others if the testbed was reopened', () => {
    const started: JournalEntry = { kind: 'started', at, fingerprint: {}, warnings: [] };
    expect(sentTrials(plan, [invalid], [started]).slice(0, 2)).toEqual(['1.1', '2.1']);
  });
});
