import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDiff } from '../../../src/forge/patch/diff.ts';
import { type Conduit, openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { fetchDiff, whyMisleading } from '../../../src/forge/phabricator/diff.ts';
import {
  type ClaimedBase,
  findRevision,
  isMember,
  landedRevision,
  parseRevisionName,
  RevisionError,
  transactionsOf,
  userNames,
  whoami,
} from '../../../src/forge/phabricator/revision.ts';
import { type FakePhabricator, startPhabricator } from '../../fakes/phabricator/server.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

const server = 'https://reviews.example.org';
const base = '830dce812dee0744fe5697c1f9fb0790752e0199';

let phabricator: FakePhabricator;
let conduit: Conduit;

beforeEach(async () => {
  phabricator = await startPhabricator({ now: 1_795_213_000 });
  conduit = conduitTo(phabricator.url, phabricator.token);
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

const conduitTo = (url: string, token: string) =>
  openConduit({ url, token, log: { info: () => {} }, pause: async () => {} });

/** Change of one file, in the format of git diff. */
const change = (path: string, line = ' x', more = '') =>
  `diff --git a/${path} b/${path}\n${more}--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,2 @@\n${line}\n+y\n`;
const raw = change('sys/netinet/ip_fastfwd.c');

const seenNever = /is not on \S+, or hidden from the bot \(Phabricator does not distinguish the two\): /;

describe('the name of a revision', () => {
  test.each([
    ['D27401', { revision: 27401 }],
    [' D27401\n', { revision: 27401 }],
    ['D27401:80677', { revision: 27401, diff: 80677 }],
    ['diff:80677', { diff: 80677 }],
    [`${server}/D27401`, { revision: 27401 }],
    [`${server}/D27401/`, { revision: 27401 }],
    [`${server}/D27401#600123`, { revision: 27401 }],
    [`${server}/D27401?id=80677`, { revision: 27401, diff: 80677 }],
    [`${server}/D27401?vs=80345&id=80677#toc`, { revision: 27401, diff: 80677 }],
    ['http://reviews.example.org/D27401', { revision: 27401 }],
    [`${server}/differential/diff/80677/`, { diff: 80677 }],
  ])('may be written as %j', (text, name) => {
    expect(parseRevisionName(text, server)).toEqual(name);
  });

  test.each([
    '',
    'D',
    'D0',
    'D-1',
    'D1.5',
    'd27401',
    '27401',
    '#123',
    'D27401:',
    'D27401:x',
    'diff 80677',
    'diff:0',
    'D27401; reboot',
    'D12345678901234567890',
    server,
    `${server}/T27401`,
    `${server}/D27401/x`,
    `${server}/D27401?id=x`,
    'https://',
    `${server}/differential/diff/x/`,
  ])('is not %j', (text) => {
    expect(parseRevisionName(text, server)).toBeUndefined();
  });

  test.each(['https://phabricator.example.net/D27401', 'https://reviews.example.org:8443/D27401'])(
    'is rejected for another server: %s',
    (text) => {
      expect(() => parseRevisionName(text, server)).toThrow(
        new RevisionError(`${new URL(text).host} is not the configured Phabricator: name a revision of ${server}.`),
      );
    },
  );

  // Attack read/other-server: `Differential Revision:` in a commit names another server, to receive the bot's token.
  // Defence: Only the server of `ppsgate.yml` is requested.
  test.each([
    [`Prefetch.\n\nReviewed by:\tbob\nDifferential Revision:\t${server}/D27401\n`, 27401],
    [`Take it back.\n\nDifferential Revision: ${server}/D1\nDifferential Revision: ${server}/D2`, 2],
    ['Differential Revision: https://phabricator.example.net/D27401', undefined],
    [`See Differential Revision: ${server}/D27401`, undefined],
    [`Differential Revision: ${server}/D27401 and more`, undefined],
    ['Differential Revision: D27401', undefined],
    ['', undefined],
  ])('that a commit landed is read of %j', (message, number) => {
    expect(landedRevision(message, server)).toBe(number);
  });

  test('is a number that can be searched for, or refused, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(D|diff:)\d+(:\d+)?$/)), (text) => {
        const name = parseRevisionName(text, server);
        for (const number of Object.values(name ?? {})) {
          expect(Number.isSafeInteger(number) && Number(number) > 0).toBe(true);
        }
      }),
    );
  });
});

describe('a revision', () => {
  test('is found with its author, its repository and its newest diff', async () => {
    const author = phabricator.addUser('author');
    const repository = phabricator.addRepository('SRC');
    const revision = phabricator.addRevision({
      author,
      title: 'ip_fastfwd: prefetch',
      repository,
      diff: { raw, base, branch: 'prefetch' },
    });
    const person = { phid: author.phid, name: 'author' };
    expect(await findRevision(conduit, { revision: revision.id })).toEqual({
      number: revision.id,
      phid: revision.phid,
      title: 'ip_fastfwd: prefetch',
      url: `${phabricator.url}/D${revision.id}`,
      author: person,
      status: 'needs-review',
      isDraft: false,
      repository: { phid: repository.phid, callsign: 'SRC', shortName: 'src' },
      diff: {
        id: expect.any(Number),
        phid: revision.diffPHID,
        createdAt: new Date(1_795_213_000_000),
        author: person,
        base: { kind: 'commit', id: base },
        branch: 'prefetch',
      },
      earlier: [],
    });
  });

  /** Three diffs; only the second has its base. */
  const withThreeDiffs = () => {
    const author = phabricator.addUser('author');
    const revision = phabricator.addRevision({ author, title: 'x', diff: { raw } });
    const second = phabricator.updateRevision(revision, { raw, base, branch: 'x' });
    const third = phabricator.updateRevision(revision, { raw });
    const first = phabricator.state.diffs.find(({ id }) => id < second.id);
    return { author, revision, ids: [first?.id ?? 0, second.id, third.id] as const };
  };

  test('is what its newest diff makes it, after earlier ones, the oldest first', async () => {
    const { revision, ids } = withThreeDiffs();
    const found = await findRevision(conduit, { revision: revision.id });
    expect([...found.earlier, found.diff].map(({ id }) => id)).toEqual(ids);
  });

  // Attack phabricator/later-diff: Another diff arrives after the approval. Defence: An approval covers one diff, and
  // that diff is fetched.
  test('is as of the named diff, even after newer ones', async () => {
    const { revision, ids } = withThreeDiffs();
    const found = await findRevision(conduit, { revision: revision.id, diff: ids[1] });
    expect(found.diff.id).toBe(ids[1]);
    expect(found.earlier.map(({ id }) => id)).toEqual([ids[0]]);
  });

  test('is found by the id of one of its diffs alone', async () => {
    const { revision, ids } = withThreeDiffs();
    const found = await findRevision(conduit, { diff: ids[1] });
    expect([found.number, found.diff.id]).toEqual([revision.id, ids[1]]);
  });

  test('has diffs without a base where they were pasted', async () => {
    const { revision } = withThreeDiffs();
    const { diff, earlier } = await findRevision(conduit, { revision: revision.id });
    expect([...earlier, diff].map((each) => each.base)).toEqual([
      { kind: 'none' },
      { kind: 'commit', id: base },
      { kind: 'none' },
    ]);
    expect(diff).not.toHaveProperty('branch');
  });

  test('may have more diffs than are on a page', async () => {
    const { revision } = withThreeDiffs();
    for (let more = 0; more < 120; more += 1) phabricator.updateRevision(revision, { raw });
    const { earlier } = await findRevision(conduit, { revision: revision.id });
    expect(earlier).toHaveLength(122);
  });

  test('may have a diff that another than its author sent', async () => {
    const { revision, ids } = withThreeDiffs();
    const guest = phabricator.addUser('guest');
    const last = phabricator.state.diffs.find(({ id }) => id === ids[2]);
    Object.assign(last ?? {}, { authorPHID: guest.phid });
    const found = await findRevision(conduit, { revision: revision.id });
    expect([found.author.name, found.diff.author.name]).toEqual(['author', 'guest']);
  });

  test('has the PHID of an author whom the bot may not see for a name', async () => {
    const { revision } = withThreeDiffs();
    const phid = 'PHID-USER-gone';
    Object.assign(revision, { authorPHID: phid });
    expect((await findRevision(conduit, { revision: revision.id })).author).toEqual({
      phid,
      name: phid,
    });
  });

  /** Fields that an author sets freely. */
  const baseOf = async (written: string | undefined) => {
    const author = phabricator.addUser('author');
    const diff = { raw, branch: 'x', ...(written !== undefined && { base: written }) };
    const revision = phabricator.addRevision({ author, title: 'x', diff });
    return (await findRevision(conduit, { revision: revision.id })).diff.base;
  };

  const numbered = { kind: 'svn-revision', revision: 325006 } as const;

  // Attack phabricator/base: A base is `--upload-pack=…`, a branch, markup or escape sequences. Defence: A base is a
  // full commit id or a Subversion revision; anything else is only shown, as one short line of code.
  test.each<[string | undefined, ClaimedBase]>([
    [undefined, { kind: 'none' }],
    ['', { kind: 'none' }],
    [base, { kind: 'commit', id: base }],
    ['a'.repeat(64), { kind: 'commit', id: 'a'.repeat(64) }],
    ['325006', numbered],
    ['r325006', numbered],
    ['svn+ssh://svn.freebsd.org/base/head@325006', { ...numbered, path: 'base/head' }],
    ['svn+ssh://me@svn.freebsd.org/base/head@325006', { ...numbered, path: 'base/head' }],
    ['https://svn.freebsd.org/base/stable/11@325006', { ...numbered, path: 'base/stable/11' }],
    ['svn://[::1]/base/head@325006', { kind: 'other', text: 'svn://[::1]/base/head@325006' }],
    ['file:///home/svn/trunk/@325006', { ...numbered, path: 'home/svn/trunk' }],
    ['svn+ssh://svn.freebsd.org/base/head', { kind: 'svn-path', path: 'base/head' }],
    ['svn://svn.freebsd.org/base/a@b@7', { kind: 'other', text: 'svn://svn.freebsd.org/base/a@b@7' }],
    ['main', { kind: 'other', text: 'main' }],
    [base.slice(0, 12), { kind: 'other', text: base.slice(0, 12) }],
    [base.toUpperCase(), { kind: 'other', text: base.toUpperCase() }],
  ])('has the base that its diff says: %j', async (written, told) => {
    expect(await baseOf(written)).toEqual(told);
  });

  // Attack phabricator/base
  test.each([
    '--all',
    '-1',
    '0',
    'r0',
    '1e3',
    '0x10',
    'r-1',
    '１２',
    '1234567890',
    'r325006; reboot',
    `${base}; reboot`,
    `${base}\n`,
    '325006\n--all',
    'svn://h/base/head@325006\n--all',
    'svn://h/base/--all branch@7',
    'svn://h/$(reboot)@7',
    'svn://h/a^{/x}@7',
    'svn://h/@7',
    'svn://h/[@](//evil.example)',
    'ext::sh -c reboot@7',
    'javascript://h/base/head@7',
    '\u001b]0;owned\u0007x',
    '\u202egnp.exe',
    '<b>@all</b>',
    '`'.repeat(9),
    `svn://h/${'a/'.repeat(5000)}head@7`,
    'x'.repeat(1_000_000),
  ])('says of a base that is none no more than one short line of it: %#', async (written) => {
    const told = await baseOf(written);
    expect(told.kind).toBe('other');
    const text = told.kind === 'other' ? told.text : '';
    expect(text).toMatch(/^[^\p{Cc}\p{Cf}]{1,80}$/u);
  });

  test('may be of no repository', async () => {
    const { revision } = withThreeDiffs();
    expect(await findRevision(conduit, { revision: revision.id })).not.toHaveProperty('repository');
  });

  test('may be of a repository without a callsign, or one that the bot may not see', async () => {
    const author = phabricator.addUser('author');
    const repository = phabricator.addRepository('DOC', { callsign: null, shortName: 'doc' });
    const sent = { author, title: 'x', diff: { raw }, repository };
    const { id } = phabricator.addRevision(sent);
    const found = () => findRevision(conduit, { revision: id });
    expect((await found()).repository).toEqual({ phid: repository.phid, shortName: 'doc' });
    phabricator.state.repositories.length = 0;
    expect((await found()).repository).toEqual({ phid: repository.phid });
  });

  test('may be a draft', async () => {
    const author = phabricator.addUser('author');
    const diff = { raw };
    const { id } = phabricator.addRevision({ author, title: 'x', diff, status: 'draft' });
    expect(await findRevision(conduit, { revision: id })).toMatchObject({
      status: 'draft',
      isDraft: true,
    });
  });
});

describe('a revision that is not found', () => {
  test('may be unknown or invisible, and the sentence is the same', async () => {
    const author = phabricator.addUser('author');
    const secret = { author, title: 'embargoed', diff: { raw }, visibleTo: author };
    const { id } = phabricator.addRevision(secret);
    const why = (number: number) =>
      findRevision(conduit, { revision: number }).then(String, (error: Error) => error.message);
    expect(await why(id)).toMatch(seenNever);
    expect(await why(id)).toBe((await why(99999)).replace('D99999', `D${id}`));
  });

  test('was named by a diff that is unknown or invisible', async () => {
    const author = phabricator.addUser('author');
    phabricator.addRevision({ author, title: 'x', diff: { raw }, visibleTo: author });
    const [hidden] = phabricator.state.diffs;
    for (const diff of [hidden?.id ?? 0, 99999]) {
      await expect(findRevision(conduit, { diff })).rejects.toThrow(seenNever);
    }
  });

  test('was named by a diff of another revision', async () => {
    const author = phabricator.addUser('author');
    const one = phabricator.addRevision({ author, title: 'x', diff: { raw } });
    const other = phabricator.addRevision({ author, title: 'y', diff: { raw } });
    const [first, second] = phabricator.state.diffs.map(({ id }) => id);
    expect(other.id).not.toBe(one.id);
    await expect(findRevision(conduit, { revision: one.id, diff: second ?? 0 })).rejects.toThrow(
      new RevisionError(`Diff ${second} is not a diff of D${one.id}, whose diffs are: ${first}.`),
    );
  });

  test('was named by a diff without a revision', async () => {
    const { id } = phabricator.addDiff(phabricator.addUser('author'), { raw });
    await expect(findRevision(conduit, { diff: id })).rejects.toThrow(
      new RevisionError(`Diff ${id} belongs to no revision on ${phabricator.url}: create a revision for it first.`),
    );
  });

  test('may keep its newest diff from the bot', async () => {
    const author = phabricator.addUser('author');
    const { id } = phabricator.addRevision({ author, title: 'x', diff: { raw } });
    phabricator.state.diffs.length = 0;
    await expect(findRevision(conduit, { revision: id })).rejects.toThrow(
      `The newest diff of D${id} is hidden from the bot`,
    );
  });
});

describe('a diff', () => {
  /** @param text as Phabricator writes it */
  const fetched = async (text: string) => {
    const { id } = phabricator.addDiff(phabricator.addUser('author'), { raw: text });
    return fetchDiff(conduit, { id });
  };

  test('is fetched as the server gives it, in UTF-8, with an empty line at its end', async () => {
    const text = change('x.c', ' /* résumé ☃ 🚀 */');
    expect(await fetched(text)).toMatchObject({ kind: 'usable', bytes: Buffer.from(`${text}\n`) });
  });

  test('is not there for the bot, whether unknown or invisible', async () => {
    const author = phabricator.addUser('author');
    phabricator.addRevision({ author, title: 'x', diff: { raw }, visibleTo: author });
    const [hidden] = phabricator.state.diffs;
    for (const id of [hidden?.id ?? 0, 99999]) {
      await expect(fetchDiff(conduit, { id })).rejects.toThrow(seenNever);
    }
  });

  // Attack phabricator/garbled-diff
  test('of a binary file arrives as one that empties it, and is refused', async () => {
    const binary =
      'diff --git a/sys/blob.bin b/sys/blob.bin\nnew file mode 100644\nindex 0..0\nGIT binary patch\nliteral 0\nHc$@<O00001\n\nliteral 0\nHc$@<O00001\n\n';
    expect(await fetched(binary + raw)).toEqual({
      kind: 'misleading',
      fault: 'binary-file',
      why: 'Phabricator returns the binary file sys/blob.bin empty: send the diff without it.',
      paths: ['sys/blob.bin', 'sys/netinet/ip_fastfwd.c'],
    });
  });

  test('that only mentions a binary file is refused, too', () => {
    const names = 'a/x.bin b/x.bin';
    expect(whyMisleading(`diff --git ${names}\nBinary files ${names.replace(' ', ' and ')} differ\n`)).toEqual({
      fault: 'binary-file',
      why: expect.stringMatching(/the binary file x\.bin /),
    });
  });

  test.each([
    ['with an empty new file', 'diff --git a/empty b/empty\nnew file mode 100644\n'],
    ['that declares a rename', 'diff --git a/x.c b/y.c\nrename from x.c\nrename to y.c\n'],
    ['that declares a copy', 'diff --git a/x.c b/y.c\ncopy from x.c\ncopy to y.c\n'],
    ['with a blank in a file name, which a tab follows', change('sp ace.c').replaceAll(/(?<=^[-+]{3}.*)$/gm, '\t')],
    ['that only adds letters outside ASCII', raw.replace('+y', '+/* é */')],
    ['with a file name outside ASCII', change('é.c')],
  ])('%s is usable without a remark', async (_, text) => {
    expect(await fetched(text)).toMatchObject({ kind: 'usable', remarks: [] });
  });

  // Attack phabricator/garbled-diff: Phabricator returns a diff changed. Defence: Diffs that it is known to garble are
  // refused.
  test('of git diff --noprefix arrives as one that moves the file, and is refused', async () => {
    expect(await fetched(raw.replaceAll(' b/sys/', ' b/'))).toEqual({
      kind: 'misleading',
      fault: 'without-prefixes',
      why: 'Phabricator returns one file with two names, "a/sys/netinet/ip_fastfwd.c b/netinet/ip_fastfwd.c", as for a diff without the prefixes a/ and b/: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.',
      paths: ['sys/netinet/ip_fastfwd.c'],
    });
  });

  test('with a tab in a file name, which arrives unquoted, is refused', async () => {
    expect(await fetched(change('t\tab.c'))).toEqual({
      kind: 'misleading',
      fault: 'unusable-diff',
      why: 'Phabricator does not quote the tab in the name of t ab.c, so git cannot read it: rename the file.',
      paths: ['t\tab.c'],
    });
  });

  test('in Latin-1 arrives in UTF-8, with a note on why it may not apply', async () => {
    expect(await fetched(change('sys/netinet/ip_id.c', ' /* Björn */'))).toMatchObject({
      kind: 'usable',
      remarks: [
        'Phabricator returns diffs in UTF-8, and existing lines in this one have non-ASCII characters: a diff of files in Latin-1 cannot be applied.',
      ],
    });
  });

  test('may have in its text what would be wrong in its head', async () => {
    const text = [' diff --git a/x b/y', '+GIT binary patch', '-diff --git a/t\tb b/t\tb'];
    for (const line of text) {
      expect(whyMisleading(raw.replace(' x', line))).toBeUndefined();
    }
  });

  // Attack phabricator/slow-diff: A diff takes very long to read. Defence: It is read in one pass, with a bound.
  test('with a name made to be slow is read at once', () => {
    const names = `a/${' b/'.repeat(2_000_000)}`;
    expect(whyMisleading(`diff --git ${names}\n`)).toEqual({
      fault: 'without-prefixes',
      why: expect.stringMatching(/with two names/),
    });
  });

  test('never makes reading it throw', () => {
    const lines = fc.constantFrom(
      ...['diff --git a/x b/x', 'diff --git', 'diff --git ', 'rename from x', '\t', '\u2028'],
      ...['GIT binary patch', '@@ -1 +1 @@', '-x', '+é', ' '],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(lines, fc.string())), (each) => {
        expect(typeof (whyMisleading(each.join('\n'))?.why ?? '')).toBe('string');
      }),
    );
  });
});

describe('events of a revision', () => {
  test('is its diffs and comments, the oldest first, and nothing of what has no name', async () => {
    const author = phabricator.addUser('author');
    const revision = phabricator.addRevision({ author, title: 'x', diff: { raw } });
    phabricator.letPass(60);
    const reviewer = phabricator.addUser('reviewer');
    phabricator.comment(revision, reviewer, '@perfbot rerun');
    const diff = phabricator.updateRevision(revision, { raw });
    for (const each of phabricator.state.transactions) {
      if (each.type === 'title') each.type = null;
    }
    const all = await transactionsOf(conduit, revision.phid, {});
    const [first] = phabricator.state.diffs;
    const later = new Date(1_795_213_060_000);
    const named = { id: expect.any(Number), phid: expect.stringMatching(/^PHID-XACT-DREV-/) };
    expect(all).toEqual([
      {
        ...named,
        kind: 'diff',
        diffPhid: first?.phid,
        by: author.phid,
        at: new Date(1_795_213_000_000),
      },
      { ...named, kind: 'comment', text: '@perfbot rerun', by: reviewer.phid, at: later },
      { ...named, kind: 'diff', diffPhid: diff.phid, by: author.phid, at: later },
    ]);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b));
  });

  const withComments = (count: number) => {
    const author = phabricator.addUser('author');
    const revision = phabricator.addRevision({ author, title: 'x', diff: { raw } });
    const comments = Array.from({ length: count }, (_, index) =>
      phabricator.comment(revision, author, `comment ${index}`),
    );
    return { revision, comments };
  };

  test('are found by PHIDs, as a webhook names them', async () => {
    const { revision, comments } = withComments(3);
    const phids = comments.slice(1, 2).map(({ phid }) => phid);
    const found = await transactionsOf(conduit, revision.phid, { phids });
    expect(found).toMatchObject([{ kind: 'comment', text: 'comment 1' }]);
    expect(await transactionsOf(conduit, revision.phid, { phids: [] })).toEqual([]);
  });

  test('are found since a transaction, without that one', async () => {
    const { revision, comments } = withComments(3);
    const since = comments[0]?.id ?? 0;
    const found = await transactionsOf(conduit, revision.phid, { since });
    expect(found).toMatchObject([{ text: 'comment 1' }, { text: 'comment 2' }]);
  });

  test('may be more than a page, though a connection breaks meanwhile', async () => {
    const { revision, comments } = withComments(230);
    phabricator.faults.order('transaction.search', { kind: 'reset' });
    const found = await transactionsOf(conduit, revision.phid, {});
    expect(found.filter(({ kind }) => kind === 'comment')).toHaveLength(comments.length);
  });

  test('is of no revision that is unknown or invisible', async () => {
    await expect(transactionsOf(conduit, 'PHID-DREV-gone', {})).rejects.toMatchObject({
      kind: 'refused',
      code: 'ERR-INVALID-OBJECT-PHID',
    });
  });
});

/** Starts a server with a fixed answer to each call of the method. */
async function answering(answers: Record<string, unknown>) {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.url?.replace('/api/', '') ?? '']));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return {
    conduit: conduitTo(`http://127.0.0.1:${address.port}`, 'api-x'),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('a comment that was changed', () => {
  const version = (number: number, raw: string | undefined, by = 'PHID-USER-a') => ({
    version: number,
    authorPHID: by,
    removed: raw === undefined,
    // PHP's empty map.
    content: raw === undefined ? [] : { raw },
  });
  const commentsOf = async (...comments: unknown[]) => {
    const transaction = {
      id: 7,
      phid: 'PHID-XACT-DREV-x',
      type: 'comment',
      authorPHID: 'PHID-USER-a',
      dateCreated: 1_795_213_060,
      fields: [],
      comments,
    };
    const result = { data: [transaction], cursor: { after: null } };
    const answer = { result, error_code: null, error_info: null };
    await using server = await answering({ 'transaction.search': answer });
    return await transactionsOf(server.conduit, 'PHID-DREV-x', {});
  };

  test('has the text of its last version, in any order of arrival', async () => {
    const [old, changed] = [version(1, '@perfbot rerun'), version(2, 'never mind')];
    expect(await commentsOf(changed, old)).toMatchObject([{ text: 'never mind' }]);
    expect(await commentsOf(old, changed)).toMatchObject([{ text: 'never mind' }]);
  });

  test('is omitted if it was removed', async () => {
    expect(await commentsOf(version(2, undefined), version(1, '@perfbot rerun'))).toEqual([]);
    expect(await commentsOf()).toEqual([]);
  });

  // Attack phabricator/edited-comment: Another user edits a comment of an approved user. Defence: A comment belongs to
  // the author of its last version.
  test('is by the author of its last version', async () => {
    const [by] = await commentsOf(version(2, 'rerun', 'PHID-USER-b'), version(1, 'x'));
    expect(by).toMatchObject({ by: 'PHID-USER-b' });
  });

  test('is not left out for being in a form that is not known', async () => {
    await expect(commentsOf({ version: 1, text: 'rerun' })).rejects.toThrow(
      'its response has an unexpected value at data.0',
    );
  });
});

describe('people', () => {
  test('have one name each, requested once, unless they are hidden from the bot', async () => {
    const [alice, bob] = [phabricator.addUser('alice'), phabricator.addUser('bob')];
    const phids = [alice.phid, bob.phid, alice.phid, 'PHID-USER-gone'];
    const applications = ['PHID-APPS-PhabricatorHarbormasterApplication'];
    expect(await userNames(conduit, [...phids, ...applications])).toEqual(
      new Map([
        [alice.phid, 'alice'],
        [bob.phid, 'bob'],
      ]),
    );
    expect(phabricator.requests.map(({ params }) => params.constraints)).toEqual([
      { phids: [alice.phid, bob.phid, 'PHID-USER-gone'] },
    ]);
  });

  test('are not requested if there are none, as an empty list is refused', async () => {
    expect(await userNames(conduit, ['PHID-APPS-x'])).toEqual(new Map());
    expect(phabricator.requests).toEqual([]);
  });

  test('are us, by the token', async () => {
    expect(await whoami(conduit)).toEqual({ phid: phabricator.bot.phid, name: 'perfbot' });
  });
});

describe('a member', () => {
  test('is any user of one of the projects, and no other', async () => {
    const [alice, bob] = [phabricator.addUser('alice'), phabricator.addUser('bob')];
    phabricator.addProject('network', [alice]);
    phabricator.addProject('security', [bob]);
    const projects = ['network', 'security'];
    expect(await isMember(conduit, bob.phid, projects)).toEqual({ isMember: true });
    expect(await isMember(conduit, bob.phid, ['network'])).toEqual({ isMember: false });
  });

  test('does not exist without a project', async () => {
    expect(await isMember(conduit, phabricator.bot.phid, [])).toEqual({ isMember: false });
  });

  // Attack phabricator/project: A project vanishes, or the server does not list its members. Defence: Then it has no
  // members; no reply means no approval.
  test('does not exist in an unknown project, with a warning', async () => {
    const alice = phabricator.addUser('alice');
    phabricator.addProject('network', [alice]);
    const warning = `#constructor, #netwrok: no such project on ${phabricator.url}, or hidden from the bot; check phabricator.projects in ppsgate.yml.`;
    expect(await isMember(conduit, alice.phid, ['constructor', 'netwrok'])).toEqual({
      isMember: false,
      warning,
    });
    expect(await isMember(conduit, alice.phid, ['network', 'constructor', 'netwrok'])).toEqual({
      isMember: true,
      warning,
    });
  });

  test('does not exist when no project is found, and their map is an empty list', async () => {
    const result = { data: [], maps: { slugMap: [] }, cursor: { after: null } };
    const answer = { result, error_code: null, error_info: null };
    await using server = await answering({ 'project.search': answer });
    expect(await isMember(server.conduit, 'PHID-USER-a', ['x'])).toMatchObject({
      isMember: false,
      warning: expect.stringContaining('#x: no such project'),
    });
  });
});

describeWith(['shared/phabricator'], 'as recorded from a real server', () => {
  const recordingOf = (name: string): unknown => {
    const path = join(sharedFolder('phabricator/calls'), `${name}.json`);
    return z.object({ response_json: z.unknown() }).parse(JSON.parse(readFileSync(path, 'utf8'))).response_json;
  };
  /** Answers each method with a recording of it, by the name of that without the method. */
  const recorded = (names: Record<string, string>) =>
    answering(Object.fromEntries(Object.entries(names).map(([method, name]) => [method, recordingOf(method + name)])));
  const people = { 'user.search': '' };

  test('D1 is a revision of two diffs, of which the first was pasted', async () => {
    await using server = await recorded({
      ...people,
      'differential.revision.search': '-by-ids',
      'differential.diff.search': '-by-revisionPHIDs-commits',
      'diffusion.repository.search': '-by-ids',
    });
    const author = { phid: 'PHID-USER-h3h3tyt5pmknanxa5tsg', name: 'author' };
    expect(await findRevision(server.conduit, { revision: 1 })).toEqual({
      number: 1,
      phid: 'PHID-DREV-xwj2v6be36gb2je7o6ay',
      title: 'ip_fastfwd: prefetch the IP header before the route lookup',
      url: `${server.conduit.url}/D1`,
      author,
      status: 'needs-review',
      isDraft: false,
      repository: { phid: 'PHID-REPO-pesjvctyrz26y2g4go4y', callsign: 'SRC', shortName: 'src' },
      diff: {
        id: 2,
        phid: 'PHID-DIFF-nfdse5nloyt2qpzgxrjr',
        author,
        createdAt: new Date(1_795_213_397_000),
        base: { kind: 'commit', id: base },
        branch: 'prefetch',
      },
      earlier: [
        {
          id: 1,
          phid: 'PHID-DIFF-urjuxod2lihv3s5u7pzr',
          author,
          createdAt: new Date(1_795_213_313_000),
          base: { kind: 'none' },
        },
      ],
    });
  });

  test('D3 is not there for the bot', async () => {
    await using server = await recorded({ 'differential.revision.search': '-invisible-to-bot' });
    await expect(findRevision(server.conduit, { revision: 3 })).rejects.toThrow(seenNever);
  });

  test('a diff alone has no revision', async () => {
    const found = recordingOf('differential.diff.search-all');
    await using server = await answering({ 'differential.diff.search': found });
    await expect(findRevision(server.conduit, { diff: 17 })).rejects.toThrow('belongs to no revision');
  });

  test.each([
    ['D7-updates', 'diff 61, diff 66, diff 67, comment 69'],
    ['D1', 'diff 2, diff 10, comment 11, comment 45, comment 46, comment 47, comment 48, comment 49, comment 51'],
    ['after-file-embed', 'comment 53, comment 55'],
  ])('the transactions of %s are read, and those without a type left out', async (name, told) => {
    const { response } = z
      .object({ response: z.object({ result: z.object({ data: z.array(z.unknown()) }) }) })
      .parse({ response: recordingOf(`transaction.search-${name}`) });
    const result = { ...response.result, cursor: { after: null } };
    const answer = { result, error_code: null, error_info: null };
    await using server = await answering({ 'transaction.search': answer });
    const found = await transactionsOf(server.conduit, 'PHID-DREV-x', {});
    expect(found.map(({ kind, id }) => `${kind} ${id}`).join(', ')).toBe(told);
  });

  test('a bot and the members of a project are known', async () => {
    await using server = await recorded({
      'user.whoami': '',
      'project.search': '-by-slug-members',
    });
    const { phid, name } = await whoami(server.conduit);
    expect(name).toBe('perfbot');
    const slugs = ['network_performance'];
    const ofProject = (user: string) => isMember(server.conduit, user, slugs);
    expect(await ofProject(phid)).toEqual({ isMember: false });
    expect(await ofProject('PHID-USER-5vtv56knxjookmmi3ps3')).toEqual({ isMember: true });
  });

  const file = 'sys/netinet/ip_fastfwd.c';

  const fetched = async (name: string) => {
    await using server = await recorded({ 'differential.getrawdiff': `-${name}` });
    return await fetchDiff(server.conduit, { id: 1 });
  };

  test.each([
    '1',
    '2',
    '7',
    'crlf',
    'delete-file',
    'empty-file',
    'formfields',
    'int-id',
    'rename-mode',
    'roundtrip-modify',
    'space-in-name',
    'svn-format',
    'latin1-uploaded-as-raw-bytes',
  ])('the diff "%s" is usable, and what a builder takes', async (name) => {
    const diff = await fetched(name);
    if (diff.kind === 'misleading') expect.fail(diff.why);
    expect(checkDiff(diff.bytes)).toMatchObject({ kind: 'accepted' });
  });

  test.each([
    ['git-binary', 'binary-file', /^Phabricator returns the binary file blob\.bin empty: /, 'blob.bin'],
    ['git-binary2', 'binary-file', /^Phabricator returns the binary file blob\.bin empty: /, 'blob.bin'],
    ['noprefix', 'without-prefixes', /"a\/sys\/netinet\/ip_fastfwd\.c b\/netinet\/ip_fastfwd\.c"/, file],
    ['noprefix-real', 'without-prefixes', /"a\/sys\/netinet\/ip_fastfwd\.c b\/netinet\/ip_fastfwd\.c"/, file],
    ['crlf-space-empty-symlink', 'unusable-diff', /the tab in the name of t ab\.c, /, 'crlf.txt'],
  ])('the diff "%s" is misleading, and what it changes is known', async (name, fault, why, path) => {
    const diff = await fetched(name);
    const paths = expect.arrayContaining([path]);
    expect(diff).toEqual({ kind: 'misleading', fault, why: expect.stringMatching(why), paths });
  });

  test.each([
    ['latin1-uploaded-as-raw-bytes', 1],
    // Its letters are all new.
    ['7', 0],
    ['2', 0],
  ])('the diff "%s" has so many remarks: %i', async (name, count) => {
    const diff = await fetched(name);
    expect(diff.kind === 'usable' && diff.remarks.length).toBe(count);
  });

  test.each(['unknown', 'invisible'])('the diff "%s" is not there for the bot', async (name) => {
    await expect(fetched(name)).rejects.toThrow(seenNever);
  });
});
