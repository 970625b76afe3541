// What can go wrong between ppsgate and GitHub, ordered by a test for the next calls of one operation.
import type { Answer } from './operations.ts';

export type Fault =
  /** A token that may read only, as a pull request from a fork gets it. */
  | { kind: 'read-only' }
  /** The quota of an hour is used up, and is given again `seconds` from now. */
  | { kind: 'rate-limit'; seconds: number; status?: 403 | 429 }
  /** Too much at once; `retry-after` says how long to stay away. */
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
  /** Forgets the faults that no call has met yet. */
  clear: () => void;
  /** The fault that the call now served was to meet, which is then used up. */
  next: (operationId: string) => Fault | undefined;
};

export function noFaultsYet(): Faults {
  const ordered: { operationId: string; fault: Fault }[] = [];
  return {
    order(operationId, fault, times = 1) {
      ordered.push(...Array.from({ length: times }, () => ({ operationId, fault })));
    },
    clear() {
      ordered.length = 0;
    },
    next(operationId) {
      const index = ordered.findIndex((order) => order.operationId === operationId);
      return index === -1 ? undefined : ordered.splice(index, 1)[0]?.fault;
    },
  };
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
