// Parses commands in comments: `/ppsgate run forwarding inet6 margin=1%`, on Phabricator `@ppsgate run`.
import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { kebabCase, type OverrideName, overrideNames, parameter } from '../../config/parameters.ts';
import * as bounded from '../../model/bounds.ts';
import { type CommandPrefix, callOnGithub, callOnPhabricator } from '../../model/patch.ts';
import { families } from '../../model/scenario.ts';
import { excerpt } from '../../model/units.ts';
import { type BisectOverrides, readBisect } from './bisect-command.ts';
import { keyFor, keysOf, pairIn, wordsOf } from './command-words.ts';

const typed = bounded.text(500).optional();

/** Overrides of ppsgate.yml for one gate, as typed. */
export const gateOverridesSchema = z.object(
  Object.fromEntries(overrideNames.map((name) => [name, typed])) as Record<OverrideName, typeof typed>,
);

export type GateOverrides = z.infer<typeof gateOverridesSchema>;

/** Named head; on Phabricator, id of the named diff. */
type NamedHead = { commit?: string; diff?: number };

export type CommentCommand =
  | ({ kind: 'run'; overrides: GateOverrides } & NamedHead)
  | ({ kind: 'rerun' } & NamedHead)
  | ({ kind: 'extend'; maxRuns?: string } & NamedHead)
  /** `list` is the digest of the approved commits, see `unreadCommits`. */
  | ({ kind: 'bisect'; overrides: BisectOverrides; list?: string } & NamedHead)
  | { kind: 'cancel' }
  | { kind: 'help' }
  /** `why` is one sentence that ends with the nearest correct command. It quotes the comment. */
  | { kind: 'mistaken'; why: string };

/**
 * Parses the first line of a comment, which must begin with `call`; undefined for other comments. Does not check
 * scenarios, testbeds and margins against the configuration.
 */
export function parseCommand(comment: string, call: CommandPrefix = callOnGithub): CommentCommand | undefined {
  const [line = ''] = comment.trimStart().split(/\r?\n/, 1);
  const [first, ...words] = wordsOf(line.slice(0, longestCommand));
  if (first !== call) return undefined;
  const [verb = 'help', ...rest] = words;
  const mistaken = (what: string, nearest: string): CommentCommand => ({
    kind: 'mistaken',
    why: `${what}; write ${call} ${nearest}`,
  });
  switch (verb) {
    case 'help':
    case 'cancel':
      if (rest.length === 0) return { kind: verb };
      return mistaken(`${verb} takes no arguments, found "${excerpt(rest.join(' '))}"`, verb);
    case 'run':
    case 'rerun':
    case 'extend': {
      const read = readArguments(verb, rest, call);
      return read.kind === 'mistaken' ? mistaken(read.what, read.nearest) : read;
    }
    case 'accept':
      if (call !== callOnGithub) return mistaken(noVerb(verb), nearestVerb(verb));
      return mistaken('accept works only in an issue that ppsgate opened for a change', 'help');
    case 'bisect': {
      const read = readBisect(rest, (word) => heads[call].test(word));
      if (read.kind === 'mistaken') return mistaken(read.what, read.nearest);
      const { overrides, head, list } = read;
      return { kind: verb, overrides, ...(list && { list }), ...headNamed(head, call) };
    }
    default:
      return mistaken(noVerb(verb), nearestVerb(verb));
  }
}

export function isAcceptCommand(comment: string): boolean {
  const [line = ''] = comment.trimStart().split(/\r?\n/, 1);
  return /^\/ppsgate\s+accept\s*$/.test(line);
}

const noVerb = (word: string): string => `there is no command "${excerpt(word)}"`;

function nearestVerb(word: string): string {
  const nearest = closest(word.toLowerCase(), verbs);
  return distance(word.toLowerCase(), nearest) <= 2 ? nearest : 'help';
}

export const verbs = ['run', 'rerun', 'extend', 'bisect', 'cancel', 'help'] as const;

export function commandsFor(call: CommandPrefix): { write: string; to: string }[] {
  const isOnGithub = call === callOnGithub;
  const all: Record<(typeof verbs)[number], readonly (readonly [string, string])[]> = {
    run: [
      ['run', isOnGithub ? 'measure the current head of the pull request' : 'measure the newest diff'],
      isOnGithub
        ? ['run 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d', 'the same if this is the head; for a patch from a fork']
        : ['run 80677', 'measure that diff; for a diff by an unapproved person'],
      [
        'run forwarding inet6 margin=1% runs=20 testbed=chelsio',
        'the same with other scenarios, families, margin, maximum runs or testbed',
      ],
      ['run metric=nsPerPacket', 'the same with another metric than the configured one'],
      ['run profile', 'the same with profiles; profile=off for none, profile=30s for longer ones'],
      ['run stop-at-first=on', 'the same, but the first cell with a loss ends all runs'],
      ['run measure-anyway', 'the same, even if nothing installed on the testbed differs'],
      ...(isOnGithub
        ? []
        : [['run earlier=80345,80654', 'also measure those earlier diffs; all means every earlier one'] as const]),
    ],
    rerun: [['rerun', 'repeat the last request']],
    extend: [['extend runs=40', 'continue an inconclusive experiment']],
    bisect: [
      [
        'bisect',
        isOnGithub
          ? 'find the commit of the pull request that lost performance'
          : 'find the diff of the revision that lost performance',
      ],
      isOnGithub
        ? [
            'bisect 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d',
            'the same for a patch from a fork if this is the head; lists its commits first',
          ]
        : ['bisect 80677 earlier=80345,80654', 'the same among those diffs; each is built and run'],
      [
        'bisect v1.2 main forwarding inet4',
        'the same between two chosen commits, good and bad, in one scenario and family',
      ],
      [
        'bisect fix-up=3c4d5e6f7a8b skip=1a2b3c4..5d6e7f8',
        'the same with a fix applied where it is missing, and without some commits',
      ],
      [
        'bisect testbed=chelsio verify-revert',
        'the same on another testbed; also measures the bad commit without the culprit',
      ],
      ['bisect metric=pps max-boots=60 profile=off', 'the same with another metric, more boots, or no profiles'],
    ],
    cancel: [['cancel', 'cancel running and waiting gates']],
    help: [['help', 'show this list']],
  };
  return verbs.flatMap((verb) => all[verb].map(([rest, to]) => ({ write: `${call} ${rest}`, to })));
}

export const longestCommand = 500;

const keyed = keysOf(overrideNames);

const switches = new Map(
  overrideNames.flatMap((name) => (parameter(name).kind === 'switch' ? [[kebabCase(name), name] as const] : [])),
);

const heads = {
  [callOnGithub]: /^[0-9a-f]{7,64}$/,
  [callOnPhabricator]: /^[1-9]\d{0,8}$/,
} as const;

function keysFor(verb: Verb, call: CommandPrefix): string[] {
  if (verb === 'rerun') return [];
  const all = [...keyed.values()].filter(({ isOfRevision = false }) => !isOfRevision || call === callOnPhabricator);
  return all.map(({ key }) => key).filter((key) => verb === 'run' || key === 'runs');
}

type Verb = 'run' | 'rerun' | 'extend';

type ParsedArguments =
  | Extract<CommentCommand, { kind: 'run' | 'rerun' | 'extend' }>
  | { kind: 'mistaken'; what: string; nearest: string };

function readArguments(verb: Verb, words: readonly string[], call: CommandPrefix): ParsedArguments {
  const allowed = keysFor(verb, call);
  const overrides: GateOverrides = {};
  const familyWords: string[] = [];
  const scenarioWords: string[] = [];
  let namedHead: string | undefined;
  const mistaken = (what: string, nearest: string = verb): ParsedArguments => ({
    kind: 'mistaken',
    what,
    nearest,
  });

  for (const word of words) {
    const pair = pairIn(word);
    const switchNamed = switches.get(word);
    if (pair !== undefined) {
      const match = keyFor(pair, { verb, allowed, keyed });
      if (match.kind === 'mistaken') return match;
      const { name } = match.parameter;
      if (overrides[name] !== undefined) return mistaken(`${pair.key} is given twice`);
      overrides[name] = pair.value;
    } else if (heads[call].test(word) && namedHead === undefined) {
      namedHead = word;
    } else if (verb !== 'run' || !/^[a-z][\w.-]*$/i.test(word)) {
      return mistaken(`${verb} takes no "${excerpt(word)}"`);
    } else if (word === 'profile') {
      overrides.profile ??= 'on';
    } else if (switchNamed !== undefined) {
      overrides[switchNamed] = 'true';
    } else if (families.some((family) => family === word)) {
      familyWords.push(word);
    } else {
      scenarioWords.push(word);
    }
  }

  const of = headNamed(namedHead, call);
  if (verb === 'rerun') return { kind: verb, ...of };
  if (verb === 'extend') {
    return {
      kind: verb,
      ...(overrides.maxRuns !== undefined && { maxRuns: overrides.maxRuns }),
      ...of,
    };
  }
  if (scenarioWords.length > 0) overrides.scenarios = scenarioWords.join(',');
  if (familyWords.length > 0) overrides.families = familyWords.join(',');
  return { kind: verb, overrides, ...of };
}

function headNamed(text: string | undefined, call: CommandPrefix): NamedHead {
  if (text === undefined) return {};
  return call === callOnGithub ? { commit: text } : { diff: Number(text) };
}
