// Layout of the data branch: paths, bounds of what is kept, badges and the history.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Profile } from '../../../src/analysis/profile/profile.ts';
import { type HistoryEntry, historyOf } from '../../../src/gate/experiment/history.ts';
import { metricSchema, type Result } from '../../../src/model/result.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import {
  boundedHistory,
  type DataIndex,
  emptyIndex,
  folderOf,
  nextFiles,
  parseHistory,
  parseIndex,
} from '../../../src/publish/data-branch/layout.ts';
import { badgePath } from '../../../src/publish/data-branch/paths.ts';
import { mellanoxFixed } from '../../fakes/bisect-result.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aCell, aResult, forwarding, pairedRuns, pullRequest } from '../../fakes/result.ts';
import { keep, publication, publish, rules, type Shelf, storedIn } from '../../fakes/shelf.ts';
import { times } from '../../random.ts';

const { now } = rules;
const day = 86_400;

const indexOf = (shelf: Shelf): DataIndex => storedIn(shelf).index;
const resultFiles = (shelf: Shelf) => [...shelf.keys()].filter((path) => /^results\//.test(path));
const onDay = (date: number) => `2026-11-${String(date).padStart(2, '0')}T12:00:00.000Z`;
const onDefault = { isDefaultBranch: true, isTrusted: true };

describe('a result', () => {
  test('is in a folder of its year, under its time, testbed and patch, and is listed in the index', () => {
    const shelf: Shelf = new Map();
    const [published] = publish(shelf, [publication({}, { isTrusted: true })]);
    expect(published).toEqual({
      result: expect.stringMatching(/^results\/2026\/20261120T120000-shelf-3-7-[0-9a-f]{40}\/result\.json$/),
      report: expect.stringMatching(/\/report\.md$/),
      graphs: new Map(),
      badges: [],
    });
    expect(resultFiles(shelf)).toEqual([published?.result, published?.report]);
    expect(JSON.parse(shelf.get(published?.result ?? '') ?? '')).toEqual(aResult());
    const bytes = resultFiles(shelf).reduce((sum, path) => sum + Buffer.byteLength(shelf.get(path) ?? ''), 0);
    const what = { testbed: 'shelf-3', patch: '#7', outcome: 'regression', others: [], bytes };
    const path = published?.result?.replace('/result.json', '');
    expect(indexOf(shelf).results).toEqual([{ path, at: '2026-11-20T12:00:00.000Z', ...what }]);
  });

  test('shares its folder with no other testbed, patch or start of the same second', () => {
    const testbed = (name: string) => ({ name, fingerprint: {}, warnings: [] });
    const changes = [
      {},
      { startedAt: '2026-11-20T12:00:00.0001Z' },
      { patch: { ...pullRequest, number: 8 } },
      { testbed: testbed('a b') },
      { testbed: testbed('a-b') },
    ];
    expect(new Set(changes.map((one) => folderOf(aResult(one)))).size).toBe(5);
  });
});

describe('results are kept', () => {
  const sizeOf = (results: DataIndex['results']) => results.reduce((sum, { bytes }) => sum + bytes, 0);
  const ours = (changes: Partial<Result>) => publication(changes, { isTrusted: true });

  test('if they are trusted, beside any number of untrusted ones, which have a separate budget', () => {
    const shelf: Shelf = new Map();
    const three = [1, 2, 3].map((date) => ours({ startedAt: onDay(date) }));
    publish(shelf, three);
    const bytes = 1.5 * sizeOf(indexOf(shelf).results);
    const changes = { keep: { ...keep, bytes } };
    publish(shelf, [], changes);
    const before = indexOf(shelf).results;
    expect(before).toHaveLength(3);
    for (const date of [4, 5, 6, 7, 8, 9, 10]) {
      publish(shelf, [publication({ startedAt: onDay(date) })], changes);
    }
    const { results } = indexOf(shelf);
    expect(results.slice(0, 3)).toEqual(before);
    const others = results.slice(3);
    expect(others.at(-1)?.at).toBe(onDay(10));
    expect(sizeOf(others)).toBeLessThanOrEqual(bytes / 4);
  });

  test('if their files still exist', () => {
    const shelf: Shelf = new Map();
    const [first, second] = publish(shelf, [ours({ startedAt: onDay(1) }), ours({ startedAt: onDay(2) })]);
    shelf.delete(first?.report ?? '');
    publish(shelf, []);
    expect(resultFiles(shelf)).toEqual([second?.result, second?.report]);
    expect(indexOf(shelf).results).toHaveLength(1);
  });

  test('unless they were too old from the start, without files to link to', () => {
    const shelf: Shelf = new Map();
    const changes = { keep: { ...keep, results: 1 } };
    publish(shelf, [ours({ startedAt: onDay(2) })], changes);
    const [published] = publish(shelf, [ours({ startedAt: onDay(1) })], changes);
    expect(published).toEqual({ graphs: new Map(), badges: [] });
    expect(indexOf(shelf).results.map(({ at }) => at)).toEqual([onDay(2)]);
  });

  test('by the index if there are too many files to list', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [ours({ startedAt: onDay(1) })]);
    const { paths: _, ...unlisted } = storedIn(shelf);
    const next = nextFiles(unlisted, [ours({ startedAt: onDay(2) })], {
      ...rules,
      keep: { ...keep, results: 1 },
    });
    expect(next.remove).toEqual(resultFiles(shelf));
  });
});

const bounds = fc.record({
  results: fc.integer({ min: 1, max: 6 }),
  seconds: fc.integer({ min: 1, max: 400 }).map((days) => days * day),
  bytes: fc.integer({ min: 1, max: 20_000 }),
});

test('every publication keeps the bounds, and the index lists all that is there', () => {
  const one = fc.record({
    startedAt: fc.integer({ min: 0, max: 400 }).map((days) => before(days)),
    patch: fc.integer({ min: 1, max: 3 }).map((number) => ({ ...pullRequest, number })),
  });
  const batches = fc.array(fc.array(one, { maxLength: 5 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(batches, bounds, (each, keep) => {
      const shelf: Shelf = new Map([['CNAME', 'ppsgate.example.org']]);
      let newest = '';
      for (const batch of each) {
        publish(
          shelf,
          batch.map((changes) => publication(changes, onDefault)),
          { keep },
        );
        const { results } = indexOf(shelf);
        newest = [newest, ...batch.map(({ startedAt }) => startedAt)].toSorted().at(-1) ?? '';
        expect(results.at(-1)?.at ?? '').toBe(newest);
        expect(results.length).toBeLessThanOrEqual(keep.results);
        const [, ...older] = results.toReversed();
        const oldest = before(keep.seconds / day);
        expect(older.every(({ at }) => at >= oldest)).toBe(true);
        const bytes = results.reduce((sum, entry) => sum + entry.bytes, 0);
        if (older.length > 0) expect(bytes).toBeLessThanOrEqual(keep.bytes);
        const files = results.flatMap(({ path }) => [`${path}/result.json`, `${path}/report.md`]);
        expect(new Set(resultFiles(shelf))).toEqual(new Set(files));
        expect(shelf.has('CNAME')).toBe(true);
      }
    }),
    { numRuns: times(25) },
  );
});

describe('a time of the future', () => {
  const hour = 3600 * 1000;
  const endOfTime = new Date('9999-12-31T23:59:59.999Z');
  const date = fc.date({ min: new Date('0000-01-01T00:00:00.000Z'), max: endOfTime, noInvalidDate: true });
  const hostile = fc.oneof(
    date.map((date) => date.toISOString()),
    fc.constantFrom('0000-02-29T00:00:00.0Z', '9999-12-31T23:59:59.999999999Z', now.toISOString()),
  );
  const honest = { startedAt: new Date(now.getTime() + hour).toISOString() };
  const later = { now: new Date(now.getTime() + 2 * hour) };
  const patchOf = (index: number) => ({ ...pullRequest, number: index + 1 });
  const badgesIn = (shelf: Shelf) => indexOf(shelf).badges.map(({ at }) => at);

  test('in a result keeps no honest one away that begins afterwards, nor its badge', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 6 }), bounds, (times, keep) => {
        const shelf: Shelf = new Map();
        const publications = times.map((startedAt, index) =>
          publication({ startedAt, patch: patchOf(index) }, onDefault),
        );
        publish(shelf, publications, { keep });
        const [published] = publish(shelf, [publication(honest, onDefault)], { keep, ...later });
        expect(shelf.has(published?.result ?? '')).toBe(true);
        expect(indexOf(shelf).results.at(-1)?.at).toBe(honest.startedAt);
        expect(badgesIn(shelf)).toEqual([honest.startedAt]);
        for (const { path } of indexOf(shelf).results) expect(path).toMatch(/^results\/\d{4}\//);
      }),
    );
  });

  test('ages from when it was published, in a badge and among the results', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [publication({ startedAt: '9999-01-01T00:00:00.000Z' }, onDefault)]);
    publish(shelf, [], { now: new Date(now.getTime() + 31 * 24 * hour) });
    expect(shelf.get('badges/shelf-3/forwarding-inet4.json')).toContain('no data');
    expect(shelf.get('README.md')).not.toContain('9999-');
    expect(indexOf(shelf).results.map(({ at }) => at)).toEqual([now.toISOString()]);
  });

  test('adds nothing to the history, and no nightly run, even if it is there already', () => {
    const shelf: Shelf = new Map();
    const commit = 'a'.repeat(40);
    const patch = { ...pullRequest, baseCommit: commit, headCommit: commit };
    const nightlyRun = publication({ startedAt: '9999-01-01T00:00:00.000Z', patch, outcome: measured(8e5) }, onDefault);
    publish(shelf, [nightlyRun]);
    const none = { history: [], trend: { index: { cells: [], aaRuns: [] } } };
    expect(storedIn(shelf)).toMatchObject(none);
    const told = new Map([...shelf].filter(([path]) => !path.startsWith('trend/')));
    publish(told, [nightlyRun], { now: endOfTime });
    expect(storedIn(told)).toMatchObject({ history: [{}], trend: { index: { aaRuns: [{}] } } });
    told.delete('trend/index.json');
    publish(told, []);
    expect(storedIn(told)).toMatchObject(none);
  });
});

const before = (days: number) => new Date(now.getTime() - days * day * 1000).toISOString();

describe('a badge', () => {
  const path = 'badges/shelf-3/forwarding-inet4';
  const messageIn = (shelf: Shelf, badge = path) => JSON.parse(shelf.get(`${badge}.json`) ?? '{}').message;
  const judged = (verdict: 'no-regression' | 'regression', cell: Cell = forwarding) => ({
    outcome: { kind: 'judged', verdict, cells: [aCell({ kind: verdict }, undefined, cell)] },
  });

  test('shows the default branch', () => {
    const shelf: Shelf = new Map();
    const [published] = publish(shelf, [publication({}, onDefault)]);
    expect(messageIn(shelf)).toBe('regression · 721.5 kpps');
    expect(shelf.get(`${path}.svg`)).toContain('regression · 721.5 kpps');
    expect(published?.badges).toEqual([`${path}.svg`]);
  });

  test('shows the newest result, whichever is published last', () => {
    const shelf: Shelf = new Map();
    const fine = { ...judged('no-regression'), startedAt: onDay(20) } as const;
    publish(shelf, [publication(fine as Partial<Result>, onDefault)]);
    publish(shelf, [publication({ startedAt: onDay(19) }, onDefault)]);
    expect(messageIn(shelf)).toBe('no-regression · 721.5 kpps');
    publish(shelf, [publication({ startedAt: onDay(21) }, onDefault)]);
    expect(messageIn(shelf)).toBe('regression · 721.5 kpps');
  });

  test('turns to no data without a new result, while its last one stays known', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [publication({}, onDefault)]);
    publish(shelf, [], { now: new Date('2026-12-21T12:00:00Z') });
    expect(messageIn(shelf)).toBe('no data');
    expect(indexOf(shelf).badges).toMatchObject([{ verdict: 'regression', pps: 721_548.8 }]);
  });

  test.each<[Result['outcome'], string]>([
    [{ kind: 'boot-failed', message: 'no login within 600 s' }, 'boot-failed'],
    // The lab is to blame, or nothing installed has changed.
    [{ kind: 'out-of-disk', message: 'no space left on device' }, 'regression · 721.5 kpps'],
    [{ kind: 'unchanged' }, 'regression · 721.5 kpps'],
  ])('of every cell of the testbed after %j is %s', (outcome, message) => {
    const shelf: Shelf = new Map();
    publish(shelf, [publication({}, onDefault)]);
    publish(shelf, [publication({ outcome, startedAt: onDay(21) }, onDefault)]);
    expect(messageIn(shelf)).toBe(message);
  });

  test('of a testbed by a strange name never belongs to another testbed', () => {
    const path = (testbed: string) => badgePath({ testbed, cell: forwarding });
    expect(path('../../hp-t540')).toMatch(/^badges\/hp-t540-[0-9a-f]{40}\/forwarding-inet4$/);
    expect(path('…')).toMatch(/^badges\/[0-9a-f]{40}\/forwarding-inet4$/);
    expect(path('Hp_t.540')).toBe('badges/Hp_t.540/forwarding-inet4');
  });
});

const measured = (pps: number): Result['outcome'] => {
  const cells = [{ ...aCell({ kind: 'no-regression' }), runs: pairedRuns([pps], [pps]) }];
  return { kind: 'judged', verdict: 'no-regression', cells };
};

describe('the history', () => {
  const outcome = measured(8e5);

  test('gets no numbers of an untrusted one, and counts its gate at the time of publication', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [publication({ outcome }, { isTrusted: false })]);
    expect(storedIn(shelf).history).toEqual([
      expect.objectContaining({
        at: rules.now.toISOString(),
        pps: [],
        nsPerPacket: [],
        instructionsPerPacket: [],
        gate: expect.objectContaining({ head: 'b'.repeat(40), isRegression: false }),
      }),
    ]);
  });

  test('keeps the numbers of a trusted gate whose time an untrusted one claims', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [publication({ outcome }, { isTrusted: true })]);
    expect(storedIn(shelf).history).toMatchObject([{ testbed: 'shelf-3', pps: [8e5] }]);
    publish(shelf, [publication({ outcome: measured(7e5) })]);
    expect(storedIn(shelf).history.map(({ pps }) => pps)).toEqual([[8e5], []]);
  });

  test('counts fifty gates of a cell beyond those whose numbers it keeps', () => {
    const ratios = { marginRatio: 0.02, missRatio: 0.05 };
    const gate = { head: 'b'.repeat(40), metric: 'pps', ...ratios, isRegression: false } as const;
    const entries = Array.from({ length: 100 }, (_, index) =>
      aHistoryEntry({
        at: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(),
        pps: new Array(10).fill(8e5),
        gate: { ...gate, id: String(index).padStart(16, '0') },
      }),
    );
    const bounded = boundedHistory(entries);
    expect(bounded.map(({ at }) => at)).toEqual(entries.slice(-bounded.length).map(({ at }) => at));
    expect(bounded.filter(({ pps }) => pps.length === 0)).toHaveLength(50);
    expect(boundedHistory(bounded)).toEqual(bounded);
  });

  test('is read without the lines that cannot be', () => {
    const line = JSON.stringify(aHistoryEntry());
    expect(parseHistory(`${line}\n<<<<<<< HEAD\n{}\n${line.slice(9)}\n\n${line}`)).toEqual([
      aHistoryEntry(),
      aHistoryEntry(),
    ]);
  });

  test('keeps everything that a gate needs, and not much more', () => {
    const rates = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 });
    const entry = fc.record({
      at: fc.integer({ min: 1, max: 28 }).map(onDay),
      pps: rates,
      nsPerPacket: rates,
      instructionsPerPacket: rates,
      moved: fc.boolean(),
      testbed: fc.constantFrom('shelf', 'rack'),
    });
    const entries = fc.uniqueArray(entry, {
      maxLength: 56,
      selector: ({ at, testbed }) => `${at} ${testbed}`,
    });
    fc.assert(
      fc.property(entries, (changes) => {
        const entries = changes.map((one): HistoryEntry => aHistoryEntry(one));
        const bounded = boundedHistory(entries);
        expect(boundedHistory(bounded)).toEqual(bounded);
        for (const testbed of ['shelf', 'rack']) {
          const own = bounded.filter((one) => one.testbed === testbed);
          for (const metric of metricSchema.options) {
            const { cell, traffic } = aHistoryEntry();
            const query = { testbed, cell, traffic, metric };
            expect(historyOf(bounded, query)).toEqual(historyOf(entries, query));
          }
          const runs = Math.min(
            ...metricSchema.options.map((metric) => own.reduce((sum, one) => sum + one[metric].length, 0)),
          );
          expect(runs).toBeLessThan(60 + 9);
        }
      }),
    );
  });
});

test.each<[string, Partial<HistoryEntry>]>([
  ['kind of testbed', { kind: 'virtual-linux' }],
  ['kind of packets', { traffic: { ...aHistoryEntry().traffic, packets: { protocol: 'tcp' } } }],
])('the history is bounded for each %s on its own', (_, other) => {
  const own = aHistoryEntry({ ...other, at: '2026-01-01T00:00:00.000Z' });
  const many = Array.from({ length: 200 }, () => aHistoryEntry({ pps: new Array(10).fill(8e5) }));
  expect(boundedHistory([own, ...many])).toContainEqual(own);
});

test('of an experiment that wrote twice to the history the last line stays', () => {
  const twice = [aHistoryEntry({ pps: [1, 2] }), aHistoryEntry({ pps: [1, 2, 3] })];
  expect(boundedHistory(twice)).toEqual(twice.slice(1));
});

test('an index of another version, or one that names other files, is not read', () => {
  expect(parseIndex(JSON.stringify(emptyIndex))).toEqual(emptyIndex);
  expect(parseIndex('{"schemaVersion":2,"results":[],"badges":[]}')).toBeUndefined();
  expect(parseIndex('')).toBeUndefined();
  const entry = { at: onDay(1), testbed: 'x', patch: '#7', outcome: 'regression', bytes: 1 };
  for (const path of ['results/2026/../../README', '../results', 'results/2026']) {
    const index = { ...emptyIndex, results: [{ ...entry, path }] };
    expect(parseIndex(JSON.stringify(index))).toBeUndefined();
  }
});

describe('flamegraphs', () => {
  const profileOf = (name: string): Profile => ({
    format: 'perf',
    stacks: [{ frames: [{ name: 'napi' }, { name }], samples: 100 }],
  });
  const profiles = [
    {
      cell: forwarding,
      variants: [
        { variant: 'base', profile: profileOf('ip_forward'), idleFrames: [] },
        { variant: 'patched', profile: profileOf('nft_do_chain'), idleFrames: [] },
      ],
    },
  ];
  const anchors = ['base', 'patched', 'difference'].map((which) => `flamegraph-forwarding-inet4-${which}`);

  test('are beside their result, and are named by their anchors', () => {
    const shelf: Shelf = new Map();
    const [published] = publish(shelf, [publication({}, { profiles })]);
    expect([...(published?.graphs.keys() ?? [])]).toEqual(anchors);
    for (const path of published?.graphs.values() ?? []) {
      expect(shelf.get(path)).toMatch(/^<svg .*ip_forward|^<svg .*nft_do_chain/s);
    }
    expect(published).not.toHaveProperty('page');
  });

  test('that cannot be drawn are left out by themselves, with the reason', () => {
    const shelf: Shelf = new Map();
    const leftOut: string[] = [];
    const wide = Array.from({ length: 10_000 }, (_, index) => ({
      frames: Array.from({ length: 20 }, (_, depth) => ({ name: `${index}.${depth}` })),
      samples: 1,
    }));
    const hostile: Profile = { format: 'folded', stacks: wide };
    const [base, patched] = profiles[0]?.variants ?? [];
    if (base === undefined || patched === undefined) throw new Error('There are no profiles.');
    const bad = [{ cell: forwarding, variants: [base, { ...patched, profile: hostile }] }];
    const about = { profiles: bad, leftOut: (why: string) => leftOut.push(why) };
    const [published] = publish(shelf, [publication({}, about)], { isSite: true });
    expect([...(published?.graphs.keys() ?? [])]).toEqual(['flamegraph-forwarding-inet4-base']);
    expect(leftOut).toHaveLength(2);
  });
});

describe('a bisection', () => {
  const bisection = { ...publication(), result: mellanoxFixed };

  test('is kept with its report, its plot, and a line of the index, and changes no badge', () => {
    const shelf: Shelf = new Map();
    const [paths] = publish(shelf, [{ ...bisection, ...onDefault }]);
    const [entry] = indexOf(shelf).results;
    expect(entry).toMatchObject({ outcome: 'culprit', others: ['bisect.svg'] });
    expect(entry?.patch).toMatch(/^bisect [0-9a-f]{7}\.\.[0-9a-f]{7}$/);
    expect(paths).toMatchObject({ image: `${entry?.path}/bisect.svg`, badges: [] });
    expect(shelf.get(paths?.report ?? '')).toContain('](bisect.svg)');
    expect(shelf.get(paths?.image ?? '')).toMatch(/^<svg /);
    expect(indexOf(shelf)).toMatchObject({ badges: [] });
    expect(storedIn(shelf).history).toEqual([]);
  });
});
