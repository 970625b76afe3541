// A check stands on a commit, and that may be the head of several pull requests: it passes only where none goes elsewhere.

import type { Octokit } from '../../forge/github/client.ts';
import { githubFailure, mayPassSoon } from '../../forge/github/failure.ts';
import { pullRequestsWithHead } from '../../forge/github/pull-request.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type PullRequest, patchName } from '../../model/patch.ts';
import { type Pause, realPause } from '../../model/pause.ts';
import type { CheckRunOptions } from './check-run.ts';
import { conclusionOf, type Ending, type Unmeasured } from './outcome-text.ts';
import { type Answer, secondsFor } from './reporter.ts';
import { pausesWithin } from './throttled-updates.ts';

/**
 * The same answer on the head commit, which fails instead of passing where an open pull request with this head goes to
 * another branch than the one that the patch was measured for; its own too, when it was sent elsewhere meanwhile.
 */
export function forOneBase(
  octokit: Octokit,
  patch: PullRequest,
  answer: Answer,
  { patienceSeconds, pause = realPause }: Pick<CheckRunOptions, 'patienceSeconds' | 'pause'> = {},
): Answer {
  let elsewhere: Elsewhere | undefined;
  const bound = (ending: Ending): Ending => {
    if (elsewhere === undefined) return ending;
    if (ending.kind === 'measured') return { kind: 'uncounted', measured: ending, ...elsewhere };
    // The other branch that the commit goes to may have no queue.
    return isLeft(ending) ? { ...ending, why: 'waits-for-leave' } : ending;
  };
  return {
    ...answer,
    async ended(ending) {
      if (mayPass(ending)) {
        const most = secondsFor(ending, patienceSeconds);
        elsewhere = await goesElsewhere(octokit, patch, { most, pause });
      }
      return answer.ended(bound(ending));
    },
    linked: (ending) => answer.linked(bound(ending)),
  };
}

const isLeft = (ending: Ending): ending is Unmeasured =>
  ending.kind === 'unmeasured' && ending.why === 'left-to-queue';

/** A branch rule takes a check that is neutral for a pass. */
const mayPass = (ending: Ending): boolean => ['pass', 'undecided'].includes(conclusionOf(ending));

/** `title` is short plain text of our own, `why` is Markdown. */
type Elsewhere = { title: string; why: string };

async function goesElsewhere(
  octokit: Octokit,
  patch: PullRequest,
  { most, pause }: { most: number; pause: Pause },
): Promise<Elsewhere | undefined> {
  const { repository, headCommit, baseBranch } = patch;
  try {
    const all = await whenWell(
      () => pullRequestsWithHead(octokit, repository, headCommit),
      [...pausesWithin(most)],
      pause,
    );
    const elsewhere = all.find(({ pullRequest }) => pullRequest.baseBranch !== baseBranch);
    if (elsewhere === undefined) return undefined;
    const { number, baseBranch: branch = '' } = elsewhere.pullRequest;
    const goes = number === patch.number ? 'goes' : 'has the same head and goes';
    const why = `${patchName(patch)} was measured for ${codeSpan(baseBranch ?? 'another branch')}, and #${number} ${goes} to ${codeSpan(branch)}: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` at the one that is to be merged.`;
    return { title: 'this commit goes to another branch', why };
  } catch (error) {
    const why = `Nobody can say whether another pull request has this commit: ${codeSpan(reasonOf(error), 500)} Write \`/ppsgate rerun\`.`;
    return { title: 'GitHub did not tell where this commit goes', why };
  }
}

/** Asks again, after each of the pauses, while GitHub is not well. */
async function whenWell<Told>(
  ask: () => Promise<Told>,
  [seconds, ...later]: readonly number[],
  pause: Pause,
): Promise<Told> {
  try {
    return await ask();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (seconds === undefined || !mayPassSoon(githubFailure(cause))) throw error;
    await pause(seconds, never);
    return whenWell(ask, later, pause);
  }
}

const never = new AbortController().signal;
