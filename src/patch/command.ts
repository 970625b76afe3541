// What people ask of ppsgate in a comment: `/ppsgate run forwarding inet6 margin=1%`, or on Phabricator `@ppsgate run`.
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { didYouMean } from '../config/fields.ts';
import { families } from '../words/scenario.ts';
import { excerpt } from '../words/units.ts';

const typed = z.string().max(500).optional();

/** What is asked of one gate instead of what ppsgate.yml says, as typed; see `Overrides`. */
export const askSchema = z.object({
  scenarios: typed,
  families: typed,
  margin: typed,
  maxRuns: typed,
  /** `on`, `off` or a window; see `Overrides`. */
  profile: typed,
  /** A wish; see `parseWish`. */
  testbed: typed,
  /** Of a Phabricator revision; see `parseEarlier`. */
  earlier: typed,
});

export type Ask = z.infer<typeof askSchema>;

/** What the person named: the head, or on Phabricator a diff by its id. */
type Named = { commit?: string; diff?: number };

export type Command =
  | ({ kind: 'run'; ask: Ask } & Named)
  | ({ kind: 'rerun' } & Named)
  | ({ kind: 'extend'; maxRuns?: string } & Named)
  | { kind: 'cancel' }
  | { kind: 'help' }
  /** `why` is one sentence that ends with the nearest right command; it holds what the person typed. */
  | { kind: 'mistaken'; why: string };

/** How comments call ppsgate on GitHub. */
export const callOnGithub = '/ppsgate';

/** The same on Phabricator, where a line that begins with a slash is nothing special. */
export const callOnPhabricator = '@ppsgate';

type Call = typeof callOnGithub | typeof callOnPhabricator;

/**
 * The command of a comment, which is its first line and begins with `call`; undefined where a comment is none. Whether
 * there is such a scenario, testbed or margin is for the configuration to say.
 */
export function parseCommand(comment: string, call: Call = callOnGithub): Command | undefined {
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
      const read = readArguments(verb, rest, call);
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
const keys = {
  margin: 'margin',
  runs: 'maxRuns',
  profile: 'profile',
  testbed: 'testbed',
  earlier: 'earlier',
} as const;

const isKey = (text: string): text is keyof typeof keys => Object.hasOwn(keys, text);

const usual = {
  run: ['margin', 'runs', 'profile', 'testbed'],
  rerun: [],
  extend: ['runs'],
} as const satisfies Record<string, readonly (keyof typeof keys)[]>;

/** Which of the keys a command takes, and how the head is named. */
const grammars = {
  [callOnGithub]: { keysOf: usual, head: /^[0-9a-f]{7,64}$/ },
  [callOnPhabricator]: {
    keysOf: { ...usual, run: [...usual.run, 'earlier'] },
    head: /^[1-9]\d{0,8}$/,
  },
} as const;

type Read =
  | Extract<Command, { kind: 'run' | 'rerun' | 'extend' }>
  | { kind: 'mistaken'; what: string; nearest: string };

function readArguments(verb: keyof typeof usual, words: readonly string[], call: Call): Read {
  const { keysOf, head } = grammars[call];
  const known: readonly string[] = keysOf[verb];
  const values: Partial<Record<keyof typeof keys, string>> = {};
  const named: string[] = [];
  const found: string[] = [];
  let namedHead: string | undefined;
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
    } else if (head.test(word) && namedHead === undefined) {
      namedHead = word;
    } else if (verb !== 'run' || !/^[a-z][\w.-]*$/i.test(word)) {
      return mistaken(`${verb} takes no "${excerpt(word)}"`);
    } else if (word === 'profile') {
      values.profile ??= 'on';
    } else if (families.some((family) => family === word)) {
      named.push(word);
    } else {
      found.push(word);
    }
  }

  const of = headNamed(namedHead, call);
  if (verb === 'rerun') return { kind: verb, ...of };
  const maxRuns = values.runs === undefined ? {} : { maxRuns: values.runs };
  if (verb === 'extend') return { kind: verb, ...maxRuns, ...of };
  const ask: Ask = {
    ...maxRuns,
    ...(found.length > 0 && { scenarios: found.join(',') }),
    ...(named.length > 0 && { families: named.join(',') }),
    ...(values.margin !== undefined && { margin: values.margin }),
    ...(values.profile !== undefined && { profile: values.profile }),
    ...(values.testbed !== undefined && { testbed: values.testbed }),
    ...(values.earlier !== undefined && { earlier: values.earlier }),
  };
  return { kind: verb, ask, ...of };
}

function headNamed(text: string | undefined, call: Call): Named {
  if (text === undefined) return {};
  return call === callOnGithub ? { commit: text } : { diff: Number(text) };
}

const examples: Record<keyof typeof keys, string> = {
  margin: '1%',
  runs: '20',
  profile: 'on',
  testbed: 'chelsio',
  earlier: 'all',
};
