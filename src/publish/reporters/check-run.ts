// The check on the commit that is judged, live while its gate lasts.

import type { GithubConfig } from '../../config/github.ts';
import { type Id, type Octokit, placeOf } from '../../forge/github/client.ts';
import { githubFailure, whyNotDone } from '../../forge/github/failure.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import type { Pause } from '../../model/pause.ts';
import { annotationsOf } from '../../report/annotations.ts';
import {
  cancelled,
  conclusionOf,
  type Ending,
  resultOf,
  summaryOf,
  titleOf,
} from './outcome-text.ts';
import { type Answer, expectation, placeInLine, secondsFor, timeText } from './reporter.ts';
import { type Told, throttledUpdates } from './throttled-updates.ts';

/** What is judged, and the `owner/name` of the repository in which it is answered. */
export type Subject = { repository: string; patch: Patch };

export type CheckRunOptions = {
  /** Branch rules require the check by it. */
  name: string;
  /** Page of the job. */
  detailsUrl: string;
  undecided: GithubConfig['undecided'];
  /**
   * Whether an App of the site's own makes the check. GitHub's own, whose token a workflow has, gets no events, so
   * buttons would do nothing, and its checks lead to no page but their own, so that the text has to link the job.
   */
  isOwnApp: boolean;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  now(): Date;
  pause?: Pause;
  /** How long the end is tried, where that is longer than usual. */
  patienceSeconds?: number;
  /** An earlier job of the same run has made it. */
  isOpen?: boolean;
};

/**
 * One check run on the head of the patch, created with the first thing there is to show. What is shown next is sent at
 * most every 10 s, but the end at once. Where GitHub refuses, as it does a token without `checks: write`, that is said
 * once and not tried again.
 */
export function openCheckRun(octokit: Octokit, subject: Subject, options: CheckRunOptions): Answer {
  const { detailsUrl, now, undecided, isOwnApp, patienceSeconds } = options;
  const updates = throttledUpdates(checkRunOf(octokit, subject, options), {
    ...options,
    secondsBetween: 10,
    tooSlow,
  });
  const withJob = (summary: string) =>
    isOwnApp ? summary : `${summary}\n\n[The job](${detailsUrl})`;
  let since: Date | undefined;
  return {
    queued(text) {
      updates.notify({ status: 'queued', output: { title: text, summary: withJob(text) } });
    },
    waiting(estimate, text) {
      const summary = withJob(`${codeSpan(text, 1000)}\n\n${expectation(estimate, now())}`);
      updates.notify({ status: 'queued', output: { title: placeInLine(estimate), summary } });
    },
    measuring(testbed, line = '') {
      since ??= now();
      const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
      const summary = withJob([where, codeSpan(line)].filter(Boolean).join('\n\n'));
      updates.notify({
        status: 'in_progress',
        output: { title: `measuring on ${testbed}`, summary },
      });
    },
    ended(ending) {
      const result = resultOf(ending);
      const annotations = result === undefined ? [] : annotationsOf(result);
      const output = { title: titleOf(ending), summary: withJob(summaryOf(ending)), annotations };
      const conclusion = checkConclusionOf(ending, undecided);
      const actions = isOwnApp ? buttonsFor(ending) : [];
      return updates.tellLast(
        { status: 'completed', conclusion, output, actions },
        secondsFor(ending, patienceSeconds),
      );
    },
    linked: (ending) =>
      updates.tellInstead(
        {
          status: 'linked',
          output: { title: titleOf(ending), summary: withJob(summaryOf(ending)) },
        },
        secondsFor(ending, patienceSeconds),
      ),
    left: updates.left,
  };
}

/**
 * Completes what a killed job left open, which may have known of its check or not; answers, in a sentence for people,
 * why that failed.
 */
export async function closeLeftCheckRun(
  octokit: Octokit,
  { repository, patch }: Subject,
  { name, detailsUrl }: Pick<CheckRunOptions, 'name' | 'detailsUrl'>,
): Promise<string | undefined> {
  const { owner, repo } = placeOf(repository);
  try {
    const found = await octokit.request(checksOfCommit, {
      ...{ owner, repo, ref: patch.headCommit },
      ...{ check_name: name, filter: 'all', per_page: 100 },
    });
    const ours = externalIdOf(patch, detailsUrl);
    for (const { id: check_run_id, external_id, status } of found.data.check_runs) {
      if (external_id !== ours || status === 'completed') continue;
      const output = { title: titleOf(cancelled), summary: summaryOf(cancelled) };
      const ending = { status: 'completed', conclusion: 'cancelled', output } as const;
      await octokit.request(updateCheck, { owner, repo, check_run_id, ...ending });
    }
    return undefined;
  } catch (error) {
    const said = githubFailure(error)?.said ?? reasonOf(error);
    return `A check of ppsgate on ${repository} may stay open, because the job ended early and GitHub could not be told (${said}): run the job again.`;
  }
}

/**
 * Whether the newest check of this name on the head was passed, or left open, for another pull request or another base:
 * a check stands on a commit, and speaks for whatever has that commit. True as well where GitHub does not tell.
 */
export async function standsForAnother(
  octokit: Octokit,
  { repository, patch }: Subject,
  name: string,
): Promise<boolean> {
  try {
    const newest = await newestCheckRun(octokit, { repository, patch }, name);
    const stands = newest?.conclusion === 'success' || newest?.conclusion === 'neutral';
    return stands && !newest.external_id?.startsWith(externalIdOf(patch, ''));
  } catch {
    return true;
  }
}

/** Whether there is a check of this name on the head, whatever it says. True as well where GitHub does not tell. */
export const hasCheckRun = (octokit: Octokit, subject: Subject, name: string): Promise<boolean> =>
  newestCheckRun(octokit, subject, name).then(
    (newest) => newest !== undefined,
    () => true,
  );

async function newestCheckRun(octokit: Octokit, { repository, patch }: Subject, name: string) {
  const { owner, repo } = placeOf(repository);
  const found = await octokit.request(checksOfCommit, {
    ...{ owner, repo, ref: patch.headCommit },
    ...{ check_name: name, filter: 'all', per_page: 100 },
  });
  return found.data.check_runs.toSorted((a, b) => Number(b.id) - Number(a.id))[0];
}

/** `#7 main https://…`: what a check was made for. No branch has a space in its name. */
const externalIdOf = (patch: Patch, detailsUrl: string): string =>
  patch.kind === 'pull-request'
    ? `#${patch.number} ${patch.baseBranch ?? '?'} ${detailsUrl}`
    : detailsUrl;

/** The number of the pull request that a check was made for, by its `external_id`. */
export function pullRequestOfCheckRun(externalId: string): number | undefined {
  const [, digits] = /^#([1-9]\d{0,9}) /.exec(externalId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const checksOfCommit = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
const updateCheck = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';

type CheckConclusion = 'success' | 'failure' | 'neutral' | 'cancelled';

/**
 * What makes the job red makes the check red, and only a pass makes it green. `neutral` would be fair where nobody can
 * say, but a branch rule that requires the check takes it for a pass, so a site has to ask for it; where something kept
 * the patch from being measured it is never given. A patch that need not be measured, or not yet, is to pass such a rule,
 * and did not earn green. Whose fault it is stands in the title.
 */
function checkConclusionOf(ending: Ending, undecided: GithubConfig['undecided']): CheckConclusion {
  switch (conclusionOf(ending)) {
    case 'pass':
      return resultOf(ending)?.outcome.kind === 'judged' ? 'success' : 'neutral';
    case 'cancelled':
      return 'cancelled';
    case 'undecided':
      return undecided;
    case 'patchAtFault':
    case 'usage':
    case 'infrastructure':
      return 'failure';
  }
}

type Button = { label: string; description: string; identifier: 'rerun' | 'extend' };

/** Within the 20, 40 and 20 characters that GitHub allows. */
const rerun: Button = {
  label: 'Re-run',
  description: 'Measure this commit again',
  identifier: 'rerun',
};
const extend: Button = {
  label: 'Extend',
  description: 'Go on with more runs',
  identifier: 'extend',
};

const buttonsFor = (ending: Ending): Button[] =>
  conclusionOf(ending) === 'undecided' ? [extend, rerun] : [rerun];

type View = {
  output: { title: string; summary: string; annotations?: ReturnType<typeof annotationsOf> };
} & (
  | { status: 'queued' | 'in_progress' }
  /** Completed before, without its links. */
  | { status: 'linked' }
  | { status: 'completed'; conclusion: CheckConclusion; actions: Button[] }
);

type Shown = Exclude<View, { status: 'linked' }>;

const tooSlow = (seconds: number): string =>
  `The check on the commit may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the check is required.`;

/** Shows views in one check run, the first by creating it. */
function checkRunOf(
  octokit: Octokit,
  subject: Subject,
  { name, detailsUrl, isOwnApp, isOpen = false }: CheckRunOptions,
): (view: View) => Promise<Told> {
  const { owner, repo } = placeOf(subject.repository);
  const { headCommit } = subject.patch;
  // What is written is not simply sent again: who calls tries again, with something newer to show.
  const request = { retries: 0 };
  const external_id = externalIdOf(subject.patch, detailsUrl);
  let id: Id | undefined;
  let mayExist = isOpen;
  let mayBeComplete = false;

  const create = async (view: Shown) => {
    const details = isOwnApp ? { details_url: detailsUrl } : {};
    const about = { name, head_sha: headCommit, ...details };
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...{ owner, repo, ...about, external_id, request },
      ...view,
    });
    return data.id;
  };

  const update = (check_run_id: Id, changes: Shown | Pick<View, 'output'>) =>
    octokit.request(updateCheck, { owner, repo, check_run_id, request, ...changes });

  /** The answer may be lost after GitHub did what was asked. What an earlier attempt of this run completed is not it. */
  const find = async (view: Shown) => {
    const found = await octokit.request(checksOfCommit, {
      ...{ owner, repo, ref: headCommit, check_name: name, filter: 'all', per_page: 100 },
    });
    return found.data.check_runs.find((run) => {
      if (id !== undefined) return run.id === id;
      if (run.external_id !== external_id) return false;
      return run.status !== 'completed' || hasEnded(run, view);
    });
  };

  return async (view) => {
    try {
      if (view.status === 'linked') {
        if (id === undefined) return { kind: 'told' };
        await update(id, { output: view.output });
        return { kind: 'told' };
      }
      // GitHub adds the annotations of a second end to those of the first.
      if (id === undefined ? mayExist : mayBeComplete) {
        const found = await find(view);
        id ??= found?.id;
        if (found?.status === 'completed') return { kind: 'told' };
      }
      mayExist = true;
      mayBeComplete = view.status === 'completed';
      if (id === undefined) id = await create(view);
      else await update(id, view);
      return { kind: 'told' };
    } catch (error) {
      return notTold(error, name, subject);
    }
  };
}

type CheckRun = { conclusion: string | null; output: { title: string | null } };

const hasEnded = ({ conclusion, output }: CheckRun, view: Shown): boolean =>
  view.status === 'completed' &&
  conclusion === view.conclusion &&
  output.title === view.output.title;

function notTold(error: unknown, name: string, { repository, patch }: Subject): Told {
  const what = `The check ${name} on ${patchName(patch)} of ${repository} does not show how things stand`;
  const failure = githubFailure(error);
  if (failure === undefined) return { kind: 'refused', why: `${what} (${reasonOf(error)}).` };
  if (failure.kind !== 'answered' || failure.status >= 500) {
    const why = `${what} because GitHub could not be told (${failure.said}): run the job again where the check is required.`;
    return { kind: 'failed', why };
  }
  const why = whyNotDone(what, failure, {
    again: 'run the job',
    permission: 'give the job `permissions: checks: write`; the gate goes on without',
    otherwise: '; the gate goes on without',
  });
  return { kind: 'refused', why };
}
