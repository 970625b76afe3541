// Faults between a bot and Phabricator, which a test orders for the next calls.
import type { Values } from './conduit.ts';

export type Fault =
  /** Too many calls: plain text, and no word about how long to stay away. */
  | { kind: 'rate-limit' }
  /** HTTP 500 and a page; with `carriedOut` only after it did what was asked. */
  | { kind: 'broken'; carriedOut?: boolean }
  /** HTTP 200 and a page. */
  | { kind: 'html' }
  /** This answer in place of the right one. */
  | { kind: 'answer'; status: number; contentType: string; body: string; location?: string }
  /** Maintenance: what is read is answered, what is written is refused. */
  | { kind: 'read-only' }
  /** The connection is gone before there is an answer; with `carriedOut` only the answer is lost. */
  | { kind: 'reset'; carriedOut?: boolean }
  /** The answer is right, but comes late. */
  | { kind: 'slow'; milliseconds: number };

/** A call as a fault may choose it. */
export type Called = { method: string; params: Values };

export type Faults = {
  /** The next `times` calls of the method, or those that the predicate picks, or any, fail like this. */
  order: (
    which: string | ((call: Called) => boolean) | undefined,
    fault: Fault,
    times?: number,
  ) => void;
  /** Forgets the faults that no call has met yet. */
  clear: () => void;
  /** Number of calls that have met a fault. */
  readonly met: number;
};

export type FaultBook = Faults & {
  /** The fault that the call now served was to meet, which is then used up. */
  next: (call: Called) => Fault | undefined;
};

export function noFaultsYet(): FaultBook {
  const ordered: { isMeant: (call: Called) => boolean; fault: Fault }[] = [];
  let met = 0;
  return {
    order(which, fault, times = 1) {
      const isMeant =
        typeof which === 'function'
          ? which
          : ({ method }: Called) => which === undefined || method === which;
      ordered.push(...Array.from({ length: times }, () => ({ isMeant, fault })));
    },
    clear() {
      ordered.length = 0;
    },
    get met() {
      return met;
    },
    next(call) {
      const index = ordered.findIndex(({ isMeant }) => isMeant(call));
      if (index === -1) return undefined;
      met += 1;
      return ordered.splice(index, 1)[0]?.fault;
    },
  };
}
