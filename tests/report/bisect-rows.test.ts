import { describe, expect, test } from 'vitest';
import type { BisectResult } from '../../src/model/bisect-result.ts';
import { bisectPlot } from '../../src/report/bisect-plot.ts';
import { type BisectRow, bisectRows, rangeText } from '../../src/report/bisect-rows.ts';
import { rangeFacts } from '../../src/report/bisect-sections.ts';
import {
  aBisectResult,
  commitAt,
  culprit,
  failedForm,
  group,
  measuredForm,
  revisionsOf,
} from '../fakes/bisect-result.ts';
import { aRun } from '../fakes/result.ts';

/** The rows as they are read, in one line each. */
const linesOf = (result: BisectResult, most?: number): string[] =>
  bisectRows(result, most).map((row) => lineOf(row).replaceAll('\u00a0', ' '));

function lineOf(row: BisectRow): string {
  if (row.kind === 'folded') return row.text;
  const { place, isNamed, isFurther, fixUps, cells } = row;
  const first = isFurther ? '↳' : `${place}${isNamed ? '!' : ''}`;
  const all = [first, ...fixUps, cells.boots, cells.median, cells.againstGood, cells.outcome];
  return [...all, cells.p].join(' | ');
}

test('lists members of a group, with the attempts on each', () => {
  const result = aBisectResult({
    answer: group(1, 4),
    revisions: revisionsOf(5, {
      0: { forms: [measuredForm([1e6])] },
      1: { forms: [measuredForm([1e6])] },
      2: {
        forms: [failedForm(), failedForm({ kind: 'boot-failed', message: '' }, [commitAt(9)])],
        probability: 0.5,
      },
      3: { isAssumedFailed: true, probability: 0.25 },
      4: { isSkipped: true, probability: 0.25, alike: 2 },
      5: { forms: [measuredForm([9e5])] },
    }),
  });
  expect(linesOf(result).slice(2, 6)).toEqual([
    '2! | – | – | – | forwards nothing | 0.500',
    '↳ | a0090909eeee | – | – | – | does not boot | –',
    '3! | – | – | – | untried between failures | 0.250',
    '4–6! | – | – | – | skipped; the next 2 have the same kernel | 0.250',
  ]);
});

describe('an uninformative row', () => {
  const revisions = revisionsOf(40, {
    0: { forms: [measuredForm([1e6])] },
    3: { isSkipped: true, alike: 1 },
    4: { isAssumedFailed: true },
    20: { forms: [measuredForm([9e5])], probability: 0.99 },
    40: { forms: [measuredForm([9e5])] },
  });
  const result = aBisectResult({ revisions, answer: culprit(20, -0.1) });

  test('is counted by why it was not tried, with what is the same kernel', () => {
    const folded = linesOf(result)[1];
    expect(folded).toBe(
      '… 16 untried, 1 untried between failures, 1 skipped; 1 more with the same kernel as the one before',
    );
  });

  test('is shown if all rows are requested', () => {
    expect(linesOf(result, Number.POSITIVE_INFINITY)).toHaveLength(41);
  });

  test('is never a revision beside the change', () => {
    expect(linesOf(result)[2]).toBe('19 | – | – | – | untried | –');
  });
});

test('keeps the rows around the answer when not all fit', () => {
  const forms = [measuredForm([1e6])];
  const revisions = revisionsOf(99).map((one) => ({ ...one, forms }));
  const lines = linesOf(aBisectResult({ revisions, answer: culprit(50, -0.1) }), 4);
  expect(lines.map((line) => line.split(' |')[0])).toEqual([
    '0 good',
    '… 48 tried',
    '49',
    '50!',
    '… 48 tried',
    '99 bad',
  ]);
});

test('a large group shows its tried members', () => {
  const revisions = revisionsOf(99, {
    0: { forms: [measuredForm([1e6])] },
    50: { forms: [failedForm()] },
    99: { forms: [measuredForm([9e5])] },
  });
  const lines = linesOf(aBisectResult({ revisions, answer: group(0, 99) }));
  expect(lines).toHaveLength(5);
  expect(lines[2]).toContain('50! | – | – | – | forwards nothing');
});

test('commits that make the same kernel count as commits, and not as kernels', () => {
  const revisions = [...revisionsOf(2), ...revisionsOf(5, { 5: { alike: 1 } }).slice(5)];
  expect(rangeText(aBisectResult({ revisions }))).toBe(
    '6 commits after good, 3 with different kernels, 0 of these tried',
  );
});

test('files that share trials are compared with good within each trial, so that a drift is no change', () => {
  const runOf = (number: number, trial: number, variant: string, pps: number) => aRun({ number, trial, variant, pps });
  const variant = 'a0010101eeee';
  const runs = [
    runOf(1, 1, 'base', 800_000),
    runOf(2, 1, variant, 800_000),
    runOf(3, 2, 'base', 1_000_000),
    runOf(4, 3, 'base', 900_000),
    runOf(5, 3, variant, 900_000),
    runOf(6, 4, 'base', 1_000_000),
  ];
  const form = (name: string) => ({
    variant: name,
    fixUps: [],
    values: runs.filter((run) => run.variant === name).map(({ pps }) => pps),
  });
  const revisions = revisionsOf(2, {
    0: { forms: [form('base')] },
    1: { forms: [form(variant)], alike: 1 },
    2: { alike: 1 },
  });
  const result = aBisectResult({ isShared: true, runs, revisions });
  const rows = bisectRows(result, Number.POSITIVE_INFINITY);
  expect(rows[1]).toMatchObject({
    cells: { againstGood: '±0.00\u00a0%', outcome: 'measured; the next one has the same files' },
  });
  expect(rangeText(result)).toContain('3 commits after good, 2 with different files,');
  expect(rows[1]).not.toHaveProperty('cells.median');
});

test('The commit named as bad is shown, where its files are those of an earlier one', () => {
  const badCommit = { commit: commitAt(25), subject: 'Fix a comment', author: 'bob' };
  const { testbed } = aBisectResult();
  const revisions = revisionsOf(24, { 24: { forms: [measuredForm([9e5])], alike: 1 } });
  const result = aBisectResult({
    testbed: { ...testbed, kind: 'virtual-linux' },
    answer: culprit(24, -0.1),
    revisions,
    badCommit,
  });
  const id = commitAt(25).slice(0, 12);
  expect(linesOf(result).at(-1)).toBe(`24–25 bad! | 1 | 900.0 kpps | – | measured; bad (${id}) has the same files | –`);
  expect(rangeText(result)).toBe('25 commits after good, 24 with different files, 1 of these tried');
  expect(rangeFacts(result)[1]).toEqual([
    'bad',
    `main = ${commitAt(25)}, Fix a comment, by bob, with the same files as ${commitAt(24).slice(0, 12)}`,
  ]);
  expect(bisectPlot(result)).toContain(`>bad ${id}</text>`);
});
