// Sends requests to an etcd cluster through the JSON gateway of the first member that responds.
import { setTimeout as wait } from 'node:timers/promises';
import type { z } from 'zod';
import { type HttpClient, openHttpClient } from '../../../system/http.ts';
import { type EtcdAccount, type EtcdConfig, readAccount, readCertificates } from './etcd-files.ts';
import {
  type EndpointFailure,
  type EtcdResponse,
  failureSentence,
  isPermanent,
  maxResponseBytes,
  readResponse,
  refusalSentence,
  unconfirmedSentence,
} from './etcd-response.ts';
import { loginSchema } from './etcd-schema.ts';
import { StoreError } from './store.ts';

type EtcdRequest<T> = {
  path: string;
  body: object;
  schema: z.ZodType<T>;
  /** If false, the request is repeated only if it was certainly not executed. */
  isRepeatable: boolean;
  ifLeaseIsGone?: T;
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
        throw new StoreError(refusalSentence(endpoint, message, { user, prefix }));
      }
      failures.set(endpoint, response);
      if (response.maybeDone && !request.isRepeatable) {
        this.#moveOn(endpoint);
        throw new UnconfirmedError(unconfirmedSentence(endpoint, response));
      }
      if (failures.size < endpoints.length) continue;
      if (this.#now() >= until || failures.values().every(isPermanent)) {
        throw new StoreError(failureSentence(failures));
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
      const why = 'it does not accept the token that etcd issued';
      if (attempt === 2) return { kind: 'failed', problem: 'slow', why, maybeDone: false };
    }
  }

  /** Returns undefined after success, and if no login is needed. */
  async #logIn(endpoint: string, isAgain: boolean): Promise<Exclude<EtcdResponse<never>, { kind: 'ok' }> | undefined> {
    if (this.#account === undefined || this.#token !== undefined) return undefined;
    const login = {
      path: '/v3/auth/authenticate',
      body: { name: this.#account.user, password: this.#account.password },
      schema: loginSchema,
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

export async function openGateway(config: EtcdConfig, now: () => number): Promise<EtcdGateway> {
  const http = openHttpClient(await readCertificates(config));
  return new EtcdGateway(config, http, await readAccount(config), now);
}
