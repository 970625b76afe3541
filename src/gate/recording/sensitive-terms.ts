// Collects the secrets and names of a testbed and of this machine that recordings must not contain.
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, hostname, userInfo } from 'node:os';
import type { ConsoleConfig } from '../../config/console.ts';
import type { HostConfig } from '../../config/fields.ts';
import type { PowerConfig } from '../../lab/power/power.ts';
import { imagesFolder } from '../../lab/qemu/images-folder.ts';
import { namesOf, type SensitiveTerms } from './mask.ts';
import type { RecordableTestbed } from './recordable-testbed.ts';

/** Reads the key and password files of the testbed; skips unreadable ones. */
export async function sensitiveTermsOf(
  testbed: RecordableTestbed,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SensitiveTerms> {
  const { machines, macs, paths, power, console, keys } = accessOf(testbed, environment);
  const passwords = [power, console].map((one) =>
    one !== undefined && 'passwordPath' in one ? one.passwordPath : undefined,
  );
  const files = [...new Set([...keys, ...passwords.flatMap((path) => path ?? [])])];
  return {
    secrets: [
      ...(await Promise.all(files.map((path) => readFile(path, 'utf8').catch(() => '')))),
      ...secretsIn(environment),
      ...commandSecrets(power),
      ...secretWords(console?.kind === 'command' ? console.command : []),
    ],
    serials: macs.flatMap(otherForms),
    hosts: [...machines.map(({ host = '' }) => host), ...[power, console].map(hostOf), hostname()].flatMap(namesOf),
    users: [...machines.map(({ user }) => user), ...[power, console].map(userOf), userInfo().username],
    // A replay opens no file that a recording names.
    others: new Map(
      [...files, ...paths, ...machines.map(({ knownHostsPath }) => knownHostsPath)]
        .flatMap(writings)
        .map((path) => [path, '/dev/null']),
    ),
  };
}

type Access = {
  machines: (Omit<HostConfig, 'host'> & { host?: string })[];
  keys: string[];
  macs: string[];
  /** More files that a recording names. */
  paths: string[];
  power?: PowerConfig | undefined;
  console?: ConsoleConfig | undefined;
};

function accessOf(testbed: RecordableTestbed, environment: NodeJS.ProcessEnv): Access {
  const builders = testbed.builder === undefined ? [] : [testbed.builder];
  const keysOf = (machines: Access['machines']) => machines.flatMap(({ privateKeyPath }) => privateKeyPath ?? []);
  if (testbed.kind === 'virtual') {
    const keys = keysOf(builders);
    if (testbed.system === 'linux') {
      const { kernelPath } = testbed;
      const paths = kernelPath === undefined ? [] : [kernelPath];
      return { machines: builders, keys, macs: [], paths };
    }
    const { image } = testbed;
    const own = image.hostKey === undefined ? undefined : image.privateKeyPath;
    const all = own === undefined ? keys : [...keys, own];
    // The key of a prepared image is next to it.
    const prepared = imagesFolder(environment, homedir());
    return { machines: builders, keys: all, macs: [], paths: [image.path, prepared] };
  }
  const { dut, senders, receiver } = testbed;
  const machines = [dut, ...senders, receiver, ...builders];
  const macs = [...senders, receiver].map(({ mac }) => mac);
  const { power, console } = dut;
  return { machines, keys: keysOf(machines), macs, paths: [], power, console };
}

/** Lists the forms in which ssh(1) may print a path: from the home folder, and with links followed. */
function writings(path: string): string[] {
  const home = homedir();
  const short = path.startsWith(`${home}/`) ? [`~${path.slice(home.length)}`] : [];
  try {
    return [path, ...short, realpathSync(path)];
  } catch {
    return [path, ...short];
  }
}

/** Returns values that are secrets by their variable's name, or look random. */
function secretsIn(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name) && !isPathOrUrl(value);
    if (/^(?:true|false)$/i.test(value)) return [];
    const isRandom = /^(?=.*\d)(?=.*[a-z])[\w+=.~-]{16,}$/i.test(value);
    return isNamed || isRandom ? [value] : [];
  });
}

const isPathOrUrl = (value: string): boolean => /^[./]/.test(value) || /^https?:/.test(value);

/** Returns arguments that may be passwords; plain words occur in every output. */
function commandSecrets(power: PowerConfig | undefined): string[] {
  if (power?.kind !== 'command') return [];
  const { on, off, state, cycle = [] } = power;
  return [on, off, state, cycle].flatMap(secretWords);
}

const secretWords = ([, ...words]: readonly string[]): string[] =>
  words.filter((word) => word.length > 5 && !/^(?:[a-z]+|-.*|\/.*)$/.test(word));

/** Returns Cisco's dotted form, and only the digits. */
function otherForms(mac: string): string[] {
  const digits = mac.replaceAll(':', '');
  const dotted = digits.replace(/(.{4})(?!$)/g, '$1.');
  return [digits, dotted, digits.toUpperCase(), dotted.toUpperCase()];
}

type AccessConfig = PowerConfig | ConsoleConfig | undefined;

function hostOf(config: AccessConfig): string {
  if (config !== undefined && 'url' in config) return new URL(config.url).hostname;
  return config !== undefined && 'host' in config ? (config.host ?? '') : '';
}

const userOf = (config: AccessConfig): string => (config !== undefined && 'user' in config ? config.user : '');
