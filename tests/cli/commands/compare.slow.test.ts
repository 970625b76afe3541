// Compares files that are in no repository.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeCompareRepository } from '../../../src/cli/compare/compare-repository.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { buildOverlays } from '../../../src/kernel/overlay.ts';
import { patchName } from '../../../src/model/patch.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

test('Both sides of a comparison become overlays of base and patched', async () => {
  const beside = temporaryFolder();
  const files = (text: string) => new Map([['nftables.conf', text]]);
  const compared = {
    kind: 'files',
    what: 'two overlays',
    old: files('a'),
    new: files('b'),
  } as const;
  const patch = await makeCompareRepository(beside, compared, 'a.nft → b.nft');
  expect(patchName(patch)).toBe('a.nft → b.nft');
  const overlays = await buildOverlays(patch, { path: '.', beside }, openRepository(beside));
  expect(overlays.map(({ variant, files }) => [variant, files[0]?.content])).toEqual([
    ['base', 'a'],
    ['patched', 'b'],
  ]);
});

function compare(...args: string[]) {
  const cwd = temporaryFolder();
  writeFileSync(
    join(cwd, 'ppsgate.yml'),
    'testbeds: { lab: { kind: embedded-linux } }\nhistory: history.jsonl\nreservations: { file: r.sqlite }\n',
  );
  writeFileSync(join(cwd, 'a.nft'), 'flush ruleset\n');
  writeFileSync(join(cwd, 'b.nft'), 'flush ruleset\n');
  writeFileSync(join(cwd, 'pf.conf'), 'pass\n');
  const cli = [join(inject('bundle'), 'cli.js'), 'compare', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, cli, { cwd, encoding: 'utf8' });
  return { status, told: stdout + stderr, left: readdirSync(cwd) };
}

test('Two equal files change nothing, and the result names them', () => {
  const { status, told } = compare('a.nft', 'b.nft');
  expect(told).toContain('ppsgate: a.nft → b.nft changes nothing that the testbed installs\n');
  expect(status).toBe(0);
});

test('A testbed that does not load the files is refused, and nothing is left behind', () => {
  const { status, told, left } = compare('pf.conf', 'pf.conf');
  expect(told).toBe(
    'ppsgate: lab does not load pf.conf and pf.conf, which are two files like pf.conf: add one that does to ppsgate.yml, like `lab: { kind: embedded-linux }` for Linux.\n',
  );
  expect(status).toBe(2);
  expect(left).toEqual(['a.nft', 'b.nft', 'pf.conf', 'ppsgate.yml']);
});
