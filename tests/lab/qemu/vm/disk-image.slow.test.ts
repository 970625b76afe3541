// Disk images as QEMU itself opens them, in a machine that never runs.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDiskImage } from '../../../../src/lab/qemu/vm/disk-image.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';

const create = (path: string, ...options: string[]) =>
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', ...options, path, '10M']);

/** Returns QEMU's monitor output on its disk. `rewrite` changes the file after the check. */
async function diskOf(path: string, rewrite = () => {}): Promise<string> {
  await using image = await openDiskImage(path);
  rewrite();
  const machine = ['-machine', 'q35', '-nodefaults', '-display', 'none', '-S', '-m', '64'];
  const { stdout, stderr } = spawnSync(
    'qemu-system-x86_64',
    [...machine, '-monitor', 'stdio', ...image.qemuArguments],
    {
      input: 'info block -v\nquit\n',
      stdio: ['pipe', 'pipe', 'pipe', image.descriptor],
      encoding: 'utf8',
    },
  );
  return stderr + stdout;
}

describeWith(['qemu-system-x86_64', 'qemu-img'], 'QEMU', () => {
  test('opens a qcow2 image as such, by the file that it inherits', async () => {
    const path = join(temporaryFolder(), 'a, b,, format=raw.qcow2');
    create(path);
    const disk = await diskOf(path);
    expect(disk).toContain('image: /dev/fdset/1\r\nfile format: qcow2\r\nvirtual size: 10 MiB');
    expect(disk).not.toContain('backing file:');
  });

  test('opens an image that only looks like VMDK as raw', async () => {
    const path = join(temporaryFolder(), 'disk.vmdk');
    const extent = 'RW 9 FLAT "/etc/passwd" 0';
    writeFileSync(path, `# Disk DescriptorFile\nversion=1\n${extent}\n`.padEnd(1024));
    expect(await diskOf(path)).toContain('image: /dev/fdset/1\r\nfile format: raw');
  });

  test('opens no backing file, even one that the image names after the check', async () => {
    const path = join(temporaryFolder(), 'disk.qcow2');
    create(path);
    const disk = await diskOf(path, () => create(path, '-b', '/etc/passwd', '-F', 'raw'));
    expect(disk).toContain('"backing": {"backing": null,');
    expect(disk).toContain('(chain depth: 1)');
  });
});

test.each([
  ['is a named pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['is missing', () => {}],
  ['is a folder', (path: string) => mkdirSync(path)],
])('An image that %s is refused, and not waited for', async (_, make) => {
  const path = join(temporaryFolder(), 'disk.img');
  make(path);
  await expect(openDiskImage(path)).rejects.toThrow(`The image ${path} cannot be read (`);
});
