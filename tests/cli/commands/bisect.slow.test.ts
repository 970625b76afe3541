// Tests what `ppsgate bisect` refuses and estimates before anything is reserved.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceBisectPlan } from '../../../src/gate/bisect/bisect-plan.ts';
import { aBisectPlan, at, booted, started, variantAt } from '../../fakes/bisect.ts';
import { aPlace, linuxOf } from '../../fakes/place.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';
import { aCell, aResult, unchanged } from '../../fakes/result.ts';

/** Creates four commits of an installed file; the third changes another file. */
function commits(): string {
  const repository = newRepository();
  for (let place = 0; place <= 4; place++) {
    const path = place === 3 ? 'README' : 'dut/nftables.conf';
    commit(repository, { [path]: `# ${place}\n` }, {}, `Change ${place}`);
  }
  return repository;
}

async function aBench() {
  const place = await aPlace({ fake: linuxOf('fake') });
  const repository = commits();
  const bisect = (...words: string[]) => place.ppsgate('bisect', '--repository', repository, ...words);
  return { ...place, repository, bisect };
}

const range = ['--good', 'HEAD~4', '--bad', 'HEAD'];

test.for<[string, string[], RegExp]>([
  ['no good commit', ['--bad', 'HEAD'], /--good is missing: see `ppsgate bisect --help`/],
  ['no bad commit', ['--good', 'HEAD~4'], /--bad is missing/],
  ['a commit that is not there', ['--good', 'v9', '--bad', 'HEAD'], /v9/],
  ['ends the wrong way round', ['--good', 'HEAD', '--bad', 'HEAD~2'], /: swap them/],
  ['two families', [...range, '--family', 'inet4,inet6'], /measures one cell: name --family \(one of inet4, inet6\)/],
  ['an unknown scenario', [...range, '--scenario', 'routing'], /--scenario: expected one of/],
  ['a size without a unit', [...range, '--frame-size', '64'], /--frame-size: expected a size like/],
  ['too few boots', [...range, '--max-boots', '2'], /--max-boots: expected a whole number from 6/],
  ['no number of boots', [...range, '--max-boots', '1e3'], /--max-boots: .* found "1e3"/],
  ['a fix-up that is there already', [...range, '--fix-up', 'HEAD~4'], /--fix-up HEAD~4/],
  ['a result that is not there', ['--from', 'nowhere'], /nowhere/],
  ['a directory without a plan', ['--resume', 'nowhere'], /has no plan of a bisection/],
  ['an unknown testbed', [...range, '--testbed', 'mars'], /mars/],
])('%s is refused, and nothing is begun', async ([, words, why]) => {
  const { bisect, folder } = await aBench();
  const before = readdirSync(folder);
  const { status, stdout, stderr } = await bisect(...words);
  expect(stderr.split('\n').at(-2)).toMatch(why);
  expect([status, stdout, readdirSync(folder)]).toEqual([2, '', before]);
});

test('a dry run prints the estimate, and reserves nothing', async () => {
  const { bisect, folder } = await aBench();
  const before = readdirSync(folder);
  const { status, stdout } = await bisect(...range, '--dry-run');
  expect(stdout).toMatch(
    /^4 commits after good, 3 with different files: about 3 trials on fake, 1 min, and at most 60 trials\n/,
  );
  expect([status, readdirSync(folder)]).toEqual([0, before]);
  const told = await bisect(...range, '--dry-run', '--json');
  expect(JSON.parse(told.stdout)).toMatchObject({ testbed: 'fake', range: { commits: 4 } });
});

test('the worst cell of a gate, its commits and its testbed are what is bisected', async () => {
  const { bisect, folder, repository } = await aBench();
  const variants = ['HEAD~4', 'HEAD'].map((name, index) => ({
    name: index === 0 ? 'base' : 'patched',
    files: [],
    commit: git(repository, 'rev-parse', name),
  }));
  const cell = { scenario: 'nftables-stateful', family: 'inet6' as const };
  const lost = aCell({ kind: 'regression' }, undefined, cell);
  const outcome = { kind: 'judged' as const, verdict: 'regression' as const, cells: [lost] };
  const result = aResult({
    variants,
    outcome,
    testbed: { name: 'fake', fingerprint: {}, warnings: [] },
  });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
  const { stdout } = await bisect('--from', '.', '--dry-run', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ cell, testbed: 'fake', range: { commits: 4 } });
});

test('a gate that has judged nothing is refused', async () => {
  const { bisect, folder } = await aBench();
  writeFileSync(join(folder, 'result.json'), JSON.stringify(unchanged));
  const { status, stderr } = await bisect('--from', '.');
  expect([status, stderr]).toEqual([2, expect.stringContaining('judged no cell')]);
});

/** Writes a journal of eight commits with the fifth as culprit, in which all needed measurements exist. */
async function aFinishedBisection(folder: string, mostBoots = 60): Promise<void> {
  const kpps = (place: number) => (place >= 5 ? 400 : 800);
  const places = [0, 8, 0, 8, 4, 6, 5, 4, 5, 4];
  const names = new Map([
    [0, 'base'],
    [8, 'patched'],
  ]);
  const boots = places.map((place, index) =>
    booted(index + 1, names.get(place) ?? variantAt(place), kpps(place) + (index % 2)),
  );
  await replaceBisectPlan(folder, aBisectPlan(8, { mostBoots }));
  const journal = [started, ...boots, { kind: 'finished', at }];
  writeFileSync(join(folder, 'journal.jsonl'), journal.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

test('resuming a finished bisection prints its result again, and needs no testbed', async () => {
  const { bisect, folder } = await aBench();
  await aFinishedBisection(folder);
  const { status, stdout } = await bisect('--resume', '.');
  expect(stdout).toMatch(/costs \d\d(?:\.\d+)? ± .* boots\nReport: \.\/report\/index\.html\n$/);
  expect(status).toBe(0);
  const { stdout: json } = await bisect('--resume', '.', '--json');
  expect(JSON.parse(json)).toMatchObject({
    kind: 'bisect',
    answer: { kind: 'culprit', revision: 5 },
  });
});

test('more boots are accepted only if they are more', async () => {
  const { bisect, folder } = await aBench();
  await aFinishedBisection(folder);
  const { status, stderr } = await bisect('--resume', '.', '--max-boots', '60');
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('expected more than the 60 boots that the bisection already allows, found 60'),
  ]);
});

test('a gate is not resumed as a bisection, and each error names the other command', async () => {
  const { bisect, ppsgate, folder } = await aBench();
  await aFinishedBisection(folder);
  const { status, stderr } = await ppsgate('gate', '--resume', '.');
  expect([status, stderr]).toEqual([2, expect.stringContaining('ppsgate bisect --resume .')]);
  const begun = await bisect(...range, '--directory', '.');
  expect([begun.status, begun.stderr]).toEqual([2, expect.stringContaining("'ppsgate bisect --resume .'")]);
});
