// Builds the comment on a bisection: its sentence, the next steps, notable revisions, and details.

import type { BisectResult } from '../model/bisect-result.ts';
import { type BisectWays, bisectHeadline, bisectLook, bisectNextSteps, searchedKind } from './bisect-headline.ts';
import { bisectPlotAlt } from './bisect-plot.ts';
import { type BisectRow, bisectRows, hasFixUps } from './bisect-rows.ts';
import {
  environmentLines,
  faultLines,
  howDecided,
  neighbourMinistat,
  revertLines,
  searchedText,
} from './bisect-sections.ts';
import { numberColumns } from './cell-rows.ts';
import { isProfiled, reasonText, whyOfCell } from './change-reason.ts';
import { type CommentDocument, type CommentLinks, correctionsOf } from './comment-links.ts';
import {
  type Block,
  commitId,
  type Detail,
  detailList,
  joined,
  list,
  mark,
  paragraph,
  quoted,
  strong,
  type Text,
  words,
} from './document.ts';
import { ministatDetail } from './ministat-blocks.ts';
import { invalidRunLines, settingOf } from './sections.ts';

/** `ways` are the commands for the proposed steps. */
export type BisectCommentLinks = CommentLinks & { ways?: BisectWays };

export function bisectComment(result: BisectResult, links: BisectCommentLinks): CommentDocument {
  const why: Detail[] = isProfiled(result)
    ? [{ fold: 'runs', title: 'Changed functions', blocks: whyOfCell(result, links) }]
    : [];
  return {
    headline: words`${mark(bisectLook(result))} ppsgate: ${bisectHeadline(result)}`,
    main: [
      paragraph(searchedText(result)),
      ...whatNow(bisectNextSteps(result, links.ways), links),
      table(result),
      ...(isProfiled(result) ? [paragraph(words`${strong('Why')}: ${reasonText(result, links)}`)] : []),
      ...(links.image === undefined
        ? []
        : [{ kind: 'picture', image: links.image, alt: bisectPlotAlt(result) } as const]),
      paragraph(settingOf(result)),
    ],
    remarks: list(revertLines(result), 'The bad commit without the culprit:'),
    details: [...correctionsOf(links), ...details(result), ...why],
    footer: links.footer,
  };
}

function whatNow(steps: readonly string[], { isOnRevision }: CommentLinks): Block[] {
  if (isOnRevision) return list(steps);
  const title = strong('What now:');
  return steps.length === 1 ? [paragraph(words`${title} ${steps}`)] : list(steps, title);
}

const details = (result: BisectResult): Detail[] => [
  ...detailList('runs', 'Commits that cannot be measured', faultLines(result)),
  ...detailList('runs', 'Excluded runs', invalidRunLines(result.runs)),
  ...detailList(
    'environment',
    'Testbed notes',
    result.testbed.warnings.map((warning) => quoted(warning, 300)),
  ),
  ...detailList('environment', 'Range and testbed', environmentLines(result)),
  ...detailList('statistics', 'How it was decided', howDecided(result)),
  ...[neighbourMinistat(result)].filter((one) => one !== undefined).map(ministatDetail),
];

function table(result: BisectResult): Block {
  const rows = bisectRows(result);
  const withFixUps = hasFixUps(rows);
  const numbers = result.isShared ? ['trials (runs)'] : ['boots', 'median'];
  const against = 'against good';
  return {
    kind: 'table',
    columns: [
      ...numberColumns('n'),
      { head: searchedKind(result) },
      { head: 'subject' },
      ...(withFixUps ? [{ head: 'with' }] : []),
      ...numberColumns(...numbers, against),
      { head: 'outcome' },
      ...numberColumns('P'),
    ],
    groups: rows.map((row) => ({ weight: 0, rows: [wideRow(row, withFixUps, result)] })),
    narrow: {
      columns: [`${searchedKind(result)} and outcome`, ...(result.isShared ? [...numbers, against] : numbers), 'P'].map(
        (head) => ({ head }),
      ),
      groups: rows.map((row) => ({ weight: 0, rows: [narrowRow(row)] })),
    },
  };
}

function wideRow(row: BisectRow, withFixUps: boolean, { isShared }: BisectResult): Text[] {
  if (row.kind === 'folded') {
    const others = 4 + (isShared ? 0 : 1) + (withFixUps ? 1 : 0);
    return ['', '', row.text, ...new Array<string>(others).fill('')];
  }
  const { place, subject, isFurther, fixUps, cells } = row;
  return [
    place,
    isFurther ? '↳' : idOf(row),
    isFurther ? '' : quoted(subject, 72),
    ...(withFixUps ? [fixUps.length > 0 ? joined(fixUps.map(commitId), ' ') : '–'] : []),
    cells.boots,
    ...(cells.median === undefined ? [] : [cells.median]),
    cells.againstGood,
    cells.outcome,
    cells.p,
  ];
}

function narrowRow(row: BisectRow): Text[] {
  if (row.kind === 'folded') return [row.text, '–', '–', '–'];
  const { place, subject, isFurther, fixUps, cells } = row;
  const commit = isFurther ? ['↳'] : [place, idOf(row), quoted(subject, 72)];
  const on = fixUps.length > 0 ? ['with', ...fixUps.map(commitId)] : [];
  const against = cells.againstGood === '–' ? '' : ` (${cells.againstGood})`;
  const first = joined([...commit, ...on, '–', cells.outcome].filter(Boolean), ' ');
  const change = cells.median === undefined ? cells.againstGood : `${cells.median}${against}`;
  return [first, cells.boots, change, cells.p];
}

const idOf = ({ id, isNamed }: Extract<BisectRow, { kind: 'revision' }>): Text =>
  isNamed ? strong(commitId(id)) : commitId(id);
