// What lies in the data branch: results, the history, badges, and an index that tells of them all.

import { z } from 'zod';
import type { CellProfiles } from '../../analysis/profile/result-profiles.ts';
import { countsOf, isOfOneCommit, sameSummary, sameText } from '../../analysis/trend/aa-runs.ts';
import type { Trend } from '../../analysis/trend/nightly-runs.ts';
import type { DataConfig, Retention } from '../../config/github.ts';
import {
  earlierEntries,
  type HistoryEntry,
  historyEntries,
  historyEntrySchema,
} from '../../gate/experiment/history.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { parseJson } from '../../model/json.ts';
import { reasonOf } from '../../model/one-line.ts';
import { patchName } from '../../model/patch.ts';
import { byMetric, type CellResult, metricSchema, type Result } from '../../model/result.ts';
import { type Cell, cellName, cellSchema } from '../../model/scenario.ts';
import type { TrendIndex } from '../../model/trend.ts';
import { type BadgeVerdict, badgeOf, badgeVerdicts, renderBadge } from '../../report/badge.ts';
import { bisectPlot } from '../../report/bisect-plot.ts';
import { outcomeName, stoppedCells } from '../../report/headline.ts';
import { drawGraph, graphsOf } from '../../report/report-flamegraphs.ts';
import { type ReportLinks, renderHtml, renderMarkdown } from '../../report/reports.ts';
import { badgeLabel, badgePath, plain, samePath, shortHash } from './paths.ts';
import { renderReadme } from './readme.ts';
import { nextTrend, type TrendUpdate, trendFiles, trendOfHistory } from './trend-files.ts';

export const indexPath = 'index.json';
export const historyPath = 'history.jsonl';
const readmePath = 'README.md';

const keptResultSchema = z.object({
  /** Folder of `result.json` and `report.md`, and of what else is named below. */
  path: z.string().regex(/^results\/\d{4}\/\w[\w.-]*$/),
  /** When the experiment began, or was published where it says that it began later. */
  at: z.iso.datetime(),
  testbed: z.string(),
  patch: z.string(),
  outcome: z.string(),
  /** Flamegraphs, and the report as a page. */
  others: z.array(z.string().regex(/^\w[\w.-]*$/)).default([]),
  /** Size of all its files together. */
  bytes: z.int().nonnegative(),
});

const badgeSchema = z.object({
  testbed: z.string(),
  cell: cellSchema,
  verdict: z.enum(badgeVerdicts),
  pps: z.number().nonnegative().optional(),
  at: z.iso.datetime(),
  /** Folder of the result that it tells of, which may be gone already. */
  result: keptResultSchema.shape.path,
});

/** The base against itself, as versions before `trend/index.json` noted it: without its design, margin and fingerprint. */
const nightlySchema = z.object({
  testbed: z.string(),
  at: z.iso.datetime(),
  judged: z.int().nonnegative(),
  regressions: z.int().nonnegative(),
  improvements: z.int().nonnegative(),
});

const indexSchema = z.object({
  schemaVersion: z.literal(1),
  /** Oldest first. */
  results: z.array(keptResultSchema),
  /** The last of each cell on the default branch. */
  badges: z.array(badgeSchema),
  /** Oldest first. */
  nightlyRuns: z.array(nightlySchema),
});

export type DataIndex = z.infer<typeof indexSchema>;
type KeptResult = z.infer<typeof keptResultSchema>;
type LastOfCell = z.infer<typeof badgeSchema>;

export const emptyIndex: DataIndex = { schemaVersion: 1, results: [], badges: [], nightlyRuns: [] };

export type StoredData = {
  index: DataIndex;
  history: readonly HistoryEntry[];
  /** Every file that is there; absent where there are too many to be listed: then the index is verified. */
  paths?: ReadonlySet<string>;
  /** The nightly runs that these publications need, as `isNeeded` says; absent where none were kept yet. */
  trend?: Trend;
};

export type Publication = TrendUpdate & {
  /** Those that the result tells of, as far as they are at hand. */
  profiles: readonly CellProfiles[];
  /** Hears in a sentence why something is not drawn, each time that the files are made. */
  leftOut?: (why: string) => void;
};

export type DataRules = Pick<DataConfig, 'keep' | 'staleSeconds'> & {
  now: Date;
  /** Whether browsers are served the files as they are: then the report is kept as a page, too. */
  isSite: boolean;
};

export type NextFiles = {
  /** Text by path. */
  write: ReadonlyMap<string, string>;
  /** Nothing but files that are there. */
  remove: string[];
  /** Paths of each publication's files, in the order of the publications. */
  published: PublishedPaths[];
};

/** A result that was too old to be kept at all has no files. */
export type PublishedPaths = {
  result?: string;
  report?: string;
  page?: string;
  /** Path of the plot over the commits of a bisection. */
  image?: string;
  /** Paths of flamegraphs by their anchors. */
  graphs: ReadonlyMap<string, string>;
  badges: string[];
};

/**
 * The files that have to be written and removed to publish these results, or with none to bring the badges up to
 * date. What results and badges are is decided by the index: other files in their folders go, and entries whose
 * files are missing are forgotten. The same publication again changes nothing.
 */
export function nextFiles(
  stored: StoredData,
  publications: readonly Publication[],
  rules: DataRules,
): NextFiles {
  const fresh = publications.map((publication) => filesOfResult(publication, rules));
  const times = fresh.map(({ entry }) => entry.at);
  const before = { ...stored, index: withoutFuture(stored.index, times, rules.now) };
  const results = retained(
    [...withFiles(before), ...fresh.map(({ entry }) => entry)],
    rules.keep,
    rules.now,
  );
  const index: DataIndex = {
    schemaVersion: 1,
    results,
    badges: publications.reduce(withBadgesOf(rules), before.index.badges),
    nightlyRuns: before.index.nightlyRuns.filter(isNotOf(publications)),
  };
  const learnt = publications.flatMap(({ result, isTrusted }) =>
    isTrusted && isOfGate(result) ? historyEntries(result) : [],
  );
  const history = boundedHistory(earlierEntries([...before.history, ...learnt], rules.now));
  const kept = new Set(results.map(({ path }) => path));
  const told = publications.map((publication) => ({
    ...publication,
    path: folderOf(publication.result),
  }));
  const trend = nextTrend(trendIn(stored, rules.now), told, rules.now);
  const write = new Map([
    ...fresh.flatMap(({ entry, files }) => (kept.has(entry.path) ? files : [])),
    ...index.badges.flatMap((badge) => filesOfBadge(badge, rules)),
    ...trendFiles(stored.trend, trend),
    ...sameBadges(trend.index),
    [readmePath, renderReadme(index, trend.index)] as const,
    // Without it a site made by Jekyll would take reports for templates.
    ['.nojekyll', ''] as const,
    [historyPath, history.map((entry) => `${JSON.stringify(entry)}\n`).join('')] as const,
    [indexPath, `${JSON.stringify(index)}\n`] as const,
  ]);
  const stays = new Set([...write.keys(), ...results.flatMap(pathsOfResult)]);
  const there = [...(before.paths ?? before.index.results.flatMap(pathsOfResult))];
  return {
    write,
    remove: there.filter((path) => /^(results|badges)\//.test(path) && !stays.has(path)),
    published: publications.map((publication, at) => {
      const entry = fresh[at]?.entry;
      return publishedPaths(publication, entry && kept.has(entry.path) ? entry : undefined);
    }),
  };
}

/** The files that have to be written to change the index of the trend, which `edit` does. */
export function editedFiles(
  stored: StoredData,
  edit: (index: TrendIndex) => TrendIndex,
  now: Date,
): { write: ReadonlyMap<string, string>; index: TrendIndex } {
  const before = trendIn(stored, now);
  const index = edit(before.index);
  const files = trendFiles(stored.trend, { ...before, index });
  return { index, write: files.set(readmePath, renderReadme(stored.index, index)) };
}

const trendIn = ({ trend, history }: StoredData, now: Date): Trend =>
  trend ?? trendOfHistory(earlierEntries(history, now));

/** Those lines of a history that can be read: people can edit a branch, and one bad line must not stop a gate. */
export function parseHistory(text: string): HistoryEntry[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const entry = historyEntrySchema.safeParse(parseJson(line));
    return entry.success ? entry.data : [];
  });
}

/** Undefined where it is none of this version's. */
export const parseIndex = (text: string): DataIndex | undefined =>
  indexSchema.safeParse(parseJson(text)).data;

/**
 * A time is a stranger's word, and whatever is of the future would outlive all that is honest: what an index has of it
 * is no newer than what comes now, which are `times`.
 */
function withoutFuture(index: DataIndex, times: readonly string[], now: Date): DataIndex {
  const [latest = ''] = [now.toISOString(), ...times].toSorted(compare);
  const settled = <T extends { at: string }>(entry: T): T =>
    isFuture(entry.at, now) ? { ...entry, at: latest } : entry;
  return {
    ...index,
    results: index.results.map(settled),
    badges: index.badges.map(settled),
    // Nobody looks at one nightly run, so it need not stay.
    nightlyRuns: index.nightlyRuns.filter(({ at }) => !isFuture(at, now)),
  };
}

const isFuture = (at: string, now: Date): boolean => Date.parse(at) > now.getTime();

function withFiles({ index, paths }: StoredData): KeptResult[] {
  if (paths === undefined) return index.results;
  return index.results.filter((entry) => pathsOfResult(entry).every((file) => paths.has(file)));
}

const jsonName = 'result.json';
const reportName = 'report.md';
const pageName = 'report.html';
const plotName = 'bisect.svg';

/** A bisection's result says what it is. */
export const isOfGate = (result: Result | BisectResult): result is Result => !('kind' in result);

const pathsOfResult = ({ path, others }: Pick<KeptResult, 'path' | 'others'>): string[] =>
  [jsonName, reportName, ...others].map((name) => `${path}/${name}`);

type File = readonly [path: string, text: string];

function filesOfResult(
  publication: Publication,
  { isSite, now }: DataRules,
): { entry: KeptResult; files: File[] } {
  const { result } = publication;
  const at = timeOf(result, now);
  const path = folderOf(result);
  const graphs = graphFiles(publication);
  const others: File[] = [
    ...graphs,
    ...plotFile(publication),
    ...(isSite ? pageFile(publication) : []),
  ];
  const graph = (anchor: string) => (graphs.has(`${anchor}.svg`) ? `${anchor}.svg` : undefined);
  const links: ReportLinks = { rawData: `[\`${jsonName}\`](${jsonName})`, graph };
  const named: File[] = [
    [jsonName, `${JSON.stringify(result)}\n`],
    [reportName, renderMarkdown(result, isOfGate(result) ? links : { ...links, image: plotName })],
    ...others,
  ];
  const bytes = named.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  const entry = { path, at, testbed: result.testbed.name, patch: nameOf(result) };
  const outcome = isOfGate(result) ? outcomeName(result) : result.answer.kind;
  return {
    entry: { ...entry, outcome, others: others.map(([name]) => name), bytes },
    files: named.map(([name, text]) => [`${path}/${name}`, text]),
  };
}

/** The most bytes of all flamegraphs of one result: some hundred as those of kernels are, or whatever a hostile profile makes of one. */
const mostGraphBytes = 64 * 1024 ** 2;

function graphFiles({ result, profiles, leftOut = () => {} }: Publication): Map<string, string> {
  const files = new Map<string, string>();
  let room = mostGraphBytes;
  for (const graph of graphsOf(result, profiles)) {
    const drawn = drawGraph(graph);
    if (drawn.kind === 'left-out') {
      leftOut(drawn.why);
      continue;
    }
    room -= Buffer.byteLength(drawn.svg);
    if (room < 0) {
      leftOut(
        `Flamegraphs from that of ${graph.title} on are not kept: those of one result may have ${mostGraphBytes} bytes together.`,
      );
      return files;
    }
    files.set(`${graph.anchor}.svg`, drawn.svg);
  }
  return files;
}

/** The plot of a bisection, where there is something to draw. */
function plotFile({ result, leftOut = () => {} }: Publication): File[] {
  if (isOfGate(result)) return [];
  try {
    const svg = bisectPlot(result);
    return svg === undefined ? [] : [[plotName, svg]];
  } catch (error) {
    leftOut(`The report is kept without its plot (${reasonOf(error)}).`);
    return [];
  }
}

/** None where it cannot be made: the rest of the result is kept all the same. */
function pageFile({ result, profiles, leftOut = () => {} }: Publication): File[] {
  try {
    return [[pageName, renderHtml(result, profiles)]];
  } catch (error) {
    leftOut(`The report is kept without its page (${reasonOf(error)}).`);
    return [];
  }
}

/** When the experiment began, as far as that is to be verified. */
const timeOf = ({ startedAt }: Pick<Result, 'startedAt'>, now: Date): string =>
  isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);

/** Times that are compared as texts have to be written alike. */
const isoTime = (text: string): string => new Date(text).toISOString();

/** The path of a result: by the time that it tells, with a name that differs with all that makes the experiment what it is. */
export function folderOf(result: Result | BisectResult): string {
  const { startedAt, testbed } = result;
  const at = isoTime(startedAt);
  const time = at.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replaceAll(/[-:]/g, '');
  const subject = isOfGate(result) ? result.patch : [result.good, result.bad, result.cell];
  const identity = shortHash(JSON.stringify([startedAt, testbed.name, subject]));
  const words = [time, plain(testbed.name), plain(nameOf(result)), identity];
  return `results/${at.slice(0, 'YYYY'.length)}/${words.filter(Boolean).join('-')}`;
}

/** `#123`, or `bisect 1a2b3c4..5d6e7f8`. */
const nameOf = (result: Result | BisectResult): string =>
  isOfGate(result)
    ? patchName(result.patch)
    : `bisect ${[result.revisions.at(0), result.revisions.at(-1)].map((end) => end?.commit.slice(0, 7)).join('..')}`;

/** Oldest first; the newest is always kept, and before it as many as no bound forbids. */
function retained(entries: readonly KeptResult[], keep: Retention, now: Date): KeptResult[] {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  // Among results of the same time the one that came last stands first.
  const lastFirst = [...byPath.values()].toReversed();
  const newestFirst = lastFirst.toSorted((a, b) => compare(b.at, a.at));
  const oldest = new Date(now.getTime() - keep.seconds * 1000).toISOString();
  let bytes = 0;
  const end = newestFirst.findIndex((entry, place) => {
    bytes += entry.bytes;
    return place > 0 && (place >= keep.results || bytes > keep.bytes || entry.at < oldest);
  });
  return newestFirst.slice(0, end === -1 ? newestFirst.length : end).toReversed();
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const withBadgesOf =
  ({ now }: DataRules) =>
  (badges: readonly LastOfCell[], { result, isDefaultBranch }: Publication): LastOfCell[] => {
    const fresh = isDefaultBranch && isOfGate(result) ? lastOfCells(result, badges, now) : [];
    const newer = fresh.filter(
      (badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at),
    );
    const others = badges.filter((known) => !newer.some((badge) => isOfSameCell(known, badge)));
    return [...others, ...newer].toSorted((a, b) => compare(badgePath(a), badgePath(b)));
  };

/** A patch of which no cell was measured speaks for all cells that its testbed has badges of. */
function lastOfCells(result: Result, known: readonly LastOfCell[], now: Date): LastOfCell[] {
  const { outcome, testbed } = result;
  const about = { testbed: testbed.name, at: timeOf(result, now), result: folderOf(result) };
  if (outcome.kind === 'judged') {
    const stopped = new Set(stoppedCells(outcome.cells));
    return outcome.cells.flatMap((one) => {
      const { cell, verdict, comparisons } = one;
      // What ended early for another cell's loss leaves the badge as it was.
      if (stopped.has(one)) return [];
      return { ...about, cell, verdict: verdict.kind, ...patchedPps(comparisons) };
    });
  }
  // The one is the lab's fault and tells nothing of the branch, the other leaves all as it was.
  if (outcome.kind === 'out-of-disk' || outcome.kind === 'unchanged') return [];
  const verdict: BadgeVerdict = outcome.kind;
  return known.flatMap(({ testbed: name, cell }) =>
    name === testbed.name ? { ...about, cell, verdict } : [],
  );
}

/** What is counted by now in the trend is not counted as of an earlier version, too. */
const isNotOf =
  (publications: readonly Publication[]) =>
  ({ testbed, at }: DataIndex['nightlyRuns'][number]): boolean =>
    !publications.some(
      ({ result, isTrusted }) =>
        isTrusted &&
        isOfGate(result) &&
        isOfOneCommit(result) &&
        result.testbed.name === testbed &&
        isoTime(result.startedAt) === at,
    );

function patchedPps(comparisons: CellResult['comparisons']): { pps?: number } {
  const comparison = comparisons.find(({ metric }) => metric === 'pps');
  return comparison === undefined ? {} : { pps: comparison.patched };
}

type BadgeOf = { testbed: string; cell: Cell };

const isOfSameCell = (a: BadgeOf, b: BadgeOf): boolean => badgePath(a) === badgePath(b);

function filesOfBadge(badge: LastOfCell, rules: DataRules): File[] {
  const { verdict, pps, at } = badge;
  const last = { verdict, pps, at: new Date(at) };
  const { endpoint, svg } = renderBadge({ label: badgeLabel(badge), last }, rules);
  const path = badgePath(badge);
  return [
    [`${path}.svg`, svg],
    [`${path}.json`, `${JSON.stringify(endpoint)}\n`],
  ];
}

/** How often each testbed's base was called changed against itself, of the test that is in use. */
const sameBadges = (index: TrendIndex): File[] =>
  countsOf(index).flatMap(({ current }): File[] => {
    if (current.kind !== 'same-build') return [];
    const color = sameColors[sameSummary(current).promise];
    const { endpoint, svg } = badgeOf('A/A', { message: sameText(current), color });
    const path = samePath(current.testbed);
    return [
      [`${path}.svg`, svg],
      [`${path}.json`, `${JSON.stringify(endpoint)}\n`],
    ];
  });

const sameColors = { open: 'lightgrey', kept: 'brightgreen', broken: 'red' } as const;

/** Where a publication's files lie; with no entry the result was not kept. */
function publishedPaths(
  { result, isDefaultBranch }: Publication,
  entry: KeptResult | undefined,
): PublishedPaths {
  const outcome = isDefaultBranch && isOfGate(result) ? result.outcome : undefined;
  const cells = outcome?.kind === 'judged' ? outcome.cells : [];
  const testbed = result.testbed.name;
  const badges = cells.map(({ cell }) => `${badgePath({ testbed, cell })}.svg`);
  if (entry === undefined) return { graphs: new Map(), badges };
  const at = (name: string) => `${entry.path}/${name}`;
  const graphs = entry.others.filter((name) => name.endsWith('.svg') && name !== plotName);
  return {
    result: at(jsonName),
    report: at(reportName),
    ...(entry.others.includes(pageName) && { page: at(pageName) }),
    ...(entry.others.includes(plotName) && { image: at(plotName) }),
    graphs: new Map(graphs.map((name) => [name.slice(0, -'.svg'.length), at(name)])),
    badges,
  };
}

/** Twice what `historyOf` asks for. */
const enoughRuns = 60;

/** The latest entries of each cell under each traffic, oldest first, as many as hold `enoughRuns` of every metric. */
export function boundedHistory(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const groups = Map.groupBy(entries, ({ testbed, cell, traffic }) =>
    JSON.stringify([
      testbed,
      cellName(cell),
      [traffic.flows, traffic.frameBytes, traffic.offeredPps ?? null],
    ]),
  );
  return [...groups]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([, group]) => latest(group))
    .toSorted((a, b) => compare(a.at, b.at));
}

function latest(group: readonly HistoryEntry[]): HistoryEntry[] {
  // An experiment that was extended writes again, and its last line counts.
  const byTime = new Map(group.map((entry) => [entry.at, entry]));
  const runs = byMetric(() => 0);
  const newestFirst = [...byTime.values()].toSorted((a, b) => compare(b.at, a.at));
  const kept = newestFirst.filter((entry) => {
    const isWanted = metricSchema.options.some(
      (metric) => entry[metric].length > 0 && runs[metric] < enoughRuns,
    );
    for (const metric of metricSchema.options) runs[metric] += entry[metric].length;
    return isWanted;
  });
  return kept.toReversed();
}
