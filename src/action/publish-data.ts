// Publishes results to the data branch and to a directory, and returns links to them.
import type { Config } from '../config/schema.ts';
import { reasonOf } from '../model/one-line.ts';
import { publishToBranch } from '../publish/data-branch/branch.ts';
import { publishToDirectory } from '../publish/data-branch/directory.ts';
import { isOfGate, type Publication } from '../publish/data-branch/layout.ts';
import { commitFacts } from '../publish/nightly.ts';
import type { ReportLinks } from '../report/reports.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { reportTrend } from './report-trend.ts';

/** Without a publication, updates only the badges. A failure is a warning: the verdict stands. */
export async function publishData(
  context: JobContext,
  config: Config,
  publications: readonly Publication[],
): Promise<ReportLinks[]> {
  const links = await publish(context, config, publications);
  const nightlyRuns = publications.filter(({ isDefaultBranch }) => isDefaultBranch);
  await reportTrend(
    context,
    config,
    nightlyRuns.map(({ result }) => result.testbed.name),
  );
  return links;
}

async function publish(
  { octokit, repository, inputs: { job } }: JobContext,
  { github, trend }: Config,
  publications: readonly Publication[],
): Promise<ReportLinks[]> {
  // Each attempt after a concurrent push creates the files again.
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
  const complete = await Promise.all(
    publications.map(async (publication) => {
      const facts = publication.isDefaultBranch ? await gitFacts(publication, repository) : {};
      return { ...publication, ...facts, compareUrl, leftOut };
    }),
  );
  const usual = complete.map(({ result }) => (isOfGate(result) ? ofGate : ofJob));
  const { branch, directory, pages, keep, staleSeconds } = github.data;
  if (directory !== undefined) {
    const rules = { keep, staleSeconds, now: new Date() };
    await publishToDirectory(directory, complete, rules).catch((error: unknown) =>
      log.warn(`${directory} did not receive the result (${reasonOf(error)}).`),
    );
  }
  if (branch === undefined) return usual;
  const published = await publishToBranch(
    octokit,
    { repository: job.repository, branch, serverUrl: job.serverUrl, ...(pages && { pages }) },
    complete,
    { keep, staleSeconds, now: () => new Date() },
  );
  if (published.kind === 'not-published') {
    log.warn(published.why);
    return usual;
  }
  return published.links.map(({ result, report, page, image, graphs }, index) => {
    const shared = usual[index] ?? ofJob;
    const data = [report && `[report](${report})`, result && `[result](${result})`, shared.rawData];
    const rawData = data.filter(Boolean).join(', ');
    const shown = { ...(page && { page }), ...(image && { image }) };
    return { ...shared, rawData, ...shown, graph: (anchor) => graphs.get(anchor) };
  });
}

/** Without facts from git, the trend orders the commit by the time of its measurement. */
async function gitFacts(
  { result }: Publication,
  repository: JobContext['repository'],
): Promise<Pick<Publication, 'commits' | 'releases'>> {
  if (!isOfGate(result)) return {};
  return commitFacts(result.patch.headCommit, repository).catch((error: unknown) => {
    log.warn(`The date of the commit is unknown (${reasonOf(error)}).`);
    return {};
  });
}
