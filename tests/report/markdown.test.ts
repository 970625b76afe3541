import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { CellResult, CellVerdict, Result } from '../../src/report/result.ts';
import { families, scenarios } from '../../src/scenario/scenario.ts';
import { judgeCell } from '../../src/stats/verdict.ts';
import { aCell, aResult, aRun, forwarding, pairedRuns, policy } from '../fakes/result.ts';

const loss = judgeCell(
  forwarding,
  pairedRuns(
    [801e3, 805e3, 799e3, 803e3, 806e3, 800e3, 804e3, 802e3],
    [721e3, 718e3, 722e3, 719e3, 724e3, 717e3, 723e3, 720e3],
  ).map((run) => ({ ...run, nsPerPacket: 1e9 / run.pps })),
  policy,
);

const calm = aCell({ kind: 'no-regression' }, { change: 0, low: -0.01, high: 0.01 });

const judged = (cells: CellResult[], verdict: CellVerdict['kind'] = 'regression'): Result =>
  aResult({ outcome: { kind: 'judged', verdict, cells } });

/** As a reader sees it who opens nothing. */
const unfolded = (markdown: string): string =>
  markdown.replace(/<details>.*?<\/details>\n\n/gs, '');

const summaries = (markdown: string): string[] =>
  [...markdown.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, text = '']) => text);

/** No-break spaces read as spaces. */
const tableRows = (markdown: string): string[] =>
  unfolded(markdown)
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| cell'));

test('a regression, as its reader sees it', () => {
  const links = { rerun: '`/ppsgate rerun`', rawData: '[artifact](https://example.org/1)' };
  expect(renderMarkdown(judged([loss]), links)).toMatchInlineSnapshot(`
    "### 🔴 ppsgate: #7 loses 10.2 % (forwarding inet4)

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`) · 2,000 flows of 64-byte UDP, 3.000 Mpps asked for, up to 2.987 Mpps sent · 2 min 5 s

    Judged by packets per second (more is better), 8 runs of each variant and cell; a loss of 2 % or more matters.

    | cell | base | patched | change | 95 % interval | verdict |
    |---|--:|--:|--:|:-:|---|
    | 🔴 forwarding inet4 | 802.5 kpps | 720.5 kpps | **−10.2 %** | −10.5 … −9.91 | regression |

    <details><summary>CPU time per packet (less is better)</summary>

    | cell | base | patched | change | 95 % interval |
    |---|--:|--:|--:|:-:|
    | forwarding inet4 | 1,246 ns | 1,388 ns | **+11.4 %** | +11.0 … +11.8 |

    </details>

    <details><summary>environment</summary>

    - patch: \`Drop protocol 254 early\` by \`alice\`
    - \`base\`: commit \`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\`
    - \`patched\`: commit \`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\`
    - \`kernel\`: \`Linux 6.18\`
    - \`cpu\`: \`Xeon × 2\`
    - order of runs: seed 42
    - ppsgate \`0.1.0\`

    </details>

    <details><summary>how to read this</summary>

    Runs of base and patched alternate, and each is compared with its neighbour. The interval, by Wilcoxon's signed-rank test, holds the true change in 95 % of experiments; patched is base with the change.

    - **regression**: it lies wholly on the slow side of 0 and does not exclude a loss of 2 %
    - **improvement**: the mirror image
    - **no-regression**: it excludes a loss of 2 %
    - **inconclusive**: it excludes neither; more runs would tell
    - **invalid**: too few runs count, so nothing is said

    </details>

    <details><summary>ministat: forwarding inet4</summary>

    ministat takes all runs as independent; the table compares neighbouring runs, so that what slows both alike cancels.

    \`\`\`
    x base, forwarding inet4
    + patched, forwarding inet4
    +--------------------------------------------------------------------------+
    |  +                                                                    x  |
    |+++++++                                                            xxxxxxx|
    |                                                                    |_A_| |
    | |_A_|                                                                    |
    +--------------------------------------------------------------------------+
        N           Min           Max        Median           Avg        Stddev
    x   8        799000        806000        802500        802500     2449.4897
    +   8        717000        724000        720500        720500     2449.4897
    Difference at 95.0% confidence
    	-82000 +/- 2627.08
    	-10.2181% +/- 0.311087%
    	(Student's t, pooled s = 2449.49)
    \`\`\`

    </details>

    <sub>Rerun: \`/ppsgate rerun\` · Raw data: [artifact](https://example.org/1)</sub>
    "
  `);
});

test('patched files that do not load, as their reader sees it', () => {
  const message = 'nftables.conf:4:21-23: Error: syntax error, unexpected string\n```\n@everyone';
  const result = aResult({
    outcome: { kind: 'does-not-load', scenario: 'forwarding', message },
    blasts: [],
  });
  expect(renderMarkdown(result)).toMatchInlineSnapshot(`
    "### 🔴 ppsgate: #7 does not load

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`)

    The base loads, the patched files do not (forwarding); nothing was measured. The DUT says:

    \`\`\`\`
    nftables.conf:4:21-23: Error: syntax error, unexpected string
    \`\`\`
    @everyone
    \`\`\`\`

    <details><summary>environment</summary>

    - patch: \`Drop protocol 254 early\` by \`alice\`
    - \`base\`: commit \`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\`
    - \`patched\`: commit \`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\`
    - \`kernel\`: \`Linux 6.18\`
    - \`cpu\`: \`Xeon × 2\`
    - order of runs: seed 42
    - ppsgate \`0.1.0\`

    </details>
    "
  `);
});

test('what is folded is, in this order, what an author wants to know', () => {
  const invalid = aRun({ validity: { kind: 'invalid', reason: 'a hole' } });
  expect(summaries(renderMarkdown(judged([{ ...loss, runs: [...loss.runs, invalid] }])))).toEqual([
    'CPU time per packet (less is better)',
    'runs that do not count',
    'environment',
    'how to read this',
    'ministat: forwarding inet4',
  ]);
});

test('a pipe in a reason stays inside its column of the table', () => {
  const piped = aCell({ kind: 'invalid', reason: 'a | b' });
  expect(tableRows(renderMarkdown(judged([piped], 'invalid')))[0]).toMatch(/`a \\\| b` \|$/);
});

test('the metric that was judged has the table, the other a fold', () => {
  const result = judged([loss]);
  const byTime = { ...result, policy: { ...policy, metric: 'nsPerPacket' as const } };
  const markdown = renderMarkdown(byTime);
  expect(unfolded(markdown)).toContain('Judged by CPU time per packet (less is better)');
  expect(tableRows(markdown)[0]).toContain(' ns |');
  expect(summaries(markdown)).toContain('packets per second (more is better)');
});

test('a change that is sure is bold, one that is not is plain', () => {
  const sure = aCell({ kind: 'no-regression' }, { change: -0.01, low: -0.015, high: -0.005 });
  const open = aCell({ kind: 'no-regression' }, { change: -0.01, low: -0.015, high: 0.005 });
  const [first, second] = tableRows(renderMarkdown(judged([sure, open], 'no-regression')));
  expect(first).toContain('| **−1.00 %** |');
  expect(second).toContain('| −1.00 % |');
});

test('an invalid cell has no numbers but a reason', () => {
  const cell: CellResult = {
    ...aCell({ kind: 'invalid', reason: '0 of 8 pairs of runs count: no traffic' }),
    comparisons: [],
  };
  expect(tableRows(renderMarkdown(judged([cell], 'invalid')))).toEqual([
    '| ⚪ forwarding inet4 | – | – | – | – | invalid: `0 of 8 pairs of runs count: no traffic` |',
  ]);
});

test('runs that do not count are told by cell and reason', () => {
  const invalid = (number: number, reason: string) =>
    aRun({ number, validity: { kind: 'invalid', reason } });
  const runs = [...loss.runs, invalid(17, 'a hole'), invalid(18, 'a hole'), invalid(19, 'idle')];
  const markdown = renderMarkdown(judged([{ ...loss, runs }]));
  expect(markdown).toContain(
    '- forwarding inet4: 2 of 19 runs, `a hole`\n- forwarding inet4: 1 of 19 runs, `idle`',
  );
});

test('of more cells than fit the worst are shown, and the rest is counted', () => {
  const kinds = ['no-regression', 'improvement', 'inconclusive', 'regression'] as const;
  const cells = Array.from({ length: 400 }, (_, index) =>
    aCell({ kind: kinds[index % 4] ?? 'regression' }),
  );
  const markdown = renderMarkdown(judged(cells));
  const rows = tableRows(markdown);
  expect(rows).toHaveLength(100);
  expect(rows.every((row) => row.endsWith('| regression |'))).toBe(true);
  expect(markdown).toContain('300 more cells, none of them worse, are in `result.json`.');
});

test('parts that do not fit are counted', () => {
  const cells = Array.from({ length: 60 }, () => loss);
  const markdown = renderMarkdown(judged(cells));
  // The other metric, 60 times ministat, the environment, and how to read this.
  const missing = 63 - summaries(markdown).length;
  expect(missing).toBeGreaterThan(0);
  expect(markdown).toContain(
    `\n\n${missing} more parts are in the full report beside \`result.json\`.\n`,
  );
});

test('2000 cells make a report of the worst of them, no longer than GitHub takes', () => {
  const cells = Array.from({ length: 2000 }, (_, index) => (index === 1234 ? loss : calm));
  const markdown = renderMarkdown(judged(cells));
  expect(markdown.length).toBeLessThan(65_536);
  expect(tableRows(markdown)[0]).toContain('| regression |');
});

const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(
        ...['`', '```', '\n\n', '\r', '|', '\\', '\u2028', '\u001b[31m', '\u202e', '</details>'],
        ...['@everyone', '<img src=x>', '<!--', '\n# title\n', '![x](https://example.org/x)'],
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
    const hole = aRun({ validity: { kind: 'invalid', reason } });
    const cell = aCell(verdict, interval, { scenario, family });
    return { ...cell, runs: [...loss.runs, hole] };
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
  })
  .map((texts) => {
    const result = aResult({ outcome: texts.outcome });
    return {
      ...result,
      generator: { name: 'ppsgate', version: texts.version },
      patch: { ...result.patch, title: texts.title, author: texts.author },
      variants: [{ name: texts.variant, commit: texts.commit, files: [] }],
      testbed: {
        name: texts.testbed,
        fingerprint: { ...texts.fingerprint, cpu: texts.cpu, kernel: texts.cpu },
      },
    };
  });

test('the report is never longer than GitHub takes, and its folds are balanced, whatever it has to tell', () => {
  fc.assert(
    fc.property(anyResult, (result) => {
      const markdown = renderMarkdown(result);
      expect(markdown.length).toBeLessThan(65_536);
      expect(markdown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(withoutCode(markdown)).not.toMatch(/@everyone|<img|<!--|!\[|# title/);
      const [opened, closed] = ['<details>', '</details>'].map(
        (tag) => withoutCode(markdown).split(tag).length,
      );
      expect(opened).toBe(closed);
    }),
    { numRuns: 100 },
  );
}, 30_000);

/** What is left for a renderer to take as markup: CommonMark's fenced blocks and code spans taken out. */
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
