// May this patch be run on our hardware? It is hostile code until somebody who may write to the repository stands for it.

import { shortId } from '../../model/patch.ts';
import type { FoundPullRequest } from '../github/pull-request.ts';

/** `ignored` is what nobody asked for, so nobody is answered; `why` is one sentence for the people at the patch. */
export type Leave =
  | { kind: 'allowed'; why: string }
  | { kind: 'refused'; why: string }
  | { kind: 'ignored'; why: string };

/** What made us look at a pull request, and whose doing it was. */
export type Occasion =
  /** Opened, or pushed to. */
  | { kind: 'pushed'; by: string }
  /** Opened again, or sent to another branch: somebody else may have pushed the head, and GitHub does not tell who. */
  | { kind: 'revived'; by: string }
  /** `at` is GitHub's time, in ISO 8601. */
  | { kind: 'labelled'; by: string; at: string; label: string }
  /**
   * `at` is GitHub's time, in ISO 8601; `commit` is the head that the person named, if any; `isOtherwise` where a patch
   * is to be held to something else than what the configuration says.
   */
  | { kind: 'commanded'; by: string; at: string; commit?: string; isOtherwise?: boolean }
  /**
   * A bisection: of commits that the person named (`areNamed`), or of those of the pull request; `at` and `commit` are as
   * of what is commanded.
   */
  | { kind: 'bisected'; by: string; at: string; commit?: string; areNamed: boolean }
  /** What runs is to end, whichever head it is of. */
  | { kind: 'cancelled'; by: string }
  /** The button of a check, which stands on `commit`; GitHub does not promise who may press one. */
  | { kind: 'pressed'; by: string; commit: string }
  /** A run by hand, which GitHub lets only people who may write start; `commit` is the head that the person named, if any. */
  | { kind: 'dispatched'; by: string; commit?: string };

export type LeaveRules = {
  /** Logins that may have patches measured, besides those who may write. */
  people: readonly string[];
  label: string;
  /** Asks GitHub. */
  mayWrite(login: string): Promise<boolean>;
  /** Since when the head has been known to the people at the patch, as ppsgate's comment there tells. */
  seen?: { headCommit: string; since: string } | undefined;
  /** Heads that were measured before, as that comment tells: there was leave for them. */
  measured: readonly string[];
};

type Found = Pick<FoundPullRequest, 'pullRequest' | 'headRepository'>;

/**
 * Decides for the head as `found` has it, and for no other: a later push needs leave again. What somebody does at the
 * pull request of a fork is leave for what he can have seen: the commit that he names, or a head that was known before.
 */
export async function authorize(
  occasion: Occasion,
  found: Found,
  rules: LeaveRules,
): Promise<Leave> {
  const { number, repository, headCommit, author } = found.pullRequest;
  const { by } = occasion;
  const isKnown = async (login: string) =>
    rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) ||
    (await rules.mayWrite(login));
  const isOurs = found.headRepository === repository;

  switch (occasion.kind) {
    case 'labelled': {
      if (occasion.label !== rules.label) {
        return { kind: 'ignored', why: `The label is not "${rules.label}".` };
      }
      if (!(await rules.mayWrite(by))) return stranger(by, found);
      if (!isOurs && !isSeen(occasion.at, headCommit, rules.seen)) {
        return { kind: 'refused', why: unseenLabel(headCommit) };
      }
      const why = `${by}, who may write to ${repository}, put the label ${rules.label} on #${number} at ${shortId(headCommit)}.`;
      return { kind: 'allowed', why };
    }
    case 'pushed':
    case 'revived': {
      if (isOurs) {
        const why = `The head of #${number} is in ${repository} itself, where only people with write permission can push.`;
        return { kind: 'allowed', why };
      }
      // Whoever may push to a fork is its owner's choice, so both are asked.
      for (const login of new Set([author, by])) {
        if (!(await isKnown(login))) return fromElsewhere(found, rules.label);
      }
      if (occasion.kind === 'revived' && !rules.measured.includes(headCommit)) {
        return fromElsewhere(found, rules.label);
      }
      const why = `${author}, the author of #${number}, may have patches measured in ${repository}.`;
      return { kind: 'allowed', why };
    }
    case 'commanded': {
      if (!(await isKnown(by))) return stranger(by, found);
      if (occasion.isOtherwise && !(await rules.mayWrite(by))) return asConfigured(by, found);
      const gap = isOurs ? undefined : whyUnseen(occasion, 'run', headCommit, rules.seen);
      if (gap !== undefined) return { kind: 'refused', why: gap };
      const why = `${by}, who may have patches measured in ${repository}, asked for #${number} at ${shortId(headCommit)}.`;
      return { kind: 'allowed', why };
    }
    case 'bisected': {
      // Every commit of a range is measured, whoever it is by, and for hours.
      if (!(await rules.mayWrite(by))) return notBisected(by, found);
      const isFree = isOurs || occasion.areNamed;
      const gap = isFree ? undefined : whyUnseen(occasion, 'bisect', headCommit, rules.seen);
      if (gap !== undefined) return { kind: 'refused', why: gap };
      const why = `${by}, who may write to ${repository}, asked for a bisection at #${number}.`;
      return { kind: 'allowed', why };
    }
    case 'cancelled': {
      if (await isKnown(by)) return { kind: 'allowed', why: `${by} has cancelled it.` };
      const why = `Thank you, ${by}: what runs for #${number} is not cancelled; who may write to ${repository}, and who is among \`github.people\` of its ppsgate.yml, may do that, by /ppsgate cancel.`;
      return { kind: 'refused', why };
    }
    case 'pressed':
    case 'dispatched': {
      const { kind, commit } = occasion;
      if (commit !== undefined && commit !== headCommit) {
        return { kind: 'refused', why: isOlder(commit, headCommit) };
      }
      if (kind === 'pressed' && !(await isKnown(by))) return stranger(by, found);
      if (commit === undefined && !isOurs) {
        return { kind: 'refused', why: unnamed(number, headCommit) };
      }
      const why = `${by}, who may have patches measured in ${repository}, started it for #${number} at ${shortId(headCommit)}.`;
      return { kind: 'allowed', why };
    }
  }
}

/** The clocks of GitHub and of a runner may differ by so much. */
const clockSeconds = 10;

function whyUnseen(
  { at, commit }: { at: string; commit?: string },
  verb: 'run' | 'bisect',
  headCommit: string,
  seen: LeaveRules['seen'],
): string | undefined {
  if (commit !== undefined) {
    return headCommit.startsWith(commit) ? undefined : isOlder(commit, headCommit);
  }
  if (isSeen(at, headCommit, seen)) return undefined;
  return `The head is ${shortId(headCommit)}, and may have been pushed after the command was written: read it, and write /ppsgate ${verb} ${shortId(headCommit)}.`;
}

const isSeen = (at: string, headCommit: string, seen: LeaveRules['seen']): boolean =>
  seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1000 < Date.parse(at);

const unseenLabel = (headCommit: string): string =>
  `The head is ${shortId(headCommit)}, and may have been pushed after the label was put: read it, and then write /ppsgate run ${shortId(headCommit)}, or take the label off and put it on again.`;

/** When a run was started GitHub does not tell it. */
const unnamed = (number: number, headCommit: string): string =>
  `The head of #${number} is ${shortId(headCommit)}, and may have been pushed after the run was started: read it, and start one with ${headCommit} in place of #${number}.`;

const isOlder = (commit: string, headCommit: string): string =>
  `The head is ${shortId(headCommit)} and no longer ${shortId(commit)}: read it, and ask again.`;

const stranger = (by: string, { pullRequest: { number, repository } }: Found): Leave => ({
  kind: 'refused',
  why: `Thank you, ${by}: #${number} runs on the testbed when somebody who may write to ${repository} asks for it.`,
});

const notBisected = (by: string, { pullRequest: { number, repository } }: Found): Leave => ({
  kind: 'refused',
  why: `Thank you, ${by}: no bisection begins at #${number}; who may write to ${repository} can ask for one, by /ppsgate bisect.`,
});

/** A wide margin passes any patch, and who may not write may not let his own be merged by it. */
const asConfigured = (by: string, { pullRequest: { number, repository } }: Found): Leave => ({
  kind: 'refused',
  why: `Thank you, ${by}: you can have #${number} measured as ppsgate.yml says; a margin, scenarios, families or a testbed of one's own are for those who may write to ${repository}.`,
});

function fromElsewhere({ pullRequest, headRepository }: Found, label: string): Leave {
  const { number, repository, headCommit } = pullRequest;
  const from = headRepository ?? 'a repository that was deleted';
  const commit = shortId(headCommit);
  return {
    kind: 'refused',
    why: `Thank you for #${number}: because it comes from ${from}, it runs on the testbed only after a maintainer of ${repository} has read ${commit}, and then put the label ${label} on it or written /ppsgate run ${commit}.`,
  };
}
