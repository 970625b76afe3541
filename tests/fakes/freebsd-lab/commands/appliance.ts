// BSDRP's additions to a nanobsd image, and programs that show and change its slices.
import { textOf } from '../file-system.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import {
  indexOf,
  labelOf,
  mountConfiguration,
  mountSlice,
  otherSlice,
  providerOf,
  type Slices,
  slices,
  type Tree,
  unmountConfiguration,
  unmountSlice,
  writeFstab,
} from '../root.ts';
import { readTar } from '../tar.ts';

export const appliancePrograms: Readonly<Record<string, Program>> = {
  'glabel status -s': showLabels,
  gpart,
  mount,
  'mount /cfg': changeConfiguration(mountConfiguration),
  'umount /cfg': changeConfiguration(unmountConfiguration),
  'umount /mnt': (process) => {
    unmountSlice(slicesOf(process), process.machine.files);
    return 0;
  },
  'system rollback': rollBack,
  upgrade,
};

const slicesOf = ({ machine: { root } }: Process): Slices => (root.kind === 'nanobsd' ? root : notModelled());

/** Reads an image to its end, checks the written copy, and makes its slice the active one. */
async function upgrade(process: Process): Promise<number> {
  const root = slicesOf(process);
  const image = await process.stdin();
  await process.sleep(60);
  const next = otherSlice(root.running);
  const tree = treeOf(image);
  root.trees.set(next, tree ?? new Map());
  if (tree === undefined) {
    return fail(process, `EXIT: ERROR: New file system /dev/${providerOf(root.scheme, next)} check failed`);
  }
  writeFstab(root, process.machine.files, next);
  root.active = new Set([next]);
  process.out('BSDRP Upgrade complete\n');
  return 0;
}

/** Undefined if fsck_ffs(8) would not accept it as a file system: compressed, incomplete, or something else. */
function treeOf(image: Buffer): Tree | undefined {
  if (image.toString('latin1', 257, 262) !== 'ustar') return undefined;
  const entries = readTar(image);
  return entries && new Map(entries.map(({ path, ...node }) => [`/${path}`, node]));
}

/**
 * `system rollback` prompts, and reads the reply from its stdout, which is its stdin over FreeBSD's ssh. On a GPT it
 * continues from what fstab says, and fails on an unset variable before it removes `bootme` from the former slice.
 */
async function rollBack(process: Process): Promise<number> {
  const root = slicesOf(process);
  const { files } = process.machine;
  const isToBeS2 = textOf(files, '/etc/fstab')?.startsWith(labelOf(root.scheme, 's2')) ?? false;
  const next = root.scheme === 'MBR' ? otherSlice(root.running) : isToBeS2 ? 's1' : 's2';
  if (next !== root.running && !root.trees.get(next)?.size) {
    return fail(process, 'EXIT: ERROR: Missing or fsck problem on the previous system slice');
  }
  process.out('Warning: Are you sure to revert to the previous release ? (y/n)');
  // It would prompt forever.
  if ((await process.stdin()).toString() !== 'y\n') notModelled();
  writeFstab(root, files, next);
  if (root.scheme === 'GPT') {
    root.active.add(next);
    return fail(process, '/usr/local/sbin/system: part_activeT: parameter not set', 2);
  }
  root.active = new Set([next]);
  process.out('BSDRP system rollback complete\n');
  return 0;
}

function changeConfiguration(act: typeof mountConfiguration): Program {
  return (process) => {
    act(slicesOf(process), process.machine.files);
    return 0;
  };
}

/** Mounts the slice that does not run. */
function mount(process: Process): number {
  const root = slicesOf(process);
  const other = otherSlice(root.running);
  const device = labelOf(root.scheme, other);
  if (process.args.join(' ') !== `-t ufs -o ro ${device} /mnt`) notModelled();
  if (!root.trees.get(other)?.size) return fail(process, `mount: ${device}: No such file or directory`);
  mountSlice(root, process.machine.files, '/mnt');
  return 0;
}

/** Label, status and provider, one line each. */
function showLabels(process: Process): number {
  const { scheme } = slicesOf(process);
  for (const slice of slices) {
    const label = labelOf(scheme, slice).replace('/dev/', '');
    process.out(`${label}  N/A  ${providerOf(scheme, slice)}${scheme === 'MBR' ? 'a' : ''}\n`);
  }
  process.out(scheme === 'MBR' ? ' ufs/BSDRPs3  N/A  ada0s3\n' : '     gpt/cfg  N/A  ada0p5\n');
  return 0;
}

function gpart(process: Process): number {
  const root = slicesOf(process);
  const [verb, ...rest] = process.args;
  if (verb === 'show') {
    process.out(tableOf(root));
    return 0;
  }
  const words = rest.join(' ');
  const slice = slices.find((one) => words === `-a bootme -i ${indexOf(root.scheme, one)} ada0`) ?? notModelled();
  if (verb === 'set') root.active.add(slice);
  else root.active.delete(slice);
  return 0;
}

function tableOf({ scheme, active }: Slices): string {
  const attribute = scheme === 'MBR' ? '[active]' : '[bootme]';
  const type = scheme === 'MBR' ? 'freebsd' : 'freebsd-ufs';
  const rows = slices.map((slice) => {
    const marks = active.has(slice) ? `  ${attribute}` : '';
    return `     3223  4194304  ${providerOf(scheme, slice)}  ${type}${marks}  (2.0G)\n`;
  });
  const boot =
    scheme === 'MBR'
      ? []
      : ['       40    66584  ada0p1  efi  (33M)\n', '    66624      345  ada0p2  freebsd-boot  (173K)\n'];
  return [
    `=>      40  31277152    ada0  ${scheme}  (15G)\n`,
    ...boot,
    ...rows,
    '  8391831  22885361          - free -  (11G)\n',
    '\n',
  ].join('');
}
