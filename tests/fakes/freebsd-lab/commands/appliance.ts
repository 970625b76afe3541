// upgrade and system: what BSDRP adds to a nanobsd image; mount and umount, to look into the other slice.
import { remove, textOf, writeFile } from '../file-system.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import {
  activateSlice,
  labelOf,
  mountSlice,
  otherSlice,
  type Slices,
  type Tree,
  unmountSlice,
} from '../root.ts';
import { readTar } from '../tar.ts';

export const appliancePrograms: Readonly<Record<string, Program>> = {
  mount,
  system,
  umount,
  upgrade,
};

const lockFile = '/tmp/UPGRADE-LOCK';

/** Reads an image to its end, checks what it wrote, and makes its slice the active one. */
async function upgrade(process: Process): Promise<number> {
  const { machine, out } = process;
  const { root, files } = machine;
  if (root.kind !== 'nanobsd') return fail(process, 'upgrade: Command not found.');
  if (textOf(files, lockFile) !== undefined) {
    return fail(process, 'EXIT: Another upgrade already running');
  }
  writeFile(files, lockFile, '');
  const image = await process.stdin();
  await process.sleep(60);
  const next = otherSlice(root.running);
  const tree = treeOf(image);
  root.trees.set(next, tree ?? new Map());
  remove(files, lockFile);
  if (tree === undefined) {
    return fail(process, `EXIT: ERROR: New file system /dev/ada0${next} check failed`);
  }
  activateSlice(root, files, next);
  out('BSDRP Upgrade complete\n');
  return 0;
}

/** Undefined for what fsck_ffs(8) would not take for a file system: compressed, torn or something else. */
function treeOf(image: Buffer): Tree | undefined {
  if (image.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const outcome = readTar(image);
  if (outcome.kind === 'unreadable') return undefined;
  return new Map(
    outcome.entries.map((entry) => {
      const node =
        entry.kind === 'file'
          ? { kind: entry.kind, bytes: entry.bytes, mode: entry.mode }
          : { kind: entry.kind, mode: entry.mode };
      return [`/${entry.path}`, node];
    }),
  );
}

/** `system rollback` asks, and reads the answer from its stdout: over FreeBSD's ssh that is its stdin. */
async function system(process: Process): Promise<number> {
  const { machine, args, out } = process;
  const { root, files } = machine;
  if (root.kind !== 'nanobsd') return fail(process, 'system: Command not found.');
  if (args.length !== 1 || args[0] !== 'rollback')
    return notModelled(process, 'this use of system');
  const next = otherSlice(root.running);
  if (!root.trees.has(next)) return fail(process, 'EXIT: ERROR: This system was never upgraded');
  if (root.trees.get(next)?.size === 0) {
    return fail(process, 'EXIT: ERROR: Missing or fsck problem on the previous system slice');
  }
  out('Warning: Are you sure to revert to the previous release ? (y/n)');
  const answers = (await process.stdin()).toString().split('\n');
  const answer = answers.find((line) => line === 'y' || line === 'n');
  // It would ask for ever.
  if (answer === undefined) return notModelled(process, 'system rollback without an answer');
  if (answer === 'n') return 0;
  activateSlice(root, files, next);
  out('BSDRP system rollback complete\n');
  return 0;
}

function mount(process: Process): number {
  const { args, machine } = process;
  const { root, files } = machine;
  const [type, ufs, option, readOnly, device, place, ...more] = args;
  const isPlain = type === '-t' && ufs === 'ufs' && option === '-o' && readOnly === 'ro';
  if (root.kind !== 'nanobsd' || !isPlain || place !== '/mnt' || more.length > 0) {
    return notModelled(process, 'this use of mount');
  }
  const isThere = device === labelOf(otherSlice(root.running)) && hasFiles(root);
  if (!isThere) return fail(process, `mount: ${device}: No such file or directory`);
  mountSlice(root, files, place);
  return 0;
}

const hasFiles = (root: Slices): boolean =>
  (root.trees.get(otherSlice(root.running))?.size ?? 0) > 0;

function umount(process: Process): number {
  const { args, machine } = process;
  const { root, files } = machine;
  const [place, ...more] = args;
  if (root.kind !== 'nanobsd' || more.length > 0) return notModelled(process, 'this use of umount');
  if (place === undefined || place !== root.mountedAt) {
    return fail(process, `umount: ${place}: not a file system root directory`);
  }
  unmountSlice(root, files);
  return 0;
}
