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

  test('whose base is unknown or missing here is measured on the branch of its day, with a note', async () => {
    git(directory, 'branch', 'stable/15');
    const unknown = revisionWith(diffTo('faster'), {});
    const [first] = (await patchOf(unknown.id)).notes;
    expect(first).toBe(
      `Diff ${idOfNewest()} does not name its base: it is measured against main as of 2099-11-20, ${nameOfBase()}.`,
    );
    const missing = revisionWith(diffTo('faster'), { base: 'f'.repeat(40) });
    const { baseCommit, notes, missingBase } = await patchOf(missing.id);
    expect([baseCommit, notes.length]).toEqual([base, 1]);
    expect(missingBase).toContain('is based on ffffffffffff, which is not in the repository');
    commit(directory, { [file]: 'later\n' });
    expect((await patchOf(unknown.id, 'none', { branch: 'stable/15' })).baseCommit).toBe(base);
  });

  test.each([
    ['with a binary file', binary, 'binary-file', 'the diff changes a binary file'],
    ['made with --no-prefix', withoutPrefixes, 'without-prefixes', 'the diff was sent without the prefixes of git'],
    ['with a symbolic link', link, 'unusable-diff', 'the diff cannot be used'],
    ['that does not apply', unapplicable, 'does-not-apply', 'the patch does not apply'],
  ])('%s is an error of its author, titled by that', async (_, raw, fault, title) => {
    const error: unknown = await patchOf(revisionWith(raw).id).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(PatchError);
    expect(error).toMatchObject({ fault });
    expect(outcomeTitle(outcomeOfError(error))).toContain(title);
  });

  test('in Latin-1 that does not apply gets a hint at the encoding', async () => {
    const raw = unapplicable.replace('never', 'n\u00e9ver');
    const { id } = phabricator.addRevision({ author, title: 'x', diff: { raw, base, branch: 'x' } });
    await expect(patchOf(id)).rejects.toThrow(/patch does not apply\. Phabricator returns diffs in UTF-8/);
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
  type Of = keyof ReturnType<typeof convert>['commits'];

  test('is measured on what it says, and the note says so', async () => {
    const { directory, commits } = convert();
    const lines: string[] = [];
    for (const [said, on] of [
      ['325006', 'r325006'],
      ['r325006', 'r325006'],
      [`${repository}/head@325006`, 'r325006'],
      ['325005', 'r325001'],
      ['999999999', 'r325006'],
      [`${repository}/stable/11@325005`, 'r325004'],
      [`${repository}/projects/x@325005`, 'r325001'],
      ['r1', 'newest'],
      [`${repository}/head`, 'newest'],
      [`${repository}/stable/11`, 'r325004'],
      ['head', 'newest'],
      [undefined, 'newest'],
      [commits.r325001, 'r325001'],
    ] as [string | undefined, Of][]) {
      const { id } = revisionWith(diffTo('faster'), said === undefined ? {} : { base: said });
      const { baseCommit, notes } = await patchOfRevision({ revision: id }, 'none', depsIn(directory));
      expect(baseCommit, said).toBe(commits[on]);
      const shown = notes.map((note) => `\n  ${note.replace(/^Diff \d+/, 'It').replace(/\b[0-9a-f]{12}\b/, 'HERE')}`);
      lines.push(`${said === commits.r325001 ? 'a full id' : said}${shown.join('')}\n`);
    }
    await expect(lines.join('')).toMatchFileSnapshot('golden/bases.txt');
  });

  test('is measured on the branch of its day if the clone has no Subversion revisions', async () => {
    const { id } = revisionWith(diffTo('faster'), { base: 'r325006' });
    const { baseCommit, notes } = await patchOf(id);
    expect(baseCommit).toBe(base);
    expect(notes).toEqual([expect.stringContaining('git fetch origin refs/notes/commits:refs/notes/commits')]);
  });
});

test('only a revision of our repositories is measured, by any of its names', async () => {
  const of = (callsign?: string) => {
    const repository = callsign === undefined ? {} : { repository: phabricator.addRepository(callsign) };
    return phabricator.addRevision({ author, title: 'x', diff: { raw: diffTo('faster'), base }, ...repository }).id;
  };
  const src = of('SRC');
  for (const name of ['SRC', 'src']) {
    expect((await patchOf(src, 'none', { repositories: ['DOC', name] })).baseCommit).toBe(base);
  }
  for (const id of [of('DOC'), of()]) {
    await expect(patchOf(id, 'none', { repositories: ['src', 'ports'] })).rejects.toThrow(UsageError);
  }
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

  test('are all made for the base of the newest, and those that do not apply are omitted with a note', async () => {
    const { number, first, second } = ofThree();
    const { earlier, notes } = await patchOf(number, 'all');
    expect(earlier).toEqual([{ diff: first, headCommit: expect.stringMatching(/^[0-9a-f]{40}$/) }]);
    const [one] = earlier;
    expect(git(directory, 'show', `${one?.headCommit}:${file}`)).toBe('first');
    expect(git(directory, 'rev-parse', `${one?.headCommit}^`)).toBe(base);
    expect(notes).toEqual([expect.stringContaining(`Diff ${second} is left out: `)]);
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

  test('that are invalid are refused, with a list of valid ones', async () => {
    const { number, first, second, third } = ofThree();
    for (const stranger of [third, 9999]) {
      const refused = patchOf(number, [first, stranger]);
      await expect(refused).rejects.toThrow(UsageError);
      await expect(refused).rejects.toThrow(`the earlier diffs are: ${first}, ${second}.`);
    }
  });

  test('are requested as all, none, or by their ids', () => {
    for (const [text, earlier] of [
      ['all', 'all'],
      ['none', 'none'],
      ['80345', [80345]],
      ['80345, 80654', [80345, 80654]],
    ]) {
      expect(parseEarlier(`${text}`, '--earlier')).toEqual(earlier);
    }
    for (const text of ['', 'some', 'All', '0', '-1', '80345;80654', '80345,', '1.5', '$(reboot)']) {
      expect(() => parseEarlier(text, '--earlier'), text).toThrow(UsageError);
    }
  });
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

  test.each<[string, () => object]>([
    ['has another text', () => ({ raw: diffTo('hostile') })],
    ['has another date', () => ({ dateCreated: 1_795_000_001 })],
    ['does not apply anymore', () => ({ raw: unapplicable })],
  ])('a diff that %s is refused, because it was not approved', async (_, spoil) => {
    const { id } = revisionWith(diffTo('first'));
    const diff = idOfNewest();
    const other = clone();
    const patch = await patchOf(id);
    const [judged] = phabricator.state.diffs;
    Object.assign(judged ?? {}, spoil());
    const restored = restoreRevision(patch, depsIn(other));
    await expect(restored).rejects.toThrow(PatchError);
    await expect(restored).rejects.toThrow(`Diff ${diff} of D${id} has changed`);
  });
});
