// Keeps a comment within its limit: keeps the worst cells, and the first details.
import { type Detail, folds } from './document.ts';

const maxRows = 100;
/** A reason of 100 backticks needs 300 characters. */
const maxRowCharacters = 40_000;

/** Keeps the order if all cells fit; otherwise the worst come first, with a count of the omitted ones. */
export function rowsThatFit<T extends { weight: number }>(cells: readonly T[], toRow: (cell: T) => string): string[] {
  const inOrder = fittingRows(cells, toRow);
  if (inOrder.length === cells.length) return inOrder;
  const worst = fittingRows(
    cells.toSorted((a, b) => a.weight - b.weight),
    toRow,
  );
  const rest = cells.length - worst.length;
  return [...worst, '', omittedText(rest)];
}

const omittedText = (count: number): string =>
  `${count === 1 ? '1 more cell, which is not worse, is' : `${count} more cells, none of them worse, are`} in \`result.json\`.`;

function fittingRows<T>(cells: readonly T[], toRow: (cell: T) => string): string[] {
  const rows: string[] = [];
  let free = maxRowCharacters;
  for (const cell of cells.slice(0, maxRows)) {
    const next = toRow(cell);
    free -= next.length + 1;
    if (free < 0) break;
    rows.push(next);
  }
  return rows;
}

type Limit = { most: number; sizeOf: (text: string) => number };

type WrittenDetail = { fold: Detail['fold']; text: string };

type WrittenComment = {
  main: readonly string[];
  remarks: readonly string[];
  details: readonly WrittenDetail[];
  toFold: (name: Detail['fold'], texts: readonly string[]) => string;
  end: string;
};

/** Space for the notice and the frames of all folds. */
const spare = 500;

/** Keeps the remarks and details that fit, in order, and counts the rest. */
export function fitted({ main, remarks, details, toFold, end }: WrittenComment, { most, sizeOf }: Limit): string {
  let free = most - sizeOf([...main, end].join('\n\n')) - spare;
  const fits = (text: string): boolean => {
    const size = sizeOf(text) + 2;
    if (size > free) return false;
    free -= size;
    return true;
  };
  const open = remarks.filter(fits);
  const kept = details.filter(({ text }) => fits(text));
  const folded = folds.flatMap((name) => {
    const own = kept.flatMap(({ fold, text }) => (fold === name ? text : []));
    return own.length === 0 ? [] : toFold(name, own);
  });
  const missing = remarks.length + details.length - open.length - kept.length;
  return `${[...main, ...open, ...folded, missingText(missing), end].filter(Boolean).join('\n\n')}\n`;
}

function missingText(count: number): string {
  if (count === 0) return '';
  const parts = count === 1 ? '1 more part is' : `${count} more parts are`;
  return `${parts} in the full report beside \`result.json\`.`;
}
