// Revisions, diffs, comments and people as a Phabricator has them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDiff } from '../../../src/forge/patch/diff.ts';
import { type Conduit, openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { fetchDiff } from '../../../src/forge/phabricator/diff.ts';
import {
  type ClaimedBase,
  findRevision,
  isMember,
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
let author: ReturnType<FakePhabricator['addUser']>;

beforeEach(async () => {
  phabricator = await startPhabricator({ now: 1_795_213_000 });
  const { url, token, send } = phabricator;
  conduit = openConduit({ url, token, send, log: { info() {} }, pause: async () => {} });
  author = phabricator.addUser('author');
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

/** Change of one file, in the format of git diff. */
const change = (path: string, line = ' x') =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,2 @@\n${line}\n+y\n`;
const raw = change('sys/netinet/ip_fastfwd.c');

const addRevision = (more: Partial<Parameters<FakePhabricator['addRevision']>[0]> = {}) =>
  phabricator.addRevision({ author, title: 'x', diff: { raw }, ...more });
const diffIds = () => phabricator.state.diffs.map(({ id }) => id);

const seenNever = /is not on \S+, or hidden from the bot \(Phabricator does not distinguish the two\): /;

describe('a revision', () => {
  test('is found with its author, its repository and its newest diff', async () => {
    const repository = phabricator.addRepository('SRC');
    const title = 'ip_fastfwd: prefetch';
    const revision = addRevision({ title, repository, diff: { raw, base, branch: 'prefetch' } });
    const person = { phid: author.phid, name: 'author' };
    expect(await findRevision(conduit, { revision: revision.id })).toEqual({
      number: revision.id,
      phid: revision.phid,
      title,
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
    const revision = addRevision();
    phabricator.updateRevision(revision, { raw, base, branch: 'x' });
    phabricator.updateRevision(revision, { raw });
    return { revision, ids: diffIds() as [number, number, number] };
  };

  test('is as of its newest diff, after earlier ones, the oldest first', async () => {
    const { revision, ids } = withThreeDiffs();
    const { earlier, diff } = await findRevision(conduit, { revision: revision.id });
    expect([...earlier, diff].map(({ id }) => id)).toEqual(ids);
    const none = { kind: 'none' };
    expect([...earlier, diff].map((each) => each.base)).toEqual([none, { kind: 'commit', id: base }, none]);
    expect(diff).not.toHaveProperty('branch');
  });

  // Another diff may arrive after the approval of one.
  test('is as of the named diff, even after newer ones, and without the number of the revision', async () => {
    const { revision, ids } = withThreeDiffs();
    for (const name of [{ revision: revision.id, diff: ids[1] }, { diff: ids[1] }]) {
      const found = await findRevision(conduit, name);
      expect([found.number, found.diff.id, found.earlier.map(({ id }) => id)]).toEqual([revision.id, ids[1], [ids[0]]]);
    }
  });

  test('may have a diff of another sender, and an author whom the bot may not see', async () => {
    const { revision } = withThreeDiffs();
    Object.assign(phabricator.state.diffs.at(-1) ?? {}, { authorPHID: phabricator.addUser('guest').phid });
    Object.assign(revision, { authorPHID: 'PHID-USER-gone' });
    const found = await findRevision(conduit, { revision: revision.id });
    expect([found.author.name, found.diff.author.name]).toEqual(['PHID-USER-gone', 'guest']);
  });

  /** Fields that an author sets freely. */
  const baseOf = async (written: string | undefined) => {
    const { id } = addRevision({ diff: { raw, branch: 'x', ...(written !== undefined && { base: written }) } });
    return (await findRevision(conduit, { revision: id })).diff.base;
  };

  const numbered = { kind: 'svn-revision', revision: 325006 } as const;
  const others = ['svn://[::1]/base/head@325006', 'svn://svn.freebsd.org/base/a@b@7', 'main', base.toUpperCase()];

  test('has the base that its diff says', async () => {
    for (const [written, told] of [
      [undefined, { kind: 'none' }],
      ['', { kind: 'none' }],
      [base, { kind: 'commit', id: base }],
      ['a'.repeat(64), { kind: 'commit', id: 'a'.repeat(64) }],
      ['325006', numbered],
      ['r325006', numbered],
      ['svn+ssh://me@svn.freebsd.org/base/head@325006', { ...numbered, path: 'base/head' }],
      ['https://svn.freebsd.org/base/stable/11@325006', { ...numbered, path: 'base/stable/11' }],
      ['file:///home/svn/trunk/@325006', { ...numbered, path: 'home/svn/trunk' }],
      ['svn+ssh://svn.freebsd.org/base/head', { kind: 'svn-path', path: 'base/head' }],
      ...[...others, base.slice(0, 12)].map((text) => [text, { kind: 'other', text }] as const),
    ] as [string | undefined, ClaimedBase][]) {
      expect(await baseOf(written), written).toEqual(told);
    }
  });

  // A base may be an option of git, markup, or escape sequences.
  test('has one short line of a base that is none', async () => {
    for (const written of [
      ...['--all', '-1', '0', 'r0', '1e3', '0x10', 'r-1', '１２', '1234567890', 'r325006; reboot', `${base}; reboot`],
      ...[`${base}\n`, '325006\n--all', 'svn://h/base/head@325006\n--all', 'svn://h/base/--all branch@7'],
      ...['svn://h/$(reboot)@7', 'svn://h/a^{/x}@7', 'svn://h/@7', 'svn://h/[@](//evil.example)', '<b>@all</b>'],
      ...['ext::sh -c reboot@7', 'javascript://h/base/head@7', '\u001b]0;owned\u0007x', '\u202egnp.exe', '`'.repeat(9)],
      ...[`svn://h/${'a/'.repeat(5000)}head@7`, 'x'.repeat(1_000_000)],
    ]) {
      const text = expect.stringMatching(/^[^\p{Cc}\p{Cf}]{1,80}$/u);
      expect(await baseOf(written), written.slice(0, 80)).toEqual({ kind: 'other', text });
    }
  });

  test('may be a draft of no repository, or of one that the bot may not see or that has no callsign', async () => {
    const draft = await findRevision(conduit, { revision: addRevision({ status: 'draft' }).id });
    expect(draft).toMatchObject({ status: 'draft', isDraft: true });
    expect(draft).not.toHaveProperty('repository');
    const repository = phabricator.addRepository('DOC', { callsign: null, shortName: 'doc' });
    const { id } = addRevision({ repository });
    const found = async () => (await findRevision(conduit, { revision: id })).repository;
    expect(await found()).toEqual({ phid: repository.phid, shortName: 'doc' });
    phabricator.state.repositories.length = 0;
    expect(await found()).toEqual({ phid: repository.phid });
  });
});

describe('what is not found', () => {
  const why = (name: Parameters<typeof findRevision>[1]) =>
    findRevision(conduit, name).then(String, (error: Error) => {
      expect(error).toBeInstanceOf(RevisionError);
      return error.message;
    });

  test('may be unknown or invisible, and the sentence is the same', async () => {
    const { id } = addRevision({ title: 'embargoed', visibleTo: author });
    const [diff = 0] = diffIds();
    expect(await why({ revision: id })).toMatch(seenNever);
    expect(await why({ revision: id })).toBe((await why({ revision: 99999 })).replace('D99999', `D${id}`));
    expect(await why({ diff })).toBe((await why({ diff: 99999 })).replace('99999', `${diff}`));
    for (const id of [diff, 99999]) await expect(fetchDiff(conduit, { id })).rejects.toThrow(seenNever);
  });

  test('may be a diff of another revision, a diff of none, or a newest diff that is hidden', async () => {
    const one = addRevision();
    addRevision();
    const [first, second = 0] = diffIds();
    expect(await why({ revision: one.id, diff: second })).toContain(`D${one.id}, whose diffs are: ${first}.`);
    const { id } = phabricator.addDiff(author, { raw });
    expect(await why({ diff: id })).toContain('belongs to no revision');
    phabricator.state.diffs.length = 0;
    expect(await why({ revision: one.id })).toContain('is hidden from the bot');
  });
});

describe('a diff', () => {
  /** @param text as Phabricator writes it */
  const fetched = async (text: string) =>
    fetchDiff(conduit, { id: phabricator.addDiff(phabricator.addUser('author'), { raw: text }).id });

  test('is fetched as the server gives it, in UTF-8, with an empty line at its end', async () => {
    const text = change('x.c', ' /* résumé ☃ 🚀 */');
    expect(await fetched(text)).toMatchObject({ kind: 'usable', bytes: Buffer.from(`${text}\n`) });
  });

  const binary =
    'diff --git a/sys/blob.bin b/sys/blob.bin\nnew file mode 100644\nindex 0..0\nGIT binary patch\nliteral 0\nHc$@<O00001\n\nliteral 0\nHc$@<O00001\n\n';

  // Phabricator returns these diffs changed.
  test.each([
    ['of a binary file, which is empty', 'binary-file', binary + raw, ['sys/blob.bin', 'sys/netinet/ip_fastfwd.c']],
    ['without prefixes', 'without-prefixes', raw.replaceAll(' b/sys/', ' b/'), ['sys/netinet/ip_fastfwd.c']],
    ['with a tab in a name, which is unquoted', 'unusable-diff', change('t\tab.c'), ['t\tab.c']],
  ])('%s is refused', async (_, fault, text, paths) => {
    expect(await fetched(text)).toEqual({ kind: 'misleading', fault, paths, why: expect.any(String) });
  });

  test.each([
    ['with an empty new file', 0, 'diff --git a/empty b/empty\nnew file mode 100644\n'],
    ['that declares a rename', 0, 'diff --git a/x.c b/y.c\nrename from x.c\nrename to y.c\n'],
    ['that declares a copy', 0, 'diff --git a/x.c b/y.c\ncopy from x.c\ncopy to y.c\n'],
    ['with a blank in a name, which a tab follows', 0, change('sp ace.c').replaceAll(/(?<=^[-+]{3}.*)$/gm, '\t')],
    ['that only adds letters outside ASCII', 0, raw.replace('+y', '+/* é */')],
    ['with a name outside ASCII', 0, change('é.c')],
    ['that was in Latin-1', 1, change('sys/netinet/ip_id.c', ' /* Björn */')],
  ])('%s is usable with %i remarks on why it may not apply', async (_, count, text) => {
    const { kind, remarks } = { remarks: [], ...(await fetched(text)) };
    expect([kind, remarks.length]).toEqual(['usable', count]);
  });
});

describe('the transactions of a revision', () => {
  test('are its diffs and comments, the oldest first, and nothing of what has no name', async () => {
    const revision = addRevision();
    phabricator.letPass(60);
    const reviewer = phabricator.addUser('reviewer');
    phabricator.comment(revision, reviewer, '@perfbot rerun');
    const diff = phabricator.updateRevision(revision, { raw });
    for (const each of phabricator.state.transactions) if (each.type === 'title') each.type = null;
    const all = await transactionsOf(conduit, revision.phid, {});
    const later = new Date(1_795_213_060_000);
    const named = { id: expect.any(Number), phid: expect.stringMatching(/^PHID-XACT-DREV-/) };
    const byAuthor = { ...named, kind: 'diff', by: author.phid };
    expect(all).toEqual([
      { ...byAuthor, diffPhid: phabricator.state.diffs[0]?.phid, at: new Date(1_795_213_000_000) },
      { ...named, kind: 'comment', text: '@perfbot rerun', by: reviewer.phid, at: later },
      { ...byAuthor, diffPhid: diff.phid, at: later },
    ]);
  });

  test('are found by PHIDs, as a webhook names them, or since one', async () => {
    const revision = addRevision();
    const comments = [0, 1, 2].map((index) => phabricator.comment(revision, author, `comment ${index}`));
    const textsOf = async (filter: Parameters<typeof transactionsOf>[2]) =>
      (await transactionsOf(conduit, revision.phid, filter)).map((one) => 'text' in one && one.text);
    expect(await textsOf({ phids: comments.slice(1, 2).map(({ phid }) => phid) })).toEqual(['comment 1']);
    expect(await textsOf({ phids: [] })).toEqual([]);
    expect(await textsOf({ since: comments[0]?.id ?? 0 })).toEqual(['comment 1', 'comment 2']);
  });
});

/** A server with a fixed answer to each call of the method. */
const answering = (answers: Record<string, unknown>): Conduit =>
  openConduit({
    ...{ url: server, token: 'api-x', log: { info() {} } },
    send: async (url) => {
      const body = Buffer.from(JSON.stringify(answers[url.toString().replace(/^.*\/api\//, '')]));
      const headers = new Map([['content-type', 'application/json']]);
      return { kind: 'answered', status: 200, statusText: 'OK', headers, body };
    },
  });
const resultOf = (result: unknown) => ({ result, error_code: null, error_info: null });

describe('a comment that was changed', () => {
  const version = (number: number, raw: string | undefined, by = 'PHID-USER-a') => ({
    version: number,
    authorPHID: by,
    removed: raw === undefined,
    // PHP's empty map.
    content: raw === undefined ? [] : { raw },
  });
  const commentsOf = async (...comments: unknown[]) => {
    const by = { authorPHID: 'PHID-USER-a', dateCreated: 1_795_213_060 };
    const transaction = { id: 7, phid: 'PHID-XACT-DREV-x', type: 'comment', ...by, fields: [], comments };
    const answer = resultOf({ data: [transaction], cursor: { after: null } });
    const conduit = answering({ 'transaction.search': answer });
    return transactionsOf(conduit, 'PHID-DREV-x', {});
  };

  // Another user may edit the comment of an approved user.
  test('has the text and the author of its last version, in any order of arrival', async () => {
    const [old, changed] = [version(1, '@perfbot rerun'), version(2, 'never mind', 'PHID-USER-b')];
    const last = { text: 'never mind', by: 'PHID-USER-b' };
    expect(await commentsOf(changed, old)).toMatchObject([last]);
    expect(await commentsOf(old, changed)).toMatchObject([last]);
  });

  test('is omitted if it was removed', async () => {
    expect(await commentsOf(version(2, undefined), version(1, '@perfbot rerun'))).toEqual([]);
    expect(await commentsOf()).toEqual([]);
  });

  test('is not left out for being in a form that is not known', async () => {
    await expect(commentsOf({ version: 1, text: 'rerun' })).rejects.toThrow('an unexpected value at data.0');
  });
});

describe('people', () => {
  test('have one name each, requested once, unless they are hidden from the bot', async () => {
    const [alice, bob] = [phabricator.addUser('alice'), phabricator.addUser('bob')];
    const gone = 'PHID-USER-gone';
    const names = await userNames(conduit, [alice.phid, bob.phid, alice.phid, gone, 'PHID-APPS-x']);
    expect(Object.fromEntries(names)).toEqual({ [alice.phid]: 'alice', [bob.phid]: 'bob' });
    const phids = [alice.phid, bob.phid, gone];
    expect(phabricator.requests.map(({ params }) => params.constraints)).toEqual([{ phids }]);
  });

  // A project may vanish, or its members may not be listed.
  test('are no members of an unknown project, with a warning', async () => {
    const alice = phabricator.addUser('alice');
    phabricator.addProject('network', [alice]);
    const warning = expect.stringMatching(/^#constructor, #netwrok: no such project on /);
    for (const [slugs, expected] of [
      [[], false],
      [['network'], true],
    ] as const) {
      const member = await isMember(conduit, alice.phid, [...slugs, 'constructor', 'netwrok']);
      expect(member).toEqual({ isMember: expected, warning });
    }
    // The map of none is an empty list.
    const answer = resultOf({ data: [], maps: { slugMap: [] }, cursor: { after: null } });
    const empty = answering({ 'project.search': answer });
    expect(await isMember(empty, 'PHID-USER-a', ['x'])).toMatchObject({ isMember: false });
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
    const conduit = recorded({
      ...people,
      'differential.revision.search': '-by-ids',
      'differential.diff.search': '-by-revisionPHIDs-commits',
      'diffusion.repository.search': '-by-ids',
    });
    const author = { phid: 'PHID-USER-h3h3tyt5pmknanxa5tsg', name: 'author' };
    expect(await findRevision(conduit, { revision: 1 })).toEqual({
      number: 1,
      phid: 'PHID-DREV-xwj2v6be36gb2je7o6ay',
      title: 'ip_fastfwd: prefetch the IP header before the route lookup',
      url: `${conduit.url}/D1`,
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

  test.each([
    ['D7-updates', 'diff 61, diff 66, diff 67, comment 69'],
    ['D1', 'diff 2, diff 10, comment 11, comment 45, comment 46, comment 47, comment 48, comment 49, comment 51'],
    ['after-file-embed', 'comment 53, comment 55'],
  ])('the transactions of %s are read, and those without a type left out', async (name, told) => {
    const { response } = z
      .object({ response: z.object({ result: z.object({ data: z.array(z.unknown()) }) }) })
      .parse({ response: recordingOf(`transaction.search-${name}`) });
    const answer = resultOf({ ...response.result, cursor: { after: null } });
    const conduit = answering({ 'transaction.search': answer });
    const found = await transactionsOf(conduit, 'PHID-DREV-x', {});
    expect(found.map(({ kind, id }) => `${kind} ${id}`).join(', ')).toBe(told);
  });

  test('a bot and the members of a project are known', async () => {
    const conduit = recorded({
      'user.whoami': '',
      'project.search': '-by-slug-members',
    });
    const { phid, name } = await whoami(conduit);
    expect(name).toBe('perfbot');
    const slugs = ['network_performance'];
    const ofProject = (user: string) => isMember(conduit, user, slugs);
    expect(await ofProject(phid)).toEqual({ isMember: false });
    expect(await ofProject('PHID-USER-5vtv56knxjookmmi3ps3')).toEqual({ isMember: true });
  });

  const fetched = async (name: string) => {
    const conduit = recorded({ 'differential.getrawdiff': `-${name}` });
    return await fetchDiff(conduit, { id: 1 });
  };

  test.each([
    ...['1', '2', '7', 'crlf', 'delete-file', 'empty-file', 'formfields', 'int-id', 'rename-mode'],
    ...['roundtrip-modify', 'space-in-name', 'svn-format', 'latin1-uploaded-as-raw-bytes'],
  ])('the diff "%s" is usable, and what a builder takes', async (name) => {
    const diff = await fetched(name);
    if (diff.kind === 'misleading') expect.fail(diff.why);
    expect(checkDiff(diff.bytes)).toMatchObject({ kind: 'accepted' });
    expect(diff.remarks).toHaveLength(name.startsWith('latin1') ? 1 : 0);
  });

  test.each([
    ['git-binary', 'binary-file', 'blob.bin'],
    ['git-binary2', 'binary-file', 'blob.bin'],
    ['noprefix', 'without-prefixes', 'sys/netinet/ip_fastfwd.c'],
    ['noprefix-real', 'without-prefixes', 'sys/netinet/ip_fastfwd.c'],
    ['crlf-space-empty-symlink', 'unusable-diff', 'crlf.txt'],
  ])('the diff "%s" is misleading, and what it changes is known', async (name, fault, path) => {
    const diff = await fetched(name);
    expect(diff).toMatchObject({ kind: 'misleading', fault, paths: expect.arrayContaining([path]) });
  });
});
