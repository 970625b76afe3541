// Gives work directories of root to the user who called through sudo.
import { chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WorkDirectory } from '../../src/gate/work-directory.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { describeWith } from '../needs.ts';

const caller = 12_345;

describeWith(['root'], 'a work directory made through sudo', () => {
  beforeEach(() => {
    vi.stubEnv('SUDO_UID', String(caller));
    vi.stubEnv('SUDO_GID', String(caller));
  });
  afterEach(() => vi.unstubAllEnvs());

  const open = (prefix: string) => new WorkDirectory(prefix, (sentence) => expect.fail(sentence));
  const ownerOf = (...path: string[]) => lstatSync(join(...path)).uid;

  test('A new work directory belongs to the caller of sudo, with all that is in it', async () => {
    const folder = temporaryFolder();
    const work = open(join(folder, 'ppsgate-gate'));
    const directory = await work.open({});
    mkdirSync(join(directory, 'trials', '1'), { recursive: true });
    writeFileSync(join(directory, 'trials', '1', 'dut.log'), '');
    await work[Symbol.asyncDispose]();
    expect(ownerOf(directory)).toBe(caller);
    expect(ownerOf(directory, 'trials', '1', 'dut.log')).toBe(caller);
    expect(ownerOf(folder)).toBe(0);
  });

  test('In a directory that was there only what this run has made is given away', async () => {
    const directory = temporaryFolder();
    writeFileSync(join(directory, 'journal.jsonl'), 'of root');
    writeFileSync(join(directory, 'secret'), 'of root');
    const work = open('ppsgate-gate');
    await work.open({ directory });
    writeFileSync(join(directory, 'result.json'), '');
    await work[Symbol.asyncDispose]();
    expect(ownerOf(directory, 'result.json')).toBe(caller);
    expect(ownerOf(directory, 'journal.jsonl')).toBe(0);
    expect(ownerOf(directory, 'secret')).toBe(0);
    expect(ownerOf(directory)).toBe(0);
  });

  test('A file of another user in a work directory keeps its owner', async () => {
    const folder = temporaryFolder();
    const work = open(join(folder, 'ppsgate-gate'));
    const directory = await work.open({});
    const path = join(directory, 'journal.jsonl');
    writeFileSync(path, '');
    chownSync(path, 777, 777);
    await work[Symbol.asyncDispose]();
    expect(ownerOf(path)).toBe(777);
  });

  test('A directory to resume that is not there is not made', async () => {
    const folder = temporaryFolder();
    await using work = open('ppsgate-gate');
    await work.open({ resume: join(folder, 'gone') });
    expect(readdirSync(folder)).toEqual([]);
  });
});
