// Starts and cancels a relay's gates.
import type { Job } from '../forge/patch/job-key.ts';

/** `failed` is worth another try, `refused` is final. `why` is one sentence for people. */
export type Started =
  | {
      kind: 'started';
      where: string;
    }
  | { kind: 'failed' | 'refused'; why: string };

export type Starter = {
  /** With `mayBeStarted`, an earlier try may have started the job without a reply, so it looks for that one first. */
  start(job: Job, mayBeStarted: boolean, signal: AbortSignal): Promise<Started>;
  /** Ends a waiting or running job. Returns a sentence if that failed. */
  cancel(job: Job, signal: AbortSignal): Promise<string | undefined>;
};

export type RelayStarter = Starter & {
  hasRoom(): Promise<boolean>;
  /** Includes jobs that an earlier relay started. */
  ended(job: Job): Promise<JobStatus>;
};

/** The end of a job `elsewhere` is never known. A `lost` job must be started again. */
export type JobStatus = { kind: 'running' | 'elsewhere' | 'lost' } | { kind: 'ended'; how: string };
