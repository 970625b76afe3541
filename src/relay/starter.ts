// Starts and cancels a relay's gates.
import type { Job } from '../forge/patch/job-key.ts';

/** `failed` is worth another try, `refused` is permanent; `why` is one sentence for people. */
export type Started =
  | {
      kind: 'started';
      where: string;
    }
  | { kind: 'failed' | 'refused'; why: string };

export type Starter = {
  /** With `mayBeStarted`, an earlier try may have started it without a reply: it looks for that one first. */
  start(job: Job, mayBeStarted: boolean, signal: AbortSignal): Promise<Started>;
  /** Ends a job that waits or runs; returns a sentence where that failed. */
  cancel(job: Job, signal: AbortSignal): Promise<string | undefined>;
};

export type RelayStarter = Starter & {
  hasRoom(): Promise<boolean>;
  /** Includes jobs that an earlier relay has started. */
  ended(job: Job): Promise<JobStatus>;
};

/** The end of a job `elsewhere` is never known; a `lost` one has to be started again. */
export type JobStatus = { kind: 'running' | 'elsewhere' | 'lost' } | { kind: 'ended'; how: string };
