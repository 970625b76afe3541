// Starts gates and bisections on GitHub, by a workflow with `repository_dispatch` that names its runs by the job's key.

import { kebabCase, overridesAs } from '../config/parameters.ts';
import { type Octokit, placeOf } from '../forge/github/client.ts';
import { type GithubFailure, githubFailure, isBreakdown } from '../forge/github/failure.ts';
import { bisectWords } from '../forge/patch/bisect-command.ts';
import { type Job, patchOf, workOf } from '../forge/patch/job-key.ts';
import type { Pause } from '../model/pause.ts';
import type { Started, Starter } from './starter.ts';

type GithubOptions = {
  repository: string;
  /** URL from which those of GitHub's pages are derived. */
  apiUrl: string;
  event: string;
  pause: Pause;
};

export function startOnGithub(octokit: Octokit, options: GithubOptions): Starter {
  const { repository, apiUrl, event } = options;
  const { owner, repo } = placeOf(repository);
  const runs = { octokit, owner, repo, pause: options.pause };
  const page = `${pagesOf(apiUrl)}/${repository}/actions`;

  const findRunOf = (job: Job, what: string, signal: AbortSignal) =>
    answered(() => awaitRun(runs, job.key, signal), {
      what,
      needs: `\`actions: read\` in ${repository}`,
    });

  return {
    async start(job, mayBeStarted, signal): Promise<Started> {
      if (job.extend !== undefined) {
        const why = `The experiment of D${job.revision} cannot be continued, because the relay runs gates on GitHub and their work directories stay there: measure it from the start.`;
        return { kind: 'refused', why };
      }
      const what = `No ${workOf(job)} of D${job.revision} was started on GitHub`;
      if (mayBeStarted) {
        const earlier = await findRunOf(job, what, signal);
        if ('why' in earlier) return earlier;
        if (earlier.answer !== undefined) return { kind: 'started', where: earlier.answer.url };
      }
      if (signal.aborted) return { kind: 'failed', why: `${what}, because the relay is stopping.` };
      const call = {
        owner,
        repo,
        event_type: event,
        client_payload: payloadOf(job),
        // The event may have arrived although the reply was lost.
        request: { retries: 0 },
      };
      const sent = await answered(() => octokit.request('POST /repos/{owner}/{repo}/dispatches', call), {
        what,
        needs: `\`contents: write\` in ${repository}`,
      });
      if ('why' in sent) return sent;
      const run = await findRunOf(job, what, signal);
      return { kind: 'started', where: ('answer' in run && run.answer?.url) || page };
    },

    async cancel(job, signal) {
      const what = `The ${workOf(job)} of D${job.revision} was not cancelled on GitHub`;
      const found = await findRunOf(job, what, signal);
      if ('why' in found) return found.why;
      if (signal.aborted) return `${what}, because the relay is stopping.`;
      if (found.answer === undefined) {
        return `${what}, because no workflow run is named ${job.key}: see ${page}.`;
      }
      const call = { owner, repo, run_id: found.answer.id };
      const cancelled = await answered(() => cancelRun(octokit, call), {
        what,
        needs: `\`actions: write\` in ${repository}`,
      });
      return 'why' in cancelled ? cancelled.why : undefined;
    },
  };
}

/** GitHub accepts at most ten properties. */
const payloadOf = ({ key, build, overrides, bisect, ...job }: Job) => ({
  patch: patchOf(job),
  key,
  build,
  ...(bisect && { instead: bisectWords(bisect) }),
  ...overridesAs(overrides, kebabCase),
});

type WorkflowRuns = { octokit: Octokit; owner: string; repo: string; pause: Pause };
type WorkflowRun = { id: number; url: string };

/** Seconds before each request, as a run appears some time after its event. */
const waits = [0, 2, 3, 5, 10, 10];

async function awaitRun(runs: WorkflowRuns, key: string, signal: AbortSignal): Promise<WorkflowRun | undefined> {
  for (const seconds of waits) {
    if (seconds > 0) await runs.pause(seconds, signal);
    if (signal.aborted) return undefined;
    const run = await findRun(runs, key);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** Enough for months of runs, newest first. */
const maxPages = 3;
const perPage = 100;

async function findRun({ octokit, owner, repo }: WorkflowRuns, key: string): Promise<WorkflowRun | undefined> {
  for (let page = 1; page <= maxPages; page++) {
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/actions/runs', {
      owner,
      repo,
      event: 'repository_dispatch',
      per_page: perPage,
      page,
    });
    const found = data.workflow_runs.find((run) => run.display_title.split(/\s+/).includes(key));
    if (found !== undefined) return { id: Number(found.id), url: found.html_url };
    if (data.workflow_runs.length < perPage) return undefined;
  }
  return undefined;
}

async function cancelRun(octokit: Octokit, call: { owner: string; repo: string; run_id: number }): Promise<void> {
  try {
    await octokit.request('POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel', call);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure?.kind !== 'answered' || failure.status !== 409) throw error;
  }
}

type NotStarted = Exclude<Started, { kind: 'started' }>;

/** @param about.what beginning of the sentence on a failure */
async function answered<Answer>(
  request: () => Promise<Answer>,
  { what, needs }: { what: string; needs: string },
): Promise<{ answer: Answer } | NotStarted> {
  try {
    return { answer: await request() };
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    const kind = failure.kind === 'rate-limited' || isBreakdown(failure) ? 'failed' : 'refused';
    return { kind, why: `${what}, because ${reason(failure, needs)}.` };
  }
}

function reason(failure: GithubFailure, needs: string): string {
  if (failure.kind === 'no-answer') return `GitHub cannot be reached (${failure.detail})`;
  if (failure.kind === 'rate-limited') return `its rate limit blocks the token ${failure.until} (${failure.detail})`;
  const { status, detail: said } = failure;
  if (status === 401) return `GitHub rejects the token (${said}): configure another one for the relay`;
  if (status === 403 || status === 404)
    return `the token lacks a permission (${said}): it needs ${needs}, or \`repo\` for a classic token`;
  return `GitHub answered ${said}`;
}

/** `https://github.com` for `https://api.github.com`. A GitHub Enterprise Server has its API below `/api/v3`. */
function pagesOf(apiUrl: string): string {
  const { protocol, host } = new URL(apiUrl);
  return `${protocol}//${host.replace(/^api\./, '')}`;
}
