// What people ask of a bisection in a comment: `/ppsgate bisect GOOD BAD forwarding inet4 fix-up=FIX`.
import { z } from 'zod';
import {
  type BisectOverrideName,
  bisectOverrideNames,
  kebabCase,
} from '../../config/parameters.ts';
import { families, scenarios } from '../../model/scenario.ts';
import { excerpt } from '../../model/units.ts';
import { keyFor, keysOf, pairIn } from './command-words.ts';

const typed = z.string().max(500).optional();

/** What is asked of one bisection, as typed; without good and bad it is of the commits of the patch itself. */
export const bisectAskSchema = z.object(
  Object.fromEntries(bisectOverrideNames.map((name) => [name, typed])) as Record<
    BisectOverrideName,
    typeof typed
  >,
);

export type BisectAsk = z.infer<typeof bisectAskSchema>;

type Read =
  /** `head` is the one that the person named, where nothing but that was named. */
  | { kind: 'read'; ask: BisectAsk; head?: string }
  | { kind: 'mistaken'; what: string; nearest: string };

const keyed = keysOf(bisectOverrideNames);
const known = [...keyed.keys()];
const verifyRevert = kebabCase('verifyRevert');

/** Reads the words after `bisect`: good comes before bad, all else stands anywhere. */
export function readBisect(words: readonly string[], isHead: (word: string) => boolean): Read {
  const ask: BisectAsk = {};
  const others: string[] = [];
  for (const word of words) {
    const pair = pairIn(word);
    if (pair !== undefined) {
      const found = keyFor(pair, { verb: 'bisect', known, keyed });
      if (found.kind === 'mistaken') return found;
      const { name, kind, example } = found.parameter;
      const { key, value } = pair;
      const looksRight = shapes[name];
      const wrong = looksRight && value.split(',').find((part) => !looksRight(part));
      if (wrong !== undefined) {
        return mistaken(`${key} cannot be "${excerpt(wrong)}"`, `${key}=${example}`);
      }
      const before = ask[name];
      if (before !== undefined && kind !== 'list') return mistaken(`${key} is there twice`);
      ask[name] = before === undefined ? value : `${before},${value}`;
    } else if (word.includes('..')) {
      const ends = word.split(/\.{2,}/).map((end) => excerpt(end));
      const what = 'bisect takes a good commit and a bad one, not a range';
      return mistaken(what, ends.filter(Boolean).join(' '));
    } else if (families.some((family) => family === word)) {
      if (ask.families !== undefined) return mistaken('bisect takes one family', word);
      ask.families = word;
    } else if (scenarios.includes(word)) {
      if (ask.scenarios !== undefined) return mistaken('bisect takes one scenario', word);
      ask.scenarios = word;
    } else if (word === verifyRevert) {
      ask.verifyRevert = 'true';
    } else if (isCommitLike(word)) {
      others.push(word);
    } else {
      return mistaken(`bisect takes no "${excerpt(word)}"`);
    }
  }
  return withOthers(ask, others, isHead);
}

/** The words of a command that asks for that; read again they are the same. */
export function bisectWords(ask: BisectAsk): string {
  const { good, bad, families: family, scenarios: scenario, verifyRevert: isVerified } = ask;
  const pairs = [...keyed].flatMap(([key, { name }]) => {
    const value = ask[name];
    return value ? [`${key}=${/\s/.test(value) ? `"${value}"` : value}`] : [];
  });
  const words = [good, bad, scenario, family, isVerified === 'true' && verifyRevert, ...pairs];
  return ['bisect', ...words].filter(Boolean).join(' ');
}

const mistaken = (what: string, nearest = ''): Read => ({
  kind: 'mistaken',
  what,
  nearest: `bisect ${nearest}`.trim(),
});

/** What is neither a family nor a scenario of ppsgate's own: the head, or good and bad; and a scenario of the site's own. */
function withOthers(
  ask: BisectAsk,
  others: readonly string[],
  isHead: (word: string) => boolean,
): Read {
  const [first = '', bad = '', own = '', ...more] = others;
  if (others.length === 0) return { kind: 'read', ask };
  if (others.length === 1 && isHead(first)) return { kind: 'read', ask, head: first };
  const hasScenario = ask.scenarios !== undefined;
  if (others.length === 1 && !hasScenario)
    return { kind: 'read', ask: { ...ask, scenarios: first } };
  if (others.length === 1) {
    const what = `bisect takes a good commit and a bad one, found "${excerpt(first)}" alone`;
    return mistaken(what, `${excerpt(first)} HEAD`);
  }
  const commits = { ...ask, good: first, bad };
  if (others.length === 2) return { kind: 'read', ask: commits };
  if (others.length === 3 && !hasScenario) {
    return { kind: 'read', ask: { ...commits, scenarios: own } };
  }
  const what = `bisect takes two commits, found "${excerpt(more[0] ?? own)}" as well`;
  return mistaken(what, `${excerpt(first)} ${excerpt(bad)}`);
}

/** What git could take for the name of a commit, but for what is written with two dots; git has the last word. */
const isCommitLike = (text: string): boolean =>
  /^\w[\w./@~^{}+-]{0,249}$/.test(text) && !text.includes('..');

/** `A`, or two of them with that between. */
const oneOrTwo =
  (between: string) =>
  (text: string): boolean => {
    const parts = text.split(between);
    return parts.length <= 2 && parts.every(isCommitLike);
  };

/** How the parts of a value have to look, as far as that can be said without a repository. */
const shapes: Partial<Record<BisectOverrideName, (part: string) => boolean>> = {
  fixUp: oneOrTwo(':'),
  skip: oneOrTwo('..'),
  maxBoots: (text) => /^[1-9]\d{0,5}$/.test(text),
};
