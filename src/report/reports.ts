// Renders the result of a gate or of a bisection in each markup.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import type { Result } from '../model/result.ts';
import { type BisectCommentLinks, bisectComment } from './bisect-comment.ts';
import { bisectPage } from './bisect-page.ts';
import { quoted, type Text, words } from './document.ts';
import { gateComment } from './gate-comment.ts';
import { gatePage } from './gate-page.ts';
import { writeHtml } from './html.ts';
import { writeMarkdown } from './markdown.ts';
import { remarkupFailure, writeRemarkup } from './remarkup.ts';

type Links = Omit<BisectCommentLinks, 'footer' | 'isOnRevision'>;

export type ReportLinks = Links & {
  /** Markdown of our own: how to rerun, and the raw data. */
  rerun?: string;
  rawData?: string;
};

export type RemarkupLinks = Omit<Links, 'corrections'> & {
  /** URL of the job or the report. */
  details?: string;
  /** URL of earlier measurements. */
  history?: string;
  /** Commands as people type them: `@ppsgate rerun`. */
  rerun?: string;
};

/** Renders at most `mostCharacters`; of what does not fit the parts at the end are left out and counted. */
export function renderMarkdown(result: Result | BisectResult, links: ReportLinks = {}): string {
  const { rerun, rawData, page } = links;
  const footer = [
    ...(rerun ? [`Rerun: ${rerun}`] : []),
    ...(rawData ? [`Raw data: ${rawData}`] : []),
    ...linkTo('the whole report', page),
  ];
  return writeMarkdown(commentOn(result, { ...links, footer }));
}

/** Renders at most 100 kB; of what does not fit the parts at the end, ministat first, are left out and counted. */
export function renderRemarkup(result: Result | BisectResult, links: RemarkupLinks = {}): string {
  const goOn = links.goOn && `\`${links.goOn.replaceAll('`', "'")}\``;
  const footer = remarkupFooter(links);
  return writeRemarkup(commentOn(result, { ...links, goOn, footer, isOnRevision: true }));
}

const commentOn = (result: Result | BisectResult, links: BisectCommentLinks) =>
  isBisectResult(result) ? bisectComment(result, links) : gateComment(result, links);

/** Symbol and text are of our own making, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
export const renderRemarkupFailure = (
  failure: { symbol: string; text: string; said: string },
  links: RemarkupLinks = {},
): string => remarkupFailure(failure, remarkupFooter(links));

const remarkupFooter = ({ rerun, page, details, history }: RemarkupLinks): Text[] => [
  ...(rerun ? [words`Rerun: ${quoted(rerun)}`] : []),
  ...linkTo('the whole report', page),
  ...linkTo('details', details),
  ...linkTo('history', history),
];

const linkTo = (text: string, address: string | undefined): Text[] =>
  address ? [{ kind: 'link', text, address }] : [];

/** Renders a page that needs nothing beside it; its flamegraphs are those of the profiles. */
export const renderHtml = (
  result: Result | BisectResult,
  profiles: readonly CellProfiles[] = [],
): string =>
  writeHtml(isBisectResult(result) ? bisectPage(result, profiles) : gatePage(result, profiles));

export const isBisectResult = (result: Result | BisectResult): result is BisectResult =>
  'kind' in result;
