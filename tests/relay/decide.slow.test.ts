// Decisions on each event of Phabricator: a job, a reply, or nothing.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { phabricatorSchema } from '../../src/config/phabricator.ts';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type Conduit, openConduit } from '../../src/forge/phabricator/conduit.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { type DecideDeps, type Decision, decide, type Occurrence } from '../../src/relay/decide.ts';
import { type Inbox, openInbox } from '../../src/relay/inbox.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { smallDiff as raw } from '../fakes/phabricator/calling.ts';
import { type FakePhabricator, startPhabricator } from '../fakes/phabricator/server.ts';

type User = ReturnType<FakePhabricator['addUser']>;
type Revision = ReturnType<FakePhabricator['addRevision']>;

let phabricator: FakePhabricator;
let conduit: Conduit;
let inbox: Inbox;
let warnings: string[];
/** Alice is on the list, Bob is a member of the project, Eve is a stranger. */
let alice: User;
let bob: User;
let eve: User;

beforeEach(async () => {
  phabricator = await startPhabricator();
  const { url, token } = phabricator;
  conduit = openConduit({ url, token, log: { info() {} }, pause: async () => {} });
  inbox = openInbox(join(temporaryFolder(), 'inbox.sqlite'), () => new Date());
  warnings = [];
  alice = phabricator.addUser('alice');
  bob = phabricator.addUser('bob');
  eve = phabricator.addUser('eve');
  phabricator.addProject('network', [bob]);
});

afterEach(async () => {
  inbox[Symbol.dispose]();
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

/** Decides, and expects each ignored event in the log, with its revision. */
const about = async (occurrence: Occurrence, settings: object = {}): Promise<Decision> => {
  const written = { url: phabricator.url, people: ['alice'], projects: ['network'], ...settings };
  const deps: DecideDeps = {
    conduit,
    inbox,
    config: phabricatorSchema.parse(written),
    me: phabricator.bot.phid,
    check({ scenarios, maxRuns }) {
      if (scenarios?.includes('forwading')) throw new UsageError('scenarios: no "forwading".');
      if (maxRuns === '0') throw new UsageError('maxRuns: expected 2 or more, found "0".');
    },
    warn: (sentence) => warnings.push(sentence),
  };
  const decision = await decide(occurrence, deps);
  if (decision.kind === 'nothing') expect(decision.why).toMatch(`D${occurrence.of}`);
  return decision;
};

const revisionBy = (author: User, more: object = {}) =>
  phabricator.addRevision({ author, title: 'Forward faster', diff: { raw }, ...more });

const newestOf = ({ diffPHID }: Revision): number =>
  phabricator.state.diffs.find(({ phid }) => phid === diffPHID)?.id ?? 0;

const another = (revision: Revision) => phabricator.updateRevision(revision, { raw }).id;

const sent = (revision: Revision, diff = newestOf(revision)): Occurrence => ({
  kind: 'diff',
  key: 'PHID-XACT-DREV-a',
  of: revision.id,
  diff,
});

const asked = (revision: Revision, diff = newestOf(revision)): Occurrence => ({
  kind: 'build',
  key: 'PHID-HMBT-a',
  build: 'PHID-HMBD-a',
  of: revision.id,
  diff,
});

/** Writes two minutes later by the server's clock, so that its author could read the earlier state. */
function written(revision: Revision, by: User, text: string, secondsLater = 120): Occurrence {
  phabricator.letPass(secondsLater);
  const { id, phid: key, date } = phabricator.comment(revision, by, text);
  const at = new Date(date * 1000);
  return { kind: 'comment', key, id, of: revision.id, by: by.phid, at, text };
}

const nothing = (why: string | RegExp) => ({
  kind: 'nothing',
  why: typeof why === 'string' ? why : expect.stringMatching(why),
});

const reply = (topic: string, why: unknown, { key, of }: Occurrence) => ({
  kind: 'reply',
  topic,
  why,
  of,
  key,
});

/** Queues it, so that later events find it. */
function queued(decision: Decision): Job {
  if (decision.kind !== 'run') throw new Error(JSON.stringify(decision));
  inbox.advancePoll(phabricator.url, 1, { seen: [], jobs: [decision.job] });
  return decision.job;
}

describe('a new diff', () => {
  test('of an approved author is measured as ppsgate.yml says', async () => {
    const revision = revisionBy(alice);
    expect(await about(sent(revision))).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: `D${revision.id}:${newestOf(revision)}`,
        revision: revision.id,
        diff: newestOf(revision),
        overrides: {},
        by: 'alice',
      },
    });
  });

  test('has one key, however often and by whichever transaction it is reported', async () => {
    const revision = revisionBy(alice);
    queued(await about(sent(revision)));
    const again = await about({ ...sent(revision), key: 'PHID-XACT-DREV-b' });
    const jobs = again.kind === 'run' ? [again.job] : [];
    expect(inbox.advancePoll(phabricator.url, 2, { seen: [], jobs })).toEqual([]);
  });

  test('after which a newer one came is not measured, and the newer one is', async () => {
    const revision = revisionBy(alice);
    const first = newestOf(revision);
    const second = another(revision);
    expect(await about(sent(revision, first))).toEqual(nothing(`D${revision.id} has a newer diff than ${first}.`));
    expect(await about(sent(revision, second))).toMatchObject({
      kind: 'run',
      job: { diff: second },
    });
  });

  test.each(['author', 'sender'])('whose %s is a stranger is nothing', async (who) => {
    const revision = revisionBy(bob);
    const [diff] = phabricator.state.diffs;
    Object.assign((who === 'author' ? revision : diff) ?? {}, { authorPHID: eve.phid });
    expect(await about(sent(revision))).toEqual(nothing(/^Thank you, eve: /));
  });

  test.each(['abandoned', 'published'] as const)('of a revision that is %s is nothing', async (status) => {
    const revision = revisionBy(alice, { status });
    expect(await about(sent(revision))).toEqual(nothing(`D${revision.id} is ${status}.`));
  });

  test('of another repository, or of none, is nothing where some are named', async () => {
    const repositories = { repositories: ['src'] };
    const doc = revisionBy(alice, { repository: phabricator.addRepository('DOC') });
    const none = revisionBy(alice);
    const src = revisionBy(alice, { repository: phabricator.addRepository('SRC') });
    expect(await about(sent(doc), repositories)).toEqual(
      nothing(`D${doc.id} belongs to none of the measured repositories: src.`),
    );
    expect((await about(sent(none), repositories)).kind).toBe('nothing');
    expect((await about(sent(src), repositories)).kind).toBe('run');
    expect((await about(sent(src), { repositories: ['SRC'] })).kind).toBe('run');
  });

  test('is measured with its author and repository listed in another case', async () => {
    const revision = revisionBy(alice, { repository: phabricator.addRepository('SRC') });
    const settings = { people: ['aLICE'], projects: [], repositories: ['sRc'] };
    expect((await about(sent(revision), settings)).kind).toBe('run');
  });

  test('that changes nothing below the paths is nothing', async () => {
    const revision = revisionBy(alice);
    expect(await about(sent(revision), { paths: ['sys/net/', 'sys/dev/'] })).toEqual(
      nothing(`D${revision.id} changes nothing below sys/net/, sys/dev/.`),
    );
    const paths = ['sys/net/', 'sys/netinet/'];
    expect((await about(sent(revision), { paths })).kind).toBe('run');
  });

  test('that is malformed goes to a gate, which reports to its author', async () => {
    phabricator.faults.order('differential.getrawdiff', {
      kind: 'answer',
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ result: null, error_code: 'ERR-CONDUIT-CORE', error_info: 'No.' }),
    });
    expect((await about(sent(revisionBy(alice)), { paths: ['sys/dev/'] })).kind).toBe('run');
  });

  test('with a number that a lost diff had before a restore is queued by its own key', async () => {
    const revision = revisionBy(alice);
    const lost = { revision: 'PHID-DREV-lost', diff: 'PHID-DIFF-lost' };
    const diff = newestOf(revision);
    const key = `D${revision.id}:${diff}`;
    const job = { key, revision: revision.id, diff, phids: lost, overrides: {}, by: 'alice' };
    queued({ kind: 'run', job });
    expect(await about(sent(revision))).toMatchObject({
      kind: 'run',
      job: {
        key: `D${revision.id}:${diff}:${revision.diffPHID}`,
        phids: { revision: revision.phid, diff: revision.diffPHID },
      },
    });
  });

  describe('of git diff --no-prefix', () => {
    const changed = (path: string) => bare(path, `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-x\n+y\n`);
    const added = (path: string) => bare(path, `new file mode 100644\n--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+y\n`);
    const deleted = (path: string) =>
      bare(path, `deleted file mode 100644\n--- ${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`);
    const bare = (path: string, lines: string) => `diff --git ${path} ${path}\n${lines}`;
    const decided = (raw: string, ...paths: string[]) => about(sent(revisionBy(alice, { diff: { raw } })), { paths });

    test.each([
      ['a changed file', changed('sys/net/if.c'), 'sys/net/'],
      ['a deleted file', deleted('sys/net/if.c'), 'sys/net/'],
      ['a new file beside a changed one', added('sys/net/a.c') + changed('sys/x.c'), 'sys/net/'],
      [
        'a changed file, with the prefixes of mnemonicPrefix',
        changed('sys/net/if.c')
          .replaceAll(/(git |--- )(?=sys)/g, '$1i/')
          .replaceAll(/( |\+\+\+ )(?=sys)/g, '$1w/'),
        'sys/net/',
      ],
    ])('is taken for %s below the paths', async (_, raw, folder) => {
      expect((await decided(raw, folder)).kind).toBe('run');
    });

    test.each([
      ['a changed file', changed('usr.bin/netstat/main.c'), 'sys/net/'],
      ['a changed file whose path ends like one of ours', changed('sys/net/if.c'), 'net/'],
      ['a new file', added('usr.bin/netstat/new.c'), 'sys/net/'],
    ])('is left alone for %s elsewhere', async (_, raw, folder) => {
      expect(await decided(raw, folder)).toEqual(nothing(`D1 changes nothing below ${folder}.`));
    });

    test('is reported to its author if perhaps only new files are ours: their folder is lost', async () => {
      expect(await decided(added('sys/net/new.c'), 'sys/dev/', 'sys/net/')).toEqual({
        kind: 'reply',
        of: 1,
        revision: expect.stringMatching(/^PHID-DREV-/),
        topic: 'refused',
        key: 'D1:1',
        why: 'D1 changes nothing below sys/dev/, sys/net/; if net/new.c means sys/net/new.c, the diff was sent without prefixes: send it with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.',
      });
    });
  });

  test('of a stranger is not even fetched', async () => {
    await about(sent(revisionBy(eve)), { paths: ['sys/dev/'] });
    expect(phabricator.requests.map(({ method }) => method)).not.toContain('differential.getrawdiff');
  });

  test('for which Harbormaster requested a build is not measured beside that', async () => {
    const revision = revisionBy(alice);
    queued(await about(asked(revision)));
    expect(await about(sent(revision))).toEqual(
      nothing(`Harbormaster has requested diff ${newestOf(revision)} of D${revision.id}.`),
    );
    const newer = another(revision);
    expect((await about(sent(revision, newer))).kind).toBe('run');
  });

  test('is nothing where diffs are not measured by themselves', async () => {
    const relay = { on: ['builds', 'comments'] };
    expect(await about(sent(revisionBy(alice)), { relay })).toEqual(
      nothing('D1 is ignored: new diffs are not measured here.'),
    );
  });
});

test('warns of unknown projects, which approve no user', async () => {
  const revision = revisionBy(bob);
  expect((await about(sent(revision), { projects: ['netwrok'] })).kind).toBe('nothing');
  expect(warnings).toEqual([expect.stringMatching(/^#netwrok: no such project/)]);
});

describe('a build', () => {
  test('of a diff by an approved author is measured for it', async () => {
    const revision = revisionBy(bob);
    expect(await about(asked(revision))).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: 'PHID-HMBT-a',
        build: 'PHID-HMBD-a',
        revision: revision.id,
        diff: newestOf(revision),
        overrides: {},
        by: 'Harbormaster',
      },
    });
  });

  test('that is restarted while it is measured is not measured beside that', async () => {
    const revision = revisionBy(alice);
    const { key } = queued(await about(asked(revision)));
    const again = { ...asked(revision), key: 'PHID-HMBT-b' };
    expect(await about(again)).toMatchObject({
      kind: 'nothing',
      why: expect.stringContaining('already in progress'),
    });
    inbox.markEnded(key, 'it passed');
    expect(await about(again)).toMatchObject({ kind: 'run', job: { key: 'PHID-HMBT-b' } });
  });

  const refused = (revision: Revision, why: string | RegExp) => ({
    kind: 'refuse-build',
    build: 'PHID-HMBD-a',
    of: revision.id,
    diff: newestOf(revision),
    why: expect.stringMatching(why),
  });

  test('of a stranger is refused with the way to approve it', async () => {
    const revision = revisionBy(eve);
    expect(await about(asked(revision))).toEqual(refused(revision, /^Thank you, eve: /));
  });

  test('of a closed revision, or one of another repository, is refused', async () => {
    const closed = revisionBy(alice, { status: 'abandoned' });
    expect(await about(asked(closed))).toEqual(refused(closed, /is abandoned\.$/));
    const open = revisionBy(alice);
    expect(await about(asked(open), { repositories: ['src'] })).toEqual(
      refused(open, /belongs to none of the measured repositories/),
    );
  });

  test('is refused where builds are not measured', async () => {
    const revision = revisionBy(alice);
    expect(await about(asked(revision), { relay: { on: ['diffs'] } })).toEqual(
      refused(revision, 'Builds are not measured here.'),
    );
  });
});

describe('a comment', () => {
  test.each([
    'Looks good.',
    'Please write @ppsgate run, as soon as you can.',
    '> @ppsgate run',
    '@ppsgates run',
    '/ppsgate run',
  ])('that is no command is nothing: %j', async (text) => {
    const revision = revisionBy(alice);
    expect(await about(written(revision, alice, text))).toEqual(nothing('The comment on D1 is not a command.'));
  });

  test('of the bot itself is ignored, with any text', async () => {
    const own = written(revisionBy(alice), phabricator.bot, '`@ppsgate` run');
    const { people } = { people: ['perfbot'] };
    for (const text of ['@ppsgate run', '@ppsgate help', '@ppsgate nonsense']) {
      expect(await about({ ...own, text } as Occurrence, { people })).toEqual(
        nothing('The comment on D1 is the bot’s own.'),
      );
    }
  });

  test('is nothing if comments are no trigger', async () => {
    const comment = written(revisionBy(alice), alice, '@ppsgate run');
    expect((await about(comment, { relay: { on: ['diffs'] } })).kind).toBe('nothing');
  });

  test.each(['@ppsgate', '@ppsgate help'])('with %s gets help, for any author', async (text) => {
    const comment = written(revisionBy(alice), eve, text);
    expect(await about(comment)).toEqual({ ...reply('help', '', comment), isOfStranger: true });
  });

  test.each([
    ['@ppsgate rnu', 'there is no command "rnu"; write @ppsgate run'],
    ['@ppsgate run earlier=some', expect.stringMatching(/^earlier: expected all, none or diff IDs/)],
    ['@ppsgate run forwading', 'scenarios: no "forwading".'],
    ['@ppsgate run 9999', expect.stringMatching(/^D1 had no diff 9999 at the time of your comment; its newest is 1/)],
  ])('with a mistake is told of it: %s', async (text, why) => {
    const comment = written(revisionBy(alice), alice, text);
    expect(await about(comment)).toEqual(reply('mistaken', why, comment));
  });

  test('on a revision of another repository, or a closed one, is refused', async () => {
    const closed = written(revisionBy(alice, { status: 'published' }), alice, '@ppsgate run');
    expect(await about(closed)).toEqual(reply('refused', 'D1 is published.', closed));
    const foreign = written(revisionBy(alice), alice, '@ppsgate run');
    expect(await about(foreign, { repositories: ['src'] })).toEqual(
      reply('refused', expect.stringContaining('none of the measured repositories'), foreign),
    );
  });
});

describe('@ppsgate run', () => {
  test('of a member measures a stranger’s diff, as requested', async () => {
    const revision = revisionBy(eve);
    const comment = written(...[revision, bob, '@ppsgate run forwarding inet6 margin=1% runs=20 earlier=all']);
    expect(await about(comment)).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: comment.key,
        revision: revision.id,
        diff: newestOf(revision),
        by: 'bob',
        overrides: {
          scenarios: 'forwarding',
          families: 'inet6',
          margin: '1%',
          maxRuns: '20',
          // The diffs before it at this moment: a later one was read by no one.
          earlier: 'none',
        },
      },
    });
  });

  // `earlier=all` or `bisect` builds earlier diffs of a stranger, or diffs attached after the approval. Defence: Diffs
  // are pinned by id when the command is read; those of unapproved senders must be named.
  test('with all earlier diffs of a stranger lists them, and is approved as that list', async () => {
    const revision = revisionBy(eve);
    const first = newestOf(revision);
    const second = another(revision);
    const third = another(revision);
    const comment = written(revision, bob, '@ppsgate run earlier=all');
    const why = `D${revision.id} has 2 diffs before ${third} by people without approval, and each of them would be built and run on the testbed: read all of them, and write @ppsgate run ${third} earlier=${first},${second}.`;
    expect(await about(comment)).toEqual(reply('refused', why, comment));
    const named = written(revision, bob, `@ppsgate run ${third} earlier=${first},${second}`, 1);
    expect(await about(named)).toMatchObject({
      kind: 'run',
      job: { diff: third, overrides: { earlier: `${first},${second}` } },
    });
    const unknown = written(revision, bob, `@ppsgate run ${second} earlier=${third}`);
    expect(await about(unknown)).toMatchObject({ kind: 'reply', topic: 'mistaken' });
  });

  test('with all earlier diffs of approved people has those of this moment, by their ids', async () => {
    const revision = revisionBy(alice);
    const first = newestOf(revision);
    const second = another(revision);
    const asked = await about(written(revision, bob, '@ppsgate run earlier=all'));
    expect(queued(asked)).toMatchObject({ diff: second, overrides: { earlier: `${first}` } });
    another(revision);
    const rerun = await about(written(revision, bob, '@ppsgate rerun'));
    expect(rerun).toMatchObject({ kind: 'run', job: { overrides: { earlier: `${first}` } } });
    const older = await about(written(revision, bob, `@ppsgate rerun ${first}`));
    expect(older).toMatchObject({ kind: 'run', job: { overrides: { earlier: 'none' } } });
  });

  test('with more earlier diffs than a list may have is a mistake', async () => {
    const revision = revisionBy(alice);
    for (let count = 0; count < 31; count += 1) another(revision);
    expect(await about(written(revision, bob, '@ppsgate run earlier=all'))).toMatchObject({
      kind: 'reply',
      topic: 'mistaken',
      why: expect.stringMatching(/^31 diffs are earlier than \d+, but at most 30 can be measured/),
    });
  });

  test('means the newest diff at the time of writing', async () => {
    const revision = revisionBy(eve);
    const first = newestOf(revision);
    const comment = written(revision, bob, '@ppsgate run');
    another(revision);
    expect(await about(comment)).toMatchObject({ kind: 'run', job: { diff: first } });
  });

  test('does not approve a diff that was guessed, and came later', async () => {
    const revision = revisionBy(eve);
    const comment = written(revision, bob, '@ppsgate run 2');
    expect(another(revision)).toBe(2);
    expect(await about(comment)).toEqual(
      reply('mistaken', 'D1 had no diff 2 at the time of your comment; its newest is 2', comment),
    );
  });

  test.each([0, 59])('%i s after the diff came needs its id', async (seconds) => {
    const revision = revisionBy(eve);
    phabricator.letPass(3600);
    const diff = another(revision);
    const hasty = written(revision, bob, '@ppsgate run', seconds);
    expect(await about(hasty)).toEqual(reply('refused', expect.stringContaining(`write @ppsgate run ${diff}`), hasty));
  });

  test('counts the minute from the diff’s arrival at the revision, however old it is', async () => {
    const revision = revisionBy(eve);
    phabricator.letPass(3600);
    phabricator.updateRevision(revision, { raw, dateCreated: 1_700_000_000 });
    const hasty = written(revision, bob, '@ppsgate run', 30);
    expect(await about(hasty)).toMatchObject({ kind: 'reply', topic: 'refused' });
    expect((await about(written(revision, bob, '@ppsgate run', 30))).kind).toBe('run');
  });

  test('of another revision’s diff is a mistake', async () => {
    const revision = revisionBy(eve);
    const other = newestOf(revisionBy(eve));
    const comment = written(revision, bob, `@ppsgate run ${other}`);
    expect(await about(comment)).toMatchObject({ kind: 'reply', topic: 'mistaken' });
  });
});

test.each([
  ['run', 'refused'],
  ['run 1', 'refused'],
  ['rerun', 'refused'],
  ['extend', 'refused'],
  ['bisect 2', 'refused'],
  ['bisect v1 v2', 'refused'],
  ['cancel', 'not-cancelled'],
])('@ppsgate %s of a stranger is refused, though the author of the diff is approved', async (command, topic) => {
  const revision = revisionBy(alice);
  another(revision);
  const comment = written(revision, eve, `@ppsgate ${command}`);
  const refused = reply(topic, expect.stringMatching(/^Thank you, eve: /), comment);
  expect(await about(comment)).toMatchObject({ ...refused, isOfStranger: true });
});

describe('@ppsgate rerun', () => {
  test('measures the newest diff with the last overrides', async () => {
    const revision = revisionBy(alice);
    queued(await about(written(revision, alice, '@ppsgate run margin=5%')));
    queued(await about(written(revision, bob, '@ppsgate run inet6 earlier=none')));
    const diff = another(revision);
    const comment = written(revision, alice, '@ppsgate rerun');
    expect(await about(comment)).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: comment.key,
        revision: revision.id,
        diff,
        by: 'alice',
        overrides: { families: 'inet6', earlier: 'none' },
      },
    });
  });

  test('is refused if that is not in ppsgate.yml anymore', async () => {
    const revision = revisionBy(alice);
    const job = queued(await about(written(revision, alice, '@ppsgate run')));
    const gone = { ...job, key: 'gone', overrides: { scenarios: 'forwading' } };
    inbox.advancePoll(phabricator.url, 1, { seen: [], jobs: [gone] });
    const comment = written(revision, alice, '@ppsgate rerun');
    expect(await about(comment)).toEqual(reply('mistaken', 'scenarios: no "forwading".', comment));
  });
});

describe('a stranger who requests a diff', () => {
  const said = async (revision: Revision) => about(written(revision, eve, '@ppsgate run'));
  const ended = async (revision: Revision, text: string, how: string) =>
    inbox.markEnded(queued(await about(written(revision, alice, text))).key, how);
  const isMeasured = {
    kind: 'reply',
    why: expect.stringContaining(' is being measured, see the comment'),
  };

  test.each(['it passed', 'the patch is at fault', 'it was undecided'])(
    'whose gate ended since %s is told that it is measured',
    async (how) => {
      const revision = revisionBy(alice);
      await ended(revision, '@ppsgate run', how);
      expect(await said(revision)).toMatchObject(isMeasured);
    },
  );

  test.each([
    ['its gate failed', async (of) => ended(of, '@ppsgate run', 'the lab failed')],
    ['its gate runs', async (of) => queued(await about(written(of, alice, '@ppsgate run')))],
    [
      'an earlier diff was measured',
      async (of) => {
        await ended(of, '@ppsgate run', 'it passed');
        another(of);
      },
    ],
    [
      'a bisection ended',
      async (of) => {
        another(of);
        await ended(of, '@ppsgate bisect', 'it passed');
      },
    ],
  ] satisfies [string, (of: Revision) => Promise<unknown>][])(
    'of which %s hears that it is not measured yet',
    async (_, meanwhile) => {
      const revision = revisionBy(alice);
      await meanwhile(revision);
      expect(await said(revision)).toMatchObject({
        kind: 'reply',
        why: expect.stringContaining('is not measured yet'),
      });
    },
  );
});

describe('@ppsgate extend', () => {
  /** Measures a requested diff to its end. */
  async function measured(revision: Revision, text = '@ppsgate run margin=1%'): Promise<Job> {
    const job = queued(await about(written(revision, alice, text)));
    inbox.markEnded(job.key, 'unknown');
    return job;
  }

  test('extends the experiment of the diff, with its overrides', async () => {
    const revision = revisionBy(alice);
    const job = await measured(revision);
    const comment = written(revision, alice, '@ppsgate extend runs=40');
    expect(await about(comment)).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: comment.key,
        revision: revision.id,
        diff: job.diff,
        by: 'alice',
        overrides: { margin: '1%' },
        extend: { key: job.key, maxRuns: '40' },
      },
    });
  });

  test('once more extends the first of them, where all of them work', async () => {
    const revision = revisionBy(alice);
    const { key } = await measured(revision);
    const next = await measured(revision, '@ppsgate extend');
    expect(next.extend).toEqual({ key });
    expect((await measured(revision, '@ppsgate extend')).extend).toEqual({ key });
  });

  test.each<[string, (revision: Revision) => Promise<unknown>]>([
    ['nothing was measured', async () => {}],
    ['it is still being measured', async (of) => queued(await about(sent(of)))],
    ['it was cancelled', async (of) => inbox.drop(queued(await about(sent(of))).key, 'cancelled')],
    [
      'only an earlier diff was measured',
      async (of) => {
        await measured(of);
        another(of);
      },
    ],
  ])('is a mistake where %s', async (_, before) => {
    const revision = revisionBy(alice);
    await before(revision);
    const comment = written(revision, alice, '@ppsgate extend');
    const why = `There is no experiment to extend for diff ${newestOf(revision)}; write @ppsgate run first`;
    expect(await about(comment)).toEqual(reply('mistaken', why, comment));
  });

  test('by what cannot be is a mistake', async () => {
    const revision = revisionBy(alice);
    await measured(revision);
    const comment = written(revision, alice, '@ppsgate extend runs=0');
    const why = 'maxRuns: expected 2 or more, found "0".';
    expect(await about(comment)).toEqual(reply('mistaken', why, comment));
  });
});

describe('@ppsgate bisect', () => {
  test('is of the diffs of the revision, up to the newest or to the one that is named', async () => {
    const revision = revisionBy(eve);
    const first = newestOf(revision);
    const second = another(revision);
    const all = written(revision, bob, '@ppsgate bisect forwarding');
    const text = `@ppsgate bisect ${second} forwarding earlier=${first}`;
    const read = expect.stringContaining(`would be built and run on the testbed: read all of them, and write ${text}.`);
    expect(await about(all)).toEqual(reply('refused', read, all));
    const comment = written(revision, bob, text);
    expect(await about(comment)).toEqual({
      kind: 'run',
      job: {
        phids: expect.anything(),
        key: comment.key,
        revision: revision.id,
        diff: second,
        by: 'bob',
        overrides: {},
        bisect: { scenarios: 'forwarding', earlier: `${first}` },
      },
    });
    const third = another(revision);
    const again = `@ppsgate bisect ${second} earlier=${first}`;
    const named = await about(written(revision, alice, again, 1));
    expect(named).toMatchObject({ kind: 'run', job: { diff: second, bisect: {} } });
    expect([first, third]).not.toContain(second);
  });

  test('is of the named commits, on any revision', async () => {
    const revision = revisionBy(eve);
    const text = '@ppsgate bisect v1 v2 inet6 fix-up=1a2b3c4 max-boots=30';
    expect(await about(written(revision, bob, text, 1))).toMatchObject({
      kind: 'run',
      job: {
        bisect: { good: 'v1', bad: 'v2', families: 'inet6', fixUp: '1a2b3c4', maxBoots: '30' },
      },
    });
  });

  test('is not repeated by a rerun, nor continued by an extend', async () => {
    const revision = revisionBy(alice);
    queued(await about(written(revision, alice, '@ppsgate run margin=1%')));
    another(revision);
    const { key } = queued(await about(written(revision, alice, '@ppsgate bisect')));
    inbox.markEnded(key, 'it passed');
    const rerun = await about(written(revision, alice, '@ppsgate rerun'));
    expect(rerun).toMatchObject({ kind: 'run', job: { overrides: { margin: '1%' } } });
    expect(rerun).not.toHaveProperty('job.bisect');
    const extend = await about(written(revision, alice, '@ppsgate extend'));
    expect(extend).toMatchObject({ kind: 'reply', topic: 'mistaken' });
  });
});

describe('@ppsgate cancel', () => {
  test.each(['alice', 'bob'])('of %s ends what runs, however soon after a diff', async (name) => {
    const revision = revisionBy(eve);
    const by = name === 'alice' ? alice : bob;
    expect(await about(written(revision, by, '@ppsgate cancel', 0))).toEqual({
      kind: 'cancel',
      of: revision.id,
      why: expect.stringContaining(name),
    });
  });

  test('ends what runs of a revision that was closed meanwhile', async () => {
    const revision = revisionBy(alice);
    phabricator.abandon(revision);
    expect((await about(written(revision, alice, '@ppsgate cancel'))).kind).toBe('cancel');
  });
});
