// What is secret or personal about a testbed and this machine, before anything is recorded.
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { hostname, userInfo } from 'node:os';
import type { ConsoleConfig } from '../../config/console.ts';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { PowerConfig } from '../../lab/power/power.ts';
import type { Known } from './mask.ts';

/** Reads the files of secrets that the testbed names; one that cannot be read has none. */
export async function knownOf(
  { dut, senders, receiver, builder }: FreebsdTestbed,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Known> {
  const machines = [dut, ...senders, receiver, ...(builder === undefined ? [] : [builder])];
  const keys = machines.flatMap(({ privateKeyPath }) => privateKeyPath ?? []);
  const { power, console } = dut;
  const passwords = [power, console].map((one) =>
    one !== undefined && 'passwordPath' in one ? one.passwordPath : undefined,
  );
  const files = [...new Set([...keys, ...passwords.flatMap((path) => path ?? [])])];
  const macs = [...senders, receiver].map(({ mac }) => mac);
  return {
    secrets: [
      ...(await Promise.all(files.map((path) => readFile(path, 'utf8').catch(() => '')))),
      ...secretsIn(environment),
      ...wordsOf(power),
      ...secretWords(console?.kind === 'command' ? console.command : []),
      ...macs.flatMap(otherForms),
    ],
    hosts: [
      ...machines.map(({ host }) => host),
      ...[power, console].map(hostOf),
      hostname(),
    ].flatMap(namesOf),
    users: [
      ...machines.map(({ user }) => user),
      ...[power, console].map(userOf),
      userInfo().username,
    ],
    // A file of theirs is never read again.
    others: new Map(machines.map(({ knownHostsPath }) => [knownHostsPath, '/dev/null'])),
  };
}

/** Values that are secrets by their names, or because nobody would write such a thing by hand. */
function secretsIn(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name) && !isPlace(value);
    if (/^(?:true|false)$/i.test(value)) return [];
    const isRandom = /^(?=.*\d)(?=.*[a-z])[\w+=.~-]{16,}$/i.test(value);
    return isNamed || isRandom ? [value] : [];
  });
}

const isPlace = (value: string): boolean => /^[./]/.test(value) || /^https?:/.test(value);

/** An argument may be a password; one that is a plain word would be found in every output. */
function wordsOf(power: PowerConfig | undefined): string[] {
  if (power?.kind !== 'command') return [];
  const { on, off, state, cycle = [] } = power;
  return [on, off, state, cycle].flatMap(secretWords);
}

const secretWords = ([, ...words]: readonly string[]): string[] =>
  words.filter((word) => word.length > 5 && !/^(?:[a-z]+|-.*|\/.*)$/.test(word));

/** Cisco's, and none at all between the digits. */
function otherForms(mac: string): string[] {
  const digits = mac.replaceAll(':', '');
  const dotted = digits.replace(/(.{4})(?!$)/g, '$1.');
  return [digits, dotted, digits.toUpperCase(), dotted.toUpperCase()];
}

type Reached = PowerConfig | ConsoleConfig | undefined;

function hostOf(one: Reached): string {
  if (one !== undefined && 'url' in one) return new URL(one.url).hostname;
  return one !== undefined && 'host' in one ? (one.host ?? '') : '';
}

const userOf = (one: Reached): string => (one !== undefined && 'user' in one ? one.user : '');

/** `dut3.lab.example.org`, its domain, and `dut3`. */
function namesOf(host: string): string[] {
  if (isIPv4(host) || host.includes(':')) return [];
  const [first = '', ...domain] = host.split('.');
  return [host, first, ...(domain.length > 1 ? [domain.join('.')] : [])];
}
