// Shows a cell's limit: the busiest CPU, and the places that lost packets.
import { sum } from 'simple-statistics';
import { plainLine } from '../model/escape.ts';
import { formatPercent } from '../model/format.ts';
import type { CellLimits, DropPlace, VariantLimits } from '../model/limits.ts';
import type { CellResult } from '../model/result.ts';
import { numberColumns, unbroken } from './cell-rows.ts';
import { type Block, heading, joined, list, nameOf, quoted, strong, type Text, words } from './document.ts';
import { droppedBy, isSilent } from './headline.ts';

/** Returns a line for each of the first cells with a limit to name, for a comment. */
export function limitLines(cells: readonly CellResult[]): Text[] {
  const lines = cells.flatMap((cell) => {
    const sentences = limitSentences(cell);
    return sentences.length === 0 ? [] : [words`${strong('Limit')} (${nameOf(cell.cell)}): ${joined(sentences, '; ')}`];
  });
  const rest = lines.length - maxLines;
  return [
    ...lines.slice(0, maxLines),
    ...(rest > 0 ? [words`${strong('Limit')} of ${String(rest)} more cells: on the page`] : []),
  ];
}

const maxLines = 3;

/** Losses at these places are faults of the test's set-up, also on base; elsewhere they show a router's limit. */
const faultPlaces: ReadonlySet<DropPlace> = new Set(['ip', 'firewall', 'state-table']);

/** A smaller loss, or change of one, explains nothing. */
const minLostRatio = 0.01;
/** Share of all losses above which the rest is not mentioned. */
const nearlyAllRatio = 0.95;
const maxDropsNamed = 3;

/** Returns only losses that explain a regression, or make the test itself doubtful. */
function limitSentences(cell: CellResult): Text[] {
  const { limits, verdict } = cell;
  // A report already names what drops the packets of a variant that forwards nothing.
  const isNamed =
    (isSilent(cell) && droppedBy(cell) !== undefined) ||
    (verdict.kind === 'invalid' && droppedBy(cell, 'base') !== undefined);
  if (limits === undefined || isNamed) return [];
  const { base, patched } = limits;
  const isLoss = verdict.kind === 'regression';
  const [largest] = patched.drops;
  const least = Math.max(minLostRatio, patched.lostRatio * nearlyAllRatio);
  if (isLoss && largest !== undefined && largest.ratio >= least) {
    const shares = `${formatPercent(largest.ratio)} of the packets, base ${formatPercent(ratioOf(base, largest))}`;
    return [words`all losses of patched (${shares}) are in ${dropText(largest)}`];
  }
  return unionOfDrops(limits)
    .filter((drop) => {
      const change = ratioOf(patched, drop) - ratioOf(base, drop);
      return (isLoss && change >= minLostRatio) || (faultPlaces.has(drop.place) && drop.ratio >= minLostRatio);
    })
    .slice(0, maxDropsNamed)
    .map(
      (drop) =>
        words`patched loses ${formatPercent(ratioOf(patched, drop))} of the packets in ${dropText(drop)} (base ${formatPercent(ratioOf(base, drop))})`,
    );
}

type Drop = VariantLimits['drops'][number];

/** Returns each drop once, with its larger share; the largest first. */
function unionOfDrops({ base, patched }: CellLimits): Drop[] {
  const all = Map.groupBy([...base.drops, ...patched.drops], ({ place, cause }) => JSON.stringify([place, cause]));
  return [...all.values()]
    .flatMap((own) => own.toSorted((a, b) => b.ratio - a.ratio).slice(0, 1))
    .toSorted((a, b) => b.ratio - a.ratio);
}

const ratioOf = ({ drops }: VariantLimits, { place, cause }: Drop): number =>
  drops.find((one) => one.place === place && one.cause === cause)?.ratio ?? 0;

/** `firewall, inet filter forward: … drop`. */
const dropText = ({ place, cause }: Drop): Text => words`${placeNames[place]}, ${quoted(cause, 120)}`;

const placeNames: Record<DropPlace, string> = {
  'before-dut': 'before the DUT',
  card: 'card',
  driver: 'driver',
  backlog: 'backlog',
  ip: 'IP',
  firewall: 'firewall',
  'state-table': 'state table',
  'output-queue': 'output queue',
  'after-dut': 'behind the DUT',
};

/** Fills the page's table of the busiest CPU, and of drops by place; empty without readings. */
export function limitBlocks(cell: CellResult): Block[] {
  const { limits } = cell;
  if (limits === undefined) return [];
  const row = (place: Text, cause: Text, of: (variant: VariantLimits) => number | undefined): Text[] => [
    place,
    cause,
    ...[limits.base, limits.patched].map((variant) => {
      const ratio = of(variant);
      return ratio === undefined ? '–' : unbroken(formatPercent(ratio));
    }),
  ];
  const drops = unionOfDrops(limits);
  const rest = drops.slice(maxRows);
  const isBusyKnown = [limits.base, limits.patched].some(({ busiestCpuRatio }) => busiestCpuRatio !== undefined);
  const rows = [
    ...(isBusyKnown ? [row('busiest CPU', 'busy', ({ busiestCpuRatio }) => busiestCpuRatio)] : []),
    ...drops
      .slice(0, maxRows)
      .map((drop) => row(placeNames[drop.place], quoted(plainLine(drop.cause), 200), (one) => ratioOf(one, drop))),
    ...(rest.length === 0
      ? []
      : [row(`${rest.length} more`, '', (one) => sum(rest.map((drop) => ratioOf(one, drop))))]),
    // Below 0 if two places counted a packet.
    row('unaccounted', 'in no counter', (one) => one.lostRatio - sum(one.drops.map(({ ratio }) => ratio))),
    row('lost in total', 'offered, but not received', ({ lostRatio }) => lostRatio),
  ];
  const caption = 'Packets lost, as shares of those offered to the DUT; medians over the trials';
  const columns = [{ head: 'place' }, { head: 'cause' }, ...numberColumns('base', 'patched')];
  return [
    heading('Where the limit was'),
    ...list(limitSentences(cell)),
    { kind: 'table', caption, columns, groups: [{ weight: 0, rows }] },
  ];
}

const maxRows = 20;
