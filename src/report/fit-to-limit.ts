// What of a comment finds room: the worst cells, and the first sections.

import type { CellResult } from '../model/result.ts';
import { worstFirst } from './cell-rows.ts';

/** The worst cells first when there is no room for all, and below them how many are left out. */
export function rowsThatFit(
  cells: readonly CellResult[],
  toRow: (cell: CellResult) => string,
): string[] {
  const inOrder = fittingRows(cells, toRow);
  if (inOrder.length === cells.length) return inOrder;
  const worst = fittingRows(worstFirst(cells), toRow);
  const rest = cells.length - worst.length;
  return [...worst, '', `${rest} more cells, none of them worse, are in \`result.json\`.`];
}

const mostRows = 100;
/** A reason of a hundred backticks needs three hundred characters. */
const mostRowCharacters = 40_000;

function fittingRows(cells: readonly CellResult[], toRow: (cell: CellResult) => string): string[] {
  const rows: string[] = [];
  let room = mostRowCharacters;
  for (const cell of cells.slice(0, mostRows)) {
    const next = toRow(cell);
    room -= next.length + 1;
    if (room < 0) break;
    rows.push(next);
  }
  return rows;
}

/** A report is to be at most `most` of what `sizeOf` measures. */
type Limit = { most: number; sizeOf: (text: string) => number };

/** Keeps what fits of the parts, in their order, and says how many there was no room for. */
export function fitted(
  main: readonly string[],
  parts: readonly string[],
  end: string,
  { most, sizeOf }: Limit,
): string {
  const kept: string[] = [];
  let room = most - sizeOf([...main, end].join('\n\n')) - 200;
  for (const part of parts) {
    const size = sizeOf(part) + 2;
    if (size > room) continue;
    room -= size;
    kept.push(part);
  }
  const missing = parts.length - kept.length;
  const notice =
    missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
  return `${[...main, ...kept, ...notice, end].filter(Boolean).join('\n\n')}\n`;
}
