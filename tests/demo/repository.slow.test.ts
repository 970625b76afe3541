import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildOverlays } from '../../src/build/overlay.ts';
import { parseConfig } from '../../src/config/load.ts';
import {
  baseBranch,
  demoConfig,
  demoPatches,
  makeDemoRepository,
} from '../../src/demo/repository.ts';
import { patchOfRange } from '../../src/patch/range.ts';
import { openRepository } from '../../src/patch/repository.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { git } from '../fakes/repository.ts';

const made = async () => {
  const parent = temporaryFolder();
  const directory = join(parent, 'repository');
  await makeDemoRepository(directory);
  return { parent, directory };
};

test('every patch is one commit on top of main, with its title', async () => {
  const { directory } = await made();
  const repository = openRepository(directory);
  for (const { branch, title } of demoPatches) {
    expect(git(directory, 'log', '--format=%s', `${baseBranch}..${branch}`)).toBe(title);
    expect(await patchOfRange(repository, `${baseBranch}..${branch}`)).toMatchObject({ title });
  }
});

test('every patch changes the rules and nothing else', async () => {
  const { directory } = await made();
  for (const { branch } of demoPatches) {
    const changed = git(directory, 'diff', '--name-only', baseBranch, branch);
    expect(changed).toBe('dut/nftables.conf');
  }
});

test('base and patched of every demo patch can be read as overlays', async () => {
  const { directory } = await made();
  const repository = openRepository(directory);
  for (const { branch } of demoPatches) {
    const patch = await patchOfRange(repository, `${baseBranch}..${branch}`);
    const variants = await buildOverlays(patch, { path: 'dut', beside: '' }, repository);
    expect(variants.map(({ files }) => files.map(({ path }) => path))).toEqual([
      ['nftables.conf', 'sysctl.conf'],
      ['nftables.conf', 'sysctl.conf'],
    ]);
  }
});

test('what is committed is clean, with main checked out and its configuration valid', async () => {
  const { directory } = await made();
  expect(git(directory, 'status', '--porcelain', '--branch')).toBe(`## ${baseBranch}`);
  const path = join(directory, 'ppsgate.yml');
  expect(() => parseConfig(demoConfig, { path, home: '/nonexistent' })).not.toThrow();
  expect(git(directory, 'show', `${baseBranch}:ppsgate.yml`)).toBe(demoConfig.trimEnd());
});

test('what a kill left of it is made anew, and nothing but the repository remains', async () => {
  const parent = temporaryFolder();
  const directory = join(parent, 'repository');
  mkdirSync(`${directory}.part`);
  writeFileSync(join(`${directory}.part`, 'half'), '');
  await makeDemoRepository(directory);
  expect(readdirSync(parent)).toEqual(['repository']);
  expect(existsSync(join(directory, 'half'))).toBe(false);
});

test('the settings of whoever runs the demo do not matter', async () => {
  const { directory } = await made();
  expect(git(directory, 'log', '-1', '--format=%an <%ae>')).toBe(
    'ppsgate demo <demo@ppsgate.invalid>',
  );
});
