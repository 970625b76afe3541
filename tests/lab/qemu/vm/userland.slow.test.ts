// The files of guests beside their kernels, as an archive that a kernel unpacks.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packUserland } from '../../../../src/lab/qemu/vm/userland.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';

const programs = ['bash', 'busybox', 'chrt', 'flock', 'ip', 'kmod', 'nft', 'sshd', 'sysctl', 'taskset', 'timeout'];
const controller = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI controller\n';

/** The folder into which a guest's kernel would unpack it, and the folder of the archive. */
async function unpacked(): Promise<{ root: string; folder: string }> {
  const folder = temporaryFolder();
  const host = join(folder, 'guest');
  writeFileSync(host, 'the private key', { mode: 0o600 });
  const archive = join(folder, 'userland.cpio');
  await packUserland(archive, { host, controller });
  const root = join(temporaryFolder(), 'root');
  run('sh', ['-c', 'mkdir "$1" && cd "$1" && cpio --quiet --extract <"$2"', 'sh', root, archive]);
  return { root, folder };
}

function run(program: string, args: string[]): string {
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
  expect([program, args, stderr, status]).toEqual([program, args, stderr, 0]);
  return stdout;
}

/** Runs a command in the guest's root, without any other files. */
const within = (root: string, command: string): string => run('chroot', [root, '/usr/bin/bash', '-c', command]);

describeWith(['root', 'cpio', 'chroot', 'ldd', ...programs], 'the userland of guests', () => {
  test('is all that its programs need: each finds its libraries', async () => {
    const { root } = await unpacked();
    // The loader prints the missing library, and does not start the program.
    const shown = within(
      root,
      `for name in ${programs.join(' ')}; do
         LD_TRACE_LOADED_OBJECTS=1 /usr/bin/$name 2>&1 | sed "s/^/$name /"
       done`,
    );
    expect(shown.split('\n').filter((line) => /not found|No such file/.test(line))).toEqual([]);
    expect(shown).toMatch(/^nft .*libnftables/m);
  });

  test('has keys that only its root may read', async () => {
    const { root } = await unpacked();
    const keys = join(root, 'etc/ssh');
    expect(readFileSync(join(keys, 'host'), 'utf8')).toBe('the private key');
    expect(readFileSync(join(keys, 'authorized'), 'utf8')).toBe(controller);
    for (const name of readdirSync(keys)) {
      expect([name, statSync(join(keys, name)).mode & 0o077]).toEqual([name, 0]);
    }
  });

  test('has an sshd that accepts its configuration', async () => {
    const { root, folder } = await unpacked();
    const key = join(folder, 'key');
    run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    writeFileSync(join(root, 'etc/ssh/host'), readFileSync(key), { mode: 0o600 });
    // The init script opens the device that a guest's kernel would have there.
    writeFileSync(join(root, 'dev/null'), '');
    const settings = within(root, 'mkdir -p /run/sshd && /usr/bin/sshd -T -f /etc/ssh/sshd_config');
    expect(settings).toMatch(/^authenticationmethods publickey$/m);
    expect(settings).toMatch(/^permitrootlogin (?:prohibit|without)-password$/m);
  });
});
