// Explains why a cell got slower or faster: changed functions, or missing profiles.

import { counted, formatDifference, formatShare, formatTwoDigits, grouped } from '../model/format.ts';
import type { CellProfile, CellResult, CellVerdict, ChangedFunction } from '../model/result.ts';
import { flamegraphAnchor } from '../model/scenario.ts';
import { isJudged } from '../model/variant-name.ts';
import { numberColumns, unbroken } from './cell-rows.ts';
import {
  type Block,
  type Column,
  code,
  joined,
  nameOf,
  paragraph,
  quoted,
  strong,
  type Text,
  words,
} from './document.ts';
import { isSilent } from './headline.ts';

export type GraphLinks = {
  page?: string;
  /** URL or relative path of a single flamegraph by its anchor; preferred to the page. */
  graph?: (anchor: string) => string | undefined;
};

type Explained = Pick<CellResult, 'cell' | 'profiles' | 'reason'>;

/** Explains the first cells in a line each, and counts the rest. */
export function whyLines(cells: readonly CellResult[], links: GraphLinks): Text[] {
  const explained = order.flatMap((kind) => cells.filter((cell) => cell.verdict.kind === kind && deservesLine(cell)));
  const lines = explained
    .slice(0, maxLines)
    .map((cell) => words`${strong(reasonTitle(cell))} (${nameOf(cell.cell)}): ${reasonText(cell, links)}`);
  const rest = explained.length - lines.length;
  return rest > 0
    ? [...lines, words`${strong('Why')} of ${String(rest)} more ${rest === 1 ? 'cell' : 'cells'}: below`]
    : lines;
}

const maxLines = 3;

const order: CellVerdict['kind'][] = ['regression', 'improvement', 'inconclusive', 'invalid', 'no-regression'];

const deservesLine = (cell: CellResult): boolean =>
  isExplained(cell) && (isChanged(cell) || cell.reason?.changedFunctions[0] !== undefined);

/** A packet that is not forwarded has no time for a profile to explain. */
export const isExplained = (cell: CellResult): boolean => isProfiled(cell) && !isSilent(cell);

const isChanged = ({ verdict: { kind } }: CellResult): boolean => kind === 'regression' || kind === 'improvement';

/** Promises no reason if nothing is known to have changed. */
export const reasonTitle = (cell: CellResult): string => (isChanged(cell) ? 'Why' : 'Changed functions');

export const isProfiled = (cell: Explained): boolean => judgedProfiles(cell).length > 0;

const judgedProfiles = ({ profiles }: Explained): CellProfile[] => profiles.filter(({ variant }) => isJudged(variant));

const maxNamed = 3;

/** Names the most changed functions, or the reason that none is known, with links to the flamegraphs. */
export function reasonText(cell: Explained, links: GraphLinks): Text {
  return [changesText(cell), flamegraphs(cell, links)];
}

function changesText(cell: Explained): Text {
  const { reason } = cell;
  if (reason === undefined) {
    const missing = missingTexts(cell);
    return missing.length > 0 ? joined(missing, ', ') : 'not compared';
  }
  if (reason.changedFunctions.length === 0) return unmoved;
  const named = reason.changedFunctions
    .slice(0, maxNamed)
    .map((one) => words`${code(one.function, 80)} ${changeText(one)}`);
  const rest = reason.moved - named.length;
  return joined([...named, ...(rest > 0 ? [`${rest} more`] : [])], ', ');
}

const unmoved = 'no function changed beyond chance';

const missingTexts = (cell: Explained): Text[] =>
  judgedProfiles(cell).flatMap((profile) =>
    profile.kind === 'missing'
      ? [words`there is no profile of ${profile.variant}: ${quoted(profile.reason, 300)}`]
      : [],
  );

/**
 * `+38 ns per packet (9.3 → 12.4 % of cycles)`, `+250 instructions per packet (9.3 → 12.4 % of them)`; without a cost
 * per packet, `+3.1 points (9.3 → 12.4 % of cycles)`.
 */
function changeText(changedFunction: ChangedFunction): string {
  const { baseRatio, patchedRatio, instructionsPerPacket } = changedFunction;
  const change = hasCost(changedFunction) ? `${costText(changedFunction)} per packet` : pointsText(changedFunction);
  const whole = instructionsPerPacket === undefined ? 'cycles' : 'them';
  return `${change} (${formatShare(baseRatio)} → ${formatShare(patchedRatio)} % of ${whole})`;
}

/** `+3.1 points`: percentage points between the shares. */
const pointsText = ({ baseRatio, patchedRatio }: ChangedFunction): string =>
  `${formatDifference((patchedRatio - baseRatio) * 100)} points`;

export const hasCost = ({ nsPerPacket, instructionsPerPacket }: ChangedFunction): boolean =>
  nsPerPacket !== undefined || instructionsPerPacket !== undefined;

/** `+38 ns`, `+250 instructions`, `–` if not measured. */
function costText({ nsPerPacket, instructionsPerPacket }: ChangedFunction): string {
  const cost = instructionsPerPacket ?? nsPerPacket;
  if (cost === undefined) return '–';
  const unit = instructionsPerPacket === undefined ? 'ns' : 'instructions';
  return `${formatTwoDigits(cost.patched - cost.base)} ${unit}`;
}

export function whyOfCell(cell: Explained, links: GraphLinks): Block[] {
  const changed = cell.reason?.changedFunctions ?? [];
  return [
    paragraph(words`${nameOf(cell.cell)}: ${groundsText(cell)}${flamegraphs(cell, links)}`),
    ...(changed.length > 0 ? [changedFunctionTable(changed)] : []),
  ];
}

const changedFunctionTable = (changed: readonly ChangedFunction[]): Block => ({
  kind: 'table',
  columns: changedColumns(true),
  groups: [{ weight: 0, rows: changed.map((one) => changedRow(one, true)) }],
  lines: changed.map((one) => {
    const module = one.module === undefined ? '' : words` (${quoted(one.module, 80)})`;
    return words`  ${code(one.function, 80)}${module} ${changeText(one)}`;
  }),
});

export const changedColumns = (hasCosts: boolean): Column[] => [
  { head: 'function' },
  ...numberColumns(...(hasCosts ? ['per packet'] : []), 'change', 'base', 'patched'),
  { head: 'module' },
];

export const changedRow = (changed: ChangedFunction, hasCosts: boolean): Text[] => [
  code(changed.function, 80),
  ...(hasCosts ? [unbroken(costText(changed))] : []),
  unbroken(pointsText(changed)),
  unbroken(`${formatShare(changed.baseRatio)} %`),
  unbroken(`${formatShare(changed.patchedRatio)} %`),
  changed.module ? quoted(changed.module, 80) : '–',
];

/** `5,932 samples of base, 6,010 samples of patched, left out as idle: cpu_idle`. */
function groundsText(cell: Explained): Text {
  const { reason } = cell;
  const idle = reason?.idleFrames.map((frame) => code(frame, 80)) ?? [];
  const rest = reason === undefined ? 0 : reason.moved - reason.changedFunctions.length;
  return joined(
    [
      ...judgedProfiles(cell).flatMap((profile) =>
        profile.kind === 'profiled' ? `${grouped(profile.busySamples)} samples of ${profile.variant}` : [],
      ),
      ...missingTexts(cell),
      ...(idle.length > 0 ? [words`left out as idle: ${joined(idle, ' ')}`] : []),
      ...(reason?.changedFunctions.length === 0 ? [unmoved] : []),
      ...(rest > 0 ? [counted(rest, 'more function')] : []),
    ],
    ', ',
  );
}

/** ` · flamegraphs: base · patched · difference`; empty without any. */
function flamegraphs(cell: Explained, links: GraphLinks): Text {
  const linked = graphNames(cell).flatMap((which) => {
    const anchor = flamegraphAnchor(cell.cell, which);
    const address = links.graph?.(anchor) ?? (links.page && `${links.page}#${anchor}`);
    return address ? { text: which, address } : [];
  });
  return linked.length > 0 ? { kind: 'graphs', before: ' · flamegraphs: ', links: linked } : '';
}

function graphNames(cell: Explained): string[] {
  const names = judgedProfiles(cell).flatMap(({ kind, variant }) => (kind === 'profiled' ? variant : []));
  return names.length > 1 ? [...names, 'difference'] : names;
}
