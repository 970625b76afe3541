// Estimates the remaining time of a running experiment: boots by earlier boots, trials by earlier trials.
import { quantile } from 'simple-statistics';
import { cellName } from '../../model/scenario.ts';
import type { ExperimentEvent } from '../experiment/experiment-event.ts';
import type { NextTrial } from '../experiment/next-trial.ts';
import type { Plan } from '../experiment/plan.ts';
import { estimateExperiment } from './experiment.ts';
import { type BootKind, bootKindOf, bootOf } from './trial-boots.ts';

type Remaining = {
  /** Assumes no losses. Absent if runs are compared with their neighbours, or durations are unknown. */
  expectedSeconds?: number;
  maxSeconds: number;
};

type Step = { kind: keyof Observed; begunAt: number };

/** Seconds of each so far. A boot includes its first trial. */
type Observed = Record<'boot' | 'trial' | 'profile', number[]>;

export class RemainingTime {
  readonly #observed: Observed = { boot: [], trial: [], profile: [] };
  readonly #decided = new Set<string>();
  #plan: Plan | undefined;
  #expectedTrials: number | undefined;
  #step: Step;
  #boot: string | undefined;
  #rounds = { trials: 0, ofFirst: 1 };

  /** Times are in seconds. */
  constructor(now: number) {
    this.#step = { kind: 'trial', begunAt: now };
  }

  onEvent(event: ExperimentEvent, now: number): void {
    switch (event.kind) {
      case 'planned':
        this.#begin(event.plan, now);
        return;
      case 'decided':
        this.#decided.add(cellName(event.cell));
        return;
      case 'profile':
        this.#next('profile', now);
        return;
      case 'ended':
        this.#rounds.trials += 1;
        return;
      case 'trial': {
        const kind = this.#plan === undefined ? 'none' : bootKindOf(this.#plan);
        const boot = bootOf(event.trial.runs, kind);
        // The first interval includes everything before it.
        if (this.#rounds.trials > 0 || this.#step.kind === 'profile') {
          this.#next(boot === this.#boot ? 'trial' : 'boot', now);
        } else {
          this.#step.kind = boot === undefined ? 'trial' : 'boot';
        }
        this.#boot = boot;
      }
    }
  }

  /**
   * Estimates at the start of a trial. Undefined until every cell has measured each variant, unless earlier gates are
   * known.
   */
  left({ done, of }: Pick<NextTrial, 'done' | 'of'>): Remaining | undefined {
    if (this.#rounds.trials < this.#rounds.ofFirst && this.#known === undefined) return undefined;
    const maxTrials = of - done;
    const most = this.#secondsFor(maxTrials);
    if (this.#expectedTrials === undefined) return { maxSeconds: most };
    // Cells still open after the expected trials need at least one more pair each.
    const due = Math.max(this.#expectedTrials - done, this.#openCells() * this.#perCell());
    const expected = this.#secondsFor(Math.min(due, maxTrials));
    return { expectedSeconds: expected, maxSeconds: most };
  }

  #begin(plan: Plan, now: number): void {
    this.#plan = plan;
    this.#step = { kind: 'trial', begunAt: now };
    this.#rounds.ofFirst = plan.cells.length * this.#perCell();
    const { durations, variants } = plan;
    if (durations === undefined) return;
    const estimate = estimateExperiment({ ...plan, variants: variants.length, durations });
    if (estimate.cells.some(({ basis }) => basis === 'least')) return;
    this.#expectedTrials = estimate.ifUnchanged.trials;
  }

  /** Ends the previous interval. */
  #next(kind: Step['kind'], now: number): void {
    this.#observed[this.#step.kind].push(now - this.#step.begunAt);
    this.#step = { kind, begunAt: now };
  }

  /** Durations of earlier gates here. */
  get #known(): Plan['durations'] | undefined {
    const durations = this.#plan?.durations;
    return durations !== undefined && durations.gates > 0 ? durations : undefined;
  }

  /** Trials in which a cell measures each variant once. */
  #perCell(): number {
    const isShared = this.#plan === undefined || this.#plan.traffic.runsPerTrial > 1;
    return isShared ? 1 : (this.#plan?.variants.length ?? 1);
  }

  #openCells(): number {
    return Math.max(1, (this.#plan?.cells.length ?? 1) - this.#decided.size);
  }

  #secondsFor(trials: number): number {
    const boots = this.#plan === undefined ? 0 : this.#bootsFor(trials, bootKindOf(this.#plan));
    return (
      boots * this.#bootSeconds() +
      (trials - boots) * this.#trialSeconds() +
      this.#secondsForProfiles() +
      this.#secondsToGiveBack()
    );
  }

  /** A boot serves all open cells. */
  #bootsFor(trials: number, kind: BootKind): number {
    return kind === 'none' ? 0 : Math.ceil(trials / this.#openCells());
  }

  #trialSeconds(): number {
    const usual = this.#plan?.durations.trialSeconds ?? 0;
    return this.#usualOr(this.#observed.trial, usual, 0.5);
  }

  /** Includes the first trial. Waits for kernels and repairs of accidents lengthen only some boots. */
  #bootSeconds(): number {
    const usual = (this.#plan?.durations.bootSeconds ?? 0) + this.#trialSeconds();
    return this.#usualOr(this.#observed.boot, usual, 0.25);
  }

  #usualOr(observed: readonly number[], usual: number, share: number): number {
    const values = this.#known === undefined ? observed : [...observed, usual];
    return values.length === 0 ? usual : quantile([...values], share);
  }

  #secondsForProfiles(): number {
    if (this.#plan?.profile === undefined) return 0;
    const { cells, variants, profile } = this.#plan;
    const taken = this.#observed.profile;
    const each = taken.length === 0 ? profile.seconds : quantile(taken, 0.5);
    return each * Math.max(0, cells.length * variants.length - taken.length);
  }

  #secondsToGiveBack(): number {
    const boots = this.#plan !== undefined && bootKindOf(this.#plan) === 'each';
    return boots ? Math.max(0, this.#bootSeconds() - this.#trialSeconds()) : 0;
  }
}
