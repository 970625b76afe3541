// Chooses the cells that come first in each boot: those that the changed files affect, unless these are all.

import type { Config } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import { touchedCells } from '../kernel/touched.ts';
import { pathsThatCount } from '../kernel/unchanged.ts';
import type { Variant } from '../kernel/variant.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import type { Plan } from './experiment/plan.ts';

/** Returns none if git cannot list the differences, for example between distant trees. */
export async function firstCells(
  [base, patched]: readonly Variant[],
  cells: readonly Cell[],
  on: { config: Config; testbed: string },
  repository: Repository,
): Promise<readonly Cell[]> {
  if (base === undefined || patched === undefined) return [];
  const changed = await pathsThatCount(base, patched, on, repository).catch(() => []);
  return touchedCells(changed, cells, on);
}

export function firstCellsText({ cells }: Plan): string | undefined {
  const first = cells.flatMap(({ cell, isFirst }) => (isFirst ? cellName(cell) : []));
  if (first.length === 0) return undefined;
  return `These cells depend most on the changed files and are measured first: ${first.join(', ')}.`;
}
