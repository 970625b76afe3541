// Keeps a comment within its limit: the worst cells, and the first parts.

const mostRows = 100;
/** A reason of a hundred backticks needs three hundred characters. */
const mostRowCharacters = 40_000;

/** Keeps the order if all cells fit; otherwise the worst come first, with a count of the omitted ones. */
export function rowsThatFit<T extends { weight: number }>(
  cells: readonly T[],
  toRow: (cell: T) => string,
): string[] {
  const inOrder = fittingRows(cells, toRow);
  if (inOrder.length === cells.length) return inOrder;
  const worst = fittingRows(
    cells.toSorted((a, b) => a.weight - b.weight),
    toRow,
  );
  const rest = cells.length - worst.length;
  return [...worst, '', `${rest} more cells, none of them worse, are in \`result.json\`.`];
}

function fittingRows<T>(cells: readonly T[], toRow: (cell: T) => string): string[] {
  const rows: string[] = [];
  let free = mostRowCharacters;
  for (const cell of cells.slice(0, mostRows)) {
    const next = toRow(cell);
    free -= next.length + 1;
    if (free < 0) break;
    rows.push(next);
  }
  return rows;
}

type Limit = { most: number; sizeOf: (text: string) => number };

/** Keeps the parts that fit, in order, and counts the others. */
export function fitted(
  main: readonly string[],
  parts: readonly string[],
  end: string,
  { most, sizeOf }: Limit,
): string {
  const kept: string[] = [];
  let free = most - sizeOf([...main, end].join('\n\n')) - 200;
  for (const part of parts) {
    const size = sizeOf(part) + 2;
    if (size > free) continue;
    free -= size;
    kept.push(part);
  }
  const missing = parts.length - kept.length;
  const notice =
    missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
  return `${[...main, ...kept, ...notice, end].filter(Boolean).join('\n\n')}\n`;
}
