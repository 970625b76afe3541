// Authorizes a Phabricator diff to run on the testbed: it is hostile code until an authorized person approves it.

import { isSameName, type Person } from '../phabricator/revision.ts';
import type { Authorization } from './authorize.ts';

export type RevisionOccasion =
  /** The diff was sent, or a build of it began; `by` lists its author and its sender. */
  | { kind: 'sent'; by: readonly Person[] }
  /** `isNamed`: the command names the diff's id; `isMeasured`: the diff has a verdict; `sentAt`: time of the diff. */
  | {
      kind: 'commanded';
      verb: Verb;
      by: Person;
      at: Date;
      sentAt: Date;
      isNamed: boolean;
      isMeasured?: boolean;
    }
  /** Cancels all gates of the revision, for every diff. */
  | { kind: 'cancelled'; by: Person };

type Verb = 'run' | 'rerun' | 'extend' | 'bisect';

type RevisionRules = {
  people: readonly string[];
  projects: readonly string[];
  isMember(phid: string): Promise<boolean>;
};

/**
 * Decides for one diff only: a later one needs its own approval. A command approves a diff that its author can have
 * read: either the one that it names, or one that existed for some time before.
 */
export async function authorizeRevision(
  { number, diff }: { number: number; diff: number },
  occasion: RevisionOccasion,
  rules: RevisionRules,
): Promise<Authorization> {
  const isAuthorized = async ({ phid, name }: Person) =>
    rules.people.some((one) => isSameName(one, name)) || (rules.projects.length > 0 && (await rules.isMember(phid)));
  switch (occasion.kind) {
    case 'sent': {
      for (const person of occasion.by) {
        if (!(await isAuthorized(person))) return stranger(person, 'run', { number, diff }, rules);
      }
      const names = [...new Set(occasion.by.map(({ name }) => name))].join(' and ');
      return { kind: 'allowed', why: `${names} may have diffs measured.` };
    }
    case 'commanded': {
      const { verb, by, at, sentAt, isNamed, isMeasured = false } = occasion;
      if (!(await isAuthorized(by))) return stranger(by, verb, { number, diff, isMeasured }, rules);
      if (!isNamed && at.getTime() - sentAt.getTime() < readingSeconds * 1000) {
        const why = `Diff ${diff} was uploaded just before the command: read it, and write @ppsgate ${verb} ${diff}.`;
        return { kind: 'refused', why };
      }
      return { kind: 'allowed', why: `${by.name}, who may have diffs measured, requested it.` };
    }
    case 'cancelled': {
      const { by } = occasion;
      if (await isAuthorized(by)) {
        return { kind: 'allowed', why: `${by.name}, who may have diffs measured, requested it.` };
      }
      const who = oursIn(rules);
      const may = who === undefined ? noPerson('do that') : `${who} may do that with @ppsgate cancel`;
      const why = `Thank you, ${by.name}: runs for D${number} are not cancelled; ${may}.`;
      return { kind: 'refused', why };
    }
  }
}

/** Time within which a comment is posted that was begun before the diff arrived. */
const readingSeconds = 60;

const waits: Record<Verb, string> = {
  run: 'is not measured yet',
  rerun: 'is not measured again yet',
  extend: 'is not extended yet',
  bisect: 'is not bisected yet',
};

function stranger(
  { name }: Person,
  verb: Verb,
  { number, diff, isMeasured }: { number: number; diff: number; isMeasured?: boolean },
  rules: RevisionRules,
): Authorization {
  const who = oursIn(rules);
  if (isMeasured && verb === 'run') {
    const again =
      who === undefined
        ? noPerson('request it again')
        : `${who} can have it measured again with @ppsgate rerun ${diff}`;
    const why = `Thank you, ${name}: diff ${diff} of D${number} is being measured, see the comment of ppsgate; ${again}.`;
    return { kind: 'refused', why };
  }
  const verbText =
    who === undefined
      ? noPerson('request it')
      : `it runs on the testbed once ${who} has read diff ${diff} and written @ppsgate ${verb} ${diff}`;
  return { kind: 'refused', why: `Thank you, ${name}: D${number} ${waits[verb]}; ${verbText}.` };
}

function oursIn({ people, projects }: RevisionRules): string | undefined {
  const who = [
    ...(projects.length > 0 ? [`a member of ${projects.join(' or ')}`] : []),
    ...(people.length > 0 ? ['a person listed in ppsgate.yml'] : []),
  ];
  return who.length === 0 ? undefined : who.join(' or ');
}

const noPerson = (what: string): string =>
  `no person may ${what}: \`people\` and \`projects\` in ppsgate.yml are empty`;
