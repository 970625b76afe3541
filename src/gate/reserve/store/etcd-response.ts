// Reads responses of etcd's JSON gateway, and explains failures.
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';
import { parseJson } from '../../../model/json.ts';
import { shortened } from '../../../model/one-line.ts';
import type { HttpResponse, NoResponse } from '../../../system/http.ts';

export type EtcdResponse<T> =
  | { kind: 'ok'; value: T }
  /** A new login helps. Nothing was done. */
  | { kind: 'stale-token' }
  /** Another endpoint would refuse it, too. Nothing was done. */
  | { kind: 'refused'; message: string; isLeaseGone: boolean }
  | EndpointFailure;

/** Another endpoint may respond. */
export type EndpointFailure = {
  kind: 'failed';
  problem: EndpointProblem;
  why: string;
  /** The request may have been executed. */
  maybeDone: boolean;
};

/** Exceeds all reservations of a lab. */
export const maxResponseBytes = 16 * 1024 ** 2;

/** Removes secrets, which a response may echo. */
export function readResponse<T>(
  url: URL,
  response: HttpResponse | NoResponse,
  schema: z.ZodType<T>,
  secrets: readonly string[],
): EtcdResponse<T> {
  if (response.kind === 'no-answer') return failureOf(url, response);
  const withoutSecrets = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  const { status, headers, body } = response;
  if (body === undefined) {
    const why = `a response of more than ${maxResponseBytes} bytes`;
    return { kind: 'failed', problem: 'slow', why, maybeDone: true };
  }
  const json = parseJson(body.toString());
  const error = errorDocument.safeParse(json);
  if (error.success) return errorOf(status, withoutSecrets(error.data.message));
  const value = schema.safeParse(json);
  if (status === 200 && value.success) return { kind: 'ok', value: value.data };
  const why = shortened(withoutSecrets(`it responds with ${status} ${headers.get('content-type') ?? ''}`));
  // A proxy may have given up waiting for etcd.
  if (status >= 500) return { kind: 'failed', problem: 'slow', why, maybeDone: true };
  return { kind: 'failed', problem: 'not etcd', why, maybeDone: false };
}

const errorStatus = z.object({ message: bounded.prose() });

/** On streams, the message is within `error`. */
const errorDocument = z.union([z.object({ error: errorStatus }).transform(({ error }) => error), errorStatus]);

function errorOf(status: number, message: string): Exclude<EtcdResponse<never>, { kind: 'ok' }> {
  const hasAny = (...texts: string[]) => texts.some((text) => message.includes(text));
  if (hasAny('invalid auth token', 'revision of auth store is old')) return { kind: 'stale-token' };
  const why = shortened(message);
  if (hasAny('no leader')) return { kind: 'failed', problem: 'no leader', why, maybeDone: false };
  if (hasAny('too many requests')) return { kind: 'failed', problem: 'slow', why, maybeDone: false };
  const isCanceled = status === 408;
  if ((status < 500 && !isCanceled) || hasAny('database space exceeded')) {
    return { kind: 'refused', message, isLeaseGone: hasAny('requested lease not found') };
  }
  return { kind: 'failed', problem: 'slow', why, maybeDone: true };
}

function failureOf(url: URL, noResponse: NoResponse): EndpointFailure {
  const { code, lateSeconds, wasSent, distrust } = noResponse;
  const why = lateSeconds === undefined ? noResponse.why : `no response within ${lateSeconds} s`;
  const failed = (problem: EndpointProblem, reason: string, maybeDone = false): EndpointFailure => ({
    kind: 'failed',
    problem,
    why: shortened(reason),
    maybeDone,
  });
  if (distrust?.fault === 'name') {
    return failed('wrong name', `it is for ${distrust.names}, not for ${url.hostname}`);
  }
  // Node appends advice after a semicolon.
  if (distrust !== undefined) return failed('untrusted', distrust.reason.replace(/;.*/, ''));
  if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) {
    return failed('unwelcome', "it refuses this client's certificate, or requires one");
  }
  if (code === 'ECONNREFUSED') return failed('unreachable', 'connection refused');
  if (code === 'ENOTFOUND') return failed('unreachable', 'no such host name');
  // etcd closes connections of the other protocol without a response.
  if (code === 'ECONNRESET' && (url.protocol === 'http:' || !wasSent)) {
    const other = url.protocol === 'http:' ? 'https' : 'plain http';
    return failed('unreachable', `it closed the connection, as a server of ${other} does`, wasSent);
  }
  return failed(wasSent ? 'slow' : 'unreachable', why, wasSent);
}

type EndpointProblem = keyof typeof problems;

/** Most specific first. A permanent one needs a fix. */
const problems = {
  'no leader': {
    summary: 'etcd has no leader: more than half of its members must run and reach each other',
    advice: 'start or reconnect the others',
    isPermanent: false,
  },
  'wrong name': {
    summary: "etcd's certificate is for another host name",
    advice: 'use a name of the certificate in `endpoints`, or issue that member a certificate for this name',
    isPermanent: true,
  },
  untrusted: {
    summary: "etcd's certificate is not trusted",
    advice: 'set `ca` to the PEM of the authority that signed it, or renew the certificate',
    isPermanent: true,
  },
  unwelcome: {
    summary: 'etcd refuses this client',
    advice: "set `certificate` and `key` to a pair signed by the authority in etcd's --trusted-ca-file",
    isPermanent: true,
  },
  'not etcd': {
    summary: 'etcd cannot be used: another server responds',
    advice: 'check `endpoints`, and that the JSON gateway of etcd is on (--enable-grpc-gateway)',
    isPermanent: true,
  },
  slow: {
    summary: 'etcd did not execute the request',
    advice: 'check the load and the log of its members, and the network between them',
    isPermanent: false,
  },
  unreachable: {
    summary: 'etcd cannot be reached',
    advice: 'check that it runs, `endpoints` (http or https, name, port), and the network to it',
    isPermanent: false,
  },
} as const;

export const isPermanent = ({ problem }: EndpointFailure): boolean => problems[problem].isPermanent;

/** `failures` has the last one of each endpoint. */
export function failureSentence(failures: ReadonlyMap<string, EndpointFailure>): string {
  const all = [...failures].map(([endpoint, { why }]) => `${endpoint}: ${why}`).join('; ');
  const occurred = new Set(failures.values().map(({ problem }) => problem));
  const worst = (Object.keys(problems) as EndpointProblem[]).find((problem) => occurred.has(problem));
  const { summary, advice } = problems[worst ?? 'unreachable'];
  return `${summary} (${all}); ${advice}.`;
}

export const unconfirmedSentence = (endpoint: string, { why }: EndpointFailure): string =>
  `etcd did not confirm a change (${endpoint}: ${why}), which may nevertheless have been made; check the reservations before you repeat it.`;

/** `user` is undefined without a login. */
export function refusalSentence(
  endpoint: string,
  message: string,
  { user, prefix }: { user: string | undefined; prefix: string },
): string {
  const who = user === undefined ? 'one without a name' : `the user ${user}`;
  const [, summary = 'refuses a request', advice = 'check its version (3.4 or later) and its log'] =
    refusals(who, prefix).find(([part]) => message.includes(part)) ?? [];
  return `etcd at ${endpoint} ${summary} (${shortened(message)}); ${advice}.`;
}

const refusals = (who: string, prefix: string): [part: string, summary: string, advice: string][] => [
  ['authentication failed', `refuses the login of ${who}`, 'correct `user`, or the password in `passwordFile`'],
  ['user name is empty', 'requires a user', 'set `user` and `passwordFile`'],
  [
    'permission denied',
    `does not let ${who} read and write keys that begin with ${prefix}`,
    `allow it with: etcdctl role grant-permission ROLE --prefix=true readwrite ${prefix}`,
  ],
  [
    'authentication is not enabled',
    'does not require passwords',
    'enable authentication (etcdctl auth enable), or remove `user` and `passwordFile`',
  ],
  [
    'database space exceeded',
    'is full',
    'compact and defragment it, then disarm the alarm: etcdctl compact, defrag, alarm disarm',
  ],
];
