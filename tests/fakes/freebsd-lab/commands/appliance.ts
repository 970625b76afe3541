// upgrade and system: BSDRP's additions to a nanobsd image, and programs that show and change its slices.
import { remove, textOf, writeFile } from '../file-system.ts';
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
  glabel,
  gpart,
  mount,
  system,
  umount,
  upgrade,
};

const lockFile = '/tmp/UPGRADE-LOCK';

/** Reads an image to its end, checks the written copy, and makes its slice the active one. */
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
    return fail(process, `EXIT: ERROR: New file system /dev/${providerOf(root.scheme, next)} check failed`);
  }
  writeFstab(root, files, next);
  root.active = new Set([next]);
  out('BSDRP Upgrade complete\n');
  return 0;
}

/** Undefined if fsck_ffs(8) would not accept it as a file system: compressed, incomplete, or something else. */
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

/**
 * `system rollback` prompts, and reads the reply from its stdout, which is its stdin over FreeBSD's ssh. On a GPT it
 * continues from what fstab says, and fails on an unset variable before it removes `bootme` from the former slice.
 */
async function system(process: Process): Promise<number> {
  const { machine, args, out } = process;
  const { root, files } = machine;
  if (root.kind !== 'nanobsd') return fail(process, 'system: Command not found.');
  if (args.length !== 1 || args[0] !== 'rollback') return notModelled(process, 'this use of system');
  const isToBeS2 = textOf(files, '/etc/fstab')?.startsWith(labelOf(root.scheme, 's2')) ?? false;
  const next = root.scheme === 'MBR' ? otherSlice(root.running) : isToBeS2 ? 's1' : 's2';
  if (next !== root.running && !root.trees.has(next))
    return fail(process, 'EXIT: ERROR: This system was never upgraded');
  if (root.trees.get(next)?.size === 0) {
    return fail(process, 'EXIT: ERROR: Missing or fsck problem on the previous system slice');
  }
  out('Warning: Are you sure to revert to the previous release ? (y/n)');
  const answers = (await process.stdin()).toString().split('\n');
  const answer = answers.find((line) => line === 'y' || line === 'n');
  // It would prompt forever.
  if (answer === undefined) return notModelled(process, 'system rollback without an answer');
  if (answer === 'n') return 0;
  writeFstab(root, files, next);
  if (root.scheme === 'GPT') {
    root.active.add(next);
    return fail(process, '/usr/local/sbin/system: part_activeT: parameter not set', 2);
  }
  root.active = new Set([next]);
  out('BSDRP system rollback complete\n');
  return 0;
}

function mount(process: Process): number {
  const { args, machine } = process;
  const { root, files } = machine;
  if (root.kind === 'nanobsd' && args.length === 1 && args[0] === '/cfg') {
    if (root.isConfigurationMounted) return fail(process, 'mount: /dev/gpt/cfg: Device busy');
    mountConfiguration(root, files);
    return 0;
  }
  const [type, ufs, option, readOnly, device, place, ...more] = args;
  const isPlain = type === '-t' && ufs === 'ufs' && option === '-o' && readOnly === 'ro';
  if (root.kind !== 'nanobsd' || !isPlain || place !== '/mnt' || more.length > 0) {
    return notModelled(process, 'this use of mount');
  }
  const isThere = device === labelOf(root.scheme, otherSlice(root.running)) && hasFiles(root);
  if (!isThere) return fail(process, `mount: ${device}: No such file or directory`);
  mountSlice(root, files, place);
  return 0;
}

const hasFiles = (root: Slices): boolean => (root.trees.get(otherSlice(root.running))?.size ?? 0) > 0;

function umount(process: Process): number {
  const { args, machine } = process;
  const { root, files } = machine;
  const [place, ...more] = args;
  if (root.kind !== 'nanobsd' || more.length > 0) return notModelled(process, 'this use of umount');
  if (place === '/cfg' && root.isConfigurationMounted) {
    unmountConfiguration(root, files);
    return 0;
  }
  if (place === undefined || place !== root.mountedAt) {
    return fail(process, `umount: ${place}: not a file system root directory`);
  }
  unmountSlice(root, files);
  return 0;
}

/** `glabel status -s`: label, status and provider, one line each. */
function glabel(process: Process): number {
  const { args, machine, out } = process;
  if (machine.root.kind !== 'nanobsd' || args.join(' ') !== 'status -s') {
    return notModelled(process, 'this use of glabel');
  }
  const { scheme } = machine.root;
  for (const slice of slices) {
    const label = labelOf(scheme, slice).replace('/dev/', '');
    out(`${label}  N/A  ${providerOf(scheme, slice)}${scheme === 'MBR' ? 'a' : ''}\n`);
  }
  out(scheme === 'MBR' ? ' ufs/BSDRPs3  N/A  ada0s3\n' : '     gpt/cfg  N/A  ada0p5\n');
  return 0;
}

function gpart(process: Process): number {
  const { args, machine, out } = process;
  const { root } = machine;
  if (root.kind !== 'nanobsd') return notModelled(process, 'gpart on no appliance');
  const [verb, ...rest] = args;
  if (verb === 'show' && rest[0] === '-p' && rest.length === 2) {
    if (rest[1] !== 'ada0') return fail(process, `gpart: No such geom: ${rest[1]}.`);
    out(tableOf(root));
    return 0;
  }
  const [, attribute = '', , index = '', disk, ...more] = rest;
  const words = [rest[0], rest[2], disk, ...more].join(' ');
  const slice = slices.find((one) => String(indexOf(root.scheme, one)) === index);
  const own = root.scheme === 'MBR' ? 'active' : 'bootme';
  const isModelled = (verb === 'set' || verb === 'unset') && words === '-a -i ada0';
  if (!isModelled || attribute !== own || slice === undefined) {
    return notModelled(process, 'this use of gpart');
  }
  if (verb === 'unset') root.active.delete(slice);
  else if (root.scheme === 'MBR') root.active = new Set([slice]);
  else root.active.add(slice);
  out(`${own} ${verb === 'set' ? 'set on' : 'removed from'} ada0p${index}\n`);
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
