// Faults between ppsgate and GitHub, requested by a test for the next calls of an operation.
import type { Answer } from './state.ts';

export type Fault =
  /** A read-only token, as for a pull request from a fork. */
  | { kind: 'read-only' }
  /** The hourly quota is used up, and renewed after `seconds`. */
  | { kind: 'rate-limit'; seconds: number; status?: 403 | 429 }
  /** Too many requests at once; `retry-after` has the seconds to wait. */
  | { kind: 'secondary-rate-limit'; seconds: number; status?: 403 | 429 }
  /** GitHub itself or a proxy in front fails; with `carriedOut`, only after carrying out the request. */
  | { kind: 'broken'; status: 500 | 502 | 503; carriedOut?: boolean }
  /** The connection breaks before a response. */
  | { kind: 'reset'; carriedOut?: boolean }
  /** The connection breaks within the response's body. */
  | { kind: 'cut' }
  /** The response is correct, but late. */
  | { kind: 'slow'; milliseconds: number };

export type Faults = {
  /** The next `times` calls of `operationId` (as in openapi.json), or of any, fail like this. */
  order: (operationId: string | undefined, fault: Fault, times?: number) => void;
  /** Drops all faults that no call has met yet. */
  clear: () => void;
  /** Number of calls that have met a fault. */
  readonly met: number;
};

export type FaultBook = Faults & {
  /** The fault for the current call, which is then used up. */
  next: (operationId: string) => Fault | undefined;
};

export function noFaultsYet(): FaultBook {
  const ordered: { operationId: string | undefined; fault: Fault }[] = [];
  let met = 0;
  return {
    order(operationId, fault, times = 1) {
      ordered.push(...Array.from({ length: times }, () => ({ operationId, fault })));
    },
    clear() {
      ordered.length = 0;
    },
    get met() {
      return met;
    },
    next(operationId) {
      const index = ordered.findIndex((order) => [operationId, undefined].includes(order.operationId));
      if (index === -1) return undefined;
      met += 1;
      return ordered.splice(index, 1)[0]?.fault;
    },
  };
}

/** The response in place of the correct one, worded like GitHub's; one that is reset is never sent. */
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
    case 'reset':
      return { status: 500 };
    default:
      return undefined;
  }
}
