// Defines the building blocks of ppsgate.yml keys: closed objects, names, numbers, hosts.
import { z } from 'zod';
import { excerpt, expected, type QuantityLimit } from '../model/units.ts';
import { didYouMean, wrongName } from './did-you-mean.ts';

export { wrongName };

export type HostConfig = {
  host: string;
  port: number;
  user: string;
  /** Absent: the ssh agent is used. */
  privateKeyPath?: string;
  knownHostsPath: string;
};

/** Rejects unknown keys. Unlike `z.strictObject`, reports each with its own path, and thereby its line. */
export function closed<Shape extends z.core.$ZodShape>(shape: Shape) {
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => unknownKey(String(path?.at(-1)), Object.keys(shape)),
    params: { isUnknownKey: true },
  });
  const object: unknown = z
    .object(shape, { error: expected('keys and values') })
    .catchall(unknown)
    // JSON Schema cannot express an always failing field.
    .meta({ additionalProperties: false });
  // A field that always fails adds nothing to the parsed type.
  return object as z.ZodObject<Shape, z.core.$strict>;
}

function unknownKey(key: string, known: readonly string[]): string {
  const hint = didYouMean(key, known) || `; known here: ${known.join(', ')}`;
  return `unknown key \`${excerpt(key)}\`${hint}`;
}

/** The pattern may have the flag `u` only, as in JSON Schema. */
export function text(pattern: RegExp, what: string) {
  return z
    .string({ error: expected(what) })
    .regex(pattern, { error: expected(what) })
    .meta({ title: what });
}

export function wholeNumber(least: number, most: number) {
  const what = `a whole number from ${least} to ${most}`;
  const error = expected(what);
  const limit = whole(least, most, '');
  return z
    .number({ error })
    .refine(limit.holds, { error })
    .meta({ title: what, type: 'integer', minimum: least, maximum: most });
}

export function whole(least: number, most: number, unit: string): QuantityLimit {
  return {
    description: `a whole number of ${unit} from ${least} to ${most}`,
    holds: (value) => Number.isInteger(value) && value >= least && value <= most,
  };
}

export function listOf<const Name extends string>(names: readonly Name[]) {
  return z
    .array(z.enum(names, { error: wrongName(names) }), {
      error: expected(`a list like [${names[0]}]`),
    })
    .min(1, `expected at least one of ${names.join(', ')}, found an empty list`)
    .refine((list) => new Set(list).size === list.length, 'a name is in this list twice');
}

/** Unresolved; see `placed` in load.ts. */
export const path = text(/^(?!~[^/])\P{Cc}+$/u, 'a path (of home folders only ~/ is known)');

// A name or IPv4 address has no colon and an IPv6 address at least two, so `name:22` is neither.
export const hostName = /^(?:[a-zA-Z0-9][\w.-]{0,252}|(?=.*:.*:)[0-9a-fA-F:.]{2,45}(?:%[\w.-]{1,15})?)$/;

export const ssh = {
  host: text(hostName, 'a host name or an address, without user or port'),
  port: wholeNumber(1, 65535).prefault(22).describe('The port of sshd.'),
  user: text(/^[a-zA-Z_][\w.-]{0,31}$/, 'a user name')
    .prefault('root')
    .describe('The login.'),
  key: path.optional().describe('A private key; without it the ssh agent is used.'),
  knownHosts: path.prefault('~/.ssh/known_hosts').describe('Trusted host keys.'),
};

type WrittenHost = {
  host?: string | undefined;
  port: number;
  user: string;
  key?: string | undefined;
  knownHosts: string;
};

export function withHost<Machine extends WrittenHost>({ key, knownHosts, ...rest }: Machine) {
  return {
    ...rest,
    knownHostsPath: knownHosts,
    ...(key !== undefined && { privateKeyPath: key }),
  };
}
