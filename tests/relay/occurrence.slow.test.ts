// Tests finding events: deliveries and polls only report that a revision changed.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Conduit, openConduit } from '../../src/forge/phabricator/conduit.ts';
import type { Delivery } from '../../src/relay/inbox.ts';
import { happenedSoFar, occurrencesOf, occurrencesSince } from '../../src/relay/occurrence.ts';
import { smallDiff as raw } from '../fakes/phabricator/calling.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';

type Revision = ReturnType<FakePhabricator['addRevision']>;

const noon = 1_795_176_000;

let phabricator: FakePhabricator;
let conduit: Conduit;
let author: ReturnType<FakePhabricator['addUser']>;

beforeEach(async () => {
  phabricator = await startPhabricator({ now: noon });
  const { url, token, send } = phabricator;
  conduit = openConduit({ url, token, send, log: { info() {} }, pause: async () => {} });
  author = phabricator.addUser('author');
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

const newRevision = (more: object = {}) =>
  phabricator.addRevision({ author, title: 'Forward faster', diff: { raw }, ...more });

const transactionsOf = ({ phid }: Revision): string[] =>
  phabricator.state.transactions.flatMap((one) => (one.objectPHID === phid ? one.phid : []));

const nothingSeen = { hasSeen: () => new Set<string>() };
const allSeen = { hasSeen: (phids: readonly string[]) => new Set(phids) };

describe('a webhook', () => {
  const webhook = (revision: Revision, transactions = transactionsOf(revision)): Delivery => ({
    kind: 'webhook',
    id: 'a',
    at: new Date(),
    object: revision.phid,
    transactions,
  });

  test('reports diffs and comments in their order, and nothing else', async () => {
    const revision = newRevision();
    phabricator.letPass(10);
    const comment = phabricator.comment(revision, author, '@ppsgate run');
    phabricator.updateRevision(revision, { raw });
    phabricator.abandon(revision);
    const all = transactionsOf(revision);
    const { occurrences, seen } = await occurrencesOf(conduit, webhook(revision, all.toReversed()), nothingSeen);
    expect(occurrences).toEqual([
      { kind: 'diff', key: expect.any(String), of: revision.id, diff: 1 },
      {
        kind: 'comment',
        key: comment.phid,
        of: revision.id,
        revision: revision.phid,
        id: comment.id,
        by: author.phid,
        at: new Date((noon + 10) * 1000),
        text: '@ppsgate run',
      },
      { kind: 'diff', key: expect.any(String), of: revision.id, diff: 2 },
    ]);
    expect(seen.toSorted()).toEqual(all.toSorted());
  });

  test('reports nothing that was seen, and requests nothing for it', async () => {
    const revision = newRevision();
    expect(await occurrencesOf(conduit, webhook(revision), allSeen)).toEqual({
      occurrences: [],
      seen: [],
    });
    expect(phabricator.requests.map(({ method }) => method)).not.toContain('transaction.search');
  });

  test('reports only its own transactions', async () => {
    const revision = newRevision();
    const { phid } = phabricator.comment(revision, author, 'One.');
    phabricator.comment(revision, author, 'Two.');
    const { occurrences } = await occurrencesOf(conduit, webhook(revision, [phid]), nothingSeen);
    expect(occurrences.map(({ key }) => key)).toEqual([phid]);
  });

  test('reports nothing of a revision that is hidden from the bot, which then is seen', async () => {
    const hidden = newRevision({ visibleTo: author });
    const all = transactionsOf(hidden);
    expect(await occurrencesOf(conduit, webhook(hidden), nothingSeen)).toEqual({
      occurrences: [],
      seen: all,
      left: `${hidden.phid} is ignored: it is not a revision that the bot may see.`,
    });
  });
});

describe('a build', () => {
  const build = (diff: number, more: { revision?: number } = {}): Delivery => ({
    kind: 'build',
    id: 'PHID-HMBT-a',
    at: new Date(),
    target: 'PHID-HMBT-a',
    build: 'PHID-HMBD-a',
    diff,
    ...more,
  });

  test.each(['told', 'looked up'])('is of the revision that is %s', async (how) => {
    const { id } = newRevision();
    const delivery = build(1, how === 'told' ? { revision: id } : {});
    expect(await occurrencesOf(conduit, delivery, nothingSeen)).toEqual({
      seen: [],
      occurrences: [{ kind: 'build', key: 'PHID-HMBT-a', build: 'PHID-HMBD-a', of: id, diff: 1 }],
    });
  });

  test('of a diff that the bot may not see, or of no revision, is nothing', async () => {
    newRevision({ visibleTo: author });
    const { id } = phabricator.addDiff(author, { raw });
    for (const diff of [1, id, 99]) {
      expect(await occurrencesOf(conduit, build(diff), nothingSeen)).toEqual({
        occurrences: [],
        seen: [],
        left: expect.stringMatching(/^The build of diff \d+ is ignored, and waits: .*\.$/),
      });
    }
  });
});

describe('a poll', () => {
  test('finds what has changed since, on all revisions, and how far it has got', async () => {
    const one = newRevision();
    const other = newRevision();
    phabricator.letPass(1000);
    phabricator.comment(one, author, 'One.');
    phabricator.letPass(10);
    phabricator.comment(other, author, 'Two.');
    const { occurrences, until } = await occurrencesSince(conduit, noon + 500, nothingSeen);
    expect(occurrences.map((found) => 'text' in found && found.text).toSorted()).toEqual(['One.', 'Two.']);
    expect(until).toBe(noon + 1010);
  });

  test('finds nothing older on a revision that has changed', async () => {
    const revision = newRevision();
    phabricator.comment(revision, author, '@ppsgate run');
    phabricator.letPass(1000);
    phabricator.comment(revision, author, 'Thanks.');
    const { occurrences } = await occurrencesSince(conduit, noon + 990, nothingSeen);
    expect(occurrences).toMatchObject([{ kind: 'comment', text: 'Thanks.' }]);
  });

  test('that begins has seen what later ones would find', async () => {
    const revisions = [newRevision(), newRevision()];
    phabricator.letPass(59);
    const [first] = revisions;
    if (first) phabricator.comment(first, author, 'One.');
    const { until, seen } = await happenedSoFar(conduit, nothingSeen);
    expect(until).toBe(noon + 59);
    const seenBefore = {
      hasSeen: (phids: readonly string[]) => new Set(phids.filter((one) => seen.includes(one))),
    };
    expect((await occurrencesSince(conduit, until, seenBefore)).occurrences).toEqual([]);
  });
});
