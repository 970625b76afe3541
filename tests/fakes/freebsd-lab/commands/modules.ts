// kldstat, kldload and kldunload.
import { nodeAt } from '../file-system.ts';
import { hasOption, optionValue } from '../getopt.ts';
import { readKernel } from '../kernel.ts';
import { addModule, dropModule, type Machine, tellWatchers } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { readOptions, showUsage } from './options.ts';

export const modulePrograms: Readonly<Record<string, Program>> = {
  config,
  kldload,
  kldstat,
  kldunload,
};

/** `config -x kernel`: the kernel's configuration. */
function config(process: Process): number {
  const [flag, file = '', ...more] = process.args;
  if (flag !== '-x' || more.length > 0) return notModelled(process, 'this use of config');
  const node = nodeAt(process.machine.files, file);
  const kernel = readKernel(node?.kind === 'file' ? node.bytes : undefined);
  if (kernel === undefined) return fail(process, `config: Cannot open ${file}`);
  process.out(kernel.options.map((line) => `${line}\n`).join(''));
  return 0;
}

function kldstat(process: Process): number {
  const given = readOptions(process, {
    program: 'kldstat',
    spec: 'dhi:m:n:qv',
    usage: 'usage: kldstat [-dhqv] [-i id] [-n filename]\n       kldstat [-dq] [-m modname]',
    code: 1,
  });
  if (given.kind === 'refused') return given.code;
  const { machine, out } = process;
  const name = optionValue(given.options, 'm');
  if (given.options.some((option) => !'mq'.includes(option.name))) {
    return notModelled(process, 'this option of kldstat');
  }
  if (name !== undefined) {
    if (machine.modules.has(name)) {
      if (!hasOption(given.options, 'q')) out(`Id  Refs Name\n  1    1 ${name}\n`);
      return 0;
    }
    if (hasOption(given.options, 'q')) return 1;
    return fail(process, `kldstat: can't find module ${name}: No such file or directory`);
  }
  const files = ['kernel', ...[...machine.modules].map((module) => `${module}.ko`)];
  out('Id Refs Address                Size Name\n');
  for (const [index, file] of files.entries()) {
    const id = String(index + 1).padStart(2);
    out(`${id}    1 0xffffffff8${index}200000   1f3e2d0 ${file}\n`);
  }
  return 0;
}

/** Modules come from the folder of the running kernel, then from /boot/modules. */
function kldload(process: Process): number {
  const usage = {
    program: 'kldload',
    spec: 'nqv',
    usage: 'usage: kldload [-nqv] file ...',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { machine } = process;
  if (given.operands.length === 0) return showUsage(process, usage);
  const codes = given.operands.map((operand) => {
    const name = operand.replace(/\.ko$/, '');
    if (machine.modules.has(name)) {
      if (hasOption(given.options, 'n')) return 0;
      return fail(process, `kldload: can't load ${operand}: module already loaded or in kernel`);
    }
    if (moduleFile(machine, name) === undefined) {
      return fail(process, `kldload: can't load ${operand}: No such file or directory`);
    }
    addModule(machine, name);
    return 0;
  });
  tellWatchers(machine);
  return Math.max(...codes);
}

function moduleFile(machine: Machine, name: string): string | undefined {
  const folder = machine.running?.file.replace(/\/kernel$/, '') ?? '';
  return [folder, '/boot/modules']
    .map((place) => `${place}/${name}.ko`)
    .find((file) => nodeAt(machine.files, file)?.kind === 'file');
}

function kldunload(process: Process): number {
  const usage = {
    program: 'kldunload',
    spec: 'fi:nv',
    usage: 'usage: kldunload [-fv] [-n] name ...\n       kldunload [-fv] -i id ...',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { machine } = process;
  if (hasOption(given.options, 'i')) return notModelled(process, 'kldunload -i');
  if (given.operands.length === 0) return showUsage(process, usage);
  const codes = given.operands.map((operand) => {
    const name = operand.replace(/\.ko$/, '');
    if (!machine.modules.has(name)) return fail(process, `kldunload: can't find file ${operand}`);
    dropModule(machine, name);
    return 0;
  });
  tellWatchers(machine);
  return Math.max(...codes);
}
