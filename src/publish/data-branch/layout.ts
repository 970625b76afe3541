// Defines the layout of the data branch: results, history, badges, and their index.

import { z } from 'zod';
import type { CellProfiles } from '../../analysis/profile/result-profiles.ts';
import { countsOf, sameSummary, sameText } from '../../analysis/trend/aa-runs.ts';
import { emptyTrend, type Trend } from '../../analysis/trend/nightly-runs.ts';
import type { DataConfig, Retention } from '../../config/github.ts';
import {
  earlierEntries,
  type HistoryEntry,
  historyEntries,
  historyEntrySchema,
  withoutNumbers,
} from '../../gate/experiment/history.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import * as bounded from '../../model/bounds.ts';
import { outcomeName } from '../../model/conclusion.ts';
import { jsonLines, parseJson } from '../../model/json.ts';
import { reasonOf } from '../../model/one-line.ts';
import { patchName } from '../../model/patch.ts';
import { byMetric, type CellResult, metricSchema, type Result } from '../../model/result.ts';
import { type Cell, cellName, cellSchema } from '../../model/scenario.ts';
import { offeredTraffic } from '../../model/traffic.ts';
import type { TrendIndex } from '../../model/trend.ts';
import { type BadgeVerdict, badgeOf, badgeVerdicts, renderBadge } from '../../report/badge.ts';
import { bisectPlot } from '../../report/bisect-plot.ts';
import { stoppedCells } from '../../report/headline.ts';
import { drawGraph, graphsOf } from '../../report/report-flamegraphs.ts';
import { type ReportLinks, renderHtml, renderMarkdown } from '../../report/reports.ts';
import { badgeLabel, badgePath, nameHash, plain, samePath } from './paths.ts';
import { renderReadme } from './readme.ts';
import { nextTrend, type TrendUpdate, trendFiles } from './trend-files.ts';

export const indexPath = 'index.json';
export const historyPath = 'history.jsonl';
const readmePath = 'README.md';

const keptResultSchema = z.object({
  /** Folder of `result.json`, `report.md` and the files below. */
  path: bounded.name.regex(/^results\/\d{4}\/\w[\w.-]*$/),
  /** Start of the experiment; the time of publication if the result claims a later one. */
  at: bounded.time,
  testbed: bounded.name,
  patch: bounded.name,
  outcome: bounded.name,
  /** Flamegraphs, and the report as a page. */
  others: bounded.list(bounded.name.regex(/^\w[\w.-]*$/)),
  bytes: bounded.total,
  /** From a fork's own job, or with numbers that were not recomputed; has a smaller budget. */
  isUntrusted: z.literal(true).exactOptional(),
});

const badgeSchema = z.object({
  testbed: bounded.name,
  cell: cellSchema,
  verdict: z.enum(badgeVerdicts),
  pps: bounded.level.optional(),
  at: bounded.time,
  result: keptResultSchema.shape.path,
});

const indexSchema = z.object({
  schemaVersion: z.literal(1),
  /** Oldest first. */
  results: bounded.list(keptResultSchema, 100_000),
  badges: bounded.list(badgeSchema),
});

export type DataIndex = z.infer<typeof indexSchema>;
type KeptResult = z.infer<typeof keptResultSchema>;
type LastOfCell = z.infer<typeof badgeSchema>;

export const emptyIndex: DataIndex = { schemaVersion: 1, results: [], badges: [] };

export type StoredData = {
  index: DataIndex;
  history: readonly HistoryEntry[];
  /** All existing files. Absent if there are too many to list; the index is then trusted. */
  paths?: ReadonlySet<string>;
  /** Nightly runs needed for these publications, see `isNeeded`; absent if there are none yet. */
  trend?: Trend;
};

export type Publication = TrendUpdate & {
  profiles: readonly CellProfiles[];
  /** Receives a sentence on each file that cannot be rendered. */
  leftOut?: (why: string) => void;
};

export type DataRules = Pick<DataConfig, 'keep' | 'staleSeconds'> & {
  now: Date;
  /** True if browsers load the files directly; reports are then written as pages, too. */
  isSite: boolean;
};

export type NextFiles = {
  write: ReadonlyMap<string, string>;
  /** Names existing files only. */
  remove: string[];
  published: PublishedPaths[];
};

/** A result that was too old to keep has no files. */
export type PublishedPaths = {
  result?: string;
  report?: string;
  page?: string;
  image?: string;
  graphs: ReadonlyMap<string, string>;
  badges: string[];
};

/**
 * Returns the files to write and to remove to publish these results, or without results to update the badges. Only what
 * the index names is kept: other files in its folders are removed, and entries with missing files are dropped.
 * Idempotent.
 */
export function nextFiles(stored: StoredData, publications: readonly Publication[], rules: DataRules): NextFiles {
  const fresh = publications.map((publication) => filesOfResult(publication, rules));
  const times = fresh.map(({ entry }) => entry.at);
  const before = { ...stored, index: withoutFuture(stored.index, times, rules.now) };
  const results = retained([...withFiles(before), ...fresh.map(({ entry }) => entry)], rules.keep, rules.now);
  const index: DataIndex = {
    schemaVersion: 1,
    results,
    badges: publications.reduce(withBadgesOf(rules), before.index.badges),
  };
  const learnt = publications.flatMap(({ result, isTrusted }) => {
    if (!isOfGate(result)) return [];
    const entries = historyEntries(result);
    return isTrusted ? entries : entries.map((entry) => onlyCounted(entry, rules.now));
  });
  const history = boundedHistory(earlierEntries([...before.history, ...learnt], rules.now));
  const kept = new Set(results.map(({ path }) => path));
  const updates = publications.map((publication) => ({
    ...publication,
    path: folderOf(publication.result),
  }));
  const trend = nextTrend(stored.trend ?? emptyTrend, updates, rules.now);
  const write = new Map([
    ...fresh.flatMap(({ entry, files }) => (kept.has(entry.path) ? files : [])),
    ...index.badges.flatMap((badge) => filesOfBadge(badge, rules)),
    ...trendFiles(stored.trend, trend),
    ...sameBadges(trend.index),
    [readmePath, renderReadme(index, trend.index)] as const,
    // Without it, Jekyll would treat reports as templates.
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

export function editedFiles(
  stored: StoredData,
  edit: (index: TrendIndex) => TrendIndex,
): { write: ReadonlyMap<string, string>; index: TrendIndex } {
  const before = stored.trend ?? emptyTrend;
  const index = edit(before.index);
  const files = trendFiles(stored.trend, { ...before, index });
  return { index, write: files.set(readmePath, renderReadme(stored.index, index)) };
}

/** Limit of all lines; `boundedHistory` keeps some for each cell and traffic. */
const maxHistoryLines = 100_000;

/** Omits a result that was too old to keep. */
export function parseHistory(text: string): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (const line of jsonLines(text, maxHistoryLines)) {
    const { data } = historyEntrySchema.safeParse(line);
    if (data !== undefined) entries.push(data);
  }
  return entries;
}

/** Undefined for another version's index. */
export const parseIndex = (text: string): DataIndex | undefined => indexSchema.safeParse(parseJson(text)).data;

/** Replaces future times in the index by the newest of `times`: entries from the future would outlive all others. */
function withoutFuture(index: DataIndex, times: readonly string[], now: Date): DataIndex {
  const [latest = ''] = [now.toISOString(), ...times].toSorted(compare);
  const settled = <T extends { at: string }>(entry: T): T =>
    isFuture(entry.at, now) ? { ...entry, at: latest } : entry;
  return {
    ...index,
    results: index.results.map(settled),
    badges: index.badges.map(settled),
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
export const plotName = 'bisect.svg';

export const isOfGate = (result: Result | BisectResult): result is Result => !('kind' in result);

const pathsOfResult = ({ path, others }: Pick<KeptResult, 'path' | 'others'>): string[] =>
  [jsonName, reportName, ...others].map((name) => `${path}/${name}`);

type File = readonly [path: string, text: string];

function filesOfResult(
  publication: Publication,
  { isSite, now, keep }: DataRules,
): { entry: KeptResult; files: File[] } {
  const { result, isTrusted } = publication;
  const at = timeOf(result, now);
  const path = folderOf(result);
  const maxBytes = isTrusted ? maxGraphBytes : Math.min(maxGraphBytes, untrusted(keep).bytes / 2);
  const graphs = graphFiles(publication, maxBytes);
  const others: File[] = [...graphs, ...plotFile(publication), ...(isSite ? pageFile(publication) : [])];
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
    entry: {
      ...entry,
      outcome,
      others: others.map(([name]) => name),
      bytes,
      ...(!isTrusted && { isUntrusted: true }),
    },
    files: named.map(([name, text]) => [`${path}/${name}`, text]),
  };
}

/** Size limit of all flamegraphs of one result: about a hundred of a kernel, and any of a hostile profile. */
const maxGraphBytes = 64 * 1024 ** 2;

function graphFiles({ result, profiles, leftOut = () => {} }: Publication, maxBytes: number): Map<string, string> {
  const files = new Map<string, string>();
  let spareBytes = maxBytes;
  for (const graph of graphsOf(result, profiles)) {
    const drawn = drawGraph(graph);
    if (drawn.kind === 'left-out') {
      leftOut(drawn.why);
      continue;
    }
    spareBytes -= Buffer.byteLength(drawn.svg);
    if (spareBytes < 0) {
      leftOut(`Flamegraphs from ${graph.title} onwards are not kept: the limit is ${maxBytes} bytes for each result.`);
      return files;
    }
    files.set(`${graph.anchor}.svg`, drawn.svg);
  }
  return files;
}

function plotFile({ result, leftOut = () => {} }: Publication): File[] {
  if (isOfGate(result)) return [];
  try {
    const svg = bisectPlot(result);
    return svg === undefined ? [] : [[plotName, svg]];
  } catch (error) {
    leftOut(`The report is stored without its plot (${reasonOf(error)}).`);
    return [];
  }
}

/** Empty if it cannot be rendered; the rest of the result is kept. */
function pageFile({ result, profiles, leftOut = () => {} }: Publication): File[] {
  try {
    return [[pageName, renderHtml(result, profiles)]];
  } catch (error) {
    leftOut(`The report is stored without its page (${reasonOf(error)}).`);
    return [];
  }
}

const timeOf = ({ startedAt }: Pick<Result, 'startedAt'>, now: Date): string =>
  isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);

/** Converts to one format, as times are compared as texts. */
const isoTime = (text: string): string => new Date(text).toISOString();

/** Path of a result: its start, and a hash of everything that identifies the experiment. */
export function folderOf(result: Result | BisectResult): string {
  const { startedAt, testbed } = result;
  const at = isoTime(startedAt);
  const time = at.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replaceAll(/[-:]/g, '');
  const subject = isOfGate(result) ? result.patch : [result.good, result.bad, result.cell];
  const identity = nameHash(JSON.stringify([startedAt, testbed.name, subject]));
  const words = [time, plain(testbed.name), plain(nameOf(result)), identity];
  return `results/${at.slice(0, 'YYYY'.length)}/${words.filter(Boolean).join('-')}`;
}

const nameOf = (result: Result | BisectResult): string =>
  isOfGate(result)
    ? patchName(result.patch)
    : `bisect ${[result.revisions.at(0), result.revisions.at(-1)].map((end) => end?.commit.slice(0, 7)).join('..')}`;

/** Returns the kept results, oldest first. Untrusted ones have a separate budget, so that they displace no others. */
function retained(entries: readonly KeptResult[], keep: Retention, now: Date): KeptResult[] {
  const all = [...new Map(entries.map((entry) => [entry.path, entry])).values()];
  const isOurs = ({ isUntrusted }: KeptResult) => isUntrusted === undefined;
  const kept = new Set([
    ...newestWithin(all.filter(isOurs), keep, now),
    ...newestWithin(
      all.filter((entry) => !isOurs(entry)),
      untrusted(keep),
      now,
    ),
  ]);
  return newestFirst(all.filter((entry) => kept.has(entry))).toReversed();
}

/** A quarter of the others' budget, in addition to it. */
const untrusted = ({ results, seconds, bytes }: Retention): Retention => ({
  results: Math.ceil(results / 4),
  seconds,
  bytes: bytes / 4,
});

/** Keeps the newest results, and as many earlier ones as all limits allow. */
function newestWithin(entries: readonly KeptResult[], keep: Retention, now: Date): KeptResult[] {
  const oldest = new Date(now.getTime() - keep.seconds * 1000).toISOString();
  const inOrder = newestFirst(entries);
  let bytes = 0;
  const end = inOrder.findIndex((entry, place) => {
    bytes += entry.bytes;
    return place > 0 && (place >= keep.results || bytes > keep.bytes || entry.at < oldest);
  });
  return inOrder.slice(0, end === -1 ? inOrder.length : end);
}

/** Among results of the same time, the one published last comes first. */
const newestFirst = (entries: readonly KeptResult[]): KeptResult[] =>
  entries.toReversed().toSorted((a, b) => compare(b.at, a.at));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const withBadgesOf =
  ({ now }: DataRules) =>
  (badges: readonly LastOfCell[], { result, isDefaultBranch }: Publication): LastOfCell[] => {
    const fresh = isDefaultBranch && isOfGate(result) ? lastOfCells(result, badges, now) : [];
    const newer = fresh.filter((badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at));
    const others = badges.filter((known) => !newer.some((badge) => isOfSameCell(known, badge)));
    return [...others, ...newer].toSorted((a, b) => compare(badgePath(a), badgePath(b)));
  };

/** A patch without a measured cell represents all cells for which its testbed has badges. */
function lastOfCells(result: Result, known: readonly LastOfCell[], now: Date): LastOfCell[] {
  const { outcome, testbed } = result;
  const about = { testbed: testbed.name, at: timeOf(result, now), result: folderOf(result) };
  if (outcome.kind === 'judged') {
    const stopped = new Set(stoppedCells(outcome.cells));
    return outcome.cells.flatMap((one) => {
      const { cell, verdict, comparisons } = one;
      // A cell that ended early because of another cell's loss keeps its badge.
      if (stopped.has(one)) return [];
      return { ...about, cell, verdict: verdict.kind, ...patchedPps(comparisons) };
    });
  }
  // A full disk is the lab's fault; an unchanged patch changes no number.
  if (outcome.kind === 'out-of-disk' || outcome.kind === 'unchanged') return [];
  const verdict: BadgeVerdict = outcome.kind;
  return known.flatMap(({ testbed: name, cell }) => (name === testbed.name ? { ...about, cell, verdict } : []));
}

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

/** Without an entry, the result was not kept. */
function publishedPaths({ result, isDefaultBranch }: Publication, entry: KeptResult | undefined): PublishedPaths {
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

/** Counts an untrusted gate without its numbers and its time. */
const onlyCounted = (entry: HistoryEntry, now: Date): HistoryEntry => ({
  ...withoutNumbers(entry),
  at: now.toISOString(),
});

/** Twice the number that `historyOf` requires. */
const enoughRuns = 60;

/** Number of gates per cell that are counted after their numbers were dropped. */
const maxCounted = 50;

/**
 * Keeps the latest entries of each cell under each traffic, oldest first, until every metric has `enoughRuns`. Earlier
 * gates are kept without their numbers.
 */
export function boundedHistory(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const groups = Map.groupBy(entries, ({ testbed, kind, cell, traffic }) =>
    JSON.stringify([testbed, kind ?? null, cellName(cell), offeredTraffic(traffic)]),
  );
  return [...groups]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([, group]) => {
      const kept = latest(group.filter(hasNumbers));
      return [...counted(group, kept), ...kept];
    })
    .toSorted((a, b) => compare(a.at, b.at));
}

const hasNumbers = (entry: HistoryEntry): boolean => metricSchema.options.some((metric) => entry[metric].length > 0);

function counted(group: readonly HistoryEntry[], kept: readonly HistoryEntry[]): HistoryEntry[] {
  const known = new Set(kept.map(({ gate }) => gate?.id));
  const ofGates = group.filter(({ gate }) => gate !== undefined && !known.has(gate.id));
  // A gate that is published again keeps its first time.
  const byGate = new Map(ofGates.toReversed().map((entry) => [entry.gate?.id, entry]));
  return [...byGate.values()]
    .map(withoutNumbers)
    .toSorted((a, b) => compare(a.at, b.at))
    .slice(-maxCounted);
}

function latest(group: readonly HistoryEntry[]): HistoryEntry[] {
  // An extended experiment writes again; only its last line counts.
  const byTime = new Map(group.map((entry) => [entry.at, entry]));
  const runs = byMetric(() => 0);
  const newestFirst = [...byTime.values()].toSorted((a, b) => compare(b.at, a.at));
  const kept = newestFirst.filter((entry) => {
    const isWanted = metricSchema.options.some((metric) => entry[metric].length > 0 && runs[metric] < enoughRuns);
    for (const metric of metricSchema.options) runs[metric] += entry[metric].length;
    return isWanted;
  });
  return kept.toReversed();
}
