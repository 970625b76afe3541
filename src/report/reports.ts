// Renders the result of a gate or bisection in each markup.

import type { CellProfiles } from '../analysis/profile/result-profiles.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import type { Result } from '../model/result.ts';
import { type BisectCommentLinks, bisectComment } from './bisect-comment.ts';
import { bisectPage } from './bisect-page.ts';
import { type Block, type PageDocument, type PageSection, quoted, type Text, words } from './document.ts';
import { gateComment } from './gate-comment.ts';
import { gatePage } from './gate-page.ts';
import { writeHtml } from './html.ts';
import { bullets } from './html-pieces.ts';
import { writeMarkdown } from './markdown.ts';
import { html } from './markup.ts';
import { remarkupFailure, writeRemarkup } from './remarkup.ts';

type Links = Omit<BisectCommentLinks, 'footer' | 'isOnRevision'>;

export type ReportLinks = Links & {
  /** Trusted Markdown: the way to rerun, and the raw data. */
  rerun?: string;
  rawData?: string;
};

type RemarkupLinks = Omit<Links, 'corrections'> & {
  details?: string;
  history?: string;
  /** Commands as typed: `@ppsgate rerun`. */
  rerun?: string;
};

/** Renders at most `maxCharacters`; parts at the end that do not fit are dropped and counted. */
export function renderMarkdown(result: Result | BisectResult, links: ReportLinks = {}): string {
  const { rerun, rawData, page } = links;
  const footer = [
    ...(rerun ? [`Rerun: ${rerun}`] : []),
    ...(rawData ? [`Raw data: ${rawData}`] : []),
    ...linkTo('the whole report', page),
  ];
  return writeMarkdown(commentOn(result, { ...links, footer }));
}

/** Renders at most 100 kB; parts at the end, ministat first, are dropped and counted. */
export function renderRemarkup(result: Result | BisectResult, links: RemarkupLinks = {}): string {
  const goOn = links.goOn && `\`${links.goOn.replaceAll('`', "'")}\``;
  const footer = remarkupFooter(links);
  return writeRemarkup(commentOn(result, { ...links, goOn, footer, isOnRevision: true }));
}

const commentOn = (result: Result | BisectResult, links: BisectCommentLinks) =>
  isBisectResult(result) ? bisectComment(result, links) : gateComment(result, links);

/** Symbol and text are trusted, like `⚪` and `not measured: cancelled`; `message` is the sentence behind it. */
export const renderRemarkupFailure = (
  failure: { symbol: string; text: string; message: string },
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

/** `graphFiles` are names of flamegraphs beside the page, which it links. */
export function renderHtml(
  result: Result | BisectResult,
  profiles: readonly CellProfiles[] = [],
  graphFiles: readonly string[] = [],
): string {
  const page = isBisectResult(result) ? bisectPage(result, profiles) : gatePage(result, profiles);
  return writeHtml(withGraphFiles(page, graphFiles));
}

function withGraphFiles(page: PageDocument, names: readonly string[]): PageDocument {
  if (names.length === 0) return page;
  const links = names.map((name) => html`<a href="${name}">${name.replace(/\.svg$/, '')}</a>`);
  const block: Block = { kind: 'drawing', drawing: html`${bullets(links)}` };
  const section: PageSection = { id: 'graphs', heading: 'Flamegraphs', blocks: [block] };
  return { ...page, sections: [...page.sections, section] };
}

export const isBisectResult = (result: Result | BisectResult): result is BisectResult => 'kind' in result;
