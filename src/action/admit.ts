// From the event to what may be measured: which patch, at which commits, by whose leave, and what was asked of it.

import type { CalledAs } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { type Octokit, ownLogin } from '../forge/github/client.ts';
import { findComment } from '../forge/github/comment.ts';
import { readIssue } from '../forge/github/issue.ts';
import {
  type FoundPullRequest,
  fetchPullRequest,
  mayWrite,
  numbersOf,
  pullRequestNumber,
  pullRequestsWithHead,
} from '../forge/github/pull-request.ts';
import { authorize, type LeaveRules, type Occasion } from '../forge/patch/authorize.ts';
import type { BisectAsk } from '../forge/patch/bisect-command.ts';
import { ownEnds, pinned } from '../forge/patch/bisect-target.ts';
import { type Ask, type CommentCommand, parseCommand } from '../forge/patch/command.ts';
import { patchOfRange } from '../forge/patch/commit-range.ts';
import type {
  LinearRepository,
  Repository,
  WritableRepository,
} from '../forge/patch/repository.ts';
import { lineOfDiffs } from '../forge/patch/revision.ts';
import { looksLikeRevision } from '../forge/phabricator/revision.ts';
import { type Patch, type PullRequest, patchName, type Revision, shortId } from '../model/patch.ts';
import type { Priority } from '../model/priority.ts';
import { UsageError } from '../model/usage-error.ts';
import { changeIdIn } from '../publish/reporters/alert-text.ts';
import { type Memory, markerOf, readMemory } from '../publish/reporters/comment-text.ts';
import { type AdmittedRequest, type BisectRequest, requestSchema } from './approved-request.ts';
import type { BisectCommand, Trigger } from './trigger.ts';

export type Admission =
  /** `why` is one sentence for the log. */
  | { kind: 'go'; request: AdmittedRequest; config: Config; why: string }
  | { kind: 'bisect'; request: BisectRequest; config: Config; why: string }
  /** `why` is one sentence for the people at the pull request, and `name` that of the comment for it. */
  | {
      kind: 'refused';
      pullRequest: PullRequest;
      config: Config;
      name: string;
      why: string;
      /** Where it is no measurement that is refused. */
      what?: 'not cancelled' | 'no bisection';
    }
  /** A command that measures nothing, which is no failure: what is answered, as plain text. */
  | { kind: 'cancel' | 'help' | 'mistaken'; pullRequest: PullRequest; why: string }
  | { kind: 'nothing'; why: string };

export type AdmitDeps = {
  octokit: Octokit;
  /** `owner/name`. */
  repositoryName: string;
  repository: WritableRepository & LinearRepository;
  /** Reads the configuration from a commit of the base: a patch must not change what it is held to. */
  readConfig(commit: string): Promise<Config>;
  /** The commit of the default branch, or of another, at which the job runs. */
  commit: string;
  /** A revision of Phabricator, as of one of its diffs, with the configuration that it is held to. */
  readRevision(trigger: Dispatched): Promise<{ patch: Revision; config: Config }>;
  /** Name of our comment; see `gateNames`. Throws a `UsageError` for what nobody could carry out. */
  nameOf(config: Config, ask: Ask): string;
  /** Throws a `UsageError` for a bisection that nobody could carry out. */
  checkBisection(config: Config, ask: BisectAsk): void;
  /** How whoever asked calls the parameters. */
  calledAs: CalledAs;
  /** The priority that the job was given, or that of a job run again; `undefined`: what the trigger makes of it. */
  priority: Priority | undefined;
};

type Dispatched = Extract<Trigger, { kind: 'dispatched' }>;

/** Name of the comment that answers commands: the one with the verdict is not for strangers to overwrite. */
export const noticeName = 'ppsgate notice';

/** Throws a `UsageError` for what cannot be measured however much leave there is, and where GitHub does not tell. */
export async function admit(trigger: Trigger, deps: AdmitDeps): Promise<Admission> {
  switch (trigger.kind) {
    case 'nothing':
      return trigger;
    case 'pull-request': {
      const { found, occasion } = trigger;
      return admitPullRequest(found, occasion, {}, deps);
    }
    case 'comment':
      return admitComment(trigger, deps);
    case 'acceptance':
      return { kind: 'nothing', why: 'A level is accepted by a job with `command: accept`.' };
    case 'dispatched':
      return admitDispatched(trigger, deps);
    case 'button':
      return admitButton(trigger, deps);
    case 'queued':
      return admitQueued(trigger, deps);
    case 'push': {
      const patch = await pushed(trigger, deps.repository);
      return go(patch, {}, deps, 'What is pushed to the default branch is measured.', 'history');
    }
    case 'schedule': {
      const { commit } = trigger;
      const patch = await patchOfRange(deps.repository, `${commit}..${commit}`);
      const why = 'The head of the default branch is measured against itself.';
      return go(patch, {}, deps, why, 'nightly');
    }
  }
}

type Acceptance =
  /** `id` is that of the change. */
  { kind: 'accept'; id: string; why: string } | { kind: 'nothing'; why: string };

/** Believes the marker of an issue that is our own, from somebody who may write. Throws where GitHub does not tell. */
export async function admitAcceptance(
  { number, by }: Pick<Extract<Trigger, { kind: 'acceptance' }>, 'number' | 'by'>,
  { octokit, repositoryName: repository }: Pick<AdmitDeps, 'octokit' | 'repositoryName'>,
): Promise<Acceptance> {
  const body = await readIssue({ octokit, repository }, number, await ownLogin(octokit));
  const id = changeIdIn(body ?? '');
  if (id === undefined) {
    return { kind: 'nothing', why: `#${number} is no issue that ppsgate has opened on a change.` };
  }
  if (!(await mayWrite(octokit, repository, by))) {
    const why = `${by} may not write to ${repository}, and so accepts nothing.`;
    return { kind: 'nothing', why };
  }
  return { kind: 'accept', id, why: `${by} accepts the level that #${number} is of.` };
}

async function admitButton(
  { by, button, headCommit, number }: Extract<Trigger, { kind: 'button' }>,
  deps: AdmitDeps,
): Promise<Admission> {
  const all = await pullRequestsWithHead(deps.octokit, deps.repositoryName, headCommit);
  const meant =
    number === undefined ? all : all.filter(({ pullRequest }) => pullRequest.number === number);
  const [found, ...more] = meant;
  if (found === undefined) {
    return { kind: 'nothing', why: `No open pull request has the head ${headCommit}.` };
  }
  if (more.length > 0) {
    const why = `${numbersOf(meant)} have the head ${headCommit}: write /ppsgate rerun at the one that is meant.`;
    return { kind: 'nothing', why };
  }
  return admitAgain(found, { kind: 'pressed', by, commit: headCommit }, { kind: button }, deps);
}

type Comment = Extract<Trigger, { kind: 'comment' }>;

async function admitComment(comment: Comment, deps: AdmitDeps): Promise<Admission> {
  const command = parseCommand(comment.text);
  if (command === undefined) return { kind: 'nothing', why: 'The comment is no command.' };
  const found = await fetched(comment.number, deps);
  if (command.kind === 'help') return { kind: 'help', pullRequest: found.pullRequest, why: '' };
  if (command.kind === 'mistaken') return mistaken(command.why, comment, found, deps);
  return admitCommand(command, comment, found, deps).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    return mistaken(error.message, comment, found, deps);
  });
}

async function admitCommand(
  command: Exclude<CommentCommand, { kind: 'help' | 'mistaken' }>,
  { by, at }: Comment,
  found: FoundPullRequest,
  deps: AdmitDeps,
): Promise<Admission> {
  const { pullRequest } = found;
  if (command.kind === 'cancel') {
    const { config, rules } = await rulesFor(found, {}, deps);
    const { kind, why } = await authorize({ kind: 'cancelled', by }, found, rules);
    return kind === 'allowed'
      ? { kind: 'cancel', pullRequest, why }
      : { kind: 'refused', pullRequest, config, name: noticeName, why, what: 'not cancelled' };
  }
  const named = command.commit === undefined ? {} : { commit: command.commit };
  if (command.kind === 'bisect') {
    const areNamed = command.ask.good !== undefined;
    const occasion: Occasion = { kind: 'bisected', by, at, areNamed, ...named };
    return bisectPullRequest(command, occasion, found, deps);
  }
  const occasion: Occasion = { kind: 'commanded', by, at, ...named };
  return command.kind === 'run'
    ? admitPullRequest(found, { ...occasion, ...otherwise(command.ask) }, command.ask, deps)
    : admitAgain(found, occasion, command, deps);
}

/** Only who may have it measured is told what is wrong: what others write is for nobody at the patch to read. */
async function mistaken(
  why: string,
  { by, at }: Comment,
  found: FoundPullRequest,
  { octokit, repositoryName, readConfig }: AdmitDeps,
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
  const leave = await authorize({ kind: 'commanded', by, at, commit }, found, {
    ...{ people, label, seen: undefined, measured: [] },
    mayWrite: (login) => mayWrite(octokit, repositoryName, login),
  });
  return leave.kind === 'allowed'
    ? { kind: 'mistaken', pullRequest, why }
    : { kind: 'nothing', why };
}

/** More or fewer runs, profiles, and what need not be measured at all, never pass what would not be passed. */
const otherwise = ({ maxRuns: _, profile: __, measureAnyway: ___, ...held }: Ask) => ({
  isOtherwise: Object.keys(held).length > 0,
});

async function admitDispatched(trigger: Dispatched, deps: AdmitDeps): Promise<Admission> {
  const { by, patch: name, ask, bisect } = trigger;
  if (bisect !== undefined) return bisectDispatched(bisect, trigger, deps);
  if (looksLikeRevision(name)) return admitRevision(trigger, deps);
  const occasion: Occasion = { kind: 'dispatched', by };
  // So many digits are a commit's: no repository has had a million pull requests.
  const number = /^\d{7,}$/.test(name) ? undefined : pullRequestNumber(name);
  if (number !== undefined) {
    return admitPullRequest(await fetched(number, deps), occasion, ask, deps);
  }
  if (/^.+\.\..+$/.test(name)) {
    const patch = await patchOfRange(deps.repository, name);
    return go(patch, ask, deps, `${by} started it.`, 'patch');
  }
  if (!/^[0-9a-f]{7,64}$/.test(name)) {
    throw new UsageError(
      `patch: expected a pull request like #123, a revision like D27401, a commit or a range like main..my-branch, found "${name}".`,
    );
  }
  const commit = await deps.repository.resolve(name);
  const all = await pullRequestsWithHead(deps.octokit, deps.repositoryName, commit);
  const [found, ...more] = all;
  if (more.length > 0) {
    throw new UsageError(
      `patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${shortId(commit)} at the one that is meant.`,
    );
  }
  if (found !== undefined) return admitPullRequest(found, { ...occasion, commit }, ask, deps);
  const patch = await patchOfRange(deps.repository, `${commit}^..${commit}`);
  return go(patch, ask, deps, `${by} started it.`, 'patch');
}

/** A relay has looked whose diff it is, and people who may start a job may have any measured. */
async function admitRevision(trigger: Dispatched, deps: AdmitDeps): Promise<Admission> {
  const { by, ask } = trigger;
  const { patch, config } = await deps.readRevision(trigger);
  const priority = deps.priority ?? 'patch';
  const revisionAnswer = answerOf(trigger);
  const request: AdmittedRequest = { patch, ask, priority, purpose: 'patch', revisionAnswer };
  return { kind: 'go', request, config, why: `${by} started it for ${patchName(patch)}.` };
}

function answerOf({ key, build }: Dispatched): AdmittedRequest['revisionAnswer'] {
  const { data, error } = requestSchema.shape.revisionAnswer.safeParse({ key, build });
  if (error === undefined) return data;
  const names = error.issues.map(({ path }) => path.join('.')).join(' and ');
  throw new UsageError(`client_payload: ${names} is none that a relay gives.`);
}

async function bisectPullRequest(
  { ask }: BisectCommand,
  occasion: Occasion,
  found: FoundPullRequest,
  deps: AdmitDeps,
): Promise<Admission> {
  const { pullRequest } = found;
  const { config, rules } = await rulesFor(found, {}, deps);
  const leave = await authorize(occasion, found, rules);
  if (leave.kind !== 'allowed') {
    const { why } = leave;
    const what = 'no bisection';
    return { kind: 'refused', pullRequest, config, name: noticeName, why, what };
  }
  return goBisect({ ask, patch: pullRequest, config, why: leave.why }, deps);
}

/** At a pull request, at a revision, or at no patch at all: people who may start a job may have any commits bisected. */
async function bisectDispatched(
  command: BisectCommand,
  trigger: Dispatched,
  deps: AdmitDeps,
): Promise<Admission> {
  const { by, patch: name } = trigger;
  const { ask, commit } = command;
  const areNamed = Boolean(ask.good && ask.bad);
  const why = `${by} started it.`;
  if (looksLikeRevision(name)) {
    const earlier = areNamed ? 'none' : 'all';
    const { patch, config } = await deps.readRevision({ ...trigger, ask: { earlier } });
    return goBisect({ ask, patch, config, why, revisionAnswer: answerOf(trigger) }, deps);
  }
  const number = pullRequestNumber(name);
  if (number !== undefined) {
    const found = await fetched(number, deps);
    // A fork's head is nothing to be read where commits are named.
    const seen = areNamed ? found.pullRequest.headCommit : commit;
    const occasion: Occasion = { kind: 'dispatched', by, ...(seen && { commit: seen }) };
    return bisectPullRequest(command, occasion, found, deps);
  }
  if (!areNamed && !name.includes('..')) {
    throw new UsageError(
      'A bisection needs a good commit and a bad one, or a patch whose commits it is of: a pull request like #123, a revision like D27401, or a range like main..my-branch.',
    );
  }
  const { good, bad } = await pinned(ask, deps.repository, deps.calledAs);
  const range = areNamed ? `${good}..${bad}` : name;
  const patch = await patchOfRange(deps.repository, range);
  const config = await deps.readConfig(deps.commit);
  return goBisect({ ask, patch, config, why }, deps);
}

type Bisection = Pick<BisectRequest, 'patch' | 'revisionAnswer'> & {
  ask: BisectAsk;
  config: Config;
  why: string;
};

/** Fixes the commits and the cell. */
async function goBisect(
  { ask: asked, patch, config, why, revisionAnswer }: Bisection,
  deps: AdmitDeps,
): Promise<Admission> {
  const { repository, calledAs } = deps;
  const ask = await pinned(asked, repository, calledAs);
  const { good, bad, scenarios, families, ...rest } = ask;
  if (!good !== !bad) {
    throw new UsageError(
      `${calledAs(good ? 'bad' : 'good')} is missing: a bisection has both ends.`,
    );
  }
  // What the data branch is made of is much, and few events ask for it.
  const { cellFor } = await import('./bisect-cell.ts');
  const cell = await cellFor({ scenarios, families }, patch, config, deps);
  deps.checkBisection(config, { ...ask, scenarios: cell.scenario, families: cell.family });
  const ends =
    good && bad
      ? { good, bad }
      : patch.kind === 'revision'
        ? await lineOfDiffs(patch, repository)
        : await ownEnds(patch, repository);
  const request: BisectRequest = {
    ...{ command: 'bisect', patch, ...ends, isOwn: !good, cell },
    ...{ ask: rest, priority: deps.priority ?? 'patch' },
    ...(revisionAnswer && { revisionAnswer }),
  };
  return { kind: 'bisect', request, config, why };
}

async function admitPullRequest(
  found: FoundPullRequest,
  occasion: Occasion,
  ask: Ask,
  deps: AdmitDeps,
): Promise<Admission> {
  const { pullRequest } = found;
  const { config, rules, name: ownName } = await rulesFor(found, ask, deps);
  const leave = await authorize(occasion, found, rules);
  if (leave.kind === 'ignored') return { kind: 'nothing', why: leave.why };
  const isOwn = occasion.kind === 'pushed' || occasion.kind === 'revived';
  const name = isOwn ? ownName : noticeName;
  if (leave.kind === 'refused') {
    return { kind: 'refused', pullRequest, config, name, why: leave.why };
  }
  const priority = deps.priority ?? 'patch';
  const request: AdmittedRequest = { patch: pullRequest, ask, priority, purpose: 'patch' };
  return { kind: 'go', request, config, why: leave.why };
}

/** The same once more, as it was asked for last; or on with it, where it has stayed open. */
async function admitAgain(
  found: FoundPullRequest,
  occasion: Occasion,
  command: Extract<CommentCommand, { kind: 'rerun' | 'extend' }>,
  deps: AdmitDeps,
): Promise<Admission> {
  const { memory } = await rulesFor(found, {}, deps);
  const ask = memory?.ask ?? {};
  const held = occasion.kind === 'commanded' ? { ...occasion, ...otherwise(ask) } : occasion;
  const admission = await admitPullRequest(found, held, ask, deps);
  if (admission.kind !== 'go') return admission;
  const request: AdmittedRequest = { ...admission.request, priority: deps.priority ?? 'rerun' };
  if (command.kind === 'rerun') return { ...admission, request };
  const { pullRequest } = found;
  const { last } = memory ?? {};
  if (last?.headCommit !== pullRequest.headCommit) {
    const why = `There is no experiment to extend for ${shortId(pullRequest.headCommit)}: write /ppsgate run first.`;
    return { kind: 'mistaken', pullRequest, why };
  }
  const { maxRuns } = command;
  const extend = { run: last.run, ...(maxRuns !== undefined && { maxRuns }) };
  return { ...admission, request: { ...request, extend } };
}

async function go(
  patch: Patch,
  ask: Ask,
  deps: AdmitDeps,
  why: string,
  purpose: AdmittedRequest['purpose'],
): Promise<Admission> {
  const config = await deps.readConfig(patch.baseCommit);
  const priority = deps.priority ?? (purpose === 'patch' ? 'patch' : 'rerun');
  return { kind: 'go', request: { patch, ask, priority, purpose }, config, why };
}

/** Others wait for a queue as long as it waits, so it comes before patches. */
async function admitQueued(
  { branch, base, head }: Extract<Trigger, { kind: 'queued' }>,
  deps: AdmitDeps,
): Promise<Admission> {
  const patch = await patchOfRange(deps.repository, `${base}..${head}`);
  const config = await deps.readConfig(base);
  const request: AdmittedRequest = {
    ...{ patch, ask: {}, purpose: 'patch', queue: branch },
    priority: deps.priority ?? 'release',
  };
  const why = 'Somebody who may write has put it into the merge queue.';
  return { kind: 'go', request, config, why };
}

type Rules = { config: Config; rules: LeaveRules; name: string; memory: Memory | undefined };

async function rulesFor(
  { pullRequest }: FoundPullRequest,
  ask: Ask,
  { octokit, repositoryName, readConfig, nameOf }: AdmitDeps,
): Promise<Rules> {
  const config = await readConfig(pullRequest.baseCommit);
  const { people, label } = config.github;
  const name = nameOf(config, ask);
  const comment = await findComment(octokit, pullRequest, markerOf(name));
  const memory = comment === undefined ? undefined : readMemory(comment);
  const rules: LeaveRules = {
    people,
    label,
    mayWrite: (login) => mayWrite(octokit, repositoryName, login),
    seen: memory && { headCommit: memory.headCommit, since: memory.since },
    measured: [memory?.last, ...(memory?.earlier ?? [])].flatMap((one) => one?.headCommit ?? []),
  };
  return { config, rules, name, memory };
}

async function fetched(
  number: number,
  { octokit, repositoryName }: AdmitDeps,
): Promise<FoundPullRequest> {
  const found = await fetchPullRequest(octokit, repositoryName, number);
  if (found.kind === 'failed') throw new Error(found.why);
  if (found.kind === 'not-found') throw new UsageError(found.why);
  return found;
}

/** What was there before may be nothing, or be gone after a forced push. */
async function pushed(
  { before, after }: { before: string; after: string },
  repository: Repository,
): Promise<Patch> {
  const isKnown = await repository.resolve(before).then(
    () => !/^0+$/.test(before),
    () => false,
  );
  return patchOfRange(repository, `${isKnown ? before : `${after}^`}..${after}`);
}
