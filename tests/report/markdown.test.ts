import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CellResult, Result } from '../../src/model/result.ts';
import { maxCharacters } from '../../src/report/markdown.ts';
import { type ReportLinks, renderMarkdown } from '../../src/report/reports.ts';
import { anyResult, changedFunction, loss, profiled } from '../fakes/any-result.ts';
import { judgeCell } from '../fakes/cell.ts';
import { expectHarmlessMarkdown, hostileMarkdown } from '../fakes/poisoned.ts';
import { aCell, aResult, aRun, judged, pairedRuns, revision } from '../fakes/result.ts';
import { times } from '../random.ts';

const calm = aCell({ kind: 'no-regression' }, { change: 0, low: -0.01, high: 0.01 });

/** The text without its folded parts. */
const unfolded = (markdown: string): string => markdown.replace(/<details>.*?<\/details>\n\n/gs, '');

/** The headings in the folds, each after the name of its fold. */
const headings = (markdown: string): string[] =>
  [...markdown.matchAll(/<summary>(.*?)<\/summary>(.*?)<\/details>/gs)].flatMap(([, fold = '', inside = '']) =>
    [...inside.matchAll(/^\*\*(.*?)\*\*$/gm)].map(([, title]) => `${fold}: ${title}`),
  );

/** Text below a heading in a fold. */
const below = (markdown: string, title: string): string | undefined =>
  new RegExp(`^\\*\\*${title}\\*\\*\n\n(.*?)\n\n(?=\\*\\*|</details>)`, 'ms').exec(markdown)?.[1];

const tableRows = (markdown: string): string[] =>
  unfolded(markdown)
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| cell'));

test('a pipe in the name of an earlier diff stays inside its column of the table', () => {
  const piped = { ...calm, others: [{ variant: 'a | b', comparisons: calm.comparisons }] };
  expect(tableRows(renderMarkdown(judged([piped])))[1]).toMatch(/^\| ↳ `a \\\| b` \| not judged \|/);
});

test('of more cells than fit the worst are shown, and the rest is counted', () => {
  const kinds = ['no-regression', 'improvement', 'inconclusive', 'regression'] as const;
  const cells = Array.from({ length: 400 }, (_, index) => aCell({ kind: kinds[index % 4] ?? 'regression' }));
  const markdown = renderMarkdown(judged(cells));
  const rows = tableRows(markdown);
  expect(rows).toHaveLength(100);
  expect(rows.every((row) => row.includes('| 🔴 regression |'))).toBe(true);
  expect(markdown).toContain('300 more cells, none of them worse, are in `result.json`.');
});

test('parts that do not fit are counted', () => {
  const cells = Array.from({ length: 60 }, () => loss);
  const markdown = renderMarkdown(judged(cells));
  // The other metric, 60 times ministat, the environment, and how to read this.
  const missing = 63 - headings(markdown).length;
  expect(missing).toBeGreaterThan(0);
  expect(markdown).toContain(`\n\n${missing} more parts are in the full report beside \`result.json\`.\n`);
});

test('the report never exceeds GitHub’s limit, and its folds are balanced', () => {
  fc.assert(
    fc.property(anyResult(hostileMarkdown), (result) => {
      expectHarmlessMarkdown(renderMarkdown(result));
    }),
    { numRuns: times(25) },
  );
});

test('the bases of 1,000 cells that moved do not make the report too long', () => {
  const moved = {
    ...calm,
    baseline: { kind: 'moved', interval: { change: -0.04, low: -0.05, high: -0.03 } },
  } as const;
  const cells = new Array<CellResult>(1000).fill(moved);
  const markdown = renderMarkdown(judged(cells));
  expect(markdown.length).toBeLessThanOrEqual(maxCharacters);
  expect(tableRows(markdown)).toHaveLength(100);
});

test('shows 20,000 sizes of frames by the smallest and the largest', () => {
  const [trial] = aResult().trials;
  if (trial === undefined) expect.fail('There is a trial.');
  const trials = Array.from({ length: 20_000 }, (_, index) => ({
    ...trial,
    cell: { ...trial.cell, frameBytes: 64 + index },
  }));
  const markdown = renderMarkdown({ ...judged([calm]), trials });
  expect(markdown.length).toBeLessThanOrEqual(maxCharacters);
  expect(markdown).toContain('flows of 64- to 20063-byte UDP');
});

describe('the reason of a change', () => {
  const whyLinesOf = (cells: CellResult[], links: ReportLinks = {}): string[] =>
    unfolded(renderMarkdown(judged(cells), links))
      .split('\n')
      .filter((line) => line.startsWith('**Why**'));
  const foldOf = (markdown: string): string | undefined => below(markdown, 'Changed functions');
  const page = 'https://example.org/report.html';

  test('stays folded for a cell without a change', () => {
    const markdown = renderMarkdown(judged([{ ...calm, ...profiled([]) }]));
    expect(unfolded(markdown)).not.toContain('Why');
    expect(headings(markdown)).toContain('runs: Changed functions');
    expect(markdown).toContain('no function changed beyond chance');
  });

  test('links its own flamegraph rather than its place on the page', () => {
    const graph = (anchor: string) => (anchor.endsWith('-base') ? `${anchor}.svg` : undefined);
    const [line] = whyLinesOf([{ ...loss, ...profiled() }], { page, graph });
    expect(line).toContain('[base](flamegraph-forwarding-inet4-base.svg)');
    expect(line).toContain(`[patched](${page}#`);
  });

  test('has no way out of its links by the address of the page', () => {
    const hostile = 'https://example.org/) <img src=x> [x](';
    const markdown = renderMarkdown(judged([{ ...loss, ...profiled() }]), { page: hostile });
    expect(markdown).not.toMatch(/<img|\]\([^)]* /);
  });

  test('of more cells than fit keeps its lines, and counts the cells', () => {
    const changedFunctions = Array.from({ length: 10 }, (_, index) => changedFunction(`f${index}`.padEnd(80, '`')));
    const cells = Array.from({ length: 110 }, () => ({ ...loss, ...profiled(changedFunctions) }));
    const markdown = renderMarkdown(judged(cells));
    expect(markdown.length).toBeLessThanOrEqual(maxCharacters);
    expect(whyLinesOf(cells)).toHaveLength(4);
    expect(foldOf(markdown) ?? markdown).toMatch(/\d+ more (?:cells, none of them worse|parts)/);
  });
});

describe('a revision measured beside earlier diffs', () => {
  const base = [801e3, 805e3, 799e3, 803e3, 806e3, 800e3];
  const beside = (variant: string, ratio: number) =>
    base.map((pps, index) => aRun({ number: 100 + index, pair: index + 1, variant, pps: Math.round(pps * ratio) }));
  const cell = judgeCell(
    [...pairedRuns(base, base.toReversed()), ...beside('diff 80345', 0.7), ...beside('diff 80654', 1.04)],
    {},
    { design: { name: 'fixed', budgets: [6], pairsPerStep: 1, method: 'pooled' }, closedPairs: 6 },
  );
  const result = (changes: Partial<Result> = {}): Result => ({
    ...judged([cell]),
    patch: revision,
    variants: ['base', 'patched', 'diff 80345', 'diff 80654'].map((name) => ({
      name,
      commit: 'a'.repeat(40),
      files: [],
    })),
    ...changes,
  });
  const foldOf = (markdown: string, title: string): string =>
    below(markdown, title) ?? expect.fail(`There is no ${title}.`);

  test.for([
    ['https://phabricator.example/D1)[x](https://evil.example', /^- patch: \[D27401\]\([^()\s]*\) /],
    ['https://phabricator.example/?a=`b`&<img src=x>', /^- patch: \[D27401\]\([^()\s`<>]*\) /],
    ['javascript:alert(1)', /^- patch: D27401 diff 80700/],
  ] as const)('has no way out of its link by the address %s', ([url, line]) => {
    const markdown = renderMarkdown(result({ patch: { ...revision, url } }));
    expect(foldOf(markdown, 'Patch, variants and testbed')).toMatch(line);
  });

  test('of seven and more the first six have their ministat, and one without runs has none', () => {
    const many = Array.from({ length: 8 }, (_, index) => ({
      ...(cell.others[0] ?? expect.fail('There is one.')),
      variant: `diff ${index}`,
    }));
    const runs = many.slice(1).flatMap(({ variant }) => beside(variant, 0.9));
    const full = { ...cell, others: many, runs: [...cell.runs, ...runs] };
    const fold = foldOf(
      renderMarkdown(result({ outcome: { kind: 'judged', verdict: 'invalid', cells: [full] } })),
      'ministat of earlier diffs: forwarding inet4',
    );
    expect(fold.match(/diff \d/g)).toEqual(['diff 1', 'diff 2', 'diff 3', 'diff 4', 'diff 5']);
  });
});
