import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CellProfiles } from '../../src/analysis/profile/result-profiles.ts';
import type { Patch } from '../../src/model/patch.ts';
import type { Rejection } from '../../src/model/rejection.ts';
import { type CellResult, type Result, resultSchema } from '../../src/model/result.ts';
import { flamegraphAnchor } from '../../src/model/scenario.ts';
import { writeHtml } from '../../src/report/html.ts';
import { renderHtml } from '../../src/report/reports.ts';
import { expectHarmless, hostile, poisoned } from '../fakes/poisoned.ts';
import { anExperiment } from '../fakes/report.ts';
import { aCell, aResult, aRun, forwarding, judged, pairedRuns, revision, unfit } from '../fakes/result.ts';

const regression = (changes: Partial<CellResult> = {}): CellResult => ({
  ...aCell({ kind: 'regression' }),
  ...changes,
});

/** Returns the text of a page as read: without markup, and on one line. */
const textOf = (page: string): string =>
  page
    .replace(/<(style|script)>.*?<\/\1>/gs, '')
    .replaceAll('<wbr>', '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');

test('all cells are drawn, however many there are', () => {
  const cells = Array.from({ length: 60 }, (_, index) =>
    regression({ cell: { ...forwarding, frameBytes: 64 + index } }),
  );
  const [, plot = ''] = /<div class="intervals">(.*?)<\/svg>/s.exec(renderHtml(judged(cells), [])) ?? [];
  expect(plot.match(/>regression</g)).toHaveLength(60);
  expect(plot).toContain('>forwarding inet4 123 B<');
});

test.for([
  [3, false],
  [4, true],
] as const)('of %i cells there are contents: %s', ([count, expected]) => {
  const cells = Array.from({ length: count }, (_, index) =>
    regression({ cell: { ...forwarding, frameBytes: 64 + index } }),
  );
  expect(renderHtml(judged(cells), []).includes('<nav aria-label="Contents">')).toBe(expected);
});

describe('flamegraphs', () => {
  const { result, profiles } = anExperiment();
  const page = renderHtml(result, profiles);

  test('exist for each variant and for the difference, at the anchors that comments link to', () => {
    const anchors = profiles.flatMap(({ cell }) =>
      ['base', 'patched', 'difference'].map((which) => flamegraphAnchor(cell, which)),
    );
    expect([...page.matchAll(/id="(flamegraph-[^"]*)"/g)].map(([, id]) => id)).toEqual(anchors);
    expect(page.match(/<svg[^>]*class="ppsgate-flamegraph/g)).toHaveLength(anchors.length);
  });

  test('a variant alone has no difference', () => {
    const alone = profiles.map(({ cell, variants }) => ({ cell, variants: variants.slice(0, 1) }));
    expect(renderHtml(result, alone)).not.toContain('-difference"');
  });

  test('without them the page has no script at all', () => {
    expect(renderHtml(result, [])).not.toContain('<script');
  });
});

describe('runs', () => {
  const runs = [
    ...pairedRuns([800_000, 801_000, 802_000], [720_000, 721_000, 722_000]),
    aRun({ number: 7, pair: 4, pps: 10_000, validity: unfit('0.3 s without a packet') }),
  ];

  test('are drawn in order, each by its variant, and those that do not count with a cross', () => {
    const [plot = ''] = /<svg class="runs".*?<\/svg>/s.exec(renderHtml(judged([regression({ runs })]), [])) ?? [];
    const marksOf = (name: string) => {
      const [, d = ''] = new RegExp(`<path class="${name}" d="([^"]*)"`).exec(plot) ?? [];
      return [...d.matchAll(/M([\d.]+) /g)].map(([, x]) => Number(x));
    };
    const [base, patched] = [marksOf('base'), marksOf('patched')];
    expect(base).toHaveLength(3);
    expect(patched).toHaveLength(3);
    expect([base[0], patched[0], base[1], patched[1]]).toEqual(
      [base[0], patched[0], base[1], patched[1]].toSorted((a = 0, b = 0) => a - b),
    );
    expect(plot.match(/class="uncounted" d="M/g)).toHaveLength(2);
    expect(textOf(plot)).toContain('does not count');
  });
});

test('only an A/A run shows whether variant and trial interact', () => {
  const trial = (number: number, patched: number[]) =>
    pairedRuns([1e6, 1e6, 1e6], patched).map((run) => ({ ...run, trial: number }));
  const runs = [trial(1, [1e6, 1.01e6, 1.02e6]), trial(2, [1e6, 1.01e6, 1.03e6])].flat();
  const { patch } = aResult();
  const ofOne: Patch = { ...patch, headCommit: patch.baseCommit };
  const textOfPatch = (changes: Partial<Result>) => textOf(renderHtml(judged([regression({ runs })], changes), []));
  expect(textOfPatch({ patch: ofOne })).toContain(
    'Interaction of variant and trial forwarding inet4: F(1, 4) = 0.10, P = 0.770',
  );
  expect(textOfPatch({})).not.toContain('Interaction');
});

test('the lines of a log stay lines', () => {
  const outcome: Rejection = { kind: 'build-failed', message: 'first\n  second\tof it' };
  expect(renderHtml(aResult({ outcome }), [])).toContain('<pre>first\n  second of it\n</pre>');
});

describe('the page', () => {
  const { result, profiles } = anExperiment();
  const page = renderHtml(result, profiles);

  test('loads nothing', () => {
    const addresses = [...page.matchAll(/<(\w+)[^>]*? (?:src|href|srcset|data|action|xlink:href)="([^"]*)"/g)];
    const loaded = addresses.filter(([, name]) => name !== 'a').map(([, , address]) => address);
    expect(loaded).toEqual(['data:,']);
    expect(page).not.toMatch(/url\(|@import|<(?:img|iframe|object|embed|image|base|form)\b/);
  });

  test('lets no script or style run but its own, which it names by their hashes', () => {
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    const hashes = (name: string) =>
      [...page.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(
        ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      );
    expect(hashes('script')).toHaveLength(2);
    expect(policy.replaceAll('&#39;', "'").split('; ')).toEqual([
      "default-src 'none'",
      'img-src data:',
      `style-src ${hashes('style').join(' ')}`,
      `script-src ${hashes('script').join(' ')}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(page).not.toMatch(/<[^>]* (?:style|on\w+)="/);
  });

  test('has one h1, and tables with captions and descriptive heads', () => {
    expect(page.match(/<h1>/g)).toHaveLength(1);
    const tables = page.match(/<table>.*?<\/table>/gs) ?? [];
    expect(tables.length).toBeGreaterThan(5);
    for (const one of tables) {
      expect(one).toMatch(/^<table><caption>.+<\/caption>/);
      expect(one.replace(/<th scope="(?:col|row)"/g, '')).not.toContain('<th ');
    }
  });
});

describe('text of others is never markup', () => {
  const inSchema = (result: Result): boolean => resultSchema.safeParse(result).success;

  const small = (): { result: Result; profiles: CellProfiles[] } => {
    const { result, profiles } = anExperiment();
    const [first] = result.outcome.kind === 'judged' ? result.outcome.cells : [];
    if (first === undefined) expect.fail('There are cells.');
    const cell: CellResult = {
      ...first,
      verdict: { kind: 'invalid', reason: 'no' },
      others: [{ variant: 'diff 1', comparisons: first.comparisons }],
      runs: [...first.runs.slice(0, 6), ...first.runs.slice(-1)],
      profiles: [...first.profiles, { kind: 'missing', variant: 'diff 1', reason: 'no' }],
    };
    return {
      profiles: profiles.slice(0, 1),
      result: {
        ...result,
        patch: { ...revision, notes: ['note'] },
        testbed: { ...result.testbed, warnings: ['warning'] },
        leftOut: [{ variant: 'diff 2', rejection: { kind: 'boot-failed', message: '', panic: '' } }],
        trials: result.trials.slice(0, 2),
        outcome: { kind: 'judged', verdict: 'invalid', cells: [cell] },
      },
    };
  };

  test('in a result that was judged', () => {
    const { result, profiles } = small();
    const bad = poisoned(result, inSchema);
    expect(JSON.stringify(bad).split('alert(1)').length).toBeGreaterThan(50);
    expectHarmless(renderHtml(bad, profiles), renderHtml(result, profiles));
  });

  test('in names of variants and of functions alike', () => {
    const { result, profiles } = small();
    const names = profiles.map(({ cell, variants }) => ({
      cell,
      variants: variants.map(({ profile, ...rest }) => ({
        ...rest,
        profile: poisoned(profile, ({ format }) => format === 'pmcstat'),
      })),
    }));
    expect(JSON.stringify(names).split('alert(1)').length).toBeGreaterThan(100);
    expectHarmless(renderHtml(result, names), renderHtml(result, profiles));
    const variants = profiles.map((one) => ({
      ...one,
      variants: one.variants.map((taken) => ({ ...taken, variant: hostile })),
    }));
    expectHarmless(renderHtml(result, variants), renderHtml(result, profiles));
  });

  test.for(['does-not-apply', 'build-failed', 'boot-failed'] as const)('in a patch that %s', (kind) => {
    const result = aResult({ outcome: { kind, message: 'said' } });
    const bad = poisoned(result, inSchema);
    const page = renderHtml(bad, []);
    expectHarmless(page, renderHtml(result, []));
    expect(page).toContain('&lt;script&gt;alert(1)');
  });

  test('an address that is not a page is no link', () => {
    const patch = { ...revision, url: 'javascript:alert(1)' };
    expect(renderHtml(aResult({ patch }), [])).not.toContain('javascript:');
  });
});

test('a page of more than 16 MiB is not written', () => {
  const large = { kind: 'paragraph', text: 'x'.repeat(16 * 1024 ** 2) } as const;
  const page = {
    title: 'Any',
    verdict: 'invalid',
    headline: 'Any',
    head: [large],
    contents: [],
    sections: [],
    version: '1',
    hasGraphs: false,
  } as const;
  expect(() => writeHtml(page)).toThrow(/^a page of \d+ characters is not written/);
});
