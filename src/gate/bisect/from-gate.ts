// Starts a bisection from a gate: its worst cell, and the runs measured there.
import type { Traffic } from '../../config/schema.ts';
import { isCost, type Result, type Run, verdictsWorstFirst } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { CommitRange } from './range.ts';

export type GateRuns = {
  good: string;
  bad: string;
  testbed: string;
  cell: Cell;
  traffic: Result['traffic'];
  effect?: number;
  runs: Run[];
};

/** Picks the cell with the greatest loss among those of the worst verdict; throws a `UsageError` without one. */
export function gateRunsOf({ outcome, variants, testbed, traffic }: Result): GateRuns {
  const commitOf = (name: string) => variants.find((variant) => variant.name === name)?.commit;
  const [good, bad] = [commitOf('base'), commitOf('patched')];
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const [worst] = cells.toSorted((a, b) => rankOf(a) - rankOf(b) || lossOf(b) - lossOf(a));
  if (worst === undefined || good === undefined || bad === undefined) {
    throw new UsageError(
      '--from: that gate has judged no cell, so there is no change to be found: name another result.',
    );
  }
  const { cell, comparisons, runs } = worst;
  const effect = comparisons[0]?.interval.change;
  const told = effect === undefined || effect === 0 ? {} : { effect };
  return { good, bad, testbed: testbed.name, cell, traffic, ...told, runs };
}

type JudgedCell = Extract<Result['outcome'], { kind: 'judged' }>['cells'][number];

const rankOf = ({ verdict }: JudgedCell): number => verdictsWorstFirst.indexOf(verdict.kind);

const lossOf = ({ comparisons: [told] }: JudgedCell): number => {
  const change = told?.interval.change ?? 0;
  return told !== undefined && isCost(told.metric) ? change : -change;
};

/** Returns a gate's runs of both ends if it measured these on the same testbed and traffic; else none. */
export function reproductionOf(
  from: GateRuns | undefined,
  asked: { testbed: string; cell: Cell; traffic: Traffic; range: CommitRange },
): Run[] {
  const ends = [asked.range.revisions.at(0), asked.range.revisions.at(-1)];
  const commits = ends.map((end) => end?.forms[0]?.commit);
  const isSame =
    from !== undefined &&
    from.testbed === asked.testbed &&
    cellName(from.cell) === cellName(asked.cell) &&
    from.good === commits[0] &&
    from.bad === commits[1] &&
    trafficKeys.every((key) => from.traffic[key] === asked.traffic[key]);
  if (!isSame) return [];
  return from.runs.filter(({ variant }) => variant === 'base' || variant === 'patched');
}

const trafficKeys = ['flows', 'frameBytes', 'offeredPps', 'measureSeconds'] as const;
