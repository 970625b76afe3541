// Installs a site into a folder atomically.
import { readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { keptFlamegraph } from '../../analysis/profile/kept-flamegraph.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { bisectPlot } from '../../report/bisect-plot.ts';
import { readResultBelow } from '../../report/read-result.ts';
import { isBisectResult, renderHtml } from '../../report/reports.ts';
import { replaceFile } from '../../report/write-reports.ts';
import { ForeignFileError, readForeignText } from '../../system/foreign-files.ts';
import { plotName } from '../data-branch/layout.ts';
import { siteFiles } from './build-site.ts';
import type { KeptResult, SiteSource } from './site-source.ts';

const markName = '.ppsgate-site';

type SitePaths = {
  /** Checkout of the data branch, or published directory; untrusted, see `readForeignFile`. */
  from: string;
  /** Folder of the site: missing, empty, or with an earlier site, which is replaced. */
  to: string;
  now: Date;
  leftOut(why: string): void;
};

/**
 * Renders all pages from the data, and copies no file. Returns the number of pages. Throws a UsageError for a folder
 * with other content.
 */
export async function writeSite(source: SiteSource, { from, to, now, leftOut }: SitePaths): Promise<number> {
  const directory = resolve(to);
  await refuseOthers(directory);
  const draft = `${directory}.part`;
  await refuseOthers(draft);
  await rm(draft, { recursive: true, force: true });
  await replaceFile(join(draft, markName), 'ppsgate site replaces this folder.\n');
  const withPages: KeptResult[] = [];
  for (const result of source.results.results) {
    const folder = { from, draft, leftOut };
    const kept = await writeResultPage(result, folder).catch(async (error: unknown) => {
      await rm(join(draft, result.path), { recursive: true, force: true });
      leftOut(`${result.path} has no page (${reasonOf(error)}).`);
      return undefined;
    });
    if (kept !== undefined) withPages.push(kept);
  }
  const files = siteFiles({ ...source, results: { results: withPages } }, now);
  for (const [path, text] of files) await replaceFile(join(draft, path), text);
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
  return [...files.keys()].filter((path) => path.endsWith('.html')).length + withPages.length;
}

async function refuseOthers(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`--to: ${directory} is not a folder (${error.code}): name another one.`);
  });
  if (names.length === 0 || names.includes(markName)) return;
  throw new UsageError(`--to: ${directory} has content other than a site: name an empty or new folder.`);
}

const pageName = 'report.html';

/** Size limit of a drawing by `flamegraph`, in UTF-8. */
const maxPictureBytes = 64 * 1024 ** 2;

type ResultFolder = Pick<SitePaths, 'from' | 'leftOut'> & { draft: string };

/** Returns the result with the pictures on its page. Throws if the result cannot be read. */
async function writeResultPage(kept: KeptResult, { from, draft, leftOut }: ResultFolder): Promise<KeptResult> {
  const { path } = kept;
  const result = await readResultBelow(from, `${path}/result.json`);
  const pictures: string[] = [];
  for (const name of kept.others.filter((one) => one.endsWith('.svg'))) {
    const place = `${path}/${name}`;
    const picture = name === plotName && isBisectResult(result) ? bisectPlot(result) : await graphIn(from, place);
    if (picture === undefined) leftOut(`${place} is left out: it is not a picture drawn by ppsgate.`);
    else {
      await replaceFile(join(draft, place), picture);
      pictures.push(name);
    }
  }
  const graphs = pictures.filter((name) => name !== plotName);
  await replaceFile(join(draft, path, pageName), renderHtml(result, [], graphs));
  return { ...kept, others: pictures };
}

async function graphIn(from: string, place: string): Promise<string | undefined> {
  try {
    const svg = await readForeignText(from, place, maxPictureBytes);
    return svg && keptFlamegraph(svg);
  } catch (error) {
    if (error instanceof ForeignFileError) return undefined;
    throw error;
  }
}
