// Jobs on GitHub that answer one after another, each until its answer is taken; the plan is its only argument.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PullRequest } from '../../src/model/patch.ts';
import type { Pause } from '../../src/model/pause.ts';
import { openCheckRun } from '../../src/publish/reporters/check-run.ts';
import { openComment } from '../../src/publish/reporters/comment.ts';
import { outcomeOfResult } from '../../src/publish/reporters/outcome-text.ts';
import { combineReporters } from '../../src/publish/reporters/reporter.ts';
import { failingOnSharedHead } from '../../src/publish/reporters/shared-head.ts';
import { hastyOctokit } from './github/hasty-octokit.ts';
import { passing } from './result.ts';

export type AnsweringJobsPlan = {
  url: string;
  /** Has a file for each job that has answered. */
  directory: string;
  /** In the order in which they measured; the name of the file is that of the run. */
  jobs: { run: number; patch: PullRequest }[];
  /** Time runs so many times as fast: pauses are shorter. */
  haste: number;
  /** So many questions to GitHub and answers later it is killed. Absent: it lives. */
  diesAfter?: number;
};

const plan: AnsweringJobsPlan = JSON.parse(process.argv[2] ?? '');
const { url, directory, jobs, haste, diesAfter = Number.POSITIVE_INFINITY } = plan;

const pause: Pause = (seconds, signal) =>
  sleep((seconds * 1000) / haste, undefined, { signal }).catch(() => {});
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
  // Half of the time what is on its way just then arrives.
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
    // A green job as seen on GitHub.
    if (given === 'delivered') writeFileSync(answered, '');
  }
}
