// The verdict in one line, for someone who reads nothing else.

import { formatPercent } from '../words/format.ts';
import { patchName } from '../words/patch.ts';
import type { Rejection } from '../words/rejection.ts';
import type { CellResult, CellVerdict, Result } from '../words/result.ts';
import { cellName } from '../words/scenario.ts';

export const symbols: Record<CellVerdict['kind'], string> = {
  regression: '🔴',
  improvement: '🟢',
  'no-regression': '🟢',
  inconclusive: '🟡',
  invalid: '⚪',
};

/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; plain text of our own making, without markup. */
export function headline(result: Result): string {
  const { symbol, text } = sentence(result);
  return `${symbol} ppsgate: ${patchName(result.patch)} ${text}`;
}

/** The same where it stands under ppsgate's name already: `🔴 #7 loses 10.4 % (forwarding inet4)`. */
export function verdictLine(result: Result): string {
  const { symbol, text } = sentence(result);
  return `${symbol} ${patchName(result.patch)} ${text}`;
}

/** `regression`, `boot-failed`: the verdict, or what kept a patch from one. */
export const outcomeName = ({ outcome }: Pick<Result, 'outcome'>): string =>
  outcome.kind === 'judged' ? outcome.verdict : outcome.kind;

/** What is said of the patch; `named` writes the names of cells, where they could be taken for markup. */
export function sentence(
  { outcome, policy }: Result,
  named: (name: string) => string = (name) => name,
): { symbol: string; text: string } {
  if (outcome.kind !== 'judged') return rejections[outcome.kind];

  const { cells, verdict } = outcome;
  const margin = formatPercent(policy.marginRatio);
  const symbol = symbols[verdict];
  switch (verdict) {
    case 'regression':
      return { symbol, text: changes('loses', withVerdict(cells, 'regression'), named) };
    case 'improvement':
      return {
        symbol,
        text: `${changes('gains', withVerdict(cells, 'improvement'), named)}; no regression`,
      };
    case 'no-regression':
      return { symbol, text: `loses nothing that matters (less than ${margin})` };
    case 'inconclusive': {
      const open = withVerdict(cells, 'inconclusive').length;
      return {
        symbol,
        text: `may lose ${margin} or not: ${open} of ${cells.length} cells need more runs`,
      };
    }
    case 'invalid': {
      const invalid = withVerdict(cells, 'invalid').length;
      const count = `${invalid} of ${cells.length} cells are invalid`;
      const [busy] = cells.flatMap(busyMachine);
      return {
        symbol,
        text:
          busy === undefined ? `was not measured: ${count}` : `was not measured, ${busy}; ${count}`,
      };
    }
  }
}

/** `does not boot`: what is said of a variant with which nothing can be measured. */
export const rejectionText = ({ kind }: Rejection): string => rejections[kind].text;

const rejections: Record<Rejection['kind'], { symbol: string; text: string }> = {
  'does-not-apply': { symbol: '🔴', text: 'does not apply' },
  'build-failed': { symbol: '🔴', text: 'does not build' },
  'does-not-load': { symbol: '🔴', text: 'does not load' },
  'boot-failed': { symbol: '🔴', text: 'does not boot' },
  'panics-under-load': { symbol: '🔴', text: 'panics under load' },
  'out-of-disk': { symbol: '⚪', text: 'was not measured: a disk of the lab is full' },
};

/** The first words of a reason, which are ours; the rest may hold what a machine said. */
const busyMachine = ({ verdict }: CellResult): string[] =>
  (verdict.kind === 'invalid' && tooBusy.exec(verdict.reason)?.slice(0, 1)) || [];

const tooBusy = /^machine too busy: the (?:sender|DUT) waited for a CPU \d{1,3} % of the time/;

const withVerdict = (cells: readonly CellResult[], kind: CellVerdict['kind']): CellResult[] =>
  cells.filter((cell) => cell.verdict.kind === kind);

const mostNamed = 3;

/** `loses 10.4 % (forwarding inet4) and 9.1 % (forwarding inet6)`, in packets per second whatever was judged. */
function changes(
  verb: 'loses' | 'gains',
  cells: readonly CellResult[],
  named: (name: string) => string,
): string {
  const told = cells
    .slice(0, mostNamed)
    .map((cell) => `${speedChange(cell)} (${named(cellName(cell.cell))})`);
  const rest = cells.length - told.length;
  if (rest > 0) told.push(`${rest} more`);
  const last = told.pop();
  return `${verb} ${[told.join(', '), last].filter(Boolean).join(' and ')}`;
}

/** Half the time per packet is twice the speed. */
function speedChange({ comparisons }: CellResult): string {
  const [comparison] = comparisons;
  if (comparison === undefined) return 'an unknown share';
  const { metric, interval } = comparison;
  const ratio = metric === 'pps' ? interval.change : 1 / (1 + interval.change) - 1;
  return `${(Math.abs(ratio) * 100).toFixed(1)} %`;
}
