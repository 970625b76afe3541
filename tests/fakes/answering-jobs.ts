// Simulates jobs on GitHub that report one after another, each until its answer is accepted. The plan is its only
// argument.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PullRequest } from '../../src/model/patch.ts';
import type { Pause } from '../../src/model/pause.ts';
import { openCheckRun } from '../../src/publish/reporters/check-run.ts';
import { openComment } from '../../src/publish/reporters/comment.ts';
import { outcomeOfResult } from '../../src/publish/reporters/outcome.ts';
import { combineReporters } from '../../src/publish/reporters/reporter.ts';
import { failingOnSharedHead } from '../../src/publish/reporters/shared-head.ts';
import { hastyOctokit } from './github/hasty-octokit.ts';
import { passing } from './result.ts';

export type AnsweringJobsPlan = {
  url: string;
  /** Contains a file for each job that has reported. */
  directory: string;
  /** In order of their measurements; the file has the name of the run. */
  jobs: { run: number; patch: PullRequest }[];
  /** Factor by which time runs faster: pauses are shorter. */
  haste: number;
  /** Number of requests to GitHub and responses after which it is killed; absent: never. */
  diesAfter?: number;
};

const plan: AnsweringJobsPlan = JSON.parse(process.argv[2] ?? '');
const { url, directory, jobs, haste, diesAfter = Number.POSITIVE_INFINITY } = plan;

const pause: Pause = (seconds, signal) => sleep((seconds * 1000) / haste, undefined, { signal }).catch(() => {});
const shared = { log: { info() {}, warn() {} }, pause, now: () => new Date() };
const octokit = await hastyOctokit({ url });
let steps = 0;
octokit.hook.wrap('request', async (request, options) => {
  step();
  const response = await request(options);
  step();
  return response;
});
function step(): void {
  steps += 1;
  // In half of the cases the message in transit still arrives.
  if (steps > diesAfter) setTimeout(() => process.kill(process.pid, 'SIGKILL'), (steps % 2) * 5);
}

for (const { run, patch } of jobs) {
  const answered = join(directory, String(run));
  const detailsUrl = `https://github.com/${patch.repository}/actions/runs/${run}`;
  const { result } = passing();
  while (!existsSync(answered)) {
    const about = { ...shared, name: 'ppsgate', detailsUrl };
    const subject = { repository: patch.repository, patch };
    const options = { undecided: 'failure', isOwnApp: false, isOpen: true } as const;
    const check = openCheckRun(octokit, subject, { ...about, ...options });
    const answer = combineReporters([
      failingOnSharedHead(octokit, patch, check, { pause }),
      openComment(octokit, patch, { ...about, run, overrides: {} }),
    ]);
    const given = await answer.conclude(outcomeOfResult({ ...result, patch }, {}));
    // A green job, as shown on GitHub.
    if (given === 'delivered') writeFileSync(answered, '');
  }
}
