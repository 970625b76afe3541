// Repositories of the demo: their patches, and commits to bisect.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  baseBranch,
  bisectCommits,
  culpritSubject,
  demoConfig,
  makeBisectRepository,
  makeDemoRepository,
} from '../../../src/cli/demo/demo-repository.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { git } from '../../fakes/repository.ts';

let parent: string;
let directory: string;

// An earlier creation was interrupted.
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
  directory = join(parent, 'repository');
  mkdirSync(`${directory}.part`);
  writeFileSync(join(`${directory}.part`, 'half'), '');
  await makeDemoRepository(directory);
});

afterAll(() => rmSync(parent, { recursive: true }));

test('nothing is left but the repository, with main checked out and a valid configuration', () => {
  expect(readdirSync(parent)).toEqual(['repository']);
  expect(existsSync(join(directory, 'half'))).toBe(false);
  expect(git(directory, 'status', '--porcelain', '--branch')).toBe(`## ${baseBranch}`);
  const path = join(directory, 'ppsgate.yml');
  expect(() => parseConfig(demoConfig, { path, home: '/nonexistent' })).not.toThrow();
  expect(git(directory, 'show', `${baseBranch}:ppsgate.yml`)).toBe(demoConfig.trimEnd());
  expect(git(directory, 'log', '-1', '--format=%an <%ae>')).toBe('ppsgate demo <demo@ppsgate.invalid>');
});

test('the commits of the bisection are a line, of which one costs packets and two do not load', async () => {
  const directory = join(temporaryFolder(), 'repository');
  await makeBisectRepository(directory);
  const line = git(directory, 'log', '--reverse', '--format=%s', baseBranch).split('\n');
  expect(line).toHaveLength(1 + 24);
  expect(line.slice(1)).toEqual(bisectCommits.map(({ subject }) => subject));
  const rulesAt = (place: number) => git(directory, 'show', `${baseBranch}~${24 - place}:dut/nftables.conf`);
  const costOf = (place: number) => rulesAt(place).split('meta l4proto 254').length;
  const culprit = line.indexOf(culpritSubject);
  const places = line.map((_, place) => place);
  expect(places.filter((place) => costOf(place) > costOf(0))).toEqual(places.slice(culprit));
  expect(places.filter((place) => rulesAt(place).includes('upd'))).toEqual([7, 8]);
  expect(new Set(places.map(rulesAt)).size).toBe(25);
});
