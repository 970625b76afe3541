// `ppsgate gate --resume`: continues an interrupted gate, and repeats the report of a finished one.
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDemoRepository } from '../../../src/cli/demo/demo-repository.ts';
import { patchOfRange } from '../../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { gate } from '../../../src/gate/gate.ts';
import { unshared } from '../../../src/lab/testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { memoryHistory } from '../../fakes/history.ts';
import { aPlace, linuxOf, type Place } from '../../fakes/place.ts';
import { aConfig } from '../../fakes/plan.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';

/** Beside a ppsgate.yml whose testbed cannot be reached, the folder `work` of a gate that has finished. */
async function aFinishedGate(): Promise<Place & { work: string }> {
  const place = await aPlace({ fake: linuxOf('fake') });
  const work = join(place.folder, 'work');
  const path = join(temporaryFolder(), 'repository');
  await makeDemoRepository(path);
  const repository = openRepository(path);
  const patch = await patchOfRange(repository, 'main..guard-protocol-254');
  await gate({ patch, config: aConfig(), testbeds: ['fake'], seed: 5 }, work, {
    repository,
    reserve: async () => unshared('fake', async () => fakeTestbed({ speed: () => 0.8 })),
    history: memoryHistory(),
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent() {},
    signal: new AbortController().signal,
  });
  return { ...place, work };
}

/** State after a kill in the middle: its last line is cut, and its one trial is there. */
async function aGateCutShort(): Promise<Place> {
  const place = await aFinishedGate();
  const journal = join(place.work, 'journal.jsonl');
  truncateSync(journal, statSync(journal).size - 10);
  return place;
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'base64'), statSync(path).mtimeMs]);

test('a finished gate prints the same result again, and touches none of its files', async () => {
  const { ppsgate, work } = await aFinishedGate();
  const before = filesIn(work);
  const { status, stdout, stderr } = await ppsgate('gate', '--resume', 'work');
  expect(stdout).toMatch(/^cell +verdict .*\n.* regression .*\n.*🔴 .*\nReport: work\/report\/index\.html\n$/s);
  expect(stderr).toMatch(/^It finished at 2026-11-20T12:00:00\.000Z: .*\n$/);
  expect(status).toBe(1);
  expect(filesIn(work)).toEqual(before);
});

test('a gate that fails prints the reason and how to continue, and no JSON', async () => {
  const { ppsgate } = await aGateCutShort();
  const { status, stdout, stderr } = await ppsgate('gate', '--resume', 'work', '--config', './ppsgate.yml', '--json');
  expect(stderr).toMatch(/^ppsgate: .*\nppsgate: The measurements are in .*\n$/);
  expect(stderr).toContain(" work: continue with 'ppsgate gate --config ./ppsgate.yml --resume work'.\n");
  // The key of the place's machines is missing, which is a mistake in the configuration.
  expect([status, stdout]).toEqual([2, '']);
});
