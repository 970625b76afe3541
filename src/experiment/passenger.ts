// A gate that somebody else measures together with his own: what it offers him, and how it keeps what he measures for it.
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import type { KernelSource } from '../build/variant.ts';
import { plainLine } from '../words/escape.ts';
import { cellName } from '../words/scenario.ts';
import { isJudged } from '../words/variant-name.ts';
import { mayShareBase } from './arms.ts';
import { numberOf } from './cells.ts';
import { type ExperimentEvent, keepLogIn } from './experiment.ts';
import { type Entry, entrySchema, journalIn, openJournal, readJournal } from './journal.ts';
import { hasPlan, type Plan, planSchema } from './plan.ts';

const offerSchema = z.object({ plan: planSchema, entries: z.array(entrySchema) });

/** What is to be measured, and what of it there is already. */
export type Offer = z.infer<typeof offerSchema>;

/** Throws where the text is none. */
export const readOffer = (text: string): Offer => offerSchema.parse(JSON.parse(text));

/**
 * A name for what plans have in common that may be measured together, as `mayShareBase` has it; undefined for one that is
 * measured by itself.
 */
export function baseOf(plan: Plan): string | undefined {
  const base = plan.variants.find(({ variant }) => variant === 'base')?.kernel;
  if (base === undefined || !mayShareBase(plan, plan)) return undefined;
  // A plan that was read from a file has its keys in the order of the schema.
  const { testbed, traffic, rules } = planSchema.parse(plan);
  const cells = plan.cells.map(({ cell }) => cellName(cell)).toSorted();
  const common = [packageJson.version, testbed, contentOf(base), cells, traffic, rules];
  return createHash('sha256').update(JSON.stringify(common)).digest('hex');
}

const contentOf = (kernel: KernelSource): string =>
  kernel.kind === 'tree' ? kernel.baseCommit : `${kernel.sha256} ${kernel.path}`;

/** Files of a machine are none for others. */
const isOfOneMachine = ({ variants }: Plan): boolean =>
  variants.some(({ kernel }) => kernel?.kind === 'archive');

const parcelSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('entry'), entry: entrySchema }),
  z.object({
    kind: z.literal('log'),
    /** Below the work directory. */
    folder: z.string(),
    name: z.string(),
    /** A part of it, compressed, in base64. */
    piece: z.base64(),
    isLast: z.boolean(),
  }),
]);

/** What is sent from one who measures to one for whom he does. */
type Parcel = z.infer<typeof parcelSchema>;

const packed = (parcel: Parcel): string => JSON.stringify(parcel);

export const packedEntry = (entry: Entry): string => packed({ kind: 'entry', entry });

/** The most characters of a piece, so that etcd takes it in one request. */
const mostPieceCharacters = 2 ** 19;

export function packedLog(folder: string, name: string, content: string | Uint8Array): string[] {
  const text = gzipSync(content).toString('base64');
  const pieces = Math.ceil(text.length / mostPieceCharacters);
  return Array.from({ length: pieces }, (_, index) => {
    const [from, isLast] = [index * mostPieceCharacters, index === pieces - 1];
    const piece = text.slice(from, from + mostPieceCharacters);
    return packed({ kind: 'log', folder, name, piece, isLast });
  });
}

/** The most bytes of a log: what is kept of a generator, and more than any other log has. */
const mostLogBytes = 2 ** 26;

type PassengerOptions = {
  directory: string;
  /** Names of the testbeds that would do. */
  testbeds: readonly string[];
  /** What would be measured there. */
  planOn(testbed: string): Promise<Plan>;
  /** Writes down that it is measured there; harmless a second time. */
  begin(testbed: string): Promise<Plan>;
  onEvent(event: ExperimentEvent): void;
};

export type GatePassenger = Awaited<ReturnType<typeof gatePassenger>>;

/** Keeps what is measured in the work directory, as if this process had. */
export async function gatePassenger(options: PassengerOptions) {
  const { directory, testbeds, planOn, begin, onEvent } = options;
  const pieces = new Map<string, string>();
  const plans = await Promise.all(testbeds.map(planOn));
  let plan: Plan | undefined;
  let entries = await readJournal(journalIn(directory));
  if (await hasPlan(directory)) [plan] = plans;

  return {
    /** That a part of it was measured on already. */
    boundTo: () => plan?.testbed,

    /** Offers by testbed; none where the patch is to be measured by itself. */
    offers(isFarAway: boolean): Map<string, { base: string; text: string }> {
      const lacking = plan === undefined ? plans : [plan];
      return new Map(
        lacking.flatMap((one) => {
          const base = baseOf(one);
          if (base === undefined || (isFarAway && isOfOneMachine(one))) return [];
          const offer: Offer = { plan: one, entries };
          return [[one.testbed, { base, text: JSON.stringify(offer) }]];
        }),
      );
    },

    async boarded(testbed: string, by: { who: string; patch?: string | undefined }) {
      plan = await begin(testbed);
      const whose = plainLine(by.patch === undefined ? by.who : `${by.who} (${by.patch})`, 120);
      onEvent({
        kind: 'told',
        text: `This patch is measured on ${testbed} by ${whose}, together with its own.`,
      });
      onEvent({ kind: 'planned', plan });
    },

    /** Answers whether nothing is lacking any more. */
    async receive(item: string): Promise<boolean> {
      const parcel = parcelSchema.parse(JSON.parse(item));
      if (parcel.kind === 'log') {
        const { folder, name, piece, isLast } = parcel;
        requirePath(folder, name);
        const path = `${folder}/${name}`;
        const text = (pieces.get(path) ?? '') + piece;
        pieces.set(path, text);
        if (!isLast) return false;
        pieces.delete(path);
        await keepLogIn(directory, folder)(
          name,
          gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: mostLogBytes }),
        );
        return false;
      }
      const { entry } = parcel;
      await using journal = await openedJournal(directory);
      await journal.append(entry);
      entries = journal.entries;
      const blast = plan?.blasts.find(({ number }) => number === numberOf(entry));
      if (blast !== undefined) onEvent({ kind: 'ended', blast, entry });
      return isEnd(entry);
    },
  };
}

async function openedJournal(directory: string) {
  const journal = await openJournal(journalIn(directory));
  return { ...journal, [Symbol.asyncDispose]: () => journal.close() };
}

/** Nothing comes after it. */
export const isEnd = (entry: Entry): boolean =>
  entry.kind === 'finished' || (entry.kind === 'rejected' && isJudged(entry.variant));

/** What another process names is a path below the work directory, and nothing else. */
function requirePath(folder: string, name: string): void {
  const parts = [...folder.split('/'), name];
  if (parts.every((part) => /^\w[\w.-]*$/.test(part))) return;
  throw new RangeError('Whoever measured has sent a log with a name that is no path below here.');
}
