// Patches that are measured together on one testbed: whose run is next, and for whom else a run of base is.
import { isDeepStrictEqual } from 'node:util';
import type { KeepLog, Testbed } from '../testbed/testbed.ts';
import type { PlannedBlast, PlannedRun } from '../words/planned-blast.ts';
import type { Rejection } from '../words/rejection.ts';
import { cellName } from '../words/scenario.ts';
import { isArmName, pathName } from '../words/variant-name.ts';
import type { BlastTries } from './cells.ts';
import type { ExperimentEvent } from './experiment.ts';
import type { Entry, Journal } from './journal.ts';
import type { Plan } from './plan.ts';

/**
 * One patch among those that are measured together. It decides by its own plan and journal, as if alone; only runs of base
 * that others lack too are measured once for all, and written down by each.
 */
export type Arm = {
  /** What the testbed calls its patched variant meanwhile: `patched` for the experiment's own, an `armName` for others. */
  name: string;
  /** Fits the experiment's own by `mayShareBase`. */
  plan: Plan;
  journal: Pick<Journal, 'entries' | 'append'>;
  /** What keeps the logs of a folder of its work directory. */
  keepLogIn(folder: string): KeepLog;
  onEvent(event: ExperimentEvent): void;
  /** Aborted once nobody waits for it any more: it is left out from its next run on. */
  signal: AbortSignal;
};

/** The place from which others come that are measured beside the experiment's own patch. */
export type Company = {
  /** Arms that came since; asked between two blasts while the own patch gets runs. None where there is no more room. */
  joined(): Promise<Arm[]>;
  /** Told with the own journal where others are still measured though the own patch gets no more runs: it need not wait. */
  ownEnded?(entries: readonly Entry[]): Promise<void>;
};

/** Whether runs of base of the one plan tell the same as those of the other, so that both can be measured together. */
export function mayShareBase(own: Plan, other: Plan): boolean {
  const baseOf = ({ variants }: Plan) => {
    const { kernel, files } = variants.find(({ variant }) => variant === 'base') ?? {};
    return { kernel, files };
  };
  // What is asked of a testbed before its first blast depends on these, and not on the scenario.
  const packets = new Set(own.cells.map(packetsOf));
  return (
    [own, other].every(isShareable) &&
    own.testbed === other.testbed &&
    isDeepStrictEqual(baseOf(own), baseOf(other)) &&
    isDeepStrictEqual(own.traffic, other.traffic) &&
    Object.entries(other.rules).every(([name, rules]) =>
      isDeepStrictEqual(own.rules[name], rules),
    ) &&
    other.cells.every((cell) => packets.has(packetsOf(cell)))
  );
}

const packetsOf = ({ cell: { family, frameBytes } }: Plan['cells'][number]): string =>
  `${family} ${frameBytes}`;

/** Base and patched alone, each run a blast of its own, and of one link of each kernel. */
const isShareable = ({ variants, blasts }: Plan): boolean =>
  variants.length === 2 &&
  blasts.every(({ runs }) => runs.length === 1 && runs[0]?.link === undefined);

/** What an arm would have measured next, and all that it lacks for that look, in the order of its plan. */
export type Claim = { arm: Arm; open: readonly BlastTries[] };

/** A boot of the DUT, and the pair that it counts for with each arm that has had a run in it. */
type SharedBoot = { variant: string; pairs: ReadonlyMap<Arm, number> };

export type Turn = {
  /** The variant, as the testbed calls it. */
  variant: string;
  /** All that the run is for; the first has its turn. */
  served: [Due, ...Due[]];
  /** Another boot is not needed. */
  isSameBoot: boolean;
};

/**
 * The next run. One that needs no other boot comes first, then the patched kernel of the first claim that has its turn with
 * it, and base is booted when all lack it. Its run is for everyone who lacks one in that cell for the pair that it is at, so
 * that k arms take k + 1 boots a pair, and not 2 k. A claim that is alone goes through its blasts in their order.
 */
export function nextTurn(claims: readonly Claim[], boot: SharedBoot | undefined): Turn | undefined {
  const due = claims.flatMap((claim) =>
    dueOf(claim, claims.length > 1).map((next) => ({ arm: claim.arm, next })),
  );
  const isSame = (one: Due) => boot !== undefined && sharesBoot(one, boot);
  const turn = due.find(isSame) ?? due.find((one) => variantOf(one) !== 'base') ?? due[0];
  if (turn === undefined) return undefined;
  const isSameBoot = isSame(turn);
  const variant = variantOf(turn);
  const others = due.filter(
    (one) =>
      one.arm !== turn.arm &&
      variant === 'base' &&
      variantOf(one) === 'base' &&
      cellName(one.next.blast.cell) === cellName(turn.next.blast.cell) &&
      (!isSameBoot || isSame(one)),
  );
  return { variant, served: [turn, ...others], isSameBoot };
}

type Due = { arm: Arm; next: BlastTries };

/** The next blast of an arm, and the runs of base that it lacks for the same pair and has tried as often. */
function dueOf({ open }: Claim, isTogether: boolean): BlastTries[] {
  const [first] = open;
  if (first === undefined) return [];
  const further = open.filter(
    (one) =>
      one !== first &&
      runOf(one.blast)?.variant === 'base' &&
      runOf(one.blast)?.pair === runOf(first.blast)?.pair &&
      one.tries.length === first.tries.length,
  );
  return isTogether ? [first, ...further] : [first];
}

function sharesBoot({ arm, next }: Due, boot: SharedBoot): boolean {
  if (variantOf({ arm, next }) !== boot.variant) return false;
  const known = boot.pairs.get(arm);
  return known === undefined ? boot.variant === 'base' : known === runOf(next.blast)?.pair;
}

/** Blasts have one run each where a testbed boots its variants. */
const runOf = ({ runs: [run] }: PlannedBlast): PlannedRun | undefined => run;

function variantOf({ arm, next }: Due): string {
  const variant = runOf(next.blast)?.variant ?? '';
  return variant === 'patched' ? arm.name : variant;
}

/** The boots of a testbed, which tells them and their blasts apart by numbers. */
type SharedBoots = {
  running(): SharedBoot | undefined;
  /** The next run has another boot, whatever it is. */
  end(): void;
  /** From now on numbers are those of all arms together, and no more those of the own plan. */
  share(): void;
  planned(turn: Turn): PlannedBlast;
};

export function sharedBoots({ blasts }: Pick<Plan, 'blasts'>): SharedBoots {
  let boot: (SharedBoot & { number: number; pairs: Map<Arm, number> }) | undefined;
  let isShared = false;
  let boots = Math.max(...blasts.map((blast) => runOf(blast)?.pair ?? 0));
  let sent = Math.max(...blasts.map(({ number }) => number));
  /** A blast that is sent again in the same boot has the same number. */
  const numbers = new Map<string, number>();
  return {
    running: () => boot,
    end() {
      boot = undefined;
    },
    share() {
      isShared = true;
    },
    planned({ variant, served, isSameBoot }) {
      const [{ next }] = served;
      const { blast } = next;
      if (boot === undefined || !isSameBoot) {
        const number = isShared ? ++boots : (runOf(blast)?.pair ?? 0);
        boot = { variant, number, pairs: new Map() };
      }
      for (const { arm, next } of served) boot.pairs.set(arm, runOf(next.blast)?.pair ?? 0);
      if (!isShared) return blast;
      const key = `${boot.number} ${cellName(blast.cell)}`;
      const number = numbers.get(key) ?? ++sent;
      numbers.set(key, number);
      return { number, cell: blast.cell, runs: [{ number, variant, pair: boot.number }] };
    },
  };
}

/** What the testbed says of an arm, in which that is `patched` as in its own plan. */
export const inWordsOf = ({ name }: Pick<Arm, 'name'>, text: string): string =>
  name === 'patched' ? text : text.replaceAll(wholeWords(name), 'patched');

/** Also where the name is a part of a path. An `armName` has no character that means something else. */
const wholeWords = (name: string): RegExp =>
  new RegExp(`\\b${name.replaceAll(' ', '[ -]')}\\b`, 'g');

/** The words of an arm for all that is told of why nothing can be measured with its kernel. */
export function rejectionOf(arm: Pick<Arm, 'name'>, rejection: Rejection): Rejection {
  const console = 'console' in rejection ? rejection.console : undefined;
  return {
    ...rejection,
    message: inWordsOf(arm, rejection.message),
    ...(console !== undefined && { console: inWordsOf(arm, console) }),
  };
}

/** Whom a text of the testbed concerns: those that it names, and all where it names none. */
export function heardBy(text: string, arms: readonly Arm[]): readonly Arm[] {
  const others = arms.filter(({ name }) => name !== 'patched');
  const named = others.filter(({ name }) => wholeWords(name).test(text));
  if (named.length > 0) return named;
  return wholeWords('patched').test(text) ? arms.filter((arm) => !others.includes(arm)) : arms;
}

/** Whose kernel the log of a build is of, and what it is called in that one's own folder; undefined where it is of no other's. */
export function buildLogOf(
  file: string,
  arms: readonly Arm[],
): { arm: Arm; name: string } | undefined {
  const arm = arms.find(({ name }) => isArmName(name) && file.startsWith(`${pathName(name)}-`));
  return arm && { arm, name: file.replace(pathName(arm.name), 'patched') };
}

/** The testbed as an arm would see it alone, for its profiles. */
export function testbedOf(arm: Pick<Arm, 'name'>, testbed: Testbed): Testbed {
  if (arm.name === 'patched') return testbed;
  return {
    ...testbed,
    booted() {
      const variant = testbed.booted();
      if (variant === arm.name) return 'patched';
      return variant === 'base' ? variant : undefined;
    },
    async profile(request, keepLog, signal) {
      const variant = request.variant === 'patched' ? arm.name : request.variant;
      const outcome = await testbed.profile({ ...request, variant }, keepLog, signal);
      return outcome.kind === 'profiled'
        ? outcome
        : { ...outcome, reason: inWordsOf(arm, outcome.reason) };
    },
  };
}
