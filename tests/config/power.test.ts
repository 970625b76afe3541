// The manual of a machine's `power` in ppsgate.yml.
import { expect, test } from 'vitest';
import { powerSchema } from '../../src/config/power.ts';

/** `key: message` of every problem. */
const problemsOf = (written: unknown): string[] =>
  powerSchema.safeParse(written).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

const ipmi = { kind: 'ipmi', host: 'bmc.lab', user: 'lab', passwordFile: '~/bmc' };
const url = 'https://bmc.lab/redfish/v1/Systems/1';
const redfish = { kind: 'redfish', url, user: 'lab', passwordFile: '~/bmc' };
const command = { kind: 'command', on: ['pdu', 'on', '4'], off: ['pdu', 'off'], state: ['pdu'] };

test('IPMI is at port 623 with cipher suite 3', () => {
  expect(powerSchema.parse(ipmi)).toEqual({
    kind: 'ipmi',
    host: 'bmc.lab',
    port: 623,
    user: 'lab',
    passwordPath: '~/bmc',
    cipherSuite: 3,
  });
});

test('Redfish is at the URL of a system, and trusts what Node does', () => {
  const plain = { kind: 'redfish', url, user: 'lab', passwordPath: '~/bmc' };
  expect(powerSchema.parse(redfish)).toEqual(plain);
});

test('a password is read from the environment if no file is named', () => {
  for (const { passwordFile: _, ...written } of [ipmi, redfish]) {
    expect(powerSchema.parse(written)).not.toHaveProperty('passwordPath');
  }
});

test('Redfish trusts an authority of the lab', () => {
  expect(powerSchema.parse({ ...redfish, ca: 'ca.pem' })).toMatchObject({ caPath: 'ca.pem' });
});

test('a certificate is pinned as openssl prints it, or without colons', () => {
  const sha256 = 'ab01'.repeat(16);
  const printed = 'AB:01:'.repeat(16).slice(0, -1);
  const pin = (certificateSha256: string) => powerSchema.parse({ ...redfish, certificateSha256 });
  expect(pin(sha256)).toMatchObject({ certificateSha256: sha256 });
  expect(pin(printed)).toMatchObject({ certificateSha256: sha256 });
});

test('commands are lists of words, and cycle may be left out', () => {
  expect(powerSchema.parse(command)).toEqual(command);
  const all = { ...command, cycle: ['pdu', 'cycle'] };
  expect(powerSchema.parse(all)).toEqual(all);
});

const notAUrl = 'expected a URL like https://bmc.lab/redfish/v1/Systems/1, found';

test.each([
  ['on', ': expected keys and values, found "on"'],
  [{}, 'kind: missing; expected one of redfish, ipmi, command'],
  [{ kind: 'ipmy' }, 'kind: expected one of redfish, ipmi, command, found "ipmy"; did you mean `ipmi`?'],
  [{ ...ipmi, password: 'x' }, /^password: unknown key `password`/],
  [{ ...ipmi, host: '-oX' }, /^host: expected a host name or an address/],
  [{ ...ipmi, port: 0 }, 'port: expected a whole number from 1 to 65535, found 0'],
  [{ ...ipmi, cipherSuite: 0 }, 'cipherSuite: expected a whole number from 1 to 17, found 0'],
  [{ ...ipmi, user: 'a:b' }, 'user: expected a user name, found "a:b"'],
  [{ ...redfish, url: 'http://bmc.lab/redfish' }, `url: ${notAUrl} "http://bmc.lab/redfish"`],
  [{ ...redfish, url: 'https://bmc.lab' }, `url: ${notAUrl} "https://bmc.lab"`],
  [{ ...redfish, url: 'https://a:b@bmc.lab/x' }, `url: ${notAUrl} "https://a:b@bmc.lab/x"`],
  [{ ...redfish, url: 'bmc.lab' }, `url: ${notAUrl} "bmc.lab"`],
  [
    { ...redfish, certificateSha256: 'ab:cd' },
    'certificateSha256: expected a SHA-256 fingerprint of 64 hexadecimal digits, found "ab:cd"',
  ],
  [
    { ...redfish, certificateSha256: 'ab01'.repeat(16), ca: 'ca.pem' },
    'ca: with `certificateSha256` no other certificate is trusted; leave one of the two out',
  ],
  [{ ...command, on: 'pdu on 4' }, 'on: expected a list of words like [pdu, off, "4"], found "pdu on 4"'],
  [{ ...command, off: [] }, 'off: expected a list of words like [pdu, off, "4"], found a list'],
  [{ ...command, on: ['pdu', 4] }, 'on.1: expected a word in quotes, found 4'],
  [{ ...command, state: undefined }, 'state: missing; expected a list of words like [pdu, off, "4"]'],
])('%j is refused', (written, problem) => {
  expect(problemsOf(written)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
});
