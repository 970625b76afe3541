// The commit status of the head, for those whose branch rules look at statuses and not at checks.

import { type Octokit, placeOf } from '../../forge/github/client.ts';
import { githubFailure } from '../../forge/github/failure.ts';
import type { Conclusion } from '../../model/conclusion.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { CheckRunOptions, Subject } from './check-run.ts';
import { conclusionOf, titleOf } from './outcome-text.ts';
import { type Answer, placeInLine, secondsFor } from './reporter.ts';
import { type Told, throttledUpdates } from './throttled-updates.ts';

type StatusOptions = Pick<
  CheckRunOptions,
  'name' | 'detailsUrl' | 'log' | 'pause' | 'patienceSeconds'
>;

/** A status knows no neutral: where nobody can say, it fails. */
export function openStatus(octokit: Octokit, subject: Subject, options: StatusOptions): Answer {
  const { name, detailsUrl, patienceSeconds } = options;
  const { owner, repo } = placeOf(subject.repository);
  const put = async ({ state, description }: View): Promise<Told> => {
    try {
      await octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
        ...{ owner, repo, sha: subject.patch.headCommit },
        ...{ state, description: plain(description) },
        ...{ context: name, target_url: detailsUrl },
      });
      return { kind: 'told' };
    } catch (error) {
      return notTold(error);
    }
  };
  const updates = throttledUpdates(put, { ...options, secondsBetween: 60, tooSlow });
  return {
    waiting: (estimate) => updates.notify({ state: 'pending', description: placeInLine(estimate) }),
    queued: (text) => updates.notify({ state: 'pending', description: text }),
    measuring: (testbed) =>
      updates.notify({ state: 'pending', description: `measuring on ${testbed}` }),
    ended(ending) {
      const state = states[conclusionOf(ending)];
      return updates.tellLast(
        { state, description: titleOf(ending) },
        secondsFor(ending, patienceSeconds),
      );
    },
    linked: async () => {},
    left: updates.left,
  };
}

type View = { state: 'pending' | 'success' | 'failure' | 'error'; description: string };

/** GitHub's own limit for a description. */
const mostCharacters = 140;

/** GitHub refuses a description with characters of four bytes, as most emoji are; the state has a colour of its own. */
const plain = (description: string): string =>
  description
    .replace(/[\u{10000}-\u{10ffff}]/gu, '')
    .trim()
    .slice(0, mostCharacters);

const states: Readonly<Record<Conclusion, View['state']>> = {
  pass: 'success',
  patchAtFault: 'failure',
  undecided: 'failure',
  usage: 'error',
  infrastructure: 'error',
  cancelled: 'error',
};

const tooSlow = (seconds: number): string =>
  `The commit status may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the status is required.`;

function notTold(error: unknown): Told {
  const what = 'The commit status does not show how things stand';
  const failure = githubFailure(error);
  if (failure === undefined) return { kind: 'refused', why: `${what} (${reasonOf(error)}).` };
  const why = `${what} (${failure.said}): give the job \`permissions: statuses: write\`, or set github.status to false.`;
  const isRefused = failure.kind === 'answered' && failure.status < 500;
  return { kind: isRefused ? 'refused' : 'failed', why };
}
