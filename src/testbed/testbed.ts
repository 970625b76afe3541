// A testbed as the experiment sees it: something that carries variants and answers what a blast measured.
import type { Overlay } from '../build/overlay.ts';
import type { PlannedBlast } from '../experiment/schedule.ts';
import type { BlastSummary, Run } from '../report/result.ts';
import type { Cell, Scenario } from '../scenario/scenario.ts';

export type Testbed = {
  name: string;
  /** What the DUT says of itself: name → value. */
  fingerprint(): Promise<Record<string, string>>;
  /** Lays every variant once for every scenario of the cells; nothing is measured before. */
  prepare(variants: readonly Overlay[], cells: readonly Cell[]): Promise<Prepared>;
  /** Sends one blast of traffic and measures its runs; `keepLog` gets every log as it was received. */
  blast(planned: PlannedBlast, keepLog: KeepLog, signal: AbortSignal): Promise<BlastOutcome>;
  /** Back to the state before `prepare`, connections closed; never throws for a second call. */
  restore(): Promise<void>;
};

export type KeepLog = (name: string, text: string) => Promise<void>;

export type Prepared =
  | { kind: 'ready' }
  | { kind: 'does-not-load'; variant: string; scenario: Scenario; message: string };

export type BlastOutcome =
  | {
      kind: 'measured';
      runs: Omit<Run, 'attempt'>[];
      summary: Omit<BlastSummary, 'attempt' | 'logs'>;
    }
  | { kind: 'failed'; reason: string };
