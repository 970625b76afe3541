// What a relay has its gates run by: starts them, and ends them.
import type { Job } from '../forge/patch/job-key.ts';

/** `failed` is worth another try, `refused` will stay so; `why` is one sentence for people. */
export type Started =
  | {
      kind: 'started';
      /** Where it can be watched: a URL, or a work directory. */
      where: string;
    }
  | { kind: 'failed' | 'refused'; why: string };

export type Starter = {
  /**
   * Has the job run, once: where an earlier try may have started it without our hearing of it (`mayBeStarted`), it looks
   * for that one first.
   */
  start(job: Job, mayBeStarted: boolean, signal: AbortSignal): Promise<Started>;
  /** Ends a job that waits or runs; answers a sentence where that could not be done. */
  cancel(job: Job, signal: AbortSignal): Promise<string | undefined>;
};

export type RelayStarter = Starter & {
  /** Whether another gate may be started now. */
  hasRoom(): Promise<boolean>;
  /** How a job stands that was started, also by an earlier relay. */
  ended(job: Job): Promise<JobStatus>;
};

/** Nobody tells us the end of what runs `elsewhere`; what is `lost` is to be started once more. */
export type JobStatus = { kind: 'running' | 'elsewhere' | 'lost' } | { kind: 'ended'; how: string };
