// Retries the publishing job's requests while GitHub is down.

import { fetchArtifact } from '../forge/github/artifact.ts';
import type { Octokit } from '../forge/github/client.ts';
import { type Pause, realPause } from '../model/pause.ts';
import { pausesWithin } from '../publish/reporters/throttled-updates.ts';

/** Limits all requests together: with an hour for each, the runner would kill the job. */
export type RetryBudget = { until: Date; now(): Date; pause: Pause };

/** Allows a minute even after the budget: GitHub may have recovered. */
export const remaining = ({ until, now, pause }: RetryBudget) => ({
  patienceSeconds: Math.max(60, Math.round((until.getTime() - now().getTime()) / 1000)),
  pause,
});

export const retryForAnHour = (): RetryBudget => ({
  until: new Date(Date.now() + 3_600_000),
  now: () => new Date(),
  pause: realPause,
});

export async function fetchArtifactWithRetries(
  octokit: Octokit,
  place: Parameters<typeof fetchArtifact>[1],
  retry: RetryBudget,
): ReturnType<typeof fetchArtifact> {
  const { until, now, pause } = retry;
  for (const seconds of pausesWithin(remaining(retry).patienceSeconds)) {
    const artifact = await fetchArtifact(octokit, place);
    if (artifact.kind !== 'failed' || !artifact.mayPass || now() > until) return artifact;
    await pause(seconds, new AbortController().signal);
  }
  return fetchArtifact(octokit, place);
}
