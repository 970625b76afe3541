// Reads the events behind deliveries and polls from Phabricator, as a delivery only names transactions.
import { z } from 'zod';
import type { Conduit } from '../forge/phabricator/conduit.ts';
import { findRevision, RevisionError, type Transaction, transactionsOf } from '../forge/phabricator/revision.ts';
import * as bounded from '../model/bounds.ts';
import type { Occurrence } from './decide.ts';
import type { Delivery, Inbox } from './inbox.ts';

type Happened = {
  occurrences: Occurrence[];
  seen: string[];
  left?: string;
};

/** Omits seen transactions. Throws a ConduitError if Phabricator does not reply. */
export async function occurrencesOf(
  conduit: Conduit,
  delivery: Delivery,
  inbox: Pick<Inbox, 'hasSeen'>,
): Promise<Happened> {
  if (delivery.kind === 'build') return buildOf(conduit, delivery);
  const { object, transactions } = delivery;
  const seen = inbox.hasSeen(transactions);
  const fresh = transactions.filter((phid) => !seen.has(phid));
  if (fresh.length === 0) return { occurrences: [], seen: fresh };
  const number = await revisionWith(conduit, object);
  if (number === undefined) {
    const left = `${object} is ignored: it is not a revision that the bot may see.`;
    return { occurrences: [], seen: fresh, left };
  }
  const found = await transactionsOf(conduit, object, { phids: fresh });
  const revision = { id: number, phid: object };
  return { occurrences: await occurrences(conduit, revision, found), seen: fresh };
}

/** The bot may be unable to see a build's diff, which then has no revision. */
async function buildOf(
  conduit: Conduit,
  { target: key, build, diff, revision }: Extract<Delivery, { kind: 'build' }>,
): Promise<Happened> {
  try {
    const of = revision ?? (await findRevision(conduit, { diff })).number;
    return { occurrences: [{ kind: 'build', key, of, build, diff }], seen: [] };
  } catch (error) {
    if (!(error instanceof RevisionError)) throw error;
    const left = `The build of diff ${diff} is ignored, and waits: ${error.message}`;
    return { occurrences: [], seen: [], left };
  }
}

/** Returns the events of all revisions changed at or after a time by the server's clock, or shortly before. */
export async function occurrencesSince(
  conduit: Conduit,
  since: number,
  inbox: Pick<Inbox, 'hasSeen'>,
): Promise<Happened & { until: number }> {
  const from = Math.max(0, since - slackSeconds);
  const constraints = { modifiedStart: from };
  const changed = await conduit.search('differential.revision.search', { constraints }, revisionItem);
  const happened: Happened & { until: number } = { occurrences: [], seen: [], until: since };
  const waiting: { since: number; occurrences: Occurrence[] }[] = [];
  for (const { id, phid, fields } of changed) {
    const transactions = await transactionsOf(conduit, phid, {});
    // Older transactions existed at the last poll, or when the first one began.
    const recent = transactions.filter(({ at }) => at.getTime() / 1000 >= from - slackSeconds);
    const seen = inbox.hasSeen(recent.map(({ phid }) => phid));
    const fresh = recent.filter(({ phid }) => !seen.has(phid));
    const [oldest] = fresh;
    if (oldest !== undefined) {
      const found = await occurrences(conduit, { id, phid }, fresh);
      waiting.push({ since: oldest.id, occurrences: found });
    }
    happened.seen.push(...fresh.map(({ phid }) => phid));
    happened.until = Math.max(happened.until, fields.dateModified);
  }
  // Ids of transactions ascend, so the revision that waited longest starts first.
  waiting.sort((a, b) => a.since - b.since);
  happened.occurrences = waiting.flatMap(({ occurrences }) => occurrences);
  return happened;
}

/**
 * A change has the time at which the server began to save it, so it may appear after one with a later time. A
 * transaction may also be slightly older than its revision's change, which is saved later.
 */
const slackSeconds = 60;

/** Returns all events that a first poll must not report as new. */
export async function happenedSoFar(
  conduit: Conduit,
  inbox: Pick<Inbox, 'hasSeen'>,
): Promise<Happened & { until: number }> {
  const newest = { order: 'updated' };
  const [revision] = await conduit.search('differential.revision.search', newest, revisionItem, 1);
  const until = revision?.fields.dateModified ?? 0;
  return occurrencesSince(conduit, Math.max(0, until - slackSeconds), inbox);
}

const revisionItem = z.object({
  id: z.int(),
  phid: bounded.word,
  fields: z.object({ dateModified: z.int() }),
});

async function revisionWith(conduit: Conduit, phid: string): Promise<number | undefined> {
  const constraints = { phids: [phid] };
  const found = await conduit.search('differential.revision.search', { constraints }, revisionItem);
  return found[0]?.id;
}

async function occurrences(
  conduit: Conduit,
  { id: of, phid: revision }: { id: number; phid: string },
  transactions: readonly Transaction[],
): Promise<Occurrence[]> {
  const ids = await diffIds(
    conduit,
    transactions.flatMap((one) => (one.kind === 'diff' ? one.diffPhid : [])),
  );
  return transactions.flatMap((one): Occurrence[] => {
    const { phid: key, id, by, at } = one;
    if (one.kind === 'comment') {
      return [{ kind: 'comment', key, of, revision, id, by, at, text: one.text }];
    }
    const diff = ids.get(one.diffPhid);
    return diff === undefined ? [] : [{ kind: 'diff', key, of, diff }];
  });
}

async function diffIds(conduit: Conduit, phids: string[]): Promise<Map<string, number>> {
  if (phids.length === 0) return new Map();
  const item = z.object({ id: z.int(), phid: bounded.word });
  const found = await conduit.search('differential.diff.search', { constraints: { phids } }, item);
  return new Map(found.map(({ id, phid }) => [phid, id]));
}
