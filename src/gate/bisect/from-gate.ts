// Starts a bisection from a gate, with its commits, testbed and worst cell.

import { isCost } from '../../model/metric.ts';
import { type Result, verdictsWorstFirst } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';

/** The gate's runs are no evidence: a false alarm would select them, and levels differ between sessions. */
export type GateFinding = {
  good: string;
  bad: string;
  testbed: string;
  cell: Cell;
  effect?: number;
};

/** Picks the cell with the greatest loss among those of the worst verdict. Throws a `UsageError` if there is none. */
export function gateFindingOf({ outcome, variants, testbed }: Result): GateFinding {
  const commitOf = (name: string) => variants.find((variant) => variant.name === name)?.commit;
  const [good, bad] = [commitOf('base'), commitOf('patched')];
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const [worst] = cells.toSorted((a, b) => rankOf(a) - rankOf(b) || lossOf(b) - lossOf(a));
  if (worst === undefined || good === undefined || bad === undefined) {
    throw new UsageError('--from: that gate judged no cell, so there is no change to find: name another result.');
  }
  const { cell, comparisons } = worst;
  const effect = comparisons[0]?.interval.change;
  const known = effect === undefined || effect === 0 ? {} : { effect };
  return { good, bad, testbed: testbed.name, cell, ...known };
}

type JudgedCell = Extract<Result['outcome'], { kind: 'judged' }>['cells'][number];

const rankOf = ({ verdict }: JudgedCell): number => verdictsWorstFirst.indexOf(verdict.kind);

const lossOf = ({ comparisons: [known] }: JudgedCell): number => {
  const change = known?.interval.change ?? 0;
  return known !== undefined && isCost(known.metric) ? change : -change;
};
