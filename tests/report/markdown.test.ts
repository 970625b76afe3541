import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  CellProfile,
  CellResult,
  CellVerdict,
  ChangedFunction,
  Interval,
  Result,
  Run,
} from '../../src/model/result.ts';
import { families, scenarios } from '../../src/model/scenario.ts';
import { maxCharacters } from '../../src/report/markdown.ts';
import { type ReportLinks, renderMarkdown } from '../../src/report/reports.ts';
import { judgeCell } from '../fakes/cell.ts';
import { aCell, aResult, aRun, pairedRuns, policy, revision, unchanged, unfit } from '../fakes/result.ts';
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

test('a regression, as its reader sees it', () => {
  const links = { rerun: '`/ppsgate rerun`', rawData: '[artifact](https://example.org/1)' };
  expect(renderMarkdown(judged([loss]), links)).toMatchInlineSnapshot(`
    "### 🔴 ppsgate: #7 loses 10.2 % (forwarding inet4)

    The patched router forwards fewer packets per second than base, beyond what chance explains.

    **What now:** See what the patch does for each packet, make that cheaper, and update the patch; or justify the loss in it.

    | cell | verdict | change (90 % interval) | base | patched | runs |
    |---|---|---|--:|--:|--:|
    | forwarding inet4 | 🔴 regression | **−10.2 %** (−10.3 … −10.2) | 803.0 kpps | 720.9 kpps | 20 + 20 |

    Judged by packets per second (more is better) · −2 % or more matters · false alarms ≤ 1 %

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`) · 2,000 flows of 64-byte UDP · the sender targeted 3.000 Mpps and sent up to 2.987 Mpps, averaged over a trial with its pauses and all variants · measured in 2 min 5 s

    <details><summary>runs</summary>

    **CPU time per packet (less is better), which is not judged**

    | cell | change (90 % interval) | base | patched | runs |
    |---|---|--:|--:|--:|
    | forwarding inet4 | **+11.4 %** (+11.3 … +11.5) | 1,245 ns | 1,387 ns | 20 + 20 |

    </details>

    <details><summary>environment</summary>

    **Patch, variants and testbed**

    - patch: \`Drop protocol 254 early\` by \`alice\`
    - \`base\`: commit \`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\`
    - \`patched\`: commit \`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\`
    - \`kernel\`: \`Linux 6.18\`
    - \`cpu\`: \`Xeon × 2\`
    - order of runs: seed 42
    - ppsgate \`0.1.0\`

    </details>

    <details><summary>statistics</summary>

    **How to read this**

    Runs of base and patched alternate, and each cell ends as soon as its runs decide. The interval contains the true change in 90 % of experiments or more, however early they end; the patched value is base plus the change. At most 1 % of patches that lose nothing are called a regression in any cell, and at most 5 % of cells that lose 2 % pass.

    If one patch in ten costs 2 %, at most 8.65 % of reported regressions are false; if one in a hundred does, at most 51 %. A regression by less than 2 % looks larger than it is on average, as only the clearest are reported.

    - **regression**: a loss beyond chance, and one of 2 % is not excluded
    - **improvement**: a gain beyond chance, and one that would make up for a loss of 2 % is not excluded
    - **no-regression**: a loss of 2 % is excluded
    - **inconclusive**: none of these: more runs would decide
    - **invalid**: too few runs count for a verdict

    **ministat: forwarding inet4**

    ministat assumes that runs are independent; the table compares neighbouring runs, so that common disturbances cancel out.

    \`\`\`
    x base, forwarding inet4
    + patched, forwarding inet4
    +--------------------------------------------------------------------------+
    |  +                                                                       |
    |  +                                                                       |
    |  + +                                                                x xx |
    |  + +                                                                x xx |
    |+++++++                                                            xxxxxxx|
    |+++++++                                                            xxxxxxx|
    |                                                                    |_A_| |
    | |_A_|                                                                    |
    +--------------------------------------------------------------------------+
        N           Min           Max        Median           Avg        Stddev
    x  20        799000        806000        802500        802600     2303.3157
    +  20        717000        724000        720500        720500     2212.4052
    Difference at 90.0% confidence
    	-82100 +/- 1204.04
    	-10.2293% +/- 0.142243%
    	(Student's t, pooled s = 2258.32)
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
    trials: [],
  });
  expect(renderMarkdown(result)).toMatchInlineSnapshot(`
    "### 🔴 ppsgate: #7 does not load

    The base loads, but the patched files do not (forwarding); nothing was measured. Output of the DUT:

    \`\`\`\`
    nftables.conf:4:21-23: Error: syntax error, unexpected string
    \`\`\`
    @everyone
    \`\`\`\`

    **What now:** Load the files on a test machine, for example with \`pfctl -nf\`, \`nft -c -f\` or \`ipfw -n\`, fix the error above, and update the patch.

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`)

    <details><summary>environment</summary>

    **Patch, variants and testbed**

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

test('Three folds hold all details, each under its heading', () => {
  const invalid = aRun({ validity: unfit('a hole') });
  const apart = pairedRuns([800e3, 801e3, 799e3, 800e3], [800e3, 801e3, 799e3, 700e3]);
  const linked = pairedRuns([800e3, 816e3, 801e3, 817e3], [800e3, 816e3, 801e3, 817e3]).map((run) => ({
    ...run,
    layout: 1 + (run.pair % 2),
  }));
  const cells = [
    { ...loss, ...profiled(), runs: [...loss.runs, invalid] },
    { ...calm, runs: apart },
    { ...calm, runs: linked, pairs: 4 },
  ];
  const patch = { ...revision, notes: ['The base was guessed.'] };
  const { testbed } = aResult();
  const markdown = renderMarkdown(
    { ...judged(cells), patch, testbed: { ...testbed, warnings: ['The clock is off.'] } },
    { corrections: ['The verdict was another one.'] },
  );
  expect(summaries(markdown)).toEqual(['runs', 'environment', 'statistics']);
  expect(headings(markdown)).toEqual([
    'runs: Not verified: the measuring job reports otherwise',
    'runs: CPU time per packet (less is better), which is not judged',
    'runs: Excluded runs',
    'runs: Included outliers',
    'runs: Changed functions',
    'environment: Testbed notes',
    'environment: Notes on the revision',
    'environment: Patch, variants and testbed',
    'statistics: Noise of builds',
    'statistics: How to read this',
    'statistics: ministat: forwarding inet4',
    'statistics: ministat: forwarding inet4',
    'statistics: ministat: forwarding inet4',
  ]);
});

test('A fold without details is left out', () => {
  expect(summaries(renderMarkdown(unchanged))).toEqual(['environment']);
});

test('a pipe in the name of an earlier diff stays inside its column of the table', () => {
  const piped = { ...calm, others: [{ variant: 'a | b', comparisons: calm.comparisons }] };
  expect(tableRows(renderMarkdown(judged([piped], 'no-regression')))[1]).toMatch(/^\| ↳ `a \\\| b` \| not judged \|/);
});

test('the metric that was judged has the table, the other a fold', () => {
  const result = judged([loss]);
  const byTime = { ...result, policy: { ...policy, metric: 'nsPerPacket' as const } };
  const markdown = renderMarkdown(byTime);
  expect(unfolded(markdown)).toContain('Judged by CPU time per packet (less is better)');
  expect(tableRows(markdown)[0]).toContain(' ns |');
  expect(headings(markdown)).toContain('runs: packets per second (more is better), which is not judged');
});

test('what instructions do not tell is said where they are judged, and nowhere else', () => {
  const unseen = 'What this metric does not cover:\n- Cache misses, locks, other CPUs, ';
  const byInstructions = { ...policy, metric: 'instructionsPerPacket' } as const;
  expect(unfolded(renderMarkdown({ ...judged([loss]), policy: byInstructions }))).toContain(unseen);
  expect(renderMarkdown(judged([loss]))).not.toContain(unseen);
  const failed = { kind: 'does-not-apply', message: 'Hunk 1 failed.' } as const;
  expect(renderMarkdown({ ...aResult({ outcome: failed }), policy: byInstructions })).not.toContain(unseen);
});

test('a change that is sure is bold, one that is not is plain', () => {
  const sure = aCell({ kind: 'no-regression' }, { change: -0.01, low: -0.015, high: -0.005 });
  const open = aCell({ kind: 'no-regression' }, { change: -0.01, low: -0.015, high: 0.005 });
  const [first, second] = tableRows(renderMarkdown(judged([sure, open], 'no-regression')));
  expect(first).toContain('| **−1.00 %** (−1.50 … −0.50) |');
  expect(second).toContain('| −1.00 % (−1.50 … +0.50) |');
});

test('an invalid cell has no change, and shows the runs that count, those made, and a reason', () => {
  const made = (variant: string, count: number): Run[] =>
    Array.from({ length: count }, (_, index) =>
      aRun({ variant, pair: index + 1, validity: index < 3 ? { kind: 'valid' } : unfit('hole') }),
    );
  const cell: CellResult = {
    ...aCell({ kind: 'invalid', reason: '0 of 8 pairs of runs count: no traffic' }),
    comparisons: [],
    runs: [...made('base', 8), ...made('patched', 7), ...made('diff 1', 5)],
  };
  const markdown = renderMarkdown(judged([cell], 'invalid'));
  expect(tableRows(markdown)).toEqual(['| forwarding inet4 | ⚪ invalid | – | – | – | 3 + 3 of 8 + 7 |']);
  expect(unfolded(markdown)).toContain('- forwarding inet4 is invalid: `0 of 8 pairs of runs count: no traffic`\n');
  const numbers = { ...cell, comparisons: calm.comparisons };
  expect(tableRows(renderMarkdown(judged([numbers], 'invalid')))).toEqual([
    '| forwarding inet4 | ⚪ invalid | – | 805.3 kpps | 805.3 kpps | 3 + 3 of 8 + 7 |',
  ]);
});

test('lists runs that do not count by cell and reason', () => {
  const invalid = (number: number, reason: string) =>
    aRun({ number, validity: unfit(reason, reason === 'idle' ? 'generator-limited' : 'hole') });
  const runs = [...loss.runs, invalid(17, 'a hole'), invalid(18, 'a hole'), invalid(19, 'idle')];
  const markdown = renderMarkdown(judged([{ ...loss, runs }]));
  expect(markdown).toContain('- forwarding inet4: 2 of 43 runs, `a hole`\n- forwarding inet4: 1 of 43 runs, `idle`');
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

test('shows a base that moved in the open, and does not hold it against the patch', () => {
  const moved = {
    ...calm,
    baseline: { kind: 'moved', interval: { change: -0.04, low: -0.05, high: -0.03 } },
  } as const;
  const text = unfolded(renderMarkdown(judged([moved], 'no-regression')));
  expect(text).toContain('### 🟢 ppsgate: #7 loses nothing that matters');
  expect(text).toContain('⚠️ **baseline shifted**, which does not count against the patch:');
  expect(text).toContain('- forwarding inet4: −4.00 % against its history (99 % interval −5.00 … −3.00)');
  expect(renderMarkdown(judged([calm], 'no-regression'))).not.toContain('baseline shifted');
});

test('a single run far from the others is shown, and reported to count', () => {
  const runs = pairedRuns([800e3, 801e3, 799e3, 800e3], [800e3, 801e3, 799e3, 700e3]);
  const text = renderMarkdown(judged([{ ...calm, runs }], 'no-regression'));
  expect(headings(text)).toContain('runs: Included outliers');
  expect(text).toContain('- forwarding inet4: run 8 of `patched`, 700.0 kpps');
});

describe('kernels that were linked several times', () => {
  const linked = (base: number[], patched: number[], layouts: [number[], number[]]) =>
    pairedRuns(base, patched).map((run) => {
      const own = layouts[run.variant === 'base' ? 0 : 1];
      return { ...run, layout: own[(run.pair - 1) % own.length] ?? 1 };
    });
  const report = (runs: Run[], changes: Partial<Result> = {}) =>
    renderMarkdown({ ...judged([{ ...calm, runs, pairs: 4 }], 'no-regression'), ...changes });

  test('distinguish builds from runs if a layout was booted twice', () => {
    const inTurn: [number[], number[]] = [
      [1, 2],
      [1, 2],
    ];
    const text = report(linked([800e3, 816e3, 801e3, 817e3], [800e3, 816e3, 801e3, 817e3], inTurn));
    expect(headings(text)).toContain('statistics: Noise of builds');
    expect(text).toContain(
      '- forwarding inet4: builds differ by 1.4 % (4 layouts), and runs of one build by 0.0875 % (standard deviations)',
    );
    expect(text).toContain('Each kernel was linked 2 times');
  });

  test('report if builds and runs are indistinguishable', () => {
    const all = [1, 2, 3, 4];
    const runs = linked([800e3, 816e3, 801e3, 817e3], [800e3, 816e3, 801e3, 817e3], [all, all]);
    expect(report(runs)).toContain(
      '- forwarding inet4: builds and runs together differ by 1.14 %, because none of 8 layouts was booted twice',
    );
  });

  test('show the difference of two layouts of one tree', () => {
    const commit = 'a'.repeat(40);
    const variants = ['base', 'patched'].map((name) => ({ name, commit, files: [] }));
    const runs = linked([800e3, 801e3, 800e3, 801e3], [808e3, 809e3, 808e3, 809e3], [[1], [9]]);
    const text = report(runs, { variants });
    expect(text).toContain('- forwarding inet4: builds differ by 0.702 % (2 layouts)');
    expect(text).not.toContain('Each kernel was linked');
    expect(report(runs)).not.toContain('Noise of builds');
  });
});

test('the ministat block explains its difference from the table above', () => {
  const runs = pairedRuns([800e3, 801e3, 799e3], [790e3, 791e3, 789e3]);
  expect(renderMarkdown(judged([{ ...calm, runs }]))).toContain(
    'ministat assumes that runs are independent and that their number was planned, so its error is too small where the experiment stopped early.',
  );
});

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

test('the packets are described by their protocol and ports', () => {
  const { traffic } = aResult();
  const ports = { source: { first: 1024, last: 65_535 }, destination: { first: 443, last: 443 } };
  const packets = { protocol: 'tcp', ports } as const;
  const markdown = renderMarkdown({ ...judged([calm]), traffic: { ...traffic, packets } });
  expect(markdown).toContain(
    '2,000 flows of 64-byte TCP SYN from ports 1024–65535 to port 443 · the sender targeted 3.000 Mpps',
  );
});

test('a mix of sizes is described by its weights', () => {
  const { traffic } = aResult();
  const sizes = [
    { frameBytes: 64, weight: 7 },
    { frameBytes: 594, weight: 4 },
    { frameBytes: 1518, weight: 1 },
  ];
  const ports = { destination: { first: 53, last: 53 } };
  const of = (all: typeof sizes) =>
    renderMarkdown({ ...judged([calm]), traffic: { ...traffic, packets: { ports, sizes: all } } });
  expect(of(sizes)).toContain('2,000 flows of UDP to port 53, IMIX (7:4:1) · the sender targeted 3.000 Mpps');
  expect(of(sizes.slice(1))).toContain('UDP to port 53, frames of 594, 1518 bytes (4:1) · the sender targeted 3.000');
});

test('a capture is described by its packets and its checksum', () => {
  const { traffic } = aResult();
  const capture = { sha256: 'ab'.repeat(32), packets: 300, families: ['inet4' as const] };
  const markdown = renderMarkdown({
    ...judged([calm]),
    traffic: { ...traffic, packets: { capture } },
  });
  expect(markdown).toContain(
    '2,000 flows of 300 packets of a pcap (SHA-256 abababababab…) · the sender targeted 3.000',
  );
});

test('a proven loss within the margin is reported, with its size', () => {
  const slower = {
    ...calm,
    comparisons: [comparisonOf({ change: 0.0407, low: 0.0306, high: 0.0517 })],
  };
  const cost = { ...policy, metric: 'nsPerPacket', marginRatio: 0.05 } as const;
  const markdown = renderMarkdown({ ...judged([slower], 'no-regression'), policy: cost });
  expect(markdown).toMatch(/^### 🟢 .* is slower by 4\.07 %, within the 5\.26 % allowed\n/);
  expect(markdown).toContain(
    'The patched router is slower by 4.07 %, within the 5.26 % allowed: a small loss, beyond what chance explains.',
  );
});

test('without a proven loss none is reported', () => {
  expect(renderMarkdown(judged([calm], 'no-regression'))).toContain(
    'No loss was found, and a loss of 2 % or more is excluded.',
  );
});

const comparisonOf = (interval: Interval) => ({
  metric: 'nsPerPacket' as const,
  base: 1000,
  patched: 1000 * (1 + interval.change),
  baseRuns: 8,
  patchedRuns: 8,
  interval,
});

describe('the reason of a change', () => {
  const whyLinesOf = (cells: CellResult[], links: ReportLinks = {}): string[] =>
    unfolded(renderMarkdown(judged(cells), links))
      .split('\n')
      .filter((line) => line.startsWith('**Why**'));
  const foldOf = (markdown: string): string | undefined => below(markdown, 'Changed functions');
  const page = 'https://example.org/report.html';

  test('is shown below the table by the first changed functions, and in a fold by all', () => {
    const timed = {
      ...changedFunction('ip_input', 'kernel'),
      nsPerPacket: { base: 115.2, patched: 153.4 },
    };
    const changedFunctions = [timed, changedFunction('b'), changedFunction('c'), changedFunction('d')];
    const own = profiled(changedFunctions, ['cpu_idle', 'acpi_cpu_c1']);
    const cell = { ...loss, ...own, reason: { ...own.reason, moved: 6 } };
    expect(whyLinesOf([cell])).toEqual([
      '**Why** (forwarding inet4): `ip_input` +38 ns per packet (9.3 → 12.4 % of cycles), `b` +3.1 points (9.3 → 12.4 % of cycles), `c` +3.1 points (9.3 → 12.4 % of cycles), 3 more',
    ]);
    const markdown = renderMarkdown(judged([cell]));
    expect(foldOf(markdown)?.replaceAll('\u00a0', ' ')).toMatchInlineSnapshot(`
      "forwarding inet4: 5,932 samples of base, 5,932 samples of patched, left out as idle: \`cpu_idle\` \`acpi_cpu_c1\`, 2 more functions

      | function | per packet | change | base | patched | module |
      |---|--:|--:|--:|--:|---|
      | \`ip_input\` | +38 ns | +3.1 points | 9.3 % | 12.4 % | \`kernel\` |
      | \`b\` | – | +3.1 points | 9.3 % | 12.4 % | – |
      | \`c\` | – | +3.1 points | 9.3 % | 12.4 % | – |
      | \`d\` | – | +3.1 points | 9.3 % | 12.4 % | – |"
    `);
  });

  test('is shown in instructions if these were counted and sampled', () => {
    const instructionsPerPacket = { base: 773.2, patched: 1031 };
    const changedFunctions = [{ ...changedFunction('nft_do_chain'), instructionsPerPacket }];
    const cell = { ...loss, ...profiled(changedFunctions) };
    expect(whyLinesOf([cell])).toEqual([
      '**Why** (forwarding inet4): `nft_do_chain` +260 instructions per packet (9.3 → 12.4 % of them)',
    ]);
    expect(foldOf(renderMarkdown(judged([cell])))?.replaceAll('\u00a0', ' ')).toContain(
      '| `nft_do_chain` | +260 instructions | +3.1 points |',
    );
  });

  test('is unknown where base or patched has no profile, with the cause', () => {
    expect(whyLinesOf([{ ...loss, ...unprofiled('hwpmc is not loaded') }])).toEqual([
      '**Why** (forwarding inet4): there is no profile of patched: `hwpmc is not loaded`',
    ]);
  });

  test('may be unknown, as no function changed', () => {
    expect(whyLinesOf([{ ...loss, ...profiled([]) }])).toEqual([
      '**Why** (forwarding inet4): no function changed beyond chance',
    ]);
  });

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

  test('is absent without profiles', () => {
    expect(renderMarkdown(judged([loss]))).not.toMatch(/why/i);
  });

  test('is shown openly for three cells, regressions first', () => {
    const kinds = ['no-regression', 'improvement', 'improvement', 'regression', 'regression'];
    const cells = kinds.map((kind, index) => ({
      ...aCell({ kind: kind as 'regression' }, undefined, {
        scenario: `s${index}`,
        family: 'inet6',
      }),
      ...profiled(),
    }));
    expect(whyLinesOf(cells).map((line) => /\(s\d|of 2 more cells: below$/.exec(line)?.[0])).toEqual([
      '(s3',
      '(s4',
      '(s1',
      'of 2 more cells: below',
    ]);
  });

  test('links the flamegraphs of base, patched and their difference on the page', () => {
    const at = `${page}#flamegraph-forwarding-inet4`;
    const markdown = renderMarkdown(judged([{ ...loss, ...profiled() }]), { page });
    expect(unfolded(markdown)).toContain(
      ` · flamegraphs: [base](${at}-base) · [patched](${at}-patched) · [difference](${at}-difference)\n`,
    );
    expect(markdown).toContain(`<sub>[the whole report](${page})</sub>`);
    expect(whyLinesOf([{ ...loss, ...profiled() }])[0]).not.toContain('flamegraphs');
  });

  test('links no flamegraph of a variant that has none', () => {
    const [line] = whyLinesOf([{ ...loss, ...unprofiled('it was lost') }], { page });
    expect(line).toMatch(/ · flamegraphs: \[base\]\(\S+-base\)$/);
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

  test('has a row below its cell for each of them, which is not judged', () => {
    expect(tableRows(renderMarkdown(result(), { rerun: 'no' }))).toEqual([
      expect.stringMatching(/^\| forwarding inet4 \| 🟢 no-regression \| .* \| 6 \+ 6 \|$/),
      '| ↳ `diff 80345` | not judged | **−30.0 %** (−30.3 … −29.7) | 802.3 kpps | 561.6 kpps | 6 + 6 |',
      '| ↳ `diff 80654` | not judged | **+4.00 %** (+3.61 … +4.39) | 802.3 kpps | 834.4 kpps | 6 + 6 |',
    ]);
    expect(renderMarkdown(result())).toContain('They decide neither the verdict nor how many runs');
  });

  test('shows by the headline what patched does, and nothing of the others', () => {
    expect(renderMarkdown(result())).toMatch(/^### 🟢 ppsgate: D27401 loses nothing that matters/);
  });

  test('is named in the environment by its number, its address and its diff', () => {
    expect(foldOf(renderMarkdown(result()), 'Patch, variants and testbed')).toContain(
      '- patch: [D27401](https://phabricator.example/D27401) diff 80700, `Look up less` by `alice`\n',
    );
  });

  test.for([
    ['https://phabricator.example/D1)[x](https://evil.example', /^- patch: \[D27401\]\([^()\s]*\) /],
    ['https://phabricator.example/?a=`b`&<img src=x>', /^- patch: \[D27401\]\([^()\s`<>]*\) /],
    ['javascript:alert(1)', /^- patch: D27401 diff 80700/],
  ] as const)('has no way out of its link by the address %s', ([url, line]) => {
    const markdown = renderMarkdown(result({ patch: { ...revision, url } }));
    expect(foldOf(markdown, 'Patch, variants and testbed')).toMatch(line);
  });

  test('shows its notes, as text', () => {
    const patch = { ...revision, notes: ['The base was `guessed`.', '@everyone'] };
    expect(foldOf(renderMarkdown(result({ patch })), 'Notes on the revision')).toBe(
      '- ``The base was `guessed`.``\n- `@everyone`',
    );
    expect(renderMarkdown(result({ patch: { ...revision, notes: [] } }))).not.toContain('Notes on the revision');
  });

  test('shows omitted diffs openly, and their faults', () => {
    const rejection = {
      kind: 'boot-failed',
      message: 'Twice in a row: it was lost.',
      panic: 'page fault',
    } as const;
    const leftOut = [{ variant: 'diff 80345', rejection }];
    const told =
      'Left out of the comparison, which does not count against the patch:\n- `diff 80345` does not boot: `Twice in a row: it was lost.` (panic: `page fault`)';
    expect(unfolded(renderMarkdown(result({ leftOut })))).toContain(told);
    const outcome = { kind: 'build-failed', message: 'error' } as const;
    expect(unfolded(renderMarkdown(result({ leftOut, outcome })))).toContain(told);
    expect(renderMarkdown(result())).not.toContain('Left out');
  });

  test('has a ministat of base and patched, and another of base and all the others', () => {
    const markdown = renderMarkdown(result());
    const own = foldOf(markdown, 'ministat: forwarding inet4');
    expect(own.match(/^[x+*%#@O] .*$/gm)?.slice(0, 2)).toEqual([
      'x base, forwarding inet4',
      '+ patched, forwarding inet4',
    ]);
    expect(own).not.toContain('diff 80');
    const others = foldOf(markdown, 'ministat of earlier diffs: forwarding inet4');
    expect(others.split('\n').slice(1, 4)).toEqual([
      'x base, forwarding inet4',
      '+ diff 80345, forwarding inet4',
      '* diff 80654, forwarding inet4',
    ]);
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

  test('an outlier among their runs was not repeated, and is not shown', () => {
    const apart = aRun({ number: 200, pair: 7, variant: 'diff 80345', pps: 2e5 });
    const cells = [{ ...cell, runs: [...cell.runs, apart] }];
    const { outcome } = judged(cells, 'no-regression');
    expect(renderMarkdown(result({ outcome }))).not.toContain('Outliers');
  });
});

test('for a patch that other testbeds could measure the report names the files without effect here, and that nothing was measured', () => {
  const ignoredPaths = ['sys/dev/cxgbe/', 'tools/*/x'];
  const text = renderMarkdown({ ...unchanged, outcome: { kind: 'unchanged', ignoredPaths } });
  expect(text).toContain('⚪ ppsgate: #7 changes no code or rule that packets of this testbed pass');
  expect(text).toContain(
    'Nothing was measured: no packet of this testbed passes the changed code. The patch changes sys/dev/cxgbe/, tools/…/x: drivers of other ports, files of other machines, or what ppsgate.yml leaves out.',
  );
  expect(text).toContain('Select a testbed that has such ports');
});

test('a patch that need not be measured gets the reason, and how to measure it', () => {
  expect(renderMarkdown(unchanged)).toMatchInlineSnapshot(`
    "### ⚪ ppsgate: #7 changes nothing that the testbed installs

    Nothing was measured: nothing installed on this testbed differs between base and patched.

    **What now:** Nothing: packets are forwarded as before. To measure it anyway, run the gate with \`--measure-anyway\`, or write \`/ppsgate run measure-anyway\` in a comment.

    \`shelf-3\`

    <details><summary>environment</summary>

    **Patch, variants and testbed**

    - patch: \`Drop protocol 254 early\` by \`alice\`
    - \`base\`: commit \`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\`
    - \`patched\`: commit \`bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\`
    - order of runs: seed 42
    - ppsgate \`0.1.0\`

    </details>
    "
  `);
});
