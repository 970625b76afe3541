// Admits a trigger: finds its patch and commits, authorizes them, and makes the request to measure.

import type { Config } from '../config/schema.ts';
import { type Octokit, ownLogin } from '../forge/github/client.ts';
import { readIssue } from '../forge/github/issue.ts';
import { type FoundPullRequest, mayWrite, numbersOf, pullRequestNumber } from '../forge/github/pull-request.ts';
import { type AuthorizationRules, authorize, type Occasion } from '../forge/patch/authorize.ts';
import { type GateOverrides, parseCommand } from '../forge/patch/command.ts';
import { patchOfRange, patchOfTypedRange } from '../forge/patch/commit-range.ts';
import { type Repository, withoutShortIds } from '../forge/patch/repository.ts';
import { looksLikeRevision } from '../forge/phabricator/revision.ts';
import { type Patch, patchName, shortId } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import { changeIdIn } from '../publish/reporters/alert-text.ts';
import { type CommentMemory, readMemory } from '../publish/reporters/comment-text.ts';
import { type Admission, type AdmitDeps, type Dispatched, noticeName, type PullRequestCommand } from './admission.ts';
import { type GateRequest, relayOf } from './approved-request.ts';
import type { Trigger } from './trigger.ts';

/** Throws a `UsageError` for a patch that cannot be measured, and an Error if GitHub does not reply. */
export async function admit(trigger: Trigger, given: AdmitDeps): Promise<Admission> {
  const deps = { ...given, repository: withoutShortIds(given.repository) };
  const requested = await requestedBy(trigger, deps);
  return requested.kind === 'command' ? authorized(requested, deps) : requested;
}

async function requestedBy(trigger: Trigger, deps: AdmitDeps): Promise<PullRequestCommand | Admission> {
  switch (trigger.kind) {
    case 'nothing':
      return trigger;
    case 'pull-request':
      return { ...trigger, kind: 'command', command: { kind: 'run', overrides: {} } };
    case 'comment':
      return admitComment(trigger, deps);
    case 'acceptance':
      return { kind: 'nothing', why: 'A level is accepted by a job with `command: accept`.' };
    case 'dispatched':
      return requestedByHand(trigger, deps);
    case 'button':
      return requestedByButton(trigger, deps);
    case 'queued': {
      const { branch: queue, base, head } = trigger;
      const patch = await patchOfRange(deps.repository, `${base}..${head}`);
      const why = 'A person with write access added it to the merge queue.';
      // Comes before patches, as other pull requests wait as long as the queue does.
      return admitted({ patch, queue, priority: 'release' }, why, deps);
    }
    case 'push': {
      const patch = await pushed(trigger, deps.repository);
      const why = 'Each push to the default branch is measured.';
      return admitted({ patch, purpose: 'history', priority: 'rerun' }, why, deps);
    }
    case 'schedule': {
      const patch = await patchOfRange(deps.repository, `${trigger.commit}..${trigger.commit}`);
      const why = 'The head of the default branch is measured against itself.';
      return admitted({ patch, purpose: 'nightly', priority: 'rerun' }, why, deps);
    }
  }
}

/** Needs no approval: only people with write access can name these commits. */
async function admitted(
  request: Pick<GateRequest, 'patch'> & Partial<GateRequest>,
  why: string,
  { readConfig, priority }: AdmitDeps,
): Promise<Admission> {
  const usual = { overrides: {}, purpose: 'patch', ...request } as const;
  return {
    kind: 'gate',
    request: { ...usual, priority: priority ?? request.priority ?? 'patch' },
    config: await readConfig(request.patch.baseCommit),
    why,
  };
}

/** Without a usable commit before the push (a new branch, a forced push) only the last commit is measured. */
async function pushed({ before, after }: { before: string; after: string }, repository: Repository): Promise<Patch> {
  const isPresent = await repository.resolve(before).then(
    () => !/^0+$/.test(before),
    () => false,
  );
  return patchOfRange(repository, `${isPresent ? before : `${after}^`}..${after}`);
}

async function requestedByButton(
  { by, button, headCommit, number }: Extract<Trigger, { kind: 'button' }>,
  deps: AdmitDeps,
): Promise<PullRequestCommand | Admission> {
  const all = await deps.pullRequests.withHead(headCommit);
  const candidates = number === undefined ? all : all.filter(({ pullRequest }) => pullRequest.number === number);
  const [found, ...more] = candidates;
  if (found === undefined) {
    return { kind: 'nothing', why: `No open pull request has the head ${headCommit}.` };
  }
  if (more.length > 0) {
    const why = `${numbersOf(candidates)} have the head ${headCommit}: write /ppsgate rerun in the intended one.`;
    return { kind: 'nothing', why };
  }
  const occasion: Occasion = { kind: 'pressed', by, commit: headCommit };
  return { kind: 'command', found, occasion, command: { kind: button } };
}

type Comment = Extract<Trigger, { kind: 'comment' }>;

async function admitComment(comment: Comment, deps: AdmitDeps): Promise<Admission> {
  const command = parseCommand(comment.text);
  if (command === undefined) return { kind: 'nothing', why: 'The comment is not a command.' };
  const found = await deps.pullRequests.find(comment.number);
  if (command.kind === 'help') return { kind: 'help', pullRequest: found.pullRequest, why: '' };
  if (command.kind === 'mistaken') return replyMistaken(command.why, comment, found, deps);
  const occasion = occasionOf(command, comment);
  return authorized({ kind: 'command', found, occasion, command }, deps).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    return replyMistaken(error.message, comment, found, deps);
  });
}

function occasionOf(command: PullRequestCommand['command'], { by, at }: Comment): Occasion {
  if (command.kind === 'cancel') return { kind: 'cancelled', by };
  const named = { by, at, ...(command.commit !== undefined && { commit: command.commit }) };
  return command.kind === 'bisect'
    ? { ...named, kind: 'bisected', areNamed: command.overrides.good !== undefined }
    : { ...named, kind: 'commanded', verb: command.kind };
}

/** Replies only to people who may have the patch measured: text by strangers does not reach the pull request. */
async function replyMistaken(
  why: string,
  { by, at }: Comment,
  found: FoundPullRequest,
  { pullRequests, readConfig }: AdmitDeps,
): Promise<Admission> {
  const { pullRequest } = found;
  const { baseCommit, headCommit: commit } = pullRequest;
  const { people, label } = await readConfig(baseCommit).then(
    ({ github }) => github,
    (error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      return { people: [], label: '' };
    },
  );
  const approval = await authorize({ kind: 'commanded', by, at, commit }, found, {
    people,
    label,
    seen: undefined,
    measured: [],
    mayWrite: pullRequests.mayWrite,
  });
  return approval.kind === 'allowed' ? { kind: 'mistaken', pullRequest, why } : { kind: 'nothing', why };
}

async function requestedByHand(trigger: Dispatched, deps: AdmitDeps): Promise<PullRequestCommand | Admission> {
  const { by, patch: name, overrides, bisect } = trigger;
  // Reads seven digits as a commit: no repository has had a million pull requests.
  const number = !bisect && /^\d{7,}$/.test(name) ? undefined : pullRequestNumber(name);
  const isRevision = looksLikeRevision(name);
  if (number !== undefined && !isRevision) {
    const found = await deps.pullRequests.find(number);
    if (bisect === undefined) {
      return { kind: 'command', found, occasion: byHand(by), command: { kind: 'run', overrides } };
    }
    // Skips a fork's head if both ends are named.
    const areNamed = Boolean(bisect.overrides.good && bisect.overrides.bad);
    const commit = areNamed ? found.pullRequest.headCommit : bisect.commit;
    return { kind: 'command', found, occasion: byHand(by, commit), command: bisect };
  }
  if (bisect !== undefined) {
    const { admitCommits } = await import('./admit-bisection.ts');
    return admitCommits(bisect, trigger, deps);
  }
  if (isRevision) return admitRevision(trigger, deps);
  const why = `${by} started it.`;
  if (/^.+\.\..+$/.test(name)) {
    // The job that measures may be set to measure one commit against itself.
    const patch = await patchOfTypedRange(deps.repository, name, true);
    return admitted({ patch, overrides }, why, deps);
  }
  if (!/^[0-9a-f]{7,64}$/.test(name)) {
    throw new UsageError(
      `patch: expected a pull request like #123, a revision like D27401, a commit or a range like main..my-branch, found "${name}".`,
    );
  }
  const commit = await deps.repository.resolve(name);
  const all = await deps.pullRequests.withHead(commit);
  const [found, ...more] = all;
  if (more.length > 0) {
    throw new UsageError(
      `patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${commit} in the intended one.`,
    );
  }
  if (found !== undefined) {
    return {
      kind: 'command',
      found,
      occasion: byHand(by, name === commit ? commit : undefined),
      command: { kind: 'run', overrides },
    };
  }
  const patch = await patchOfRange(deps.repository, `${commit}^..${commit}`);
  return admitted({ patch, overrides }, why, deps);
}

const byHand = (by: string, commit?: string): Occasion => ({
  kind: 'dispatched',
  by,
  ...(commit && { commit }),
});

/** The relay has checked the diff's author. People who may start a job may have any diff measured. */
async function admitRevision(trigger: Dispatched, deps: AdmitDeps): Promise<Admission> {
  const { by, overrides } = trigger;
  const { patch, config } = await deps.readRevision(trigger);
  const priority = deps.priority ?? 'patch';
  const request: GateRequest = {
    patch,
    overrides,
    priority,
    purpose: 'patch',
    relay: relayOf(trigger),
  };
  return { kind: 'gate', request, config, why: `${by} started it for ${patchName(patch)}.` };
}

async function authorized({ found, occasion, command }: PullRequestCommand, deps: AdmitDeps): Promise<Admission> {
  const { pullRequest } = found;
  const { headCommit } = pullRequest;
  const isAgain = command.kind === 'rerun' || command.kind === 'extend';
  const { overrides: remembered = {}, last } = (isAgain && (await memoryOf(found, deps))) || {};
  const overrides = command.kind === 'run' ? command.overrides : remembered;
  const { config, rules, name } = await rulesFor(found, overrides, deps);
  const { kind, why } = await authorize(withOverrides(occasion, overrides), found, rules);
  if (kind === 'ignored') return { kind: 'nothing', why };
  if (kind === 'refused') {
    const isPush = occasion.kind === 'pushed' || occasion.kind === 'revived';
    const what = refusedCommands[command.kind];
    const shared = { kind, pullRequest, config, why, name: isPush ? name : noticeName };
    return { ...shared, ...(what && { what }) };
  }
  if (command.kind === 'cancel') return { kind: 'cancel', pullRequest, why };
  if (command.kind === 'bisect') {
    const { admitBisection } = await import('./admit-bisection.ts');
    const { headRepository } = found;
    const named = { overrides: command.overrides, list: command.list, headRepository };
    return admitBisection({ ...named, patch: pullRequest, config, why }, deps);
  }
  if (command.kind === 'extend' && last?.headCommit !== headCommit) {
    const missing = `There is no experiment to extend for ${shortId(headCommit)}: write /ppsgate run first.`;
    return { kind: 'mistaken', pullRequest, why: missing };
  }
  const priority = deps.priority ?? (isAgain ? 'rerun' : 'patch');
  const request: GateRequest = { patch: pullRequest, overrides, priority, purpose: 'patch' };
  if (command.kind !== 'extend' || last === undefined) {
    return { kind: 'gate', request, config, why };
  }
  const { maxRuns } = command;
  const extend = { run: last.run, ...(maxRuns !== undefined && { maxRuns }) };
  return { kind: 'gate', request: { ...request, extend }, config, why };
}

const refusedCommands: Partial<Record<PullRequestCommand['command']['kind'], 'not cancelled' | 'no bisection'>> = {
  cancel: 'not cancelled',
  bisect: 'no bisection',
};

/**
 * Allows more or fewer runs, profiles, and measuring an unchanged patch: none of these passes a patch that would
 * otherwise fail.
 */
function withOverrides(occasion: Occasion, overrides: GateOverrides): Occasion {
  if (occasion.kind !== 'commanded') return occasion;
  const { maxRuns: _, profile: __, measureAnyway: ___, ...deciding } = overrides;
  return { ...occasion, isOtherwise: Object.keys(deciding).length > 0 };
}

const memoryOf = async (found: FoundPullRequest, deps: AdmitDeps): Promise<CommentMemory | undefined> =>
  (await rulesFor(found, {}, deps)).memory;

type Rules = {
  config: Config;
  rules: AuthorizationRules;
  name: string;
  memory: CommentMemory | undefined;
};

async function rulesFor(
  { pullRequest }: FoundPullRequest,
  overrides: GateOverrides,
  { pullRequests, readConfig, nameOf }: AdmitDeps,
): Promise<Rules> {
  const config = await readConfig(pullRequest.baseCommit);
  const { people, label } = config.github;
  const name = nameOf(config, overrides);
  const comment = await pullRequests.commentOf(pullRequest, name);
  const memory = comment === undefined ? undefined : readMemory(comment);
  const rules: AuthorizationRules = {
    people,
    label,
    mayWrite: pullRequests.mayWrite,
    seen: memory && {
      headCommit: memory.headCommit,
      since: memory.since,
      ...(memory.heads && { before: memory.heads }),
    },
    measured: [memory?.last, ...(memory?.earlier ?? [])].flatMap((one) => one?.headCommit ?? []),
  };
  return { config, rules, name, memory };
}

type Acceptance = { kind: 'accept'; id: string; why: string } | { kind: 'nothing'; why: string };

/** Trusts the marker in an issue of our own, for a person with write access. Throws if GitHub does not reply. */
export async function admitAcceptance(
  { number, by }: Pick<Extract<Trigger, { kind: 'acceptance' }>, 'number' | 'by'>,
  { octokit, repositoryName: repository }: { octokit: Octokit; repositoryName: string },
): Promise<Acceptance> {
  const body = await readIssue({ octokit, repository }, number, await ownLogin(octokit));
  const id = changeIdIn(body ?? '');
  if (id === undefined) {
    return { kind: 'nothing', why: `#${number} is not an issue that ppsgate opened for a change.` };
  }
  if (!(await mayWrite(octokit, repository, by))) {
    const why = `${by} has no write access to ${repository}, so the level is not accepted.`;
    return { kind: 'nothing', why };
  }
  return { kind: 'accept', id, why: `${by} accepts the level of #${number}.` };
}
