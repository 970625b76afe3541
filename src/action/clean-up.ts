// Gives back what the job holds when it is over, and takes the embedded lab down: the step before may have been killed.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as core from '@actions/core';
import { createOctokit } from '../forge/github/client.ts';
import { openConduit } from '../forge/phabricator/conduit.ts';
import { directoriesWithLease, releaseLeft } from '../gate/reserve/lease-file.ts';
import { labDown } from '../lab/netns/embedded-lab.ts';
import { rerunAsRoot } from '../lab/netns/requirements.ts';
import { openBuild } from '../publish/reporters/build.ts';
import { closeLeftCheckRun } from '../publish/reporters/check-run.ts';
import { openComment } from '../publish/reporters/comment.ts';
import { cancelled } from '../publish/reporters/outcome-text.ts';
import { isBisection } from './approved-request.ts';
import { readInputs } from './inputs.ts';
import { openBisectComment } from './job.ts';
import { log } from './log.ts';
import {
  answerState,
  labState,
  leaseState,
  type OpenAnswer,
  readOpenAnswers,
} from './post-state.ts';

export async function cleanUp(): Promise<void> {
  const hasLab = core.getState(labState) !== '';
  if (hasLab && (await rerunAsRoot()) !== undefined) return;
  const folder = core.getState(leaseState);
  if (folder !== '') {
    for (const directory of await directoriesWithLease(folder)) {
      const testbed = await releaseLeft(directory, new Date()).catch(warn);
      if (testbed !== undefined) log.info(`Gave ${testbed} back, which the job had left.`);
    }
  }
  if (hasLab) await labDown().catch(warn);
  for (const open of readOpenAnswers(core.getState(answerState))) {
    await endAnswer(open).catch(warn);
  }
  if (folder !== '') await handOver(folder).catch(warn);
}

async function endAnswer({ name, request }: OpenAnswer): Promise<void> {
  const { patch, revisionAnswer } = request;
  const { token, conduitToken, job } = readInputs(process.env);
  // A comment on Phabricator is written at an end that is none of these.
  if (isBisection(request) && patch.kind !== 'pull-request') return;
  if (patch.kind === 'revision') {
    const conduit = openConduit({ url: patch.server, token: conduitToken, log });
    const { key = `${job.runId}`, build } = revisionAnswer ?? {};
    if (build === undefined) return;
    await openBuild(conduit, build, patch, { run: key, undecided: 'failure', log }).ended(
      cancelled,
    );
    return;
  }
  const octokit = await createOctokit({ token, apiUrl: job.apiUrl, log });
  const now = () => new Date();
  const seen = { run: job.runId, detailsUrl: job.runUrl, log, now };
  if (isBisection(request)) {
    await openBisectComment(octokit, request, seen)?.ended(cancelled);
    return;
  }
  const place = { name, detailsUrl: job.runUrl };
  const repository = patch.kind === 'pull-request' ? patch.repository : job.repository;
  const trouble = await closeLeftCheckRun(octokit, { repository, patch }, place);
  if (trouble !== undefined) log.warn(trouble);
  if (patch.kind !== 'pull-request') return;
  const comment = openComment(octokit, patch, {
    ...{ ...seen, name, ask: request.ask },
  });
  await comment.ended(cancelled);
}

/** A runner that is not root could not empty its folder for the next job, which would find the files of this one. */
async function handOver(folder: string): Promise<void> {
  const { SUDO_UID: user, SUDO_GID: group } = process.env;
  if (user === undefined || process.getuid?.() !== 0) return;
  await run('chown', ['--recursive', '--no-dereference', `${user}:${group}`, folder]);
}

const run = promisify(execFile);

const warn = (error: Error): void => log.warn(error.message);
