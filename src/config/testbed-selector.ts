// Parses testbed selectors: `mellanox and 40G`, `10G or 25G`, `freebsd and not release`, `cores>=8`.
import { excerpt, expected } from '../model/units.ts';

/** Alternatives; every condition of one alternative must hold. */
export type TestbedSelector = Condition[][];

/** `word` is in lower case; `wanted` is false after `not`. */
export type Condition =
  | { kind: 'word'; word: string; wanted: boolean }
  | { kind: 'cores'; least: number; wanted: boolean };

/** Lower-case words that describe a testbed; absent cores are unknown. */
export type Described = { words: ReadonlySet<string>; cores?: number | undefined };

type SelectorSource = { kind: 'read'; selector: TestbedSelector } | { kind: 'refused'; message: string };

export const keywords: readonly string[] = ['and', 'or', 'not'];

export const selectorWord = /^[a-zA-Z0-9][\w.+-]{0,62}$/;

/** `not` binds tighter than `and`, which binds tighter than `or`; case is ignored. */
export function readSelector(text: string): SelectorSource {
  if (text.length > maxCharacters) return refused(text, `it has more than ${maxCharacters} characters`);
  const spaced = text.toLowerCase().trim().replace(/\s+/g, ' ');
  const tokens = spaced
    .replace(/ ?>= ?/g, '>=')
    .split(' ')
    .filter((token) => token !== '');
  const alternatives = splitAt(tokens, 'or').map((part) => splitAt(part, 'and').map(readCondition));
  const problem = alternatives.flat().find((condition) => typeof condition === 'string');
  if (problem !== undefined) return refused(text, problem);
  const selector = alternatives.map((part) => part.filter((one) => typeof one !== 'string'));
  return { kind: 'read', selector };
}

const maxCharacters = 500;

function refused(text: string, problem: string): SelectorSource {
  const form = 'words joined by and, or, not, like `mellanox and 40G` or `freebsd and not release`';
  return { kind: 'refused', message: `${expected(form)({ input: text })}: ${problem}` };
}

function splitAt(tokens: readonly string[], separator: string): string[][] {
  const at = tokens.indexOf(separator);
  if (at === -1) return [[...tokens]];
  return [tokens.slice(0, at), ...splitAt(tokens.slice(at + 1), separator)];
}

/** Returns a text for an error. */
function readCondition(tokens: readonly string[]): Condition | string {
  const wanted = tokens[0] !== 'not';
  const [token, next] = wanted ? tokens : tokens.slice(1);
  if (token === undefined || token === 'not') return `a word is missing${wanted ? '' : ' after not'}`;
  if (next !== undefined) return `an and or an or is missing before \`${excerpt(next)}\``;

  const [, least] = /^cores>=([1-9]\d{0,3})$/.exec(token) ?? [];
  if (least !== undefined) return { kind: 'cores', least: Number(least), wanted };
  if (selectorWord.test(token)) return { kind: 'word', word: token, wanted };
  return token.includes('>=') ? 'only cores are compared, like `cores>=8`' : `\`${excerpt(token)}\` is no word`;
}

/** Canonical form, which `readSelector` parses back. */
export const selectorText = (selector: TestbedSelector): string =>
  selector.map((conditions) => conditions.map(conditionText).join(' and ')).join(' or ');

function conditionText(condition: Condition): string {
  const text = condition.kind === 'word' ? condition.word : `cores>=${condition.least}`;
  return condition.wanted ? text : `not ${text}`;
}

/** Conditions on unknown facts do not hold. */
export const isFulfilled = (selector: TestbedSelector, described: Described): boolean =>
  selector.some((conditions) => conditions.every((condition) => holds(condition, described) === condition.wanted));

const holds = (condition: Condition, { words, cores = 0 }: Described): boolean =>
  condition.kind === 'word' ? words.has(condition.word) : cores >= condition.least;
