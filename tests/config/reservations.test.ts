// The manual of `reservations` in ppsgate.yml.
import { expect, test } from 'vitest';
import { reservationsSchema } from '../../src/config/reservations.ts';

/** `key: message` of every problem. */
const problemsOf = (written: unknown): string[] =>
  reservationsSchema.safeParse(written).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

const etcd = { store: 'etcd', endpoints: ['https://etcd1.lab:2379'] };

test('reservations are kept in a file at home, with leases of half a minute', () => {
  const plain = {
    store: 'sqlite',
    path: '~/.local/state/ppsgate/reservations.sqlite',
    leaseSeconds: 30,
  };
  expect(reservationsSchema.parse({})).toEqual(plain);
  expect(reservationsSchema.parse({ store: 'sqlite' })).toEqual(plain);
});

test('the file and the lease may be others', () => {
  const written = { file: '/srv/ppsgate/leases', lease: '2 min' };
  expect(reservationsSchema.parse(written)).toEqual({
    store: 'sqlite',
    path: '/srv/ppsgate/leases',
    leaseSeconds: 120,
  });
});

test('etcd needs no more than an endpoint', () => {
  expect(reservationsSchema.parse(etcd)).toEqual({
    store: 'etcd',
    endpoints: ['https://etcd1.lab:2379'],
    prefix: '/ppsgate/',
    leaseSeconds: 30,
  });
});

test('all of etcd may be written', () => {
  const written = {
    store: 'etcd',
    endpoints: ['https://etcd1.lab:2379/', 'https://[2001:db8::2]:2379'],
    prefix: '/labs/north/',
    ca: 'ca.pem',
    certificate: 'client.pem',
    key: 'client.key',
    user: 'ppsgate',
    passwordFile: '~/etcd',
    lease: '5 s',
  };
  expect(reservationsSchema.parse(written)).toEqual({
    store: 'etcd',
    endpoints: ['https://etcd1.lab:2379', 'https://[2001:db8::2]:2379'],
    prefix: '/labs/north/',
    caPath: 'ca.pem',
    certificatePath: 'client.pem',
    keyPath: 'client.key',
    user: 'ppsgate',
    passwordPath: '~/etcd',
    leaseSeconds: 5,
  });
});

const account = { user: 'ppsgate', passwordFile: '~/etcd' };

test.each(['http://localhost:2379', 'http://127.0.0.1:2379', 'http://[::1]:2379', 'https://etcd'])(
  'a password may go to %s',
  (endpoint) => {
    expect(problemsOf({ ...etcd, endpoints: [endpoint], ...account })).toEqual([]);
  },
);

test.each(['http://not-localhost:2379', 'http://localhost.lab:2379', 'http://127.0.0.1.lab:2379'])(
  'without a password %s is as good as any, with one it is refused',
  (endpoint) => {
    const endpoints = ['https://etcd1.lab:2379', endpoint];
    expect(problemsOf({ ...etcd, endpoints })).toEqual([]);
    expect(problemsOf({ ...etcd, endpoints, ...account })).toEqual([
      'endpoints.1: the password could be read on its way by http; expected https',
    ]);
  },
);

test('with a password, too, an endpoint that is no URL is refused as one', () => {
  expect(problemsOf({ ...etcd, endpoints: ['etcd1'], ...account })).toEqual([
    'endpoints.0: expected a URL of etcd like https://etcd1.lab:2379, found "etcd1"',
  ]);
});

const lease = 'lease: expected a whole number of seconds from 5 s to 10 min, found';
const endpoint = 'endpoints.0: expected a URL of etcd like https://etcd1.lab:2379, found';
const prefix = 'prefix: expected a prefix of keys that begins and ends with a slash like /ppsgate/';
const withEndpoint = (written: string) => ({ ...etcd, endpoints: [written] });

test.each([
  ['on', ': expected keys and values, found "on"'],
  [{ store: 'etdc' }, 'store: expected one of sqlite, etcd, found "etdc"; did you mean `etcd`?'],
  [{ place: 'x' }, 'place: unknown key `place`; known here: store, file, lease'],
  [{ file: '~alice/x' }, 'file: expected a path (of home folders only ~/ is known), found "~alice/x"'],
  [{ lease: 30 }, 'lease: expected a duration like 500 ms, 12 s, 2 min or 30 d, found 30'],
  [{ lease: '4 s' }, `${lease} "4 s"`],
  [{ lease: '11 min' }, `${lease} "11 min"`],
  [{ lease: '5500 ms' }, `${lease} "5500 ms"`],
  [{ ...etcd, lease: '4 s' }, `${lease} "4 s"`],
  [{ store: 'etcd' }, 'endpoints: missing; expected a list like [https://etcd1.lab:2379]'],
  [{ ...etcd, endpoints: [] }, 'endpoints: expected at least one endpoint, found an empty list'],
  [{ ...etcd, endpoints: ['https://a', 'https://a:443/'] }, 'endpoints: an endpoint is in this list twice'],
  [withEndpoint('etcd1.lab:2379'), `${endpoint} "etcd1.lab:2379"`],
  [withEndpoint('ftp://etcd1.lab'), `${endpoint} "ftp://etcd1.lab"`],
  [withEndpoint('https://etcd1.lab/v3'), `${endpoint} "https://etcd1.lab/v3"`],
  [withEndpoint('https://a:b@etcd1.lab'), `${endpoint} "https://a:b@etcd1.lab"`],
  [withEndpoint('https://etcd1.lab?a'), `${endpoint} "https://etcd1.lab?a"`],
  [withEndpoint('https://etcd1.lab#a'), `${endpoint} "https://etcd1.lab#a"`],
  [{ ...etcd, prefix: 'ppsgate/' }, `${prefix}, found "ppsgate/"`],
  [{ ...etcd, prefix: '/ppsgate' }, `${prefix}, found "/ppsgate"`],
  [{ ...etcd, user: 'a b', passwordFile: 'x' }, 'user: expected a user name, found "a b"'],
  [{ ...etcd, certificate: 'x' }, 'key: missing; `certificate` requires `key`'],
  [{ ...etcd, key: 'x' }, 'certificate: missing; `key` requires `certificate`'],
  [{ ...etcd, user: 'x' }, 'passwordFile: missing; `user` requires `passwordFile`'],
  [{ ...etcd, passwordFile: 'x' }, 'user: missing; `passwordFile` requires `user`'],
])('%j is refused', (written, problem) => {
  expect(problemsOf(written)).toEqual([problem]);
});
