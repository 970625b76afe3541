// Writes the fake's repository to a folder, so that the real git can clone it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type Git, type GitObject, reachable } from './git-objects.ts';

/**
 * Makes `folder` a bare repository of everything that the refs reach, packed like GitHub's: `git clone --no-local` from
 * it yields the same as from GitHub.
 */
export function writeRepository(git: Git, folder: string): void {
  const runGit = (args: string[], input: Buffer | string = '') =>
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd: folder,
      input,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
  runGit(['init', '--bare', '--quiet', '.']);
  if (git.refs.size === 0) return;
  runGit(['index-pack', '--stdin'], packOf(git));
  const updates = [...git.refs].map(([name, id]) => `update ${name} ${id}\n`);
  runGit(['update-ref', '--stdin'], updates.join(''));
  runGit(['repack', '-a', '-d', '-f', '--quiet']);
}

const packTypes: Readonly<Record<GitObject['type'], number>> = { commit: 1, tree: 2, blob: 3 };

/** gitformat-pack(5): a header, each object deflated behind its type and size, and a checksum. */
function packOf(git: Git): Buffer {
  const ids = reachable(git, git.refs.values());
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(ids.size, 8);
  const pack = Buffer.concat([header, ...[...ids].flatMap((id) => packed(git, id))]);
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
}

function packed(git: Git, id: string): Buffer[] {
  const kept = git.read(id);
  if (kept === undefined) throw new Error(`The fake's repository lacks ${id}, which is named in it.`);
  return [typeAndSize(packTypes[kept.object.type], kept.bytes.length), deflateSync(kept.bytes)];
}

/** Four bits of the size next to the type, then seven per byte; the top bit marks a continuation. */
function typeAndSize(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}
