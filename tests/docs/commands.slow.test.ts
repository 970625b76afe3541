// Runs the commands of the pages word for word, except those that name a need.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/model/result.ts';
import { publishToDirectory } from '../../src/publish/data-branch/directory.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { aCell, pairedRuns } from '../fakes/result.ts';
import { publication, rules } from '../fakes/shelf.ts';
import { describeWith } from '../needs.ts';
import { root, type ShellBlock, shellBlocks } from './blocks.ts';

const graph = `@ cycles [10 samples]

80.00%  [8]        pf_test @ /boot/kernel/pf.ko
 100.0%  [8]         t4_intr @ /boot/kernel/if_cxgbe.ko

20.00%  [2]        cpu_idle @ /boot/kernel/kernel
 100.0%  [2]         sched_idletd

`;

/** A user's machine: ppsgate on the PATH, and a checkout with a patch, the testbed hp-t540 and profiles. */
async function machine() {
  const folder = temporaryFolder();
  const [bin, home, checkout] = ['bin', 'home', 'checkout'].map((name) => join(folder, name));
  for (const path of [bin, home]) mkdirSync(path ?? '');
  const program = join(bin ?? '', 'ppsgate');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${root}/src/cli.ts' "$@"\n`);
  chmodSync(program, 0o755);
  const repository = newRepository();
  git(repository, 'clone', '--quiet', repository, checkout ?? '');
  const cwd = checkout ?? '';
  git(cwd, 'checkout', '--quiet', '-b', 'main');
  for (const profile of ['pmc', 'patched', 'base']) {
    writeFileSync(join(cwd, `${profile}.graph`), graph);
  }
  copyFileSync(join(root, 'docs/lab/xeon-t540.yml'), join(cwd, 'ppsgate.yml'));
  commit(cwd, { 'sys/net/if.c': 'int base;\n' });
  git(cwd, 'remote', 'set-url', 'origin', 'https://github.com/example/router.git');
  await publishData(cwd);
  const env = { HOME: home, PATH: [bin, process.env.PATH].join(delimiter), LC_ALL: 'C.UTF-8' };
  return { cwd, env };
}

/** The data branch after a gate of the default branch. */
async function publishData(checkout: string): Promise<void> {
  const data = join(checkout, '..', 'data-of-origin');
  git(checkout, 'worktree', 'add', '--quiet', '--detach', data);
  git(data, 'checkout', '--quiet', '--orphan', 'data');
  git(data, 'rm', '-r', '--quiet', '--force', '.');
  const runs = pairedRuns([800_000, 801_000], [800_500, 801_500]);
  const cell = { ...aCell({ kind: 'no-regression' }), runs };
  const outcome: Outcome = { kind: 'judged', verdict: 'no-regression', cells: [cell] };
  const gate = publication({ outcome }, { isDefaultBranch: true, isTrusted: true });
  await publishToDirectory(data, [gate], rules);
  commit(data, {});
  git(checkout, 'update-ref', 'refs/remotes/origin/ppsgate-data', 'refs/heads/data');
}

/** Usage lines of the reference are no commands. */
const run = shellBlocks.filter(({ needs, page }) => needs === undefined && !page.startsWith('docs/reference/'));

describeWith(['bash', 'git', 'openssl'], 'a block of commands without needs', () => {
  test.each(run)('of $page is run: $text', async ({ text }: ShellBlock) => {
    const { cwd, env } = await machine();
    const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', text], {
      cwd,
      env,
      encoding: 'utf8',
    });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });
});

test('several commands are found', () => {
  expect(run.length).toBeGreaterThan(6);
});
