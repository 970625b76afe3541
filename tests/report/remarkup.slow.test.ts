import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type BisectResult, bisectResultSchema } from '../../src/model/bisect-result.ts';
import { remarkupBlock, remarkupCell, remarkupText } from '../../src/model/remarkup.ts';
import {
  type CellProfile,
  type CellResult,
  type ChangedFunction,
  type Result,
  resultSchema,
} from '../../src/model/result.ts';
import { bisectPlotAlt } from '../../src/report/bisect-plot.ts';
import { renderRemarkup, renderRemarkupFailure } from '../../src/report/reports.ts';
import { failedForm, mellanoxFixed } from '../fakes/bisect-result.ts';
import { judgeCell } from '../fakes/cell.ts';
import { aCell, aResult, aRun, pairedRuns, revision, unchanged, unfit } from '../fakes/result.ts';
import { describeWith, sharedFolder } from '../needs.ts';
import { times } from '../random.ts';

const links = {
  image: 'F123',
  details: 'https://ci.example/job/1',
  history: 'https://ci.example/history',
  rerun: '@ppsgate rerun',
};

const loss = judgeCell(
  pairedRuns(
    new Array(5).fill([801e3, 805e3, 799e3, 803e3]).flat(),
    new Array(5).fill([721e3, 718e3, 722e3, 719e3]).flat(),
  ).map((run) => ({ ...run, nsPerPacket: 1e9 / run.pps })),
);
const profileOf = (variant: string): CellProfile => ({
  kind: 'profiled',
  variant,
  event: 'cpu_clk_unhalted.thread_p',
  kernel: 'FreeBSD 15.0-CURRENT',
  seconds: 10,
  busySamples: 5_932,
  idleSamples: 17,
  file: `profiles/${variant}`,
});
const changedFunction: ChangedFunction = {
  function: 'fib4_lookup',
  baseRatio: 0.093,
  patchedRatio: 0.124,
};
const explained: CellResult = {
  ...loss,
  profiles: [profileOf('base'), profileOf('patched')],
  reason: {
    changedFunctions: [
      { ...changedFunction, module: 'kernel', nsPerPacket: { base: 115.2, patched: 153.4 } },
      { ...changedFunction, function: 'pf_test', baseRatio: 0.02, patchedRatio: 0 },
    ],
    moved: 2,
    idleFrames: ['cpu_idle'],
  },
};
const noTraffic: CellResult = {
  ...aCell({ kind: 'invalid', reason: '0 of 8 pairs of runs count: no traffic' }),
  comparisons: [],
};

const judged = (cells: CellResult[], changes: Partial<Result> = {}): Result =>
  aResult({
    patch: revision,
    outcome: { kind: 'judged', verdict: 'regression', cells },
    ...changes,
  });

test('what instructions do not tell is said where they are judged', () => {
  const { policy } = aResult();
  const byInstructions = { policy: { ...policy, metric: 'instructionsPerPacket' as const } };
  expect(renderRemarkup(judged([loss], byInstructions), links)).toContain(
    'What this metric does not see:\n- Cache misses, locks, other CPUs, ',
  );
});

test('a regression, as its reader sees it', () => {
  expect(
    renderRemarkup(judged([loss, noTraffic]), links).replaceAll('\u00a0', ' '),
  ).toMatchInlineSnapshot(`
    "**🔴 ppsgate: \`diff 80700\` loses 10.2 % (\`forwarding inet4\`)**

    The patched router forwards fewer packets per second than base in 1 of 2 cells, beyond what chance explains.

    **What now:** See what the patch does for each packet, make that cheaper, and send the patch again; or tell in it what the loss is for.

    | cell and verdict | change (90 % interval) | base → patched | runs |
    | --- | --- | --- | --- |
    | \`forwarding inet4\` 🔴 regression | **−10.2 %** (−10.4 … −10.0) | 802.0 kpps → 720.0 kpps | 20 + 20 |
    | \`forwarding inet4\` ⚪ invalid | – | – | 0 + 0 |

    - \`forwarding inet4\` is invalid: \`0 of 8 pairs of runs count: no traffic\`

    {F123, size=full, alt=the changes of all cells and their intervals}

    Judged by packets per second (more is better) · −2 % or more matters · false alarms ≤ 1 %

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`) · 2,000 flows of 64-byte UDP, 3.000 Mpps asked for, up to 2.987 Mpps sent on average over a whole trial · 2 min 5 s

    By CPU time per packet (less is better), which is not judged:

    | cell | change (90 % interval) | base → patched | runs |
    | --- | --- | --- | --- |
    | \`forwarding inet4\` | **+11.4 %** (+11.2 … +11.6) | 1,247 ns → 1,389 ns | 20 + 20 |
    | \`forwarding inet4\` | – | – | 0 + 0 |

    \`\`\`lang=text, name=notes on the revision, lines=8
    The base is the commit that the author named.
    \`\`\`

    \`\`\`lang=text, name=environment, lines=8
    patch: D27401 diff 80700, Look up less, by alice
    base: commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    patched: commit bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    kernel: Linux 6.18
    cpu: Xeon × 2
    order of runs: seed 42
    ppsgate 0.1.0
    \`\`\`

    \`\`\`lang=text, name=how to read this, lines=8
    Runs of base and patched alternate, and each cell ends as soon as its runs tell.
    The interval holds the true change in 90 % of experiments or more, however early they end;
    patched is base with the change.
    Of patches that lose nothing at most 1 % are called a regression in any cell, and of cells that lose 2 % at most 5 % are passed.
    Where one patch in ten has a loss of 2 %, at most 8.65 % of regressions are of patches that lose nothing;
    where one in a hundred does, 51 %.
    A regression by less than 2 % is shown larger than it is on average, as only the clearest end so.
    regression: surely a loss, and one of 2 % is not excluded
    improvement: the mirror image
    no-regression: a loss of 2 % is excluded
    inconclusive: neither: more runs would tell
    invalid: too few runs count, so nothing is said
    \`\`\`

    ministat takes the runs to be independent, while the table compares neighbouring runs, so that what slows both alike cancels.

    \`\`\`lang=text, name=ministat forwarding inet4, lines=12
    x base, forwarding inet4
    + patched, forwarding inet4
    +--------------------------------------------------------------------------+
    |   +                                                                      |
    |   +                                                                      |
    |   +                                                                      |
    |   +                                                                      |
    |   +                                                                      |
    |++ +                                                                x xx x|
    |++ +                                                                x xx x|
    |++ +                                                                x xx x|
    |++ +                                                                x xx x|
    |++ +                                                                x xx x|
    |                                                                     |A_| |
    ||_A|                                                                      |
    +--------------------------------------------------------------------------+
        N           Min           Max        Median           Avg        Stddev
    x  20        799000        805000        802000        802000     2294.1573
    +  20        718000        722000        720000        720000     1622.2142
    Difference at 90.0% confidence
    	-82000 +/- 1059.28
    	-10.2244% +/- 0.123242%
    	(Student's t, pooled s = 1986.8)
    \`\`\`

    Rerun: \`@ppsgate rerun\` · [[ https://ci.example/job/1 | details ]] · [[ https://ci.example/history | history ]]
    "
  `);
});

test('a kernel that does not boot, as its reader sees it', () => {
  const outcome = {
    kind: 'boot-failed',
    message: 'mounting\n```\n@everyone',
    panic: 'page fault',
    console: 'panic: page fault\n```\ncpuid = 3',
  };
  expect(
    renderRemarkup(aResult({ patch: revision, trials: [], outcome: outcome as Result['outcome'] })),
  ).toMatchInlineSnapshot(`
    "**🔴 ppsgate: \`diff 80700\` does not boot**

    The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:

    \`\`\`lang=text, name=what was said, lines=20
    mounting
    '''
    @everyone
    panic: page fault
    Its console, which is whole in dut-console.log:
    panic: page fault
    '''
    cpuid = 3
    \`\`\`

    **What now:** Boot the patched kernel on a machine whose console you see, fix what it dies of, and send the patch again.

    \`shelf-3\` (\`Xeon × 2\`, \`Linux 6.18\`)

    \`\`\`lang=text, name=notes on the revision, lines=8
    The base is the commit that the author named.
    \`\`\`

    \`\`\`lang=text, name=environment, lines=8
    patch: D27401 diff 80700, Look up less, by alice
    base: commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    patched: commit bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    kernel: Linux 6.18
    cpu: Xeon × 2
    order of runs: seed 42
    ppsgate 0.1.0
    \`\`\`
    "
  `);
});

test('what came to no result, as its reader sees it', () => {
  const heading = { symbol: '⚪', text: 'not measured: what was asked for cannot be done' };
  const said = 'D7 names no base: tell it with `arc diff`, @alice.';
  expect(renderRemarkupFailure({ ...heading, said }, links)).toMatchInlineSnapshot(`
    "**⚪ ppsgate: not measured: what was asked for cannot be done**

    \`\`\`lang=text, name=what was said, lines=20
    D7 names no base: tell it with \`arc diff\`, @alice.
    \`\`\`

    Rerun: \`@ppsgate rerun\` · [[ https://ci.example/job/1 | details ]] · [[ https://ci.example/history | history ]]
    "
  `);
});

test('earlier diffs stand below their cell, and are not judged', () => {
  const others = [{ variant: 'diff 80345', comparisons: loss.comparisons }];
  const [head, below] = tablesOf(renderRemarkup(judged([{ ...loss, others }])))[0]?.slice(-2) ?? [];
  expect(head?.[0]).toBe('`forwarding inet4` 🔴 regression');
  expect(below?.[0]).toBe('↳ `diff 80345` not judged');
  expect(below?.slice(1)).toEqual(head?.slice(1));
});

describe('why a cell changed', () => {
  const page = 'https://ci.example/job/1/report.html';
  const whyOf = (remarkup: string) => /^\*\*Why\*\*.*$/m.exec(remarkup)?.[0];

  test('is shown below the table, with flamegraphs if there is a page for them', () => {
    const told =
      '**Why** (`forwarding inet4`): `fib4_lookup` +38 ns per packet (9.3 → 12.4 % of cycles), `pf_test` −2.0 points (2.0 → 0.0 % of cycles)';
    expect(whyOf(renderRemarkup(judged([explained])))).toBe(told);
    const at = `${page}#flamegraph-forwarding-inet4`;
    const remarkup = renderRemarkup(judged([explained]), { ...links, page });
    expect(whyOf(remarkup)).toBe(
      `${told} · flamegraphs: [[ ${at}-base | base ]] · [[ ${at}-patched | patched ]] · [[ ${at}-difference | difference ]]`,
    );
    expect(remarkup).toContain(`\`@ppsgate rerun\` · [[ ${page} | the whole report ]] · `);
  });

  test('is shown for all functions in a block of code', () => {
    const block = blocksOf(renderRemarkup(judged([explained]))).find(
      (one) => one.kind === 'code' && one.options.name === 'why',
    );
    expect(block).toMatchObject({
      text: [
        'forwarding inet4: 5,932 samples of base, 5,932 samples of patched, left out as idle: cpu_idle',
        '  fib4_lookup (kernel) +38 ns per packet (9.3 → 12.4 % of cycles)',
        '  pf_test −2.0 points (2.0 → 0.0 % of cycles)',
      ].join('\n'),
    });
  });

  test('is not asked where profiles were not', () => {
    expect(renderRemarkup(judged([loss]))).not.toMatch(/why/i);
  });
});

test('without an image there is no place for one', () => {
  expect(renderRemarkup(judged([loss]))).not.toContain('{');
});

test('of many invalid cells the first reasons are shown, and the rest is counted', () => {
  const text = renderRemarkup(judged(new Array<CellResult>(30).fill(noTraffic)));
  expect(text.match(/ is invalid: /g)).toHaveLength(20);
  expect(text).toContain('- 10 more cells are invalid\n');
});

test('leaves out ministat first if not all fits, with a note', () => {
  const text = renderRemarkup(judged(new Array<CellResult>(100).fill(loss)), links);
  const names = blocksOf(text).flatMap((block) =>
    block.kind === 'code' ? [block.options.name ?? ''] : [],
  );
  const shown = names.filter((name) => name.startsWith('ministat')).length;
  expect(shown).toBeGreaterThan(10);
  expect(names).toContain('environment');
  expect(text).toContain(`\n\n${100 - shown} more parts are in the full report`);
  expect(text.trimEnd()).toMatch(/history \]\]$/);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
});

describe('text within a line', () => {
  test.for([
    ['plain words', 'plain words', '`plain words`'],
    ['a mention', 'ping @alice', '`ping @alice`'],
    ['a backtick', 'a `b` c', "`a 'b' c`"],
    ['line breaks', 'a\n\n= b\r\n\tc', '`a = b c`'],
    ['colours of a terminal', '\u001b[31mred\u001b[0m', '`red`'],
    ['what is replaced even in code', '\x24{{{strings.platform}}}', '`$ {{{strings.platform}}}`'],
    ['nothing to see', ' \n\u200b', ''],
  ] as const)('with %s', ([, text, shown]) => {
    expect(remarkupText(text)).toBe(shown);
  });

  test('is cut to the length asked for', () => {
    expect(remarkupText('abcdefgh', 5)).toBe('`abcd…`');
  });

  test('in a table has nothing that ends its column or hides the end of one', () => {
    expect(remarkupCell('a | [[ b ]] | [[[c')).toBe('`a ¦ [ [ b ]] ¦ [ [ [c`');
  });
});

describe('a block', () => {
  test('has its options before anything that looks like some', () => {
    expect(remarkupBlock('ministat: a, b=c', 'lang=c\nx ```\n', 7)).toBe(
      "```lang=text, name=ministat a bc, lines=7\nlang=c\nx '''\n```",
    );
  });

  test('leaves out the middle of a long text', () => {
    const block = remarkupBlock('log', 'a'.repeat(10_000));
    expect(block).toContain('… 4000 characters left out …');
    expect(block.length).toBeLessThan(6200);
  });
});

type Block =
  | { kind: 'code'; text: string; options: Record<string, string> }
  | { kind: 'table'; rows: string[][]; hasHead: boolean }
  | { kind: 'literal'; text: string }
  /** Blocks in which markup within lines takes effect. */
  | { kind: 'text' | 'list' | 'header' | 'quote' | 'note' | 'rule' | 'interpreter'; text: string };

type BlockRule = { kind: Block['kind']; lines: (lines: readonly string[]) => number };

/** Counts the lines of the kind from the first on, by the first line and the next ones. */
const linesWhile = (first: RegExp, next: RegExp) => (lines: readonly string[]) => {
  if (!first.test(lines[0] ?? '')) return 0;
  const end = lines.findIndex((line, index) => index > 0 && !next.test(line));
  return end < 0 ? lines.length : end;
};

const linesUntil = (first: RegExp, last: RegExp, alone: RegExp) => (lines: readonly string[]) => {
  if (!first.test(lines[0] ?? '')) return 0;
  if (alone.test(lines[0] ?? '')) return 1;
  const end = lines.findIndex((line, index) => index > 0 && last.test(line));
  return end < 0 ? lines.length : end + 1;
};

const only = /(?!)/;

const listLines = linesWhile(
  /^\s*(?:[-*#]+|\d+[.)]|\[[ x]?\])\s/,
  /^\s*(?:[-*#]+|\d+[.)]|\[[ x]?\])\s|^ +\S/,
);

/** In the order in which they are tried; one line that begins with `#` is a list only at the end. */
const blockRules: BlockRule[] = [
  {
    kind: 'list',
    lines: (lines) => {
      const count = listLines(lines);
      return count === 1 && lines.length > 1 && lines[0]?.startsWith('#') ? 0 : count;
    },
  },
  { kind: 'code', lines: linesWhile(/^\s{2,}\S/, /^\s{2,}|^\s*$/) },
  { kind: 'code', lines: linesUntil(/^\s*```/, /```\s*$/, /^\s*```.*```\s*$/) },
  { kind: 'literal', lines: linesUntil(/^\s*%%%/, /%%%\s*$/, /^\s*%%%.*%%%\s*$/) },
  {
    kind: 'interpreter',
    lines: linesUntil(/^\w+\s*(?:\([^)]+\)\s*)?\{\{\{/, /\}\}\}\s*$/, /\}\}\}\s*$/),
  },
  { kind: 'table', lines: linesUntil(/^\s*<table>/i, /<\/table>\s*$/i, /<\/table>\s*$/i) },
  { kind: 'table', lines: linesWhile(/^\s*\|/, /^\s*\|/) },
  { kind: 'note', lines: linesWhile(/^\s*\(?(?:NOTE|WARNING|IMPORTANT)[:)]/, /\S/) },
  { kind: 'quote', lines: linesWhile(/^>/, /^>/) },
  { kind: 'rule', lines: linesWhile(/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/, only) },
  { kind: 'header', lines: linesWhile(/^(?:={1,5}|#{2,5}|# )\s*\S/, only) },
  {
    kind: 'header',
    lines: ([first = '', second = '']) =>
      /\S/.test(first) && /^(?:={2,}|-{2,})\s*$/.test(second) ? 2 : 0,
  },
];

/** Parses a comment as Remarkup does, as far as an attacker could use it. */
function blocksOf(remarkup: string): Block[] {
  const blocks: Block[] = [];
  let lines = remarkup.replaceAll('\r\n', '\n').split('\n');
  while (lines.length > 0) {
    const rule = blockRules.find((one) => one.lines(lines) > 0);
    const count = rule?.lines(lines) ?? 1;
    const text = lines.slice(0, count).join('\n');
    lines = lines.slice(count);
    const last = blocks.at(-1);
    if (rule !== undefined) blocks.push(blockOf(rule.kind, text));
    else if (last?.kind === 'text' && text.trim() !== '') last.text += `\n${text}`;
    else if (last?.kind !== 'text' || last.text !== '') blocks.push({ kind: 'text', text });
  }
  return blocks.filter(
    (block) => !('text' in block) || block.kind === 'code' || /\S/.test(block.text),
  );
}

function blockOf(kind: Block['kind'], text: string): Block {
  if (kind === 'code') return codeOf(text);
  if (kind === 'table') return tableOf(text);
  return { kind, text };
}

/** The first line is options where all of its keys are some; the first word of another may be a language. */
function codeOf(text: string): Block {
  const isFenced = /^\s*```/.test(text);
  const inside = isFenced ? text.replace(/^\s*```(?:\s*\n)?/, '').replace(/```\s*$/, '') : text;
  const [first = '', ...rest] = inside.split('\n');
  const pairs = first.split(',').map((pair) => pair.trim().split('='));
  const isKnown = pairs.every(([key = '']) => /^(?:lang|name|lines|counterexample)$/.test(key));
  const isLanguage = /^\s*```[a-z]+\n/.test(text);
  const body = isFenced && (isKnown || isLanguage) ? rest : [first, ...rest];
  const indents = body.flatMap((line) => (/\S/.test(line) ? line.search(/[^ ]/) : []));
  const indent = Math.min(80, ...indents);
  const shown = body.map((line) => line.slice(Math.min(indent, line.search(/[^ ]|$/)))).join('\n');
  const options = isFenced && isKnown ? pairs : [];
  return {
    kind: 'code',
    text: shown.trimEnd(),
    options: Object.fromEntries(options.map(([key = '', value = '']) => [key, value])),
  };
}

/** Columns end at `|`, but not within a link. */
function tableOf(text: string): Block {
  const all = /^\s*<table>/i.test(text)
    ? [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
        [...row.matchAll(/<t([dh])>(.*?)<\/t\1>/gs)].map(([, , column = '']) => column.trim()),
      )
    : text.split('\n').map(columnsOf);
  const isRuler = (row: string[]) =>
    row.some((column) => /^--+$/.test(column)) && row.every((column) => /^(?:--+)?$/.test(column));
  return {
    kind: 'table',
    rows: all.filter((row) => row.length > 0 && !isRuler(row)),
    hasHead: all.some(isRuler) || /<th>/.test(text),
  };
}

/** Columns of a line that begins with `|`; a link that does not end takes the rest of its column with it. */
const columnsOf = (line: string): string[] =>
  line
    .replace(/^\s*\|/, '')
    .replace(/\|+$/, '')
    .replace(/\[\[.*?\]\]/g, (link) => link.replaceAll('|', '\0'))
    .split('|')
    .map((column) =>
      column
        .replaceAll('\0', '|')
        .replace(/\[\[(?!.*\]\]).*/, '')
        .trim(),
    );

type Effect = { kind: 'mention' | 'object' | 'macro' | 'link'; text: string };

/** Code is taken out first, and then all that has an effect; longer ones before what they contain. */
const effectRules: [Effect['kind'], RegExp][] = [
  ['link', /\[\[.*?\]\]/g],
  ['link', /\[[^\]\n]*\]\([^)\s]*\)/g],
  ['object', /(?<!\w)\{[A-Z]\d+(?:[,\s][^}]*)?\}/g],
  ['macro', /\{[a-z]\w*[^}]*\}/g],
  ['link', /\w{3,}:\/\/[^\s\0]+/g],
  ['mention', /(?<![\w@])@[\w.-]*[\w-]/g],
  ['object', /(?<![\w#@-])(?:[A-Z]\d+|r[A-Z]+[0-9a-f]*|[0-9a-f]{7,40})(?!\w)/g],
  ['object', /(?<![\w#@-])#\d*[a-z_]\S*/gi],
];

/** Parses text outside of blocks of code as Remarkup does. */
function inlineOf(text: string): { code: string[]; effects: Effect[]; rest: string } {
  const code: string[] = [];
  const effects: Effect[] = [];
  let rest = text.replace(/\$\{\{\{([^\n]+?)\}\}\}/g, (macro) => {
    effects.push({ kind: 'macro', text: macro });
    return '\0';
  });
  rest = rest.replace(/##(.+?)##|(?<!\w)`([^\n]+?)`/gs, (_, hashes?: string, ticks?: string) => {
    code.push(hashes ?? ticks ?? '');
    return '\0';
  });
  for (const [kind, pattern] of effectRules) {
    rest = rest.replace(pattern, (found) => {
      effects.push({ kind, text: found });
      return '\0';
    });
  }
  return { code, effects, rest };
}

const textsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'table') return block.rows.flat();
    return block.kind === 'code' || block.kind === 'literal' ? [] : block.text;
  });

const effectsOf = (remarkup: string): Effect[] =>
  textsOf(blocksOf(remarkup)).flatMap((text) => inlineOf(text).effects);

const tablesOf = (remarkup: string): string[][][] =>
  blocksOf(remarkup).flatMap((block) => (block.kind === 'table' ? [block.rows] : []));

/** A comment without the text of its code. */
const skeleton = (remarkup: string): unknown =>
  blocksOf(remarkup).map((block) => {
    if (block.kind === 'code') return { ...block.options, name: 'name' in block.options };
    if (block.kind === 'table')
      return block.rows.map((row) => row.map((text) => inlineOf(text).rest));
    return { kind: block.kind, rest: inlineOf(block.text).rest };
  });

const recorded = 'shared/phabricator/remarkup-rendered.json';

describeWith([recorded], 'the model of Remarkup agrees with Phabricator', () => {
  const pairsSchema = z.record(z.string(), z.object({ remarkup: z.string(), html: z.string() }));
  const pairs = () =>
    Object.entries(
      pairsSchema.parse(
        JSON.parse(readFileSync(sharedFolder('phabricator/remarkup-rendered.json'), 'utf8')),
      ),
    );

  const entities = { lt: '<', gt: '>', quot: '"', '#039': "'", amp: '&' };
  const textOf = (html: string) =>
    html
      .replace(/<[^>]*>/g, '')
      .replace(/&(lt|gt|quot|#039|amp);/g, (_, name: keyof typeof entities) => entities[name]);
  const all = (html: string, pattern: RegExp) =>
    [...html.matchAll(pattern)].map(([, inside = '']) => textOf(inside));

  test('on code', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const blocks = blocksOf(remarkup);
      const ofBlocks = blocks.flatMap((block) => (block.kind === 'code' ? block.text : []));
      expect(ofBlocks, name).toEqual(all(html, /<pre class="remarkup-code[^>]*>(.*?)<\/pre>/gs));
      const inLines = textsOf(blocks).flatMap((text) => inlineOf(text).code);
      expect(inLines, name).toEqual(all(html, /<tt class="remarkup-monospaced">(.*?)<\/tt>/gs));
      const names = blocks.flatMap((block) =>
        block.kind === 'code' ? (block.options.name ?? []) : [],
      );
      expect(names, name).toEqual(all(html, /<div class="remarkup-code-header">(.*?)<\/div>/gs));
    }
  });

  test('on tables', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const rows = all(html.replace(/<\/?t[dh]>/g, '|'), /<tr>(.+?)<\/tr>/gs);
      const modelled = tablesOf(remarkup).flat();
      expect(
        modelled.map((row) => row.length),
        name,
      ).toEqual(rows.map((row) => row.split('||').length));
      const heads = blocksOf(remarkup).flatMap((block) =>
        block.kind === 'table' ? block.hasHead : [],
      );
      expect(heads.some(Boolean), name).toBe(html.includes('<th>'));
    }
  });

  test('on what takes effect, or sees more', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const seen = effectsOf(remarkup);
      const effectCount = (kind: Effect['kind']) => seen.filter((one) => one.kind === kind).length;
      const inHtml = (pattern: RegExp) => html.match(pattern)?.length ?? 0;
      const mentions = inHtml(/phui-tag-type-person/g);
      const cards = inHtml(/data-sigil="hovercard"/g);
      const files = inHtml(/class="phabricator-remarkup-embed-layout-(?:left|inline|link)/g);
      const boxes = blocksOf(remarkup).map(({ kind }) => kind);
      const blockCount = (kind: Block['kind']) => boxes.filter((one) => one === kind).length;
      expect(effectCount('mention'), name).toBe(mentions);
      expect(effectCount('object'), name).toBeGreaterThanOrEqual(cards - mentions + files);
      expect(effectCount('macro'), name).toBeGreaterThanOrEqual(
        inHtml(
          /<img id|<kbd>|class="visual-only phui-icon-view phui-font-fa (?!fa-briefcase|fa-file)/g,
        ),
      );
      expect(effectCount('link'), name).toBeGreaterThanOrEqual(
        inHtml(/class="(?:remarkup-link|phriction-link)/g),
      );
      expect(blockCount('note'), name).toBe(
        inHtml(/<div class="remarkup-(?:note|warning|important)"/g),
      );
      expect(blockCount('header'), name).toBe(inHtml(/class="remarkup-header"/g));
      expect(blockCount('quote'), name).toBe(inHtml(/<blockquote/g));
      expect(blockCount('rule'), name).toBe(inHtml(/<hr/g));
      expect(blockCount('literal'), name).toBe(inHtml(/class="remarkup-literal"/g));
      expect(blockCount('interpreter'), name).toBe(inHtml(/<div class="PhabricatorMonospaced/g));
      expect(blockCount('list') > 0, name).toBe(/<[uo]l /.test(html));
    }
  });
});

/** Texts that have an effect in Remarkup, or could end the code around them. */
const pieces = [
  '`§``§```§````§ ```§```\n§\n```\n§##§%%%§\n%%%\n§**§//§|§||§[[§]]§{§}§\x24{{{§}}}§\\§\'§"§&lt;§<b>',
  '@alice§@bob.§ D1 § T2, §{F3}§{D4}§{P5§rSRC§rSRC830dce812dee§#network§abcdef0123§[[ x | y ]]',
  'https://x.example/§<https://x.example>§[x](https://x.example)§{icon check}§{image https://x.example}',
  '\x24{{{strings.platform.server.name}}}§cowsay{{{x}}}§lang=c§, counterexample§name=x, lines=1',
  '\n| a | b |\n§| --- |§\nNOTE: x§\n> x§\n= x =\n§\n---\n§\n- x§<table>\n<tr><td>§</table>',
  '\n§\r\n§\r§\n\n§\t§\v§ §    §\0§\u0001§\u0085§\u00a0§\u200b§\u2028§\u202e§\ud83d§🚦§é',
].flatMap((several) => several.split('§'));

/** Text of an attacker who knows Remarkup. */
const hostileText = fc
  .array(
    fc.oneof(
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 10 }) },
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => `x${parts.join('')}`);

/** Names of rules that the schema allows. */
const hostileName = fc.constantFrom(...'D1 T2 rSRC abcdef0 a__b__c x-y F1.png r--x'.split(' '));

type Texts = { next: () => string; name: () => string };

/** Names and ids are bounded by the schema. */
const shortOf =
  ({ next }: Texts) =>
  (): string =>
    next().slice(0, 240);

/** Every text of a result by another one; those that tell variants apart stay, once for each place. */
const hostileResult =
  (outcome: (texts: Texts) => Result['outcome']) =>
  (texts: Texts): Result => {
    const { next } = texts;
    const word = shortOf(texts);
    return resultSchema.parse({
      ...aResult(),
      generator: { name: 'ppsgate', version: word() },
      patch: { ...revision, title: next(), author: next(), notes: [next(), next()] },
      variants: [
        { name: 'base', commit: word(), files: [{ path: word(), sha256: word() }] },
        { name: word(), commit: word(), files: [] },
      ],
      testbed: {
        name: word(),
        fingerprint: { cpu: next(), kernel: next(), [`1${word()}`]: next() },
        warnings: [next()],
      },
      trials: aResult().trials.map((trial) => ({ ...trial, kernel: word(), logs: word() })),
      leftOut: [
        { variant: word(), rejection: { kind: 'boot-failed', message: next(), panic: next() } },
      ],
      outcome: outcome(texts),
    });
  };

const judgedOutcome = (texts: Texts): Result['outcome'] => {
  const { next, name } = texts;
  const word = shortOf(texts);
  const [run] = loss.runs;
  const runs = [
    ...loss.runs,
    aRun({ variant: word(), validity: unfit(next()) }),
    ...(run ? [{ ...run, variant: word() }] : []),
  ];
  const changedFunctions = Array.from({ length: 4 }, () => ({
    ...changedFunction,
    function: next(),
    module: word(),
  }));
  const cells: CellResult[] = [
    {
      ...loss,
      profiles: [profileOf('base'), profileOf('patched')],
      reason: { changedFunctions, moved: 4, idleFrames: [next(), next()] },
      cell: { scenario: name(), family: 'inet4' },
      verdict: { kind: 'regression' },
      others: [{ variant: word(), comparisons: loss.comparisons }],
      baseline: { kind: 'moved', interval: { change: -0.04, low: -0.05, high: -0.03 } },
      runs,
    },
    {
      ...aCell({ kind: 'regression' }, undefined, { scenario: name(), family: 'inet6' }),
      profiles: [profileOf('base'), { kind: 'missing', variant: 'patched', reason: next() }],
      runs: pairedRuns([8e5, 8e5, 8e5, 8e5, 2e5], [7e5, 7e5, 7e5, 7e5, 1e5]),
    },
    {
      ...aCell({ kind: 'invalid', reason: next() }, undefined, {
        scenario: name(),
        family: 'inet6',
      }),
      comparisons: [],
    },
  ];
  return { kind: 'judged', verdict: 'regression', cells };
};

const makers = [
  hostileResult(judgedOutcome),
  hostileResult(({ next }) => ({ kind: 'build-failed', message: next() })),
  hostileResult(({ next, name }) => ({ kind: 'does-not-load', scenario: name(), message: next() })),
  hostileResult(({ next }) => ({
    kind: 'panics-under-load',
    message: next(),
    panic: next(),
    console: next(),
  })),
];

const tame: Texts = { next: () => 'tame', name: () => 'forwarding' };

const ours: Effect[] = [
  { kind: 'link', text: '[[ https://ci.example/job/1 | details ]]' },
  { kind: 'link', text: '[[ https://ci.example/history | history ]]' },
];
const picture: Effect = {
  kind: 'object',
  text: '{F123, size=full, alt=the changes of all cells and their intervals}',
};

/** Replaces each text by the given ones in turn. */
function inTurn(texts: readonly string[], names: readonly string[]): Texts {
  const pick = (all: readonly string[]) => {
    let index = 0;
    return () => all[index++ % all.length] ?? '';
  };
  return { next: pick(texts), name: pick(names) };
}

const manyTexts = fc.record({
  texts: fc.array(hostileText, { minLength: 1, maxLength: 40 }),
  names: fc.array(hostileName, { minLength: 1, maxLength: 3 }),
});

describe('no text of a result gets out of code', () => {
  test.for(makers.map((maker, index) => [`outcome ${index}`, maker] as const))(
    'and the report has the same shape with any texts (%s)',
    ([, maker]) => {
      const shape = skeleton(renderRemarkup(maker(tame), links));
      const effects = maker === makers[0] ? [picture, ...ours] : ours;
      fc.assert(
        fc.property(manyTexts, ({ texts, names }) => {
          const remarkup = renderRemarkup(maker(inTurn(texts, names)), links);
          expect(effectsOf(remarkup)).toEqual(effects);
          expect(skeleton(remarkup)).toEqual(shape);
          expect(remarkup).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
        }),
        { numRuns: times(50) },
      );
    },
  );

  test('nor of a bisection', () => {
    const hostile = ({ next, name }: Texts): BisectResult => {
      const fault = {
        kind: 'boot-failed',
        message: next(),
        panic: next(),
        console: next(),
      } as const;
      const { revisions } = mellanoxFixed;
      return bisectResultSchema.parse({
        ...mellanoxFixed,
        good: next(),
        bad: next(),
        fixUps: [next()],
        generator: { name: 'ppsgate', version: next() },
        testbed: {
          name: next(),
          fingerprint: { cpu: next(), [`1${next()}`]: next() },
          warnings: [next()],
        },
        cell: { scenario: name(), family: 'inet4' },
        revisions: revisions.map((revision, index) => ({
          ...revision,
          subject: next(),
          author: next(),
          forms: index === 4 ? [failedForm(fault)] : revision.forms,
        })),
        revert: { kind: 'impossible', why: next() },
        runs: [aRun({ variant: next(), validity: unfit(next()) })],
        profiles: [profileOf('base'), { kind: 'missing', variant: 'patched', reason: next() }],
        reason: {
          changedFunctions: [{ ...changedFunction, function: next() }],
          moved: 1,
          idleFrames: [next()],
        },
      });
    };
    const shape = skeleton(renderRemarkup(hostile(tame), links));
    const alt = bisectPlotAlt(hostile(tame));
    const drawn: Effect = { kind: 'object', text: `{F123, size=full, alt=${alt}}` };
    fc.assert(
      fc.property(manyTexts, ({ texts, names }) => {
        const remarkup = renderRemarkup(hostile(inTurn(texts, names)), links);
        expect(effectsOf(remarkup)).toEqual([drawn, ...ours]);
        expect(skeleton(remarkup)).toEqual(shape);
        expect(remarkup).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
      { numRuns: times(50) },
    );
  });

  test('nor of a failure, its title included', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (text, said) => {
        const remarkup = renderRemarkupFailure({ symbol: '⚪', text, said }, links);
        expect(effectsOf(remarkup)).toEqual(ours);
        expect(blocksOf(remarkup).map(({ kind }) => kind)).toEqual(['text', 'code', 'text']);
      }),
      { numRuns: times(100) },
    );
  });

  test('nor is the report longer than 100 kB, however long they are', () => {
    const long = fc
      .tuple(
        fc.constantFrom('`', '|', '\u4e2d', '🚦', '\n', 'a b '),
        fc.integer({ min: 1, max: 9_000 }),
      )
      .map(([part, count]) => part.repeat(count));
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 5 }), fc.nat(3), (texts, which) => {
        const result = makers[which]?.(inTurn(texts, ['forwarding'])) ?? aResult();
        const { outcome } = result;
        const many =
          outcome.kind === 'judged'
            ? { ...outcome, cells: new Array(60).fill(outcome.cells).flat() }
            : outcome;
        const remarkup = renderRemarkup({ ...result, outcome: many }, links);
        expect(Buffer.byteLength(remarkup)).toBeLessThanOrEqual(100_000);
        expect(effectsOf(remarkup).filter(({ kind }) => kind === 'mention')).toEqual([]);
      }),
      { numRuns: times(20) },
    );
  });
});

test('a patch that need not be measured, as its reader sees it', () => {
  expect(renderRemarkup({ ...unchanged, patch: revision })).toMatchInlineSnapshot(`
    "**⚪ ppsgate: \`diff 80700\` changes nothing that the testbed installs**

    Nothing was measured: nothing that this testbed installs differs between base and patched.

    **What now:** Nothing: packets are forwarded as before. To have that measured all the same, run the gate with \`--measure-anyway\`, or write \`run measure-anyway\` in a comment.

    \`shelf-3\`

    \`\`\`lang=text, name=notes on the revision, lines=8
    The base is the commit that the author named.
    \`\`\`

    \`\`\`lang=text, name=environment, lines=8
    patch: D27401 diff 80700, Look up less, by alice
    base: commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    patched: commit bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    order of runs: seed 42
    ppsgate 0.1.0
    \`\`\`
    "
  `);
});
