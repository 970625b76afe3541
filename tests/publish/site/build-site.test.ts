// Pages of the site, from the nightly runs of a branch.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NightlyRun, TrendIndex } from '../../../src/model/trend.ts';
import { siteFiles } from '../../../src/publish/site/build-site.ts';
import type { SiteSource } from '../../../src/publish/site/site-source.ts';
import { writeSite } from '../../../src/publish/site/write-site.ts';
import { branchOverTime, commitOf, dayAfter } from '../../fakes/branch-over-time.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aResult } from '../../fakes/result.ts';

const source = branchOverTime({ testbeds: 2, cells: 12, nightlyRuns: 120 });
const files = siteFiles(source, dayAfter);

const page = (path: string, of: SiteSource = source): string =>
  (of === source ? files : siteFiles(of, dayAfter)).get(path) ?? `there is no ${path}`;

/** The page as a person reads it. */
const read = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,.)])/g, '$1');

/** Has a single series, which a test changes. */
const single: SiteSource = { ...source, index: { ...source.index, cells: source.index.cells.slice(0, 1) } };

const withIndex = (changes: Partial<TrendIndex>): SiteSource => ({
  ...single,
  index: { ...single.index, ...changes },
});

const pages = [...files].filter(([path]) => path.endsWith('.html'));

describe('the pages', () => {
  test('link to nothing but to each other, and to what the index compares by', () => {
    const broken = pages.flatMap(([path, markup]) =>
      [...markup.matchAll(/(?:href|src)="([^"]*)"/g)].flatMap(([, link = '']) => {
        if (link.startsWith('https://github.com/freebsd/freebsd-src/')) return [];
        const [target = ''] = link.split('#');
        const found = posix.join(posix.dirname(path), target);
        return target === '' || files.has(found) ? [] : `${path}: ${link}`;
      }),
    );
    expect(broken).toEqual([]);
  });

  test('have no style and no script in themselves, and load from themselves alone', () => {
    for (const [path, markup] of pages) {
      expect(markup, path).toContain(`content="default-src 'self';`);
      expect(markup, path).not.toMatch(/<style|<script(?![^>]*src=)|\sstyle=|\son\w+=/);
    }
  });

  test('show text of others as text', () => {
    const evil = `<img src=x onerror=alert(1)>"'`;
    const nightlyRun = [...source.nightlyRuns.values()][0]?.at(-1) as NightlyRun;
    const { at } = nightlyRun;
    const hostile = siteFiles(
      {
        index: {
          ...source.index,
          cells: single.index.cells.map((one) => ({ ...one, testbed: evil })),
          changes: source.index.changes.map((one) => ({ ...one, testbed: evil })),
          fingerprints: [{ id: nightlyRun.fingerprint, testbed: evil, since: nightlyRun.at, differs: [evil] }],
          releases: [{ name: evil, commit: nightlyRun.commit, at: nightlyRun.at }],
          aaRuns: source.index.aaRuns.map((one) => ({ ...one, testbed: evil })),
        },
        nightlyRuns: new Map(
          [...source.nightlyRuns].map(([key, own]) => [`${evil} ${key.split(' ').slice(1).join(' ')}`, own]),
        ),
        results: {
          results: [{ path: 'results/2026/evil', at, testbed: evil, patch: evil, outcome: evil, others: [], bytes: 1 }],
        },
        lab: {
          overview: {
            at,
            testbeds: [
              { name: evil, state: 'quarantine', leftBy: [], quarantine: { reason: evil, by: evil, since: at } },
            ],
            queue: [{ who: evil, purpose: evil, patch: evil, since: at, wants: [evil] }],
          },
          health: [{ testbed: evil, kind: 'wrong', findings: [{ kind: 'wrong', what: evil, why: evil }] }],
        },
      },
      dayAfter,
    );
    for (const [path, text] of hostile) {
      if (path.endsWith('.html')) expect(text, path).not.toContain('<img');
      expect(path).toMatch(/^[\w./-]+$/);
      expect(path).not.toContain('..');
    }
    expect(hostile.get('results.html')).toContain('&lt;img src=x');
  });
});

describe('the first page', () => {
  test('lists each open loss, code first, with the commits between and its series with both chosen', () => {
    const markup = page('index.html');
    const text = read(markup);
    expect(text.indexOf('hp-t540 code')).toBeLessThan(text.indexOf('xeon-100g candidate'));
    expect(text).toMatch(/−4\.\d+ % shaper inet6 hp-t540 code/);
    expect(text).toContain('issue #412');
    const [good, bad] = [commitOf(24), commitOf(23)];
    expect(markup).toContain(`href="https://github.com/freebsd/freebsd-src/compare/${good}...${bad}"`);
    const chosen = `#a=${good.slice(0, 12)}&amp;b=${bad.slice(0, 12)}`;
    expect(markup).toContain(`testbeds/hp-t540/ipfw-stateful-inet4.html${chosen}`);
  });

  test('has no link if the address to compare by is not a page', () => {
    const markup = page('index.html', withIndex({ compareUrl: 'javascript:alert(1)//{from}{to}' }));
    expect(markup).not.toContain('javascript:');
  });

  test('is made of a branch that has no nightly run yet', () => {
    const lists = { cells: [], fingerprints: [], changes: [], aaRuns: [], releases: [] };
    const none = { index: { schemaVersion: 1 as const, ...lists }, nightlyRuns: new Map(), results: { results: [] } };
    expect(read(page('index.html', none))).toContain('0 nightly runs of 0 cells');
    expect(read(page('results.html', none))).toContain('No result is stored');
  });
});

describe('a series', () => {
  const path = 'testbeds/hp-t540/ipfw-stateful-inet4';

  test('is held against the last release and against its best of 90 days', () => {
    expect(read(page(`${path}.html`))).toMatch(
      /now \d\.\d+ Mpps against release\/15\.1 −[34]\.\d+ % against its best of 90 days −4\.\d+ %/,
    );
  });

  test('has all its nightly runs in a table and in a CSV file, for who has no script', () => {
    const rows = page(`${path}.html`).match(/<tr><th scope="row">/g);
    expect(rows).toHaveLength(120);
    const lines = files.get(`${path}.csv`)?.trim().split('\n') ?? [];
    expect(lines).toHaveLength(121);
    expect(lines[1]).toMatch(/^20\d\d-\d\d-\d\dT[\d:.]+Z,[0-9a-f]{40},\w+,\d+,\d+,\d+,[\d.]+,,[0-9a-f]{12}$/);
  });

  test('has the instructions of its nightly runs, where they were counted', () => {
    const [key, own] = [...source.nightlyRuns][0] ?? ['', []];
    const counted = own.map((nightlyRun) => ({ ...nightlyRun, instructionsPerPacket: [8313, 8315] }));
    const nightlyRuns = new Map([...source.nightlyRuns, [key, counted]]);
    const shown = page('testbeds/hp-t540/forwarding-inet4.html', { ...single, nightlyRuns });
    expect(read(shown)).toContain('8,314 instructions');
    expect(read(page('testbeds/hp-t540/forwarding-inet4.html'))).not.toContain('instructions');
  });

  test('shows a commit that was measured late where it was the newest', () => {
    const [key, own] = [...source.nightlyRuns][0] ?? ['', []];
    const late = own.map((nightlyRun, place) =>
      place === 12 ? { ...nightlyRun, at: own.at(-1)?.at ?? '' } : nightlyRun,
    );
    const data = page('testbeds/hp-t540/forwarding-inet4.js', {
      ...single,
      nightlyRuns: new Map([...source.nightlyRuns, [key, late]]),
    });
    const { times } = JSON.parse(data.slice(data.indexOf('{'), -2)) as { times: number[] };
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    expect(times[12]).toBe(Date.parse(own[13]?.committedAt ?? '') / 1000);
  });

  test('links nightly runs to results that are kept, and to no others', () => {
    const [key, own] = [...source.nightlyRuns][0] ?? ['', []];
    const kept = { testbed: 'hp-t540', at: own[0]?.at ?? '', patch: 'x', outcome: 'no-regression' };
    const markup = page('testbeds/hp-t540/forwarding-inet4.html', {
      ...single,
      nightlyRuns: new Map([
        ...source.nightlyRuns,
        [key, own.map((nightlyRun, place) => ({ ...nightlyRun, result: `results/2026/${place % 2}` }))],
      ]),
      results: { results: [{ ...kept, path: 'results/2026/1', others: [], bytes: 1 }] },
    });
    expect(markup).toContain('href="../../results/2026/1/report.html"');
    expect(markup).not.toContain('results/2026/0');
  });
});

test('a testbed shows when it did not measure', () => {
  const nightlyRuns = new Map(
    [...source.nightlyRuns].map(([key, own]) => [key, own.filter((_, place) => place < 60 || place > 70)]),
  );
  expect(read(page('testbeds/hp-t540/index.html', { ...single, nightlyRuns }))).toMatch(
    /Without a nightly run 12 days from 2026-09-\d\d to 2026-10-\d\d/,
  );
});

describe('the base against itself', () => {
  const [count] = source.index.aaRuns;

  test.for([
    [0, 41, 'invalid', '7.8'],
    [0, 409, 'no-regression', '1.0'],
    [9, 61, 'regression', '39.2'],
  ] as const)('with %i alarms in %i gates looks like %s', ([alarms, gates, look, percent]) => {
    if (count === undefined) throw new Error('no count');
    const markup = page('same.html', withIndex({ aaRuns: [{ ...count, alarms, gates }] }));
    expect(markup).toContain(`<b class="${look}">${alarms} of ${gates} gates, ≤ ${percent} %</b>`);
  });
});

describe('a site in a folder', () => {
  const small = branchOverTime({ testbeds: 1, cells: 1, nightlyRuns: 3 });
  const options = (from: string, to: string, told: string[] = []) => ({
    from,
    to,
    now: dayAfter,
    leftOut: (why: string) => void told.push(why),
  });

  test('replaces an earlier one as a whole', async () => {
    const to = join(temporaryFolder(), 'site');
    await writeSite(branchOverTime({ testbeds: 2, cells: 1, nightlyRuns: 3 }), options('', to));
    expect(readdirSync(join(to, 'testbeds'))).toEqual(['hp-t540', 'xeon-100g']);
    await writeSite(small, options('', to));
    expect(readdirSync(join(to, 'testbeds'))).toEqual(['hp-t540']);
  });

  test('does not overwrite the files of others', async () => {
    const to = temporaryFolder();
    writeFileSync(join(to, 'thesis.tex'), '');
    await expect(writeSite(small, options('', to))).rejects.toThrow('has content other than a site');
    expect(readdirSync(to)).toEqual(['thesis.tex']);
  });

  test('has a page of each result, and names those without one', async () => {
    const [from, to] = [temporaryFolder(), join(temporaryFolder(), 'site')];
    const kept = { testbed: 'hp-t540', at: dayAfter.toISOString(), patch: '#12', bytes: 1, others: [] };
    const [there, gone] = ['results/2026/there', 'results/2026/gone'];
    mkdirSync(join(from, there), { recursive: true });
    writeFileSync(join(from, there, 'result.json'), JSON.stringify(aResult()));
    const told: string[] = [];
    const results = [there, gone].map((path) => ({ ...kept, outcome: 'no-regression', path }));
    await writeSite({ ...small, results: { results } }, options(from, to, told));
    expect(readFileSync(join(to, there, 'report.html'), 'utf8')).toContain('<h1>');
    const list = readFileSync(join(to, 'results.html'), 'utf8');
    expect([list.includes(`${there}/report.html`), list.includes(gone)]).toEqual([true, false]);
    expect(told).toEqual([expect.stringContaining(gone)]);
  });
});
