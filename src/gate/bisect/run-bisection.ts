// Boots what comes next until it is known which commit it is, writes down each boot as it ends, and goes on where an
// earlier process stopped.
import { join } from 'node:path';
import { median } from '../../analysis/stats/summary.ts';
import type { Variant } from '../../kernel/variant.ts';
import type { Testbed } from '../../lab/testbed.ts';
import type { BisectAnswer, RevisionFault } from '../../model/bisect-result.ts';
import { plainLine } from '../../model/escape.ts';
import { formatMetric } from '../../model/format.ts';
import { reasonOf } from '../../model/one-line.ts';
import { shortId } from '../../model/patch.ts';
import type { Rejected } from '../../model/rejection.ts';
import { pathName } from '../../model/variant-name.ts';
import { usualMinutes } from '../estimate/bisection.ts';
import type { ExperimentEvent } from '../experiment/experiment-event.ts';
import { type Entry, journalIn, openJournal } from '../experiment/journal.ts';
import { keepLogIn } from '../experiment/log-folders.ts';
import { lackingOf, takeProfilesOf } from '../experiment/profiles.ts';
import { rejectionMessage } from '../experiment/rejection-message.ts';
import { answerOf, variantsToProfile } from './assemble.ts';
import type { BisectPlan } from './bisect-plan.ts';
import { evidenceOf, revertedName } from './evidence.ts';
import { type BuildCosts, type Next, nextOf, wantedVariants } from './next-boot.ts';
import type { Form, Revision } from './range.ts';
import { isShared, mostTriesOf, plannedTrial, readingsOf } from './trials.ts';

/** What is built, or installed, of commits. */
export type Variants = {
  of(revision: Revision, form: Form): Promise<Variant>;
  /** The bad end in one of its forms less what a commit changed, see `revertedName`; `impossible` says why not. */
  without(culprit: string, bad: Form): Promise<Variant | { impossible: string }>;
};

type RunOptions = {
  directory: string;
  plan: BisectPlan;
  testbed: Testbed;
  variants: Variants;
  now: () => Date;
  onEvent: (event: ExperimentEvent) => void;
  signal: AbortSignal;
};

/** Answers the whole journal; throws where the laboratory keeps it from an answer, which can then be gone on with. */
export async function runBisection(options: RunOptions): Promise<Entry[]> {
  const { directory, plan, testbed, variants, now, onEvent, signal } = options;
  const journal = await openJournal(journalIn(directory));
  const at = () => now().toISOString();
  const warn = (text: string) => onEvent({ kind: 'warning', text });
  const pace = paceOf(testbed);
  const what = isShared(plan) ? 'trial' : 'boot';
  /** Variants that were listed before, by their names. */
  const known = new Map<string, Variant>();
  try {
    const inspection = await testbed.inspect([plan.cell]);
    await journal.append({ kind: 'started', at: at(), ...inspection });
    for (const text of inspection.warnings) warn(text);

    for (;;) {
      signal.throwIfAborted();
      const next = nextOf(plan, journal.entries, pace);
      if (next.kind === 'ended') break;
      await measure(next);
    }
    const answer = answerOf(plan, journal.entries);
    if (plan.isVerified) await verify(answer);
    await profile(answer);
    await journal.append({ kind: 'finished', at: at() });
    return journal.entries;
  } finally {
    await journal.close();
  }

  async function measure(next: Exclude<Next, { kind: 'ended' }>): Promise<void> {
    if (next.kind === 'good-failed') throw new GoodEndError(next.fault);
    if (next.kind === 'stuck') throw new StuckError(next.variant, mostTriesOf(plan), next.why);
    const isReady = (variant: string) => testbed.ready().has(variant);
    const wanted = wantedVariants(plan, journal.entries, next.variants, isReady);
    await boot(next.variants, wanted, next.why);
  }

  /** Measures variants in a trial, or in a boot of their own, while others are readied. */
  async function boot(
    names: readonly string[],
    wanted: readonly string[],
    why: string,
  ): Promise<void> {
    if (!(await prepare(names, wanted))) return;
    const number = numberOfNext(journal.entries);
    const label = names.join(', ');
    onEvent({
      kind: 'preparing',
      text: `${what} ${number} of at most ${plan.mostBoots} · ${label} · ${why}`,
    });
    const trial = plannedTrial(plan, number, names);
    const logs = join('trials', logFolder(number, names));
    const begun = { at: now(), isReady: names.every((name) => testbed.ready().has(name)) };
    const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
    pace.add((now().getTime() - begun.at.getTime()) / 60_000, begun.isReady);
    for (const text of outcome.warnings ?? []) {
      await journal.append({ kind: 'warned', at: at(), text });
      warn(text);
    }
    if (outcome.kind === 'rejected') return reject(outcome);
    const entry: Entry =
      outcome.kind === 'measured'
        ? {
            kind: 'measured',
            at: at(),
            summary: { ...outcome.summary, attempt: 1, logs },
            runs: outcome.runs.map((run) => ({ ...run, attempt: 1 })),
          }
        : { ...withoutWarnings(outcome), at: at(), trial: number, variants: [...names] };
    await journal.append(entry);
    onEvent({ kind: 'told', text: `${what} ${number} · ${toldOf(plan, entry, label)}` });
  }

  /** Lists what is wanted, the next ones first; false where one of these was rejected. */
  async function prepare(names: readonly string[], wanted: readonly string[]): Promise<boolean> {
    const isAgain = journal.entries.some(
      (entry) => entry.kind === 'rejected' && names.includes(entry.variant),
    );
    // What is listed keeps its build, also one that has failed.
    if (isAgain) await list(wanted.filter((name) => !names.includes(name)));
    let left = [...wanted];
    for (;;) {
      const prepared = await list(left);
      if (prepared.kind === 'ready') return true;
      await reject(prepared);
      if (names.includes(prepared.variant)) return false;
      left = left.filter((name) => name !== prepared.variant);
      signal.throwIfAborted();
    }
  }

  async function list(names: readonly string[]) {
    const listed: Variant[] = [];
    for (const name of names) listed.push(known.get(name) ?? (await variantNamed(name)));
    return testbed.prepare({
      variants: listed,
      rules: plan.rules,
      cells: [plan.cell],
      mayDiffer: true,
      keepLog: keepLogIn(directory, 'builds'),
      notify: (text) => onEvent({ kind: 'preparing', text }),
      signal,
    });
  }

  async function variantNamed(name: string): Promise<Variant> {
    for (const revision of plan.range.revisions) {
      const form = revision.forms.find(({ variant }) => variant === name);
      if (form === undefined) continue;
      const variant = await variants.of(revision, form);
      known.set(name, variant);
      return variant;
    }
    throw new RangeError(`The range has no variant ${name}.`);
  }

  async function reject({ variant, rejection }: Rejected): Promise<void> {
    if (rejection.kind === 'out-of-disk') {
      throw new Error(
        `There was no room for ${variant}, so the bisection stops here: ${reasonOf(rejection.message)}`,
      );
    }
    const { positions } = evidenceOf(plan, journal.entries);
    const good = positions[0];
    const isSure = rejection.kind !== 'build-failed' || good?.finding.failure !== undefined;
    // The failure is not written down: whoever goes on with this bisection has fixed something.
    if (good?.form.variant === variant && !good.hasOther && isSure)
      throw new GoodEndError(rejection);
    await journal.append({ kind: 'rejected', at: at(), variant, rejection });
    onEvent({ kind: 'told', text: `${variant} ${plainLine(rejectionMessage(rejection), 300)}` });
  }

  /** Two boots of the bad end without the culprit. */
  async function verify(answer: BisectAnswer): Promise<void> {
    if (answer.kind !== 'culprit') return;
    const { commit } = plan.range.revisions[answer.revision] ?? { commit: '' };
    for (;;) {
      signal.throwIfAborted();
      const { findings, positions } = evidenceOf(plan, journal.entries);
      const { levels = [], failure, lost } = findings.get(revertedName) ?? {};
      if (levels.length >= bootsOfReverted || failure?.isSure) return;
      const most = mostTriesOf(plan);
      if (lost !== undefined && lost.times >= most) {
        throw new StuckError(revertedName, most, lost.why);
      }
      const bad = positions.at(-1)?.form;
      if (bad === undefined) return;
      const made = known.get(revertedName) ?? (await variants.without(commit, bad));
      if ('impossible' in made) {
        const rejection = { kind: 'does-not-apply', message: made.impossible } as const;
        await reject({ kind: 'rejected', variant: revertedName, rejection });
        return;
      }
      known.set(revertedName, made);
      const ends = [positions[0]?.form.variant ?? '', bad.variant];
      const names = isShared(plan) ? [...ends, revertedName] : [revertedName];
      await boot(names, names, `${shortId(commit)} taken out of the bad end`);
    }
  }

  async function profile(answer: BisectAnswer): Promise<void> {
    const wanted = variantsToProfile(answer, evidenceOf(plan, journal.entries));
    if (plan.profile === undefined || wanted === undefined) return;
    const names = [wanted.base, wanted.patched];
    const isLacking = () => lackingIn(journal.entries) !== undefined;
    const lackingIn = (entries: readonly Entry[]) =>
      names.flatMap((name) => lackingOf(plan, entries, [plan.cell], name)).at(0);
    if (!isLacking() || !(await prepare(names, names))) return;
    await takeProfilesOf(
      {
        ...{ profile: plan.profile, testbed, journal, at, signal, warn },
        keepLogIn: (folder) => keepLogIn(directory, folder),
        onNext: (next) => onEvent({ kind: 'profile', ...next }),
      },
      lackingIn,
    );
  }
}

const bootsOfReverted = 2;

/** The outcome as the journal has it, where warnings have lines of their own. */
function withoutWarnings<Outcome extends { warnings?: string[] }>({
  warnings: _,
  ...rest
}: Outcome) {
  return rest;
}

/** Trials are numbered by the order in which they were sent; one that was rejected has no number. */
const numberOfNext = (entries: readonly Entry[]): number =>
  1 +
  Math.max(
    0,
    ...entries.flatMap((entry) => {
      if (entry.kind === 'measured') return entry.summary.number;
      return entry.kind === 'failed' ? entry.trial : [];
    }),
  );

/** `007-4f5e6d7c8b9a`, and `007` where several share the trial. */
function logFolder(number: number, [first = '', ...others]: readonly string[]): string {
  const digits = String(number).padStart(3, '0');
  return others.length > 0 ? digits : `${digits}-${pathName(first)}`;
}

/** `f8f5b459d21e: 11.83 Mpps`. */
function toldOf(plan: BisectPlan, entry: Entry, label: string): string {
  if (entry.kind === 'failed') return `${label}: ${plainLine(entry.reason, 300)}`;
  const runs = entry.kind === 'measured' ? entry.runs : [];
  const each = [...readingsOf(plan, runs)].map(([name, reading]) =>
    reading.kind === 'lost'
      ? `${name}: ${plainLine(reading.why, 300)}`
      : `${name}: ${formatMetric(median(reading.values), plan.metric)}`,
  );
  return each.join(', ');
}

/** Costs are divided by. */
const leastMinutes = 0.01;

/** What boots and builds have cost so far. */
function paceOf(testbed: Testbed): BuildCosts & { add(minutes: number, isReady: boolean): void } {
  const runs: number[] = [];
  const waits: number[] = [];
  return {
    get runMinutes() {
      return runs.length === 0 ? usualMinutes.run : Math.max(median(runs), leastMinutes);
    },
    get buildMinutes() {
      return waits.length === 0 ? usualMinutes.build : median(waits);
    },
    isReady: (variant) => testbed.ready().has(variant),
    add(minutes, isReady) {
      if (isReady) runs.push(minutes);
      else waits.push(Math.max(0, minutes - this.runMinutes));
    },
  };
}

/** A good end with which nothing can be measured. */
class GoodEndError extends Error {
  override readonly name = 'GoodEndError';

  constructor(fault: RevisionFault) {
    const isSilent = fault.kind === 'forwards-nothing';
    const what = isSilent ? `forwards nothing: ${fault.message}` : rejectionMessage(fault);
    super(`The good end itself ${what} Name a good commit that works here.`);
  }
}

/** The laboratory has told nothing of a variant, time and again. */
class StuckError extends Error {
  override readonly name = 'StuckError';

  constructor(variant: string, times: number, why: string) {
    super(
      `${times} times in a row nothing was measured with ${variant}, at last for this: ${reasonOf(why)}. No commit is blamed for that: fix the testbed, or go on without that commit, by --skip ${variant} beside --resume.`,
    );
  }
}
