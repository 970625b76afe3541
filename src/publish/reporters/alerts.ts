// Reports lasting changes of the branch: one GitHub issue per change, found by its hidden marker, and a notice where its
// commit was reviewed. Two publishers at once may create two issues; the next one closes the newer.

import { isDeepStrictEqual } from 'node:util';
import { isOpen, lossesOf, seriesKey } from '../../analysis/trend/change-history.ts';
import { type Octokit, ownLogin } from '../../forge/github/client.ts';
import { publishComment } from '../../forge/github/comment.ts';
import { githubFailure, whyNotDone } from '../../forge/github/failure.ts';
import { createIssue, isGone, makeLabel, openIssues, replaceLabel, updateIssue } from '../../forge/github/issue.ts';
import { mergedAs } from '../../forge/github/pull-request.ts';
import { reasonOf } from '../../model/one-line.ts';
import type { NightlyRun, TrendChange, TrendIndex } from '../../model/trend.ts';
import {
  type AlertLinks,
  alertBody,
  alertLabels,
  alertMarker,
  alertTitle,
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
  /** Applies the function to the newest index of the data branch, again if others wrote meanwhile. */
  edit(change: (index: TrendIndex) => TrendIndex): Promise<TrendIndex>;
  /** The only commit from the last good to the first bad one; undefined for several, or none. */
  onlyCommitOf(change: TrendChange): Promise<string | undefined>;
  /** Posts once per key. Returns the revision's name, or undefined without a revision. Absent without Phabricator. */
  commentOnRevision?: (
    commit: string,
    text: string,
    key: string,
  ) => Promise<{ attempt: UpdateAttempt; name: string } | undefined>;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  pause?: (seconds: number) => Promise<unknown>;
};

/**
 * Updates issues and comments for these changes, and returns the changes with their new alerts. The next call retries
 * all that failed. A failure of GitHub, Phabricator or the network is a warning.
 */
export async function reportChanges(changes: readonly TrendChange[], deps: AlertsDeps): Promise<TrendChange[]> {
  if (changes.length === 0) return [];
  const { octokit, repository, log } = deps;
  const warned = new Set<string>();
  const warn = (sentence: string) => {
    // A missing permission causes one warning, even if it prevents several issues.
    if (!warned.has(sentence)) log.warn(sentence);
    warned.add(sentence);
  };
  const run = { ...deps, log: { ...log, warn } };
  let latest = changes;
  try {
    const issues = await openIssues({ octokit, repository }, await ownLogin(octokit));
    const alerts = new Map<string, Alert>();
    for (const change of changes) {
      const own = issues.filter(({ body }) => body.startsWith(alertMarker(change.id)));
      const alert = await reportOne(
        change,
        own.map(({ number }) => number),
        run,
      );
      if (!isDeepStrictEqual(alert, change.alert)) alerts.set(change.id, alert);
    }
    if (alerts.size > 0) latest = (await deps.edit(recording(alerts))).changes;
  } catch (error) {
    log.warn(
      `Changes of the branch may not have been reported (${reasonOf(error)}): the next nightly run reports them.`,
    );
  }
  return changes.map((change) => latest.find(({ id }) => id === change.id) ?? change);
}

type Alert = TrendChange['alert'];

const recording =
  (alerts: ReadonlyMap<string, Alert>) =>
  (index: TrendIndex): TrendIndex => ({
    ...index,
    changes: index.changes.map((change) => {
      const alert = alerts.get(change.id);
      if (alert === undefined) return change;
      // Two concurrent publishers may each have created an issue: the older one stays.
      const [issue] = [change.alert.issue, alert.issue].flatMap((one) => one ?? []).toSorted((a, b) => a - b);
      return { ...change, alert: { ...alert, ...(issue !== undefined && { issue }) } };
    }),
  });

/** @param found open issues of this change, oldest first */
async function reportOne(change: TrendChange, found: readonly number[], deps: AlertsDeps): Promise<Alert> {
  const { alert } = change;
  const issue = alert.issue ?? found[0];
  let reported: Alert;
  try {
    for (const number of found) {
      if (number !== issue) await updateIssue(deps, number, { closedAs: 'not_planned' });
    }
    if (issue !== undefined) reported = await withNews(change, issue, deps);
    else if (isAlert(change, deps)) reported = await withIssue(change, deps);
    else return alert;
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    deps.log.warn(whyNotDone('The issue of a change was not created or updated', failure, fixes));
    return alert;
  }
  return withReviewers({ ...change, alert: reported }, deps);
}

const fixes = {
  again: 'publish a nightly run',
  permission: 'give the job `permissions: issues: write`, or write `trend: { issues: false }` in ppsgate.yml',
  otherwise: '; the change itself is on the data branch',
};

/** Number of nightly runs for which a testbed's new level must last before it is reported. */
const minNightlyRuns = 5;

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

async function withIssue(change: TrendChange, { links, ...place }: AlertsDeps): Promise<Alert> {
  const label = alertLabels[change.state === 'testbed' ? 'testbed' : 'code'];
  await makeLabel(place, label);
  const text = { title: alertTitle(change), body: alertBody(change, links), label: label.name };
  return { ...change.alert, issue: await createIssue(place, text), postedText: issueStateText(change) };
}

/** Updates the issue and posts news. `postedText` stays unchanged on a failure. */
async function withNews(change: TrendChange, number: number, deps: AlertsDeps): Promise<Alert> {
  const { links, marginRatio, log, repository, octokit, pause } = deps;
  const { state } = change;
  const alert = { ...change.alert, issue: number };
  const before = readIssueState(alert.postedText);
  const news = issueNews(before, change, marginRatio);
  if (news.length === 0 && (before !== undefined || !isOpen(change))) return alert;
  const postedText = issueStateText(change);
  try {
    const text = { title: alertTitle(change), body: alertBody(change, links) };
    await updateIssue(deps, number, { ...text, closedAs: closings[state] });
    if (before?.state === 'testbed' && state === 'code') {
      await replaceLabel(deps, number, { old: alertLabels.testbed.name, label: alertLabels.code });
    } else if (before?.state === 'code' && state === 'testbed') {
      await replaceLabel(deps, number, { old: alertLabels.code.name, label: alertLabels.testbed });
    }
  } catch (error) {
    // A maintainer has deleted the issue, and does not want another.
    if (isGone(githubFailure(error))) return { ...alert, postedText };
    throw error;
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

/** Notifies the culprit's reviewers once there is an issue to link. A refusal is final. */
async function withReviewers(change: TrendChange, deps: AlertsDeps): Promise<Alert> {
  const { octokit, repository, serverUrl, commentOnRevision, log, pause } = deps;
  const { alert } = change;
  const { issue } = alert;
  if (issue === undefined || change.state !== 'code' || !isAlert(change, deps)) return alert;
  const culprit = await culpritOf(change, deps);
  if (culprit === undefined || culprit === alert.commentedCommit) return alert;
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
