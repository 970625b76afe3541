// Implements `/ppsgate extend`: continues an earlier workflow run's experiment from the plan and journal in its
// artifact.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMaxRuns } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import { fetchArtifact, readEntries } from '../forge/github/artifact.ts';
import { type Octokit, placeOf } from '../forge/github/client.ts';
import { githubFailure } from '../forge/github/failure.ts';
import { readPlan } from '../gate/experiment/plan.ts';
import { type Patch, patchName } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';

export const artifactName = 'ppsgate-result';

/**
 * Writes plan and journal to the work directory. The plan decides what the DUT boots, so the run must be of the
 * repository's own workflow: a fork's pull request brings its own. Throws a `UsageError` for an unusable experiment.
 *
 * @param folder of the gate in the artifact: empty, or `1/`, `2/` for several gates
 */
export async function fetchExperiment(
  octokit: Octokit,
  repository: string,
  { run, patch, folder }: { run: number; patch: Patch; folder: string },
  directory: string,
): Promise<void> {
  const again = `write /ppsgate run to measure ${patchName(patch)} from the start.`;
  await refuseForeign(octokit, repository, run, again);
  const artifact = await fetchArtifact(octokit, { repository, runId: run, name: artifactName });
  if (artifact.kind !== 'fetched') throw new UsageError(`${artifact.why} Else ${again}`);
  const names = ['experiment.json', 'journal.jsonl'];
  const entries = await readEntries(
    artifact.bytes,
    names.map((name) => folder + name),
  );
  if (entries.kind === 'refused') throw new UsageError(`${entries.why} Else ${again}`);
  await mkdir(directory, { recursive: true });
  for (const name of names) {
    const text = entries.texts.get(folder + name);
    if (text === undefined) throw new UsageError(`The experiment to extend has no ${name}: ${again}`);
    await writeFile(join(directory, name), text);
  }
  const { patch: judged, variants } = await readPlan(directory);
  // No job of the Action boots kernels from files, so such a path is forged.
  if (variants.some(({ kernel }) => kernel?.kind === 'archive')) {
    throw new UsageError(`The experiment to extend boots a kernel from a file: ${again}`);
  }
  if (judged.headCommit !== patch.headCommit || judged.baseCommit !== patch.baseCommit) {
    throw new UsageError(`The commits of the experiment to extend differ from the current ones: ${again}`);
  }
}

/** Defaults to twice the earlier maximum. */
export async function runsToExtend(directory: string, maxRuns: string | undefined): Promise<number> {
  if (maxRuns !== undefined) return parseMaxRuns(maxRuns, namingStyles.comment('maxRuns'));
  const { cells } = await readPlan(directory);
  return 2 * Math.max(...cells.flatMap(({ design }) => design.budgets));
}

async function refuseForeign(octokit: Octokit, repository: string, run_id: number, again: string): Promise<void> {
  const { owner, repo } = placeOf(repository);
  const { data } = await octokit
    .request('GET /repos/{owner}/{repo}/actions/runs/{run_id}', { owner, repo, run_id })
    .catch((error: unknown) => {
      const failure = githubFailure(error);
      if (failure === undefined) throw error;
      const isGone = failure.kind === 'answered' && failure.status === 404;
      if (isGone) throw new UsageError(`The experiment to extend no longer exists on GitHub: ${again}`);
      throw new Error(
        `GitHub did not return the run of the experiment to extend (${failure.detail}): run the job again.`,
      );
    });
  // Accepts pull_request_target: only this event for a fork's patch runs the workflow of the base.
  const isOwn = data.event === 'pull_request_target' || data.head_repository?.full_name === data.repository.full_name;
  if (isOwn) return;
  throw new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`);
}
