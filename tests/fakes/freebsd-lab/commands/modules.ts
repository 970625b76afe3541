// Kernel modules, the configuration of kernels, and the kernel's environment.
import { nodeAt } from '../file-system.ts';
import { readKernel } from '../kernel.ts';
import { addModule, dropModule, type Machine, tellWatchers } from '../machine.ts';
import { fail, type Process, type Program } from '../process.ts';
import { readOptions } from './options.ts';

export const modulePrograms: Readonly<Record<string, Program>> = { config, kenv, kldload, kldstat, kldunload };

function config(process: Process): number {
  const file = readOptions(process.args, 'x:').value('x') ?? '';
  const node = nodeAt(process.machine.files, file);
  const kernel = readKernel(node?.kind === 'file' ? node.bytes : undefined);
  if (kernel === undefined) return fail(process, `config: Cannot open ${file}`);
  process.out(kernel.options.map((line) => `${line}\n`).join(''));
  return 0;
}

/** Sets a variable, and prints one, or all names. */
function kenv({ args, out, machine: { environment } }: Process): number {
  const { has, operands } = readOptions(args, 'Nq');
  const [name = '', ...values] = operands[0]?.split('=') ?? [];
  if (has('N')) {
    for (const one of [...environment.keys()].toSorted()) out(`${one}\n`);
    return 0;
  }
  if (values.length > 0) environment.set(name, values.join('='));
  const value = environment.get(name);
  if (value === undefined) return 255;
  out(values.length > 0 ? `${name}="${value}"\n` : `${value}\n`);
  return 0;
}

function kldstat(process: Process): number {
  const name = readOptions(process.args, 'qm:').value('m');
  const { modules } = process.machine;
  if (name !== undefined) return modules.has(name) ? 0 : 1;
  process.out('Id Refs Address                Size Name\n');
  for (const [index, file] of ['kernel', ...[...modules].map((module) => `${module}.ko`)].entries()) {
    process.out(`${String(index + 1).padStart(2)}    1 0xffffffff8${index}200000   1f3e2d0 ${file}\n`);
  }
  return 0;
}

/** Modules come from the folder of the running kernel, then from /boot/modules. */
function kldload(process: Process): number {
  const { has, operands } = readOptions(process.args, 'n');
  const [name = ''] = operands;
  const { machine } = process;
  if (machine.modules.has(name)) {
    return has('n') ? 0 : fail(process, `kldload: can't load ${name}: module already loaded or in kernel`);
  }
  if (!hasModule(machine, name)) return fail(process, `kldload: can't load ${name}: No such file or directory`);
  addModule(machine, name);
  tellWatchers(machine);
  return 0;
}

function hasModule({ running, files }: Machine, name: string): boolean {
  const folder = running?.file.replace(/\/kernel$/, '') ?? '';
  return [folder, '/boot/modules'].some((place) => nodeAt(files, `${place}/${name}.ko`)?.kind === 'file');
}

function kldunload(process: Process): number {
  const { machine, args } = process;
  const [name = ''] = args;
  if (!machine.modules.has(name)) return fail(process, `kldunload: can't find file ${name}`);
  dropModule(machine, name);
  tellWatchers(machine);
  return 0;
}
