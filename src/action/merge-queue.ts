// A merge queue lets go of what it waits for when something before it fails, or somebody takes it out: a workflow is not
// told, and would go on with the testbed for nobody.
import { type Octokit, placeOf } from '../forge/github/client.ts';
import { githubFailure } from '../forge/github/failure.ts';
import { type Pause, realPause } from '../model/pause.ts';

type Place = {
  octokit: Octokit;
  /** `owner/name`. */
  repository: string;
  pause?: Pause;
};

/**
 * Does the work with a signal that is aborted as `signal` is, and when the queue has let go of its branch; with `signal`
 * itself where no queue waits.
 */
export async function whileQueued<Told>(
  branch: string | undefined,
  { octokit, repository, pause = realPause }: Place,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Told>,
): Promise<Told> {
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

/** Well within the thousand questions an hour that a job's token has. */
const secondsBetween = 60;

class DroppedError extends Error {
  override readonly name = 'DroppedError';
  readonly conclusion = 'cancelled';
  constructor(branch: string) {
    super(`The merge queue has let go of ${branch}: nobody waits for its measurement any more.`);
  }
}

/** Only GitHub's word that there is none counts: it may be down. */
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
