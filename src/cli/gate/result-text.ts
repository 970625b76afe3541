// Renders a result for a terminal: a row for each cell, the next step, and the verdict in one line.
import { styleText } from 'node:util';
import type { Result } from '../../model/result.ts';
import { earlierGatesText } from '../../report/earlier-gates-text.ts';
import { headline } from '../../report/headline.ts';
import { nextStep } from '../../report/next-steps.ts';
import { terminalRows } from '../../report/terminal-table.ts';
import { columns } from '../columns.ts';
import { hasColours } from '../table.ts';

export function resultText(result: Result, directory: string): string {
  const lines = [
    ...verdictRows(result),
    whatNow(result),
    earlierGatesText(result),
    // The Jenkins library reads the line before the report's.
    headline(result),
    `Report: ${directory}/report/index.html`,
  ];
  return `${lines.filter((line) => line !== undefined).join('\n')}\n`;
}

/** Undefined where a verdict says enough. */
function whatNow(result: Result): string | undefined {
  const { outcome } = result;
  const isDone = outcome.kind === 'judged' && outcome.verdict !== 'invalid';
  return isDone || outcome.kind === 'unchanged' ? undefined : `What now: ${nextStep(result)}`;
}

/** Draws each cell's verdict and change, coloured at a terminal. */
function verdictRows(result: Result): string[] {
  const { heads, rows } = terminalRows(result);
  if (rows.length === 0) return [];
  const isColoured = hasColours(process.stdout);
  const texts = [heads, ...rows.map((row) => row.texts)];
  return columns(texts, (text, row, column) => {
    const verdict = rows[row - 1]?.verdict;
    if (!isColoured || column !== 1 || verdict === undefined) return text;
    return styleText(verdictColours[verdict], text, { validateStream: false });
  });
}

const verdictColours = {
  regression: 'red',
  improvement: 'green',
  'no-regression': 'green',
  inconclusive: 'yellow',
  invalid: 'gray',
} as const;
