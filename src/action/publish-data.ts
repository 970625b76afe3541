// Keeps what was measured on the data branch, and says where people find it.
import type { Config } from '../config/schema.ts';
import { publishToBranch } from '../data-branch/branch.ts';
import { publishToDirectory } from '../data-branch/directory.ts';
import { isOfGate, type Publication } from '../data-branch/layout.ts';
import type { ReportLinks } from '../report/markdown.ts';
import { reasonOf } from '../words/one-line.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';

/** With no publication the badges are brought up to date. What cannot be kept is a warning: the verdict stands. */
export async function publishData(
  { octokit, inputs: { job } }: JobContext,
  { github }: Config,
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
  const publications = asked.map((publication) => ({ ...publication, leftOut }));
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
