// Names a cell's limit: CPUs and queues that shared the work, and places that lost packets.
import {
  adviceToReachMore,
  cpusAtWork,
  type QueueSpread,
  queuesReached,
  reachesFew,
} from '../analysis/stats/spread.ts';
import { formatPercent, grouped } from '../model/format.ts';
import type { CellLimits, DropPlace, VariantLimits } from '../model/limits.ts';
import type { CellResult } from '../model/result.ts';
import { joined, nameOf, quoted, strong, type Text, words } from './document.ts';
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

/** Returns only facts that differ beyond chance, explain the verdict, or make the test itself doubtful. */
export function limitSentences(cell: CellResult): Text[] {
  const { limits } = cell;
  if (limits === undefined) return [];
  return [
    ...spreadSentences(limits, cell.verdict.kind),
    ...reachSentences(limits.base),
    ...tableSentences(limits),
    ...(isNamed(cell) ? [] : dropSentences(limits, cell.verdict.kind)),
  ];
}

/** A report already names what drops the packets of a variant that forwards nothing. */
const isNamed = (cell: CellResult): boolean =>
  (isSilent(cell) && droppedBy(cell) !== undefined) ||
  (cell.verdict.kind === 'invalid' && droppedBy(cell, 'base') !== undefined);

type VerdictKind = CellResult['verdict']['kind'];

/** `patched uses 5 of 8 CPUs (base 8 of 8): a change of distribution, not of the cost of a packet`. */
function spreadSentences({ base, patched, differing }: CellLimits, verdict: VerdictKind): Text[] {
  const isOf = (kind: 'cpu' | 'queue') => differing.some((one) => one.kind === kind);
  const cpus = { base: cpusAtWork(base), patched: cpusAtWork(patched) };
  const queues = queuesReached(base).flatMap((own): [QueueSpread, QueueSpread][] => {
    const other = queuesReached(patched).find(({ device }) => device === own.device);
    return other === undefined || other.used === own.used ? [] : [[own, other]];
  });
  const [queue] = isOf('queue') ? queues : [];
  const isChanged = verdict === 'regression' || verdict === 'improvement';
  const kind = isChanged ? ', so the change is one of distribution, not of the cost of a packet' : '';
  const flows =
    queue === undefined
      ? ''
      : words`flows reach ${String(queue[1].used)} of ${String(queue[1].all)} receive queues of ${quoted(queue[1].device)} (base ${String(queue[0].used)} of ${String(queue[0].all)})`;
  const differ = cpus.base !== undefined && cpus.base.used !== cpus.patched?.used;
  if (cpus.base !== undefined && cpus.patched !== undefined && differ && (isOf('cpu') || isOf('queue'))) {
    const uses = `patched uses ${cpus.patched.used} of ${cpus.patched.all} CPUs (base ${cpus.base.used} of ${cpus.base.all})`;
    return [[uses, ...(flows === '' ? [] : [': its ', flows]), kind]];
  }
  return flows === '' ? [] : [['patched: ', flows, kind]];
}

function reachSentences(base: VariantLimits): Text[] {
  return queuesReached(base)
    .filter(reachesFew)
    .map(
      ({ device, used, all }) =>
        words`the flows reach only ${String(used)} of ${String(all)} receive queues of ${quoted(device)} on base: ${adviceToReachMore}`,
    );
}

/** Share of a table's limit; entries may expire during the count. */
const fullRatio = 0.99;

function tableSentences({ base, patched }: CellLimits): Text[] {
  const full = { base, patched };
  const tables = (['base', 'patched'] as const).flatMap((variant) =>
    full[variant].stateTables
      .filter(({ states, limit }) => states >= limit * fullRatio)
      .map(({ name, limit }) => ({ name, limit, variant })),
  );
  return [...Map.groupBy(tables, ({ name }) => name)].map(([name, own]) => {
    const variants = own.map(({ variant }) => variant).join(' and ');
    return words`the state table ${quoted(name)} is full on ${variants} (${grouped(own[0]?.limit ?? 0)} states)`;
  });
}

/** A smaller loss explains nothing. */
const minLostRatio = 0.01;
/** Share of all losses above which the rest is not mentioned. */
const nearlyAllRatio = 0.95;
const maxDropsNamed = 3;

/** Losses at these places are faults of the test's set-up, also on base; elsewhere they show a router's limit. */
const faultPlaces: ReadonlySet<DropPlace> = new Set(['ip', 'firewall', 'state-table']);

function dropSentences({ base, patched, differing }: CellLimits, verdict: VerdictKind): Text[] {
  const [largest] = patched.drops;
  const isLoss = verdict === 'regression' && patched.lostRatio >= minLostRatio;
  if (
    isLoss &&
    largest !== undefined &&
    largest.ratio >= patched.lostRatio * nearlyAllRatio &&
    largest.ratio >= minLostRatio
  ) {
    const own = ratioOf(base, largest);
    return [
      words`all losses of patched (${formatPercent(largest.ratio)} of the packets, base ${formatPercent(own)}) are in ${dropText(largest)}`,
    ];
  }
  const isDiffering = (drop: Drop) =>
    differing.some((one) => one.kind === 'drop' && one.place === drop.place && one.cause === drop.cause);
  const isFault = (drop: Drop) => faultPlaces.has(drop.place) && drop.ratio >= minLostRatio;
  const named = unionOfDrops({ base, patched }).filter((drop) => isDiffering(drop) || isFault(drop));
  return named
    .slice(0, maxDropsNamed)
    .map(
      (drop) =>
        words`patched loses ${formatPercent(ratioOf(patched, drop))} of the packets in ${dropText(drop)} (base ${formatPercent(ratioOf(base, drop))})`,
    );
}

type Drop = VariantLimits['drops'][number];

/** Returns each drop once, with its larger share; the largest first. */
export function unionOfDrops({ base, patched }: Pick<CellLimits, 'base' | 'patched'>): Drop[] {
  const all = Map.groupBy([...base.drops, ...patched.drops], ({ place, cause }) => JSON.stringify([place, cause]));
  return [...all.values()]
    .flatMap((own) => own.toSorted((a, b) => b.ratio - a.ratio).slice(0, 1))
    .toSorted((a, b) => b.ratio - a.ratio);
}

export const ratioOf = ({ drops }: VariantLimits, { place, cause }: Drop): number =>
  drops.find((one) => one.place === place && one.cause === cause)?.ratio ?? 0;

/** `firewall, inet filter forward: … drop`. */
const dropText = ({ place, cause }: Drop): Text => words`${placeNames[place]}, ${quoted(cause, 120)}`;

export const placeNames: Record<DropPlace, string> = {
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
