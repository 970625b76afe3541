// Keeps reports on a revision that cannot be delivered, for the relay; finds the diff of a revision to report on.
import type { PhabricatorConfig } from '../../config/phabricator.ts';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import { findRevision, phidsOf, type RevisionName } from '../../forge/phabricator/revision.ts';
import type { RevisionDiff } from '../../model/patch.ts';
import type { ReportedOutcome } from '../../publish/reporters/outcome.ts';
import type { Reporter } from '../../publish/reporters/reporter.ts';
import { type KeptAnswer, keeping } from '../../relay/answers.ts';
import { InboxError, inboxIn, openInbox } from '../../relay/inbox.ts';
import { stderrLog } from './gate-call.ts';

/** Posts reports even if nothing can be kept. */
export function keptAnswers(
  { relay }: PhabricatorConfig,
  conduit: Conduit,
): Disposable & {
  keeping(answer: Reporter, keptEnd: (ending: ReportedOutcome) => KeptAnswer): Reporter;
} {
  const now = () => new Date();
  try {
    const inbox = openInbox(inboxIn(relay.directory), now);
    const { signal } = new AbortController();
    const deps = { conduit, inbox, now, log: stderrLog, signal };
    return {
      keeping: (answer, keptEnd) => keeping(answer, keptEnd, deps),
      [Symbol.dispose]: () => inbox[Symbol.dispose](),
    };
  } catch (error) {
    if (!(error instanceof InboxError)) throw error;
    stderrLog.warn(error.message);
    return { keeping: (answer) => answer, [Symbol.dispose]() {} };
  }
}

/** Reads nothing if a relay has pinned it. */
export async function pinnedDiff(conduit: Conduit, name: RevisionName): Promise<RevisionDiff> {
  const { revision: number, diff, phids } = name;
  if (number !== undefined && diff !== undefined && phids !== undefined) {
    return { number, diff, phids };
  }
  const found = await findRevision(conduit, name);
  return { number: found.number, diff: found.diff.id, phids: phidsOf(found) };
}
