// Gives a nightly run its dependencies in a job: the trend so far, and a place for each part.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { readBranchTrend } from '../publish/data-branch/branch.ts';
import { readDirectoryTrend } from '../publish/data-branch/directory.ts';
import { type NightlyPlan, planFollowUps } from '../publish/data-branch/nightly-plan.ts';
import { commitFacts, type NightlyDeps, nightlyFolder } from '../publish/nightly.ts';
import { explained } from '../report/read-result.ts';
import { maxNightlyParts, nightlyPart, type OutputName } from './approved-request.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { publishData } from './publish-data.ts';
import { reportTrend } from './report-trend.ts';

type NightlyJob = {
  context: JobContext;
  config: Config;
  isAlone: boolean;
  directory: string;
  file(base: OutputName): string;
};

export function nightlyDeps(deps: GateDeps, job: NightlyJob): NightlyDeps {
  const { context, config, isAlone, directory, file } = job;
  let parts = 0;
  return {
    ...deps,
    repository: context.repository,
    trend: (testbed, { headCommit }) => nightlyPlanOf(testbed, headCommit, job),
    async keep(part) {
      const folder = join(directory, nightlyFolder(part));
      if (isAlone) {
        const { profiles } = await explained(part.result, folder, log.warn);
        await publishData(context, config, [{ ...part, profiles }]);
        // Bisections and measurements of a change may have found its culprit.
        if (!part.isDefaultBranch) await reportTrend(context, config, [part.result.testbed.name]);
      }
      // Copies each part at once, as later parts may last hours, and be interrupted.
      const name = part.occasion === 'nightly' ? 'result' : nightlyPart(++parts);
      const written = join(folder, 'result.json');
      if (parts <= maxNightlyParts && file(name) !== written) await copyFile(written, file(name));
    },
  };
}

async function nightlyPlanOf(
  testbed: string,
  commit: string,
  { context: { octokit, repository, inputs }, config }: NightlyJob,
): Promise<NightlyPlan | undefined> {
  const { branch, directory } = config.github.data;
  const { repository: name } = inputs.job;
  const trend =
    branch !== undefined
      ? await readBranchTrend(octokit, { repository: name, branch }, testbed)
      : directory && (await readDirectoryTrend(directory));
  if (!trend) return undefined;
  const { commits } = await commitFacts(commit, repository);
  return planFollowUps(trend, { testbed, commits, now: () => new Date() });
}
