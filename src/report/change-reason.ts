// Why a cell got slower or faster, in lines for a comment: the functions that moved, or why nobody knows them.

import type { Quoting } from '../model/escape.ts';
import {
  flamegraphAnchor,
  formatDifference,
  formatShare,
  formatTwoDigits,
  grouped,
} from '../model/format.ts';
import type { CellProfile, CellResult, CellVerdict, ChangedFunction } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { isJudged } from '../model/variant-name.ts';

/** What only the place of publication knows. */
export type GraphLinks = {
  /** URL of the report as a page, on which each flamegraph has its anchor. */
  page?: string;
  /** URL of a single flamegraph by its anchor, or its path beside the report; it goes before the page. */
  graph?: (anchor: string) => string | undefined;
};

/** A text linked to an address, in the markup at hand. */
type Linking = (text: string, address: string) => string;

/** What was profiled, and what that says of the reason. */
export type Explained = Pick<CellResult, 'cell' | 'profiles' | 'reason'>;

/** A line for each of the first cells that changed, or in which functions did, and one for how many more there are. */
export function whyLines(
  cells: readonly CellResult[],
  quoting: Quoting,
  flamegraphs: (cell: CellResult) => string = () => '',
): string[] {
  const told = order.flatMap((kind) =>
    cells.filter((cell) => cell.verdict.kind === kind && deservesLine(cell)),
  );
  const lines = told.slice(0, mostTold).map((cell) => {
    const line = `**Why** (${quoting.name(cellName(cell.cell))}): ${reasonText(cell, quoting)}`;
    return [line, flamegraphs(cell)].filter(Boolean).join(' · ');
  });
  const rest = told.length - lines.length;
  return rest > 0 ? [...lines, `**Why** of ${rest} more cells: below`] : lines;
}

const mostTold = 3;

const order: CellVerdict['kind'][] = [
  'regression',
  'improvement',
  'inconclusive',
  'invalid',
  'no-regression',
];

function deservesLine(cell: CellResult): boolean {
  if (!isProfiled(cell)) return false;
  const { kind } = cell.verdict;
  return (
    kind === 'regression' ||
    kind === 'improvement' ||
    cell.reason?.changedFunctions[0] !== undefined
  );
}

/** Whether base or patched was to be profiled, whatever came of it. */
export const isProfiled = (cell: Explained): boolean => judgedProfiles(cell).length > 0;

const judgedProfiles = ({ profiles }: Explained): CellProfile[] =>
  profiles.filter(({ variant }) => isJudged(variant));

const mostNamed = 3;

/** The functions that moved most, or why nobody knows them. */
export function reasonText(cell: Explained, quoting: Quoting): string {
  const { reason } = cell;
  if (reason === undefined) return missingTexts(cell, quoting).join(', ') || 'not compared';
  if (reason.changedFunctions.length === 0) return unmoved;
  const named = reason.changedFunctions
    .slice(0, mostNamed)
    .map(
      (changedFunction) =>
        `${functionName(changedFunction, quoting)} ${changeText(changedFunction)}`,
    );
  const rest = reason.moved - named.length;
  return [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

const unmoved = 'no function changed beyond chance';

const missingTexts = (cell: Explained, { code }: Quoting): string[] =>
  judgedProfiles(cell).flatMap((profile) =>
    profile.kind === 'missing'
      ? `there is no profile of ${profile.variant}: ${code(profile.reason, 300)}`
      : [],
  );

/** How long names of functions are cut. */
export const functionName = (changedFunction: ChangedFunction, { code }: Quoting): string =>
  code(changedFunction.function, 80);

/**
 * `+38 ns per packet (9.3 → 12.4 % of cycles)`, `+250 instructions per packet (9.3 → 12.4 % of them)`; where nothing tells
 * what a packet takes, `+3.1 points (9.3 → 12.4 % of cycles)`.
 */
export function changeText(changedFunction: ChangedFunction): string {
  const { baseRatio, patchedRatio, instructionsPerPacket } = changedFunction;
  const change = hasCost(changedFunction)
    ? `${costText(changedFunction)} per packet`
    : pointsText(changedFunction);
  const whole = instructionsPerPacket === undefined ? 'cycles' : 'them';
  return `${change} (${formatShare(baseRatio)} → ${formatShare(patchedRatio)} % of ${whole})`;
}

/** `+3.1 points`: percentage points between the shares. */
export const pointsText = ({ baseRatio, patchedRatio }: ChangedFunction): string =>
  `${formatDifference((patchedRatio - baseRatio) * 100)} points`;

/** Whether something was measured that tells what a packet takes of the function. */
export const hasCost = ({ nsPerPacket, instructionsPerPacket }: ChangedFunction): boolean =>
  nsPerPacket !== undefined || instructionsPerPacket !== undefined;

/** `+38 ns`, `+250 instructions`, `–` where nothing was measured that tells it. */
export function costText({ nsPerPacket, instructionsPerPacket }: ChangedFunction): string {
  const cost = instructionsPerPacket ?? nsPerPacket;
  if (cost === undefined) return '–';
  const unit = instructionsPerPacket === undefined ? 'ns' : 'instructions';
  return `${formatTwoDigits(cost.patched - cost.base)} ${unit}`;
}

/** What the reason of a cell rests on: `5,932 samples of base, 6,010 samples of patched, left out as idle: cpu_idle`. */
export function groundsText(cell: Explained, quoting: Quoting): string {
  const { reason } = cell;
  const idle = reason?.idleFrames.map((frame) => quoting.code(frame, 80)) ?? [];
  const rest = reason === undefined ? 0 : reason.moved - reason.changedFunctions.length;
  return [
    ...judgedProfiles(cell).flatMap((profile) =>
      profile.kind === 'profiled'
        ? `${grouped(profile.busySamples)} samples of ${profile.variant}`
        : [],
    ),
    ...missingTexts(cell, quoting),
    ...(idle.length > 0 ? [`left out as idle: ${idle.join(' ')}`] : []),
    ...(reason?.changedFunctions.length === 0 ? [unmoved] : []),
    ...(rest > 0 ? [`${rest} functions more than are named`] : []),
  ].join(', ');
}

/** `flamegraphs: base · patched · difference`, each linked, as far as there are such; empty where there is none. */
export function flamegraphsText(cell: Explained, links: GraphLinks, link: Linking): string {
  const linked = graphNames(cell).flatMap((which) => {
    const anchor = flamegraphAnchor(cell.cell, which);
    const address = links.graph?.(anchor) ?? (links.page && `${links.page}#${anchor}`);
    return address ? link(which, address) : [];
  });
  return linked.length > 0 ? `flamegraphs: ${linked.join(' · ')}` : '';
}

function graphNames(cell: Explained): string[] {
  const names = judgedProfiles(cell).flatMap(({ kind, variant }) =>
    kind === 'profiled' ? variant : [],
  );
  return names.length > 1 ? [...names, 'difference'] : names;
}
