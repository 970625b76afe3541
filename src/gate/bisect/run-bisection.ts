// Boots variants until the bisection finds the culprit, and journals each boot so that it can be resumed.
import { join } from 'node:path';
import { median } from '../../analysis/stats/summary.ts';
import type { Variant } from '../../kernel/variant.ts';
import type { Testbed, TrialOutcome } from '../../lab/testbed.ts';
import type { BisectAnswer, RevisionFault } from '../../model/bisect-result.ts';
import { plainLine } from '../../model/escape.ts';
import { formatMetric } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import { shortId } from '../../model/patch.ts';
import type { Rejected } from '../../model/rejection.ts';
import { pathName } from '../../model/variant-name.ts';
import type { ExperimentEvent } from '../experiment/experiment-event.ts';
import { type Journal, type JournalEntry, journalIn, openJournal } from '../experiment/journal.ts';
import { keepLogIn } from '../experiment/log-folders.ts';
import { missingProfiles, takeProfilesOf } from '../experiment/profiles.ts';
import { rejectionMessage } from '../experiment/rejection-message.ts';
import { answerOf, variantsToProfile } from './assemble.ts';
import type { BisectPlan } from './bisect-plan.ts';
import { BootPace } from './estimate.ts';
import { evidenceOf, revertedName } from './evidence.ts';
import { type NextBoot, nextOf, wantedVariants } from './next-boot.ts';
import type { RangeRevision, RevisionForm } from './range.ts';
import { isShared, maxTriesOf, plannedTrial, readingsOf } from './trials.ts';

export type BisectVariants = {
  of(revision: RangeRevision, form: RevisionForm): Promise<Variant>;
  /** Reverts a commit in a form of the bad end, see `revertedName`. `impossible` gives the reason for a failure. */
  without(culprit: string, bad: RevisionForm): Promise<Variant | { impossible: string }>;
};

type BisectionOptions = {
  directory: string;
  plan: BisectPlan;
  testbed: Testbed;
  variants: BisectVariants;
  now: () => Date;
  onEvent: (event: ExperimentEvent) => void;
  signal: AbortSignal;
};

/** Returns the whole journal. Throws if the lab prevents a conclusion; the bisection can then be resumed. */
export async function runBisection(options: BisectionOptions): Promise<JournalEntry[]> {
  const journal = await openJournal(journalIn(options.directory));
  try {
    const run = new BisectionRun(options, journal);
    await run.inspect();
    await run.search();
    const answer = answerOf(options.plan, journal.entries);
    if (options.plan.isVerified) await run.verify(answer);
    await run.profile(answer);
    await run.finish();
    return journal.entries;
  } finally {
    await journal.close();
  }
}

class BisectionRun {
  readonly #options: BisectionOptions;
  readonly #journal: Journal;
  readonly #pace: BootPace;
  readonly #made = new Map<string, Variant>();

  constructor(options: BisectionOptions, journal: Journal) {
    this.#options = options;
    this.#journal = journal;
    this.#pace = new BootPace(options.plan, options.testbed);
  }

  async inspect(): Promise<void> {
    const { plan, testbed } = this.#options;
    const inspection = await testbed.inspect([plan.cell]);
    await this.#journal.append({ kind: 'started', at: this.#at(), ...inspection });
    for (const text of inspection.warnings) this.#warn(text);
  }

  async search(): Promise<void> {
    const { plan, testbed, signal } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const { entries } = this.#journal;
      const next = nextOf(plan, entries, this.#pace);
      if (next.kind === 'ended') return;
      const { variants, why } = this.#measurable(next);
      const isReady = (variant: string) => testbed.ready().has(variant);
      await this.#boot(variants, wantedVariants(plan, entries, variants, isReady), why);
    }
  }

  async verify(answer: BisectAnswer): Promise<void> {
    if (answer.kind !== 'culprit') return;
    const { plan, signal, variants } = this.#options;
    const { commit } = plan.range.revisions[answer.revision] ?? { commit: '' };
    for (;;) {
      signal.throwIfAborted();
      const { findings, positions } = evidenceOf(plan, this.#journal.entries);
      const { levels = [], failure, lost } = findings.get(revertedName) ?? {};
      if (levels.length >= bootsOfReverted || failure?.isSure) return;
      const most = maxTriesOf(plan);
      if (lost !== undefined && lost.times >= most) {
        throw new StuckError(revertedName, most, lost.why);
      }
      const bad = positions.at(-1)?.form;
      if (bad === undefined) return;
      const made = this.#made.get(revertedName) ?? (await variants.without(commit, bad));
      if ('impossible' in made) {
        const rejection = { kind: 'does-not-apply', message: made.impossible } as const;
        await this.#reject({ kind: 'rejected', variant: revertedName, rejection });
        return;
      }
      this.#made.set(revertedName, made);
      const ends = [positions[0]?.form.variant ?? '', bad.variant];
      const names = isShared(plan) ? [...ends, revertedName] : [revertedName];
      await this.#boot(names, names, `${shortId(commit)} reverted in the bad commit`);
    }
  }

  async profile(answer: BisectAnswer): Promise<void> {
    const { directory, plan, testbed, onEvent, signal } = this.#options;
    const variants = variantsToProfile(answer, evidenceOf(plan, this.#journal.entries));
    if (plan.profile === undefined || variants === undefined) return;
    const names = [variants.base, variants.patched];
    const nextIn = (entries: readonly JournalEntry[]) =>
      names.flatMap((name) => missingProfiles(plan, entries, [plan.cell], name)).at(0);
    if (nextIn(this.#journal.entries) === undefined) return;
    if (!(await this.#prepare(names, names))) return;
    await takeProfilesOf(
      {
        profile: plan.profile,
        testbed,
        journal: this.#journal,
        at: () => this.#at(),
        signal,
        warn: (text) => this.#warn(text),
        keepLogIn: (folder) => keepLogIn(directory, folder),
        onNext: (next) => onEvent({ kind: 'profile', ...next }),
      },
      nextIn,
    );
  }

  async finish(): Promise<void> {
    await this.#journal.append({ kind: 'finished', at: this.#at() });
  }

  #measurable(next: Exclude<NextBoot, { kind: 'ended' }>): Extract<NextBoot, { kind: 'measure' }> {
    if (next.kind === 'good-failed') throw new GoodEndError(next.fault);
    if (next.kind === 'measure') return next;
    throw new StuckError(next.variant, maxTriesOf(this.#options.plan), next.why);
  }

  /** Measures variants in one trial, or one variant in its own boot; meanwhile prepares the other wanted ones. */
  async #boot(names: readonly string[], wanted: readonly string[], why: string): Promise<void> {
    if (!(await this.#prepare(names, wanted))) return;
    const { directory, plan, testbed, now, onEvent, signal } = this.#options;
    const unit = isShared(plan) ? 'trial' : 'boot';
    const number = nextTrialNumber(this.#journal.entries);
    const label = names.join(', ');
    const text = `${unit} ${number} of at most ${plan.mostBoots} · ${label} · ${why}`;
    onEvent({ kind: 'preparing', text });
    const logs = join('trials', logFolder(number, names));
    const wasReady = names.every((name) => testbed.ready().has(name));
    const begun = now();
    const trial = plannedTrial(plan, number, names);
    const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
    this.#pace.add((now().getTime() - begun.getTime()) / 60_000, wasReady);
    for (const warning of outcome.warnings ?? []) {
      await this.#journal.append({ kind: 'warned', at: this.#at(), text: warning });
      this.#warn(warning);
    }
    if (outcome.kind === 'rejected') return this.#reject(outcome);
    const entry = entryOf(outcome, { at: this.#at(), number, names, logs });
    await this.#journal.append(entry);
    const measured = measuredText(plan, entry, label);
    onEvent({ kind: 'note', text: `${unit} ${number} · ${measured}` });
  }

  /** Lists the wanted variants, next ones first. False if one of the next was rejected. */
  async #prepare(names: readonly string[], wanted: readonly string[]): Promise<boolean> {
    const isAgain = this.#journal.entries.some((entry) => entry.kind === 'rejected' && names.includes(entry.variant));
    // A listed variant keeps its build, even a failed one.
    if (isAgain) await this.#list(wanted.filter((name) => !names.includes(name)));
    let remaining = [...wanted];
    for (;;) {
      const prepared = await this.#list(remaining);
      if (prepared.kind === 'ready') return true;
      await this.#reject(prepared);
      if (names.includes(prepared.variant)) return false;
      remaining = remaining.filter((name) => name !== prepared.variant);
      this.#options.signal.throwIfAborted();
    }
  }

  async #list(names: readonly string[]) {
    const { directory, plan, testbed, onEvent, signal } = this.#options;
    const variants: Variant[] = [];
    for (const name of names) {
      variants.push(this.#made.get(name) ?? (await this.#variantNamed(name)));
    }
    return testbed.prepare({
      variants,
      rules: plan.rules,
      cells: [plan.cell],
      mayDiffer: true,
      keepLog: keepLogIn(directory, 'builds'),
      notify: (text) => onEvent({ kind: 'preparing', text }),
      signal,
    });
  }

  async #variantNamed(name: string): Promise<Variant> {
    const { plan, variants } = this.#options;
    for (const revision of plan.range.revisions) {
      const form = revision.forms.find(({ variant }) => variant === name);
      if (form === undefined) continue;
      const variant = await variants.of(revision, form);
      this.#made.set(name, variant);
      return variant;
    }
    throw new RangeError(`The range has no variant ${name}.`);
  }

  async #reject({ variant, rejection }: Rejected): Promise<void> {
    const { plan, onEvent } = this.#options;
    if (rejection.kind === 'out-of-disk') {
      throw new Error(
        `There is no disk space for ${variant}, so the bisection stops here: ${reasonOf(rejection.message)}`,
      );
    }
    const [good] = evidenceOf(plan, this.#journal.entries).positions;
    const isSure = rejection.kind !== 'build-failed' || good?.finding.failure !== undefined;
    // Does not journal this, as a resumed bisection expects a repaired good end.
    if (good?.form.variant === variant && !good.hasOther && isSure) throw new GoodEndError(rejection);
    await this.#journal.append({ kind: 'rejected', at: this.#at(), variant, rejection });
    const text = `${variant} ${plainLine(rejectionMessage(rejection), 300)}`;
    onEvent({ kind: 'note', text });
  }

  #at(): string {
    return this.#options.now().toISOString();
  }

  #warn(text: string): void {
    this.#options.onEvent({ kind: 'warning', text });
  }
}

const bootsOfReverted = 2;

function entryOf(
  outcome: Exclude<TrialOutcome, Rejected>,
  { at, number, names, logs }: { at: string; number: number; names: readonly string[]; logs: string },
): JournalEntry {
  if (outcome.kind === 'measured') {
    const summary = { ...outcome.summary, attempt: 1, logs };
    return {
      kind: 'measured',
      at,
      summary,
      runs: outcome.runs.map((run) => ({ ...run, attempt: 1 })),
    };
  }
  const { warnings: _, ...failed } = outcome;
  return { ...failed, at, trial: number, variants: [...names] };
}

/** Numbers trials in the order of sending; rejected ones have no number. */
const nextTrialNumber = (entries: readonly JournalEntry[]): number =>
  1 +
  Math.max(
    0,
    ...entries.flatMap((entry) => {
      if (entry.kind === 'measured') return entry.summary.number;
      return entry.kind === 'failed' ? entry.trial : [];
    }),
  );

/** `007-4f5e6d7c8b9a`, or `007` if several variants share the trial. */
function logFolder(number: number, [first = '', ...others]: readonly string[]): string {
  const digits = String(number).padStart(3, '0');
  return others.length > 0 ? digits : `${digits}-${pathName(first)}`;
}

/** `f8f5b459d21e: 11.83 Mpps`. */
function measuredText(plan: BisectPlan, entry: JournalEntry, label: string): string {
  if (entry.kind === 'failed') return `${label}: ${plainLine(entry.reason, 300)}`;
  const runs = entry.kind === 'measured' ? entry.runs : [];
  const each = [...readingsOf(plan, runs)].map(([name, reading]) =>
    reading.kind === 'lost'
      ? `${name}: ${plainLine(reading.why, 300)}`
      : `${name}: ${formatMetric(median(reading.values), plan.metric)}`,
  );
  return each.join(', ');
}

class GoodEndError extends Error {
  override readonly name = 'GoodEndError';

  constructor(fault: RevisionFault) {
    const isSilent = fault.kind === 'forwards-nothing';
    const what = isSilent ? `forwards nothing: ${fault.message}` : rejectionMessage(fault);
    super(`The good commit itself ${what} Name a good commit that works here.`);
  }
}

class StuckError extends Error {
  override readonly name = 'StuckError';

  constructor(variant: string, times: number, why: string) {
    super(
      `${times} attempts in a row to measure ${variant} failed, most recently because of this: ${reasonOf(why)}. No commit is blamed for that: fix the testbed, or continue without that commit with --resume and --skip ${variant}.`,
    );
  }
}
