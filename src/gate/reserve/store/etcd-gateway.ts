// Asks an etcd cluster through the JSON gateway of whichever member answers.
import { setTimeout as wait } from 'node:timers/promises';
import type { z } from 'zod';
import { openHttpClient } from '../../../system/http.ts';
import { type EtcdConfig, readAccount, readCertificates } from './etcd-files.ts';
import {
  type EtcdAnswer,
  type Failure,
  failureSentence,
  isLasting,
  mostBytes,
  readAnswer,
  refusalSentence,
  unconfirmedSentence,
} from './etcd-response.ts';
import { authenticated } from './etcd-schema.ts';
import { StoreError } from './store.ts';

export type Gateway = {
  /** Throws a StoreError: an UnconfirmedError where what may not be done twice was perhaps done. */
  ask<T>(question: Question<T>): Promise<T>;
  /** Hands on the lines of an endless answer until it ends after all; never rejects. */
  follow(path: string, body: object, stream: Stream): Promise<void>;
  close(): void;
};

export type Question<T> = {
  path: string;
  body: object;
  answer: z.ZodType<T>;
  /** Whether it may be done twice. If not, it is asked again only where it was surely not done. */
  isRepeatable: boolean;
  ifLeaseIsGone?: T;
};

export type Stream = { onLine(line: string): void; signal: AbortSignal };

export class UnconfirmedError extends StoreError {}

/**
 * How long one endpoint has for an answer: others may be faster where nothing is lost by asking them. Once all have failed it
 * has longer, or slow ones would never be heard.
 */
const answerSeconds = { repeatable: 2, again: 5, single: 5 };
/** After this no further endpoint is asked, unless one was not asked at all. */
const patienceSeconds = 10;
/** Between questions once all endpoints have failed. */
const pauseSeconds = 0.1;

// A member that knows no leader says so at once, also on streams, where it would else wait for one.
const onlyWithLeader = { 'grpc-metadata-hasleader': 'true' };

export async function openGateway(config: EtcdConfig, now: () => number): Promise<Gateway> {
  const { endpoints, user, prefix } = config;
  const http = openHttpClient(await readCertificates(config));
  const account = await readAccount(config);
  const streams = new Map<AbortController, string>();
  let [preferred = ''] = endpoints;
  let token: string | undefined;
  let isClosed = false;

  async function ask<T>(question: Question<T>): Promise<T> {
    const { isRepeatable, ifLeaseIsGone } = question;
    const failures = new Map<string, Failure>();
    const until = now() + patienceSeconds;
    for (let endpoint = preferred; ; endpoint = moveOn(endpoint)) {
      if (isClosed) throw new StoreError('etcd was asked over a connection that is closed.');
      const isAgain = failures.size === endpoints.length;
      const answer = await askAt(endpoint, question, isAgain);
      if (answer.kind === 'said') return answer.value;
      if (answer.kind === 'refused') {
        if (answer.isLeaseGone && ifLeaseIsGone !== undefined) return ifLeaseIsGone;
        throw new StoreError(refusalSentence(endpoint, answer.message, { user, prefix }));
      }
      failures.set(endpoint, answer);
      if (answer.maybeDone && !isRepeatable) {
        moveOn(endpoint);
        throw new UnconfirmedError(unconfirmedSentence(endpoint, answer));
      }
      if (failures.size < endpoints.length) continue;
      if (now() >= until || failures.values().every(isLasting)) {
        throw new StoreError(failureSentence(failures));
      }
      await wait(pauseSeconds * 1000);
    }
  }

  async function askAt<T>(
    endpoint: string,
    question: Question<T>,
    isAgain: boolean,
  ): Promise<Exclude<EtcdAnswer<T>, { kind: 'stale-token' }>> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = (await logIn(endpoint, isAgain)) ?? (await post(endpoint, question, isAgain));
      if (answer.kind !== 'stale-token') return answer;
      token = undefined;
      const why = 'it does not know the token that etcd gave out';
      if (attempt === 2) return { kind: 'failed', problem: 'slow', why, maybeDone: false };
    }
  }

  /** Undefined where it went well, or there is nothing to say. */
  async function logIn(
    endpoint: string,
    isAgain: boolean,
  ): Promise<Exclude<EtcdAnswer<never>, { kind: 'said' }> | undefined> {
    if (account === undefined || token !== undefined) return undefined;
    const login = {
      path: '/v3/auth/authenticate',
      body: { name: account.user, password: account.password },
      answer: authenticated,
      isRepeatable: true,
    };
    const answer = await post(endpoint, login, isAgain);
    if (answer.kind === 'failed') return { ...answer, maybeDone: false };
    if (answer.kind !== 'said') return answer;
    token = answer.value.token;
    return undefined;
  }

  async function post<T>(
    endpoint: string,
    question: Question<T>,
    isAgain: boolean,
  ): Promise<EtcdAnswer<T>> {
    const { path, body, answer, isRepeatable } = question;
    const repeatable = isAgain ? answerSeconds.again : answerSeconds.repeatable;
    const url = new URL(path, endpoint);
    const reply = await http.send(url, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify(body),
      answerSeconds: isRepeatable ? repeatable : answerSeconds.single,
      mostBytes,
    });
    const secrets = [account?.password, token].filter((secret) => secret !== undefined);
    return readAnswer(url, reply, answer, secrets);
  }

  const headers = () => ({
    ...onlyWithLeader,
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: token }),
  });

  /** Goes over to the endpoint after that one; streams that are there go along, for they may never notice. */
  function moveOn(endpoint: string): string {
    const next = endpoints[(endpoints.indexOf(endpoint) + 1) % endpoints.length] ?? endpoint;
    if (preferred === endpoint) preferred = next;
    for (const [stream, place] of streams) if (place === endpoint) stream.abort();
    return next;
  }

  async function follow(path: string, body: object, { onLine, signal }: Stream): Promise<void> {
    const endpoint = preferred;
    const stream = new AbortController();
    streams.set(stream, endpoint);
    if ((await logIn(endpoint, false)) === undefined) {
      await http.send(new URL(path, endpoint), {
        method: 'POST',
        headers: headers(),
        body: JSON.stringify(body),
        answerSeconds: answerSeconds.repeatable,
        mostBytes,
        onLine,
        signal: AbortSignal.any([signal, stream.signal]),
      });
    }
    streams.delete(stream);
    if (!signal.aborted) moveOn(endpoint);
  }

  return {
    ask,
    follow,
    close() {
      isClosed = true;
      http.close();
    },
  };
}
