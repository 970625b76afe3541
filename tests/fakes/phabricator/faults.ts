// Faults between a bot and Phabricator, requested by a test for the next calls.
import type { Values } from './conduit.ts';

export type Fault =
  /** Too many calls: plain text, without a time to wait. */
  | { kind: 'rate-limit' }
  /** HTTP 500 and a page; with `carriedOut`, only after carrying out the request. */
  | { kind: 'broken'; carriedOut?: boolean }
  /** HTTP 200 and a page. */
  | { kind: 'html' }
  /** This response in place of the correct one. */
  | { kind: 'answer'; status: number; contentType: string; body: string; location?: string }
  /** Maintenance: reads succeed, writes are refused. */
  | { kind: 'read-only' }
  /** The connection breaks before a response; with `carriedOut`, only the response is lost. */
  | { kind: 'reset'; carriedOut?: boolean };

type Called = { method: string; params: Values };

export type Faults = {
  /** The next `times` calls of the method, of those that the predicate selects, or of any, fail like this. */
  order: (which: string | ((call: Called) => boolean) | undefined, fault: Fault, times?: number) => void;
  /** Drops all faults that no call has met yet. */
  clear: () => void;
};

export type FaultBook = Faults & {
  /** The fault for the current call, which is then used up. */
  next: (call: Called) => Fault | undefined;
};

export function noFaultsYet(): FaultBook {
  const ordered: { isMeant: (call: Called) => boolean; fault: Fault }[] = [];
  return {
    order(which, fault, times = 1) {
      const isMeant =
        typeof which === 'function' ? which : ({ method }: Called) => which === undefined || method === which;
      ordered.push(...Array.from({ length: times }, () => ({ isMeant, fault })));
    },
    clear() {
      ordered.length = 0;
    },
    next(call) {
      const index = ordered.findIndex(({ isMeant }) => isMeant(call));
      return index === -1 ? undefined : ordered.splice(index, 1)[0]?.fault;
    },
  };
}
