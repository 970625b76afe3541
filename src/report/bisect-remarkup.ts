// The comment on a bisection in Remarkup, which folds nothing and escapes nothing: texts of others stand in code only.

import type { BisectResult } from '../model/bisect-result.ts';
import { plain, plainLine } from '../model/escape.ts';
import { remarkup, remarkupCell, remarkupText } from '../model/remarkup.ts';
import {
  type BisectWays,
  bisectHeadline,
  bisectNextSteps,
  bisectSymbol,
} from './bisect-headline.ts';
import { bisectPlotAlt } from './bisect-plot.ts';
import { type BisectRow, bisectRows } from './bisect-rows.ts';
import { bisectSections, searchedText } from './bisect-sections.ts';
import { flamegraphsText, isProfiled, reasonText } from './change-reason.ts';
import {
  bold,
  commonSection,
  link,
  type RemarkupLinks,
  scrolled,
  tableRow,
  whyOfCell,
  within,
} from './remarkup.ts';
import { settingOf } from './sections.ts';

/** What only the place of publication knows. */
type BisectLinks = Omit<RemarkupLinks, 'goOn'> & {
  /** How to ask for what is proposed. */
  ways?: BisectWays;
};

/** Renders at most 100 kB: what does not fit is left out from the end, and said. */
export function renderBisectRemarkup(result: BisectResult, links: BisectLinks = {}): string {
  const why = isProfiled(result) ? [scrolled('why', whyOfCell(result))] : [];
  return within(
    [
      // A commit's beginning would become a link to whatever commit it names there.
      bold(`${bisectSymbol(result)} ppsgate: ${remarkupIds(bisectHeadline(result))}`),
      searchedText(result, remarkup),
      bisectNextSteps(result, links.ways)
        .map((step) => `- ${remarkupIds(step)}`)
        .join('\n'),
      table(result),
      ...whyLine(result, links),
      ...plot(result, links),
      settingOf(result, remarkup),
    ],
    [...bisectSections(result, remarkup, plain).map((one) => commonSection(one)), ...why],
    links,
  );
}

/** Ids of commits in a text of our own stand in code, as far as they do not already. */
const remarkupIds = (text: string): string =>
  text
    .split('`')
    .map((part, index) =>
      index % 2 === 1
        ? remarkupText(part)
        : part.replace(/\b[0-9a-f]{12,64}\b/g, (id) => remarkupText(id)),
    )
    .join('');

/** A phone has room for four narrow columns: what a commit is and what came of it share one. */
const table = (result: BisectResult): string =>
  [
    tableRow(['commit and outcome', result.isShared ? 'runs' : 'boots', 'median', 'P']),
    tableRow(['---', '---', '---', '---']),
    ...bisectRows(result).map(rowText),
  ].join('\n');

function rowText(row: BisectRow): string {
  if (row.kind === 'folded') return tableRow([row.text, '–', '–', '–']);
  const { place, commit, subject, isFurther, fixUps, cells } = row;
  const id = remarkupCell(commit);
  const what = isFurther
    ? ['↳']
    : [place, row.isNamed ? bold(id) : id, remarkupCell(plainLine(subject, 72))];
  const on = fixUps.length > 0 ? ['with', ...fixUps.map((one) => remarkupCell(one))] : [];
  const against = cells.againstGood === '–' ? '' : ` (${cells.againstGood})`;
  const first = [...what, ...on, '–', cells.outcome].filter(Boolean).join(' ');
  return tableRow([first, cells.boots, `${cells.median}${against}`, cells.p]);
}

/** Nothing where nothing was profiled. */
function whyLine(result: BisectResult, links: BisectLinks): string[] {
  if (!isProfiled(result)) return [];
  const line = `**Why**: ${reasonText(result, remarkup)}`;
  return [[line, flamegraphsText(result, links, link)].filter(Boolean).join(' · ')];
}

const plot = (result: BisectResult, { image }: BisectLinks): string[] =>
  image === undefined ? [] : [`{${image}, size=full, alt=${bisectPlotAlt(result)}}`];
