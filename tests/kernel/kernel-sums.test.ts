// Remembers the sums of kernels that were built on a controller.
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kernelSums, noSums, sumsFolder } from '../../src/kernel/kernel-sums.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const sum = 'a'.repeat(64);
const dayMilliseconds = 24 * 3600 * 1000;

test('a sum is remembered by the name of its kernel, by another process too', () => {
  const folder = join(temporaryFolder(), 'not/yet');
  kernelSums(folder).set('builder:22/var/db/ppsgate 1', sum);
  expect(kernelSums(folder).get('builder:22/var/db/ppsgate 1')).toBe(sum);
  expect(kernelSums(folder).get('builder:22/var/db/ppsgate 2')).toBe(undefined);
});

test('no other user of this machine may write there', () => {
  const folder = join(temporaryFolder(), 'kernels');
  kernelSums(folder).set('one', sum);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.each([
  ['file', 0o666],
  ['folder', 0o777],
])('a sum is not known where any user may write its %s', (what, mode) => {
  const folder = join(temporaryFolder(), 'kernels');
  kernelSums(folder).set('one', sum);
  const file = readdirSync(folder)[0] ?? '';
  chmodSync(what === 'file' ? join(folder, file) : folder, mode);
  expect(kernelSums(folder).get('one')).toBe(undefined);
});

test('forgets sums that were not requested for half a year', () => {
  const folder = temporaryFolder();
  const after = (days: number) => kernelSums(folder, () => Date.now() + days * dayMilliseconds);
  after(0).set('asked', sum);
  after(0).set('never asked', sum);
  after(150).get('asked');
  after(200).set('new', sum);
  expect(kernelSums(folder).get('asked')).toBe(sum);
  expect(kernelSums(folder).get('never asked')).toBe(undefined);
  expect(readdirSync(folder)).toHaveLength(2);
});

test('an unwritable folder stores nothing, and fails nothing', () => {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, '');
  for (const sums of [kernelSums(path), noSums]) {
    sums.set('one', sum);
    expect(sums.get('one')).toBe(undefined);
  }
});

test.each([
  [{}, '/home/alice/.local/state/ppsgate/kernels'],
  [{ XDG_STATE_HOME: '/state' }, '/state/ppsgate/kernels'],
  [{ XDG_STATE_HOME: 'relative' }, '/home/alice/.local/state/ppsgate/kernels'],
])('they lie in the state folder of the user of ppsgate: %j', (environment, folder) => {
  expect(sumsFolder(environment, '/home/alice')).toBe(folder);
});
