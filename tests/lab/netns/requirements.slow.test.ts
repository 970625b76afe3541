import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeDemoRepository } from '../../../src/cli/demo/demo-repository.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const program = join(import.meta.dirname, '../../../bin/ppsgate');
const cli = join(inject('bundle'), 'cli.js');

describeWith(['root', 'setpriv'], 'a machine that cannot carry the lab', () => {
  test('names the missing right and what would be needed, and exits with 4', () => {
    const rights = ['--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
    const { status, stderr } = spawnSync('setpriv', [...rights, program, 'demo'], {
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/^ppsgate: The embedded lab needs CAP_SYS_ADMIN to create network namespaces, /);
    expect(status).toBe(4);
  });
});

// If the lab is needed, a private mount hides the program, because other tests share the machine.
describeWith(['root', 'unshare', ...labPrograms], 'a program that is missing', () => {
  const hiding =
    'for path in $(type -ap "$1"); do mount --bind /dev/null "$(realpath "$path")"; done 2>/dev/null; shift; exec "$@"';

  async function without(name: string, ...args: string[]) {
    const cwd = join(temporaryFolder(), 'repository');
    await makeDemoRepository(cwd);
    const hidden = ['--mount', 'bash', '-c', hiding, 'bash', name, process.execPath, cli];
    const { status, stderr } = spawnSync('unshare', [...hidden, ...args], {
      encoding: 'utf8',
      cwd,
    });
    return { status, stderr, files: readdirSync(cwd) };
  }

  test.each([
    ['a gate', 'trafgen', 'netsniff-ng', ['gate', '--patch', 'main..guard-udp', '--directory', 'work']],
    ['a look', 'unshare', 'util-linux', ['lab', 'check']],
  ])(
    'is found by %s before anything is reserved: %s, named with its package %s',
    async (_, name, packageName, args) => {
      const { status, stderr, files } = await without(name, ...args);
      expect(status).toBe(4);
      expect(stderr).toContain(` needs ${name}, missing on this machine: run 'apt-get install ${packageName}', or `);
      expect(files).not.toContain('work');
    },
  );
});
