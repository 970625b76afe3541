// Shows a cell's limit on the page: strips of CPUs and queues for each variant, and drops by place.
import { sum } from 'simple-statistics';
import { plainLine } from '../model/escape.ts';
import { formatPercent } from '../model/format.ts';
import type { VariantLimits } from '../model/limits.ts';
import type { CellResult } from '../model/result.ts';
import { numberColumns, unbroken } from './cell-rows.ts';
import { type Block, heading, list, paragraph, quoted, type Text, words } from './document.ts';
import { limitSentences, placeNames, ratioOf, unionOfDrops } from './limit-lines.ts';
import { limitStrips } from './limits-plot.ts';

/** Empty without readings. */
export function limitBlocks(cell: CellResult): Block[] {
  const { limits } = cell;
  if (limits === undefined) return [];
  const strips = limitStrips(limits);
  const notUnderstood = new Set([...limits.base.notUnderstood, ...limits.patched.notUnderstood]);
  return [
    heading('Where the limit was'),
    ...list(limitSentences(cell)),
    ...(strips === undefined ? [] : [{ kind: 'drawing', drawing: strips } as const]),
    dropTable(limits),
    ...(notUnderstood.size === 0
      ? []
      : [
          paragraph(
            words`Counters in an unknown format, left out of this table: ${quoted([...notUnderstood].join(', '), 500)}.`,
          ),
        ]),
  ];
}

function dropTable(limits: { base: VariantLimits; patched: VariantLimits }): Block {
  const { base, patched } = limits;
  const row = (place: Text, cause: Text, of: (variant: VariantLimits) => number): Text[] => [
    place,
    cause,
    unbroken(formatPercent(of(base))),
    unbroken(formatPercent(of(patched))),
  ];
  const drops = unionOfDrops(limits);
  const shown = drops.slice(0, maxRows);
  const rest = drops.slice(maxRows);
  const rows = [
    ...shown.map((drop) =>
      row(placeNames[drop.place], quoted(plainLine(drop.cause), 200), (one) => ratioOf(one, drop)),
    ),
    ...(rest.length === 0
      ? []
      : [row(`${rest.length} more`, '', (one) => sum(rest.map((drop) => ratioOf(one, drop))))]),
    row('unaccounted', 'in no counter', unaccounted),
    row('lost in total', 'offered, but not received', ({ lostRatio }) => lostRatio),
  ];
  return {
    kind: 'table',
    caption: 'Packets lost, as shares of those offered to the DUT; medians over the trials',
    columns: [{ head: 'place' }, { head: 'cause' }, ...numberColumns('base', 'patched')],
    groups: [{ weight: 0, rows }],
  };
}

const maxRows = 20;

/** Below 0 if two places counted a packet. */
const unaccounted = ({ lostRatio, drops }: VariantLimits): number => lostRatio - sum(drops.map(({ ratio }) => ratio));
