// Authorizes a pull request to run on the testbed: it is hostile code until a person with write permission approves it.

import type { FoundPullRequest } from '../github/pull-request.ts';

/** `ignored` gets no reply. `why` is one sentence for the people on the pull request. */
export type Authorization =
  | { kind: 'allowed'; why: string }
  | { kind: 'refused'; why: string }
  | { kind: 'ignored'; why: string };

export type Occasion =
  | { kind: 'pushed'; by: string }
  /** Reopened or retargeted: GitHub does not report who pushed the head. */
  | { kind: 'revived'; by: string }
  | { kind: 'labelled'; by: string; at: string; label: string }
  /**
   * `at` is GitHub's time in ISO 8601, `commit` the named head or its first digits, and `verb` that of the command.
   * `isOtherwise`: overrides change the judgement.
   */
  | {
      kind: 'commanded';
      by: string;
      at: string;
      commit?: string;
      verb?: GateVerb;
      isOtherwise?: boolean;
    }
  /** Bisects named commits (`areNamed`), or those of the pull request; `at` and `commit` are as in a command. */
  | { kind: 'bisected'; by: string; at: string; commit?: string; areNamed: boolean }
  /** Cancels all gates of the pull request, for every head. */
  | { kind: 'cancelled'; by: string }
  /** The button on a check of `commit`; GitHub does not restrict its use. */
  | { kind: 'pressed'; by: string; commit: string }
  /** A manual run, which needs write permission on GitHub; `commit` is the named head. */
  | { kind: 'dispatched'; by: string; commit?: string };

type GateVerb = 'run' | 'rerun' | 'extend';

export type AuthorizationRules = {
  /** Logins whose patches may be measured without write permission. */
  people: readonly string[];
  label: string;
  mayWrite(login: string): Promise<boolean>;
  /** Head in ppsgate's comment with the time since when it is shown, and the heads shown before. */
  seen?: { headCommit: string; since: string; before?: readonly string[] } | undefined;
  measured: readonly string[];
};

type PatchOrigin = Pick<FoundPullRequest, 'pullRequest' | 'headRepository'>;

/**
 * Decides only for the head of `found`: a later push needs its own approval. On a fork's pull request, a command or
 * button approves a head that its author can have read: the commit with its full id, or a head shown before. The first
 * digits of an id do not count, as making another commit with the same digits takes seconds.
 */
export async function authorize(
  occasion: Occasion,
  found: PatchOrigin,
  rules: AuthorizationRules,
): Promise<Authorization> {
  const { number, repository, headCommit, author } = found.pullRequest;
  const { by } = occasion;
  const isAuthorized = async (login: string) =>
    rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) || (await rules.mayWrite(login));
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
      const why = `${by}, who may write to ${repository}, added the label ${rules.label} on #${number} at ${headCommit}.`;
      return { kind: 'allowed', why };
    }
    case 'pushed':
    case 'revived': {
      if (isOurs) {
        const why = `The head of #${number} is in ${repository} itself, where only people with write permission can push.`;
        return { kind: 'allowed', why };
      }
      // Owners of forks choose who may push to them, so both are checked.
      for (const login of new Set([author, by])) {
        if (!(await isAuthorized(login))) return fromElsewhere(found, rules.label);
      }
      if (occasion.kind === 'revived' && !rules.measured.includes(headCommit)) {
        return fromElsewhere(found, rules.label);
      }
      const why = `${author}, the author of #${number}, may have patches measured in ${repository}.`;
      return { kind: 'allowed', why };
    }
    case 'commanded': {
      if (!(await isAuthorized(by))) return stranger(by, found);
      if (occasion.isOtherwise && !(await rules.mayWrite(by))) return asConfigured(by, found);
      const gap = isOurs ? undefined : whyUnseen(occasion, occasion.verb ?? 'run', headCommit, rules.seen);
      if (gap !== undefined) return { kind: 'refused', why: gap };
      const why = `${by}, who may have patches measured in ${repository}, requested #${number} at ${headCommit}.`;
      return { kind: 'allowed', why };
    }
    case 'bisected': {
      // A bisection measures every commit of a range, by any author, for hours.
      if (!(await rules.mayWrite(by))) return notBisected(by, found);
      const isFree = isOurs || occasion.areNamed;
      const gap = isFree ? undefined : whyUnseen(occasion, 'bisect', headCommit, rules.seen);
      if (gap !== undefined) return { kind: 'refused', why: gap };
      const why = `${by}, who may write to ${repository}, requested a bisection at #${number}.`;
      return { kind: 'allowed', why };
    }
    case 'cancelled': {
      if (await isAuthorized(by)) return { kind: 'allowed', why: `${by} cancelled it.` };
      const why = `Thank you, ${by}: runs for #${number} are not cancelled; people with write access to ${repository}, or listed in \`github.people\` of its ppsgate.yml, may cancel them with /ppsgate cancel.`;
      return { kind: 'refused', why };
    }
    case 'pressed':
    case 'dispatched': {
      const { kind, commit } = occasion;
      if (commit !== undefined && !headCommit.startsWith(commit)) {
        return { kind: 'refused', why: isOlder(commit, headCommit) };
      }
      if (kind === 'pressed' && !(await isAuthorized(by))) return stranger(by, found);
      if (commit !== headCommit && !isOurs) {
        return { kind: 'refused', why: unnamed(number, headCommit) };
      }
      const why = `${by}, who may have patches measured in ${repository}, started it for #${number} at ${headCommit}.`;
      return { kind: 'allowed', why };
    }
  }
}

/** Greatest difference between the clocks of GitHub and a runner. */
const clockSeconds = 10;

function whyUnseen(
  { at, commit }: { at: string; commit?: string },
  verb: GateVerb | 'bisect',
  headCommit: string,
  seen: AuthorizationRules['seen'],
): string | undefined {
  if (commit === headCommit) return undefined;
  if (commit !== undefined && !headCommit.startsWith(commit)) return isOlder(commit, headCommit);
  if (commit === undefined) {
    if (isSeen(at, headCommit, seen)) return undefined;
    return `The head is ${headCommit}, which may have been pushed after the command: read it, and write /ppsgate ${verb} ${headCommit}.`;
  }
  const hasTwin = seen?.before?.some((one) => one !== headCommit && one.startsWith(commit));
  if (isSeen(at, headCommit, seen) && !hasTwin) return undefined;
  return `The head is ${headCommit}, but ${commit} may also abbreviate another commit: read it, and write /ppsgate ${verb} ${headCommit}.`;
}

const isSeen = (at: string, headCommit: string, seen: AuthorizationRules['seen']): boolean =>
  seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1000 < Date.parse(at);

const unseenLabel = (headCommit: string): string =>
  `The head is ${headCommit}, which may have been pushed after the label was added: read it, then write /ppsgate run ${headCommit}, or remove the label and add it again.`;

/** Requires the head's name, as GitHub does not report when a run was started. */
const unnamed = (number: number, headCommit: string): string =>
  `The head of #${number} is ${headCommit}, which may have been pushed after the run was started: read it, and start a run with ${headCommit} in place of #${number}.`;

const isOlder = (commit: string, headCommit: string): string =>
  `The head is now ${headCommit} instead of ${commit}: read it, and request it again.`;

const stranger = (by: string, { pullRequest: { number, repository } }: PatchOrigin): Authorization => ({
  kind: 'refused',
  why: `Thank you, ${by}: #${number} runs on the testbed once a person with write access to ${repository} requests it.`,
});

const notBisected = (by: string, { pullRequest: { number, repository } }: PatchOrigin): Authorization => ({
  kind: 'refused',
  why: `Thank you, ${by}: no bisection was started at #${number}; people with write access to ${repository} can request one with /ppsgate bisect.`,
});

/** Restricts overrides: a wide margin passes any patch, so its author could merge it without write permission. */
const asConfigured = (by: string, { pullRequest: { number, repository } }: PatchOrigin): Authorization => ({
  kind: 'refused',
  why: `Thank you, ${by}: you can have #${number} measured as configured in ppsgate.yml; a different margin, scenarios, families or testbed require write access to ${repository}.`,
});

function fromElsewhere({ pullRequest, headRepository }: PatchOrigin, label: string): Authorization {
  const { number, repository, headCommit } = pullRequest;
  const from = headRepository ?? 'a repository that was deleted';
  return {
    kind: 'refused',
    why: `Thank you for #${number}: because it comes from ${from}, it runs on the testbed only after a maintainer of ${repository} has read ${headCommit} and then added the label ${label} or written /ppsgate run ${headCommit}.`,
  };
}
