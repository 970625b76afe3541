import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { guardIn, raiseIn } from '../../../src/lab/lease/fence.ts';
import { ownFolder } from '../../../src/system/host/own-folder.ts';
import { type Command, commandText, shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { splitWords } from '../../fakes/freebsd-lab/shell.ts';
import { describeWith } from '../../needs.ts';

/** Sticky and open to all, as /var/tmp. */
let place: string;
let folder: string;
/** A folder of root, with files named like tokens. */
let victim: string;

beforeEach(() => {
  const top = temporaryFolder();
  chmodSync(top, 0o755);
  place = join(top, 'tmp');
  mkdirSync(place);
  chmodSync(place, 0o1777);
  folder = join(place, 'our own folder');
  victim = join(top, 'etc');
  mkdirSync(victim);
  chmodSync(victim, 0o755);
  writeFileSync(join(victim, '7'), 'precious');
});

/** Runs a script in a login shell of this name. */
function runIn(name: string, command: Command) {
  const bin = join(temporaryFolder(), 'bin');
  mkdirSync(bin);
  const isCsh = name.endsWith('csh');
  const [path] = execFileSync('which', [name], { encoding: 'utf8' }).split('\n');
  if (!isCsh) symlinkSync(path ?? '', join(bin, 'sh'));
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const login = isCsh ? name : 'sh';
  return spawnSync(login, ['-c', commandText(command)], { env, encoding: 'utf8' });
}

const raise = (name: string) => runIn(name, shell`sh -c ${raiseIn(folder)} ppsgate ${7}`);

const asNobody = (script: string) => {
  const user = ['--reuid=65534', '--clear-groups'];
  const words = [...user, 'sh', '-c', script, 'sh', folder, victim];
  execFileSync('setpriv', words, { stdio: 'pipe' });
};

describe.each(['dash', 'bash', 'busybox', 'csh'])('with %s', (name) => {
  describeWith([name], 'a folder of ours', () => {
    test('is made for its user alone, and holds the token', () => {
      expect(raise(name)).toMatchObject({ status: 0, stderr: '' });
      expect(statSync(folder).mode & 0o7777).toBe(0o700);
      expect(readdirSync(folder)).toEqual(['7']);
    });

    test('that an earlier version has left is still used, closed to others', () => {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
      writeFileSync(join(folder, '5'), '');
      expect(raise(name)).toMatchObject({ status: 0, stderr: '' });
      expect(statSync(folder).mode & 0o7777).toBe(0o700);
      expect(readdirSync(folder)).toEqual(['7']);
    });

    test.each(['777', '1777', '775', '757'])('that was open to others (%s) is refused, with any content', (mode) => {
      mkdirSync(folder);
      chmodSync(folder, Number.parseInt(mode, 8));
      symlinkSync(join(victim, '7'), join(folder, '7'));
      expectRefusal(raise(name));
    });

    test.each(['to a folder of ours', 'to nothing'])('that is a link %s is refused', (where) => {
      symlinkSync(where === 'to nothing' ? join(place, 'nothing') : victim, folder);
      expectRefusal(raise(name));
      expect(existsSync(join(place, 'nothing'))).toBe(false);
    });

    test('keeps commands out by its tokens as ever', () => {
      raise(name);
      const guarded = (token: number) => runIn(name, shell`sh -c ${guardIn(folder)} ppsgate ${token} ${'echo obeyed'}`);
      expect(guarded(7)).toMatchObject({ status: 0, stdout: 'obeyed\n' });
      expect(guarded(6)).toMatchObject({ status: 213, stdout: '' });
    });
  });

  describeWith(['root', 'setpriv', name], 'a folder that another user of the machine', () => {
    test.each([
      ['has made', 'mkdir -m 755 "$1"'],
      ['has made and opened to all', 'mkdir -m 777 "$1"'],
      ['has made, with a link in it to a file of root', 'mkdir "$1" && ln -s "$2/7" "$1/7"'],
      ['has made a link to one of root', 'ln -s "$2" "$1"'],
    ])('%s is refused, and nothing of root’s is touched', (_, script) => {
      asNobody(script);
      expectRefusal(raise(name));
      expectRefusal(runIn(name, ownFolder(folder)));
    });

    test('would take away or get into later stays as it is', () => {
      raise(name);
      expect(() => asNobody('rm -rf "$1"')).toThrow();
      expect(() => asNobody('mv "$1" "$1.away"')).toThrow();
      expect(() => asNobody('ls "$1"')).toThrow();
      expect(readdirSync(folder)).toEqual(['7']);
    });
  });
});

/** Expects that nothing was done, and a reason of one sentence. */
function expectRefusal({ status, stderr }: { status: number | null; stderr: string }): void {
  expect(stderr).toBe(`ppsgate: ${folder} could be written by others than its user: see who made it, and remove it\n`);
  expect(status).toBe(1);
  expect(readFileSync(join(victim, '7'), 'utf8')).toBe('precious');
  expect(readdirSync(victim)).toEqual(['7']);
  expect(statSync(victim).mode & 0o777).toBe(0o755);
}

test('csh and sh read the command alike: no line break, no history', () => {
  const line = commandText(ownFolder('/var/tmp/ppsgate'));
  expect(line).not.toMatch(/[\n\r!]/);
  expect(splitWords(line)).toMatchObject({ kind: 'words' });
});
