// Commands through sudo, in the repository of the calling user: they leave no file of root there.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { temporaryFolder } from '../../fakes/folder.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';
import { describeWith } from '../../needs.ts';

const caller = { uid: 12_345, gid: 54_321 };

const filesOfRoot = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => lstatSync(join(folder, name)).uid !== caller.uid,
  );

const giveAll = (folder: string) => execFileSync('chown', ['-R', `${caller.uid}:${caller.gid}`, folder]);

function throughSudo(cwd: string, ...args: string[]) {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(inject('bundle'), 'cli.js'), ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, SUDO_UID: String(caller.uid), SUDO_GID: String(caller.gid) },
  });
  return { status, said: stdout + stderr };
}

const objectsIn = (repository: string): number =>
  readdirSync(join(repository, '.git/objects'), { recursive: true }).length;

const config = ['testbeds: { lab: { kind: embedded-linux } }', 'history: history.jsonl', ''].join('\n');

describeWith(['root'], 'a command through sudo', () => {
  test('gate without flags writes objects of what is not committed, which are the caller’s', () => {
    const repository = newRepository();
    commit(repository, { 'dut/nftables.conf': '# one\n', 'ppsgate.yml': config, README: 'a\n' });
    writeFileSync(join(repository, 'README'), 'changed\n');
    giveAll(repository);
    const before = objectsIn(repository);
    const { status, said } = throughSudo(repository, 'gate');
    expect(said).toContain('measured with uncommitted changes: README');
    expect(status).toBe(0);
    expect(objectsIn(repository)).toBeGreaterThan(before);
    expect(filesOfRoot(repository)).toEqual([]);
  });

  test('gate works in a folder that the caller reaches by a group alone', () => {
    const shared = temporaryFolder();
    const repository = join(shared, 'repository');
    mkdirSync(repository);
    git(repository, 'init', '--quiet', '--initial-branch=main');
    commit(repository, { 'dut/nftables.conf': '# one\n', 'ppsgate.yml': config, README: 'a\n' });
    writeFileSync(join(repository, 'README'), 'changed\n');
    giveAll(repository);
    chmodSync(shared, 0o770);
    expect(throughSudo(repository, 'gate').status).toBe(0);
  });

  test('gate in a repository with objects of root prints the way to fix their owner', () => {
    const repository = newRepository();
    commit(repository, { 'dut/nftables.conf': '# one\n', 'ppsgate.yml': config });
    writeFileSync(join(repository, 'dut/nftables.conf'), '# two\n');
    giveAll(repository);
    execFileSync('chown', ['-R', '0:0', join(repository, '.git/objects')]);
    const { status, said } = throughSudo(repository, 'gate');
    expect(said).toMatch(
      /^ppsgate: --patch: git cannot write in the repository \S+ \(.*\): make its \.git writable .*\.\n$/,
    );
    expect(status).toBe(2);
  });

  test('init writes files of the caller, with their folders', () => {
    const repository = newRepository();
    commit(repository, { 'nftables.conf': '# one\n' });
    const args = ['init', '--yes', '--action', `example/ppsgate@${'a'.repeat(40)}`];
    giveAll(repository);
    const { status, said } = throughSudo(repository, ...args);
    expect(said).toContain('ppsgate.yml');
    expect(status).toBe(0);
    expect(readdirSync(join(repository, '.github/workflows'))).toEqual(['ppsgate.yml']);
    expect(filesOfRoot(repository)).toEqual([]);
  });

  test('flamegraph writes a file of the caller, and none in a folder of another user', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'stacks.txt'), 'main;read 12\n');
    giveAll(folder);
    expect(throughSudo(folder, 'flamegraph', 'stacks.txt', '--output', 'a.svg').status).toBe(0);
    expect(filesOfRoot(folder)).toEqual([]);
    const other = temporaryFolder();
    mkdirSync(join(other, 'of-root'));
    throughSudo(folder, 'flamegraph', 'stacks.txt', '--output', join(other, 'of-root/a.svg'));
    expect(lstatSync(join(other, 'of-root/a.svg')).uid).toBe(0);
  });
});
