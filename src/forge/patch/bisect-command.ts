// Parses and writes the bisect command: `/ppsgate bisect GOOD BAD forwarding inet4 fix-up=FIX`.
import { z } from 'zod';
import { type BisectOverrideName, bisectOverrideNames, kebabCase } from '../../config/parameters.ts';
import * as bounded from '../../model/bounds.ts';
import { families, scenarios } from '../../model/scenario.ts';
import { excerpt } from '../../model/units.ts';
import { keyFor, keysOf, pairIn } from './command-words.ts';

const typed = bounded.text(500).optional();

/** Settings of one bisection, as typed. Without good and bad, it searches the patch's own commits. */
export const bisectOverridesSchema = z.object(
  Object.fromEntries(bisectOverrideNames.map((name) => [name, typed])) as Record<BisectOverrideName, typeof typed>,
);

export type BisectOverrides = z.infer<typeof bisectOverridesSchema>;

type ParsedBisect =
  /** `head`: only a head was named; `list`: digest of an approved list of commits. */
  | { kind: 'read'; overrides: BisectOverrides; head?: string; list?: string }
  | { kind: 'mistaken'; what: string; nearest: string };

const keyed = keysOf(bisectOverrideNames);
const allowed = [...keyed.keys()];
const verifyRevert = kebabCase('verifyRevert');

/** Reads the words after `bisect`: good precedes bad; other words may be anywhere. */
export function readBisect(words: readonly string[], isHead: (word: string) => boolean): ParsedBisect {
  const overrides: BisectOverrides = {};
  const others: string[] = [];
  let list: string | undefined;
  for (const word of words) {
    const pair = pairIn(word);
    if (pair?.key === listKey) {
      if (!isDigest(pair.value)) {
        return mistaken(`${listKey} is the digest of a list, as shown in a reply`);
      }
      list = pair.value;
    } else if (pair !== undefined) {
      const match = keyFor(pair, { verb: 'bisect', allowed, keyed });
      if (match.kind === 'mistaken') return match;
      const { name, kind, example } = match.parameter;
      const { key, value } = pair;
      const looksRight = shapes[name];
      const wrong = looksRight && value.split(',').find((part) => !looksRight(part));
      if (wrong !== undefined) {
        return mistaken(`${key} cannot be "${excerpt(wrong)}"`, `${key}=${example}`);
      }
      const before = overrides[name];
      if (before !== undefined && kind !== 'list') return mistaken(`${key} is given twice`);
      overrides[name] = before === undefined ? value : `${before},${value}`;
    } else if (word.includes('..')) {
      const ends = word.split(/\.{2,}/).map((end) => excerpt(end));
      const what = 'bisect takes a good commit and a bad commit, not a range';
      return mistaken(what, ends.filter(Boolean).join(' '));
    } else if (families.some((family) => family === word)) {
      if (overrides.families !== undefined) return mistaken('bisect takes one family', word);
      overrides.families = word;
    } else if (scenarios.includes(word)) {
      if (overrides.scenarios !== undefined) return mistaken('bisect takes one scenario', word);
      overrides.scenarios = word;
    } else if (word === verifyRevert) {
      overrides.verifyRevert = 'true';
    } else if (isCommitLike(word)) {
      others.push(word);
    } else {
      return mistaken(`bisect takes no "${excerpt(word)}"`);
    }
  }
  const read = withOthers(overrides, others, isHead);
  return read.kind === 'read' && list !== undefined ? { ...read, list } : read;
}

/** `commits=…` approves a list of commits by its digest. */
export const listKey = 'commits';

const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Inverse of `readBisect`. Without named ends, `head` is the diff or commit at the end of the search. */
export function bisectWords(overrides: BisectOverrides, head?: string | number): string {
  const { good, bad, families: family, scenarios: scenario, verifyRevert: isVerified } = overrides;
  const pairs = [...keyed].flatMap(([key, { name }]) => {
    const value = overrides[name];
    return value ? [`${key}=${/\s/.test(value) ? `"${value}"` : value}`] : [];
  });
  const ends = good ? [good, bad] : [head];
  const words = [...ends, scenario, family, isVerified === 'true' && verifyRevert, ...pairs];
  return ['bisect', ...words].filter(Boolean).join(' ');
}

const mistaken = (what: string, nearest = ''): ParsedBisect => ({
  kind: 'mistaken',
  what,
  nearest: `bisect ${nearest}`.trim(),
});

function withOthers(
  overrides: BisectOverrides,
  others: readonly string[],
  isHead: (word: string) => boolean,
): ParsedBisect {
  const [first = '', bad = '', own = '', ...more] = others;
  if (others.length === 0) return { kind: 'read', overrides };
  if (others.length === 1 && isHead(first)) return { kind: 'read', overrides, head: first };
  const hasScenario = overrides.scenarios !== undefined;
  if (others.length === 1 && !hasScenario) return { kind: 'read', overrides: { ...overrides, scenarios: first } };
  if (others.length === 1) {
    const what = `bisect takes a good commit and a bad commit, found "${excerpt(first)}" only`;
    return mistaken(what, `${excerpt(first)} HEAD`);
  }
  const commits = { ...overrides, good: first, bad };
  if (others.length === 2) return { kind: 'read', overrides: commits };
  if (others.length === 3 && !hasScenario) {
    return { kind: 'read', overrides: { ...commits, scenarios: own } };
  }
  const what = `bisect takes two commits, found "${excerpt(more[0] ?? own)}" too`;
  return mistaken(what, `${excerpt(first)} ${excerpt(bad)}`);
}

/** True for texts that git could read as the name of one commit; git decides later. */
const isCommitLike = (text: string): boolean => /^\w[\w./@~^{}+-]{0,249}$/.test(text) && !text.includes('..');

const oneOrTwo =
  (between: string) =>
  (text: string): boolean => {
    const parts = text.split(between);
    return parts.length <= 2 && parts.every(isCommitLike);
  };

/** Syntax of the parts of a value, as far as it can be checked without a repository. */
const shapes: Partial<Record<BisectOverrideName, (part: string) => boolean>> = {
  fixUp: oneOrTwo(':'),
  skip: oneOrTwo('..'),
  maxBoots: (text) => /^[1-9]\d{0,5}$/.test(text),
  earlier: (text) => /^(?:all|none|[1-9]\d{0,8})$/.test(text),
};
