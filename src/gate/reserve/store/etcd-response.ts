// Reads what etcd's JSON gateway answered, or why there is no answer, and says it to people.

import { z } from 'zod';
import { parseJson } from '../../../model/json.ts';
import { shortened } from '../../../model/one-line.ts';
import type { HttpResponse, NoResponse } from '../../../system/http.ts';

export type EtcdAnswer<T> =
  | { kind: 'said'; value: T }
  /** Whoever has a password can get a new token; nothing was done. */
  | { kind: 'stale-token' }
  /** Another endpoint would refuse it too; nothing was done. */
  | { kind: 'refused'; message: string; isLeaseGone: boolean }
  | Failure;

/** This endpoint did not answer, others may. */
export type Failure = {
  kind: 'failed';
  problem: Problem;
  why: string;
  /** Whether what was asked for may have been done. */
  maybeDone: boolean;
};

/** Far more than all reservations of a lab. */
export const mostBytes = 16 * 1024 ** 2;

/** Whoever answers may send back what it was sent: no secret gets into what is said to people. */
export function readAnswer<T>(
  url: URL,
  reply: HttpResponse | NoResponse,
  schema: z.ZodType<T>,
  secrets: readonly string[],
): EtcdAnswer<T> {
  if (reply.kind === 'no-answer') return unanswered(url, reply);
  const withoutSecrets = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  const { status, headers, body } = reply;
  if (body === undefined) {
    const why = `more than ${mostBytes} bytes in an answer`;
    return { kind: 'failed', problem: 'slow', why, maybeDone: true };
  }
  const json = parseJson(body.toString());
  const error = errorDocument.safeParse(json);
  if (error.success) return errorOf(status, withoutSecrets(error.data.message));
  const value = schema.safeParse(json);
  if (status === 200 && value.success) return { kind: 'said', value: value.data };
  const why = shortened(
    withoutSecrets(`it answers ${status} ${headers.get('content-type') ?? ''}`),
  );
  // Between us and etcd there may be a proxy that has waited for it.
  if (status >= 500) return { kind: 'failed', problem: 'slow', why, maybeDone: true };
  return { kind: 'failed', problem: 'not etcd', why, maybeDone: false };
}

const errorStatus = z.object({ message: z.string() });

/** A message of etcd's about an error, which on streams is within `error`. */
const errorDocument = z.union([
  z.object({ error: errorStatus }).transform(({ error }) => error),
  errorStatus,
]);

function errorOf(status: number, message: string): Exclude<EtcdAnswer<never>, { kind: 'said' }> {
  const says = (...texts: string[]) => texts.some((text) => message.includes(text));
  if (says('invalid auth token', 'revision of auth store is old')) return { kind: 'stale-token' };
  const why = shortened(message);
  if (says('no leader')) return { kind: 'failed', problem: 'no leader', why, maybeDone: false };
  if (says('too many requests')) return { kind: 'failed', problem: 'slow', why, maybeDone: false };
  const isCanceled = status === 408;
  if ((status < 500 && !isCanceled) || says('database space exceeded')) {
    return { kind: 'refused', message, isLeaseGone: says('requested lease not found') };
  }
  return { kind: 'failed', problem: 'slow', why, maybeDone: true };
}

function unanswered(url: URL, reply: NoResponse): Failure {
  const { code, lateSeconds, wasSent, distrust } = reply;
  const why = lateSeconds === undefined ? reply.why : `no answer within ${lateSeconds} s`;
  const failed = (problem: Problem, reason: string, maybeDone = false): Failure => ({
    kind: 'failed',
    problem,
    why: shortened(reason),
    maybeDone,
  });
  if (distrust?.fault === 'name') {
    return failed('wrong name', `it is for ${distrust.names}, not for ${url.hostname}`);
  }
  // Node's advice follows a semicolon.
  if (distrust !== undefined) return failed('untrusted', distrust.reason.replace(/;.*/, ''));
  if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) {
    return failed('unwelcome', 'it refuses the certificate of this client, or that there is none');
  }
  if (code === 'ECONNREFUSED') return failed('unreachable', 'connection refused');
  if (code === 'ENOTFOUND') return failed('unreachable', 'no such host name');
  // etcd hangs up without a word on who takes its https for http, and the other way round.
  if (code === 'ECONNRESET' && (url.protocol === 'http:' || !wasSent)) {
    const other = url.protocol === 'http:' ? 'https' : 'plain http';
    return failed('unreachable', `it hung up, as one does that speaks ${other}`, wasSent);
  }
  return failed(wasSent ? 'slow' : 'unreachable', why, wasSent);
}

type Problem = keyof typeof problems;

/** The most telling first; a lasting one does not go away by itself. */
const problems = {
  'no leader': {
    says: 'etcd has no leader: more than half of its members have to run and reach each other',
    advice: 'start or connect the others',
    isLasting: false,
  },
  'wrong name': {
    says: "etcd's certificate is for another host name",
    advice:
      'write a name of the certificate in `endpoints`, or give that member a certificate for this one',
    isLasting: true,
  },
  untrusted: {
    says: "etcd's certificate is not trusted",
    advice: 'set `ca` to the PEM of the authority that signed it, or have it renewed',
    isLasting: true,
  },
  unwelcome: {
    says: 'etcd does not let this client in',
    advice:
      'set `certificate` and `key` to a pair signed by the authority that etcd has as --trusted-ca-file',
    isLasting: true,
  },
  'not etcd': {
    says: 'etcd cannot be used, something else answers',
    advice: 'check `endpoints`, and that the JSON gateway of etcd is on (--enable-grpc-gateway)',
    isLasting: true,
  },
  slow: {
    says: 'etcd did not do what was asked',
    advice: 'check the load and the log of its members, and the network between them',
    isLasting: false,
  },
  unreachable: {
    says: 'etcd cannot be reached',
    advice: 'check that it runs, `endpoints` (http or https, name, port), and the network to there',
    isLasting: false,
  },
} as const;

export const isLasting = ({ problem }: Failure): boolean => problems[problem].isLasting;

/** A sentence for people, of the last failure of each endpoint. */
export function failureSentence(failures: ReadonlyMap<string, Failure>): string {
  const all = [...failures].map(([endpoint, { why }]) => `${endpoint}: ${why}`).join('; ');
  const met = new Set(failures.values().map(({ problem }) => problem));
  const worst = (Object.keys(problems) as Problem[]).find((problem) => met.has(problem));
  const { says, advice } = problems[worst ?? 'unreachable'];
  return `${says} (${all}); ${advice}.`;
}

export const unconfirmedSentence = (endpoint: string, { why }: Failure): string =>
  `etcd did not confirm a change (${endpoint}: ${why}), which may have been made all the same; look at the reservations before it is made again.`;

/** A sentence for people. `user` is undefined for one who has not said a name. */
export function refusalSentence(
  endpoint: string,
  message: string,
  { user, prefix }: { user: string | undefined; prefix: string },
): string {
  const who = user === undefined ? 'one without a name' : `the user ${user}`;
  const [, says = 'refuses a request', advice = 'check its version (3.4 or later) and its log'] =
    refusals(who, prefix).find(([part]) => message.includes(part)) ?? [];
  return `etcd at ${endpoint} ${says} (${shortened(message)}); ${advice}.`;
}

const refusals = (who: string, prefix: string): [part: string, says: string, advice: string][] => [
  [
    'authentication failed',
    `does not let ${who} in`,
    'correct `user`, or the password in `passwordFile`',
  ],
  ['user name is empty', 'asks for a user', 'set `user` and `passwordFile`'],
  [
    'permission denied',
    `does not let ${who} read and write what begins with ${prefix}`,
    `allow it there: etcdctl role grant-permission ROLE --prefix=true readwrite ${prefix}`,
  ],
  [
    'authentication is not enabled',
    'asks nobody for a password',
    'turn that on there (etcdctl auth enable), or leave out `user` and `passwordFile`',
  ],
  [
    'database space exceeded',
    'is full',
    'compact and defragment it, then disarm the alarm: etcdctl compact, defrag, alarm disarm',
  ],
];
