// Pins the earlier diffs that a command has built and run along with the named one, and lists those not yet read.

import { namingStyles } from '../config/parameters.ts';
import { bisectWords } from '../forge/patch/bisect-command.ts';
import type { CommentCommand } from '../forge/patch/command.ts';
import { chosenDiffs, parseEarlier } from '../forge/patch/revision.ts';
import type { FoundDiff, FoundRevision, Person } from '../forge/phabricator/revision.ts';
import { callOnPhabricator } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';

type Command = Extract<CommentCommand, { kind: 'run' | 'rerun' | 'extend' | 'bisect' }>;

type PinnedDiffs =
  /** Ids separated by commas, or `none`; undefined if the request builds none. */
  { kind: 'pinned'; earlier: string | undefined } | { kind: 'unread'; why: string };

/** More would be too many for one command, and for a testbed. */
const maxEarlierDiffs = 30;

/**
 * `all` means the diffs at this moment, if `mayRun` holds for each sender; otherwise a person must name each one.
 * Excludes diffs attached to the revision later. Throws a `UsageError` for ids that are not of earlier diffs.
 *
 * @param earlierWanted as typed, or as pinned by an earlier command
 */
export async function pinnedDiffs(
  command: Command,
  earlierWanted: string | undefined,
  found: FoundRevision,
  mayRun: (people: readonly Person[]) => Promise<boolean>,
): Promise<PinnedDiffs> {
  if (!earlierWanted) return { kind: 'pinned', earlier: undefined };
  const which = parseEarlier(earlierWanted, namingStyles.comment('earlier'));
  // An earlier command has pinned them, and a rerun may concern one of them.
  const isAgain = command.kind === 'rerun' && typeof which !== 'string';
  const diffs = isAgain ? found.earlier.filter(({ id }) => which.includes(id)) : chosenDiffs(found, which);
  if (diffs.length > maxEarlierDiffs) {
    throw new UsageError(
      `${diffs.length} diffs are earlier than ${found.diff.id}, but at most ${maxEarlierDiffs} can be measured with it: select some with earlier=${idsOf(diffs.slice(-2))}`,
    );
  }
  const earlier = idsOf(diffs) || 'none';
  const senders = [found.author, ...diffs.map(({ author }) => author)];
  if (which !== 'all' || diffs.length === 0 || (await mayRun(senders))) {
    return { kind: 'pinned', earlier };
  }
  const many = diffs.length === 1 ? 'a diff' : `${diffs.length} diffs`;
  const why = `D${found.number} has ${many} before ${found.diff.id} by people without approval, and each of them would be built and run on the testbed: read all of them, and write ${commandWith(command, earlier, found.diff.id)}.`;
  return { kind: 'unread', why };
}

const idsOf = (diffs: readonly FoundDiff[]): string => diffs.map(({ id }) => id).join(',');

function commandWith(command: Command, earlier: string, diff: number): string {
  const words =
    command.kind === 'bisect'
      ? bisectWords({ ...command.overrides, earlier }).replace(/^bisect/, `bisect ${diff}`)
      : `run ${diff} earlier=${earlier}`;
  return `${callOnPhabricator} ${words}`;
}
