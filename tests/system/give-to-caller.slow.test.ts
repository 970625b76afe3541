import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { demoNames } from '../../src/cli/demo/demo-names.ts';
import { callerThroughSudo, placeAt } from '../../src/system/give-to-caller.ts';
import { describeWith } from '../needs.ts';

describe('the caller of sudo', () => {
  test('is the user named by sudo', () => {
    const environment = { SUDO_UID: '1000', SUDO_GID: '100' };
    expect(callerThroughSudo(environment, 0)).toEqual({ uid: 1000, gid: 100 });
  });

  test.for([
    ['there was no sudo', {}, 0],
    ['this process is not root', { SUDO_UID: '1000', SUDO_GID: '1000' }, 1000],
    ['root called', { SUDO_UID: '0', SUDO_GID: '0' }, 0],
    ['the group is missing', { SUDO_UID: '1000' }, 0],
    ['a number is none', { SUDO_UID: '1000x', SUDO_GID: '1000' }, 0],
    ['a number is negative', { SUDO_UID: '-1', SUDO_GID: '1000' }, 0],
    ['a number stands for no user', { SUDO_UID: '4294967295', SUDO_GID: '1000' }, 0],
    ['a number is too large', { SUDO_UID: '1000', SUDO_GID: '99999999999' }, 0],
  ] as const)('is unknown where %s', ([, environment, uid]) => {
    expect(callerThroughSudo(environment, uid)).toBeUndefined();
  });
});

test('a folder below one that takes none is refused', async () => {
  await expect(placeAt('/proc/ppsgate/work', demoNames)).rejects.toThrow('ENOENT');
});

describeWith(['root', 'mkfifo'], 'what the demo leaves', () => {
  const caller = { uid: 12_345, gid: 54_321 };
  let folder: string;
  const at = (...names: string[]): string => join(folder, ...names);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ppsgate-give-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (...names: string[]): void => {
    mkdirSync(join(folder, ...names.slice(0, -1)), { recursive: true });
    writeFileSync(at(...names), 'something');
  };
  const ownerOf = (...names: string[]): 'caller' | 'root' => {
    const { uid, gid } = lstatSync(at(...names));
    return uid === caller.uid && gid === caller.gid ? 'caller' : 'root';
  };
  /** While the demo runs. */
  const demoIn = async (directory: string, run: () => void): Promise<void> => {
    await using place = await placeAt(directory, demoNames);
    run();
    await place.giveTo(caller);
  };

  test('belongs to the caller, with all that is in it and the directories that were made above it', async () => {
    await demoIn(at('new', 'demo'), () => write('new', 'demo', 'guard-udp', 'trials', 'dut.log'));
    expect(ownerOf('new')).toBe('caller');
    expect(ownerOf('new', 'demo')).toBe('caller');
    expect(ownerOf('new', 'demo', 'guard-udp', 'trials', 'dut.log')).toBe('caller');
    expect(ownerOf()).toBe('root');
  });

  test('in a directory that was there is only what the demo has made', async () => {
    write('other', 'file');
    write('history.jsonl');
    await demoIn(folder, () => write('repository', 'ppsgate.yml'));
    expect(ownerOf('repository', 'ppsgate.yml')).toBe('caller');
    expect(ownerOf()).toBe('root');
    expect(ownerOf('other', 'file')).toBe('root');
    expect(ownerOf('history.jsonl')).toBe('root');
  });

  test('belongs to the caller, too, where an earlier process was killed', async () => {
    write('repository', 'ppsgate.yml');
    write('comment-the-rules', 'experiment.json');
    await demoIn(folder, () => write('guard-udp', 'experiment.json'));
    expect(ownerOf()).toBe('caller');
    expect(ownerOf('comment-the-rules', 'experiment.json')).toBe('caller');
    expect(ownerOf('guard-udp', 'experiment.json')).toBe('caller');
  });

  test('stays with those whom it was given to before', async () => {
    await demoIn(at('demo'), () => {
      write('demo', 'history.jsonl');
      execFileSync('chown', ['777:777', at('demo', 'history.jsonl')]);
    });
    expect(lstatSync(at('demo', 'history.jsonl')).uid).toBe(777);
  });

  test.each([
    ['a link to a file', (path: string) => symlinkSync(at('secret', 'file'), path)],
    ['a link to a directory', (path: string) => symlinkSync(at('secret'), path)],
    ['a second name of a file', (path: string) => linkSync(at('secret', 'file'), path)],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
  ])('gives away nothing beside it: %s stays as it is', async (_, lay) => {
    write('secret', 'file');
    await demoIn(at('demo'), () => {
      write('demo', 'repository', 'ppsgate.yml');
      lay(at('demo', 'repository', 'installed'));
      lay(at('demo', 'guard-udp'));
    });
    expect(ownerOf('demo', 'repository', 'ppsgate.yml')).toBe('caller');
    expect(ownerOf('demo', 'repository', 'installed')).toBe('root');
    expect(ownerOf('demo', 'guard-udp')).toBe('root');
    expect(ownerOf('secret')).toBe('root');
    expect(ownerOf('secret', 'file')).toBe('root');
  });

  test.each([
    ['its directory', ['demo']],
    ['the one above', []],
  ])('gives away nothing that %s was exchanged for meanwhile', async (_, above) => {
    write('secret', 'demo', 'file');
    await demoIn(at('place', 'demo'), () => {
      write('place', 'demo', 'history.jsonl');
      renameSync(at('place', ...above), at('moved'));
      symlinkSync(at('secret', ...above), at('place', ...above));
    });
    expect(existsSync(at('place', 'demo', 'file'))).toBe(true);
    expect(ownerOf('secret')).toBe('root');
    expect(ownerOf('secret', 'demo')).toBe('root');
    expect(ownerOf('secret', 'demo', 'file')).toBe('root');
  });
});
