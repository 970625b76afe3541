// Tests what `ppsgate bisect` refuses and estimates before anything is reserved.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceBisectPlan } from '../../../src/gate/bisect/bisect-plan.ts';
import { aBisectPlan, at, booted, started, variantAt } from '../../fakes/bisect.ts';
import { aPlace, linuxOf } from '../../fakes/place.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';
import { aCell, aResult } from '../../fakes/result.ts';

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
