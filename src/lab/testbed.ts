// A testbed as the experiment sees it: something that carries variants and answers what a trial measured.

import type { Traffic } from '../config/schema.ts';
import type { Variant } from '../kernel/variant.ts';
import type { PlannedTrial } from '../model/planned-trial.ts';
import type { PrepareOutcome, Rejected } from '../model/rejection.ts';
import type { CellProfile, Run, TrialSummary } from '../model/result.ts';
import type { Cell, OwnRules } from '../model/scenario.ts';

export type Testbed = {
  name: string;
  /** What the DUT is, and what is not as it should be; throws where that must hold and does not. */
  inspect(cells: readonly Cell[]): Promise<Inspection>;
  /**
   * Readies variants for every cell; nothing is measured before. Where one is rejected, it is asked again with the others.
   * May be asked for other variants between any two trials: what is listed is wanted, the first soonest; what was readied
   * of them stays, and what is not listed any more is given up. Answers before kernels are built: trials wait for theirs.
   */
  prepare(request: PrepareRequest): Promise<PrepareOutcome>;
  /** The listed variants that a trial would not wait for. One whose build failed is among them, and says so then. */
  ready(): ReadonlySet<string>;
  /** Sends one trial of traffic and measures its runs; `keepLog` gets every log as it was received. */
  trial(planned: PlannedTrial, keepLog: KeepLog, signal: AbortSignal): Promise<TrialOutcome>;
  /**
   * The variant that the DUT was booted with and runs still, as its last trial left it; undefined where there is none, or
   * where variants need no boot. Its profile costs no boot now.
   */
  booted(): string | undefined;
  /**
   * Samples where the DUT's time goes, in a trial of its own that measures nothing; what is measured after it has another
   * boot, where variants are booted. Throws where `trial` would.
   */
  profile(request: ProfileRequest, keepLog: KeepLog, signal: AbortSignal): Promise<ProfileOutcome>;
  /** Back to the state before `prepare`, connections closed; never throws for a second call. */
  restore(): Promise<void>;
};

/** A testbed that is ours until it is given back. */
export type Reserved = {
  /** Name of the testbed in the configuration. */
  name: string;
  /** Connects to it; what is done with that is refused once the testbed is not ours any more. */
  open(traffic: Traffic): Promise<Testbed>;
  /** Aborted, with an Error that says why, when it is not ours any more. */
  signal: AbortSignal;
  /** `outcome` is for the log. Answers, in a sentence for people, what is wrong with the testbed now. */
  giveBack(outcome: string): Promise<string | undefined>;
};

/** A testbed that nobody else can use. */
export const unshared = (name: string, open: Reserved['open']): Reserved => ({
  name,
  open,
  signal: new AbortController().signal,
  giveBack: async () => undefined,
});

export type KeepLog = (name: string, content: string | Uint8Array) => Promise<void>;

export type Inspection = {
  /** What the DUT says of itself: name → value. */
  fingerprint: Record<string, string>;
  /** Sentences for people: what is not as it should be, and how it is fixed. */
  warnings: string[];
};

export type PrepareRequest = {
  variants: readonly Variant[];
  cells: readonly Cell[];
  /** Rules of the scenarios that are a site's own, by their names. */
  rules: Readonly<Record<string, OwnRules>>;
  /**
   * Whether a DUT that shows other facts with a variant than with base is measured all the same, and that told: between
   * commits that lie far apart its release and the abilities of its cards change.
   */
  mayDiffer?: boolean;
  /** Gets the logs of builds. */
  keepLog: KeepLog;
  /** Gets what goes on, in a few words, where it takes longer than moments. */
  notify(text: string): void;
  signal: AbortSignal;
};

/** `warnings` are sentences for people: what is not as it should be since then, and keeps nobody from measuring. */
export type TrialOutcome = (
  | {
      kind: 'measured';
      runs: Omit<Run, 'attempt'>[];
      summary: Omit<TrialSummary, 'attempt' | 'logs'>;
    }
  | {
      kind: 'failed';
      reason: string;
      /**
       * The variant may be to blame, and cannot be blamed: base has not shown, since this process has the testbed, that it
       * works here. A trial of base tells the one from the other.
       */
      lacksControl?: true;
    }
  | Rejected
) & { warnings?: string[] };

export type ProfileRequest = {
  cell: Cell;
  variant: string;
  /** How long samples are taken. */
  seconds: number;
  /** What is sampled, as the DUT's own tool names it; absent: cycles, by whichever name its CPU has for them. */
  event?: string | undefined;
  /** Number of the attempt, from 1 on. */
  attempt: number;
};

export type ProfileOutcome =
  /** `log` is the name under which the profile was kept. */
  | ({ kind: 'profiled'; log: string } & Pick<Profiled, 'event' | 'kernel' | Samples>)
  /** Another try may have more luck. */
  | { kind: 'missed'; reason: string }
  | { kind: 'impossible'; reason: string };

type Samples = 'busySamples' | 'idleSamples';
type Profiled = Extract<CellProfile, { kind: 'profiled' }>;
