// Lists the verdicts of a gate as rows of plain text, for a terminal.
import type { CellVerdict, Result } from '../model/result.ts';
import { cellTable, worstFirst } from './cell-rows.ts';
import { plainText } from './document.ts';

export type TerminalRow = {
  /** Belongs to the row's cell. */
  readonly verdict: CellVerdict['kind'];
  readonly texts: readonly string[];
};

/** Returns one row per cell, worst first, with its other variants below; none if no cell was judged. */
export function terminalRows(result: Result): {
  heads: readonly string[];
  rows: readonly TerminalRow[];
} {
  const { outcome, policy } = result;
  if (outcome.kind !== 'judged') return { heads: [], rows: [] };
  const cells = worstFirst(outcome.cells);
  const table = cellTable(result, cells, policy.metric);
  if (table.kind !== 'table') return { heads: [], rows: [] };
  const rows = cells.flatMap(({ verdict }, index) =>
    (table.groups[index]?.rows ?? []).map((row) => ({
      verdict: verdict.kind,
      // Terminals do not break lines of a table, and people search them with ordinary spaces.
      texts: row.map((text) => plainText(text).replaceAll('\u00a0', ' ')),
    })),
  );
  return { heads: table.columns.map(({ head }) => head), rows };
}
