// A site of a data branch that others have filled.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flamegraph } from '../../../src/analysis/profile/flamegraph.ts';
import { run as makeSite } from '../../../src/cli/reports/site.ts';
import { writeSite } from '../../../src/publish/site/write-site.ts';
import { bisectPlot } from '../../../src/report/bisect-plot.ts';
import { aBisectResult } from '../../fakes/bisect-result.ts';
import { branchOverTime, dayAfter } from '../../fakes/branch-over-time.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aResult } from '../../fakes/result.ts';

const path = 'results/2026/there';

type Data = { from: string; to: string; secret: string; folder: string };

/** A data branch with one result, beside a file that does not belong to it. */
function data(result: object = aResult()): Data {
  const [top, from] = [temporaryFolder(), temporaryFolder()];
  const [secret, folder] = [join(top, 'secret'), join(from, path)];
  writeFileSync(secret, '<svg><title>secret</title></svg>');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
  return { from, to: join(top, 'site'), secret, folder };
}

async function siteOf({ from, to }: Data, ...others: string[]): Promise<string[]> {
  const said: string[] = [];
  const about = { testbed: 'hp-t540', at: dayAfter.toISOString(), patch: '#12', bytes: 1 };
  const results = [{ ...about, path, outcome: 'no-regression', others }];
  await writeSite(
    { ...branchOverTime({ testbeds: 1, cells: 1, nightlyRuns: 3 }), results: { results } },
    { from, to, now: dayAfter, leftOut: (why) => void said.push(why) },
  );
  return said;
}

const page = ({ to }: Data): string => readFileSync(join(to, path, 'report.html'), 'utf8');
const names = ({ to }: Data): string[] => readdirSync(join(to, path)).toSorted();

test('A page of others is not published: the result is rendered again', async () => {
  const from = data();
  writeFileSync(join(from.folder, 'report.html'), '<script>alert("foreign")</script>');
  expect(await siteOf(from, 'report.html')).toEqual([]);
  expect(page(from)).toContain('<h1>');
  expect(page(from)).not.toContain('foreign');
});

test('A drawing with a script of others is not published', async () => {
  const from = data();
  writeFileSync(join(from.folder, 'x.svg'), '<svg><g onload="alert(1)"/></svg>');
  expect(await siteOf(from, 'x.svg')).toEqual([`${path}/x.svg is left out: it is not a picture drawn by ppsgate.`]);
  expect(names(from)).toEqual(['report.html']);
  expect(page(from)).not.toContain('x.svg');
});

test('A flamegraph of ours is published, and linked by the page of its result', async () => {
  const from = data();
  const svg = flamegraph({ format: 'folded', stacks: [] }, { title: 'x' });
  writeFileSync(join(from.folder, 'flamegraph-x.svg'), svg);
  expect(await siteOf(from, 'flamegraph-x.svg')).toEqual([]);
  expect(readFileSync(join(from.to, path, 'flamegraph-x.svg'), 'utf8')).toBe(svg);
  expect(page(from)).toContain('<a href="flamegraph-x.svg">flamegraph-x</a>');
});

test('The plot of a bisection is drawn again', async () => {
  const result = aBisectResult();
  const from = data(result);
  writeFileSync(join(from.folder, 'bisect.svg'), '<svg onload="alert(1)"/>');
  expect(await siteOf(from, 'bisect.svg')).toEqual([]);
  expect(readFileSync(join(from.to, path, 'bisect.svg'), 'utf8')).toBe(bisectPlot(result));
});

test('A link in the place of a picture is not followed', async () => {
  const from = data();
  symlinkSync(from.secret, join(from.folder, 'x.svg'));
  await siteOf(from, 'x.svg');
  expect(names(from)).toEqual(['report.html']);
});

test.for(['index.json', 'history.jsonl', 'trend', 'lab.json'])(
  'A data branch with a link in the place of its %s is refused',
  async (name) => {
    const from = data();
    writeFileSync(join(from.from, 'index.json'), JSON.stringify({ schemaVersion: 1, results: [], badges: [] }));
    const elsewhere = join(from.from, 'elsewhere');
    if (name === 'index.json') renameSync(join(from.from, name), elsewhere);
    symlinkSync(elsewhere, join(from.from, name));
    await expect(makeSite(from)).rejects.toThrow(/ is not opened: /);
    expect(existsSync(from.to)).toBe(false);
  },
);

test.for(['thesis.tex', 'index.html'])('A folder beside the site with %s of others stays as it is', async (name) => {
  const from = data();
  mkdirSync(`${from.to}.part`);
  writeFileSync(join(`${from.to}.part`, name), 'mine');
  await expect(siteOf(from)).rejects.toThrow(`${from.to}.part has content other than a site`);
  expect(readFileSync(join(`${from.to}.part`, name), 'utf8')).toBe('mine');
});

test('A folder that an earlier site left unfinished is written again', async () => {
  const from = data();
  mkdirSync(`${from.to}.part`);
  writeFileSync(join(`${from.to}.part`, '.ppsgate-site'), '');
  writeFileSync(join(`${from.to}.part`, 'old.html'), '');
  await siteOf(from);
  expect(existsSync(join(from.to, 'old.html'))).toBe(false);
  expect(existsSync(`${from.to}.part`)).toBe(false);
});
