// Requirements of a test on its machine; a test without them is skipped, with the reason.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { describe, test } from 'vitest';

/** A need is `root`, `shared/…` (a folder of real data beside the project), the path of a file, or a program on the PATH. */
export type Need = 'root' | `shared/${string}` | (string & {});

/** Real data next to the project, never part of it: `sharedFolder('corpus/ministat')`. */
export const sharedFolder = (path: string): string => join(import.meta.dirname, '..', '..', 'shared', path);

/** Tools of the embedded lab. */
export const labPrograms: readonly Need[] = ['ip', 'nft', 'trafgen', 'sshd', 'ethtool', 'sysctl'];

/** Tools that build and run virtual machines. */
export const virtualPrograms: readonly Need[] = [
  'bash',
  'busybox',
  'cpio',
  'dpkg-deb',
  'flock',
  'gcc',
  'git',
  'ip',
  'kmod',
  'nft',
  'qemu-system-x86_64',
  'sshd',
  'sysctl',
  'trafgen',
  'unshare',
  'xz',
  'zstd',
];

/** Defines a suite that runs if all needs are met; otherwise one skipped test that names what is missing. */
export function describeWith(needs: readonly Need[], name: string, suite: () => void): void {
  const missing = needs.filter((need) => !isMet(need));
  if (missing.length === 0) {
    describe(name, suite);
    return;
  }
  describe(name, () => {
    test('all of it', ({ skip }) => skip(`needs ${missing.join(', ')}`));
  });
}

/** Defines a test that runs if all needs are met, and is otherwise skipped, naming what is missing. */
export function testWith(needs: readonly Need[], name: string, body: () => void | Promise<void>): void {
  const missing = needs.filter((need) => !isMet(need));
  test(name, ({ skip }) => {
    skip(missing.length > 0, `needs ${missing.join(', ')}`);
    return body();
  });
}

function isMet(need: Need): boolean {
  if (need === 'root') return process.getuid?.() === 0 && canMakeNamespaces();
  if (need.startsWith('shared/')) return existsSync(sharedFolder(need.slice('shared/'.length)));
  if (isAbsolute(need)) return existsSync(need);
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => existsSync(join(folder, need)));
}

const canMakeNamespaces = (): boolean => spawnSync('unshare', ['--net', 'true'], { stdio: 'ignore' }).status === 0;
