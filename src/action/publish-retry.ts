// How long the job that publishes goes on asking and telling while GitHub is not well.

import { fetchArtifact } from '../forge/github/artifact.ts';
import type { Octokit } from '../forge/github/client.ts';
import { exitCodes } from '../model/conclusion.ts';
import { type Pause, realPause } from '../model/pause.ts';
import { pausesWithin } from '../publish/reporters/throttled-updates.ts';
import { log } from './log.ts';

/** The job's own, for all that it asks and tells: one that took an hour for each would be killed in their midst. */
export type Patience = { until: Date; now(): Date; pause: Pause };

const inAnHour = (): Date => new Date(Date.now() + 3_600_000);

/** A minute where all is used up, for GitHub may be well again just now. */
export const leftOf = ({ until, now, pause }: Patience) => ({
  patienceSeconds: Math.max(60, Math.round((until.getTime() - now().getTime()) / 1000)),
  pause,
});

export const anHour = (): Patience => ({
  until: inAnHour(),
  now: () => new Date(),
  pause: realPause,
});

/** Asks again while GitHub is not well. */
export async function fetchPatiently(
  octokit: Octokit,
  place: Parameters<typeof fetchArtifact>[1],
  patience: Patience,
): ReturnType<typeof fetchArtifact> {
  const { until, now, pause } = patience;
  for (const seconds of pausesWithin(leftOf(patience).patienceSeconds)) {
    const artifact = await fetchArtifact(octokit, place);
    if (artifact.kind !== 'failed' || !artifact.mayPass || now() > until) return artifact;
    await pause(seconds, new AbortController().signal);
  }
  return fetchArtifact(octokit, place);
}

/** The exit code of a job that has answered, or could not. */
export function exitCodeIf(isGiven: boolean): number {
  if (isGiven) return exitCodes.pass;
  log.error(
    'The answer is not there, or not the right one, because GitHub or Phabricator was not well: run this job again, which measures nothing.',
  );
  return exitCodes.infrastructure;
}
