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
import { commit, git } from '../../fakes/repository.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';

const patience = { timeout: 120_000 };

/** Beside a ppsgate.yml whose testbed cannot be reached, the folder `work` of a gate that has finished. */
async function aFinishedGate(times = 1): Promise<Place & { work: string }> {
  const place = await aPlace({ fake: linuxOf('fake') });
  const work = join(place.folder, 'work');
  const path = join(temporaryFolder(), 'repository');
  await makeDemoRepository(path);
  const repository = openRepository(path);
  const patch = await patchOfRange(repository, 'main..guard-protocol-254');
  const testbed = fakeTestbed({ speed: () => 0.8 });
  const history = memoryHistory();
  for (let number = 1; number <= times; number += 1) {
    const directory = number === times ? work : join(temporaryFolder(), 'work');
    const now = new Date(Date.UTC(2026, 10, 20, 12 + number - times));
    await gate({ patch, config: aConfig(), testbeds: ['fake'], seed: 5 }, directory, {
      repository,
      reserve: async () => unshared('fake', async () => testbed),
      history,
      now: () => now,
      onEvent() {},
      signal: new AbortController().signal,
    });
  }
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

const goOn = (config = '') =>
  `ppsgate: The measurements are in work: continue with 'ppsgate gate${config} --resume work'.\n`;

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
  const { status, stdout, stderr } = await ppsgate('gate', '--resume', 'work', '--json');
  expect(stderr).toMatch(/^ppsgate: .*\nppsgate: The measurements are in .*\n$/);
  expect(stderr.endsWith(goOn())).toBe(true);
  // The key of the place's machines is missing, which is a mistake in the configuration.
  expect([status, stdout]).toEqual([2, '']);
});

test('a cancelled gate prints how to continue, with the same configuration', async () => {
  const { start, take } = await aGateCutShort();
  await take('fake');
  const waiting = start('gate', '--resume', 'work', '--config', './ppsgate.yml');
  await expect.poll(waiting.said, patience).toContain('in line');
  waiting.child.kill('SIGINT');
  const { status, stdout, stderr } = await waiting.ended;
  expect(stderr.endsWith(goOn(' --config ./ppsgate.yml'))).toBe(true);
  expect([status, stdout]).toEqual([130, '']);
});

test('a patch that changes nothing installed passes at once, is reported again, and can be measured anyway', async () => {
  const { folder, ppsgate, start, take } = await aPlace({ fake: linuxOf('fake') });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  commit(folder, { 'dut/nftables.conf': '# one\n' });
  commit(folder, { 'README.md': 'A router' });
  await take('fake');
  const asked = ['gate', '--patch', 'HEAD~1..HEAD', '--directory'];
  const said = expect.stringMatching(
    /^⚪ ppsgate: \S+ changes nothing that the testbed installs\nReport: work\/report\/index\.html\n$/s,
  );
  const passed = { status: 0, stdout: said, stderr: '' };
  expect(await ppsgate(...asked, 'work')).toEqual(passed);
  expect(await ppsgate('gate', '--resume', 'work')).toEqual(passed);
  expect(await ppsgate(...asked, 'work')).toEqual(passed);

  const waiting = start(...asked, 'anyway', '--measure-anyway');
  await expect.poll(waiting.said, patience).toContain('in line');
  waiting.child.kill('SIGINT');
  expect((await waiting.ended).status).toBe(130);
});
