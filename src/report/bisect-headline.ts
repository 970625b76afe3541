// Summarizes the answer of a bisection in one sentence, with the next steps.

import type {
  BisectAnswer,
  BisectChange,
  BisectResult,
  BisectRevision,
  LocatedChange,
  RevisionFault,
} from '../model/bisect-result.ts';
import {
  counted,
  formatChangeAndError,
  formatProbability,
  formatSize,
  formatSizeAndError,
  metricNouns,
} from '../model/format.ts';
import { isCost, type Metric } from '../model/metric.ts';
import { shortId } from '../model/patch.ts';
import { type CellVerdict, isLoss } from '../model/result.ts';
import { symbols } from './document.ts';
import { rejectionText } from './headline.ts';

/** `f8f5b459d21e costs 55.9 ± 0.2 %, P > 0.999, 10 boots`; trusted plain text without markup. */
export function bisectHeadline(result: BisectResult): string {
  const { answer } = result;
  const boots = bootsText(result);
  switch (answer.kind) {
    case 'culprit':
    case 'group':
      return `${foundText(result, answer)}, ${probabilityText(answer.probability)}, ${boots}`;
    case 'several': {
      const { found, open } = answer;
      const named = found.slice(0, maxNamed).map((one) => foundText(result, one));
      const rest = found.length - named.length;
      const all = rest > 0 ? [...named, `${rest} more`] : named;
      return `${counted(found.length, 'change')}: ${all.join('; ')}${openText(open, searchedKind(result))}, ${boots}`;
    }
    case 'not-reproduced':
      return `${notReproduced(result, answer)}, ${boots}`;
    case 'slide': {
      const way = `${bitByBit(answer.change, result.metric)}: ${changeText(answer.change)} over ${counted(answer.steps.length, 'step')}`;
      return `${way}, and no ${searchedKind(result)} stands out, ${boots}`;
    }
    case 'inconclusive': {
      const best = answer.best
        .slice(0, maxNamed)
        .map(({ revision, probability }) => `${idOf(result, revision)} (${probabilityText(probability)})`);
      const candidates = best.length === 0 ? '' : `: ${best.join(', ')}`;
      return `no ${searchedKind(result)} is certain yet${candidates}, ${boots}, about ${answer.bootsExpected} more expected`;
    }
  }
}

/** Fits a plot, which is narrower, and names the metric. */
export function bisectTitle(result: BisectResult): string {
  const { answer, metric } = result;
  switch (answer.kind) {
    case 'culprit':
      return `${idOf(result, answer.revision)} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
    case 'group':
      return `one of these ${answer.last - answer.after} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
    case 'several':
      return counted(answer.found.length, 'change');
    case 'not-reproduced':
      return answer.fault === undefined ? 'good and bad hardly differ' : faultOfEnd(result, answer);
    case 'slide':
      return `${bitByBit(answer.change, metric)}: ${changeText(answer.change)}`;
    case 'inconclusive':
      return `no ${searchedKind(result)} is certain yet`;
  }
}

export function bisectLook({ answer, metric }: BisectResult): CellVerdict['kind'] {
  switch (answer.kind) {
    case 'culprit':
    case 'group':
      return lookOf(answer.change, metric);
    case 'several':
      return answer.found.some(({ change }) => isLoss({ metric }, change.change)) ? 'regression' : 'improvement';
    case 'not-reproduced':
      return 'invalid';
    case 'slide':
    case 'inconclusive':
      return 'inconclusive';
  }
}

export const bisectSymbol = (result: BisectResult): string => symbols[bisectLook(result)];

const lookOf = ({ change }: BisectChange, metric: Metric): 'regression' | 'improvement' =>
  isLoss({ metric }, change) ? 'regression' : 'improvement';

/** Commands and options for the proposed steps; backticks mark typed text. */
export type BisectWays = {
  fixUp: (commit: string) => string;
  goOn: string;
  verifyRevert: string;
};

const commandLine: BisectWays = {
  fixUp: (commit) => `\`--fix-up ${commit}\``,
  goOn: '`ppsgate bisect --resume DIR --max-boots N`',
  verifyRevert: '`--verify-revert`',
};

/** At least one sentence; backticks mark typed text. */
export function bisectNextSteps(result: BisectResult, ways: BisectWays = commandLine): string[] {
  const { answer } = result;
  switch (answer.kind) {
    case 'culprit':
      return afterCulprit(result, answer, ways);
    case 'group':
      return [afterGroup(result, answer, ways)];
    case 'several':
      return [
        ...answer.found.flatMap((one) =>
          one.kind === 'culprit' ? togetherLines(result, one) : [afterGroup(result, one, ways)],
        ),
        ...(answer.open.length > 0
          ? [`Allow more ${unitOfRuns(result)}s for the open changes: ${ways.goOn}.`]
          : ['Check each of them separately.']),
      ].slice(0, maxSteps);
    case 'not-reproduced':
      return [afterNothing(result, answer, ways)];
    case 'slide':
      return [
        `Take the ends of one step as good and bad where a part of the range matters most, or allow more ${unitOfRuns(result)}s with ${ways.goOn}.`,
        `If every ${searchedKind(result)} costs a little, profiles of good and bad show more than any single commit.`,
      ];
    case 'inconclusive':
      return [
        `Allow more ${unitOfRuns(result)}s with ${ways.goOn}, about ${answer.bootsExpected} are expected; a quieter cell or testbed needs fewer.`,
      ];
  }
}

type Culprit = Extract<LocatedChange, { kind: 'culprit' }>;
type Group = Extract<LocatedChange, { kind: 'group' }>;

const maxNamed = 3;
const maxSteps = 5;

function afterCulprit(result: BisectResult, answer: Culprit, ways: BisectWays): string[] {
  const { revert, reason } = result;
  const where = reason === undefined ? 'See what it does for each packet' : 'See below which functions changed';
  const look = isLoss(result, answer.change.change)
    ? `${where}, and make that cheaper; or keep it, and justify the loss.`
    : `Nothing needs to be fixed. ${where}.`;
  const verify =
    revert === undefined
      ? `To confirm it, measure the bad commit without the culprit: ${ways.verifyRevert}.`
      : undefined;
  return [look, ...togetherLines(result, answer), verify].filter((line) => line !== undefined);
}

/** Warns of a fix-up that was measured together with a revision, and may be the cause instead. */
function togetherLines(result: BisectResult, { measuredWith, revision }: Culprit): string[] {
  if (measuredWith.length === 0) return [];
  const names = listed(measuredWith.map(shortId));
  return [
    `${idOf(result, revision)} could only be measured with ${names} applied: a cost of ${measuredWith.length > 1 ? 'theirs' : 'that one'} would look the same, so check both.`,
  ];
}

function afterGroup({ revisions, isShared }: BisectResult, { likelyFix }: Group, { fixUp, goOn }: BisectWays): string {
  const fix = revisions.find(({ commit }) => commit === likelyFix);
  if (fix?.diff !== undefined) {
    return `No commit between them could be measured; ${revisionId(fix)} probably made the later ones work.`;
  }
  return likelyFix === undefined
    ? `No commit between them could be measured: name a commit that makes them work with ${fixUp('COMMIT')}, or read them; more ${unitOfRuns({ isShared })}s (${goOn}) would not distinguish them.`
    : `No commit between them could be measured: bisect again with ${fixUp(shortId(likelyFix))}, which probably made the later ones work.`;
}

type NotReproduced = Extract<BisectAnswer, { kind: 'not-reproduced' }>;

function afterNothing(
  { revisions, isShared }: BisectResult,
  { fault }: NotReproduced,
  { fixUp, goOn }: BisectWays,
): string {
  if (fault === undefined) {
    return `Check good and bad, the scenario, and that the loss was seen on this testbed; if it is smaller, a quieter cell or more ${unitOfRuns({ isShared })}s (${goOn}) may show it.`;
  }
  const end = endOf(fault.revision, revisions);
  return `Name another ${end} commit that works, or a fix-up that makes this one work with ${fixUp('COMMIT')}.`;
}

/** `f8f5b459d21e costs 55.9 ± 0.2 %`, `one of these 3 costs 55.9 ± 0.2 %: …`. */
function foundText(result: BisectResult, found: LocatedChange): string {
  const { metric } = result;
  const effectText = `${verbOf(found.change, metric)} ${sizeOf(found.change)}${unitOf(found.change, metric)}`;
  if (found.kind === 'culprit') return `${idOf(result, found.revision)} ${effectText}`;
  const count = found.last - found.after;
  const ids =
    count <= maxNamed
      ? Array.from({ length: count }, (_, index) => idOf(result, found.after + 1 + index)).join(', ')
      : `${idOf(result, found.after + 1)} … ${idOf(result, found.last)}`;
  return `one of these ${count} ${effectText}: ${ids}`;
}

function wayOf({ change }: BisectChange, metric: Metric): readonly [string, string] {
  const isLost = isLoss({ metric }, change);
  if (!isCost(metric)) return [isLost ? 'costs' : 'brings', ''];
  const noun = metricNouns[metric];
  return isLost ? ['costs', ` more ${noun}`] : ['saves', ` of the ${noun}`];
}

const verbOf = (change: BisectChange, metric: Metric): string => wayOf(change, metric)[0];
const unitOf = (change: BisectChange, metric: Metric): string => wayOf(change, metric)[1];

/** The farther end of an interval that may be asymmetric. */
const errorOf = ({ change, low, high }: BisectChange): number => Math.max(change - low, high - change, 0);

const sizeOf = (change: BisectChange): string => formatSizeAndError(change.change, errorOf(change));

export const changeText = (change: BisectChange): string => formatChangeAndError(change.change, errorOf(change));

const bitByBit = ({ change }: BisectChange, metric: Metric): string =>
  isLoss({ metric }, change) ? 'lost gradually' : 'gained gradually';

function notReproduced(result: BisectResult, answer: NotReproduced): string {
  const { change, fault } = answer;
  if (fault !== undefined) return faultOfEnd(result, answer);
  if (change === undefined) return 'good and bad could not be distinguished';
  const most = Math.max(Math.abs(change.low), Math.abs(change.high));
  return `good and bad differ by less than ${formatSize(most)}: ${changeText(change)}`;
}

/** `the bad one cannot be measured: it forwards nothing`. */
function faultOfEnd({ revisions }: BisectResult, { fault }: NotReproduced): string {
  if (fault === undefined) return 'one of them cannot be measured';
  return `the ${endOf(fault.revision, revisions)} one cannot be measured: it ${faultText(fault.fault)}`;
}

const endOf = (revision: number, revisions: readonly BisectRevision[]): string =>
  revision === 0 ? 'good' : revision === revisions.length - 1 ? 'bad' : 'middle';

/** `does not boot`, `forwards nothing`: the fault of a revision. */
export const faultText = (fault: RevisionFault): string =>
  fault.kind === 'forwards-nothing' ? 'forwards nothing' : rejectionText(fault);

function probabilityText(probability: number): string {
  const shown = formatProbability(probability);
  return /^[<>]/.test(shown) ? `P ${shown}` : `P = ${shown}`;
}

const openText = (open: readonly { after: number; last: number }[], kind: string): string => {
  const count = open.reduce((sum, { after, last }) => sum + last - after, 0);
  return count === 0 ? '' : `; ${counted(count, kind)} still open`;
};

const bootsText = (result: BisectResult): string => counted(result.boots, unitOfRuns(result));

const unitOfRuns = ({ isShared }: Pick<BisectResult, 'isShared'>): string => (isShared ? 'trial' : 'boot');

const listed = (parts: readonly string[]): string =>
  [parts.slice(0, -1).join(', '), parts.at(-1)].filter(Boolean).join(' and ');

/** Name of a revision; an untrusted result may have an invalid index. */
const idOf = ({ revisions }: BisectResult, index: number): string =>
  revisionId(revisions[index]) || 'an unknown commit';

/** `f8f5b459d21e`, or `diff 32` of a commit that only ppsgate has; empty without a revision. */
export const revisionId = (revision: Pick<BisectRevision, 'commit' | 'diff'> | undefined): string =>
  revision?.diff === undefined ? shortId(revision?.commit ?? '') : `diff ${revision.diff}`;

/** The kind of thing that is searched: `diff` or `commit`. */
export const searchedKind = ({ revisions }: BisectResult): 'diff' | 'commit' =>
  revisions.some(({ diff }) => diff !== undefined) ? 'diff' : 'commit';
