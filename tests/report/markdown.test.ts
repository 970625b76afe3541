import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CellProfile, CellResult, CellVerdict, ChangedFunction, Result } from '../../src/model/result.ts';
import { families, scenarios } from '../../src/model/scenario.ts';
import { maxCharacters } from '../../src/report/markdown.ts';
import { type ReportLinks, renderMarkdown } from '../../src/report/reports.ts';
import { judgeCell } from '../fakes/cell.ts';
import { aCell, aResult, aRun, pairedRuns, revision, unfit } from '../fakes/result.ts';
import { times } from '../random.ts';

const repeated = (times: number, values: number[]): number[] => new Array<number[]>(times).fill(values).flat();

const loss = judgeCell(
  pairedRuns(
    repeated(2, [801e3, 805e3, 799e3, 803e3, 806e3, 800e3, 804e3, 802e3, 801e3, 805e3]),
    repeated(2, [721e3, 718e3, 722e3, 719e3, 724e3, 717e3, 723e3, 720e3, 722e3, 719e3]),
  ).map((run) => ({ ...run, nsPerPacket: 1e9 / run.pps })),
);

const calm = aCell({ kind: 'no-regression' }, { change: 0, low: -0.01, high: 0.01 });

const judged = (cells: CellResult[], verdict: CellVerdict['kind'] = 'regression'): Result =>
  aResult({ outcome: { kind: 'judged', verdict, cells } });

const profileOf = (variant: string): CellProfile => ({
  kind: 'profiled',
  variant,
  event: 'cpu-clock',
  kernel: 'Linux 6.18',
  seconds: 10,
  busySamples: 5_932,
  idleSamples: 17,
  file: `profiles/${variant}`,
});

const changedFunction = (name = 'fib4_lookup', module?: string): ChangedFunction => ({
  function: name,
  ...(module !== undefined && { module }),
  baseRatio: 0.093,
  patchedRatio: 0.124,
});

/** Profiles of base and patched, and the reason that they give. */
const profiled = (changedFunctions: ChangedFunction[] = [changedFunction()], idleFrames: string[] = []) => ({
  profiles: [profileOf('base'), profileOf('patched')],
  reason: { changedFunctions, moved: changedFunctions.length, idleFrames },
});

const unprofiled = (reason: string) => ({
  profiles: [profileOf('base'), { kind: 'missing', variant: 'patched', reason } as const],
});

/** The text without its folded parts. */
const unfolded = (markdown: string): string => markdown.replace(/<details>.*?<\/details>\n\n/gs, '');

const summaries = (markdown: string): string[] =>
  [...markdown.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, text = '']) => text);

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
  expect(tableRows(renderMarkdown(judged([piped], 'no-regression')))[1]).toMatch(/^\| ↳ `a \\\| b` \| not judged \|/);
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

test('2000 cells make a report of the worst of them, within GitHub’s limit', () => {
  const cells = Array.from({ length: 2000 }, (_, index) => (index === 1234 ? loss : calm));
  const markdown = renderMarkdown(judged(cells));
  expect(markdown.length).toBeLessThan(65_536);
  expect(tableRows(markdown)[0]).toContain('| 🔴 regression |');
});

const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        ...['`', '```', '\n\n', '\r', '|', '\\', '\u2028', '\u001b[31m', '\u202e', '</details>'],
        '@everyone',
        '<img src=x>',
        '<!--',
        '\n# title\n',
        '![x](https://example.org/x)',
      ),
      fc
        .tuple(fc.constantFrom('`', '|', '🚦', '\n', 'a b '), fc.integer({ min: 1, max: 5_000 }))
        .map(([part, count]) => part.repeat(count)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const anyCell: fc.Arbitrary<CellResult> = fc
  .record({
    scenario: fc.constantFrom(...scenarios),
    family: fc.constantFrom(...families),
    kind: fc.constantFrom('regression', 'improvement', 'no-regression', 'inconclusive', 'invalid'),
    reason: hostileText,
    change: fc.double({ min: -0.99, max: 10, noNaN: true }),
  })
  .map(({ scenario, family, kind, reason, change }) => {
    const verdict = kind === 'invalid' ? { kind, reason } : { kind };
    const interval = { change, low: change - 0.01, high: change + 0.01 };
    const hole = aRun({ validity: unfit(reason) });
    const cell = aCell(verdict, interval, { scenario, family });
    return {
      ...cell,
      runs: [...loss.runs, hole],
      ...(change < 0 ? profiled([changedFunction(reason, reason), changedFunction()], [reason]) : unprofiled(reason)),
    };
  });

const anyOutcome: fc.Arbitrary<Result['outcome']> = fc.oneof(
  fc
    .tuple(fc.array(anyCell, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 120 }))
    .map(([some, count]) => ({
      kind: 'judged' as const,
      verdict: some[0]?.verdict.kind ?? 'invalid',
      cells: Array.from({ length: count }, (_, index) => some[index % some.length] ?? loss),
    })),
  hostileText.map((message) => ({ kind: 'does-not-apply' as const, message })),
  hostileText.map((message) => ({
    kind: 'does-not-load' as const,
    scenario: 'forwarding' as const,
    message,
  })),
  fc.tuple(hostileText, hostileText, hostileText).map(([message, panic, console]) => ({
    kind: 'boot-failed' as const,
    message,
    panic,
    console,
  })),
);

const anyResult: fc.Arbitrary<Result> = fc
  .record({
    outcome: anyOutcome,
    title: hostileText,
    author: hostileText,
    testbed: hostileText,
    version: hostileText,
    variant: hostileText,
    commit: hostileText,
    fingerprint: fc.dictionary(hostileText, hostileText, { maxKeys: 3 }),
    cpu: hostileText,
    warning: hostileText,
    kernel: hostileText,
  })
  .map((texts) => {
    const result = aResult({ outcome: texts.outcome });
    return {
      ...result,
      generator: { name: 'ppsgate', version: texts.version },
      patch: { ...result.patch, title: texts.title, author: texts.author },
      variants: [{ name: texts.variant, commit: texts.commit, files: [] }],
      trials: result.trials.map((trial) => ({ ...trial, kernel: texts.kernel })),
      testbed: {
        name: texts.testbed,
        fingerprint: { ...texts.fingerprint, cpu: texts.cpu, kernel: texts.cpu },
        warnings: [texts.warning],
      },
    };
  });

test('the report never exceeds GitHub’s limit, and its folds are balanced', () => {
  fc.assert(
    fc.property(anyResult, (result) => {
      const markdown = renderMarkdown(result);
      expect(markdown.length).toBeLessThan(65_536);
      expect(markdown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(withoutCode(markdown)).not.toMatch(/@everyone|<img|<!--|!\[|# title/);
      const [opened, closed] = ['<details>', '</details>'].map((tag) => withoutCode(markdown).split(tag).length);
      expect(opened).toBe(closed);
      const folds = summaries(withoutCode(markdown));
      expect(['runs', 'environment', 'statistics'].filter((name) => folds.includes(name))).toEqual(folds);
    }),
    { numRuns: times(50) },
  );
});

/** Returns the text in which a renderer finds markup: without CommonMark's fenced blocks and code spans. */
function withoutCode(markdown: string): string {
  const kept: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence !== undefined) {
      if (line === fence) fence = undefined;
      continue;
    }
    fence = /^`{3,}$/.exec(line)?.[0];
    if (fence === undefined) kept.push(line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, ''));
  }
  return kept.join('\n');
}

test('100 invalid cells whose reasons are all backticks leave space for the rest of the report', () => {
  const cells = Array.from({ length: 100 }, () => ({
    ...aCell({ kind: 'invalid', reason: '`'.repeat(200) }),
    comparisons: [],
  }));
  const markdown = renderMarkdown(judged(cells, 'invalid'));
  expect(markdown.length).toBeLessThanOrEqual(maxCharacters);
  expect(tableRows(markdown)).toHaveLength(100);
  expect(markdown).toContain('\n- 80 more cells are invalid\n');
});

test('the bases of 1,000 cells that moved do not make the report too long', () => {
  const moved = {
    ...calm,
    baseline: { kind: 'moved', interval: { change: -0.04, low: -0.05, high: -0.03 } },
  } as const;
  const cells = new Array<CellResult>(1000).fill(moved);
  const markdown = renderMarkdown(judged(cells, 'no-regression'));
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
    const markdown = renderMarkdown(judged([{ ...calm, ...profiled([]) }], 'no-regression'));
    expect(unfolded(markdown)).not.toContain('Why');
    expect(headings(markdown)).toContain('runs: Changed functions');
    expect(markdown).toContain('no function changed beyond chance');
    const moved = { ...calm, ...profiled() };
    const shown = unfolded(renderMarkdown(judged([moved], 'no-regression')));
    expect(shown).not.toContain('Why');
    expect(shown).toContain('**Changed functions** (forwarding inet4): `fib4_lookup` +3.1 points');
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
    const cells = Array.from({ length: 300 }, () => ({ ...loss, ...profiled(changedFunctions) }));
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
    ...judged([cell], cell.verdict.kind),
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
