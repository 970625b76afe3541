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
  demoPatches,
  freebsdDemoConfig,
  freebsdDemoPatches,
  makeBisectRepository,
  makeDemoRepository,
  makeFreebsdDemoRepository,
} from '../../../src/cli/demo/demo-repository.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { patchOfRange } from '../../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { buildOverlays } from '../../../src/kernel/overlay.ts';
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

test.each(demoPatches)(
  '$branch is one commit on top of main that changes the rules alone',
  async ({ branch, title }) => {
    const repository = openRepository(directory);
    const patch = await patchOfRange(repository, `${baseBranch}..${branch}`);
    expect(patch).toMatchObject({ title });
    expect(git(directory, 'log', '--format=%s', `${baseBranch}..${branch}`)).toBe(title);
    expect(git(directory, 'diff', '--name-only', baseBranch, branch)).toBe('dut/nftables.conf');
    const variants = await buildOverlays(patch, { path: 'dut', beside: '' }, repository);
    const paths = ['nftables.conf', 'sysctl.conf'];
    expect(variants.map(({ files }) => files.map(({ path }) => path))).toEqual([paths, paths]);
  },
);

test('the patches of the demo on FreeBSD are a rule set of pf, and nothing beside a kernel', async () => {
  const directory = join(temporaryFolder(), 'repository');
  await makeFreebsdDemoRepository(directory);
  const changed = freebsdDemoPatches.map(({ branch }) => [
    branch,
    git(directory, 'diff', '--name-only', baseBranch, branch),
  ]);
  expect(changed).toEqual([
    ['filter-with-pf', 'dut/pf.conf'],
    ['patched-kernel', ''],
  ]);
  const config = parseConfig(freebsdDemoConfig('/images/freebsd.raw.xz'), {
    path: join(directory, 'ppsgate.yml'),
    home: '/nonexistent',
  });
  expect(config.testbeds).toMatchObject({
    'this-machine': { system: 'freebsd', image: { path: '/images/freebsd.raw.xz' } },
  });
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
