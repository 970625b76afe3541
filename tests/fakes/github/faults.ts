// Faults between ppsgate and GitHub, which a test orders for the next calls of an operation.
import type { Answer } from './state.ts';

export type Fault =
  /** A token that may read only, as a pull request from a fork gets it. */
  | { kind: 'read-only' }
  /** The quota of an hour is used up, and is given again `seconds` from now. */
  | { kind: 'rate-limit'; seconds: number; status?: 403 | 429 }
  /** Too much at once; `retry-after` holds the seconds to wait. */
  | { kind: 'secondary-rate-limit'; seconds: number; status?: 403 | 429 }
  /** GitHub itself, or a proxy before it, fails; with `carriedOut` only after it did what was asked. */
  | { kind: 'broken'; status: 500 | 502 | 503; carriedOut?: boolean }
  /** The connection is gone before there is an answer. */
  | { kind: 'reset'; carriedOut?: boolean }
  /** The connection is gone in the middle of the answer's body. */
  | { kind: 'cut' }
  /** The answer is right, but comes late. */
  | { kind: 'slow'; milliseconds: number };

export type Faults = {
  /** The next `times` calls of `operationId` (as in openapi.json) fail like this. */
  order: (operationId: string, fault: Fault, times?: number) => void;
  /** From now on each call that meets no ordered fault meets one of `kinds` with this probability. */
  byChance: (chance: Chance) => void;
  /** Forgets the faults that no call has met yet, and those by chance. */
  clear: () => void;
  /** Number of calls that have met a fault. */
  readonly met: number;
};

/** @param random from 0 to below 1. */
export type Chance = { random: () => number; share: number; kinds?: readonly Fault[] };

export type FaultBook = Faults & {
  /** The fault that the call now served was to meet, which is then used up. */
  next: (operationId: string, isWrite: boolean) => Fault | undefined;
};

/** Random faults; `carriedOut` is random as well. */
const badDay: readonly Fault[] = [
  { kind: 'broken', status: 502 },
  { kind: 'broken', status: 503 },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'slow', milliseconds: 5 },
  { kind: 'secondary-rate-limit', seconds: 1 },
];

export function noFaultsYet(): FaultBook {
  const ordered: { operationId: string; fault: Fault }[] = [];
  let chance: Chance | undefined;
  let met = 0;
  return {
    order(operationId, fault, times = 1) {
      ordered.push(...Array.from({ length: times }, () => ({ operationId, fault })));
    },
    byChance(another) {
      chance = another;
    },
    clear() {
      ordered.length = 0;
      chance = undefined;
    },
    get met() {
      return met;
    },
    next(operationId, isWrite) {
      const index = ordered.findIndex((order) => order.operationId === operationId);
      const fault = index === -1 ? drawn(chance, isWrite) : ordered.splice(index, 1)[0]?.fault;
      if (fault !== undefined) met += 1;
      return fault;
    },
  };
}

function drawn(chance: Chance | undefined, isWrite: boolean): Fault | undefined {
  if (chance === undefined || chance.random() >= chance.share) return undefined;
  const { random, kinds = badDay } = chance;
  const fault = kinds[Math.floor(random() * kinds.length)];
  if (fault === undefined || !isWrite) return fault;
  const isLost = fault.kind === 'broken' || fault.kind === 'reset';
  return isLost ? { carriedOut: random() < 0.5, ...fault } : fault;
}

/** The answer that takes the place of the right one, worded as GitHub words it. */
export function answerInstead(fault: Fault): Answer | undefined {
  switch (fault.kind) {
    case 'read-only':
      return { status: 403, body: { message: 'Resource not accessible by integration' } };
    case 'rate-limit':
      return {
        status: fault.status ?? 403,
        headers: {
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + fault.seconds),
        },
        body: { message: 'API rate limit exceeded for installation ID 1.' },
      };
    case 'secondary-rate-limit':
      return {
        status: fault.status ?? 403,
        headers: { 'retry-after': String(fault.seconds) },
        body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' },
      };
    case 'broken':
      return { status: fault.status, body: { message: 'Server Error' } };
    default:
      return undefined;
  }
}
