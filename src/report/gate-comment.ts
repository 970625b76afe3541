// Builds the comment on a gate: the verdict, the table of all cells, and folded details.

import { type Patch, patchName } from '../model/patch.ts';
import type { CellResult, Result } from '../model/result.ts';
import { cellTable, weightOf } from './cell-rows.ts';
import { isExplained, whyLines, whyOfCell } from './change-reason.ts';
import { type CommentDocument, type CommentLinks, correctionsOf } from './comment-links.ts';
import {
  type Block,
  type Detail,
  detailList,
  list,
  mark,
  paragraph,
  quoted,
  strong,
  type Text,
  words,
} from './document.ts';
import { earlierGatesText } from './earlier-gates-text.ts';
import { dropsText, patchLabel, sentence, symbolOf } from './headline.ts';
import { limitLines } from './limits.ts';
import { ministatDetails } from './ministat-blocks.ts';
import { meaningOf, nextStep } from './next-steps.ts';
import {
  apartLines,
  buildNoiseLines,
  environmentLines,
  failureOutput,
  failureText,
  invalidLines,
  leftOutLines,
  movedBaselineLines,
  notesOf,
  otherMetrics,
  otherMetricTitle,
  readingParagraphs,
  rule,
  setting,
  uncountedLines,
  unseenBy,
  verdictMeanings,
} from './sections.ts';

export const gateComment = (result: Result, links: CommentLinks): CommentDocument => ({
  headline: words`${mark(symbolOf(result))} ppsgate: ${patchText(result, links)} ${sentence(result)}`,
  main: [...mainBlocks(result, links), paragraph(setting(result))],
  remarks: remarks(result),
  details: [...correctionsOf(links), ...details(result, links)],
  footer: links.footer,
});

/** Readers of a revision know its number, but not the diff's. */
const patchText = (result: Result, { isOnRevision }: CommentLinks): Text => {
  const { patch } = result;
  if (!isOnRevision) return patchLabel(result);
  return quoted(patch.kind === 'revision' ? `diff ${patch.diff}` : patchLabel(result));
};

function mainBlocks(result: Result, links: CommentLinks): Block[] {
  const { outcome, policy } = result;
  const next = paragraph(words`${strong('What now:')} ${nextStep(result, links.goOn)}`);
  const meaning = meaningOf(result);
  const before = earlierGatesText(result);
  const missing = missingBaseText(result.patch);
  const drops = outcome.kind === 'judged' ? dropsText(outcome.cells) : [];
  const meant = [missing, meaning, ...drops, before].filter((text) => text !== undefined).map(paragraph);
  switch (outcome.kind) {
    case 'judged':
      return [
        ...meant,
        next,
        cellTable(result, outcome.cells, policy.metric),
        ...list(invalidLines(outcome.cells)),
        ...whyLines(outcome.cells, links).map(paragraph),
        ...limitLines(outcome.cells).map(paragraph),
        ...(links.image === undefined
          ? []
          : [
              {
                kind: 'picture',
                image: links.image,
                alt: 'the changes of all cells and their intervals',
              } as const,
            ]),
        paragraph(rule(policy)),
      ];
    case 'unchanged':
      return [...meant, next];
    default:
      return [
        paragraph(failureText(outcome, result.patch)),
        { kind: 'code', name: 'output', text: failureOutput(outcome) },
        next,
      ];
  }
}

/**
 * Shows a missing parent openly, not in a fold: without it, a stacked revision may behave unlike its author expects.
 */
const missingBaseText = (patch: Patch): Text | undefined =>
  patch.kind !== 'revision' || patch.missingBase === undefined
    ? undefined
    : words`⚠️ ${strong('Measured without its base:')} ${quoted(patch.missingBase, 300)}`;

/** Lists easily missed facts that do not count against the patch. */
function remarks(result: Result): Block[] {
  const { outcome, policy } = result;
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  return [
    ...list(movedBaselineLines(cells), words`⚠️ ${strong('baseline shifted')}, which does not count against the patch:`),
    ...list(leftOutLines(result), 'Left out of the comparison, which does not count against the patch:'),
    ...list(outcome.kind === 'judged' ? unseenBy(policy.metric) : [], 'What this metric does not cover:'),
  ];
}

function details(result: Result, links: CommentLinks): Detail[] {
  const { outcome, policy, testbed, patch } = result;
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const inLines = (texts: readonly string[]) => texts.map((text) => quoted(text, 300));
  return [
    ...otherMetrics(policy, cells).map(
      (metric): Detail => ({
        fold: 'runs',
        title: otherMetricTitle(metric),
        blocks: [cellTable(result, cells, metric)],
      }),
    ),
    ...detailList('runs', 'Excluded runs', uncountedLines(cells)),
    ...detailList('runs', 'Included outliers', apartLines(cells)),
    ...detailList('statistics', 'Noise of builds', buildNoiseLines(result)),
    ...detailList('environment', 'Testbed notes', inLines(testbed.warnings)),
    ...detailList('environment', 'Notes on the revision', inLines(notesOf(patch))),
    ...detailList('environment', 'Patch, variants and testbed', [
      patchLine(result, links),
      ...environmentLines(result),
    ]),
    ...(outcome.kind === 'judged' ? [howToRead(result)] : []),
    ...changedFunctions(cells.filter(isExplained), links),
    ...ministatDetails(policy, cells),
  ];
}

function patchLine({ patch }: Result, { isOnRevision }: CommentLinks): Text {
  const [title, author] = [quoted(patch.title), quoted(patch.author)];
  if (isOnRevision) {
    const diff = patch.kind === 'revision' ? ` diff ${patch.diff}` : '';
    return words`patch: ${patchName(patch)}${diff}, ${title}, by ${author}`;
  }
  if (patch.kind !== 'revision') return words`patch: ${title} by ${author}`;
  const link = { kind: 'link', text: patchName(patch), address: patch.url } as const;
  return words`patch: ${link} diff ${String(patch.diff)}, ${title} by ${author}`;
}

const howToRead = (result: Result): Detail => ({
  fold: 'statistics',
  title: 'How to read this',
  blocks: [
    ...readingParagraphs(result).map(paragraph),
    ...list(verdictMeanings(result.policy).map(([verdict, meaning]) => words`${strong(verdict)}: ${meaning}`)),
  ],
});

function changedFunctions(cells: readonly CellResult[], links: CommentLinks): Detail[] {
  if (cells.length === 0) return [];
  const all = cells.map((cell) => ({ weight: weightOf(cell), blocks: whyOfCell(cell, links) }));
  return [{ fold: 'runs', title: 'Changed functions', blocks: [{ kind: 'cells', cells: all }] }];
}
