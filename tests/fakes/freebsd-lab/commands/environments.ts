// bectl: boot environments of a machine with its root on ZFS.
import { makeFolder, nodeAt } from '../file-system.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { type Environments, environmentTree, mountEnvironment, unmountEnvironment } from '../root.ts';
import { type Options, readOptions } from './options.ts';

export const environmentPrograms: Readonly<Record<string, Program>> = { bectl };

function bectl(process: Process): number {
  const [name = '', ...rest] = process.args;
  const [spec, run] = subcommands[name] ?? notModelled();
  const { root } = process.machine;
  if (root.kind !== 'zfs') return fail(process, 'libbe_init("") failed.', 255);
  const options = readOptions(rest, spec);
  return run({ process, root, options, name: options.operands[0] ?? '' });
}

type Call = { process: Process; root: Environments; options: Options; name: string };

const subcommands: Readonly<Record<string, [spec: string, run: (call: Call) => number]>> = {
  activate: ['tT', activate],
  create: ['e:', create],
  destroy: ['Fo', destroy],
  list: ['H', list],
  mount: ['', mount],
  unmount: ['', unmount],
};

/** BE_ERR_NOENT of libbe(3). */
const missing = ({ process }: Call): number => fail(process, 'specified boot environment does not exist', 3);

function activate(call: Call): number {
  const { process, root, options, name } = call;
  if (options.has('t') && !root.all.has(name)) return missing(call);
  root.once = options.has('t') ? name : undefined;
  process.out(
    options.has('t')
      ? `Successfully activated boot environment ${name} for next boot\n`
      : 'Temporary activation removed\n',
  );
  return 0;
}

/** Contrary to the manual, -e may name an active one. */
function create(call: Call): number {
  const { process, root, options, name } = call;
  if (root.all.has(name)) return fail(process, 'boot environment name already taken', 2);
  const tree = environmentTree(root, process.machine.files, options.value('e') ?? root.running);
  if (tree === undefined) return missing(call);
  root.all.set(name, { tree, mountedAt: undefined });
  return 0;
}

function destroy(call: Call): number {
  const { process, root, name } = call;
  if (!root.all.has(name)) return missing(call);
  if (name === root.running || name === root.byDefault)
    return fail(process, 'cannot destroy active boot environment', 5);
  unmountEnvironment(root, process.machine.files, name);
  root.all.delete(name);
  return 0;
}

function list({ process, root }: Call): number {
  for (const [name, { mountedAt }] of [...root.all].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const isRunning = name === root.running;
    const letters = [isRunning ? 'N' : '', name === root.byDefault ? 'R' : '', name === root.once ? 'T' : ''].join('');
    const place = isRunning ? '/' : (mountedAt ?? '-');
    process.out(`${name}\t${letters || '-'}\t${place}\t1.84G\t2023-11-14 22:13\n`);
  }
  return 0;
}

/** Mounts it at a new folder in /tmp, and prints the path. */
function mount(call: Call): number {
  const { process, root, name } = call;
  const { files } = process.machine;
  const environment = root.all.get(name);
  if (environment === undefined) return missing(call);
  if (name === root.running || environment.mountedAt !== undefined) {
    return fail(process, 'boot environment is already mounted', 12);
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
function unmount(call: Call): number {
  if (!call.root.all.has(call.name)) return missing(call);
  unmountEnvironment(call.root, call.process.machine.files, call.name);
  return 0;
}
