// `ppsgate site`: a data directory as gates leave it becomes pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run as makeSite } from '../../../src/cli/reports/site.ts';
import type { TestbedsOverview } from '../../../src/gate/reserve/testbeds-overview.ts';
import type { Outcome } from '../../../src/model/result.ts';
import { publishToDirectory } from '../../../src/publish/data-branch/directory.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aCell, pairedRuns } from '../../fakes/result.ts';
import { publication, rules } from '../../fakes/shelf.ts';

let said: string;

beforeEach(() => {
  said = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** A data directory after a gate of the default branch. */
async function published(): Promise<string> {
  const directory = temporaryFolder();
  const runs = pairedRuns([800_000, 801_000], [800_500, 801_500]);
  const cell = { ...aCell({ kind: 'no-regression' }), runs };
  const outcome: Outcome = { kind: 'judged', verdict: 'no-regression', cells: [cell] };
  const gate = publication({ outcome }, { isDefaultBranch: true, isTrusted: true });
  await publishToDirectory(directory, [gate], rules);
  return directory;
}

const overview: TestbedsOverview = {
  at: '2026-11-21T06:00:00.000Z',
  testbeds: [
    {
      name: 'hp-t540',
      kind: 'freebsd',
      state: 'quarantine',
      quarantine: { reason: 'port 1 loses its link', by: 'ada', since: '2026-11-20T06:00:00.000Z' },
    },
  ],
  queue: [
    {
      who: 'ci',
      purpose: 'gate',
      patch: '#12',
      priority: 'patch',
      place: 1,
      of: 1,
      wants: ['hp-t540'],
      since: '2026-11-21T05:00:00.000Z',
      expectedSeconds: 1800,
    },
  ],
};

test('the results of gates of the default branch become pages', async () => {
  const [from, to] = [await published(), join(temporaryFolder(), 'site')];
  expect(await makeSite({ from, to })).toBe(0);
  expect(said).toMatch(/site\/index\.html: \d+ pages\n$/);
  const first = readFileSync(join(to, 'index.html'), 'utf8');
  const [path = ''] = /testbeds\/[\w./-]+-inet4\.html/.exec(first) ?? [];
  expect(readFileSync(join(to, path), 'utf8')).toContain('one nightly run');
  const [result = ''] =
    /results\/2026\/[\w.-]+\/report\.html/.exec(readFileSync(join(to, 'results.html'), 'utf8')) ?? [];
  expect(readFileSync(join(to, result), 'utf8')).toContain('<h1>');
});

test('testbed holders are read from the data, or from a named file', async () => {
  const [from, to] = [await published(), join(temporaryFolder(), 'site')];
  writeFileSync(join(from, 'lab.json'), JSON.stringify(overview));
  const health = join(temporaryFolder(), 'health.json');
  writeFileSync(health, JSON.stringify([{ testbed: 'hp-t540', kind: 'in-use', why: 'ci has it' }]));
  await makeSite({ from, to, health });
  const page = readFileSync(join(to, 'lab.html'), 'utf8');
  for (const text of ['in quarantine', 'port 1 loses its link', 'ci has it', 'gate of #12', '30 min']) {
    expect(page).toContain(text);
  }
});

test.for([
  [{ from: '/nowhere/at/all' }, /^--from: .* has no index\.json/],
  [{ lab: '/nowhere/lab.json' }, /^--lab: .* cannot be read \(ENOENT\)/],
  [{ lab: 'package.json' }, /^--lab: .* is not in the format of this version of ppsgate/],
] as const)('%j is refused, and nothing is written', async ([wrong, why]) => {
  const [from, to] = [await published(), join(temporaryFolder(), 'site')];
  await expect(makeSite({ from, to, ...wrong })).rejects.toThrow(why);
  expect(() => readFileSync(join(to, 'index.html'))).toThrow('ENOENT');
});
