// A single cell, judged by a design with one analysis of all its pairs.

import { type CellRuns, interimResults } from '../../src/analysis/stats/interim-result.ts';
import { cellResult } from '../../src/analysis/stats/verdict.ts';
import type { CellResult, Policy, Run } from '../../src/model/result.ts';
import type { Cell } from '../../src/model/scenario.ts';
import { isJudged } from '../../src/model/variant-name.ts';
import { forwarding, policy } from './result.ts';

/** Complete paired runs, with a test's changes. */
export const cellRuns = (runs: Run[], changes: Partial<CellRuns> = {}): CellRuns & { cell: Cell } => {
  const pairs = Math.max(1, ...runs.map((run) => run.pair));
  return {
    cell: forwarding,
    design: { name: 'fixed', budgets: [pairs], pairsPerStep: pairs, method: 'paired' },
    runs,
    closedPairs: pairs,
    failures: [],
    ...changes,
  };
};

/** Pooled single runs. */
export const singleRunDesign: CellResult['design'] = {
  name: 'group-sequential',
  budgets: [20],
  pairsPerStep: 1,
  method: 'pooled',
};

export function judgeCell(
  runs: Run[],
  policyChanges: Partial<Policy> = {},
  changes: Partial<CellRuns> = {},
): CellResult {
  const rules = { ...policy, ...policyChanges };
  const [interim] = interimResults([cellRuns(runs, changes)], rules);
  if (interim === undefined) throw new Error('One cell has one interim result.');
  const others = [...new Set(runs.map(({ variant }) => variant))].filter((name) => !isJudged(name));
  return cellResult(interim, rules, [], others);
}
