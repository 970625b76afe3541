// Runs gates and prints their results.
import { styleText } from 'node:util';
import { conclusionOfResult, exitCodes, worstConclusion } from '../../model/conclusion.ts';
import type { Result } from '../../model/result.ts';
import { combineReporters } from '../../publish/reporters/reporter.ts';
import { earlierGatesText } from '../../report/earlier-gates-text.ts';
import { headline } from '../../report/headline.ts';
import { nextStep } from '../../report/next-steps.ts';
import { terminalRows } from '../../report/terminal-table.ts';
import { columns } from './columns.ts';
import { type GateCall, gatesOf, judgeAll } from './judge-gate.ts';
import { hasColours, printJson } from './table.ts';

/** Prints each result; returns the exit code of the worst one, or throws its error. */
export async function runGates(call: GateCall): Promise<number> {
  const { options } = call;
  const ended = options.answer
    ? await (await import('./gate-revision.ts')).judgeAndAnswer(call)
    : await judgeAll(await gatesOf(call), call, () => combineReporters([]));
  const judged = ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (options.json) {
    const results = judged.map(({ result }) => result);
    const printed = ended.length === 1 ? results[0] : results;
    if (printed !== undefined) printJson(printed);
  } else {
    for (const { result, directory } of judged) {
      const lines = [
        ...verdictRows(result),
        whatNow(result),
        earlierGatesText(result),
        // The Jenkins library reads the line before the report's.
        headline(result),
        `Report: ${directory}/report/index.html`,
      ];
      process.stdout.write(`${lines.filter((line) => line !== undefined).join('\n')}\n`);
    }
  }
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return exitCodes[worstConclusion(judged.map(({ result }) => conclusionOfResult(result)))];
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
