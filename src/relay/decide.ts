// Decides the effect of a Phabricator event: a gate, a reply, a cancellation, or nothing.

import type { PhabricatorConfig } from '../config/phabricator.ts';
import { authorizeRevision, type RevisionOccasion } from '../forge/patch/authorize-revision.ts';
import { type CommentCommand, type GateOverrides, parseCommand } from '../forge/patch/command.ts';
import { checkDiff } from '../forge/patch/diff.ts';
import type { Job } from '../forge/patch/job-key.ts';
import type { Conduit } from '../forge/phabricator/conduit.ts';
import { fetchDiff } from '../forge/phabricator/diff.ts';
import { isFinal } from '../forge/phabricator/failure.ts';
import {
  type FoundDiff,
  type FoundRevision,
  findRevision,
  isMember,
  isNamed,
  type Person,
  phidsOf,
  RevisionError,
  transactionsOf,
  userNames,
} from '../forge/phabricator/revision.ts';
import { shortened } from '../model/one-line.ts';
import { callOnPhabricator } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import { pinnedDiffs } from './earlier-diffs.ts';
import type { Inbox, JobRecord } from './inbox.ts';

/** `revision` is the PHID, `of` the number. */
export type Occurrence = { key: string; of: number } & (
  | { kind: 'diff'; diff: number }
  | { kind: 'comment'; revision?: string; id: number; by: string; at: Date; text: string }
  | { kind: 'build'; build: string; diff: number }
);

export type Decision =
  | { kind: 'run'; job: Job }
  | { kind: 'cancel'; of: number; why: string }
  /** With `isOfStranger`, posts the same reply once per revision, and only one on mistaken commands. */
  | {
      kind: 'reply';
      of: number;
      /** PHID of the revision. */
      revision?: string | undefined;
      topic: ReplyTopic;
      why: string;
      key: string;
      isOfStranger?: true;
    }
  | { kind: 'refuse-build'; build: string; of: number; diff: number; why: string }
  /** Sentence for the log, with the revision's name. */
  | { kind: 'nothing'; why: string };

export type ReplyTopic = 'help' | 'mistaken' | 'refused' | 'not-cancelled';

export type DecideDeps = {
  conduit: Conduit;
  config: PhabricatorConfig;
  me: string;
  inbox: Pick<Inbox, 'jobsOf'>;
  /** Throws a `UsageError` for overrides that ppsgate.yml does not allow, before a job is queued. */
  check(overrides: GateOverrides): void;
  warn(sentence: string): void;
};

/** Throws a ConduitError if Phabricator does not reply. */
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
    return nothing(`D${of} is ignored: new diffs are not measured here.`);
  }
  const found = await findRevision(deps.conduit, { revision: of, diff });
  const isOfBuild = jobsOf(found, deps).some(({ job }) => job.diff === diff && job.build !== undefined);
  if (isOfBuild) return nothing(`Harbormaster has requested diff ${diff} of D${of}.`);
  const newest = await findRevision(deps.conduit, { revision: of });
  if (newest.diff.id !== diff) return nothing(`D${of} has a newer diff than ${diff}.`);
  const why = whyForeign(found, deps);
  if (why !== undefined) return nothing(why);
  const authorization = await authorizationOf(found, sentBy(found), deps);
  if (authorization.kind !== 'allowed') return nothing(authorization.why);
  const key = keyOfDiff(found, deps);
  const elsewhere = await elsewhereOf(found, deps);
  if (elsewhere?.kind === 'elsewhere') return nothing(elsewhere.why);
  if (elsewhere?.kind === 'doubtful') {
    const { phid: revision } = found;
    return { kind: 'reply', of, revision, topic: 'refused', why: elsewhere.why, key };
  }
  const phids = phidsOf(found);
  const job: Job = { key, revision: of, diff, phids, overrides: {}, by: found.author.name };
  return { kind: 'run', job };
}

/** Jobs of this revision, by PHID: a restored server may have reused the number of another one. */
const jobsOf = (found: FoundRevision, { inbox }: Pick<DecideDeps, 'inbox'>): JobRecord[] =>
  inbox.jobsOf(found.number).filter(({ job }) => isSameDiff(job, found));

function isSameDiff({ phids, diff }: Job, found: FoundRevision): boolean {
  if (phids === undefined) return true;
  const known = [found.diff, ...found.earlier].find(({ id }) => id === diff);
  return phids.revision === found.phid && (known === undefined || known.phid === phids.diff);
}

/** Includes the PHID if a job of another diff has the usual key. */
function keyOfDiff(found: FoundRevision, { inbox, warn }: DecideDeps): string {
  const { number, diff } = found;
  const usual = `D${number}:${diff.id}`;
  const before = inbox.jobsOf(number).find(({ job }) => job.key === usual)?.job;
  if (before === undefined || isSameDiff(before, found)) return usual;
  warn(
    `D${number}:${diff.id} is not the diff queued earlier under this number (${before.phids?.diff}), as after a restore of the server: it is treated as a new diff.`,
  );
  return `${usual}:${diff.phid}`;
}

async function decideBuild(occurrence: Of<'build'>, deps: DecideDeps): Promise<Decision> {
  const { of, diff, build, key } = occurrence;
  const refused = (why: string): Decision => ({ kind: 'refuse-build', build, of, diff, why });
  if (!deps.config.relay.on.includes('builds')) return refused('Builds are not measured here.');
  const isOnItsWay = deps.inbox
    .jobsOf(of)
    .some(({ job, state }) => job.build === build && !['ended', 'dropped'].includes(state.kind));
  // The answer goes to the newest target of a build, also if an earlier target requested it.
  if (isOnItsWay) return nothing(`The build of diff ${diff} of D${of} is already in progress.`);
  const found = await findRevision(deps.conduit, { revision: of, diff });
  const why = whyForeign(found, deps);
  if (why !== undefined) return refused(why);
  const authorization = await authorizationOf(found, sentBy(found), deps);
  if (authorization.kind !== 'allowed') return refused(authorization.why);
  const phids = phidsOf(found);
  const job: Job = { key, revision: of, diff, phids, overrides: {}, build, by: 'Harbormaster' };
  return { kind: 'run', job };
}

async function decideComment(occurrence: Of<'comment'>, given: DecideDeps): Promise<Decision> {
  const warnings = new Set<string>();
  const deps = { ...given, warn: (sentence: string) => warnings.add(sentence) };
  try {
    return await decideCommand(occurrence, deps);
  } finally {
    for (const sentence of warnings) given.warn(sentence);
  }
}

async function decideCommand(occurrence: Of<'comment'>, deps: DecideDeps): Promise<Decision> {
  const { key, of, text, by } = occurrence;
  if (!deps.config.relay.on.includes('comments')) {
    return nothing(`D${of} is ignored: comments are not commands here.`);
  }
  if (by === deps.me) return nothing(`The comment on D${of} is the bot’s own.`);
  const command = parseCommand(text, callOnPhabricator);
  if (command === undefined) return nothing(`The comment on D${of} is not a command.`);
  const name = (await userNames(deps.conduit, [by])).get(by) ?? by;
  const person = { phid: by, name };
  const mayRequest = await authorizeRevision({ number: of, diff: 0 }, { kind: 'cancelled', by: person }, rulesOf(deps));
  const isOfStranger = mayRequest.kind !== 'allowed';
  const reply = (topic: ReplyTopic, why: string): Decision => ({
    kind: 'reply',
    of,
    revision: occurrence.revision,
    topic,
    why,
    key,
    ...(isOfStranger && { isOfStranger }),
  });
  if (command.kind === 'mistaken') return reply('mistaken', command.why);
  if (command.kind === 'help') return reply('help', '');
  try {
    if (command.kind === 'cancel') {
      // A running gate can be cancelled even if its revision no longer belongs to this lab.
      const found = await findRevision(deps.conduit, { revision: of });
      const authorization = await authorizationOf(found, { kind: 'cancelled', by: person }, deps);
      if (authorization.kind !== 'allowed') return reply('not-cancelled', authorization.why);
      return { kind: 'cancel', of, why: authorization.why };
    }
    const named = command.diff;
    const before = await diffBefore(occurrence, named, deps);
    const found = await findRevision(deps.conduit, { revision: of, diff: before.diff });
    const why = whyForeign(found, deps);
    if (why !== undefined) return reply('refused', why);
    const occasion: RevisionOccasion = {
      kind: 'commanded',
      verb: command.kind,
      by: person,
      at: occurrence.at,
      sentAt: before.sentAt,
      isMeasured: isMeasured(found, before.diff, deps),
      isNamed: named !== undefined || (command.kind === 'bisect' && command.overrides.good !== undefined),
    };
    const authorization = await authorizationOf(found, occasion, deps);
    if (authorization.kind !== 'allowed') return reply('refused', authorization.why);
    const phids = phidsOf(found);
    const requested = { key, revision: of, diff: before.diff, phids, by: name };
    const wanted = jobFor(command, requested, jobsOf(found, deps));
    if (typeof wanted === 'string') return reply('mistaken', wanted);
    const { overrides, extend, bisect } = wanted;
    deps.check({ ...(bisect ?? overrides), ...(extend?.maxRuns && { maxRuns: extend.maxRuns }) });
    if (bisect !== undefined && !bisect.good && found.earlier.length === 0) {
      return reply('mistaken', hasOneDiff(found));
    }
    if (extend !== undefined) return { kind: 'run', job: wanted };
    const own = bisect?.good ? undefined : bisect?.earlier || 'all';
    const earlierWanted = bisect === undefined ? overrides.earlier : own;
    const mayRun = async (people: readonly Person[]) =>
      (await authorizationOf(found, { kind: 'sent', by: people }, deps)).kind === 'allowed';
    const pinned = await pinnedDiffs(command, earlierWanted, found, mayRun);
    if (pinned.kind === 'unread') return reply('refused', pinned.why);
    return { kind: 'run', job: withEarlier(wanted, pinned.earlier) };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof RevisionError)) throw error;
    return reply('mistaken', error.message);
  }
}

function withEarlier(job: Job, earlier: string | undefined): Job {
  if (earlier === undefined) return job;
  const { overrides, bisect } = job;
  return bisect === undefined
    ? { ...job, overrides: { ...overrides, earlier } }
    : { ...job, bisect: { ...bisect, earlier } };
}

const hasOneDiff = ({ number, diff }: FoundRevision): string =>
  `D${number} has no diff before ${diff.id}, so there is nothing to bisect; write ${callOnPhabricator} bisect GOOD BAD to choose commits`;

function jobFor(
  command: Extract<CommentCommand, { kind: 'run' | 'rerun' | 'extend' | 'bisect' }>,
  requested: Omit<Job, 'overrides'>,
  earlierJobs: readonly JobRecord[],
): Job | string {
  const { diff } = requested;
  if (command.kind === 'run') return { ...requested, overrides: command.overrides };
  if (command.kind === 'bisect') return { ...requested, overrides: {}, bisect: command.overrides };
  const before = earlierJobs.filter(({ job }) => job.bisect === undefined);
  if (command.kind === 'rerun') return { ...requested, overrides: before[0]?.job.overrides ?? {} };
  const last = before.find(({ job }) => job.diff === diff);
  if (last === undefined || last.state.kind !== 'ended') {
    return `There is no experiment to extend for diff ${diff}; write ${callOnPhabricator} run first`;
  }
  const { maxRuns } = command;
  const extend = {
    // All extensions work in the folder of the first gate.
    key: last.job.extend?.key ?? last.job.key,
    ...(maxRuns !== undefined && { maxRuns }),
  };
  return { ...requested, overrides: last.job.overrides, extend };
}

/** Returns the diff that the comment names, or the newest one at that time, with the time when it was sent. */
async function diffBefore(
  { of, id }: Of<'comment'>,
  named: number | undefined,
  { conduit }: DecideDeps,
): Promise<{ diff: number; sentAt: Date }> {
  const { phid, diff, earlier } = await findRevision(conduit, { revision: of });
  // A diff can be created long before it is sent to the revision, so its own date does not count.
  const sent = (await transactionsOf(conduit, phid, {})).flatMap((one) => {
    const sentDiff = [...earlier, diff].find((each) => one.kind === 'diff' && each.phid === one.diffPhid);
    return sentDiff === undefined || one.id > id ? [] : { diff: sentDiff.id, sentAt: one.at };
  });
  const found = sent.findLast((one) => named === undefined || one.diff === named);
  if (found !== undefined) return found;
  throw new UsageError(
    named === undefined
      ? `it is unclear which diff you mean; write ${callOnPhabricator} run ${diff.id}`
      : `D${of} had no diff ${named} at the time of your comment; its newest is ${diff.id}`,
  );
}

/** Knows only gates on this machine, since others report only their start. */
const isMeasured = (found: FoundRevision, diff: number, deps: DecideDeps): boolean =>
  jobsOf(found, deps).some(
    ({ job, state }) =>
      job.diff === diff && job.bisect === undefined && state.kind === 'ended' && measured.has(state.how),
  );

const measured: ReadonlySet<string> = new Set(['it passed', 'the patch is at fault', 'it was undecided']);

const sentBy = ({ author, diff }: FoundRevision): RevisionOccasion => ({
  kind: 'sent',
  by: [author, diff.author],
});

function authorizationOf({ number, diff }: FoundRevision, occasion: RevisionOccasion, deps: DecideDeps) {
  return authorizeRevision({ number, diff: diff.id }, occasion, rulesOf(deps));
}

function rulesOf({ conduit, config, warn }: DecideDeps) {
  const { people, projects } = config;
  return {
    people,
    projects,
    async isMember(phid: string) {
      const membership = await isMember(conduit, phid, projects);
      if (membership.warning !== undefined) warn(membership.warning);
      return membership.isMember;
    },
  };
}

function whyForeign({ number, repository, status }: FoundRevision, { config }: DecideDeps) {
  if (['abandoned', 'published'].includes(status)) return `D${number} is ${status}.`;
  const { repositories } = config;
  if (repositories === undefined || isNamed(repository, repositories)) return undefined;
  return `D${number} belongs to none of the measured repositories: ${repositories.join(', ')}.`;
}

type Elsewhere =
  | { kind: 'elsewhere'; why: string }
  /** The revision may still belong to this lab; only the author knows. */
  | { kind: 'doubtful'; why: string };

/** Undefined if the diff changes a file below the paths, or cannot be read. */
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
    const sent = `if ${shortened(path)} means ${shortened(meant)}, the diff was sent without prefixes: send it with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
    return { kind: 'doubtful', why: `${why}; ${sent}` };
  }
  return { kind: 'elsewhere', why: `${why}.` };
}

function isBelowRest(path: string, folder: string): boolean {
  const rest = folder.slice(folder.indexOf('/') + 1);
  return rest !== '' && path.startsWith(rest);
}

/** Undefined if it cannot be read; the gate reports that to its author. */
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
    // Ignores a final error, such as a diff that is too large, as it must not delay the others.
    if (isFinal(error)) return undefined;
    throw error;
  }
}

const nothing = (why: string): Decision => ({ kind: 'nothing', why });
