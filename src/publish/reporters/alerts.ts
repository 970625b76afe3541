// Reports lasting changes of the branch: one GitHub issue per change, and a notice where its commit was reviewed.
//
// GitHub cannot create an issue at most once, and lists a new one only after a while. So the data branch decides, which
// moves only from the commit that was read. A publisher first writes a unique name there (`updates`, with the time in
// `intended`). Only the publisher with that name reports. If it cannot know that it created the issue, the name stays.
// Ten minutes later the issue would be listed. Then the next publisher replaces the name, searches the issue by its
// hidden marker, and creates one only if there is none.

import { isOpen, lossesOf, seriesKey } from '../../analysis/trend/change-history.ts';
import { type Octokit, ownLogin } from '../../forge/github/client.ts';
import { publishComment } from '../../forge/github/comment.ts';
import { githubFailure, whyNotDone } from '../../forge/github/failure.ts';
import {
  createIssue,
  findIssue,
  type IssuePlace,
  isGone,
  makeLabel,
  replaceLabel,
  updateIssue,
} from '../../forge/github/issue.ts';
import { mergedAs } from '../../forge/github/pull-request.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { NightlyRun, TrendChange, TrendIndex } from '../../model/trend.ts';
import {
  type AlertLinks,
  alertBody,
  alertLabels,
  alertMarker,
  alertTitle,
  type IssueState,
  issueNews,
  issueStateText,
  newsMarker,
  pullRequestText,
  readIssueState,
  revisionText,
} from './alert-text.ts';
import type { UpdateAttempt } from './throttled-updates.ts';

export type AlertsDeps = {
  octokit: Octokit;
  repository: string;
  serverUrl: string;
  marginRatio: number;
  links: AlertLinks;
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>;
  /**
   * Applies the function to the newest index of the data branch, and returns the result. Calls it again if others wrote
   * meanwhile, or the reply to a write was lost. Throws an Error if the write may have happened.
   */
  edit(change: (index: TrendIndex) => TrendIndex): Promise<TrendIndex>;
  /** The only commit from the last good to the first bad one; undefined for several, or none. */
  onlyCommitOf(change: TrendChange): Promise<string | undefined>;
  /** Posts once per key. Returns the revision's name, or undefined without a revision. Absent without Phabricator. */
  commentOnRevision?: (
    commit: string,
    text: string,
    key: string,
  ) => Promise<{ attempt: UpdateAttempt; name: string } | undefined>;
  now(): Date;
  drawName(): string;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  pause?: (seconds: number) => Promise<unknown>;
};

/**
 * Updates issues and comments for these changes, and returns the changes with their new alerts. The next call retries
 * all that failed. A failure of GitHub, Phabricator or the network is a warning.
 */
export async function reportChanges(changes: readonly TrendChange[], deps: AlertsDeps): Promise<TrendChange[]> {
  const { log, octokit, edit, now } = deps;
  const tasks = new Map<string, AlertTask>();
  for (const change of changes) {
    const task = await alertTaskOf(change, deps);
    if (task !== undefined) tasks.set(change.id, task);
  }
  if (tasks.size === 0) return [...changes];
  const updates = deps.drawName();
  const unsure = new Set<string>();
  let latest = changes;
  try {
    // A publisher whose token GitHub rejects must not claim alerts.
    const login = await ownLogin(octokit);
    const begun = now();
    latest = (await edit(claiming(tasks, { updates, begun, unsure }))).changes;
    const ours = latest.filter(({ alert }) => alert.updates === updates);
    const alerts = await reportEach(ours, { ...deps, login, begun, tasks, unsure });
    if (alerts.size > 0) latest = (await edit(recording(alerts, updates))).changes;
  } catch (error) {
    log.warn(
      `Changes of the branch may not have been reported (${reasonOf(error)}): the next nightly run reports them.`,
    );
  }
  return changes.map((change) => latest.find(({ id }) => id === change.id) ?? change);
}

type Alert = TrendChange['alert'];

type AlertTask = { culprit?: string };

/** After this time a new issue is listed, and the publisher that created it has stopped. */
const settledSeconds = 600;
/** After this time a publisher starts no more issues, as its names may soon be replaced. */
const maxSeconds = 240;
/** Number of nightly runs for which a testbed's new level must last before it is reported. */
const minNightlyRuns = 5;

async function alertTaskOf(change: TrendChange, deps: AlertsDeps): Promise<AlertTask | undefined> {
  const { alert } = change;
  if (isBegun(alert, deps.now())) return undefined;
  const isWorthy = isAlert(change, deps);
  const culprit = isWorthy && change.state === 'code' ? await culpritOf(change, deps) : undefined;
  const reviewed = culprit === undefined || culprit === alert.commentedCommit ? {} : { culprit };
  const isLost = alert.issue === undefined && alert.intended !== undefined;
  const isUnread = alert.issue !== undefined && isNews(change, deps.marginRatio);
  const isNew = alert.issue === undefined && isWorthy;
  return isLost || isUnread || isNew || 'culprit' in reviewed ? reviewed : undefined;
}

/** True if another publisher reports it, or has just tried. A clock far ahead must not block all others forever. */
const isBegun = ({ intended }: Alert, now: Date): boolean =>
  intended !== undefined && Math.abs(now.getTime() - Date.parse(intended)) < settledSeconds * 1000;

/** Accepts losses that a gate confirmed, and lasting levels of a testbed, as a gate misses losses below the margin. */
function isAlert(change: TrendChange, { nightlyRuns, marginRatio }: AlertsDeps): boolean {
  const { state } = change;
  const lost = lossesOf(change);
  if (lost.length === 0) return false;
  if (state === 'code') return true;
  const isLarge = lost.some(({ changeRatio }) => Math.abs(changeRatio) >= marginRatio);
  return state === 'testbed' && isLarge && nightlyRunsSince(change, nightlyRuns) >= minNightlyRuns;
}

function nightlyRunsSince({ testbed, cells, changedAt }: TrendChange, nightlyRuns: AlertsDeps['nightlyRuns']): number {
  const counts = cells.map(({ cell }) => {
    const all = nightlyRuns.get(seriesKey({ testbed, cell })) ?? [];
    return all.filter(({ at, occasion }) => at >= changedAt && occasion !== 'again').length;
  });
  return Math.max(...counts);
}

async function culpritOf(change: TrendChange, deps: AlertsDeps): Promise<string | undefined> {
  const named = change.bisection?.culprit;
  if (named !== undefined) return named;
  return deps.onlyCommitOf(change).catch((error: unknown) => {
    deps.log.info(
      `The reviewers of the change ${change.id} are not looked up, because git cannot list its commits (${reasonOf(error)}).`,
    );
    return undefined;
  });
}

const isNews = (change: TrendChange, marginRatio: number): boolean => {
  const state = readIssueState(change.alert.postedText);
  return issueNews(state, change, marginRatio).length > 0 || (state === undefined && isOpen(change));
};

/** Claims all alerts that no other publisher has begun. Adds those begun but not finished to `unsure`. */
const claiming =
  (
    tasks: ReadonlyMap<string, AlertTask>,
    { updates, begun, unsure }: { updates: string; begun: Date; unsure: Set<string> },
  ) =>
  (index: TrendIndex): TrendIndex =>
    withAlerts(index, (change) => {
      const { id, alert } = change;
      if (!tasks.has(id) || alert.updates === updates || isBegun(alert, begun)) return alert;
      if (alert.intended !== undefined && alert.issue === undefined) unsure.add(id);
      return { ...alert, updates, intended: begun.toISOString() };
    });

/** Records the new alerts. If our name was replaced meanwhile, records only the number of an issue. */
const recording =
  (alerts: ReadonlyMap<string, Alert>, updates: string) =>
  (index: TrendIndex): TrendIndex =>
    withAlerts(index, ({ id, alert }) => {
      const ours = alerts.get(id);
      if (ours === undefined) return alert;
      if (alert.updates === updates) return ours;
      return alert.issue === undefined && ours.issue !== undefined ? { ...alert, issue: ours.issue } : alert;
    });

const withAlerts = (index: TrendIndex, alertOf: (change: TrendChange) => Alert): TrendIndex => ({
  ...index,
  changes: index.changes.map((change) => ({ ...change, alert: alertOf(change) })),
});

type AlertRun = AlertsDeps & {
  login: string;
  begun: Date;
  tasks: ReadonlyMap<string, AlertTask>;
  unsure: ReadonlySet<string>;
};

/** Runs in sequence, and releases claims that run out of time. */
async function reportEach(changes: readonly TrendChange[], run: AlertRun): Promise<Map<string, Alert>> {
  const alerts = new Map<string, Alert>();
  const warned = new Set<string>();
  const warn = (sentence: string) => {
    // A missing permission causes one warning, even if it prevents several issues.
    if (!warned.has(sentence)) run.log.warn(sentence);
    warned.add(sentence);
  };
  const log = { ...run.log, warn };
  for (const change of changes) {
    const alert = isLate(run) ? unmade(change, run) : await reportOne(change, { ...run, log });
    alerts.set(change.id, alert);
  }
  return alerts;
}

const isLate = ({ now, begun }: AlertRun): boolean => now().getTime() - begun.getTime() > maxSeconds * 1000;

/** Returns the alert without an issue of ours; unchanged if an earlier publisher may have created one. */
const unmade = ({ id, alert }: TrendChange, { unsure }: AlertRun): Alert => (unsure.has(id) ? alert : released(alert));

const released = ({ intended: _, updates: __, ...alert }: Alert): Alert => alert;

async function reportOne(change: TrendChange, run: AlertRun): Promise<Alert> {
  const before = change.alert;
  try {
    const issue = before.issue === undefined && run.unsure.has(change.id) ? await lookedUp(change, run) : before.issue;
    if (issue === undefined && !isAlert(change, run)) return released(before);
    const alert =
      issue === undefined
        ? await withIssue(change, run)
        : await withNews({ ...change, alert: { ...before, issue } }, run);
    // Reviewers are notified only once there is an issue to link.
    if (alert.intended !== undefined || alert.issue === undefined) return alert;
    return await withReviewers({ ...change, alert }, alert.issue, run);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    run.log.warn(whyNotDone(`The issue of the change ${change.id} was not looked up`, failure, fixes));
    return before;
  }
}

const fixes = {
  again: 'publish a nightly run',
  permission: 'give the job `permissions: issues: write`, or write `trend: { issues: false }` in ppsgate.yml',
  otherwise: '; the change itself is on the data branch',
};

/** Exceeds the difference between the clocks of GitHub and of a runner. */
const dayMilliseconds = 86_400_000;

const lookedUp = (change: TrendChange, { login, ...place }: AlertRun): Promise<number | undefined> =>
  findIssue(place, {
    creator: login,
    marker: alertMarker(change.id),
    since: new Date(Date.parse(change.foundAt) - dayMilliseconds),
  });

/** Creates the issue. Our claim stays if the outcome is unknown. */
async function withIssue(change: TrendChange, run: AlertRun): Promise<Alert> {
  const { links, log, ...place } = run;
  const { alert } = change;
  const label = alertLabels[change.state === 'testbed' ? 'testbed' : 'code'];
  const text = { title: alertTitle(change), body: alertBody(change, links), label: label.name };
  const notMade = 'The issue of a change was not made';
  try {
    await makeLabel(place, label);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    log.warn(whyNotDone(notMade, failure, fixes));
    return unmade(change, run);
  }
  if (isLate(run)) return unmade(change, run);
  const made = await createIssue(place, text);
  switch (made.kind) {
    case 'made':
      return { ...released(alert), issue: made.number, postedText: issueStateText(change) };
    case 'refused':
      log.warn(whyNotDone(notMade, made.failure, fixes));
      return released(alert);
    case 'unsure':
      log.warn(whyNotDone('The issue of a change may or may not have been made', made.failure, fixes));
      return alert;
  }
}

/** Updates the issue and posts news. `postedText` stays unchanged on a failure. */
async function withNews(change: TrendChange, run: AlertRun): Promise<Alert> {
  const { links, marginRatio, log, repository, octokit, pause } = run;
  const alert = released(change.alert);
  const { issue: number = 0 } = alert;
  const before = readIssueState(alert.postedText);
  if (!isNews(change, marginRatio)) return alert;
  const postedText = issueStateText(change);
  const news = issueNews(before, change, marginRatio);
  try {
    await updateIssue(run, number, {
      title: alertTitle(change),
      body: alertBody(change, links),
      closedAs: closings[change.state],
    });
    await relabelled(run, number, before, change);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    // A maintainer has deleted the issue, and does not want another.
    if (isGone(failure)) return { ...alert, postedText };
    log.warn(whyNotDone(`The issue #${number} was not updated`, failure, fixes));
    return alert;
  }
  if (news.length === 0) return { ...alert, postedText };
  const marker = newsMarker(change, postedText);
  const compose = (written: string | undefined) => written ?? [marker, ...news].join('\n\n');
  const published = await publishComment(octokit, { repository, number }, compose, {
    marker,
    ...(pause && { pause }),
  });
  if (published.kind !== 'not-published') return { ...alert, postedText };
  log.warn(published.why);
  // A locked issue will not accept news tomorrow either.
  return published.isFinal ? { ...alert, postedText } : alert;
}

const closings: Readonly<Partial<Record<TrendChange['state'], 'completed' | 'not_planned'>>> = {
  recovered: 'completed',
  accepted: 'not_planned',
};

async function relabelled(
  place: IssuePlace,
  number: number,
  before: IssueState | undefined,
  { state }: TrendChange,
): Promise<void> {
  const [old, label] = [before?.state, state].map((one) =>
    one === 'code' || one === 'testbed' ? alertLabels[one] : undefined,
  );
  if (old === undefined || label === undefined || old === label) return;
  await replaceLabel(place, number, { old: old.name, label });
}

/** Notifies the culprit's reviewers. A refusal is final. */
async function withReviewers(
  change: TrendChange,
  issue: number,
  { tasks, octokit, repository, serverUrl, commentOnRevision, log, pause }: AlertRun,
): Promise<Alert> {
  const { alert } = change;
  const { culprit } = tasks.get(change.id) ?? {};
  if (culprit === undefined) return alert;
  const notifiedBefore = new Set(alert.told);
  try {
    const number = await mergedAs(octokit, repository, culprit);
    if (number !== undefined && !notifiedBefore.has(`#${number}`)) {
      const published = await publishComment(
        octokit,
        { repository, number },
        (written) => written ?? pullRequestText(change, issue),
        { marker: alertMarker(change.id), ...(pause && { pause }) },
      );
      if (published.kind !== 'not-published') notifiedBefore.add(`#${number}`);
      else {
        log.warn(published.why);
        if (!published.isFinal) return alert;
      }
    }
    const text = revisionText(change, `${serverUrl}/${repository}/issues/${issue}`);
    const revision = await commentOnRevision?.(culprit, text, `change ${change.id}`);
    if (revision?.attempt.kind === 'delivered') notifiedBefore.add(revision.name);
    else if (revision !== undefined) {
      log.warn(revision.attempt.why);
      if (revision.attempt.kind !== 'refused') return { ...alert, told: [...notifiedBefore] };
    }
    return { ...alert, told: [...notifiedBefore], commentedCommit: culprit };
  } catch (error) {
    log.warn(`The reviewers of ${culprit} were not notified (${reasonOf(error)}): the next nightly run tries again.`);
    return { ...alert, told: [...notifiedBefore] };
  }
}
