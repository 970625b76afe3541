// May this diff be run on our hardware? It is hostile code until somebody of ours stands for it.

import type { Person } from '../phabricator/revision.ts';
import type { Leave } from './authorize.ts';

/** What made us look at a diff of a revision, and whose doing it was. */
export type RevisionOccasion =
  /** It was sent, or a build of it began: nobody but its author and who sent it has a hand in it. */
  | { kind: 'sent'; by: readonly Person[] }
  /** `isNamed` where the person wrote the id of the diff, `sentAt` is when the diff came. */
  | { kind: 'commanded'; by: Person; at: Date; sentAt: Date; isNamed: boolean };

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
        if (!(await isKnown(person))) return stranger(person, { number, diff }, rules);
      }
      const names = [...new Set(occasion.by.map(({ name }) => name))].join(' and ');
      return { kind: 'allowed', why: `${names} may have diffs measured.` };
    }
    case 'commanded': {
      const { by, at, sentAt, isNamed } = occasion;
      if (!(await isKnown(by))) return stranger(by, { number, diff }, rules);
      if (!isNamed && at.getTime() - sentAt.getTime() < readingSeconds * 1000) {
        const why = `Diff ${diff} came just before the command was written: read it, and write @ppsgate run ${diff}.`;
        return { kind: 'refused', why };
      }
      return { kind: 'allowed', why: `${by.name}, who may have diffs measured, asked for it.` };
    }
  }
}

/** Whoever began to write before the diff came has written by then. */
const readingSeconds = 60;

function stranger(
  { name }: Person,
  { number, diff }: { number: number; diff: number },
  { people, projects }: RevisionRules,
): Leave {
  const who = [
    ...(projects.length > 0 ? [`a member of ${projects.join(' or ')}`] : []),
    ...(people.length > 0 ? ['somebody of the list in ppsgate.yml'] : []),
  ];
  const asks =
    who.length === 0
      ? 'nobody may ask for it: `people` and `projects` in ppsgate.yml are empty'
      : `${who.join(' or ')} has read diff ${diff} and written @ppsgate run ${diff}`;
  const when = who.length === 0 ? '' : 'it runs on the testbed when ';
  return {
    kind: 'refused',
    why: `Thank you, ${name}: D${number} is not measured yet; ${when}${asks}.`,
  };
}
