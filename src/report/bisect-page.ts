// Builds the page of a bisection with its whole result.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { counted } from '../model/format.ts';
import { bisectHeadline, bisectLook, bisectNextSteps, faultText, searchedKind } from './bisect-headline.ts';
import { bisectPlot } from './bisect-plot.ts';
import { type BisectRow, bisectRows, hasFixUps } from './bisect-rows.ts';
import {
  failedRevisions,
  faultGroups,
  faultOutput,
  howDecided,
  neighbourMinistat,
  rangeFacts,
  revertLines,
  searchedText,
} from './bisect-sections.ts';
import { numberColumns } from './cell-rows.ts';
import { runTable, whyBlocks } from './cell-section.ts';
import {
  type Block,
  commitId,
  faint,
  joined,
  list,
  type PageDocument,
  type PageSection,
  paragraph,
  quoted,
  strong,
  symbols,
  type Text,
  verdictWord,
  words,
} from './document.ts';
import { graphFolds, picturesThatFit } from './graph-folds.ts';
import { timeText } from './html-pieces.ts';
import { ministatFold } from './ministat-blocks.ts';
import { graphsOf } from './report-flamegraphs.ts';
import { invalidRunLines, settingOf } from './sections.ts';
import { bothForms } from './svg.ts';

export function bisectPage(result: BisectResult, profiles: readonly CellProfiles[]): PageDocument {
  const graphs = graphsOf(result, profiles);
  const verdict = bisectLook(result);
  const [first = '', ...others] = bisectNextSteps(result);
  return {
    title: `${symbols[verdict]} ppsgate: ${bisectHeadline(result)}`,
    verdict,
    headline: bisectHeadline(result),
    head: [
      paragraph(searchedText(result)),
      paragraph(words`${strong('What now:')} ${first}`),
      ...list(others),
      faint(settingOf(result)),
    ],
    contents: [],
    sections: [
      revisions(result),
      section('revert', 'The bad commit without the culprit', list(revertLines(result))),
      section('why', 'Before and after', [...whyBlocks(result), ...graphFolds(picturesThatFit(graphs))]),
      section('faults', 'What cannot be measured', faults(result)),
      section('remarks', 'Testbed notes', warnings(result)),
      section('numbers', 'Numbers', numbers(result)),
      section('environment', 'Environment', [environment(result)]),
      section('reading', 'How it was decided', howDecided(result).map(paragraph)),
    ].filter(({ blocks }) => blocks.length > 0),
    version: result.generator.version,
    hasGraphs: graphs.length > 0,
  };
}

const section = (id: string, heading: string, blocks: readonly Block[]): PageSection => ({
  id,
  heading,
  blocks,
});

function revisions(result: BisectResult): PageSection {
  const rows = bisectRows(result);
  const isFolded = rows.some(({ kind }) => kind === 'folded');
  const all = isFolded ? bisectRows(result, Number.POSITIVE_INFINITY) : [];
  const caption = result.isShared
    ? 'Good first, bad last; each is compared with good in the same trial'
    : 'Good first, bad last';
  return section('revisions', 'The commits', [
    ...bothForms((form) => bisectPlot(result, form)),
    revisionTable(result, rows, `${caption}; P is the probability that a commit is the one`),
    ...(isFolded
      ? [
          {
            kind: 'fold',
            title: `good and all ${result.revisions.length - 1} after it`,
            blocks: [revisionTable(result, all, caption)],
          } as const,
        ]
      : []),
  ]);
}

/** A phone shows three columns. */
function revisionTable(result: BisectResult, rows: readonly BisectRow[], caption: string): Block {
  const withFixUps = hasFixUps(rows);
  return {
    kind: 'table',
    caption,
    columns: [
      ...numberColumns('n'),
      { head: searchedKind(result) },
      { head: 'outcome' },
      ...numberColumns(
        ...(result.isShared ? [] : ['median']),
        'against good',
        'P',
        result.isShared ? 'trials (runs)' : 'boots',
      ),
      ...(withFixUps ? [{ head: 'with' }] : []),
    ],
    groups: [{ weight: 0, rows: rows.map((row) => rowOf(row, withFixUps, result)) }],
  };
}

function rowOf(row: BisectRow, withFixUps: boolean, result: BisectResult): Text[] {
  if (row.kind === 'folded') {
    const others = 4 + (result.isShared ? 0 : 1) + (withFixUps ? 1 : 0);
    const empty = new Array<Text>(others).fill('');
    return ['', { kind: 'styled', style: 'faint', text: row.text }, ...empty];
  }
  const { place, subject, isFurther, fixUps, cells } = row;
  const id = commitId(row.id);
  const named = row.isNamed ? verdictWord(bisectLook(result), id) : id;
  return [
    place,
    isFurther ? '↳' : [named, { kind: 'styled', style: 'subject', text: quoted(subject, 120) }],
    cells.outcome,
    ...(cells.median === undefined ? [] : [cells.median]),
    cells.againstGood,
    cells.p,
    cells.boots,
    ...(withFixUps ? [fixUps.length > 0 ? joined(fixUps.map(commitId), ' ') : '–'] : []),
  ];
}

const maxFaults = 50;

function faults(result: BisectResult): Block[] {
  const groups = faultGroups(result);
  const rest = groups.length - maxFaults;
  return [
    ...groups.slice(0, maxFaults).map(
      (group): Block => ({
        kind: 'fold',
        title: `${failedRevisions(group)}: ${faultText(group.fault)}`,
        blocks: [{ kind: 'code', name: 'output', text: faultOutput(group.fault) }],
      }),
    ),
    ...(rest > 0 ? [paragraph(counted(rest, 'more fault'))] : []),
  ];
}

const warnings = ({ testbed }: BisectResult): Block[] => list(testbed.warnings.map((text) => quoted(text, 500)));

function numbers(result: BisectResult): Block[] {
  const inOrder = result.runs.toSorted((a, b) => a.number - b.number);
  return [
    ...[neighbourMinistat(result)].filter((one) => one !== undefined).map(ministatFold),
    ...list(invalidRunLines(inOrder)),
    ...(inOrder.length > 0
      ? [
          {
            kind: 'fold',
            title: `${counted(inOrder.length, 'run')} in order`,
            blocks: [runTable(inOrder)],
          } as const,
        ]
      : []),
  ];
}

const environment = (result: BisectResult): Block => ({
  kind: 'facts',
  facts: [
    ...rangeFacts(result),
    ['testbed', result.testbed.name],
    ...Object.entries(result.testbed.fingerprint),
    ['began', timeText(result.startedAt)],
    ['ended', timeText(result.finishedAt)],
    ['seed', String(result.seed)],
  ],
});
