import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { anyBisect } from '../fakes/any-bisect.ts';
import {
  aBisectResult,
  bisectResults,
  failedForm,
  measuredForm,
  mellanoxBroken,
  mellanoxFixed,
  revisionsOf,
} from '../fakes/bisect-result.ts';
import { aRun, unfit } from '../fakes/result.ts';
import { times } from '../random.ts';

const unbroken = (text: string) => text.replaceAll('\u00a0', ' ');

const ministat = /\*\*ministat of before and after.*?(?=<\/details>)/s;

test('a culprit, as its reader sees it', () => {
  const markdown = unbroken(renderMarkdown(mellanoxFixed)).replace(ministat, '');
  expect(markdown).toMatchInlineSnapshot(`
    "### 🔴 ppsgate: f8f5b459d21e costs 55.9 ± 0.2 %, P > 0.999, 10 boots

    forwarding inet4, by packets per second (more is better): 12 commits after good, 5 tried

    **What now:**
    - See what it does for each packet, and make that cheaper; or keep it, and justify the loss.
    - f8f5b459d21e could only be measured with 431980466ff0 applied: a cost of that one would look the same, so check both.
    - To confirm it, measure the bad commit without the culprit: \`--verify-revert\`.

    | n | commit | subject | with | boots | median | against good | outcome | P |
    |--:|---|---|---|--:|--:|--:|---|--:|
    | 0 good | \`9a47ae044b48\` | \`Bump driver versions for mlx5en(4) and mlx4en(4).\` | – | 2 | 26.74 Mpps | – | measured | – |
    | 1 | \`a0010101eeee\` | \`Change 1\` | – | 2 | 26.94 Mpps | +0.74 % | measured | < 0.001 |
    | 2 | **\`f8f5b459d21e\`** | \`Update user access region, UAR, APIs in the core in mlx5core.\` | \`431980466ff0\` | 2 | 11.83 Mpps | −55.7 % | measured | > 0.999 |
    | 3 | \`a0030303eeee\` | \`Change 3\` | \`431980466ff0\` | 1 | 11.83 Mpps | −55.8 % | measured | – |
    |  |  | … 2 untried |  |  |  |  |  |  |
    | 6 | \`6815909abda2\` | \`Move the PMC overflow count to make it per-CPU.\` | \`431980466ff0\` | 1 | 11.84 Mpps | −55.7 % | measured | – |
    |  |  | … 5 untried |  |  |  |  |  |  |
    | 12 bad | \`431980466ff0\` | \`Don't offset the UAR map twice in mlx5en(4).\` | – | 2 | 11.83 Mpps | −55.8 % | measured | – |

    \`mlx5-lab\` (\`Intel Xeon E5-2697A v4, 32 threads\`) · 4,000 flows of 64-byte UDP · the sender targeted 42.49 Mpps and sent up to 2.987 Mpps, averaged over a trial with its pauses and all variants · measured in 121 min 9 s

    <details><summary>environment</summary>

    **Range and testbed**

    - good: \`c255749 = 9a47ae044b480000000000000000000000000000, Bump driver versions for mlx5en(4) and mlx4en(4)., by alice\`
    - bad: \`c255761 = 431980466ff00000000000000000000000000000, Don't offset the UAR map twice in mlx5en(4)., by alice\`
    - fix-up: \`431980466ff0:f8f5b459d21e\`
    - \`cpu\`: \`Intel Xeon E5-2697A v4, 32 threads\`
    - \`interfaces\`: \`cc0: Chelsio T580-LP-CR, 32 queues\`
    - \`net.inet.ip.redirect\`: \`0\`
    - \`kern.random.harvest.mask\`: \`351\`
    - seed 42
    - ppsgate \`0.1.0\`

    </details>

    <details><summary>statistics</summary>

    **How it was decided**

    - Each boot of a commit that counts is one number, and P is the probability that a commit is the one that changed the rate, given all numbers. No number is discarded: later ones correct an outlier.
    - The next measurement is always the one with the highest expected information per minute. The search ends once one commit, or a group of unmeasurable commits, has P ≥ 0.99 and both its neighbours have two numbers.
    - A change compares geometric means: of all numbers before it and of all numbers after it, up to the next change; ± its 95 % interval. Commits with the same kernel count as one.
    - A commit counts as unmeasurable after two failures, or after one if a neighbour failed the same way or no outcome depends on it. Commits between two that failed the same way are not tried, and are assumed to fail.
    - Details are in docs/how-to/bisect.md.

    </details>
    "
  `);
});

test('limits of instructions are shown if they are the metric', () => {
  const result = aBisectResult({ metric: 'instructionsPerPacket' });
  expect(renderMarkdown(result)).toContain('- Cache misses, locks, other CPUs, ');
  expect(renderMarkdown(aBisectResult())).not.toContain('Cache misses');
});

test('a group, as its reader sees it on Phabricator', () => {
  const remarkup = unbroken(renderRemarkup(mellanoxBroken)).split('\n```lang')[0];
  expect(remarkup).toMatchInlineSnapshot(`
    "**🔴 ppsgate: one of these 11 costs 55.9 ± 0.2 %: \`f8f5b459d21e\` … \`431980466ff0\`, P > 0.999, 11 boots**

    \`forwarding inet4\`, by packets per second (more is better): 12 commits after good, 5 tried

    - No commit between them could be measured: bisect again with \`--fix-up 431980466ff0\`, which probably made the later ones work.

    | commit and outcome | boots | median | P |
    | --- | --- | --- | --- |
    | 0 good \`9a47ae044b48\` \`Bump driver versions for mlx5en(4) and mlx4en(4).\` – measured | 2 | 26.74 Mpps | – |
    | 1 \`a0010101eeee\` \`Change 1\` – measured | 2 | 26.94 Mpps (+0.74 %) | < 0.001 |
    | 2 **\`f8f5b459d21e\`** \`Update user access region, UAR, APIs in the core in mlx5core.\` – forwards nothing | – | – | 0.091 |
    | 3 **\`a0030303eeee\`** \`Change 3\` – untried between failures | – | – | 0.091 |
    | 4 **\`a0040404eeee\`** \`Change 4\` – untried between failures | – | – | 0.091 |
    | 5 **\`a0050505eeee\`** \`Change 5\` – untried between failures | – | – | 0.091 |
    | 6 **\`6815909abda2\`** \`Move the PMC overflow count to make it per-CPU.\` – forwards nothing | – | – | 0.091 |
    | 7 **\`a0070707eeee\`** \`Change 7\` – untried between failures | – | – | 0.091 |
    | 8 **\`a0080808eeee\`** \`Change 8\` – untried between failures | – | – | 0.091 |
    | 9 **\`a0090909eeee\`** \`Change 9\` – untried between failures | – | – | 0.091 |
    | 10 **\`a00a0a0aeeee\`** \`Change 10\` – untried between failures | – | – | 0.091 |
    | 11 **\`a00b0b0beeee\`** \`Change 11\` – forwards nothing | – | – | 0.091 |
    | 12 bad **\`431980466ff0\`** \`Don't offset the UAR map twice in mlx5en(4).\` – measured | 2 | 11.83 Mpps (−55.8 %) | 0.091 |

    \`mlx5-lab\` (\`Intel Xeon E5-2697A v4, 32 threads\`) · 4,000 flows of 64-byte UDP · the sender targeted 42.49 Mpps and sent up to 2.987 Mpps, averaged over a trial with its pauses and all variants · measured in 121 min 9 s
    "
  `);
});

test('ministat is of both neighbours, or of both sides where these have too few numbers', () => {
  expect(renderMarkdown(mellanoxFixed)).toMatch(
    /if a neighbour has fewer.*x up to a0010101eeee, forwarding inet4\n\+ from f8f5b459d21e/s,
  );
  const values = (level: number) => [level, level + 1, level + 2];
  const revisions = revisionsOf(8, {
    4: { forms: [measuredForm(values(100))] },
    5: { forms: [measuredForm(values(90))] },
  });
  const own = renderMarkdown(aBisectResult({ revisions }));
  expect(own).toContain('x a0040404eeee, forwarding inet4\n+ a0050505eeee, forwarding inet4');
  expect(own).not.toContain('if a neighbour has fewer');
  const few = revisionsOf(8, { 4: { forms: [measuredForm([1])] } });
  expect(renderMarkdown(aBisectResult({ revisions: few }))).not.toContain('ministat');
});

test('shows a reason once for all revisions that fail alike, in its own words', () => {
  const panic = 'page fault while in kernel mode';
  const forms = [failedForm({ kind: 'boot-failed', message: 'no prompt within 300 s', panic })];
  const some = Object.fromEntries([2, 3, 4, 5].map((place) => [place, { forms }]));
  const markdown = renderMarkdown(aBisectResult({ revisions: revisionsOf(8, some) }));
  expect(markdown).toContain(
    '- 2 (a0020202eeee), 3 (a0030303eeee), 4 (a0040404eeee) and 1 more: does not boot: `no prompt within 300 s` (panic: `page fault while in kernel mode`)',
  );
});

test('a measured revert is above the folds', () => {
  const { 'a reverted culprit, of variants that share trials': result = aBisectResult() } = bisectResults;
  expect(renderMarkdown(result)).toContain(
    'The bad commit without the culprit:\n- +11.0 ± 0.2 % against the bad one (1.000 Mpps → 1.110 Mpps), 2 runs',
  );
  const revert = { kind: 'impossible', why: 'it does not apply' } as const;
  expect(renderMarkdown(aBisectResult({ revert }))).toContain('- It cannot be measured: `it does not apply`');
});

test('warnings, and runs that do not count, are folded', () => {
  const { testbed } = aBisectResult();
  const markdown = renderMarkdown(
    aBisectResult({
      testbed: { ...testbed, warnings: ['The clock is off.'] },
      runs: [aRun(), aRun({ validity: unfit('0.4 s without a packet') })],
    }),
  );
  expect(markdown).toContain('- `The clock is off.`');
  expect(markdown).toContain('- 1 of 2 runs, `0.4 s without a packet`');
});

test('shows the reason if before and after were profiled', () => {
  const result = aBisectResult({
    profiles: [{ kind: 'missing', variant: 'base', reason: 'hwpmc does not know the CPU' }],
  });
  expect(renderMarkdown(result)).toContain('**Why**: there is no profile of base: `hwpmc does not know the CPU`');
});

test('a plot is shown where it has an address', () => {
  const image = 'https://example.org/bisect.png';
  expect(renderMarkdown(mellanoxFixed, { image })).toContain(`costs 55.9 ± 0.2 %](${image})`);
  expect(renderMarkdown(mellanoxFixed, { image: 'x) <img>' })).not.toContain('![');
});

describe('of any result', () => {
  const text = fc
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
        fc.tuple(fc.constantFrom('`', '|', '🚦'), fc.nat(3_000)).map(([part, n]) => part.repeat(n)),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join(''));

  test('a comment fits GitHub’s limit, and has no markup but ours', () => {
    fc.assert(
      fc.property(anyBisect(text), (result) => {
        const markdown = renderMarkdown(result);
        expect(markdown.length).toBeLessThan(65_536);
        expect(markdown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
        const bare = withoutCode(markdown);
        expect(bare).not.toMatch(/@everyone|<img|<!--|!\[|# title/);
        expect(bare.split('<details>').length).toBe(bare.split('</details>').length);
      }),
      { numRuns: times(40) },
    );
  });

  test('the table has as many columns in every row', () => {
    fc.assert(
      fc.property(anyBisect(text), (result) => {
        const table = /^\| n \|.*?$(?=\n\n)/ms.exec(renderMarkdown(result))?.[0] ?? '';
        const rows = table.split('\n');
        expect(rows.length).toBeGreaterThan(3);
        const columns = rows.map((row) => row.split(/(?<!\\)\|/).length);
        expect(new Set(columns).size).toBe(1);
      }),
      { numRuns: times(40) },
    );
  });

  test('on Phabricator it is no longer than 100 kB', () => {
    fc.assert(
      fc.property(anyBisect(text), (result) => {
        expect(Buffer.byteLength(renderRemarkup(result))).toBeLessThanOrEqual(100_000);
      }),
      { numRuns: times(40) },
    );
  });
});

const withoutCode = (markdown: string): string =>
  markdown.replace(/^(`{3,})\n.*?\n\1$/gms, '').replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/gs, '');
