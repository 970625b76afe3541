// Reports on the judged commit in a check run while the gate lasts.

import type { GithubConfig } from '../../config/github.ts';
import { type Id, type Octokit, placeOf } from '../../forge/github/client.ts';
import { githubFailure, whyNotDone } from '../../forge/github/failure.ts';
import { codeSpan } from '../../model/escape.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import type { Pause } from '../../model/pause.ts';
import { annotationsOf } from '../../report/annotations.ts';
import { cancelledOutcome, conclusionOf, type ReportedOutcome, resultOf } from './outcome.ts';
import { outcomeMarkdown, outcomeTitle } from './outcome-text.ts';
import { deliverySeconds, expectedStart, queuePosition, type Reporter, timeText } from './reporter.ts';
import { ThrottledUpdates, type UpdateAttempt } from './throttled-updates.ts';

/** The patch, and `owner/name` of the repository that gets its check. */
export type CheckSubject = { repository: string; patch: Patch };

export type CheckRunOptions = {
  /** Branch rules refer to the check by its name. */
  name: string;
  detailsUrl: string;
  undecided: GithubConfig['undecided'];
  /**
   * True if the site's own App creates the check. GitHub's App, whose token a workflow has, gets no events, so buttons
   * would have no effect; its checks link no page of ours, so the text links the job.
   */
  isOwnApp: boolean;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  now(): Date;
  pause?: Pause;
  /** Seconds to keep trying to deliver the outcome, if longer than usual. */
  patienceSeconds?: number;
  /** Set if an earlier job of the same run created it. */
  isOpen?: boolean;
};

/**
 * Keeps one check run on the patch's head, created by the first update. Sends updates at most every 10 s, and the
 * outcome at once. A refusal of GitHub, such as for a token without `checks: write`, is logged once and not retried.
 */
export function openCheckRun(octokit: Octokit, subject: CheckSubject, options: CheckRunOptions): Reporter {
  const { detailsUrl, now, undecided, isOwnApp, patienceSeconds } = options;
  const updates = new ThrottledUpdates(checkRunOf(octokit, subject, options), {
    ...options,
    secondsBetween: 10,
    tooSlow,
  });
  const withJob = (summary: string) => (isOwnApp ? summary : `${summary}\n\n[The job](${detailsUrl})`);
  let since: Date | undefined;
  return {
    queued(text) {
      updates.send({ status: 'queued', output: { title: text, summary: withJob(text) } });
    },
    waiting(estimate, text) {
      const summary = withJob(`${codeSpan(text, 1000)}\n\n${expectedStart(estimate, now())}`);
      updates.send({ status: 'queued', output: { title: queuePosition(estimate), summary } });
    },
    measuring(testbed, line = '') {
      since ??= now();
      const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
      const summary = withJob([where, codeSpan(line)].filter(Boolean).join('\n\n'));
      updates.send({
        status: 'in_progress',
        output: { title: `measuring on ${testbed}`, summary },
      });
    },
    conclude(outcome) {
      const result = resultOf(outcome);
      const annotations = result === undefined ? [] : annotationsOf(result);
      const output = {
        title: outcomeTitle(outcome),
        summary: withJob(outcomeMarkdown(outcome)),
        annotations,
      };
      const conclusion = checkConclusionOf(outcome, undecided);
      const actions = isOwnApp ? buttonsFor(outcome) : [];
      return updates.sendLast(
        { status: 'completed', conclusion, output, actions },
        deliverySeconds(outcome, patienceSeconds),
      );
    },
    addLinks: (outcome) =>
      updates.replaceLast(
        {
          status: 'linked',
          output: { title: outcomeTitle(outcome), summary: withJob(outcomeMarkdown(outcome)) },
        },
        deliverySeconds(outcome, patienceSeconds),
      ),
    leaveOpen: () => updates.stop(),
  };
}

/** Completes the checks that a killed job left open. Returns a sentence for people if that failed. */
export async function closeOpenCheckRun(
  octokit: Octokit,
  { repository, patch }: CheckSubject,
  { name, detailsUrl }: Pick<CheckRunOptions, 'name' | 'detailsUrl'>,
): Promise<string | undefined> {
  const { owner, repo } = placeOf(repository);
  try {
    const all = await checkRunsOn(octokit, repository, patch.headCommit, name);
    const ours = externalIdOf(patch, detailsUrl);
    for (const { id: check_run_id, external_id, status } of all) {
      if (external_id !== ours || status === 'completed') continue;
      const output = {
        title: outcomeTitle(cancelledOutcome),
        summary: outcomeMarkdown(cancelledOutcome),
      };
      await octokit.request(updateCheck, {
        owner,
        repo,
        check_run_id,
        status: 'completed',
        conclusion: 'cancelled',
        output,
      });
    }
    return undefined;
  } catch (error) {
    const message = githubFailure(error)?.detail ?? reasonOf(error);
    return `A check of ppsgate on ${repository} may stay open, because the job ended early and GitHub could not be notified (${message}): run the job again.`;
  }
}

/** True if the newest check of this name passed for another pull request or base, or if GitHub cannot be read. */
export async function checkIsForAnother(
  octokit: Octokit,
  { repository, patch }: CheckSubject,
  name: string,
): Promise<boolean> {
  try {
    const newest = await newestCheckRun(octokit, { repository, patch }, name);
    const isPassed = newest?.conclusion === 'success' || newest?.conclusion === 'neutral';
    return isPassed && !newest.external_id?.startsWith(externalIdOf(patch, ''));
  } catch {
    return true;
  }
}

/** Also true if GitHub cannot be read. */
export const hasCheckRun = (octokit: Octokit, subject: CheckSubject, name: string): Promise<boolean> =>
  newestCheckRun(octokit, subject, name).then(
    (newest) => newest !== undefined,
    () => true,
  );

async function newestCheckRun(octokit: Octokit, { repository, patch }: CheckSubject, name: string) {
  const all = await checkRunsOn(octokit, repository, patch.headCommit, name);
  return all.toSorted((a, b) => Number(b.id) - Number(a.id))[0];
}

async function checkRunsOn(octokit: Octokit, repository: string, commit: string, name: string) {
  const { owner, repo } = placeOf(repository);
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
    owner,
    repo,
    ref: commit,
    check_name: name,
    filter: 'all',
    per_page: 100,
  });
  return data.check_runs;
}

/** Formats `#7 main https://…`; no branch name contains a space. */
const externalIdOf = (patch: Patch, detailsUrl: string): string =>
  patch.kind === 'pull-request' ? `#${patch.number} ${patch.baseBranch ?? '?'} ${detailsUrl}` : detailsUrl;

/** Number of the pull request that a check belongs to, from its `external_id`. */
export function pullRequestOfCheckRun(externalId: string): number | undefined {
  const [, digits] = /^#([1-9]\d{0,9}) /.exec(externalId) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const updateCheck = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}';

type CheckConclusion = 'success' | 'failure' | 'neutral' | 'cancelled';

/**
 * Only a measured pass is green, and every failure of the job is red. Branch rules accept `neutral` as a pass. A
 * failure never gets it, and an undecided gate only by the site's choice. A patch that needs no measurement, or none
 * yet, gets it. The title names the fault.
 */
function checkConclusionOf(outcome: ReportedOutcome, undecided: GithubConfig['undecided']): CheckConclusion {
  switch (conclusionOf(outcome)) {
    case 'pass':
      return resultOf(outcome)?.outcome.kind === 'judged' ? 'success' : 'neutral';
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

/** GitHub allows 20, 40 and 20 characters. */
const rerun: Button = {
  label: 'Re-run',
  description: 'Measure this commit again',
  identifier: 'rerun',
};
const extend: Button = {
  label: 'Extend',
  description: 'Continue with more runs',
  identifier: 'extend',
};

const buttonsFor = (outcome: ReportedOutcome): Button[] =>
  conclusionOf(outcome) === 'undecided' ? [extend, rerun] : [rerun];

type CheckView = {
  output: { title: string; summary: string; annotations?: ReturnType<typeof annotationsOf> };
} & (
  | { status: 'queued' | 'in_progress' }
  /** The check was completed earlier, but without its links. */
  | { status: 'linked' }
  | { status: 'completed'; conclusion: CheckConclusion; actions: Button[] }
);

type CheckState = Exclude<CheckView, { status: 'linked' }>;

const tooSlow = (seconds: number): string =>
  `The check on the commit may not show the outcome, because GitHub did not respond within ${seconds} s: if the check is required, run the job again.`;

/** Posts updates to one check run, which the first update creates. */
function checkRunOf(
  octokit: Octokit,
  subject: CheckSubject,
  { name, detailsUrl, isOwnApp, isOpen = false }: CheckRunOptions,
): (view: CheckView) => Promise<UpdateAttempt> {
  const { owner, repo } = placeOf(subject.repository);
  const { headCommit } = subject.patch;
  // Keeps Octokit from repeating it: the caller tries again with a newer update.
  const request = { retries: 0 };
  const external_id = externalIdOf(subject.patch, detailsUrl);
  let id: Id | undefined;
  let mayExist = isOpen;
  let mayBeComplete = false;

  const create = async (view: CheckState) => {
    const details = isOwnApp ? { details_url: detailsUrl } : {};
    const about = { name, head_sha: headCommit, ...details };
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      owner,
      repo,
      ...about,
      external_id,
      request,
      ...view,
    });
    return data.id;
  };

  const update = (check_run_id: Id, changes: CheckState | Pick<CheckView, 'output'>) =>
    octokit.request(updateCheck, { owner, repo, check_run_id, request, ...changes });

  /**
   * Finds the check if a reply was lost after GitHub acted. A check completed by an earlier attempt of this run is
   * another.
   */
  const find = async (view: CheckState) => {
    const all = await checkRunsOn(octokit, subject.repository, headCommit, name);
    return all.find((run) => {
      if (id !== undefined) return run.id === id;
      if (run.external_id !== external_id) return false;
      return run.status !== 'completed' || hasEnded(run, view);
    });
  };

  return async (view) => {
    try {
      if (view.status === 'linked') {
        if (id === undefined) return { kind: 'delivered' };
        await update(id, { output: view.output });
        return { kind: 'delivered' };
      }
      // A second completion would add its annotations to those of the first.
      if (id === undefined ? mayExist : mayBeComplete) {
        const found = await find(view);
        id ??= found?.id;
        if (found?.status === 'completed') return { kind: 'delivered' };
      }
      mayExist = true;
      mayBeComplete = view.status === 'completed';
      if (id === undefined) id = await create(view);
      else await update(id, view);
      return { kind: 'delivered' };
    } catch (error) {
      return failedAttempt(error, name, subject);
    }
  };
}

type CheckRun = { conclusion: string | null; output: { title: string | null } };

const hasEnded = ({ conclusion, output }: CheckRun, view: CheckState): boolean =>
  view.status === 'completed' && conclusion === view.conclusion && output.title === view.output.title;

function failedAttempt(error: unknown, name: string, { repository, patch }: CheckSubject): UpdateAttempt {
  const what = `The check ${name} on ${patchName(patch)} of ${repository} does not show the current state`;
  const failure = githubFailure(error);
  if (failure === undefined) return { kind: 'refused', why: `${what} (${reasonOf(error)}).` };
  if (failure.kind !== 'answered' || failure.status >= 500) {
    const why = `${what} because GitHub could not be notified (${failure.detail}): if the check is required, run the job again.`;
    return { kind: 'failed', why };
  }
  const why = whyNotDone(what, failure, {
    again: 'run the job',
    permission: 'give the job `permissions: checks: write`; the gate continues without it',
    otherwise: '; the gate continues without it',
  });
  return { kind: 'refused', why };
}
