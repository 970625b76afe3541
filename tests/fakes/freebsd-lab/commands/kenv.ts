// kenv: the kernel's environment, which a module reads when it is loaded.
import { hasOption } from '../getopt.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { readOptions, showUsage } from './options.ts';

export const kenvPrograms: Readonly<Record<string, Program>> = { kenv };

const usage = {
  program: 'kenv',
  spec: 'hNquv',
  usage: 'usage: kenv [-hNq]\n       kenv [-qv] variable[=value]\n       kenv [-q] -u variable',
  code: 1,
};

/** Prints a single variable, or all names. */
function kenv(process: Process): number {
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  const [operand, ...more] = operands;
  if (operand === undefined && hasOption(options, 'N') && options.length === 1) {
    for (const name of [...process.machine.environment.keys()].toSorted()) process.out(`${name}\n`);
    return 0;
  }
  if (operand === undefined && options.every(({ name }) => !'uv'.includes(name))) {
    return notModelled(process, 'kenv without a variable');
  }
  const isOfAll = hasOption(options, 'h') || hasOption(options, 'N');
  if (operand === undefined || more.length > 0 || isOfAll) return showUsage(process, usage);
  const isQuiet = hasOption(options, 'q');
  const [name = '', ...values] = operand.split('=');
  const { environment } = process.machine;
  if (operand.includes('=')) {
    environment.set(name, values.join('='));
    process.out(`${name}="${values.join('=')}"\n`);
    return 0;
  }
  const value = environment.get(name);
  if (value === undefined) {
    const what = hasOption(options, 'u') ? 'unset' : 'get';
    return isQuiet ? 255 : fail(process, `kenv: unable to ${what} ${name}`, 255);
  }
  if (hasOption(options, 'u')) environment.delete(name);
  else process.out(hasOption(options, 'v') ? `${name}="${value}"\n` : `${value}\n`);
  return 0;
}
