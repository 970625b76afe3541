// Installs a site into a folder atomically.
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { readAnyResult } from '../../report/read-result.ts';
import { renderHtml } from '../../report/reports.ts';
import { replaceFile } from '../../report/write-reports.ts';
import { siteFiles } from './build-site.ts';
import type { KeptResult, SiteSource } from './site-source.ts';

const markName = '.ppsgate-site';

type SitePaths = {
  /** A checkout of the data branch, or a published directory; the pages of results are copied from it. */
  from: string;
  /** The folder of the site: missing, empty, or an earlier site, which is replaced. */
  to: string;
  now: Date;
  leftOut(why: string): void;
};

/** Returns the number of pages. Throws a UsageError for a folder with other content. */
export async function writeSite(
  source: SiteSource,
  { from, to, now, leftOut }: SitePaths,
): Promise<number> {
  const directory = resolve(to);
  await refuseOthers(directory);
  const draft = `${directory}.part`;
  await rm(draft, { recursive: true, force: true });
  const { results } = source.results;
  const withPages: KeptResult[] = [];
  for (const result of results) {
    const why = await writeResultPage(result, from, draft);
    if (why === undefined) withPages.push(result);
    else leftOut(`${result.path} has no page (${why}).`);
  }
  const files = siteFiles({ ...source, results: { results: withPages } }, now);
  for (const [path, text] of files) await replaceFile(join(draft, path), text);
  await replaceFile(join(draft, markName), 'ppsgate site replaces this folder.\n');
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
  return [...files.keys()].filter((path) => path.endsWith('.html')).length + withPages.length;
}

async function refuseOthers(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw new UsageError(`--to: ${directory} is no folder (${error.code}): name another one.`);
  });
  if (names.length === 0 || names.includes(markName)) return;
  throw new UsageError(
    `--to: ${directory} has something else in it than a site: name a folder that is empty, or not there yet.`,
  );
}

const pageName = 'report.html';

/** Copies a result's images and page, or renders the page if none was kept. Returns why there is no page. */
async function writeResultPage(
  { path, others }: KeptResult,
  from: string,
  draft: string,
): Promise<string | undefined> {
  try {
    await mkdir(join(draft, path), { recursive: true });
    for (const name of others) await cp(join(from, path, name), join(draft, path, name));
    if (!others.includes(pageName)) {
      const { result } = await readAnyResult(join(from, path));
      await replaceFile(join(draft, path, pageName), renderHtml(result));
    }
  } catch (error) {
    await rm(join(draft, path), { recursive: true, force: true });
    return reasonOf(error);
  }
}
