// Reports in the head's commit status, for branch rules that require statuses instead of checks.

import { type Octokit, placeOf } from '../../forge/github/client.ts';
import { githubFailure } from '../../forge/github/failure.ts';
import type { Conclusion } from '../../model/conclusion.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { CheckRunOptions, CheckSubject } from './check-run.ts';
import { conclusionOf } from './outcome.ts';
import { outcomeTitle } from './outcome-text.ts';
import { deliverySeconds, queuePosition, type Reporter } from './reporter.ts';
import { ThrottledUpdates, type UpdateAttempt } from './throttled-updates.ts';

type StatusOptions = Pick<CheckRunOptions, 'name' | 'detailsUrl' | 'log' | 'pause' | 'patienceSeconds'>;

/** A status has no neutral state, so an undecided gate fails it. */
export function openStatus(octokit: Octokit, subject: CheckSubject, options: StatusOptions): Reporter {
  const { name, detailsUrl, patienceSeconds } = options;
  const { owner, repo } = placeOf(subject.repository);
  const post = async ({ state, description }: StatusView): Promise<UpdateAttempt> => {
    try {
      await octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
        owner,
        repo,
        sha: subject.patch.headCommit,
        state,
        description: plain(description),
        context: name,
        target_url: detailsUrl,
      });
      return { kind: 'delivered' };
    } catch (error) {
      return failedAttempt(error);
    }
  };
  const updates = new ThrottledUpdates(post, { ...options, secondsBetween: 60, tooSlow });
  return {
    waiting: (estimate) => updates.send({ state: 'pending', description: queuePosition(estimate) }),
    queued: (text) => updates.send({ state: 'pending', description: text }),
    measuring: (testbed) => updates.send({ state: 'pending', description: `measuring on ${testbed}` }),
    conclude(outcome) {
      const state = states[conclusionOf(outcome)];
      return updates.sendLast({ state, description: outcomeTitle(outcome) }, deliverySeconds(outcome, patienceSeconds));
    },
    addLinks: async () => {},
    leaveOpen: () => updates.stop(),
  };
}

type StatusView = { state: 'pending' | 'success' | 'failure' | 'error'; description: string };

const maxCharacters = 140;

/** GitHub rejects descriptions with four-byte characters, such as most emoji. The state has its own colour. */
const plain = (description: string): string =>
  description
    .replace(/[\u{10000}-\u{10ffff}]/gu, '')
    .trim()
    .slice(0, maxCharacters);

const states: Readonly<Record<Conclusion, StatusView['state']>> = {
  pass: 'success',
  patchAtFault: 'failure',
  undecided: 'failure',
  usage: 'error',
  infrastructure: 'error',
  cancelled: 'error',
};

const tooSlow = (seconds: number): string =>
  `The commit status may not show the outcome, because GitHub did not respond within ${seconds} s: if the status is required, run the job again.`;

function failedAttempt(error: unknown): UpdateAttempt {
  const what = 'The commit status does not show the current state';
  const failure = githubFailure(error);
  if (failure === undefined) return { kind: 'refused', why: `${what} (${reasonOf(error)}).` };
  const why = `${what} (${failure.detail}): give the job \`permissions: statuses: write\`, or set github.status to false.`;
  const isRefused = failure.kind === 'answered' && failure.status < 500;
  return { kind: isRefused ? 'refused' : 'failed', why };
}
