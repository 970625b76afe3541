import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, WorkDirectory } from '../../src/gate/work-directory.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const second = new Date('2026-11-20T23:16:55.123Z');

test('Commands that start in one second have a work directory each', async () => {
  const folder = temporaryFolder();
  const prefix = join(folder, 'ppsgate-gate');
  const made = await Promise.all(Array.from({ length: 5 }, () => makeDirectory(prefix, second)));
  expect(readdirSync(folder).toSorted()).toEqual(made.map((path) => basename(path)).toSorted());
  expect(made.map((path) => basename(path)).toSorted()).toEqual([
    'ppsgate-gate-20261120-231655',
    'ppsgate-gate-20261120-231655-2',
    'ppsgate-gate-20261120-231655-3',
    'ppsgate-gate-20261120-231655-4',
    'ppsgate-gate-20261120-231655-5',
  ]);
});

test('A new work directory that stays empty is removed, and one with a file stays', async () => {
  const folder = temporaryFolder();
  await using used = new WorkDirectory(join(folder, 'ppsgate-gate'), () => {});
  writeFileSync(join(await used.open({}), 'journal.jsonl'), '');
  {
    await using unused = new WorkDirectory(join(folder, 'ppsgate-gate'), () => {});
    expect(existsSync(await unused.open({}))).toBe(true);
  }
  await used[Symbol.asyncDispose]();
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^ppsgate-gate-\d{8}-\d{6}$/)]);
});

test('A named directory is made by the command alone', async () => {
  const folder = temporaryFolder();
  await using work = new WorkDirectory(join(folder, 'ppsgate-gate'), () => {});
  const directory = join(folder, 'mine');
  expect(await work.open({ directory })).toBe(directory);
  expect(readdirSync(folder)).toEqual([]);
});
