// Summarizes the verdict in one line.
import { formatPercent, formatSize, metricNouns } from '../model/format.ts';
import { isCost, type Metric } from '../model/metric.ts';
import { commitId, patchName } from '../model/patch.ts';
import type { Rejection } from '../model/rejection.ts';
import type { CellResult, CellVerdict, Policy, Result, Validity } from '../model/result.ts';
import { enumerated, joined, nameOf, plainText, quoted, symbols, type Text, words } from './document.ts';
import { gateNumberText } from './earlier-gates-text.ts';

/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; trusted plain text without markup. */
export const headline = (result: Result): string =>
  `${symbols[symbolOf(result)]} ppsgate: ${patchLabel(result)} ${plainText(sentence(result))}`;

/** Names a patch by the measured commits: a range begins at the merge base, even if its base branch has moved on. */
export function patchLabel({ patch, variants }: Pick<Result, 'patch' | 'variants'>): string {
  const base = variants.find(({ name }) => name === 'base')?.commit;
  // The commit of a variant may be any text.
  const { data: baseCommit } = commitId.safeParse(base);
  const isKnown = patch.kind === 'range' && baseCommit !== undefined;
  return patchName(isKnown ? { ...patch, baseCommit } : patch);
}

/** Without ppsgate's name: `🔴 #7 loses 10.4 % (forwarding inet4)`. */
export const verdictLine = (result: Result): string =>
  `${symbols[symbolOf(result)]} ${patchLabel(result)} ${plainText(sentence(result))}`;

/**
 * Returns the verdict whose symbol is shown: a loss for an unmeasurable patch; none for a failed lab or an unchanged
 * patch.
 */
export function symbolOf({ outcome }: Pick<Result, 'outcome'>): CellVerdict['kind'] {
  switch (outcome.kind) {
    case 'judged':
      return outcome.verdict;
    case 'unchanged':
    case 'out-of-disk':
      return 'invalid';
    default:
      return 'regression';
  }
}

/** Completes a sentence that begins with the patch's name. */
export const sentence = (result: Result): Text => [verdictText(result), gateNumberText(result)];

function verdictText({ outcome, policy }: Result): Text {
  if (outcome.kind === 'unchanged') {
    return outcome.ignoredPaths
      ? 'changes no code or rule that packets of this testbed pass'
      : 'changes nothing that the testbed installs';
  }
  if (outcome.kind !== 'judged') return rejections[outcome.kind];
  const { cells, verdict } = outcome;
  const those = withVerdict(cells, verdict);
  switch (verdict) {
    case 'regression':
      return changes(those, verdict, policy);
    case 'improvement':
      return words`${changes(those, verdict, policy)}; no regression`;
    case 'no-regression':
      return nothingThatMatters(cells, policy);
    case 'inconclusive': {
      const open =
        cells.length === 1 ? 'more runs would decide' : `open in ${partOf(those, cells)} until more runs decide`;
      return `may ${lossThatMatters(policy)} or not: ${open}`;
    }
    case 'invalid': {
      const where = those.length < cells.length ? ` in ${partOf(those, cells)}` : '';
      return `was not measured${where}: ${whyInvalid(those)}`;
    }
  }
}

const partOf = (those: readonly CellResult[], cells: readonly CellResult[]): string =>
  `${those.length} of ${cells.length} cells`;

export const rejectionText = ({ kind }: Rejection): string => rejections[kind];

const rejections: Record<Rejection['kind'], string> = {
  'does-not-apply': 'does not apply',
  'build-failed': 'does not build',
  'does-not-load': 'does not load',
  'boot-failed': 'does not boot',
  'panics-under-load': 'panics under load',
  'out-of-disk': 'was not measured: a disk of the lab is full',
};

export const withVerdict = (cells: readonly CellResult[], kind: CellVerdict['kind']): CellResult[] =>
  cells.filter((cell) => cell.verdict.kind === kind);

export const stoppedCells = (cells: readonly CellResult[]): CellResult[] =>
  cells.filter(({ verdict }) => verdict.kind === 'inconclusive' && verdict.isStopped);

/** Changes equal to the margin of speed: 5.26 % more time or instructions per packet lose 5 % of the speed. */
export function marginsOf({ metric, marginRatio }: Policy): { loss: number; gain: number } {
  const [less, more] = [-marginRatio, 1 / (1 - marginRatio) - 1];
  return isCost(metric) ? { loss: more, gain: less } : { loss: less, gain: more };
}

/** `lose 2 %`, `take 5.26 % more CPU time per packet`. */
export const lossThatMatters = (policy: Policy): string =>
  isCost(policy.metric)
    ? `take ${formatPercent(marginsOf(policy).loss)} more ${metricNouns[policy.metric]}`
    : `lose ${formatPercent(policy.marginRatio)}`;

const maxNamed = 3;

/** `loses 10.4 % (forwarding inet4) and 9.10 % (…)`, `takes 11.6 % more CPU time per packet (forwarding inet4)`. */
function changes(cells: readonly CellResult[], direction: keyof (typeof deeds)[Metric], { metric }: Policy): Text {
  const silent = cells.filter(isSilent);
  const moving = cells.filter((cell) => !isSilent(cell));
  const [verb, unit] = deeds[metric][direction];
  const sizes = moving.slice(0, maxNamed).map(({ cell, comparisons: [judged] }, index) => {
    const size = judged === undefined ? 'an unknown share' : formatSize(judged.interval.change);
    return words`${size}${index === 0 ? unit : ''} (${nameOf(cell)})`;
  });
  return joined(
    [
      ...(silent.length > 0 ? [silentText(silent)] : []),
      ...(moving.length > 0 ? [words`${verb} ${listed(sizes, moving.length)}`] : []),
    ],
    ', and ',
  );
}

const deeds = {
  pps: { regression: ['loses', ''], improvement: ['gains', ''] },
  nsPerPacket: {
    regression: ['takes', ` more ${metricNouns.nsPerPacket}`],
    improvement: ['takes', ` less ${metricNouns.nsPerPacket}`],
  },
  instructionsPerPacket: {
    regression: ['takes', ` more ${metricNouns.instructionsPerPacket}`],
    improvement: ['takes', ` fewer ${metricNouns.instructionsPerPacket}`],
  },
} as const;

/** `a, b and 2 more` of four. */
function listed(parts: readonly Text[], count: number): Text {
  const rest = count - parts.length;
  return enumerated(rest > 0 ? [...parts, `${rest} more`] : parts);
}

export const isSilent = ({ comparisons: [judged] }: CellResult): boolean =>
  judged?.metric === 'pps' && judged.patched === 0;

/** `forwards nothing`, `forwards nothing in 2 of 5 runs`. */
export function silenceOf({ runs, comparisons: [judged] }: CellResult): string {
  const valid = runs.filter((run) => run.variant === 'patched' && run.validity.kind === 'valid');
  const silent = judged?.patchedRuns ?? 0;
  return silent < valid.length ? `forwards nothing in ${silent} of ${valid.length} runs` : 'forwards nothing';
}

/** Quotes the DUT: what dropped the packets of a variant that forwards none. */
export const droppedBy = ({ runs }: CellResult, variant = 'patched'): string | undefined =>
  runs.find((run) => run.variant === variant && run.pps === 0 && run.droppedBy !== undefined)?.droppedBy;

/** Names what drops the packets of silent cells; empty if unknown. */
export function dropsText(cells: readonly CellResult[]): Text[] {
  const known = cells.filter(isSilent).flatMap((cell) => {
    const by = droppedBy(cell);
    return by === undefined ? [] : [{ by, name: nameOf(cell.cell) }];
  });
  return [...Map.groupBy(known, ({ by }) => by)].map(([by, those]) => {
    const names = those.slice(0, maxNamed).map(({ name }) => name);
    return words`${listed(names, those.length)}: the packets are dropped by ${quoted(by, 500)}.`;
  });
}

/** `forwards nothing (forwarding inet4 and pf-stateful inet4)`; partly silent cells come last. */
function silentText(cells: readonly CellResult[]): Text {
  const groups = [...Map.groupBy(cells, silenceOf)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const texts = groups.map(([silence, those]) => {
    const names = those.slice(0, maxNamed).map(({ cell }) => nameOf(cell));
    return words`${silence} (${listed(names, those.length)})`;
  });
  return joined(texts, ', and ');
}

/** Cells that pass despite a certain loss, which is smaller than the margin. */
export const smallLosses = (cells: readonly CellResult[], policy: Policy): CellResult[] =>
  cells.filter(({ verdict, comparisons: [judged] }) => {
    if (verdict.kind !== 'no-regression' || judged === undefined) return false;
    const { change, low, high } = judged.interval;
    const isProven = isCost(judged.metric) ? low > 0 : high < 0;
    return isProven && Math.abs(change) < Math.abs(marginsOf(policy).loss);
  });

/** `slower by 4.07 %, within the 5.26 % allowed`; describes the greatest of several losses. */
export function smallLossText(losses: readonly CellResult[], policy: Policy): string {
  const changes = losses.flatMap(({ comparisons: [judged] }) => judged?.interval.change ?? []);
  const most = Math.max(...changes.map(Math.abs));
  const by = `${formatSize(most)}${policy.metric === 'instructionsPerPacket' ? ` more ${metricNouns[policy.metric]}` : ''}`;
  const allowed = formatPercent(Math.abs(marginsOf(policy).loss));
  return `slower by ${losses.length > 1 ? 'up to ' : ''}${by}, within the ${allowed} allowed`;
}

/** Describes a proven loss, or the deciding bound of the cell nearest to the margin. */
function nothingThatMatters(cells: readonly CellResult[], policy: Policy): string {
  const { metric } = policy;
  const proven = smallLosses(cells, policy);
  if (proven.length > 0) {
    const where = cells.length > 1 ? ` in ${partOf(proven, cells)}` : '';
    return `is ${smallLossText(proven, policy)}${where}`;
  }
  const losses = cells.flatMap(({ comparisons: [judged] }) =>
    judged === undefined ? [] : isCost(metric) ? judged.interval.high : -judged.interval.low,
  );
  const most = Math.max(0, ...losses);
  const matters = formatPercent(Math.abs(marginsOf(policy).loss));
  if (isCost(metric)) {
    return most === 0
      ? `takes no more ${metricNouns[metric]}`
      : `costs nothing that matters: ${formatSize(most)} more ${metricNouns[metric]} at most, where ${matters} would matter`;
  }
  return most === 0
    ? 'loses nothing'
    : `loses nothing that matters: ${formatSize(most)} at most, where ${matters} would matter`;
}

/** Explains, in trusted words, why most runs of cells do not count. */
function whyInvalid(cells: readonly CellResult[]): string {
  const [busy] = cells.flatMap(busyMachine);
  const invalid = cells.flatMap(({ runs }) => runs.filter(({ validity }) => validity.kind !== 'valid'));
  const silent = invalid.filter(({ pps }) => pps === 0);
  if (silent.length > invalid.length / 2) return 'no packet was received';
  const silentBase = cells.flatMap(({ runs }) =>
    runs.filter((run) => run.variant === 'base' && run.validity.kind === 'valid' && run.pps === 0),
  );
  if (silentBase.length > invalid.length) return 'base itself forwards nothing';
  const cause = causeOf(cells);
  return busy ?? (cause === undefined ? 'too few runs count' : causes[cause]);
}

/** The most frequent fault of invalid runs; undefined if trials failed without a run. */
export function causeOf(cells: readonly CellResult[]): Cause | undefined {
  const faults = cells.flatMap(({ runs }) =>
    runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity.cause : [])),
  );
  const groups = [...Map.groupBy(faults, (cause) => cause).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}

export type Cause = Extract<Validity, { kind: 'invalid' }>['cause'];

const causes: Record<Cause, string> = {
  'broken-log': 'its logs are broken',
  'too-short': 'its runs were too short',
  unsteady: 'its rate was not steady',
  hole: 'packets stopped coming through for a while',
  'generator-limited': 'the generator was the limit',
  'receiver-limited': 'the receiver was the limit',
  'machine-busy': 'the machine was too busy',
};

/** Keeps only a reason's first words, which are trusted; the rest may quote a machine. */
const busyMachine = ({ verdict }: CellResult): string[] =>
  (verdict.kind === 'invalid' && tooBusy.exec(verdict.reason)?.slice(0, 1)) || [];

const tooBusy = /^machine too busy: the (?:sender|DUT) waited for a CPU \d{1,3} % of the time/;
