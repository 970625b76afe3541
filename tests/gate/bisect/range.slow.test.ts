// Ranges to bisect in real git repositories; a builder's configuration decides which commits are the same kernel.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openRepository, RepositoryError } from '../../../src/forge/patch/repository.ts';
import { type CommitRange, type RangeRequest, readRange, variantOf } from '../../../src/gate/bisect/range.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aFreebsdTestbed } from '../../fakes/plan.ts';
import { git, newRepository, type Planned, plantHistory } from '../../fakes/repository.ts';
import { times } from '../../random.ts';

const { builder } = aFreebsdTestbed({ host: 'builder', kernel: { kind: 'make' } });

/** A driver with functions far enough apart for changes of two of them to merge. */
const driver = (changes: Record<string, string> = {}): string =>
  ['attach', 'rx', 'tx', 'uar']
    .map((name) => `${name}()\n{\n${'\tstep();\n'.repeat(4)}\t${changes[name] ?? 'plain'}();\n}\n`)
    .join('\n');

const mlx5 = 'sys/dev/mlx5/mlx5.c';
const first: Planned = {
  files: { 'Makefile.inc1': '_tools=usr.sbin/config usr.bin/awk\n', [mlx5]: driver() },
};
/** A commit after which the driver has these functions, with other changes of the commit. */
const driven = (changes: Record<string, string>, others: Record<string, string> = {}): Planned => ({
  files: { [mlx5]: driver(changes), ...others },
});
const kernel = (text: string): Planned => ({ files: { 'sys/net/if.c': `${text}\n` } });
const manual = (text: string): Planned => ({ files: { 'share/man/man4/em.4': `${text}\n` } });
const installed = (text: string): Planned => ({ files: { 'dut/nftables.conf': `# ${text}\n` } });

/** Returns a repository and its commit ids: the first is good, the last is main. */
function historyOf(...commits: Planned[]): { directory: string; ids: string[] } {
  const directory = newRepository();
  const ids = plantHistory(directory, commits);
  git(directory, 'tag', 'good', ids[0] ?? '');
  return { directory, ids };
}

const place: Pick<RangeRequest, 'system' | 'overlay'> = {
  system: 'freebsd',
  overlay: { path: 'dut', beside: '' },
};

function rangeIn(directory: string, request: Partial<RangeRequest> = {}): Promise<CommitRange> {
  const ends = { good: 'good', bad: 'main', skips: [], fixUps: [] };
  return readRange({ ...ends, ...place, builder, ...request }, openRepository(directory), () => undefined);
}

const rangeOf = async (...commits: Planned[]): Promise<CommitRange> => rangeIn(historyOf(...commits).directory);

const placesOf = ({ revisions }: CommitRange) => revisions.map(({ place, alike }) => [place, alike]);
const variantsOf = ({ revisions }: CommitRange) => revisions.map(({ forms }) => forms.map(({ variant }) => variant));

const short = (id: string | undefined): string => id?.slice(0, 12) ?? '';

describe('a range', () => {
  test('extends from the good commit to the bad one, each a step with its name', async () => {
    const { directory, ids } = historyOf(first, kernel('a'), kernel('b'));
    const form = (variant: string, index: number) => ({
      variant,
      commit: ids[index],
      fixUps: [],
    });
    const about = { author: 'Alice', alike: 0, isSkipped: false };
    expect(await rangeIn(directory)).toEqual({
      commits: 2,
      badCommit: { commit: ids[2], subject: 'Change 2', author: 'Alice' },
      revisions: [
        { place: 0, commit: ids[0], subject: 'Change 0', ...about, forms: [form('base', 0)] },
        {
          place: 1,
          commit: ids[1],
          subject: 'Change 1',
          ...about,
          forms: [form(short(ids[1]), 1)],
        },
        { place: 2, commit: ids[2], subject: 'Change 2', ...about, forms: [form('patched', 2)] },
      ],
      notes: [],
    });
  });

  test('of 20,000 commits is read, and of more is refused', async () => {
    const commits = Array.from({ length: 20_001 }, (_, index) => (index % 1000 === 0 ? kernel(`${index}`) : {}));
    const { directory } = historyOf(first, ...commits);
    const range = await rangeIn(directory, { bad: 'main~1' });
    expect(range.commits).toBe(20_000);
    expect(range.revisions).toHaveLength(21);
    await expect(rangeIn(directory)).rejects.toThrow(UsageError);
  });
});

describe('commits that are the same kernel', () => {
  test('are those that change nothing at all, too', async () => {
    const { directory } = historyOf(first, {}, kernel('a'));
    const range = await rangeIn(directory, { builder: undefined });
    expect(placesOf(range)).toEqual([
      [0, 1],
      [2, 0],
    ]);
  });

  test('a program counts from the commit on that has it take part in the build', async () => {
    const program = (text: string): Planned => ({ files: { 'usr.bin/mkfoo/mkfoo.c': text } });
    const range = await rangeOf(
      first,
      program('1\n'),
      { files: { 'Makefile.inc1': '_tools=usr.bin/mkfoo\n' } },
      program('2\n'),
    );
    expect(placesOf(range)).toEqual([
      [0, 1],
      [2, 0],
      [3, 0],
    ]);
  });

  test('each commit belongs to one revision, and begins one where it touches a kernel', async () => {
    const step = fc.record({
      files: fc.subarray(['sys/net/if.c', mlx5, 'share/man/man4/em.4', 'usr.bin/tar/tar.c']),
      side: fc.subarray(['sys/net/side.c', 'share/man/man4/side.4']),
      isMerge: fc.boolean(),
    });
    const steps = fc.array(step, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const commits: Planned[] = [first];
        const line = [0];
        const isOther = [true];
        for (const [index, { files, side, isMerge }] of steps.entries()) {
          const own = Object.fromEntries(files.map((path) => [path, `${index}\n`]));
          const others = Object.fromEntries(side.map((path) => [path, `${index}\n`]));
          const tip = line.at(-1) ?? 0;
          if (isMerge) commits.push({ parents: [tip], files: others });
          const parents = isMerge ? [tip, commits.length - 1] : [tip];
          const touched = isMerge ? { ...own, ...others } : own;
          line.push(commits.push({ parents, files: touched }) - 1);
          isOther.push(Object.keys(touched).some((path) => path.startsWith('sys/')));
        }
        const { directory, ids } = historyOf(...commits);
        const begun = isOther.flatMap((is, index) => (is ? [index] : []));
        if (begun.length === 1) {
          await expect(rangeIn(directory)).rejects.toThrow(/^0 commits/);
          return;
        }
        const { commits: total, revisions } = await rangeIn(directory);
        expect(total).toBe(line.length - 1);
        expect(revisions.map(({ place }) => place)).toEqual(begun);
        expect(revisions.map(({ commit }) => commit)).toEqual(begun.map((index) => ids[line[index] ?? 0]));
        const told = revisions.flatMap(({ place, alike }) =>
          Array.from({ length: alike + 1 }, (_, index) => place + index),
        );
        expect(told).toEqual(line.map((_, index) => index));
      }),
      { numRuns: times(8) },
    );
  });
});

describe('on Linux', () => {
  const linux = { system: 'linux', builder: undefined } as const;

  test('commits are equal if they change no file of the overlay', async () => {
    const overlay = { files: { 'nftables.conf': 'etc/nft.conf', 'sysctl.conf': 's' }, beside: '' };
    const { directory } = historyOf(
      { files: { 'etc/nft.conf': '# one\n', s: '' } },
      { files: { 'etc/other.conf': '# other\n' } },
      { files: { s: '# two\n' } },
      { files: { 'etc/nft.conf': '# two\n' } },
    );
    const range = await rangeIn(directory, { system: 'linux', overlay });
    expect(placesOf(range)).toEqual([
      [0, 1],
      [2, 0],
      [3, 0],
    ]);
  });

  test('no commits are equal if the overlay has a submodule, which is not read', async () => {
    const { directory } = historyOf(
      first,
      installed('1'),
      kernel('a'),
      { submodules: { 'dut/sub': 'c'.repeat(40) } },
      kernel('b'),
      installed('2'),
    );
    expect(placesOf(await rangeIn(directory, linux))).toEqual([
      [0, 0],
      [1, 1],
      [3, 0],
      [4, 0],
      [5, 0],
    ]);
  });
});

/** The driver breaks at 2 and is fixed at 5, as seed 000's was between c255751 and c255761. */
const broken: Planned[] = [
  first,
  kernel('a'),
  { ...driven({ uar: 'broken' }), message: 'Hand out UARs by core' },
  kernel('b'),
  driven({ uar: 'broken', tx: 'other' }),
  { ...driven({ uar: 'fixed', tx: 'other' }), message: 'Map the region once' },
  kernel('c'),
];

/** Place, and how many fix-ups each form has. */
const fixUpsOf = ({ revisions }: CommitRange) =>
  revisions.map(({ place, forms }) => [place, ...forms.map(({ fixUps }) => fixUps.length)]);

describe('a fix-up', () => {
  test('is a second form of those that lack it, and none of those that have it', async () => {
    const { directory, ids } = historyOf(...broken);
    const range = await rangeIn(directory, { good: ids[1] ?? '', fixUps: [ids[5] ?? ''] });
    expect(range.notes).toEqual([
      `--fix-up ${ids[5]} does not apply to ${short(ids[1])}, because of conflicts in ${mlx5}: those commits are measured without it.`,
    ]);
    const withIt = (index: number) => `${short(ids[index])}-with-${short(ids[5])}`;
    expect(variantsOf(range)).toEqual([
      ['base'],
      [short(ids[2]), withIt(2)],
      [short(ids[3]), withIt(3)],
      // The last one before the fix is the fix with it.
      [short(ids[4]), withIt(4)],
      [withIt(4)],
      ['patched'],
    ]);
  });

  test('is put on top as a cherry-pick does it, always as the same commit', async () => {
    const { directory, ids } = historyOf(...broken);
    const overrides = () => rangeIn(directory, { fixUps: [`${ids[5]}:${ids[2]}`] });
    const form = (await overrides()).revisions[2]?.forms[0];
    expect((await overrides()).revisions[2]?.forms[0]).toEqual(form);
    expect(git(directory, 'rev-parse', `${form?.commit}^`)).toBe(ids[2]);
    git(directory, 'checkout', '--quiet', ids[2] ?? '');
    git(directory, 'cherry-pick', ids[5] ?? '');
    expect(git(directory, 'rev-parse', `${form?.commit}^{tree}`)).toBe(git(directory, 'rev-parse', 'HEAD^{tree}'));
  });

  test('at an end is built by the name of that end', async () => {
    const { directory, ids } = historyOf(...broken);
    const ends = { good: ids[2] ?? '', bad: ids[4] ?? '' };
    const range = await rangeIn(directory, { ...ends, fixUps: [`${ids[5]}:${ids[1]}`] });
    expect(variantsOf(range)).toEqual([['base'], [`${short(ids[3])}-with-${short(ids[5])}`], ['patched']]);
    expect(fixUpsOf(range)).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
  });

  /** The fix is on another branch, and came to the line by a commit of its own, maybe by a merge. */
  const pickedFrom = (fixed: Planned[]) =>
    historyOf(...broken.slice(0, 4), { ...driven({ uar: 'fixed' }), parents: [2] }, ...fixed);

  test('is not needed if a merge brought the fix', async () => {
    const { directory, ids } = pickedFrom([
      { ...driven({ uar: 'fixed' }), parents: [2] },
      { files: { 'sys/net/side.c': 'side\n' } },
      { ...driven({ uar: 'fixed', tx: 'other' }), parents: [3, 6] },
      driven({ uar: 'fixed once more', tx: 'other' }),
    ]);
    const range = await rangeIn(directory, { fixUps: [`${ids[4]}:${ids[2]}`] });
    expect(fixUpsOf(range).slice(2)).toEqual([
      [2, 1],
      [3, 1],
      [4, 0],
      [5, 0],
    ]);
    expect(range.notes).toEqual([]);
  });

  test('that does not apply to some is omitted there, with a note', async () => {
    const { directory, ids } = historyOf(
      ...broken.slice(0, 3),
      driven({ uar: 'broken otherwise' }),
      kernel('b'),
      driven({ uar: 'broken' }),
      driven({ uar: 'fixed' }),
      kernel('c'),
    );
    const range = await rangeIn(directory, { fixUps: [`${ids[6]}:${ids[2]}`] });
    expect(fixUpsOf(range)).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 0],
      [4, 0],
      [5, 1],
      [7, 0],
    ]);
    expect(range.notes).toEqual([
      `--fix-up ${ids[6]} does not apply from ${short(ids[3])} to ${short(ids[4])}, because of conflicts in ${mlx5}: those commits are measured without it.`,
    ]);
  });

  const two = () =>
    historyOf(
      first,
      driven({ uar: 'broken', rx: 'broken' }),
      kernel('a'),
      driven({ uar: 'fixed', rx: 'broken' }),
      kernel('b'),
      driven({ uar: 'fixed', rx: 'fixed' }),
      kernel('c'),
    );

  test('of several is tried alone, and then all are tried together', async () => {
    const { directory, ids } = two();
    const [uar = '', rx = ''] = [ids[3], ids[5]];
    const range = await rangeIn(directory, { good: ids[1] ?? '', fixUps: [uar, rx] });
    const forms = range.revisions.map((revision) => revision.forms.map(({ fixUps }) => fixUps));
    expect(forms).toEqual([
      [[], [uar], [rx], [uar, rx]],
      [[], [uar], [rx], [uar, rx]],
      [[], [rx]],
      [[], [rx]],
      [[]],
      [[]],
    ]);
    // With a fix on top, the last commit before that fix equals it, with or without the other fix.
    expect(new Set(variantsOf(range).flat()).size).toBe(11);
    for (const name of variantsOf(range).flat()) expect(name).toMatch(/^[\da-z-]{4,60}$/);
  });

  test('is put on top of what is installed on Linux as well', async () => {
    const { directory, ids } = historyOf(installed('one'), installed('two'), {
      files: { 'dut/sysctl.conf': 'net.core.bpf_jit_enable=1\n' },
      message: 'Compile filters',
    });
    const linux = { system: 'linux', builder: undefined } as const;
    const range = await rangeIn(directory, { ...linux, fixUps: [ids[2] ?? ''] });
    expect(variantsOf(range)).toEqual([
      ['base', `${short(ids[0])}-with-${short(ids[2])}`],
      [short(ids[1]), 'patched'],
      ['patched'],
    ]);
    const [revision] = range.revisions;
    const form = revision?.forms[1];
    if (revision === undefined || form === undefined) throw new Error('no second form');
    const about = { ...place, ...linux };
    const { files } = await variantOf(revision, form, about, openRepository(directory));
    expect(files.map(({ path, content }) => [path, content])).toEqual([
      ['nftables.conf', '# one\n'],
      ['sysctl.conf', 'net.core.bpf_jit_enable=1\n'],
    ]);
  });

  test('is sent to the builder as its change to a shared commit, present or not', async () => {
    const { directory, ids } = historyOf(...broken);
    const { revisions } = await rangeIn(directory, { fixUps: [`${ids[5]}:${ids[2]}`] });
    const [, before, revision] = revisions;
    const form = revision?.forms[0];
    if (before?.forms[0] === undefined || revision === undefined || form === undefined) {
      throw new Error('no forms');
    }
    const repository = openRepository(directory);
    expect(await variantOf(before, before.forms[0], place, repository)).toEqual({
      variant: short(ids[1]),
      commit: ids[1],
      files: [],
      kernel: { kind: 'tree', baseCommit: ids[1] },
    });
    git(directory, 'prune', '--expire=now');
    expect(() => git(directory, 'cat-file', '-e', form.commit)).toThrow();
    const { kernel } = await variantOf(revision, form, place, repository);
    if (kernel?.kind !== 'tree') throw new Error('no tree');
    expect(kernel.baseCommit).toBe(ids[2]);
    const diff = Buffer.from(kernel.diff ?? '', 'base64').toString();
    expect(diff.split('\n').filter((line) => /^[-+]\t/.test(line))).toEqual(['-\tbroken();', '+\tfixed();']);
  });

  test('is in each form as a merge of each single function decides', async () => {
    const names = ['attach', 'rx', 'tx', 'uar'] as const;
    const values = fc.constantFrom('plain', 'one', 'two');
    const steps = fc.array(fc.tuple(fc.constantFrom(...names, 'manual' as const), values), {
      minLength: 2,
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), fc.option(fc.nat()), async (steps, nth, from) => {
        const states: Record<string, string>[] = [{}];
        const planned: Planned[] = [first];
        const changes: ({ name: string; old: string; now: string } | undefined)[] = [undefined];
        for (const [index, [name, now]] of steps.entries()) {
          const before = states.at(-1) ?? {};
          const old = before[name] ?? 'plain';
          const isKernel = name !== 'manual' && old !== now;
          states.push(isKernel ? { ...before, [name]: now } : before);
          changes.push(isKernel ? { name, old, now } : undefined);
          planned.push(isKernel ? driven(states.at(-1) ?? {}) : manual(`${index}`));
        }
        const places = changes.flatMap((change, place) => (change ? [place] : []));
        const fixPlace = places[nth % Math.max(places.length, 1)];
        const fix = fixPlace === undefined ? undefined : changes[fixPlace];
        fc.pre(fixPlace !== undefined && fix !== undefined);
        if (fixPlace === undefined || fix === undefined) return;
        const firstPlace = from === null ? undefined : from % fixPlace;
        const { directory, ids } = historyOf(...planned);
        const typed = firstPlace === undefined ? '' : `:${ids[firstPlace]}`;
        const asked = rangeIn(directory, { fixUps: [`${ids[fixPlace]}${typed}`] });
        const range = await asked.catch((error: Error) => error);
        if (range instanceof Error) {
          expect(range.message).toMatch(/have the same content|applies to no commit/);
          return;
        }
        const isChange = (place: number, old: string, now: string) => {
          const change = changes[place];
          return change?.name === fix.name && change.old === old && change.now === now;
        };
        const sameFix = (place: number) => isChange(place, fix.old, fix.now);
        const takesBack = (place: number) => isChange(place, fix.now, fix.old);
        const isLacking = (place: number) => {
          const upTo = changes.map((_, index) => index).slice(0, place + 1);
          const event = upTo.findLast((index) => sameFix(index) || takesBack(index));
          return event === undefined || takesBack(event);
        };
        const contents = new Map<string, string>();
        for (const { place, alike, forms } of range.revisions) {
          const state = states[place] ?? {};
          const isWanted = isLacking(place) && (state[fix.name] ?? 'plain') === fix.old;
          const last = states.findIndex((_, index) => index > place && changes[index]);
          const groupEnd = (last === -1 ? states.length : last) - 1;
          const isNeeded = firstPlace === undefined || groupEnd >= firstPlace;
          const fixed = isWanted && isNeeded;
          const expected = firstPlace === undefined ? (fixed ? [0, 1] : [0]) : fixed ? [1] : [0];
          expect(forms.map(({ fixUps }) => fixUps.length)).toEqual(expected);
          expect(alike).toBeGreaterThanOrEqual(groupEnd - place);
        }
        const forms = range.revisions.flatMap(({ forms }) => forms);
        const blobs = git(directory, 'rev-parse', ...forms.map(({ commit }) => `${commit}:${mlx5}`)).split('\n');
        for (const [index, { variant }] of forms.entries()) {
          const content = blobs[index] ?? '';
          expect(contents.get(variant) ?? content).toBe(content);
          contents.set(variant, content);
        }
        expect(range.revisions.reduce((sum, { alike }) => sum + alike + 1, 0)).toBe(states.length);
        const tried = range.revisions.map(({ forms }) => contents.get(forms[0]?.variant ?? ''));
        for (const [index, content] of tried.entries()) {
          if (index > 0) expect(content).not.toBe(tried[index - 1]);
        }
      }),
      { numRuns: times(4) },
    );
  });
});

describe('a skip', () => {
  const skipped = async (directory: string, ...skips: string[]) =>
    (await rangeIn(directory, { skips })).revisions.flatMap(({ place, isSkipped }) => (isSkipped ? [place] : []));

  test.each<[string, string[], number[]]>([
    ['is a commit', ['main~4', 'main~1'], [1, 4]],
    ['covers the commits after one up to another', ['main~4..main~1'], [2, 4]],
    ['by a commit that is grouped with another skips that one', ['main~2'], [2]],
    // The commit before the range may be measured, because the two are the same kernel.
    ['leaves a commit that is grouped with one before it', ['main~3..main~1'], [4]],
  ])('%s', async (_, skips, places) => {
    const { directory } = historyOf(first, kernel('a'), kernel('b'), manual('1'), kernel('c'), kernel('d'));
    expect(await skipped(directory, ...skips)).toEqual(places);
  });

  test('between merged commits covers the line’s commits that contain them', async () => {
    const { directory, ids } = historyOf(
      first,
      kernel('a'),
      { files: { 'sys/net/side.c': '1\n' } },
      { files: { 'sys/net/side.c': '1\n' }, parents: [1, 2] },
      kernel('b'),
      kernel('c'),
    );
    expect(await skipped(directory, `${ids[2]}..main~1`)).toEqual([2, 3]);
  });
});

test('bad input is refused, each in its own words', async () => {
  const { directory, ids } = historyOf(
    { files: {} },
    ...broken.map((commit, index) => ({ ...commit, parents: [index] })),
    { ...manual('1'), parents: [3] },
    { ...driven({ uar: 'older' }), parents: [1] },
    { ...driven({ uar: 'new' }), parents: [9] },
    { ...kernel('orphan'), parents: [] },
    { ...kernel('c'), parents: [2] },
    { files: { 'sys/net/side.c': '1\n' }, parents: [6] },
    { files: { 'sys/net/side.c': '1\n' }, parents: [7, 13] },
    { files: { 'sys/net/if.c': undefined }, parents: [2] },
  );
  const names = { main: 7, page: 8, conflict: 10, root: 11, other: 12, side: 13, merged: 14, undone: 15 };
  for (const [name, index] of Object.entries(names)) {
    git(directory, 'update-ref', `refs/heads/${name}`, ids[index] ?? '');
  }
  git(directory, 'tag', '--force', 'good', ids[2] ?? '');
  const clone = join(temporaryFolder(), 'clone');
  git(directory, 'clone', '--quiet', '--depth=2', `file://${directory}`, clone);
  const fixUps = (...texts: string[]) => texts.map((text) => ({ fixUps: [text] }));
  const skips = (...texts: string[]) => texts.map((text) => ({ skips: [text] }));
  const requests: Partial<RangeRequest>[] = [
    ...[{ good: 'gud' }, { bad: 'mian' }, { bad: '-x' }, { good: 'main' }, { good: 'main', bad: 'good' }],
    ...[{ good: 'root' }, { good: 'other' }, { good: 'side', bad: 'merged' }],
    ...[
      { good: 'page~1', bad: 'page' },
      { good: 'good~1', bad: 'undone' },
    ],
    { system: 'linux', builder: undefined },
    ...skips('main~5', 'main', 'good~1..main~1', 'main~2..main', 'good~1', 'side', 'main~1..main~2', 'mian'),
    ...skips('main~2...main'),
    ...fixUps('mian', '', 'a:b:c', 'main~1:', 'main~5', 'page', 'root', 'main~1:mian', 'main~1:page'),
    ...fixUps('main~1:main~1', 'main~1:main', 'conflict:main~4'),
    { fixUps: [ids[6] ?? '', 'main~1'] },
  ];
  const refusal = async (directory: string, request: Partial<RangeRequest>) => {
    const error = await rangeIn(directory, request).catch((error: unknown) => error);
    if (!(error instanceof UsageError || error instanceof RepositoryError)) throw error;
    return `${JSON.stringify(request)}\n  ${error.message.replaceAll(directory, 'HERE')}\n`;
  };
  const texts: string[] = [];
  for (const request of requests) texts.push(await refusal(directory, request));
  texts.push(await refusal(clone, { good: 'main~1' }), await refusal(temporaryFolder(), {}));
  await expect(texts.join('')).toMatchFileSnapshot('golden/range-refusals.txt');
});
