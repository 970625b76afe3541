// May this diff be run on our hardware? It is hostile code until somebody of ours stands for it.

import type { Person } from '../phabricator/revision.ts';
import type { Leave } from './authorize.ts';

/** What made us look at a diff of a revision, and whose doing it was. */
export type RevisionOccasion =
  /** It was sent, or a build of it began: nobody but its author and who sent it has a hand in it. */
  | { kind: 'sent'; by: readonly Person[] }
  /** `isNamed` where the person wrote the id of the diff, `sentAt` is when the diff came. */
  | { kind: 'commanded'; verb: Verb; by: Person; at: Date; sentAt: Date; isNamed: boolean }
  /** What runs for the revision is to end, whichever diff it is of. */
  | { kind: 'cancelled'; by: Person };

type Verb = 'run' | 'rerun' | 'extend' | 'bisect';

type RevisionRules = {
  /** User names. */
  people: readonly string[];
  /** Hashtags of the projects that `isMember` asks for. */
  projects: readonly string[];
  isMember(phid: string): Promise<boolean>;
};

/**
 * Decides for one diff, for good: a later one needs leave again. A command is leave for what the commander can have
 * read: the diff that he names, or one that was there for a while before he wrote.
 */
export async function authorizeRevision(
  { number, diff }: { number: number; diff: number },
  occasion: RevisionOccasion,
  rules: RevisionRules,
): Promise<Leave> {
  const isKnown = async ({ phid, name }: Person) =>
    rules.people.includes(name) || (rules.projects.length > 0 && (await rules.isMember(phid)));
  switch (occasion.kind) {
    case 'sent': {
      for (const person of occasion.by) {
        if (!(await isKnown(person))) return stranger(person, 'run', { number, diff }, rules);
      }
      const names = [...new Set(occasion.by.map(({ name }) => name))].join(' and ');
      return { kind: 'allowed', why: `${names} may have diffs measured.` };
    }
    case 'commanded': {
      const { verb, by, at, sentAt, isNamed } = occasion;
      if (!(await isKnown(by))) return stranger(by, verb, { number, diff }, rules);
      if (!isNamed && at.getTime() - sentAt.getTime() < readingSeconds * 1000) {
        const why = `Diff ${diff} came just before the command was written: read it, and write @ppsgate ${verb} ${diff}.`;
        return { kind: 'refused', why };
      }
      return { kind: 'allowed', why: `${by.name}, who may have diffs measured, asked for it.` };
    }
    case 'cancelled': {
      const { by } = occasion;
      if (await isKnown(by)) {
        return { kind: 'allowed', why: `${by.name}, who may have diffs measured, asked for it.` };
      }
      const who = oursIn(rules);
      const may = who === undefined ? nobody('do that') : `${who} may do that, by @ppsgate cancel`;
      const why = `Thank you, ${by.name}: what runs for D${number} is not cancelled; ${may}.`;
      return { kind: 'refused', why };
    }
  }
}

/** Whoever began to write before the diff came has written by then. */
const readingSeconds = 60;

const waits: Record<Verb, string> = {
  run: 'is not measured yet',
  rerun: 'is not measured again yet',
  extend: 'is not measured any further yet',
  bisect: 'is not bisected yet',
};

function stranger(
  { name }: Person,
  verb: Verb,
  { number, diff }: { number: number; diff: number },
  rules: RevisionRules,
): Leave {
  const who = oursIn(rules);
  const asks =
    who === undefined
      ? nobody('ask for it')
      : `it runs on the testbed when ${who} has read diff ${diff} and written @ppsgate ${verb} ${diff}`;
  return { kind: 'refused', why: `Thank you, ${name}: D${number} ${waits[verb]}; ${asks}.` };
}

/** Undefined where nobody is. */
function oursIn({ people, projects }: RevisionRules): string | undefined {
  const who = [
    ...(projects.length > 0 ? [`a member of ${projects.join(' or ')}`] : []),
    ...(people.length > 0 ? ['somebody of the list in ppsgate.yml'] : []),
  ];
  return who.length === 0 ? undefined : who.join(' or ');
}

const nobody = (what: string): string =>
  `nobody may ${what}: \`people\` and \`projects\` in ppsgate.yml are empty`;
