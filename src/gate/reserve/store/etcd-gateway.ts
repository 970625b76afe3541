// Sends requests to an etcd cluster through the JSON gateway of the first member that responds.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import type { EtcdConfig as EtcdReservationsConfig } from '../../../config/reservations.ts';
import { readGuarded, readSecret } from '../../../config/secret.ts';
import * as bounded from '../../../model/bounds.ts';
import { parseJson } from '../../../model/json.ts';
import { reasonOf, shortened } from '../../../model/one-line.ts';
import type { Certificates } from '../../../system/certificate.ts';
import { type HttpClient, type HttpResponse, type NoResponse, openHttpClient } from '../../../system/http.ts';
import { StoreError } from './store.ts';

export type EtcdConfig = Omit<EtcdReservationsConfig, 'store' | 'leaseSeconds'>;

type EtcdAccount = { user: string; password: string };

type EtcdRequest<T> = {
  path: string;
  body: object;
  schema: z.ZodType<T>;
  /** If false, the request is repeated only if it was certainly not executed. */
  isRepeatable: boolean;
  ifLeaseIsGone?: T;
};

type EtcdResponse<T> =
  | { kind: 'ok'; value: T }
  /** A new login helps. Nothing was done. */
  | { kind: 'stale-token' }
  /** Another endpoint would refuse it, too. Nothing was done. */
  | { kind: 'refused'; message: string; isLeaseGone: boolean }
  | EndpointFailure;

/** Another endpoint may respond. */
type EndpointFailure = {
  kind: 'failed';
  why: string;
  /** Waiting does not help. */
  isPermanent: boolean;
  /** The request may have been executed. */
  maybeDone: boolean;
};

/** Reports a change that may have been made. */
export class UnconfirmedError extends StoreError {}

/** Seconds until a repeatable request tries the next endpoint; `again` applies after all have failed, for slow ones. */
const responseSeconds = { repeatable: 2, again: 5, single: 5 };
/** After this time, no endpoint is tried again. */
const giveUpSeconds = 10;
/** Between requests, once all endpoints have failed. */
const pauseSeconds = 0.1;

/** Makes a member without a leader fail at once; streams would wait for a leader. */
const requireLeader = { 'grpc-metadata-hasleader': 'true' };

/** Exceeds all reservations of a lab. */
const maxResponseBytes = 16 * 1024 ** 2;

export class EtcdGateway {
  readonly #config: EtcdConfig;
  readonly #http: HttpClient;
  readonly #account: EtcdAccount | undefined;
  readonly #now: () => number;
  readonly #streams = new Map<AbortController, string>();
  #preferred: string;
  #token: string | undefined;
  #isClosed = false;

  constructor(config: EtcdConfig, http: HttpClient, account: EtcdAccount | undefined, now: () => number) {
    this.#config = config;
    this.#http = http;
    this.#account = account;
    this.#now = now;
    this.#preferred = config.endpoints[0] ?? '';
  }

  /** Throws a StoreError, or an UnconfirmedError if a request that is not repeatable may have been executed. */
  async send<T>(request: EtcdRequest<T>): Promise<T> {
    const { endpoints, user, prefix } = this.#config;
    const failures = new Map<string, EndpointFailure>();
    const until = this.#now() + giveUpSeconds;
    for (let endpoint = this.#preferred; ; endpoint = this.#moveOn(endpoint)) {
      if (this.#isClosed) throw new StoreError('The connection to etcd is closed.');
      const isAgain = failures.size === endpoints.length;
      const response = await this.#sendTo(endpoint, request, isAgain);
      if (response.kind === 'ok') return response.value;
      if (response.kind === 'refused') {
        const { isLeaseGone, message } = response;
        if (isLeaseGone && request.ifLeaseIsGone !== undefined) return request.ifLeaseIsGone;
        const who = `${user === undefined ? 'no user' : `the user ${user}`} and the prefix ${prefix}`;
        throw new StoreError(`etcd at ${endpoint} refuses a request with ${who}: ${shortened(message)}.`);
      }
      failures.set(endpoint, response);
      if (response.maybeDone && !request.isRepeatable) {
        this.#moveOn(endpoint);
        throw new UnconfirmedError(
          `etcd did not confirm a change (${endpoint}: ${response.why}), which may nevertheless have been made; check the reservations before you repeat it.`,
        );
      }
      if (failures.size < endpoints.length) continue;
      if (this.#now() >= until || failures.values().every(({ isPermanent }) => isPermanent)) {
        const all = [...failures].map(([each, { why }]) => `${each}: ${why}`).join('; ');
        throw new StoreError(`etcd cannot be used (${all}).`);
      }
      await wait(pauseSeconds * 1000);
    }
  }

  /** Passes on the lines of a streamed response until it ends. Never rejects. */
  async follow(
    path: string,
    body: object,
    { onLine, signal }: { onLine(line: string): void; signal: AbortSignal },
  ): Promise<void> {
    const endpoint = this.#preferred;
    const stream = new AbortController();
    this.#streams.set(stream, endpoint);
    if ((await this.#logIn(endpoint, false)) === undefined) {
      await this.#http.send(new URL(path, endpoint), {
        method: 'POST',
        headers: this.#headers(),
        body: JSON.stringify(body),
        answerSeconds: responseSeconds.repeatable,
        maxBytes: maxResponseBytes,
        onLine,
        signal: AbortSignal.any([signal, stream.signal]),
      });
    }
    this.#streams.delete(stream);
    if (!signal.aborted) this.#moveOn(endpoint);
  }

  close(): void {
    this.#isClosed = true;
    this.#http.close();
  }

  async #sendTo<T>(
    endpoint: string,
    request: EtcdRequest<T>,
    isAgain: boolean,
  ): Promise<Exclude<EtcdResponse<T>, { kind: 'stale-token' }>> {
    for (let attempt = 1; ; attempt += 1) {
      const response = (await this.#logIn(endpoint, isAgain)) ?? (await this.#post(endpoint, request, isAgain));
      if (response.kind !== 'stale-token') return response;
      this.#token = undefined;
      if (attempt === 2) return failed('it does not accept the token that etcd issued');
    }
  }

  /** Returns undefined after success, and if no login is needed. */
  async #logIn(endpoint: string, isAgain: boolean): Promise<Exclude<EtcdResponse<never>, { kind: 'ok' }> | undefined> {
    if (this.#account === undefined || this.#token !== undefined) return undefined;
    const login = {
      path: '/v3/auth/authenticate',
      body: { name: this.#account.user, password: this.#account.password },
      schema: z.object({ token: bounded.word }),
      isRepeatable: true,
    };
    const response = await this.#post(endpoint, login, isAgain);
    if (response.kind === 'failed') return { ...response, maybeDone: false };
    if (response.kind !== 'ok') return response;
    this.#token = response.value.token;
    return undefined;
  }

  async #post<T>(
    endpoint: string,
    { path, body, schema, isRepeatable }: EtcdRequest<T>,
    isAgain: boolean,
  ): Promise<EtcdResponse<T>> {
    const repeatable = isAgain ? responseSeconds.again : responseSeconds.repeatable;
    const url = new URL(path, endpoint);
    const response = await this.#http.send(url, {
      method: 'POST',
      headers: this.#headers(),
      body: JSON.stringify(body),
      answerSeconds: isRepeatable ? repeatable : responseSeconds.single,
      maxBytes: maxResponseBytes,
    });
    const secrets = [this.#account?.password, this.#token].filter((secret) => secret !== undefined);
    return readResponse(url, response, schema, secrets);
  }

  #headers(): Record<string, string> {
    return {
      ...requireLeader,
      'content-type': 'application/json',
      ...(this.#token !== undefined && { authorization: this.#token }),
    };
  }

  /** Prefers the endpoint after this one, and aborts streams from this one, which may never notice. */
  #moveOn(endpoint: string): string {
    const { endpoints } = this.#config;
    const next = endpoints[(endpoints.indexOf(endpoint) + 1) % endpoints.length] ?? endpoint;
    if (this.#preferred === endpoint) this.#preferred = next;
    for (const [stream, from] of this.#streams) if (from === endpoint) stream.abort();
    return next;
  }
}

/** Reads the files that the configuration names. Throws a StoreError or a UsageError with the path. */
export async function openGateway(config: EtcdConfig, now: () => number): Promise<EtcdGateway> {
  const { user, passwordPath: path } = config;
  const http = openHttpClient(await readCertificates(config));
  const hasLogin = user !== undefined && path !== undefined;
  const account = hasLogin ? { user, password: await readSecret({ what: 'The password of etcd', path }) } : undefined;
  return new EtcdGateway(config, http, account, now);
}

async function readCertificates({ caPath, certificatePath, keyPath }: EtcdConfig): Promise<Certificates> {
  try {
    const ca = caPath === undefined ? {} : { ca: await readFile(caPath, 'utf8') };
    const cert = certificatePath === undefined ? {} : { cert: await readFile(certificatePath, 'utf8') };
    const key = keyPath === undefined ? {} : { key: await readGuarded(keyPath) };
    // Node ignores invalid authorities, and would trust no server.
    if (ca.ca !== undefined) new X509Certificate(ca.ca);
    createSecureContext({ ...cert, ...key });
    return { ...ca, ...cert, ...key };
  } catch (error) {
    const paths = [caPath, certificatePath, keyPath].filter((path) => path !== undefined).join(', ');
    throw new StoreError(`etcd cannot be used with ${paths}: ${reasonOf(error)}.`, { cause: error });
  }
}

const failed = (why: string, { isPermanent = false, maybeDone = false } = {}): EndpointFailure => ({
  kind: 'failed',
  why: shortened(why),
  isPermanent,
  maybeDone,
});

/** Removes secrets, which a response may echo. */
function readResponse<T>(
  url: URL,
  response: HttpResponse | NoResponse,
  schema: z.ZodType<T>,
  secrets: readonly string[],
): EtcdResponse<T> {
  if (response.kind === 'no-answer') return failureOf(url, response);
  const withoutSecrets = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  const { status, headers, body } = response;
  if (body === undefined) {
    return failed(`a response of more than ${maxResponseBytes} bytes`, { maybeDone: true });
  }
  const json = parseJson(body.toString());
  const error = errorDocument.safeParse(json);
  if (error.success) return errorOf(status, withoutSecrets(error.data.message));
  const value = schema.safeParse(json);
  if (status === 200 && value.success) return { kind: 'ok', value: value.data };
  const why = withoutSecrets(`it responds with ${status} ${headers.get('content-type') ?? ''}`);
  // A proxy may have given up waiting for etcd. Any other response is of another server than etcd.
  return status >= 500 ? failed(why, { maybeDone: true }) : failed(why, { isPermanent: true });
}

/** On streams, the message is within `error`. */
const errorStatus = z.object({ message: bounded.prose() });
const errorDocument = z.union([z.object({ error: errorStatus }).transform(({ error }) => error), errorStatus]);

function errorOf(status: number, message: string): Exclude<EtcdResponse<never>, { kind: 'ok' }> {
  const hasAny = (...texts: string[]) => texts.some((text) => message.includes(text));
  if (hasAny('invalid auth token', 'revision of auth store is old')) return { kind: 'stale-token' };
  if (hasAny('no leader', 'too many requests')) return failed(message);
  const isCanceled = status === 408;
  if ((status < 500 && !isCanceled) || hasAny('database space exceeded')) {
    return { kind: 'refused', message, isLeaseGone: hasAny('requested lease not found') };
  }
  return failed(message, { maybeDone: true });
}

function failureOf(url: URL, { code, why, lateSeconds, wasSent, distrust }: NoResponse): EndpointFailure {
  const isPermanent = true;
  if (distrust?.fault === 'name') {
    return failed(`its certificate is for ${distrust.names}, not for ${url.hostname}`, { isPermanent });
  }
  // Node appends advice after a semicolon.
  if (distrust !== undefined) {
    return failed(`its certificate is not trusted: ${distrust.reason.replace(/;.*/, '')}`, { isPermanent });
  }
  if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) {
    return failed("it refuses this client's certificate, or requires one", { isPermanent });
  }
  // The request cannot have reached etcd.
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') return failed(why);
  // etcd closes connections of the other protocol without a response.
  if (code === 'ECONNRESET' && (url.protocol === 'http:' || !wasSent)) {
    const other = url.protocol === 'http:' ? 'https' : 'plain http';
    return failed(`it closed the connection, as a server of ${other} does`, { maybeDone: wasSent });
  }
  return failed(lateSeconds === undefined ? why : `no response within ${lateSeconds} s`, { maybeDone: wasSent });
}
