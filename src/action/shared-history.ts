// Reads the history of the data branch, which trusted jobs write.
import type { Config } from '../config/schema.ts';
import type { HistoryEntry } from '../gate/experiment/history.ts';
import { reasonOf } from '../model/one-line.ts';
import { readHistory } from '../publish/data-branch/branch.ts';
import type { JobContext } from './job.ts';
import { log } from './log.ts';

/** Empty without a branch. Logs a warning if it cannot be read. */
export async function readSharedHistory(
  config: Config,
  { octokit, inputs: { job } }: JobContext,
): Promise<HistoryEntry[]> {
  const { branch } = config.github.data;
  if (branch === undefined) return [];
  return readHistory(octokit, { repository: job.repository, branch }).catch((error: unknown) => {
    log.warn(reasonOf(error));
    return [];
  });
}
