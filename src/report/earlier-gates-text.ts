// Reports the value of a verdict after earlier gates of the same commits: gating until green would pass a loss.

import { formatNumeral, formatOrdinal, formatPercent } from '../model/format.ts';
import type { CellResult, EarlierGates, Result } from '../model/result.ts';

/** `; third gate of this commit, an earlier one red`; empty for a first gate. */
export function gateNumberText(result: Pick<Result, 'outcome'>): string {
  const earlier = greaterOf(cellsOf(result));
  if (earlier === undefined) return '';
  const isUndone = verdictOf(result) !== 'regression' && earlier.regressions > 0;
  return `; ${gateOf(earlier)}${isUndone ? ', an earlier one red' : ''}`;
}

/** Trusted plain sentences; undefined for a first gate. */
export function earlierGatesText(result: Pick<Result, 'outcome' | 'policy'>): string | undefined {
  const cells = cellsOf(result);
  const earlier = greaterOf(cells);
  if (earlier === undefined) return undefined;
  const again = cells.filter((cell) => cell.earlierGates?.count === earlier.count);
  const where = again.length < cells.length ? ` in ${again.length} of ${cells.length} cells` : '';
  const gate = capitalized(gateOf(earlier));
  const verdict = verdictOf(result);
  return `${gate} on this testbed${where}: ${worthOf(result, earlier)}.${earlierRedText(earlier, verdict)}`;
}

const cellsOf = ({ outcome }: Pick<Result, 'outcome'>): CellResult[] =>
  outcome.kind === 'judged' ? outcome.cells : [];

const verdictOf = ({ outcome }: Pick<Result, 'outcome'>) => (outcome.kind === 'judged' ? outcome.verdict : undefined);

/** Returns the largest numbers of all cells. */
function greaterOf(cells: readonly CellResult[]): EarlierGates | undefined {
  const all = cells.flatMap(({ earlierGates }) => earlierGates ?? []);
  if (all.length === 0) return undefined;
  return {
    count: Math.max(...all.map(({ count }) => count)),
    regressions: Math.max(...all.map(({ regressions }) => regressions)),
  };
}

const gateOf = ({ count }: EarlierGates): string => `${formatOrdinal(count + 1)} gate of this commit`;

/** Probability over independent gates: 1 − (1 − rate)ⁿ. */
const inAny = (rate: number, gates: number): string => formatPercent(-Math.expm1(gates * Math.log1p(-rate)));

function worthOf({ outcome, policy }: Pick<Result, 'outcome' | 'policy'>, { count }: EarlierGates) {
  const { marginRatio, missRatio, falseAlarmRatio } = policy;
  const gates = count + 1;
  const so = `${formatNumeral(gates)} gates`;
  switch (verdictOf({ outcome })) {
    case 'improvement':
    case 'no-regression':
      return `${so} pass a true loss of ${formatPercent(marginRatio)} in up to ${inAny(missRatio, gates)}`;
    case 'regression':
      return `${so} of a patch that loses nothing find a regression in up to ${inAny(falseAlarmRatio, gates)}`;
    default:
      return 'to extend a gate keeps its error rates, another gate does not';
  }
}

function earlierRedText({ count, regressions }: EarlierGates, verdict: string | undefined): string {
  if (regressions === 0) return '';
  const subject = count === 1 ? 'The earlier one' : `${capitalized(formatNumeral(regressions))} of the earlier ones`;
  return verdict === 'regression'
    ? ` ${subject} found a regression as well.`
    : ` ${subject} found a regression, which this verdict does not undo.`;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
