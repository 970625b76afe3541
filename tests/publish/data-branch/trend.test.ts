// The nightly runs of the default branch in the data branch: their files, A/A counts, and the README.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNightlyRuns } from '../../../src/analysis/trend/nightly-runs.ts';
import type { CellVerdict, Result } from '../../../src/model/result.ts';
import { families } from '../../../src/model/scenario.ts';
import type { TrendChange, TrendIndex } from '../../../src/model/trend.ts';
import { editedFiles } from '../../../src/publish/data-branch/layout.ts';
import { nightlyRunsPath } from '../../../src/publish/data-branch/paths.ts';
import { parseTrendIndex, trendFiles } from '../../../src/publish/data-branch/trend-files.ts';
import { mellanoxFixed } from '../../fakes/bisect-result.ts';
import { aCell, forwarding, pairedRuns, pullRequest } from '../../fakes/result.ts';
import { publication, publish, rules, type Shelf, storedIn } from '../../fakes/shelf.ts';
import { readXml } from '../../fakes/xml.ts';
import { anyCharacter } from '../../random.ts';

const commit = 'a'.repeat(40);
const oneCommit = { ...pullRequest, baseCommit: commit, headCommit: commit };
const onMain = { isDefaultBranch: true, isTrusted: true };
const onDay = (date: number, month = 11, year = 2026) => new Date(Date.UTC(year, month - 1, date)).toISOString();

const measured = (
  startedAt: string,
  changes: Partial<Result> = {},
  kind: Exclude<CellVerdict['kind'], 'invalid'> = 'no-regression',
): Partial<Result> => {
  const cells = families.map((family) => ({
    ...aCell({ kind }, undefined, { scenario: 'forwarding', family }),
    runs: pairedRuns([800_000, 801_000], [800_500, 801_500]),
  }));
  return { startedAt, outcome: { kind: 'judged', verdict: kind, cells }, ...changes };
};

const nightlyRun = (startedAt: string, changes: Partial<Result> = {}) =>
  publication(measured(startedAt, { patch: oneCommit, ...changes }), onMain);

const alarm = (startedAt: string) => publication(measured(startedAt, { patch: oneCommit }, 'regression'), onMain);

const indexIn = (shelf: Shelf): TrendIndex => {
  const index = parseTrendIndex(shelf.get('trend/index.json') ?? '');
  if (index === undefined) throw new Error('There is no trend.');
  return index;
};

const path = (year: number, cell = forwarding) => nightlyRunsPath({ testbed: 'shelf-3', cell }, year);
const nightlyRunsIn = (shelf: Shelf, year = 2026) => parseNightlyRuns(shelf.get(path(year)) ?? '');
const inTrend = (paths: readonly string[]) => paths.filter((one) => one.startsWith('trend/'));

describe('a nightly run of the default branch', () => {
  test('is a line for each cell, in a file of its year', () => {
    const shelf: Shelf = new Map();
    const [published] = publish(shelf, [nightlyRun(onDay(20))]);
    expect([...shelf.keys()].filter((one) => one.startsWith('trend/'))).toEqual([
      'trend/index.json',
      'trend/shelf-3/forwarding-inet4/2026.jsonl',
      'trend/shelf-3/forwarding-inet6/2026.jsonl',
      'trend/shelf-3/sparklines.svg',
    ]);
    expect(nightlyRunsIn(shelf)).toMatchObject([
      { at: onDay(20), commit, occasion: 'nightly', pps: [800_750], instructionsPerPacket: [] },
    ]);
    expect(published?.result).toBe(`${nightlyRunsIn(shelf)[0]?.result}/result.json`);
    expect(indexIn(shelf)).toMatchObject({
      cells: families.map((family) => ({ cell: { family }, testbed: 'shelf-3', years: [2026] })),
      fingerprints: [{ id: nightlyRunsIn(shelf)[0]?.fingerprint, testbed: 'shelf-3' }],
    });
  });

  test('touches of the trend this year’s lines of its cells alone, the index and the picture', () => {
    const shelf: Shelf = new Map();
    const elsewhere = { testbed: { name: 'shelf-4', fingerprint: {}, warnings: [] } };
    publish(shelf, [nightlyRun(onDay(1, 12, 2025)), nightlyRun(onDay(2), elsewhere), nightlyRun(onDay(3))]);
    const written: string[] = [];
    publish(shelf, [nightlyRun(onDay(4))], {}, written);
    expect(inTrend(written).toSorted()).toEqual([
      'trend/index.json',
      'trend/shelf-3/forwarding-inet4/2026.jsonl',
      'trend/shelf-3/forwarding-inet6/2026.jsonl',
      'trend/shelf-3/sparklines.svg',
    ]);
    expect(nightlyRunsIn(shelf)).toHaveLength(2);
  });

  test('is absent if a patch was measured, or the result is a fork’s', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [
      publication(measured(onDay(20)), { isTrusted: true }),
      publication(measured(onDay(20), { patch: oneCommit }), { isDefaultBranch: true }),
      { ...publication(), ...onMain, result: mellanoxFixed },
    ]);
    expect(indexIn(shelf)).toMatchObject({ cells: [], aaRuns: [], fingerprints: [] });
  });

  test('is ordered by its commit among others, whose order a publication may give', () => {
    const shelf: Shelf = new Map();
    const of = (digit: string, made: string, at: string) => ({
      ...publication(measured(at, { patch: { ...pullRequest, headCommit: digit.repeat(40) } }), onMain),
      commits: { [digit.repeat(40)]: made },
    });
    publish(shelf, [of('c', onDay(3), onDay(10)), of('d', onDay(2), onDay(11))]);
    expect(nightlyRunsIn(shelf)).toMatchObject([
      { commit: 'd'.repeat(40), committedAt: onDay(2), occasion: 'push' },
      { commit: 'c'.repeat(40), committedAt: onDay(3), occasion: 'push' },
    ]);
  });

  test('is never dropped, also where its result is', () => {
    const shelf: Shelf = new Map();
    const options = { keep: { ...rules.keep, results: 1 } };
    for (const year of [2019, 2023, 2024, 2025, 2026]) {
      publish(shelf, [nightlyRun(onDay(1, 1, year)), nightlyRun(onDay(2, 1, year))], options);
    }
    publish(shelf, [nightlyRun(onDay(3, 1, 2019))], options);
    expect(indexIn(shelf).cells[0]?.years).toEqual([2019, 2023, 2024, 2025, 2026]);
    expect([2019, 2023, 2026].map((year) => nightlyRunsIn(shelf, year).length)).toEqual([3, 2, 2]);
    expect([...shelf.keys()].filter((one) => one.endsWith('/result.json'))).toHaveLength(1);
  });

  test('brings the releases, and the page of the commits between two', () => {
    const shelf: Shelf = new Map();
    const releases = ['14.0', '15.0'].map((name, index) => ({ name, commit, at: onDay(index + 1) }));
    const compareUrl = 'https://example.org/compare/{from}...{to}';
    publish(shelf, [{ ...nightlyRun(onDay(3)), releases }]);
    publish(shelf, [{ ...nightlyRun(onDay(4)), releases: [], compareUrl }]);
    expect(indexIn(shelf)).toMatchObject({ releases: [{ name: '14.0' }, { name: '15.0' }] });
    expect(indexIn(shelf).compareUrl).toBe(compareUrl);
  });

  test('has a path of our own, for any name of its testbed, and is shown in code', () => {
    const named = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('../../x', '![x](javascript:alert(1)) @everyone', '<script>', '`'),
    );
    fc.assert(
      fc.property(named, (name) => {
        const shelf: Shelf = new Map();
        publish(shelf, [nightlyRun(onDay(1), { testbed: { name, fingerprint: {}, warnings: [] } })]);
        for (const one of shelf.keys()) {
          expect(one).toMatch(/^(?:[\w-][\w.-]*\/)*(?:\.nojekyll|[\w-][\w.-]*)$/);
          expect(one.length).toBeLessThan(200);
          if (one.endsWith('.svg')) readXml(shelf.get(one) ?? '');
          if (one.endsWith('same.svg')) expect(shelf.get(one)).toContain('A/A: 0 of 1 gates');
        }
        const outside = (shelf.get('README.md') ?? '').replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
        expect(outside).not.toMatch(/javascript:|@everyone|<script>|\.\.\/\.\./);
      }),
    );
  });
});

describe('the base against itself', () => {
  const badgeIn = (shelf: Shelf) => {
    const { label, message, color } = JSON.parse(shelf.get('badges/shelf-3/same.json') ?? '{}');
    return `${label} ${message} ${color}`;
  };
  test('has a badge, which is grey until the promise is known to be kept', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [nightlyRun(onDay(1))]);
    const index = indexIn(shelf);
    const aaRuns = index.aaRuns.map((count) => ({ ...count, gates: 407 }));
    shelf.set('trend/index.json', JSON.stringify({ ...index, aaRuns }));
    publish(shelf, [nightlyRun(onDay(2))]);
    expect(badgeIn(shelf)).toBe('A/A 0 of 408 gates, ≤ 1.1 % lightgrey');
    expect(shelf.get('badges/shelf-3/same.svg')).toContain('0 of 408 gates, ≤ 1.1 %');
    publish(shelf, [nightlyRun(onDay(3))]);
    expect(badgeIn(shelf)).toBe('A/A 0 of 409 gates, ≤ 1.0 % brightgreen');
  });

  test('has a red badge where the promise is broken', () => {
    const shelf: Shelf = new Map();
    publish(
      shelf,
      [1, 2, 3, 4].map((day) => alarm(onDay(day))),
    );
    expect(badgeIn(shelf)).toBe('A/A 4 of 4 gates, ≤ 100.0 % red');
  });

  test('stays counted by testbed', () => {
    const shelf: Shelf = new Map();
    for (const name of ['shelf-3', 'shelf-4']) {
      const testbed = { name, fingerprint: {}, warnings: [] };
      publish(
        shelf,
        [1, 2, 3].map((day) => nightlyRun(onDay(day), { testbed })),
      );
    }
    expect(indexIn(shelf).aaRuns.map(({ gates }) => gates)).toEqual([3, 3]);
  });
});

describe('open changes', () => {
  const change = (id: string, changes: Partial<TrendChange> = {}): TrendChange => ({
    id: id.repeat(12),
    testbed: 'shelf-3',
    metric: 'pps',
    state: 'code',
    good: 'c'.repeat(40),
    bad: 'd'.repeat(40),
    foundAt: onDay(2),
    changedAt: onDay(2),
    cells: families.map((family, index) => {
      const changeRatio = [-0.0125, -0.05][index] ?? 0;
      const cell = { ...forwarding, family };
      return { cell, before: 8e5, after: 8e5 * (1 + changeRatio), changeRatio, firstAt: onDay(2) };
    }),
    gates: [],
    alert: { told: [] },
    ...changes,
  });

  test('are in the README, by the cell that changed most, beside badges, alarms and results', async () => {
    const shelf: Shelf = new Map();
    publish(shelf, [nightlyRun(onDay(1)), nightlyRun(onDay(2)), alarm(onDay(3))]);
    const changes = [
      change('1', { alert: { issue: 12, told: [] } }),
      change('2', { state: 'accepted' }),
      change('3', { state: 'recovered' }),
    ];
    const edit = (index: TrendIndex): TrendIndex => ({ ...index, changes });
    const readme = editedFiles(storedIn(shelf), edit).write.get('README.md');
    await expect(readme).toMatchFileSnapshot('golden/readme.md');
  });

  test('are marked in the picture of the testbed where a level begins', () => {
    const shelf: Shelf = new Map();
    publish(shelf, [nightlyRun(onDay(1)), nightlyRun(onDay(2)), nightlyRun(onDay(3))]);
    const { trend } = storedIn(shelf);
    const index = { ...indexIn(shelf), changes: [change('1')] };
    const files = trendFiles(undefined, { nightlyRuns: new Map(), ...trend, index });
    expect(files.get('trend/shelf-3/sparklines.svg')?.match(/class="change"/g)).toHaveLength(2);
  });
});
