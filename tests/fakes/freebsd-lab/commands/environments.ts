// bectl: boot environments of a machine with its root on ZFS.
import { makeFolder, nodeAt } from '../file-system.ts';
import { getopt, hasOption, type Option, optionValue } from '../getopt.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { type Environments, environmentTree, mountEnvironment, unmountEnvironment } from '../root.ts';

export const environmentPrograms: Readonly<Record<string, Program>> = { bectl };

const usage =
  'Usage:\tbectl {-h | subcommand [args...]}\n\tbectl [-r beroot] activate [-t] beName\n\tbectl [-r beroot] activate [-T]';
const exUsage = 64;

/** be_error_t of libbe(3), with which bectl exits. */
const failures = {
  invalidName: [1, 'invalid boot environment name'],
  exists: [2, 'boot environment name already taken'],
  missing: [3, 'specified boot environment does not exist'],
  destroyActive: [5, 'cannot destroy active boot environment'],
  destroyMounted: [6, 'cannot destroy mounted boot env unless forced'],
  mounted: [12, 'boot environment is already mounted'],
} as const;

type Failure = keyof typeof failures;

function bectl(process: Process): number {
  const { args, err, machine } = process;
  const [name, ...rest] = args;
  if (name === undefined) return fail({ err }, usage, exUsage);
  const subcommand = subcommands.get(name);
  if (subcommand === undefined) return fail({ err }, `Unknown command: ${name}\n${usage}`, exUsage);
  if (machine.root.kind !== 'zfs') return fail({ err }, 'libbe_init("") failed.', 255);
  const given = getopt('bectl', subcommand.spec, rest);
  if (given.kind === 'refused') {
    const unknown = `bectl ${name}: unknown option '-${given.message.at(-1)}'`;
    return fail({ err }, `${given.message}\n${unknown}\n${usage}`, exUsage);
  }
  const { options, operands } = given;
  const needed = hasOption(options, 'T') ? 0 : subcommand.operands;
  if (operands.length !== needed) {
    return fail({ err }, `bectl ${name}: wrong number of arguments\n${usage}`, exUsage);
  }
  return subcommand.run({ process, root: machine.root, options, name: operands[0] ?? '' });
}

type Call = { process: Process; root: Environments; options: readonly Option[]; name: string };

type Subcommand = { spec: string; operands: number; run: (call: Call) => number };

const subcommands = new Map<string, Subcommand>([
  ['activate', { spec: 'tT', operands: 1, run: activate }],
  ['create', { spec: 'e:r', operands: 1, run: create }],
  ['destroy', { spec: 'Fo', operands: 1, run: destroy }],
  ['list', { spec: 'aDHsc:C:', operands: 0, run: list }],
  ['mount', { spec: '', operands: 1, run: mount }],
  ['umount', { spec: 'f', operands: 1, run: unmount }],
  ['unmount', { spec: 'f', operands: 1, run: unmount }],
]);

function refuse({ err }: Process, failure: Failure, more?: string): number {
  const [code, message] = failures[failure];
  return fail({ err }, more === undefined ? message : `${message}\n${more}`, code);
}

function activate({ process, root, options, name }: Call): number {
  const { out } = process;
  if (hasOption(options, 'T')) {
    root.once = undefined;
    out('Temporary activation removed\n');
    return 0;
  }
  const isOnce = hasOption(options, 't');
  const when = isOnce ? ' for next boot' : '';
  if (!root.all.has(name)) {
    out(`Did not successfully activate boot environment ${name}${when}\n`);
    return refuse(process, 'missing');
  }
  if (isOnce) root.once = name;
  else root.byDefault = name;
  out(`Successfully activated boot environment ${name}${when}\n`);
  return 0;
}

/** Contrary to the manual, -e may name an active one. */
function create({ process, root, options, name }: Call): number {
  if (hasOption(options, 'r') || name.includes('@')) {
    return notModelled(process, 'this form of bectl create');
  }
  const source = optionValue(options, 'e') ?? root.running;
  const failed = `Failed to create bootenv ${name}`;
  if (!/^[\w.-]+$/.test(name)) return refuse(process, 'invalidName', failed);
  if (root.all.has(name)) return refuse(process, 'exists', failed);
  const tree = environmentTree(root, process.machine.files, source);
  if (tree === undefined) return refuse(process, 'missing', failed);
  root.all.set(name, { tree, mountedAt: undefined });
  return 0;
}

function destroy({ process, root, options, name }: Call): number {
  const environment = root.all.get(name);
  if (environment === undefined) return refuse(process, 'missing');
  if (name === root.running || name === root.byDefault) return refuse(process, 'destroyActive');
  if (environment.mountedAt !== undefined && !hasOption(options, 'F')) {
    return refuse(process, 'destroyMounted');
  }
  unmountEnvironment(root, process.machine.files, name);
  root.all.delete(name);
  return 0;
}

function list({ process, root, options }: Call): number {
  if (options.some((option) => option.name !== 'H') || options.length === 0) {
    return notModelled(process, 'this form of bectl list');
  }
  for (const [name, { mountedAt }] of [...root.all].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const isRunning = name === root.running;
    const letters = [isRunning ? 'N' : '', name === root.byDefault ? 'R' : '', name === root.once ? 'T' : ''].join('');
    const place = isRunning ? '/' : (mountedAt ?? '-');
    process.out(`${name}\t${letters || '-'}\t${place}\t1.84G\t2023-11-14 22:13\n`);
  }
  return 0;
}

/** Mounts it at a new folder in /tmp, and prints the path. */
function mount({ process, root, name }: Call): number {
  const { files } = process.machine;
  const environment = root.all.get(name);
  const failed = `Failed to mount bootenv ${name} at temporary path (null)`;
  if (environment === undefined) return refuse(process, 'missing', failed);
  if (name === root.running || environment.mountedAt !== undefined) {
    return refuse(process, 'mounted', failed);
  }
  let number = 0;
  while (nodeAt(files, placeOf(number)) !== undefined) number += 1;
  makeFolder(files, placeOf(number));
  mountEnvironment(root, files, name, placeOf(number));
  process.out(`${placeOf(number)}\n`);
  return 0;
}

const placeOf = (number: number): string => `/tmp/be_mount.${String(number).padStart(4, 'a')}`;

/** Keeps its folder. */
function unmount({ process, root, name }: Call): number {
  const failed = `Failed to unmount bootenv ${name}`;
  if (!root.all.has(name)) return fail(process, `calling zfs_open() failed\n${failed}`, 14);
  unmountEnvironment(root, process.machine.files, name);
  return 0;
}
