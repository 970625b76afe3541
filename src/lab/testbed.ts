// Defines a testbed as the experiment uses it: it prepares variants, and measures trials.

import type { Traffic } from '../config/schema.ts';
import type { Variant } from '../kernel/variant.ts';
import type { PlannedTrial } from '../model/planned-trial.ts';
import type { PrepareOutcome, Rejected } from '../model/rejection.ts';
import type { CellProfile, Run, TrialSummary } from '../model/result.ts';
import type { Cell, OwnRules } from '../model/scenario.ts';

export type Testbed = {
  name: string;
  /** Describes the DUT, and warns of its faults. Throws for a fault that prevents measuring. */
  inspect(cells: readonly Cell[]): Promise<Inspection>;
  /**
   * Prepares the listed variants for every cell, the first one first; called before any trial. Called again without a
   * rejected variant, or with another list between two trials: prepared variants on the list stay, others are dropped.
   * Returns before kernels are built, as trials wait for theirs.
   */
  prepare(request: PrepareRequest): Promise<PrepareOutcome>;
  /** Listed variants for which a trial would not wait, including failed builds. */
  ready(): ReadonlySet<string>;
  /** Sends one trial of traffic and measures its runs. `keepLog` stores every log as received. */
  trial(planned: PlannedTrial, keepLog: KeepLog, signal: AbortSignal): Promise<TrialOutcome>;
  /** Variant whose kernel the DUT runs, so that its profile needs no boot. Undefined if variants need no boot. */
  booted(): string | undefined;
  /**
   * Samples the DUT's CPUs in a trial that measures nothing. If this needs a boot, no run is measured in it. Throws
   * like `trial`.
   */
  profile(request: ProfileRequest, keepLog: KeepLog, signal: AbortSignal): Promise<ProfileOutcome>;
  /** Restores the state before `prepare`, and closes connections. Never throws for a second call. */
  restore(): Promise<void>;
};

export type Reserved = {
  name: string;
  /** Connects to the testbed. Its machines refuse us once the lease is over. */
  open(traffic: Traffic): Promise<Testbed>;
  signal: AbortSignal;
  /** Logs `outcome`. Returns a sentence on a fault of the testbed. */
  giveBack(outcome: string): Promise<string | undefined>;
};

/** A testbed that only this process can use. */
export const unshared = (name: string, open: Reserved['open']): Reserved => ({
  name,
  open,
  signal: new AbortController().signal,
  giveBack: async () => undefined,
});

export type KeepLog = (name: string, content: string | Uint8Array) => Promise<void>;

export type Inspection = {
  fingerprint: Record<string, string>;
  /** Sentences for people: a fault, and its fix. */
  warnings: string[];
};

export type PrepareRequest = {
  variants: readonly Variant[];
  cells: readonly Cell[];
  /** Rules of a site's own scenarios, by name. */
  rules: Readonly<Record<string, OwnRules>>;
  /** Only warns if facts differ between base and a variant, as they may between distant commits. */
  mayDiffer?: boolean;
  keepLog: KeepLog;
  notify(text: string): void;
  signal: AbortSignal;
};

/** `warnings` are sentences on new faults that do not prevent measuring. */
export type TrialOutcome = (
  | {
      kind: 'measured';
      runs: Omit<Run, 'attempt'>[];
      summary: Omit<TrialSummary, 'attempt' | 'logs'>;
    }
  | {
      kind: 'failed';
      reason: string;
      /** The variant may be at fault, but base has not yet worked in this process: a trial of base would decide. */
      lacksControl?: true;
    }
  | Rejected
) & { warnings?: string[] };

export type ProfileRequest = {
  cell: Cell;
  variant: string;
  seconds: number;
  /** Event to sample, as the DUT's tool names it. Absent: cycles, as its CPU names them. */
  event?: string | undefined;
  attempt: number;
};

export type ProfileOutcome =
  /** `log` is the name of the profile's log. */
  | ({ kind: 'profiled'; log: string } & Pick<Profiled, 'event' | 'kernel' | Samples>)
  /** Another attempt may succeed. */
  | { kind: 'missed'; reason: string }
  | { kind: 'impossible'; reason: string };

type Samples = 'busySamples' | 'idleSamples';
type Profiled = Extract<CellProfile, { kind: 'profiled' }>;
