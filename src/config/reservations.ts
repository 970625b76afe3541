// Parses `reservations` of ppsgate.yml: the store that records the users of testbeds.
import { z } from 'zod';
import { duration, expected, type QuantityLimit } from '../model/units.ts';
import { closed, path, text, wrongName } from './fields.ts';

export type ReservationsConfig = SqliteConfig | EtcdConfig;

type SqliteConfig = {
  store: 'sqlite';
  path: string;
  leaseSeconds: number;
};

export type EtcdConfig = {
  store: 'etcd';
  /** Members of one cluster, such as `https://etcd1.lab:2379`; at least one. */
  endpoints: string[];
  /** Prefix of all keys, with slashes at both ends. */
  prefix: string;
  /** PEM of the trusted authority. Absent: Node's authorities. */
  caPath?: string;
  /** PEM of the client's certificate; requires a key, and vice versa. */
  certificatePath?: string;
  keyPath?: string;
  /** Requires a password, and vice versa. */
  user?: string;
  passwordPath?: string;
  leaseSeconds: number;
};

const stores = ['sqlite', 'etcd'] as const;

const leaseLimit: QuantityLimit = {
  description: 'a whole number of seconds from 5 s to 10 min',
  holds: (seconds) => Number.isInteger(seconds) && seconds >= 5 && seconds <= 600,
};
const lease = duration(leaseLimit)
  .prefault('30 s')
  .describe('A holder that is silent for this long loses the testbed.');

const sqlite = closed({
  // Optional, without a default: zod detects the kind of a union by written keys only.
  store: z.literal('sqlite').optional().describe('A file, for all who use one machine.'),
  file: path.prefault('~/.local/state/ppsgate/reservations.sqlite'),
  lease,
}).transform(({ file, lease }): SqliteConfig => ({ store: 'sqlite', path: file, leaseSeconds: lease }));

const endpointUrl = { error: expected('a URL of etcd like https://etcd1.lab:2379') };

const endpoint = z
  .string(endpointUrl)
  .refine(isEndpoint, endpointUrl)
  .transform((written) => new URL(written).origin);

const endpoints = z
  .array(endpoint, { error: expected('a list like [https://etcd1.lab:2379]') })
  .min(1, 'expected at least one endpoint, found an empty list')
  .refine((list) => new Set(list).size === list.length, 'an endpoint is in this list twice');

const etcd = closed({
  store: z.literal('etcd').describe('A cluster, for those of several machines.'),
  endpoints: endpoints.describe('Members of one cluster.'),
  prefix: text(/^\/(?:[\w.-]+\/)*$/, 'a prefix of keys that begins and ends with a slash like /ppsgate/')
    .prefault('/ppsgate/')
    .describe('Prefix of all keys.'),
  ca: path.optional().describe('PEM of the trusted authority; left out, those that Node knows.'),
  certificate: path.optional().describe("The client's, with its key."),
  key: path.optional().describe("The key of the client's certificate."),
  user: text(/^[^\p{C}\s]{1,64}$/u, 'a user name')
    .optional()
    .describe('The user of etcd; requires `passwordFile`.'),
  passwordFile: path.optional(),
  lease,
})
  .superRefine((written, { addIssue }) => {
    for (const { path, message } of lacks(written)) addIssue({ code: 'custom', path, message });
  })
  .transform(
    ({ ca, certificate, key, user, passwordFile, lease, ...rest }): EtcdConfig => ({
      ...rest,
      ...(ca !== undefined && { caPath: ca }),
      ...(certificate !== undefined && { certificatePath: certificate }),
      ...(key !== undefined && { keyPath: key }),
      ...(user !== undefined && { user }),
      ...(passwordFile !== undefined && { passwordPath: passwordFile }),
      leaseSeconds: lease,
    }),
  );

export const reservationsSchema = z.discriminatedUnion('store', [sqlite, etcd], {
  error: wrongStore,
}) satisfies z.ZodType<ReservationsConfig>;

function isEndpoint(written: string): boolean {
  const url = URL.parse(written);
  const extras = [url?.username, url?.password, url?.search, url?.hash].join('');
  return /^https?:$/.test(url?.protocol ?? '') && extras === '' && url?.pathname === '/';
}

type WrittenEtcd = {
  endpoints: string[];
  certificate?: string | undefined;
  key?: string | undefined;
  user?: string | undefined;
  passwordFile?: string | undefined;
};

type KeyProblem = { path: (string | number)[]; message: string };

function lacks({ endpoints, certificate, key, user, passwordFile }: WrittenEtcd): KeyProblem[] {
  const pairs = [
    { name: 'certificate', value: certificate, other: 'key', otherValue: key },
    { name: 'key', value: key, other: 'certificate', otherValue: certificate },
    { name: 'user', value: user, other: 'passwordFile', otherValue: passwordFile },
    { name: 'passwordFile', value: passwordFile, other: 'user', otherValue: user },
  ];
  const halves = pairs
    .filter(({ value, otherValue }) => value !== undefined && otherValue === undefined)
    .map(({ name, other }) => ({
      path: [other],
      message: `missing; \`${name}\` requires \`${other}\``,
    }));
  const readable = passwordFile === undefined ? [] : endpoints.flatMap(readableOnItsWay);
  return [...halves, ...readable];
}

function readableOnItsWay(endpoint: string, index: number): KeyProblem[] {
  const url = URL.parse(endpoint);
  // An invalid URL has its own problem already.
  if (url === null || url.protocol === 'https:' || isLoopback(url.hostname)) return [];
  const message = 'the password could be read on its way by http; expected https';
  return [{ path: ['endpoints', index], message }];
}

/** URL normalizes hosts: `127.1` and `0x7f000001` are equal. */
const isLoopback = (hostname: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

function wrongStore({ code, input }: z.core.$ZodRawIssue): string {
  if (code !== 'invalid_union') return expected('keys and values')({ input });
  return wrongName(stores)({ input: (input as { store?: unknown }).store });
}
