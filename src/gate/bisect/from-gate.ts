// A bisection that begins where a gate has ended: at its worst cell, with what it has measured there.
import type { Traffic } from '../../config/schema.ts';
import { isCost, type Result, type Run, verdictsWorstFirst } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { CommitRange } from './range.ts';

export type GateRuns = {
  /** Commits of base and patched. */
  good: string;
  bad: string;
  testbed: string;
  cell: Cell;
  traffic: Result['traffic'];
  /** The change of patched, as a ratio, where one was told. */
  effect?: number;
  runs: Run[];
};

/** The cell of a gate that lost the most, of those with the worst verdict; throws a `UsageError` where there is none. */
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

/** A gate's runs of both ends where it measured just those, on the same testbed under the same traffic; else none. */
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
