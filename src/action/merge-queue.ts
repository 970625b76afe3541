// Cancels the work for a merge queue when the queue drops its branch. GitHub does not notify the workflow of that.
import { type Octokit, placeOf } from '../forge/github/client.ts';
import { githubFailure } from '../forge/github/failure.ts';
import { type Pause, realPause } from '../model/pause.ts';

type QueueClient = {
  octokit: Octokit;
  repository: string;
  pause?: Pause;
};

/** Also aborts when the queue has dropped the branch. Without a queue, aborts only with `signal`. */
export async function whileQueued<Outcome>(
  branch: string | undefined,
  { octokit, repository, pause = realPause }: QueueClient,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  if (branch === undefined) return work(signal);
  const ended = new AbortController();
  const dropped = new AbortController();
  const watch = async () => {
    while (await hasBranch(octokit, repository, branch)) {
      await pause(secondsBetween, ended.signal);
      if (ended.signal.aborted) return;
    }
    dropped.abort(new DroppedError(branch));
  };
  const watched = watch();
  try {
    return await work(AbortSignal.any([signal, dropped.signal]));
  } catch (error) {
    dropped.signal.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
    await watched;
  }
}

/** Well below the thousand requests per hour of a job's token. */
const secondsBetween = 60;

class DroppedError extends Error {
  override readonly name = 'DroppedError';
  readonly conclusion = 'cancelled';
  constructor(branch: string) {
    super(`The merge queue removed ${branch}: its measurement is no longer needed.`);
  }
}

/** Returns false only for GitHub's 404, as GitHub may be down. */
async function hasBranch(octokit: Octokit, repository: string, branch: string): Promise<boolean> {
  try {
    const { owner, repo } = placeOf(repository);
    const ref = `heads/${branch}`;
    await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { owner, repo, ref });
    return true;
  } catch (error) {
    const failure = githubFailure(error);
    return !(failure?.kind === 'answered' && failure.status === 404);
  }
}
