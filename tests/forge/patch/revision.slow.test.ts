// Makes commits of a Phabricator revision: their base, and the errors of those that fail.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PatchError } from '../../../src/forge/patch/patch-error.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import {
  type EarlierDiffs,
  parseEarlier,
  patchOfRevision,
  type RevisionDeps,
  restoreRevision,
} from '../../../src/forge/patch/revision.ts';
import { openConduit } from '../../../src/forge/phabricator/conduit.ts';
import { RevisionError } from '../../../src/forge/phabricator/revision.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { outcomeOfError } from '../../../src/publish/reporters/outcome.ts';
import { outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakePhabricator, startPhabricator } from '../../fakes/phabricator/server.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

const file = 'sys/netinet/ip_fastfwd.c';

let phabricator: FakePhabricator;
let author: ReturnType<FakePhabricator['addUser']>;
let directory: string;
let base: string;

/** The base is of a day before the diffs. */
beforeEach(async () => {
  phabricator = await startPhabricator({ now: epoch('2099-11-20T12:00:00Z') });
  author = phabricator.addUser('author');
  directory = newRepository();
  base = commit(directory, { [file]: 'one\ntwo\nthree\n', 'sys/net/if.c': 'one\n' });
});

afterEach(async () => {
  await phabricator.stop();
  expect(phabricator.violations).toEqual([]);
});

const epoch = (time: string) => Date.parse(time) / 1000;

function depsIn(place: string, config: Partial<RevisionDeps['config']> = {}): RevisionDeps {
  const { url, token } = phabricator;
  const conduit = openConduit({ url, token, log: { info() {} }, pause: async () => {} });
  return { conduit, repository: openRepository(place), config: { branch: 'main', ...config } };
}

const patchOf = (number: number, earlier: EarlierDiffs = 'none', config?: Partial<RevisionDeps['config']>) =>
  patchOfRevision({ revision: number }, earlier, depsIn(directory, config));

/** Diff of the base, in the format of git diff. */
function diffTo(line: string, path = file): string {
  writeFileSync(join(directory, path), `${line}\n`);
  const raw = git(directory, 'diff', base, '--', path);
  git(directory, 'checkout', '--quiet', '--', '.');
  return `${raw}\n`;
}

const revisionWith = (raw: string, more: { base?: string } = { base }) =>
  phabricator.addRevision({ author, title: 'Forward faster', diff: { raw, branch: 'x', ...more } });

const idOfNewest = () => phabricator.state.diffs.at(-1)?.id ?? 0;

const unapplicable = `diff --git a/${file} b/${file}
--- a/${file}
+++ b/${file}
@@ -1,1 +1,1 @@
-never there
+two
`;

const binary = 'diff --git a/x b/x\nGIT binary patch\nliteral 0\nHc$@<O00001\n\nliteral 0\nHc$@<O00001\n\n';

const withoutPrefixes = unapplicable.replaceAll(' b/sys/', ' b/');

const link = `diff --git a/x b/x
new file mode 120000
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+${file}
\\ No newline at end of file
`;

const nameOfBase = () => git(directory, 'rev-parse', '--short=12', base);

describe('a revision', () => {
  test('is a patch at its newest diff, on the base that it was made for', async () => {
    const { id } = revisionWith(diffTo('faster'));
    commit(directory, { [file]: 'later\n' });
    const patch = await patchOf(id);
    expect(patch).toEqual({
      kind: 'revision',
      server: phabricator.url,
      number: id,
      diff: idOfNewest(),
      phids: {
        revision: expect.stringMatching(/^PHID-DREV-/),
        diff: expect.stringMatching(/^PHID-DIFF-/),
      },
      title: 'Forward faster',
      author: 'author',
      url: `${phabricator.url}/D${id}`,
      baseCommit: base,
      headCommit: expect.stringMatching(/^[0-9a-f]{40}$/),
      earlier: [],
      notes: [],
    });
    expect(git(directory, 'show', `${patch.headCommit}:${file}`)).toBe('faster');
    expect(git(directory, 'rev-parse', `${patch.headCommit}^`)).toBe(base);
  });

  test('is a patch at the named diff, even after newer ones', async () => {
    const revision = revisionWith(diffTo('first'));
    const diff = idOfNewest();
    phabricator.updateRevision(revision, { raw: diffTo('second'), base, branch: 'x' });
    const name = { revision: revision.id, diff };
    const { headCommit, ...patch } = await patchOfRevision(name, 'none', depsIn(directory));
    expect(patch.diff).toBe(diff);
    expect(git(directory, 'show', `${headCommit}:${file}`)).toBe('first');
  });

  test('whose base is unknown is measured on the branch of its day, with a note', async () => {
    const { id } = revisionWith(diffTo('faster'), {});
    const { baseCommit, notes } = await patchOf(id);
    expect(baseCommit).toBe(base);
    expect(notes).toEqual([
      `Diff ${idOfNewest()} does not name its base: it is measured against main as of 2099-11-20, ${nameOfBase()}.`,
    ]);
  });

  test('whose base is missing here is measured the same way, with a note that names it', async () => {
    const { id } = revisionWith(diffTo('faster'), { base: 'f'.repeat(40) });
    const { baseCommit, notes, missingBase } = await patchOf(id);
    expect(baseCommit).toBe(base);
    expect(missingBase).toBe(
      `Diff ${idOfNewest()} is based on ffffffffffff, which is not in the repository; it was measured on ${nameOfBase()} of main instead, without changes of a parent revision.`,
    );
    expect(notes).toEqual([
      `Diff ${idOfNewest()} names its base ffffffffffff, which is not in the repository: it is measured against main as of 2099-11-20, ${nameOfBase()}.`,
    ]);
  });

  test('without a base is measured against the branch that the site names', async () => {
    git(directory, 'branch', 'stable/15');
    commit(directory, { [file]: 'later\n' });
    const { id } = revisionWith(diffTo('faster'), {});
    const { baseCommit, notes } = await patchOf(id, 'none', { branch: 'stable/15' });
    expect(baseCommit).toBe(base);
    expect(notes).toEqual([expect.stringContaining('against stable/15 as of')]);
  });

  test('that does not apply reports the reason to its author', async () => {
    const { id } = revisionWith(unapplicable);
    await expect(patchOf(id)).rejects.toThrow(
      new PatchError(
        `Diff ${idOfNewest()} of D${id} does not apply: git cannot apply the diff: patch failed: ${file}:1; ${file}: patch does not apply.`,
        'does-not-apply',
      ),
    );
  });

  test('that Phabricator returns differently is not applied at all', async () => {
    const { id } = revisionWith(diffTo('faster').replaceAll(` b/${file}`, ' b/netinet/x.c'));
    await expect(patchOf(id)).rejects.toThrow(PatchError);
    await expect(patchOf(id)).rejects.toThrow(
      /^Diff \d+ of D\d+ cannot be used: Phabricator returns one file with two names/,
    );
  });

  test.each([
    ['with a binary file', binary, /: the diff changes a binary file$/],
    ['made with --no-prefix', withoutPrefixes, /: the diff was sent without the prefixes of git$/],
    ['with a symbolic link', link, /: the diff cannot be used$/],
    ['that does not apply', unapplicable, /: the patch does not apply$/],
  ])('%s is titled by that', async (_, raw, title) => {
    const { id } = revisionWith(raw);
    const error: unknown = await patchOf(id).catch((error: unknown) => error);
    expect(outcomeTitle(outcomeOfError(error))).toMatch(title);
  });

  test('in Latin-1 that does not apply gets a hint at the encoding', async () => {
    const raw = unapplicable.replace('never', 'n\u00e9ver');
    const { id } = phabricator.addRevision({
      author,
      title: 'x',
      diff: { raw, base, branch: 'x' },
    });
    await expect(patchOf(id)).rejects.toThrow(/patch does not apply\. Phabricator returns diffs in UTF-8/);
  });

  test('that does not exist is a usage error', async () => {
    await expect(patchOf(99)).rejects.toThrow(RevisionError);
  });
});

describe('a diff of a working copy of Subversion', () => {
  const gitSvn = (revision: number) =>
    `Fix it\n\ngit-svn-id: svn+ssh://svn.freebsd.org/base/head@${revision} ccf9f872-aa2e-dd11`;

  /** r325001 and r325006 of head, r325004 of stable/11, before the base, which was made in git. */
  function convert() {
    const directory = newRepository();
    const files = { [file]: 'one\ntwo\nthree\n', 'sys/net/if.c': 'one\n' };
    const r325001 = commit(directory, files, {}, gitSvn(325_001));
    git(directory, 'switch', '--quiet', '--create', 'stable/11');
    const r325004 = commit(directory, {}, {}, gitSvn(325_004));
    git(directory, 'switch', '--quiet', 'main');
    const r325006 = commit(directory, {}, {}, gitSvn(325_006));
    const newest = commit(directory, {}, {}, 'Made in git');
    return { directory, commits: { r325001, r325004, r325006, newest } };
  }

  const repository = 'svn+ssh://svn.freebsd.org/base';
  const day = 'it is measured against BRANCH as of 2099-11-20, HERE.';
  const onMain = day.replace('BRANCH', 'main');
  const after1 = '(r325001 is the last change of main before it)';

  type Of = keyof ReturnType<typeof convert>['commits'];

  test.each<[base: string | undefined, on: Of, note: string | undefined]>([
    ['r325001', 'r325001', 'is based on r325001, which is HERE.'],
    ['325006', 'r325006', 'is based on r325006, which is HERE.'],
    ['r325006', 'r325006', 'is based on r325006, which is HERE.'],
    [`${repository}/head@325006`, 'r325006', 'is based on r325006 of base/head, which is HERE.'],
    ['325005', 'r325001', `is based on r325005, which is HERE ${after1}.`],
    ['325004', 'r325001', `is based on r325004, which is HERE ${after1}.`],
    ['999999999', 'r325006', 'is based on r999999999, which is HERE (r325006 is the last change of main before it).'],
    [
      `${repository}/stable/11@325005`,
      'r325004',
      'is based on r325005 of base/stable/11, which is HERE (r325004 is the last change of stable/11 before it).',
    ],
    [
      `${repository}/projects/x@325005`,
      'r325001',
      `is based on r325005 of base/projects/x (which is not a branch here, so main is used), which is HERE ${after1}.`,
    ],
    ['r1', 'newest', `names its base r1, which is older than every commit of the branch here: ${onMain}`],
    [`${repository}/head`, 'newest', `names its base base/head, without a revision: ${onMain}`],
    [
      `${repository}/stable/11`,
      'r325004',
      `names its base base/stable/11, without a revision: ${day.replace('BRANCH', 'stable/11')}`,
    ],
    ['head', 'newest', `names its base "head", which is not a full commit ID: ${onMain}`],
    [undefined, 'newest', `does not name its base: ${onMain}`],
    ['COMMIT', 'r325001', undefined],
  ])('is measured on what it says, and the note says so: %s', async (said, on, note) => {
    const { directory, commits } = convert();
    const written = said === 'COMMIT' ? commits.r325001 : said;
    const { id } = revisionWith(diffTo('faster'), written === undefined ? {} : { base: written });
    const { baseCommit, notes } = await patchOfRevision({ revision: id }, 'none', depsIn(directory));
    expect(baseCommit).toBe(commits[on]);
    const sentence = `Diff ${idOfNewest()} ${note?.replace('HERE', commits[on].slice(0, 12))}`;
    expect(notes).toEqual(note === undefined ? [] : [sentence]);
  });

  test('is measured on the branch of its day if the clone has no Subversion revisions', async () => {
    const { id } = revisionWith(diffTo('faster'), { base: 'r325006' });
    const { baseCommit, notes } = await patchOf(id);
    expect(baseCommit).toBe(base);
    expect(notes).toEqual([
      `Diff ${idOfNewest()} names its base r325006, and the repository has neither git-svn-id lines nor notes of a conversion (git fetch origin refs/notes/commits:refs/notes/commits): it is measured against main as of 2099-11-20, ${nameOfBase()}.`,
    ]);
  });

  // Attack phabricator/svn-id
  test('does not depend on how a commit in the branch calls itself above its last line', async () => {
    const { directory, commits } = convert();
    commit(directory, {}, {}, `${gitSvn(2)}\n\nSigned-off-by: Mallory`);
    const { id } = revisionWith(diffTo('faster'), { base: '325005' });
    const patch = await patchOfRevision({ revision: id }, 'none', depsIn(directory));
    expect(patch.baseCommit).toBe(commits.r325001);
  });
});

describe('a revision of a repository', () => {
  const ofRepository = (callsign?: string) =>
    phabricator.addRevision({
      author,
      title: 'x',
      diff: { raw: diffTo('faster'), base, branch: 'x' },
      ...(callsign && { repository: phabricator.addRepository(callsign) }),
    });

  test.each(['SRC', 'src'])('that is ours by its name %s is measured', async (name) => {
    const { id } = ofRepository('SRC');
    expect((await patchOf(id, 'none', { repositories: ['DOC', name] })).baseCommit).toBe(base);
  });

  test.each([
    ['DOC', 'of the repository DOC'],
    [undefined, 'of no repository'],
  ])('that is not ours is none of ours: %s', async (callsign, called) => {
    const { id } = ofRepository(callsign);
    await expect(patchOf(id, 'none', { repositories: ['src', 'ports'] })).rejects.toThrow(
      new UsageError(
        `D${id} is ${called}, but only revisions of src, ports are measured: see phabricator.repositories in ppsgate.yml.`,
      ),
    );
  });
});

describe('earlier diffs', () => {
  /** Creates three diffs, the second of which does not apply. */
  function ofThree() {
    const revision = revisionWith(diffTo('first'));
    const first = idOfNewest();
    const { id: second } = phabricator.updateRevision(revision, { raw: unapplicable });
    phabricator.updateRevision(revision, { raw: diffTo('third'), base, branch: 'x' });
    return { number: revision.id, first, second, third: idOfNewest() };
  }

  test('are left alone unless requested', async () => {
    const { number } = ofThree();
    expect(await patchOf(number)).toMatchObject({ earlier: [], notes: [] });
  });

  test('are all made for the base of the newest, and those that do not apply are omitted with a note', async () => {
    const { number, first, second } = ofThree();
    const { earlier, notes } = await patchOf(number, 'all');
    expect(earlier).toEqual([{ diff: first, headCommit: expect.stringMatching(/^[0-9a-f]{40}$/) }]);
    const [one] = earlier;
    expect(git(directory, 'show', `${one?.headCommit}:${file}`)).toBe('first');
    expect(git(directory, 'rev-parse', `${one?.headCommit}^`)).toBe(base);
    expect(notes).toEqual([
      `Diff ${second} is left out: git cannot apply the diff: patch failed: ${file}:1; ${file}: patch does not apply.`,
    ]);
  });

  test('are those that are named, the oldest first and each once', async () => {
    const { number, first, third } = ofThree();
    const revision = phabricator.state.revisions.at(-1);
    if (revision === undefined) throw new Error('There is no revision.');
    phabricator.updateRevision(revision, { raw: diffTo('fourth'), base, branch: 'x' });
    const { earlier, notes } = await patchOf(number, [third, first, first]);
    expect(earlier.map(({ diff }) => diff)).toEqual([first, third]);
    expect(notes).toEqual([]);
  });

  test.each(['the newest itself', 'one that does not exist'])(
    'that are invalid are refused, with a list of valid ones: %s',
    async (which) => {
      const { number, first, second, third } = ofThree();
      const stranger = which === 'one that does not exist' ? 9999 : third;
      await expect(patchOf(number, [first, stranger])).rejects.toThrow(
        new UsageError(
          `earlier: ${stranger} is not an earlier diff of the revision than ${third}; the earlier diffs are: ${first}, ${second}.`,
        ),
      );
    },
  );

  test('may be none at all', async () => {
    const { id } = revisionWith(diffTo('first'));
    expect((await patchOf(id, 'all')).earlier).toEqual([]);
    await expect(patchOf(id, [1234])).rejects.toThrow('the earlier diffs are: none.');
  });

  test.each<[string, EarlierDiffs]>([
    ['all', 'all'],
    ['none', 'none'],
    ['80345', [80345]],
    ['80345, 80654', [80345, 80654]],
  ])('are asked for as %s', (text, earlier) => {
    expect(parseEarlier(text, '--earlier')).toEqual(earlier);
  });

  test.each(['', 'some', 'All', '0', '-1', '80345;80654', '80345,', '1.5', '$(reboot)'])(
    'are not requested by %j',
    (text) => {
      expect(() => parseEarlier(text, '--earlier')).toThrow(
        new UsageError(`--earlier: expected all, none or diff IDs like 80345,80654, found "${text}".`),
      );
    },
  );
});

describe('on another machine', () => {
  /** Clones without a remote that has the commits. */
  function clone(): string {
    const other = join(temporaryFolder(), 'clone');
    git(directory, 'clone', '--quiet', `file://${directory}`, other);
    git(other, 'remote', 'remove', 'origin');
    return other;
  }

  const has = (place: string, id: string) => git(place, 'cat-file', '-t', id) === 'commit';

  test('the same commits are made of the same diffs, earlier ones too', async () => {
    const revision = revisionWith(diffTo('first'));
    phabricator.updateRevision(revision, { raw: diffTo('second'), base, branch: 'x' });
    const other = clone();
    const patch = await patchOf(revision.id, 'all');
    await restoreRevision(patch, depsIn(other));
    const commits = [patch.headCommit, ...patch.earlier.map(({ headCommit }) => headCommit)];
    expect(commits).toHaveLength(2);
    expect(new Set(commits).size).toBe(2);
    for (const id of commits) expect(has(other, id)).toBe(true);
  });

  test('they are made on the base that was found then, after the branch has moved', async () => {
    const { id } = revisionWith(diffTo('first'), {});
    const other = clone();
    const patch = await patchOf(id);
    commit(other, { [file]: 'one\ntwo\nthree\n', later: '' });
    await restoreRevision(patch, depsIn(other));
    expect(has(other, patch.headCommit)).toBe(true);
  });

  test('no diff that is already here is requested from Phabricator', async () => {
    const patch = await patchOf(revisionWith(diffTo('first')).id);
    phabricator.requests.length = 0;
    await restoreRevision(patch, depsIn(directory));
    expect(phabricator.requests).toEqual([]);
  });

  test.each<[string, () => void]>([
    [
      'has another text',
      () => {
        const other = phabricator.addDiff(author, { raw: diffTo('hostile') });
        const [judged] = phabricator.state.diffs;
        Object.assign(judged ?? {}, { raw: other.raw });
      },
    ],
    [
      'has another date',
      () => {
        const [judged] = phabricator.state.diffs;
        Object.assign(judged ?? {}, { dateCreated: 1_795_000_001 });
      },
    ],
    [
      'does not apply anymore',
      () => {
        const other = phabricator.addDiff(author, { raw: unapplicable });
        const [judged] = phabricator.state.diffs;
        Object.assign(judged ?? {}, { raw: other.raw });
      },
    ],
  ])('a diff that %s is refused, because it was not approved', async (_, spoil) => {
    const { id } = revisionWith(diffTo('first'));
    const diff = idOfNewest();
    const other = clone();
    const patch = await patchOf(id);
    spoil();
    await expect(restoreRevision(patch, depsIn(other))).rejects.toThrow(
      new PatchError(`Diff ${diff} of D${id} has changed: request it again.`),
    );
  });
});
