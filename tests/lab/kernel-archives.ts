// Makes archives that look like kernels, from small trees of files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Content of files by their paths, or the target of a link. */
export type Tree = Record<string, string | Buffer | { link: string }>;

/** The beginning of an x86 image, which names its version; see Documentation/arch/x86/boot.rst of Linux. */
export function bzImage(version: string): Buffer {
  const image = Buffer.alloc(0x1000);
  image.write('HdrS', 0x202, 'latin1');
  image.writeUInt16LE(0x400, 0x20e);
  image.write(`${version}\0`, 0x600, 'latin1');
  return image;
}

/** Returns the new folder `tree` below the folder. */
export function writeTree(folder: string, tree: Tree): string {
  const top = join(folder, 'tree');
  for (const [path, content] of Object.entries(tree)) {
    const place = join(top, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, place);
    else writeFileSync(place, content);
  }
  return top;
}

/** Packs the tree below the folder with options of tar(1), or as a package of Debian. */
export function packTree(folder: string, tree: Tree, form: 'deb' | readonly string[]): string {
  const path = join(folder, 'kernel');
  if (form === 'deb') {
    const control = 'Package: linux-image-guest\nVersion: 1\nArchitecture: amd64\nMaintainer: b <b@example.org>\n';
    const top = writeTree(folder, { ...tree, 'DEBIAN/control': `${control}Description: none\n` });
    execFileSync('dpkg-deb', ['--root-owner-group', '--build', top, path], { stdio: 'ignore' });
  } else {
    execFileSync('tar', ['-C', writeTree(folder, tree), ...form, '-cf', path, '.']);
  }
  return path;
}
