// A nightly run as the job that measures has it: what earlier ones say, and how each part of it is kept.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { readBranchTrend } from '../publish/data-branch/branch.ts';
import { readDirectoryTrend } from '../publish/data-branch/directory.ts';
import { type NightlyPlan, nightlyPlan } from '../publish/data-branch/nightly-plan.ts';
import { factsOf, folderOf, type NightlyDeps } from '../publish/nightly.ts';
import { explained } from '../report/read-result.ts';
import { mostParts, type OutputName, partName } from './approved-request.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';
import { publishData } from './publish-data.ts';
import { tellTrend } from './report-trend.ts';

type Place = {
  context: JobContext;
  config: Config;
  /** No other job publishes. */
  isAlone: boolean;
  /** The work directory of the nightly run. */
  directory: string;
  /** Path of what the job that publishes looks for. */
  file(base: OutputName): string;
};

/** All that a nightly run touches of the world, in a job. */
export function nightlyDeps(deps: GateDeps, place: Place): NightlyDeps {
  const { context, config, isAlone, directory, file } = place;
  let parts = 0;
  return {
    ...deps,
    repository: context.repository,
    trend: (testbed, { headCommit }) => nightlyPlanOf(testbed, headCommit, place),
    async keep(told) {
      const folder = join(directory, folderOf(told));
      if (isAlone) {
        const { profiles } = await explained(told.result, folder, log.warn);
        await publishData(context, config, [{ ...told, profiles }]);
        // A part that is no nightly run of its own may have said what a change is.
        if (!told.isDefaultBranch) await tellTrend(context, config, [told.result.testbed.name]);
      }
      // What is measured afterwards may last for hours, and may be cut short.
      const name = told.occasion === 'nightly' ? 'result' : partName(++parts);
      const written = join(folder, 'result.json');
      if (parts <= mostParts && file(name) !== written) await copyFile(written, file(name));
    },
  };
}

async function nightlyPlanOf(
  testbed: string,
  commit: string,
  { context: { octokit, repository, inputs }, config }: Place,
): Promise<NightlyPlan | undefined> {
  const { branch, directory } = config.github.data;
  const { repository: name } = inputs.job;
  const trend =
    branch !== undefined
      ? await readBranchTrend(octokit, { repository: name, branch }, testbed)
      : directory && (await readDirectoryTrend(directory));
  if (!trend) return undefined;
  const { commits } = await factsOf(commit, repository);
  return nightlyPlan(trend, { testbed, commits, now: () => new Date() });
}
