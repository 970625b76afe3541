// Reads a machine's names, serial numbers and secrets, so that its recording can be masked before it begins.
import type { CommandOutcome } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, shell } from '../../system/shell.ts';
import { namesOf, type SensitiveTerms } from './mask.ts';
import { secretPatterns } from './mask-patterns.ts';

type Learnt = Required<Omit<SensitiveTerms, 'others'>>;

type Question = { command: Command; learn(output: string): Partial<Learnt> };

/**
 * Runs plain commands that change nothing and are not recorded. Omits anything that the machine does not answer; the
 * first lost connection ends it. The mask then knows names and serial numbers only by their form.
 */
export async function learnFrom(host: Host): Promise<Learnt> {
  const learnt: Learnt = { secrets: [], hosts: [], users: [], serials: [] };
  for (const { command, learn } of questions) {
    const output = await answerOf(host, command);
    if (output === undefined) break;
    const { secrets = [], hosts = [], users = [], serials = [] } = learn(output);
    learnt.secrets = [...learnt.secrets, ...secrets];
    learnt.hosts = [...learnt.hosts, ...hosts];
    learnt.users = [...learnt.users, ...users];
    learnt.serials = [...learnt.serials, ...serials];
  }
  return learnt;
}

const timeoutSeconds = 20;
/** Exceeds each of these files on a testbed; a longer answer is truncated. */
const maxLetters = 256 * 1024;

async function answerOf(host: Host, command: Command): Promise<string | undefined> {
  try {
    const outcome: CommandOutcome = await host.run(command, { timeoutSeconds });
    return outcome.kind === 'exited' && outcome.code === 0 ? outcome.stdout.slice(0, maxLetters) : '';
  } catch {
    return undefined;
  }
}

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(({ groups, 1: first }) => groups?.hidden ?? first ?? []);

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Reads settings of rc.conf(5): the name, and secrets such as `pass` of carp(4). */
const learnSettings = (text: string): Partial<Learnt> => ({
  hosts: matches(text, /^\s*hostname=["']?([\w.-]+)/gm).flatMap(namesOf),
  secrets: secretPatterns.flatMap((pattern) => matches(text, pattern)),
});

const learnSerial = (text: string): Partial<Learnt> => ({ serials: [text.trim()] });

const questions: readonly Question[] = [
  {
    command: shell`sysctl -n kern.hostname`,
    learn: (text) => ({ hosts: wordsOf(text).flatMap(namesOf) }),
  },
  {
    command: shell`sysctl -n kern.hostid`,
    learn: (text) => ({ serials: hostIdForms(text.trim()) }),
  },
  { command: shell`sysctl -n kern.hostuuid`, learn: learnSerial },
  ...['system', 'planar', 'chassis'].flatMap((part) =>
    ['serial', 'tag'].map((name) => ({
      command: shell`kenv -q ${`smbios.${part}.${name}`}`,
      learn: learnSerial,
    })),
  ),
  {
    command: shell`geom disk list`,
    learn: (text) => ({ serials: matches(text, /^\s*(?:ident|lunid|lunname):[ \t]*(\S.*\S)/gm) }),
  },
  {
    command: shell`ls /dev/diskid`,
    learn: (text) => ({ serials: matches(text, /\bDISK-(\S+?)(?:[ps]\d{1,2}[a-h]?)?$/gm) }),
  },
  { command: shell`cat /etc/rc.conf`, learn: learnSettings },
  { command: shell`cat /etc/rc.conf.local`, learn: learnSettings },
  {
    command: shell`cat /etc/hosts`,
    learn: (text) => ({
      hosts: matches(text.replace(/#.*/g, ''), /^\s*[0-9a-f.:%\w]+[ \t]+(\S.*)/gm)
        .flatMap(wordsOf)
        .flatMap(namesOf),
    }),
  },
  {
    command: shell`cat /etc/resolv.conf`,
    learn: (text) => ({ hosts: matches(text, /^(?:search|domain)[ \t]+(.*)/gm).flatMap(wordsOf) }),
  },
  {
    // People's users have ids from 1001.
    command: shell`cat /etc/passwd`,
    learn: (text) => ({ users: matches(text, /^([\w.-]+):[^:]*:[1-5]\d{3,4}:/gm) }),
  },
];

/** Returns the host id as gethostid(3) and rc(8) print it. */
function hostIdForms(text: string): string[] {
  const id = Number(text);
  if (!/^\d{5,10}$/.test(text) || id > 0xffff_ffff) return [];
  return [text, id.toString(16).padStart(8, '0')];
}
