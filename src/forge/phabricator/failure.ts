// Classifies failures of Conduit calls. Only Conduit's own errors about a call's object are final.

import { reasonOf } from '../../model/one-line.ts';
import type { HttpResponse } from '../../system/http.ts';

/** `refused`: not done; `busy`: not done, may be tried later; `unsure`: a write that may have been done. */
type ConduitFailure = 'refused' | 'busy' | 'unsure';

/** The message names the server and the method, never the token. */
export class ConduitError extends Error {
  override readonly name = 'ConduitError';
  readonly kind: ConduitFailure;
  /** Conduit's own code, such as ERR-CONDUIT-CORE. */
  readonly code?: string;
  /** The object itself exceeds our size limit. */
  readonly isTooLarge: boolean;

  constructor(kind: ConduitFailure, message: string, code?: string, isTooLarge = false) {
    super(message);
    this.kind = kind;
    this.isTooLarge = isTooLarge;
    if (code !== undefined) this.code = code;
  }
}

/**
 * True if another try would fail the same way. A proxy's page, a redirect, an unreachable database, an unknown result
 * and an invalid token are not final: an operator can correct each of them.
 */
export function isFinal(error: unknown): boolean {
  if (!(error instanceof ConduitError)) return false;
  if (error.isTooLarge) return true;
  return error.kind === 'refused' && error.code !== undefined && !isOfToken(error);
}

/** Time limit for retrying reads, deliveries and answers. */
export const secondsOfPatience = 7 * 86_400;

export const isOfToken = ({ code = '' }: ConduitError): boolean => tokenCodes.has(code);

const tokenCodes = new Set(['ERR-INVALID-AUTH', 'ERR-INVALID-SESSION']);

/** Outcome of one try. `refused`, `busy` and `distrusted` did nothing; `lost` and `unreadable` may have written. */
export type CallOutcome = { kind: 'answered'; result: unknown } | FailedOutcome;

export type FailedOutcome = {
  kind: 'refused' | 'busy' | 'lost' | 'distrusted' | 'unreadable';
  why: string;
  advice?: string | undefined;
  code?: string;
  retryAfterSeconds?: number;
  isTooLarge?: true;
};

export const unreadable = (why: string): FailedOutcome => ({
  kind: 'unreadable',
  why,
  advice: 'check that this is the address of a Phabricator, and that no proxy responds for it',
});

/** Classifies an error by Conduit's code for it. */
export function failureNamed(code: string, info: string): FailedOutcome {
  const why = `${code}: ${info}`;
  if (code === 'ERR-CONDUIT-CORE' && /\bread-only mode\b/.test(info)) {
    return { kind: 'busy', why, code };
  }
  if (isOfDatabase(code, info)) return { kind: 'lost', why, code };
  return { kind: 'refused', why, code, advice: adviceOn(code, info) };
}

/**
 * Recognizes errors of MariaDB by number, and uncaught exceptions by class: the statement may have been carried out.
 * False for an error of the data itself, which is final: a null, a duplicate, or a value that does not fit.
 */
function isOfDatabase(code: string, info: string): boolean {
  if (!/^ERR[-_]/.test(code)) return true;
  if (code !== 'ERR-CONDUIT-CORE' || /^#(?:1048|1062|1264|1366|1406): /.test(info)) return false;
  return /^#\d{4}: |^(?:Unable to establish a connection|Attempt to connect) to /.test(info);
}

function adviceOn(code: string, info: string): string | undefined {
  if (tokenCodes.has(code)) {
    return 'check that the Conduit token is complete, and that its account may use the API';
  }
  if (
    ['ERR_NOT_FOUND', 'ERR-INVALID-OBJECT-PHID'].includes(code) ||
    /does not identify a valid object|You Shall Not Pass/.test(info)
  ) {
    return 'it does not exist, or the account of the Conduit token may not see or edit it (Phabricator does not distinguish the two)';
  }
  return code === 'ERR-CONDUIT-CALL' ? otherVersion : undefined;
}

export const otherVersion = 'ppsgate does not support the version of the server';

/** Classifies a status other than 200. */
export function otherStatus({ status, statusText, headers }: HttpResponse): FailedOutcome {
  const why = `${status} ${statusText}`.trim();
  const retryAfter = /^\d{1,9}$/.exec(headers.get('retry-after') ?? '')?.[0];
  const patience = retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) };
  if (status === 429) return { kind: 'busy', why, ...patience };
  if (status === 500) {
    const named = `${why}, which it also returns for an unknown host name`;
    return { kind: 'lost', why: named, ...patience };
  }
  if (status > 500) return { kind: 'lost', why, ...patience };
  if (status >= 300 && status < 400) {
    return {
      kind: 'refused',
      why: `${why} to ${headers.get('location') ?? 'nowhere'}`,
      advice: 'the token is not sent to another address, so configure the current address of the server',
    };
  }
  const advice = 'check the address, and whether a proxy is in front of it';
  return { kind: 'refused', why, advice };
}

export const isRead = (method: string): boolean => /\.(?:search|query\w*|get\w*|lookup|whoami|ping)$/.test(method);

/** True if a repetition within the same call is harmless. */
export const mayRetry = ({ kind }: FailedOutcome, method: string): boolean =>
  kind === 'busy' || (kind === 'lost' && isRead(method));

export function errorOf(outcome: FailedOutcome, method: string, server: { url: string; token: string }): ConduitError {
  const kind = isRead(method) ? kinds[outcome.kind].ofRead : kinds[outcome.kind].ofWrite;
  const { did, otherwise } = words[kind];
  const { why, advice = otherwise, code, isTooLarge } = outcome;
  if (outcome.kind === 'distrusted') {
    return new ConduitError(kind, `${server.url} shows ${why}, so ${method} was not sent: ${advice}.`);
  }
  const sentence = `${server.url} ${did} ${method} (${safeMessage(why, server.token)}): ${advice}.`;
  return new ConduitError(kind, sentence, code, isTooLarge);
}

const kinds: Record<FailedOutcome['kind'], { ofRead: ConduitFailure; ofWrite: ConduitFailure }> = {
  refused: { ofRead: 'refused', ofWrite: 'refused' },
  busy: { ofRead: 'busy', ofWrite: 'busy' },
  lost: { ofRead: 'busy', ofWrite: 'unsure' },
  // An operator renews the certificate, and the write can be tried again.
  distrusted: { ofRead: 'busy', ofWrite: 'busy' },
  unreadable: { ofRead: 'refused', ofWrite: 'unsure' },
};

const words: Record<ConduitFailure, { did: string; otherwise: string }> = {
  refused: { did: 'refused', otherwise: 'correct what it reports' },
  busy: { did: 'could not execute', otherwise: 'try again later' },
  unsure: {
    did: 'may or may not have executed',
    otherwise: 'check there before you try again',
  },
};

/** Shortens a message to one readable line without tokens: the server quotes an invalid one. */
export function safeMessage(text: string, token: string): string {
  const line = reasonOf(text.replaceAll(token, '(token)').replace(/\b(?:api|cli|clr)-\w+/gi, '(token)'));
  return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
