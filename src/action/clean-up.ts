// Cleans up at the end of the job, as the step may have been killed: leases, the embedded lab, open reporters.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createOctokit } from '../forge/github/client.ts';
import { openConduit } from '../forge/phabricator/conduit.ts';
import { directoriesWithLease, releaseLeft } from '../gate/reserve/lease-file.ts';
import { labDown } from '../lab/netns/embedded-lab.ts';
import { rerunAsRoot } from '../lab/netns/requirements.ts';
import { openBuild } from '../publish/reporters/build.ts';
import { closeOpenCheckRun } from '../publish/reporters/check-run.ts';
import { openComment } from '../publish/reporters/comment.ts';
import { cancelledOutcome } from '../publish/reporters/outcome.ts';
import { isBisection } from './approved-request.ts';
import { readInputs } from './inputs.ts';
import { log, readState } from './log.ts';
import { type OpenReporter, openBisectComment, readOpenReporters } from './reporters.ts';

export async function cleanUp(): Promise<void> {
  const hasLab = readState('embedded-lab') !== '';
  if (hasLab && (await rerunAsRoot()) !== undefined) return;
  const folder = readState('lease');
  if (folder !== '') {
    for (const directory of await directoriesWithLease(folder)) {
      const testbed = await releaseLeft(directory, new Date()).catch(warn);
      if (testbed !== undefined) log.info(`Released ${testbed}, which the job still held.`);
    }
  }
  if (hasLab) await labDown().catch(warn);
  for (const open of readOpenReporters(readState('open-reporters'))) {
    await conclude(open).catch(warn);
  }
  if (folder !== '') await handOver(folder).catch(warn);
}

async function conclude({ name, request }: OpenReporter): Promise<void> {
  const { patch, relay } = request;
  const { token, conduitToken, job } = readInputs(process.env);
  // Phabricator gets no comment on a cancelled bisection.
  if (isBisection(request) && patch.kind !== 'pull-request') return;
  if (patch.kind === 'revision') {
    const conduit = openConduit({ url: patch.server, token: conduitToken, log });
    const { key = `${job.runId}`, build } = relay ?? {};
    if (build === undefined) return;
    await openBuild(conduit, build, patch, { run: key, undecided: 'failure', log }).conclude(cancelledOutcome);
    return;
  }
  const octokit = await createOctokit({ token, apiUrl: job.apiUrl, log });
  const now = () => new Date();
  const shared = { run: job.runId, detailsUrl: job.runUrl, log, now };
  if (isBisection(request)) {
    await openBisectComment(octokit, request, shared)?.conclude(cancelledOutcome);
    return;
  }
  const place = { name, detailsUrl: job.runUrl };
  const repository = patch.kind === 'pull-request' ? patch.repository : job.repository;
  const trouble = await closeOpenCheckRun(octokit, { repository, patch }, place);
  if (trouble !== undefined) log.warn(trouble);
  if (patch.kind !== 'pull-request') return;
  await openComment(octokit, patch, { ...shared, name, overrides: request.overrides }).conclude(cancelledOutcome);
}

/** Gives the files to the runner's user, who otherwise could not delete root's before the next job. */
async function handOver(folder: string): Promise<void> {
  const { SUDO_UID: user, SUDO_GID: group } = process.env;
  if (user === undefined || process.getuid?.() !== 0) return;
  await run('chown', ['--recursive', '--no-dereference', `${user}:${group}`, folder]);
}

const run = promisify(execFile);

const warn = (error: Error): void => log.warn(error.message);
