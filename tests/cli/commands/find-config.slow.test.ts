import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findConfig } from '../../../src/cli/find-config.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';

function aSite(mode = 0o644) {
  const top = temporaryFolder();
  const below = join(top, 'dut', 'rules');
  mkdirSync(below, { recursive: true });
  const path = join(top, 'ppsgate.yml');
  writeFileSync(path, '');
  chmodSync(path, mode);
  return { top, below, path };
}

test('The configuration of a folder above is found, and the nearest one counts', () => {
  const { top, below, path } = aSite();
  expect(findConfig('ppsgate.yml', below)).toEqual({ path, isAbove: true });
  expect(findConfig('ppsgate.yml', top)).toEqual({ path, isAbove: false });
  const nearer = join(top, 'dut', 'ppsgate.yml');
  writeFileSync(nearer, '');
  expect(findConfig('ppsgate.yml', below)).toEqual({ path: nearer, isAbove: true });
});

test('A configuration that is named is not looked for elsewhere', () => {
  const { below } = aSite();
  for (const named of ['./ppsgate.yml', 'other.yml', '../ppsgate.yml']) {
    expect(findConfig(named, below)).toEqual({ path: join(below, named), isAbove: false });
  }
});

test('Without a configuration the current folder is where one belongs', () => {
  expect(findConfig('ppsgate.yml', '/proc/self')).toEqual({
    path: '/proc/self/ppsgate.yml',
    isAbove: false,
  });
});

test('A configuration above that any user may write is refused, and one here is not', () => {
  const { top, below, path } = aSite(0o666);
  expect(() => findConfig('ppsgate.yml', below)).toThrow(UsageError);
  expect(() => findConfig('ppsgate.yml', below)).toThrow(`${path} has the mode 666`);
  expect(findConfig('ppsgate.yml', top).path).toBe(path);
});

describeWith(['root'], 'a configuration of another user', () => {
  test('A configuration above of another user is refused until it is named', () => {
    const { below, path } = aSite();
    chownSync(path, 12_345, 12_345);
    expect(() => findConfig('ppsgate.yml', below)).toThrow(
      `${path} was found in a parent folder and belongs to the user 12345, so it is not used: name it with --config if you trust it.`,
    );
    expect(findConfig(path, below).path).toBe(path);
  });

  test('A link above to a configuration of another user is refused', () => {
    const { top, path } = aSite();
    chownSync(path, 12_345, 12_345);
    const below = join(top, 'linked', 'rules');
    mkdirSync(below, { recursive: true });
    symlinkSync(path, join(top, 'linked', 'ppsgate.yml'));
    expect(() => findConfig('ppsgate.yml', below)).toThrow('belongs to the user 12345');
  });
});
