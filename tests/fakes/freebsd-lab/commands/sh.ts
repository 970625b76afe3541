// sh and kill: a program that prints its process id, by which it is interrupted.
import { windowScript } from '../../../../src/lab/freebsd/dut/profile.ts';
import { idleScript } from '../../../../src/lab/freebsd/dut/settings.ts';
import { ownFolderScript } from '../../../../src/system/host/own-folder.ts';
import { missingScript } from '../../../../src/system/host/programs.ts';
import { raise, raiseScript } from '../fence.ts';
import { fileErrorText, makeFolder } from '../file-system.ts';
import type { Machine } from '../machine.ts';
import { fail, notModelled, type Process, type Program, runProgram } from '../process.ts';
import type { Found } from './timeout.ts';

/** Running programs by process id, on each machine. */
const running = new WeakMap<Machine, Map<number, AbortController>>();
const firstProcessId = 4242;

/**
 * sh supports the scripts that raise a fence, create our folder, look for programs and sample in a window, and this
 * one: its process id on stderr, and then the following words in its place.
 */
const tellProcessId = 'echo process $$ >&2; exec "$@"';

export function shellWith(find: (name: string) => Found | undefined): Program {
  return async (process) => {
    const [flag, script, , name = '', ...args] = process.args;
    if (flag === '-c' && script === raiseScript) return raise(process, process.args.slice(2));
    if (flag === '-c' && script === ownFolderScript) return makeOwn(process, name);
    if (flag === '-c' && script === idleScript) return sampleTwice(process, find);
    if (flag === '-c' && script === missingScript) return tellMissing(process, find);
    if (flag === '-c' && script === windowScript) return inWindow(process, find);
    if (flag !== '-c' || script !== tellProcessId) return notModelled(process, 'this script of sh');
    const found = process.machine.lacks.has(name) ? undefined : find(name);
    const interrupt = new AbortController();
    const processes = running.get(process.machine) ?? new Map<number, AbortController>();
    running.set(process.machine, processes);
    const id = firstProcessId + processes.size;
    processes.set(id, interrupt);
    process.err(`process ${id}\n`);
    if (found === undefined) return fail(process, `sh: ${name}: not found`, 127);
    const ending = await runProgram(found.program, process, args, {
      interrupted: AbortSignal.any([process.interrupted, interrupt.signal]),
      killed: process.killed,
    });
    processes.set(id, gone);
    return ending.kind === 'exited' ? ending.code : 128 + 9;
  };
}

function tellMissing(process: Process, find: (name: string) => Found | undefined): number {
  const missing = process.args.slice(3).filter((name) => process.machine.lacks.has(name) || find(name) === undefined);
  for (const name of missing) process.out(`${name}\n`);
  return 0;
}

/** Root is the only user on the machine. */
function makeOwn(process: Process, path: string): number {
  const error = makeFolder(process.machine.files, path, true);
  return error === undefined ? 0 : fail(process, `mkdir: ${path}: ${fileErrorText[error]}`);
}

async function inWindow(process: Process, find: (name: string) => Found | undefined): Promise<number> {
  const [, , , seconds, ...words] = process.args;
  const run = async ([name = '', ...args]: readonly string[]): Promise<number> => {
    const found = find(name);
    if (found === undefined) return fail(process, `sh: ${name}: not found`, 127);
    const ending = await runProgram(found.program, process, args, process);
    return ending.kind === 'exited' ? ending.code : 128 + 9;
  };
  const counters = ['netstat', '-i', '-b', '-n', '-W'];
  await process.sleep(Number(seconds));
  await run(counters);
  return (await run(words)) || run(counters);
}

async function sampleTwice(process: Process, find: (name: string) => Found | undefined): Promise<number> {
  const found = find('sysctl');
  if (found === undefined) return fail(process, 'sh: sysctl: not found', 127);
  const read = async (name: string, out = process.out) => {
    const ending = await runProgram(found.program, { ...process, out }, ['-n', name], process);
    return ending.kind === 'exited' ? ending.code : 128 + 9;
  };
  const sample = () => read('kern.cp_time');
  let load = '';
  await read('vm.loadavg', (text) => {
    load += text;
  });
  if (/^\{ 0[.,][0-4]/.test(load)) return 0;
  const code = await sample();
  if (code !== 0) return code;
  await process.sleep(5);
  return sample();
}

const gone = new AbortController();

export const killPrograms: Record<string, Program> = {
  ':': () => 0,
  kill(process) {
    const [signal, id, ...more] = process.args;
    if (signal !== '-INT' || more.length > 0) return notModelled(process, 'this use of kill');
    const controller = running.get(process.machine)?.get(Number(id));
    if (controller === undefined || controller === gone) {
      return fail(process, `kill: ${id}: No such process`);
    }
    controller.abort();
    return 0;
  },
};
