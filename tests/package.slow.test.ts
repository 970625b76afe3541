// Tests the package as npm builds it: its contents, and that it runs where npm or a port installs it.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { temporaryFolder } from './fakes/folder.ts';

const project = join(import.meta.dirname, '..');

let tarball: string;

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-package-'));
  const args = ['pack', '--silent', '--no-update-notifier', '--pack-destination', folder];
  const name = execFileSync('npm', args, { cwd: project, encoding: 'utf8' }).trim();
  tarball = join(folder, name);
});

afterAll(() => rmSync(dirname(tarball), { recursive: true }));

/** Installs the package into a folder, like npm and the port, and links to its program from elsewhere. */
function installedInto(place: string, folder = temporaryFolder()) {
  const root = join(folder, place);
  const bin = join(folder, 'bin');
  for (const path of [root, bin]) mkdirSync(path, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', root, '--strip-components=1']);
  symlinkSync(join(root, 'bin/ppsgate'), join(bin, 'ppsgate'));
  return { root, program: join(bin, 'ppsgate') };
}

/** A file that prints a version for `--version` like Node, and otherwise its own name. */
function nodeAt(path: string, version: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo ${path}\n`);
  chmodSync(path, 0o755);
}

/** Only the programs that the launcher needs, without this machine's Node. */
function onlyPrograms(): string {
  const folder = temporaryFolder();
  for (const name of ['dirname', 'readlink']) {
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(folder, name));
  }
  return folder;
}

function run(program: string, args: string[], env: Record<string, string>, input = '') {
  const { status, stdout, stderr } = spawnSync(program, args, { env, input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the package', () => {
  test('has what runs and what is read, and nothing else', () => {
    const { root } = installedInto('ppsgate');
    const read = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md'];
    expect(readdirSync(root).toSorted()).toEqual([...read, 'bin', 'dist', 'docs', 'package.json'].toSorted());
    expect(existsSync(join(root, 'dist/LICENSES.txt'))).toBe(true);
  });

  test('runs by a link to its program', () => {
    const { program } = installedInto('lib/node_modules/ppsgate');
    const env = { PATH: onlyPrograms(), PPSGATE_NODE: process.execPath };
    expect(run(program, ['--version'], env).stdout).toBe(`${manifest.version}\n`);
  });
});

describe('the Node that runs it', () => {
  const place = 'lib/node_modules/ppsgate';

  test.each([`${place}/node_modules/.bin/node`, 'lib/node_modules/.bin/node'])(
    'is the one that npm has installed with it: %s',
    (path) => {
      const folder = temporaryFolder();
      const { program } = installedInto(place, folder);
      nodeAt(join(folder, path), 'v24.1.0');
      expect(run(program, [], { PATH: onlyPrograms() }).stdout).toBe(`${join(folder, path)}\n`);
    },
  );

  test('is that of the PATH if none came with it, as on FreeBSD', () => {
    const folder = temporaryFolder();
    const { program } = installedInto(place, folder);
    nodeAt(join(folder, 'usr/local/bin/node'), 'v24.1.0');
    const path = [onlyPrograms(), join(folder, 'usr/local/bin')].join(delimiter);
    const told = run(program, [], { PATH: path });
    expect(told.stdout.trim()).toBe(join(folder, 'usr/local/bin/node'));
  });

  test('is never too old, and the error names the remedy', () => {
    const folder = temporaryFolder();
    const { root, program } = installedInto(place, folder);
    nodeAt(join(folder, 'old/node'), 'v20.20.2');
    const told = run(program, [], {
      PATH: [join(folder, 'old'), onlyPrograms()].join(delimiter),
    });
    expect(told).toEqual({
      status: 4,
      stdout: '',
      stderr: `ppsgate: no Node 24 or later found: run 'npm ci' in ${root} where that is a clone, install one, or name one with PPSGATE_NODE=/path/to/node.\n`,
    });
  });

  test('is never one that another user has installed beside a clone, for example in /tmp', () => {
    const folder = temporaryFolder();
    const { program } = installedInto('tmp/ppsgate', folder);
    nodeAt(join(folder, 'tmp/.bin/node'), 'v24.1.0');
    expect(run(program, [], { PATH: onlyPrograms() })).toMatchObject({ status: 4, stdout: '' });
  });
});
