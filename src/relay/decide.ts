// What comes of what happened on Phabricator: a gate, a reply, the end of one, or nothing.

import { namingStyles } from '../config/parameters.ts';
import type { PhabricatorConfig } from '../config/phabricator.ts';
import { authorizeRevision, type RevisionOccasion } from '../forge/patch/authorize-revision.ts';
import {
  type Ask,
  type CommentCommand,
  callOnPhabricator,
  parseCommand,
} from '../forge/patch/command.ts';
import { checkDiff } from '../forge/patch/diff.ts';
import type { Job } from '../forge/patch/job-key.ts';
import { parseEarlier } from '../forge/patch/revision.ts';
import { type Conduit, ConduitError } from '../forge/phabricator/conduit.ts';
import { fetchDiff } from '../forge/phabricator/diff.ts';
import {
  type FoundDiff,
  type FoundRevision,
  findRevision,
  isMember,
  RevisionError,
  transactionsOf,
  userNames,
} from '../forge/phabricator/revision.ts';
import { shortened } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Inbox } from './inbox.ts';

/** What happened to the revision `of` (a number); `key` is of that and nothing else. */
export type Occurrence = { key: string; of: number } & (
  | { kind: 'diff'; diff: number }
  | { kind: 'comment'; id: number; by: string; at: Date; text: string }
  | { kind: 'build'; build: string; diff: number }
);

export type Decision =
  | { kind: 'run'; job: Job }
  | { kind: 'cancel'; of: number; why: string }
  | { kind: 'reply'; of: number; topic: ReplyTopic; why: string; key: string }
  /** Nobody may have it measured, and somebody waits to be told so. */
  | { kind: 'refuse-build'; build: string; of: number; diff: number; why: string }
  /** A sentence for the log, which names the revision. */
  | { kind: 'nothing'; why: string };

/** `refused`: nothing is measured. */
export type ReplyTopic = 'help' | 'mistaken' | 'refused' | 'not-cancelled';

export type DecideDeps = {
  conduit: Conduit;
  config: PhabricatorConfig;
  /** PHID of the bot. */
  me: string;
  inbox: Pick<Inbox, 'jobsOf'>;
  /** Wrong scenarios, testbeds and the like are told before anything is queued; throws a `UsageError`. */
  check(ask: Ask): void;
  warn(sentence: string): void;
};

/** Throws a ConduitError where Phabricator does not tell what is to be known. */
export async function decide(occurrence: Occurrence, deps: DecideDeps): Promise<Decision> {
  try {
    switch (occurrence.kind) {
      case 'diff':
        return await decideDiff(occurrence, deps);
      case 'build':
        return await decideBuild(occurrence, deps);
      case 'comment':
        return await decideComment(occurrence, deps);
    }
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error;
    return nothing(error.message);
  }
}

type Of<Kind extends Occurrence['kind']> = Extract<Occurrence, { kind: Kind }>;

async function decideDiff({ of, diff }: Of<'diff'>, deps: DecideDeps): Promise<Decision> {
  if (!deps.config.relay.on.includes('diffs')) {
    return nothing(`D${of} is left alone: new diffs are not measured here.`);
  }
  const isAskedFor = deps.inbox
    .jobsOf(of)
    .some(({ job }) => job.diff === diff && job.build !== undefined);
  if (isAskedFor) return nothing(`Harbormaster has asked for diff ${diff} of D${of}.`);
  const found = await findRevision(deps.conduit, { revision: of, diff });
  const newest = await findRevision(deps.conduit, { revision: of });
  if (newest.diff.id !== diff) return nothing(`D${of} has a newer diff than ${diff}.`);
  const why = whyNone(found, deps);
  if (why !== undefined) return nothing(why);
  const leave = await leaveFor(found, sentBy(found), deps);
  if (leave.kind !== 'allowed') return nothing(leave.why);
  const key = `D${of}:${diff}`;
  const elsewhere = await elsewhereOf(found, deps);
  if (elsewhere?.kind === 'elsewhere') return nothing(elsewhere.why);
  if (elsewhere?.kind === 'doubtful') {
    return { kind: 'reply', of, topic: 'refused', why: elsewhere.why, key };
  }
  const job: Job = { key, revision: of, diff, ask: {}, by: found.author.name };
  return { kind: 'run', job };
}

async function decideBuild(occurrence: Of<'build'>, deps: DecideDeps): Promise<Decision> {
  const { of, diff, build, key } = occurrence;
  const refused = (why: string): Decision => ({ kind: 'refuse-build', build, of, diff, why });
  if (!deps.config.relay.on.includes('builds')) return refused('Builds are not measured here.');
  const isOnItsWay = deps.inbox
    .jobsOf(of)
    .some(({ job, state }) => job.build === build && !['ended', 'dropped'].includes(state.kind));
  // The answer goes to the newest target of a build, whichever it was asked for by.
  if (isOnItsWay) return nothing(`The build of diff ${diff} of D${of} is on its way already.`);
  const found = await findRevision(deps.conduit, { revision: of, diff });
  const why = whyNone(found, deps);
  if (why !== undefined) return refused(why);
  const leave = await leaveFor(found, sentBy(found), deps);
  if (leave.kind !== 'allowed') return refused(leave.why);
  const job: Job = { key, revision: of, diff, ask: {}, build, by: 'Harbormaster' };
  return { kind: 'run', job };
}

async function decideComment(occurrence: Of<'comment'>, deps: DecideDeps): Promise<Decision> {
  const { key, of, text, by } = occurrence;
  if (!deps.config.relay.on.includes('comments')) {
    return nothing(`D${of} is left alone: comments ask for nothing here.`);
  }
  if (by === deps.me) return nothing(`The comment on D${of} is the bot’s own.`);
  const command = parseCommand(text, callOnPhabricator);
  if (command === undefined) return nothing(`The comment on D${of} is no command.`);
  const reply = (topic: ReplyTopic, why: string): Decision => ({
    ...{ kind: 'reply', of, topic, why, key },
  });
  if (command.kind === 'mistaken') return reply('mistaken', command.why);
  if (command.kind === 'help') return reply('help', '');
  try {
    const name = (await userNames(deps.conduit, [by])).get(by) ?? by;
    const person = { phid: by, name };
    if (command.kind === 'cancel') {
      // What runs can be ended also where it is for this lab no more.
      const found = await findRevision(deps.conduit, { revision: of });
      const leave = await leaveFor(found, { kind: 'cancelled', by: person }, deps);
      if (leave.kind !== 'allowed') return reply('not-cancelled', leave.why);
      return { kind: 'cancel', of, why: leave.why };
    }
    const named = command.diff;
    const before = await diffBefore(occurrence, named, deps);
    const found = await findRevision(deps.conduit, { revision: of, diff: before.diff });
    const why = whyNone(found, deps);
    if (why !== undefined) return reply('refused', why);
    const occasion: RevisionOccasion = {
      ...{ kind: 'commanded', verb: command.kind, by: person },
      ...{ at: occurrence.at, sentAt: before.sentAt },
      isNamed: named !== undefined || (command.kind === 'bisect' && command.ask.good !== undefined),
    };
    const leave = await leaveFor(found, occasion, deps);
    if (leave.kind !== 'allowed') return reply('refused', leave.why);
    const asked = { key, revision: of, diff: before.diff, by: name };
    const job = jobFor(command, asked, deps);
    if (typeof job === 'string') return reply('mistaken', job);
    const { ask, extend, bisect } = job;
    deps.check({ ...(bisect ?? ask), ...(extend?.maxRuns && { maxRuns: extend.maxRuns }) });
    if (bisect !== undefined && !bisect.good && found.earlier.length === 0) {
      return reply('mistaken', hasOneDiff(found));
    }
    parseEarlier(ask.earlier || 'none', namingStyles.comment('earlier'));
    return { kind: 'run', job };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof RevisionError)) throw error;
    return reply('mistaken', error.message);
  }
}

const hasOneDiff = ({ number, diff }: FoundRevision): string =>
  `D${number} has no diff before ${diff.id}, so there is nothing to choose from; write ${callOnPhabricator} bisect GOOD BAD for commits of your own`;

/** A job, or what is wrong with the command. */
function jobFor(
  command: Extract<CommentCommand, { kind: 'run' | 'rerun' | 'extend' | 'bisect' }>,
  asked: Omit<Job, 'ask'>,
  { inbox }: DecideDeps,
): Job | string {
  const { revision, diff } = asked;
  if (command.kind === 'run') return { ...asked, ask: command.ask };
  if (command.kind === 'bisect') return { ...asked, ask: {}, bisect: command.ask };
  const before = inbox.jobsOf(revision).filter(({ job }) => job.bisect === undefined);
  if (command.kind === 'rerun') return { ...asked, ask: before[0]?.job.ask ?? {} };
  const last = before.find(({ job }) => job.diff === diff);
  if (last === undefined || last.state.kind !== 'ended') {
    return `There is no experiment to extend for diff ${diff}; write ${callOnPhabricator} run first`;
  }
  const { maxRuns } = command;
  const extend = {
    // All of them work in the folder of the first.
    key: last.job.extend?.key ?? last.job.key,
    ...(maxRuns !== undefined && { maxRuns }),
  };
  return { ...asked, ask: last.job.ask, extend };
}

/** The diff that was the newest when the comment was written, or the one that it names, and when that was sent. */
async function diffBefore(
  { of, id }: Of<'comment'>,
  named: number | undefined,
  { conduit }: DecideDeps,
): Promise<{ diff: number; sentAt: Date }> {
  const { phid, diff, earlier } = await findRevision(conduit, { revision: of });
  // A diff can be made long before it is sent to the revision, so its own date tells nothing.
  const sent = (await transactionsOf(conduit, phid, {})).flatMap((one) => {
    const known = [...earlier, diff].find(
      (each) => one.kind === 'diff' && each.phid === one.diffPhid,
    );
    return known === undefined || one.id > id ? [] : { diff: known.id, sentAt: one.at };
  });
  const found = sent.findLast((one) => named === undefined || one.diff === named);
  if (found !== undefined) return found;
  throw new UsageError(
    named === undefined
      ? `nobody can say which diff you mean; write ${callOnPhabricator} run ${diff.id}`
      : `D${of} had no diff ${named} when you wrote; its newest is ${diff.id}`,
  );
}

const sentBy = ({ author, diff }: FoundRevision): RevisionOccasion => ({
  kind: 'sent',
  by: [author, diff.author],
});

function leaveFor(
  { number, diff }: FoundRevision,
  occasion: RevisionOccasion,
  { conduit, config, warn }: DecideDeps,
) {
  const { people, projects } = config;
  return authorizeRevision({ number, diff: diff.id }, occasion, {
    people,
    projects,
    async isMember(phid) {
      const asked = await isMember(conduit, phid, projects);
      if (asked.warning !== undefined) warn(asked.warning);
      return asked.isMember;
    },
  });
}

/** Why it is not for this lab at all. */
function whyNone({ number, repository, status }: FoundRevision, { config }: DecideDeps) {
  if (['abandoned', 'published'].includes(status)) return `D${number} is ${status}.`;
  const { repositories } = config;
  const names = [repository?.callsign, repository?.shortName].filter((name) => name !== undefined);
  if (repositories === undefined || names.some((name) => repositories.includes(name))) {
    return undefined;
  }
  return `D${number} is of none of the repositories that are measured: ${repositories.join(', ')}.`;
}

type Elsewhere =
  | { kind: 'elsewhere'; why: string }
  /** It may be for this lab all the same, which its author alone knows. */
  | { kind: 'doubtful'; why: string };

/** Undefined where it changes something below the paths, or nobody can read what it changes. */
async function elsewhereOf(
  { number, diff }: FoundRevision,
  { config, conduit }: DecideDeps,
): Promise<Elsewhere | undefined> {
  const { paths } = config;
  if (paths === undefined) return undefined;
  const changed = await pathsOf(diff, conduit);
  if (changed === undefined) return undefined;
  const isBelow = (path: string) => paths.some((folder) => path.startsWith(folder));
  if (changed.paths.some(isBelow)) return undefined;
  const why = `D${number} changes nothing below ${paths.join(', ')}`;
  for (const path of changed.added) {
    const folder = paths.find((each) => isBelowRest(path, each));
    if (folder === undefined) continue;
    const meant = folder.slice(0, folder.indexOf('/') + 1) + path;
    const sent = `if ${shortened(path)} is to be ${shortened(meant)}, it was sent without prefixes: send it with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
    return { kind: 'doubtful', why: `${why}; ${sent}` };
  }
  return { kind: 'elsewhere', why: `${why}.` };
}

/** Whether the path is below the folder as it is called without its first part. */
function isBelowRest(path: string, folder: string): boolean {
  const rest = folder.slice(folder.indexOf('/') + 1);
  return rest !== '' && path.startsWith(rest);
}

/** Undefined where it cannot be read, which is for its author to be told. */
async function pathsOf(
  diff: FoundDiff,
  conduit: Conduit,
): Promise<{ paths: readonly string[]; added: readonly string[] } | undefined> {
  try {
    const fetched = await fetchDiff(conduit, diff);
    if (fetched.kind === 'misleading') return { paths: fetched.paths, added: [] };
    const checked = checkDiff(fetched.bytes);
    return checked.kind === 'accepted' ? { ...fetched, paths: checked.paths } : undefined;
  } catch (error) {
    // One that is too large, for example: nothing else is to wait for it.
    if (error instanceof ConduitError && error.kind === 'refused') return undefined;
    throw error;
  }
}

const nothing = (why: string): Decision => ({ kind: 'nothing', why });
