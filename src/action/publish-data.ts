// Keeps what was measured on the data branch, and says where people find it.
import type { Config } from '../config/schema.ts';
import { reasonOf } from '../model/one-line.ts';
import { publishToBranch } from '../publish/data-branch/branch.ts';
import { publishToDirectory } from '../publish/data-branch/directory.ts';
import { isOfGate, type Publication } from '../publish/data-branch/layout.ts';
import { factsOf } from '../publish/nightly.ts';
import type { ReportLinks } from '../report/markdown.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { tellTrend } from './report-trend.ts';

/**
 * With no publication the badges are brought up to date; after one of the default branch people are told what has changed
 * on it. What cannot be kept is a warning: the verdict stands.
 */
export async function publishData(
  context: JobContext,
  config: Config,
  asked: readonly Publication[],
): Promise<ReportLinks[]> {
  const links = await keptData(context, config, asked);
  const nightlyRuns = asked.filter(({ isDefaultBranch }) => isDefaultBranch);
  await tellTrend(
    context,
    config,
    nightlyRuns.map(({ result }) => result.testbed.name),
  );
  return links;
}

async function keptData(
  { octokit, repository, inputs: { job } }: JobContext,
  { github, trend }: Config,
  asked: readonly Publication[],
): Promise<ReportLinks[]> {
  // Files are made again where somebody else was faster.
  const warned = new Set<string>();
  const leftOut = (why: string) => {
    if (!warned.has(why)) log.warn(why);
    warned.add(why);
  };
  const run = `[run this job again](${job.runUrl})`;
  const ofJob = { rawData: `the [job](${job.runUrl})` };
  const ofGate = {
    rerun: `comment \`/ppsgate rerun\`, or ${run}`,
    goOn: '`/ppsgate extend`',
    ...ofJob,
  };
  const compareUrl = trend.compare ?? `${job.serverUrl}/${job.repository}/compare/{from}...{to}`;
  const publications = await Promise.all(
    asked.map(async (publication) => {
      const facts = publication.isDefaultBranch ? await knownFacts(publication, repository) : {};
      return { ...publication, ...facts, compareUrl, leftOut };
    }),
  );
  const all = publications.map(({ result }) => (isOfGate(result) ? ofGate : ofJob));
  const { branch, directory, pages, keep, staleSeconds } = github.data;
  if (directory !== undefined) {
    const rules = { keep, staleSeconds, now: new Date() };
    await publishToDirectory(directory, publications, rules).catch((error: unknown) =>
      log.warn(`${directory} did not get the result (${reasonOf(error)}).`),
    );
  }
  if (branch === undefined) return all;
  const published = await publishToBranch(
    octokit,
    { repository: job.repository, branch, serverUrl: job.serverUrl, ...(pages && { pages }) },
    publications,
    { keep, staleSeconds, now: () => new Date() },
  );
  if (published.kind === 'not-published') {
    log.warn(published.why);
    return all;
  }
  return published.links.map(({ result, report, page, image, graphs }, index) => {
    const usual = all[index] ?? ofJob;
    const data = [report && `[report](${report})`, result && `[result](${result})`, usual.rawData];
    const rawData = data.filter(Boolean).join(', ');
    const shown = { ...(page && { page }), ...(image && { image }) };
    return { ...usual, rawData, ...shown, graph: (anchor) => graphs.get(anchor) };
  });
}

/** A commit of the branch of which git tells nothing has its place among others by when it was measured. */
async function knownFacts(
  { result }: Publication,
  repository: JobContext['repository'],
): Promise<Pick<Publication, 'commits' | 'releases'>> {
  if (!isOfGate(result)) return {};
  return factsOf(result.patch.headCommit, repository).catch((error: unknown) => {
    log.warn(`Nobody knows when the commit was made (${reasonOf(error)}).`);
    return {};
  });
}
