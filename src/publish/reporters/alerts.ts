// Tells people of lasting changes of the branch: one issue a change on GitHub, and a word where its commit was reviewed.
//
// GitHub knows no way to make an issue at most once, and lists one only some time after it was made. So the data branch
// decides, which moves only from where it was read: whoever is to tell of a change first puts a name of its own there
// (`updater`, with the time in `intended`), and only the one whose name is there tells. Where it cannot know whether the
// issue was made, the name stays. Ten minutes later, when whatever was made is listed, the next one puts its own name in
// its place, looks the issue up by its hidden marker, and makes one only where there is none.

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
  newsMarker,
  newsOf,
  pullRequestText,
  readSaid,
  revisionText,
  type Said,
  saidOf,
} from './alert-text.ts';
import type { Told } from './throttled-updates.ts';

export type AlertsDeps = {
  octokit: Octokit;
  /** `owner/name` of the repository that gets the issues. */
  repository: string;
  /** The server's URL, as in `GITHUB_SERVER_URL`. */
  serverUrl: string;
  /** The margin of the gates that confirm. */
  marginRatio: number;
  links: AlertLinks;
  /** The nightly runs of each series, by `seriesKey`. */
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>;
  /**
   * Puts what the function makes of the newest index on the data branch, and answers that; the function is called again
   * where others wrote meanwhile, or where the answer to a write was lost. Throws an Error where nobody knows whether it
   * was written.
   */
  edit(change: (index: TrendIndex) => TrendIndex): Promise<TrendIndex>;
  /** The one commit between the last good one and the first bad one; undefined where there are several, or none. */
  onlyCommitOf(change: TrendChange): Promise<string | undefined>;
  /**
   * Writes a comment, in Remarkup, once for each key on the revision that landed as this commit, and answers its name;
   * undefined where there is none. Absent: there is no Phabricator.
   */
  tellRevision?: (
    commit: string,
    text: string,
    key: string,
  ) => Promise<{ told: Told; name: string } | undefined>;
  now(): Date;
  /** A name that nobody else draws. */
  drawName(): string;
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  /** How to wait before another try of a comment. */
  pause?: (seconds: number) => Promise<unknown>;
};

/**
 * Brings issues and comments up to date with these changes, and answers them with what is known of that afterwards.
 * Whatever is not told now is told when this is called again. Never throws for what GitHub, Phabricator or the network
 * did: that is a warning.
 */
export async function tellChanges(
  changes: readonly TrendChange[],
  deps: AlertsDeps,
): Promise<TrendChange[]> {
  const { log, octokit, edit, now } = deps;
  const wanted = new Map<string, Wanted>();
  for (const change of changes) {
    const one = await wantedOf(change, deps);
    if (one !== undefined) wanted.set(change.id, one);
  }
  if (wanted.size === 0) return [...changes];
  const updates = deps.drawName();
  const unsure = new Set<string>();
  let known = changes;
  try {
    // Whoever cannot even ask GitHub this begins nothing.
    const login = await ownLogin(octokit);
    const begun = now();
    known = (await edit(claiming(wanted, { updates, begun, unsure }))).changes;
    const ours = known.filter(({ alert }) => alert.updates === updates);
    const told = await tellEach(ours, { ...deps, login, begun, wanted, unsure });
    if (told.size > 0) known = (await edit(recording(told, updates))).changes;
  } catch (error) {
    log.warn(
      `Changes of the branch may not have been told (${reasonOf(error)}): that is made up for when the next nightly run is published.`,
    );
  }
  return changes.map((change) => known.find(({ id }) => id === change.id) ?? change);
}

type Alert = TrendChange['alert'];

/** `culprit` is the single commit whose reviewers are to be told. */
type Wanted = { culprit?: string };

/** An issue that was made is listed after so long, and nobody who began to tell goes on. */
const settledSeconds = 600;
/** Whoever has told others for so long begins no further issue: its names there may be replaced soon. */
const mostSeconds = 240;
/** A testbed's level has to stay so many nightly runs before people are told of it. */
const leastNightlyRuns = 5;

/** What is to be told of a change, which is cheap to ask; undefined for nothing. */
async function wantedOf(change: TrendChange, deps: AlertsDeps): Promise<Wanted | undefined> {
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

/** Somebody else tells of it, or has just tried. A clock that is far ahead must not keep all others from it for ever. */
const isBegun = ({ intended }: Alert, now: Date): boolean =>
  intended !== undefined && Math.abs(now.getTime() - Date.parse(intended)) < settledSeconds * 1000;

/**
 * Only losses that a gate has confirmed, and levels of a testbed that stay. A gate finds no loss of code that is smaller
 * than the margin, either, so such a one is nobody's.
 */
function isAlert(change: TrendChange, { nightlyRuns, marginRatio }: AlertsDeps): boolean {
  const { state } = change;
  const lost = lossesOf(change);
  if (lost.length === 0) return false;
  if (state === 'code') return true;
  const isLarge = lost.some(({ changeRatio }) => Math.abs(changeRatio) >= marginRatio);
  return (
    state === 'testbed' && isLarge && nightlyRunsSince(change, nightlyRuns) >= leastNightlyRuns
  );
}

function nightlyRunsSince(
  { testbed, cells, changedAt }: TrendChange,
  nightlyRuns: AlertsDeps['nightlyRuns'],
): number {
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
      `Who reviewed the change ${change.id} is not looked for, because git does not tell its commits (${reasonOf(error)}).`,
    );
    return undefined;
  });
}

const isNews = (change: TrendChange, marginRatio: number): boolean => {
  const said = readSaid(change.alert.postedText);
  return newsOf(said, change, marginRatio).length > 0 || (said === undefined && isOpen(change));
};

/** Puts our name to all that nobody else has begun; `unsure` hears which of them somebody began before, and did not end. */
const claiming =
  (
    wanted: ReadonlyMap<string, Wanted>,
    { updates, begun, unsure }: { updates: string; begun: Date; unsure: Set<string> },
  ) =>
  (index: TrendIndex): TrendIndex =>
    withAlerts(index, (change) => {
      const { id, alert } = change;
      if (!wanted.has(id) || alert.updates === updates || isBegun(alert, begun)) return alert;
      if (alert.intended !== undefined && alert.issue === undefined) unsure.add(id);
      return { ...alert, updates, intended: begun.toISOString() };
    });

/** Puts down what was told; where our name was replaced meanwhile, nothing but the number of an issue. */
const recording =
  (told: ReadonlyMap<string, Alert>, updates: string) =>
  (index: TrendIndex): TrendIndex =>
    withAlerts(index, ({ id, alert }) => {
      const ours = told.get(id);
      if (ours === undefined) return alert;
      if (alert.updates === updates) return ours;
      return alert.issue === undefined && ours.issue !== undefined
        ? { ...alert, issue: ours.issue }
        : alert;
    });

const withAlerts = (index: TrendIndex, alertOf: (change: TrendChange) => Alert): TrendIndex => ({
  ...index,
  changes: index.changes.map((change) => ({ ...change, alert: alertOf(change) })),
});

type Telling = AlertsDeps & {
  login: string;
  begun: Date;
  wanted: ReadonlyMap<string, Wanted>;
  unsure: ReadonlySet<string>;
};

/** One after another; what is left out for want of time is given back. */
async function tellEach(
  changes: readonly TrendChange[],
  telling: Telling,
): Promise<Map<string, Alert>> {
  const told = new Map<string, Alert>();
  const warned = new Set<string>();
  const warn = (sentence: string) => {
    // One missing permission is one sentence, however many issues it keeps from being made.
    if (!warned.has(sentence)) telling.log.warn(sentence);
    warned.add(sentence);
  };
  const log = { ...telling.log, warn };
  for (const change of changes) {
    const alert = isLate(telling)
      ? unmade(change, telling)
      : await tellOne(change, { ...telling, log });
    told.set(change.id, alert);
  }
  return told;
}

const isLate = ({ now, begun }: Telling): boolean =>
  now().getTime() - begun.getTime() > mostSeconds * 1000;

/** The alert where we have made no issue: as we have found it, for whoever began before us may have made one. */
const unmade = ({ id, alert }: TrendChange, { unsure }: Telling): Alert =>
  unsure.has(id) ? alert : ended(alert);

/** Nobody tells of it any more, and how that ended is known. */
const ended = ({ intended: _, updates: __, ...alert }: Alert): Alert => alert;

/** Answers what is known of the alert then. */
async function tellOne(change: TrendChange, telling: Telling): Promise<Alert> {
  const before = change.alert;
  const place: IssuePlace = telling;
  try {
    const found =
      before.issue === undefined && telling.unsure.has(change.id)
        ? await lookedUp(change, telling)
        : before.issue;
    if (found === undefined && !isAlert(change, telling)) return ended(before);
    const alert =
      found === undefined
        ? await withIssue(change, telling)
        : await withNews({ ...change, alert: { ...before, issue: found } }, place, telling);
    // Before somebody knows where the issue is, there is nothing to send reviewers to.
    if (alert.intended !== undefined || alert.issue === undefined) return alert;
    return await withReviewers({ ...change, alert }, alert.issue, telling);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    telling.log.warn(
      whyNotDone(`The issue of the change ${change.id} was not looked up`, failure, fixes),
    );
    return before;
  }
}

const fixes = {
  again: 'publish a nightly run',
  permission:
    'give the job `permissions: issues: write`, or write `trend: { issues: false }` in ppsgate.yml',
  otherwise: '; the change itself is on the data branch',
};

/** The clocks of GitHub and of a runner may differ by less. */
const dayMilliseconds = 86_400_000;

const lookedUp = (change: TrendChange, { login, ...place }: Telling): Promise<number | undefined> =>
  findIssue(place, {
    creator: login,
    marker: alertMarker(change.id),
    since: new Date(Date.parse(change.foundAt) - dayMilliseconds),
  });

/** Makes the issue; where nobody knows whether it was made our name stays. */
async function withIssue(change: TrendChange, telling: Telling): Promise<Alert> {
  const { links, log, ...place } = telling;
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
    return unmade(change, telling);
  }
  if (isLate(telling)) return unmade(change, telling);
  const made = await createIssue(place, text);
  switch (made.kind) {
    case 'made':
      return { ...ended(alert), issue: made.number, postedText: saidOf(change) };
    case 'refused':
      log.warn(whyNotDone(notMade, made.failure, fixes));
      return ended(alert);
    case 'unsure':
      log.warn(
        whyNotDone('Nobody knows whether the issue of a change was made', made.failure, fixes),
      );
      return alert;
  }
}

/** Brings the issue up to date, and says what is news; `said` stays as it was where that failed. */
async function withNews(
  change: TrendChange,
  place: IssuePlace,
  { links, marginRatio, log, repository, octokit, pause }: Telling,
): Promise<Alert> {
  const alert = ended(change.alert);
  const { issue: number = 0 } = alert;
  const before = readSaid(alert.postedText);
  if (!isNews(change, marginRatio)) return alert;
  const said = saidOf(change);
  const news = newsOf(before, change, marginRatio);
  try {
    await updateIssue(place, number, {
      title: alertTitle(change),
      body: alertBody(change, links),
      closedAs: closings[change.state],
    });
    await relabelled(place, number, before, change);
  } catch (error) {
    const failure = githubFailure(error);
    if (failure === undefined) throw error;
    // Somebody has deleted it, and wants to hear no more of it.
    if (isGone(failure)) return { ...alert, postedText: said };
    log.warn(whyNotDone(`The issue #${number} was not brought up to date`, failure, fixes));
    return alert;
  }
  if (news.length === 0) return { ...alert, postedText: said };
  const marker = newsMarker(change, said);
  const compose = (written: string | undefined) => written ?? [marker, ...news].join('\n\n');
  const published = await publishComment(octokit, { repository, number }, compose, {
    marker,
    ...(pause && { pause }),
  });
  if (published.kind !== 'not-published') return { ...alert, postedText: said };
  log.warn(published.why);
  // A locked issue takes none tomorrow, either.
  return published.isFinal ? { ...alert, postedText: said } : alert;
}

const closings: Readonly<Partial<Record<TrendChange['state'], 'completed' | 'not_planned'>>> = {
  recovered: 'completed',
  accepted: 'not_planned',
};

async function relabelled(
  place: IssuePlace,
  number: number,
  before: Said | undefined,
  { state }: TrendChange,
): Promise<void> {
  const [old, label] = [before?.state, state].map((one) =>
    one === 'code' || one === 'testbed' ? alertLabels[one] : undefined,
  );
  if (old === undefined || label === undefined || old === label) return;
  await replaceLabel(place, number, { old: old.name, label });
}

/** Tells those who reviewed the one commit that it was; not tried again where that is refused. */
async function withReviewers(
  change: TrendChange,
  issue: number,
  { wanted, octokit, repository, serverUrl, tellRevision, log, pause }: Telling,
): Promise<Alert> {
  const { alert } = change;
  const { culprit } = wanted.get(change.id) ?? {};
  if (culprit === undefined) return alert;
  const told = new Set(alert.told);
  try {
    const number = await mergedAs(octokit, repository, culprit);
    if (number !== undefined && !told.has(`#${number}`)) {
      const published = await publishComment(
        octokit,
        { repository, number },
        (written) => written ?? pullRequestText(change, issue),
        { marker: alertMarker(change.id), ...(pause && { pause }) },
      );
      if (published.kind !== 'not-published') told.add(`#${number}`);
      else {
        log.warn(published.why);
        if (!published.isFinal) return alert;
      }
    }
    const text = revisionText(change, `${serverUrl}/${repository}/issues/${issue}`);
    const revision = await tellRevision?.(culprit, text, `change ${change.id}`);
    if (revision?.told.kind === 'told') told.add(revision.name);
    else if (revision !== undefined) {
      log.warn(revision.told.why);
      if (revision.told.kind !== 'refused') return { ...alert, told: [...told] };
    }
    return { ...alert, told: [...told], commentedCommit: culprit };
  } catch (error) {
    log.warn(`Who reviewed ${culprit} was not told (${reasonOf(error)}): that is tried again.`);
    return { ...alert, told: [...told] };
  }
}
