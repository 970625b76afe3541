// Passes a check only if all open pull requests with that head have the same base branch.

import type { Octokit } from '../../forge/github/client.ts';
import { githubFailure, mayPassSoon } from '../../forge/github/failure.ts';
import { pullRequestsWithHead } from '../../forge/github/pull-request.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type PullRequest, patchName } from '../../model/patch.ts';
import { type Pause, realPause } from '../../model/pause.ts';
import type { CheckRunOptions } from './check-run.ts';
import { conclusionOf, type ReportedOutcome, type UnmeasuredOutcome } from './outcome.ts';
import { deliverySeconds, type Reporter } from './reporter.ts';
import { pausesWithin } from './throttled-updates.ts';

/** Includes the patch's own pull request, in case it was retargeted meanwhile. */
export function failingOnSharedHead(
  octokit: Octokit,
  patch: PullRequest,
  reporter: Reporter,
  { patienceSeconds, pause = realPause }: Pick<CheckRunOptions, 'patienceSeconds' | 'pause'> = {},
): Reporter {
  let otherBase: OtherBase | undefined;
  const withOtherBase = (outcome: ReportedOutcome): ReportedOutcome => {
    if (otherBase === undefined) return outcome;
    if (outcome.kind === 'measured') return { kind: 'uncounted', measured: outcome, ...otherBase };
    // The other base branch may have no merge queue.
    return isLeftToQueue(outcome) ? { ...outcome, reason: 'waits-for-approval' } : outcome;
  };
  return {
    ...reporter,
    async conclude(outcome) {
      if (mayPass(outcome)) {
        const most = deliverySeconds(outcome, patienceSeconds);
        otherBase = await findOtherBase(octokit, patch, { most, pause });
      }
      return reporter.conclude(withOtherBase(outcome));
    },
    addLinks: (outcome) => reporter.addLinks(withOtherBase(outcome)),
  };
}

const isLeftToQueue = (outcome: ReportedOutcome): outcome is UnmeasuredOutcome =>
  outcome.kind === 'unmeasured' && outcome.reason === 'left-to-merge-queue';

/** Branch rules accept a neutral check as a pass. */
const mayPass = (outcome: ReportedOutcome): boolean => ['pass', 'undecided'].includes(conclusionOf(outcome));

/** `title` is short plain text, `why` is Markdown. */
type OtherBase = { title: string; why: string };

async function findOtherBase(
  octokit: Octokit,
  patch: PullRequest,
  { most, pause }: { most: number; pause: Pause },
): Promise<OtherBase | undefined> {
  const { repository, headCommit, baseBranch } = patch;
  try {
    const all = await retried(
      () => pullRequestsWithHead(octokit, repository, headCommit),
      [...pausesWithin(most)],
      pause,
    );
    const elsewhere = all.find(({ pullRequest }) => pullRequest.baseBranch !== baseBranch);
    if (elsewhere === undefined) return undefined;
    const { number, baseBranch: branch = '' } = elsewhere.pullRequest;
    const goes = number === patch.number ? 'goes' : 'has the same head and targets';
    const why = `${patchName(patch)} was measured for ${codeSpan(baseBranch ?? 'another branch')}, but #${number} ${goes} ${codeSpan(branch)}: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` in the one to be merged.`;
    return { title: 'this commit also targets another branch', why };
  } catch (error) {
    const why = `GitHub did not report whether another pull request has this commit: ${codeSpan(reasonOf(error), 500)} Write \`/ppsgate rerun\`.`;
    return { title: 'the base branches of this commit are unknown', why };
  }
}

/** Repeats a request after each pause while GitHub's failure may be temporary. */
async function retried<Data>(
  request: () => Promise<Data>,
  [seconds, ...later]: readonly number[],
  pause: Pause,
): Promise<Data> {
  try {
    return await request();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (seconds === undefined || !mayPassSoon(githubFailure(cause))) throw error;
    await pause(seconds, never);
    return retried(request, later, pause);
  }
}

const never = new AbortController().signal;
