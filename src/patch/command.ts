// What people ask of ppsgate in a comment: `/ppsgate run forwarding inet6 margin=1%`.
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { didYouMean } from '../config/fields.ts';
import { excerpt } from '../config/units.ts';
import { families } from '../scenario/scenario.ts';

const typed = z.string().max(500).optional();

/** What is asked of one gate instead of what ppsgate.yml says, as typed; see `Overrides`. */
export const askSchema = z.object({
  scenarios: typed,
  families: typed,
  margin: typed,
  maxRuns: typed,
  /** A wish; see `parseWish`. */
  testbed: typed,
});

export type Ask = z.infer<typeof askSchema>;

export type Command =
  | { kind: 'run'; ask: Ask; commit?: string }
  | { kind: 'rerun'; commit?: string }
  | { kind: 'extend'; maxRuns?: string; commit?: string }
  | { kind: 'cancel' }
  | { kind: 'help' }
  /** `why` is one sentence that ends with the nearest right command; it holds what the person typed. */
  | { kind: 'mistaken'; why: string };

/** How comments call ppsgate on GitHub. */
export const callOnGithub = '/ppsgate';

/**
 * The command of a comment, which is its first line and begins with `call`; undefined where a comment is none. Whether
 * there is such a scenario, testbed or margin is for the configuration to say.
 */
export function parseCommand(comment: string, call = callOnGithub): Command | undefined {
  const [line = ''] = comment.trimStart().split(/\r?\n/, 1);
  const [first, ...words] = wordsOf(line.slice(0, longestCommand));
  if (first !== call) return undefined;
  const [verb = 'help', ...rest] = words;
  const mistaken = (what: string, nearest: string): Command => ({
    kind: 'mistaken',
    why: `${what}; write ${call} ${nearest}`,
  });
  switch (verb) {
    case 'help':
    case 'cancel':
      if (rest.length === 0) return { kind: verb };
      return mistaken(`${verb} takes nothing more, found "${excerpt(rest.join(' '))}"`, verb);
    case 'run':
    case 'rerun':
    case 'extend': {
      const read = readArguments(verb, rest);
      return read.kind === 'mistaken' ? mistaken(read.what, read.nearest) : read;
    }
    default:
      return mistaken(`there is no command "${excerpt(verb)}"`, nearestVerb(verb));
  }
}

/** Two letters swapped are two edits. */
function nearestVerb(word: string): string {
  const nearest = closest(word.toLowerCase(), verbs);
  return distance(word.toLowerCase(), nearest) <= 2 ? nearest : 'help';
}

const verbs = ['run', 'rerun', 'extend', 'cancel', 'help'] as const;

/** Nobody types more, and nobody has to read more. */
const longestCommand = 500;

/** Separated by blanks, but for those in double quotes: `testbed="mellanox and 40G"` is one. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''));

/** What `run` is told as `key=value`, and what it becomes. */
const keys = { margin: 'margin', runs: 'maxRuns', testbed: 'testbed' } as const;

const isKey = (text: string): text is keyof typeof keys => Object.hasOwn(keys, text);

/** Which of the keys a command takes. */
const keysOf = {
  run: ['margin', 'runs', 'testbed'],
  rerun: [],
  extend: ['runs'],
} as const satisfies Record<string, readonly (keyof typeof keys)[]>;

type Read =
  | Extract<Command, { kind: 'run' | 'rerun' | 'extend' }>
  | { kind: 'mistaken'; what: string; nearest: string };

function readArguments(verb: keyof typeof keysOf, words: readonly string[]): Read {
  const known: readonly string[] = keysOf[verb];
  const values: Partial<Record<keyof typeof keys, string>> = {};
  const named: string[] = [];
  const found: string[] = [];
  let commit: string | undefined;
  const mistaken = (what: string, nearest: string = verb): Read => ({
    kind: 'mistaken',
    what,
    nearest,
  });

  for (const word of words) {
    const [, key, value = ''] = /^([^=]+)=(.*)$/.exec(word) ?? [];
    if (key !== undefined) {
      const [, meant] = /`(.+)`/.exec(didYouMean(key, known)) ?? [];
      const nearest = meant === undefined ? verb : `${verb} ${meant}=${excerpt(value)}`;
      if (!known.includes(key) || !isKey(key)) {
        return mistaken(`${verb} takes no "${excerpt(key)}"`, nearest);
      }
      if (value === '') return mistaken(`${key} has no value`, `${verb} ${key}=${examples[key]}`);
      if (values[key] !== undefined) return mistaken(`${key} is there twice`);
      values[key] = value;
    } else if (/^[0-9a-f]{7,64}$/.test(word) && commit === undefined) {
      commit = word;
    } else if (verb !== 'run' || !/^[a-z][\w.-]*$/i.test(word)) {
      return mistaken(`${verb} takes no "${excerpt(word)}"`);
    } else if (families.some((family) => family === word)) {
      named.push(word);
    } else {
      found.push(word);
    }
  }

  const of = commit === undefined ? {} : { commit };
  if (verb === 'rerun') return { kind: verb, ...of };
  const maxRuns = values.runs === undefined ? {} : { maxRuns: values.runs };
  if (verb === 'extend') return { kind: verb, ...maxRuns, ...of };
  const ask: Ask = {
    ...maxRuns,
    ...(found.length > 0 && { scenarios: found.join(',') }),
    ...(named.length > 0 && { families: named.join(',') }),
    ...(values.margin !== undefined && { margin: values.margin }),
    ...(values.testbed !== undefined && { testbed: values.testbed }),
  };
  return { kind: verb, ask, ...of };
}

const examples: Record<keyof typeof keys, string> = {
  margin: '1%',
  runs: '20',
  testbed: 'chelsio',
};
