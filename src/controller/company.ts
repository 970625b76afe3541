// Patches of our base that wait for the testbed that we have: taken aboard, and told what is measured for them.
import { type Arm, type Company, mayShareBase } from '../experiment/arms.ts';
import {
  baseOf,
  isEnd,
  type Offer,
  packedEntry,
  packedLog,
  readOffer,
} from '../experiment/passenger.ts';
import type { Plan } from '../experiment/plan.ts';
import { type Aboard, takeAboard } from '../reservation/batch.ts';
import type { Lease, LeaseWorld } from '../reservation/lease.ts';
import { StoreError } from '../reservation/store.ts';
import { plainLine } from '../words/escape.ts';
import { armName } from '../words/variant-name.ts';

type CompanyWorld = LeaseWorld & {
  /** Hears what goes on, in a sentence for people. */
  tell(sentence: string): void;
};

/** At most `most` patches are measured at a time, our own among them; undefined where it has to be measured by itself. */
export function companyOf(
  lease: Lease,
  plan: Plan,
  most: number,
  world: CompanyWorld,
): Company | undefined {
  const base = baseOf(plan);
  if (base === undefined) return undefined;
  let guests: Guest[] = [];
  let numbers = 1;
  /** Whoever could not be told what was measured for it is not asked again. */
  const deaf = new Set<string>();
  return {
    async joined() {
      guests = guests.filter(({ isOver, arm }) => !isOver && !arm.signal.aborted);
      const room = most - 1 - guests.length;
      const joining: Guest[] = [];
      for (const one of await boarding(lease, { base, most: room, except: deaf }, world)) {
        const offer = offerOf(one);
        if (offer === undefined || !mayShareBase(plan, offer.plan)) {
          deaf.add(one.id);
          await one.putAshore().catch(() => {});
          continue;
        }
        numbers += 1;
        const name = armName(numbers);
        const whose = plainLine(one.holder.patch ?? one.holder.who, mostNameCharacters);
        world.tell(`Measured together with this patch, as ${name}: ${whose}.`);
        joining.push(guestOf(name, one, offer, deaf));
      }
      guests.push(...joining);
      return joining.map(({ arm }) => arm);
    },
  };
}

/** The names of other processes are their own, and longer than a line of a log should be. */
const mostNameCharacters = 80;

/** A store that cannot be asked now is asked again after the next blast. */
async function boarding(...wanted: Parameters<typeof takeAboard>): Promise<Aboard[]> {
  try {
    return await takeAboard(...wanted);
  } catch (error) {
    if (error instanceof StoreError) return [];
    throw error;
  }
}

function offerOf({ text }: Aboard): Offer | undefined {
  try {
    return readOffer(text);
  } catch {
    return undefined;
  }
}

/** `isOver` once it has all that it lacked. */
type Guest = { arm: Arm; isOver: boolean };

function guestOf(name: string, one: Aboard, { plan, entries }: Offer, deaf: Set<string>): Guest {
  /** Whoever cannot be told waits for the testbed again. */
  const orAshore = async (telling: Promise<void>) => {
    await telling.catch(async (error: unknown) => {
      deaf.add(one.id);
      await one.putAshore().catch(() => {});
      throw error;
    });
  };
  const arm: Arm = {
    name,
    plan,
    journal: {
      entries,
      async append(entry) {
        await orAshore(one.send(packedEntry(entry)).then(one.kept));
        entries.push(entry);
        guest.isOver ||= isEnd(entry);
      },
    },
    keepLogIn: (folder) => async (log, content) => {
      for (const item of packedLog(folder, log, content)) await orAshore(one.send(item));
    },
    // The process that waits tells of it by what it is sent.
    onEvent() {},
    signal: one.signal,
  };
  const guest: Guest = { arm, isOver: false };
  return guest;
}
