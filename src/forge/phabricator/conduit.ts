// Calls a Phabricator server's methods through Conduit, its HTTP API, and retries while the server is busy.

import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { parseJson } from '../../model/json.ts';
import { type Pause, realPause } from '../../model/pause.ts';
import type { Distrust } from '../../system/certificate.ts';
import { type HttpResponse, noConnection, sendRequest } from '../../system/http.ts';
import {
  type CallOutcome,
  ConduitError,
  errorOf,
  failureNamed,
  isFinal,
  isRead,
  mayRetry,
  otherStatus,
  otherVersion,
  safeMessage,
  secondsOfPatience,
  unreadable,
} from './failure.ts';

export type ConduitOptions = {
  url: string;
  token: string;
  /** PEM of the authority that signed the server's certificate. Absent: Node's own authorities. */
  ca?: string | undefined;
  /** Logs waits of more than 2 s. */
  log: { info(sentence: string): unknown };
  /** Aborts running calls with a `ConduitError`. */
  signal?: AbortSignal;
  pause?: Pause;
  answerSeconds?: number;
  send?: typeof sendRequest;
};

export type Conduit = {
  url: string;
  /** Returns the method's result, parsed by `result`. Throws a `ConduitError`. */
  call<Schema extends z.ZodType>(
    method: string,
    params: Record<string, unknown>,
    result: Schema,
  ): Promise<z.output<Schema>>;
  /**
   * Returns at most `most` items of a `*.search` method, in its order. Starts again if the row at a page's end has
   * vanished. Throws a `ConduitError`.
   */
  search<Schema extends z.ZodType>(
    method: string,
    params: Record<string, unknown>,
    item: Schema,
    most?: number,
  ): Promise<z.output<Schema>[]>;
};

/** A map as PHP writes it: an empty map is an empty list. */
export const mapOf = <Value extends z.ZodType>(value: Value) =>
  z.preprocess((map) => (Array.isArray(map) && map.length === 0 ? {} : map), bounded.byName(value));

/** After the last wait the call fails. */
const pausesSeconds = [1, 2, 5, 10, 30];
const longestPauseSeconds = 120;

/** Throws a `ConduitError` if the token would be sent unencrypted, or is malformed. */
export function openConduit(options: ConduitOptions): Conduit {
  const { url, token, log, signal = new AbortController().signal, pause = realPause } = options;
  refuseUnsafe(url, token);

  const call: Conduit['call'] = async (method, params, schema) => {
    for (let tries = 0; ; tries += 1) {
      const outcome = await sendCall({ answerSeconds: 60, ...options, signal }, method, params);
      if (outcome.kind === 'answered') return parsed(schema, outcome.result, method, options);
      const seconds = Math.max(pausesSeconds[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterSeconds ?? 0);
      if (!mayRetry(outcome, method) || seconds > longestPauseSeconds || signal.aborted) {
        throw errorOf(outcome, method, options);
      }
      if (seconds > 2) {
        log.info(
          `${url} could not execute ${method} (${safeMessage(outcome.why, token)}): trying again in ${seconds} s.`,
        );
      }
      await pause(seconds, signal);
    }
  };

  return { url, call, search: searchBy(call, url) };
}

/**
 * Repeats failing reads, as maintenance may last longer than one call waits. Logs at growing intervals. Throws the last
 * error after `maxSeconds`, on abort, and if `mayWait` returns false.
 */
export function withPatience(
  conduit: Conduit,
  { log, signal, pause = realPause, maxSeconds = secondsOfPatience, mayWait }: PatienceOptions,
): Conduit {
  const call: Conduit['call'] = async (method, params, schema) => {
    for (let tries = 0, waited = 0; ; tries += 1) {
      try {
        return await conduit.call(method, params, schema);
      } catch (error) {
        const seconds = Math.min(5 * 2 ** tries, 60);
        waited += seconds;
        const isPassing = error instanceof ConduitError && !isFinal(error) && isRead(method);
        if (!isPassing || signal.aborted || waited > maxSeconds) throw error;
        if (mayWait?.(error) === false) throw error;
        if (Number.isInteger(Math.log2(tries + 1))) {
          log.warn(`${error.message} It is retried until the server is back.`);
        }
        await pause(seconds, signal);
      }
    }
  };
  return { url: conduit.url, call, search: searchBy(call, conduit.url) };
}

export type PatienceOptions = {
  log: { warn(sentence: string): unknown };
  signal: AbortSignal;
  pause?: Pause;
  maxSeconds?: number;
  mayWait?: (error: ConduitError) => boolean;
};

function refuseUnsafe(url: string, token: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopback.test(hostname))) {
    throw new ConduitError(
      'refused',
      `The Conduit token is not sent to ${url}, because it could be read in transit: use the server's https address.`,
    );
  }
  // Accepts only letters that quoting never changes, so that the token can be masked in a reply.
  if (!/^[\w-]{1,200}$/.test(token)) {
    throw new ConduitError(
      'refused',
      `The Conduit token for ${url} is empty, or has characters other than letters, digits and hyphens: copy it from the bot's settings there, under Conduit API Tokens.`,
    );
  }
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

type Server = Pick<ConduitOptions, 'url' | 'token' | 'ca'>;

type CallOptions = Server & Pick<ConduitOptions, 'send'> & { signal: AbortSignal; answerSeconds: number };

async function sendCall(
  { url, token, ca, signal, answerSeconds, send = sendRequest }: CallOptions,
  method: string,
  params: Record<string, unknown>,
): Promise<CallOutcome> {
  if (signal.aborted) return { kind: 'busy', why: 'it was cancelled' };
  const answer = await send(`${url}/api/${method}`, {
    method: 'POST',
    // The only encoding of parameters that keeps their types.
    body: new URLSearchParams({ params: asJson({ ...params, __conduit__: { token } }) }),
    answerSeconds,
    maxBytes,
    trust: { ca },
    signal,
  });
  if (answer.kind === 'answered') {
    return answer.status === 200 ? readAnswer(answer) : otherStatus(answer);
  }
  if (signal.aborted) return { kind: 'lost', why: 'it was cancelled' };
  const { distrust } = answer;
  if (distrust !== undefined) {
    return { kind: 'distrusted', why: distrust.shown, advice: fixOfCertificate(distrust, ca) };
  }
  return { kind: beforeSending.includes(answer.code) ? 'busy' : 'lost', why: answer.why };
}

/** PHP rejects half a surrogate pair, in which a shortened text may end. */
const asJson = (params: Record<string, unknown>): string =>
  JSON.stringify(params, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value));

const maxBytes = 32 * 1024 ** 2;

const envelope = z.object({
  result: z.unknown(),
  error_code: bounded.word.nullable(),
  error_info: bounded.prose().nullable(),
});

function readAnswer({ headers, body }: HttpResponse): CallOutcome {
  const type = headers.get('content-type') ?? 'no content type';
  if (!/^application\/json\b/i.test(type)) {
    return unreadable(`its response is ${type} instead of JSON`);
  }
  if (body === undefined) {
    const why = `its response has more than ${maxBytes} bytes`;
    return { kind: 'unreadable', why, advice: 'larger responses are refused', isTooLarge: true };
  }
  const answer = envelope.safeParse(parseJson(body.toString()));
  if (!answer.success) return unreadable('its response is JSON, but not from Conduit');
  const { result, error_code: code, error_info: info } = answer.data;
  return code === null ? { kind: 'answered', result } : failureNamed(code, info ?? 'no reason');
}

/** Codes of errors before the connection. */
const beforeSending: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', noConnection];

export function fixOfCertificate({ fault }: Distrust, ca: string | undefined): string {
  switch (fault) {
    case 'authority':
      return ca === undefined
        ? 'set `phabricator.ca` to the certificate of the authority, or set NODE_EXTRA_CA_CERTS'
        : 'set `phabricator.ca` to the certificate of the authority that signed it';
    case 'time':
      return 'renew it there, if the clock of this machine is right';
    case 'name':
      return 'use its name in `phabricator.url`, or issue one for this name';
    case 'pin':
    case 'other':
      return 'replace it there';
  }
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  result: unknown,
  method: string,
  server: Server,
): z.output<Schema> {
  const answer = schema.safeParse(result);
  if (answer.success) return answer.data;
  const [issue] = answer.error.issues;
  const why = `its response has an unexpected value at ${issue?.path.join('.') || 'the top'}: ${issue?.message}`;
  throw errorOf({ kind: 'unreadable', why, advice: otherVersion }, method, server);
}

const pageItems = 100;
const maxPages = 200;
const maxBeginnings = 4;

function searchBy(call: Conduit['call'], url: string): Conduit['search'] {
  return async (method, params, item, most = Number.POSITIVE_INFINITY) => {
    const page = z.object({
      data: bounded.list(item),
      cursor: z.object({ after: bounded.word.nullable() }),
    });
    const limit = Math.min(pageItems, most);
    const pageAfter = (row: string | null) =>
      call(method, { ...params, limit, ...(row !== null && { after: row }) }, page);
    let items: z.output<typeof item>[] = [];
    let after: string | null = null;
    let beginnings = 1;
    for (let pages = 0; pages < maxPages; pages += 1) {
      try {
        const { data, cursor } = await pageAfter(after);
        items.push(...data);
        after = cursor.after;
      } catch (error) {
        if (after === null || !isAboutCursor(error) || beginnings === maxBeginnings) throw error;
        beginnings += 1;
        items = [];
        after = null;
        continue;
      }
      if (after === null || items.length >= most) return items.slice(0, most);
    }
    throw new ConduitError(
      'refused',
      `${url} has more than ${maxPages} pages for ${method}: larger responses are refused.`,
    );
  };
}

/** The first page succeeded, so a later refusal is about the row that it names, deleted or hidden meanwhile. */
const isAboutCursor = (error: unknown): boolean =>
  error instanceof ConduitError && error.code === 'ERR-CONDUIT-CORE' && error.kind === 'refused';
