// sh, kill and timeout: programs that run or end others.
import { windowScript } from '../../../../src/lab/freebsd/dut/profile.ts';
import { idleScript } from '../../../../src/lab/freebsd/dut/settings.ts';
import { ownFolderScript } from '../../../../src/system/host/own-folder.ts';
import { missingScript } from '../../../../src/system/host/programs.ts';
import { raise, raiseScript } from '../fence.ts';
import { fileErrorText, makeFolder } from '../file-system.ts';
import type { Machine } from '../machine.ts';
import { type Ending, fail, notModelled, type Process, type Program, runProgram } from '../process.ts';
import { readOptions } from './options.ts';

export type Found = { program: Program; catchesInterrupt: boolean };
type Find = (name: string) => Found | undefined;

/** `find` returns the program of a name. */
export function shellPrograms(find: Find): Readonly<Record<string, Program>> {
  /** The scripts that sh knows. */
  const scripts = new Map<string, Program>([
    [raiseScript, (process) => raise(process, process.args[1])],
    [ownFolderScript, makeOwn],
    [idleScript, (process) => sampleTwice(process, find)],
    [missingScript, (process) => listMissing(process, find)],
    [windowScript, (process) => inWindow(process, find)],
    ['echo process $$ >&2; exec "$@"', (process) => runAsProcess(process, find)],
  ]);
  return {
    ':': () => 0,
    kill,
    sh: (process) => {
      const [flag, script = '', ...args] = process.args;
      const program = flag === '-c' ? scripts.get(script) : undefined;
      return (program ?? notModelled)({ ...process, args });
    },
    timeout: (process) => runFor(process, find),
  };
}

const codeOf = (ending: Ending): number => (ending.kind === 'exited' ? ending.code : 128 + 9);

async function run(process: Process, find: Find, [name = '', ...args]: readonly string[]): Promise<number> {
  const found = process.machine.lacks.has(name) ? undefined : find(name);
  if (found === undefined) return fail(process, `sh: ${name}: not found`, 127);
  return codeOf(await runProgram(found.program, process, args, process));
}

/** Running programs by process id, on each machine. */
const running = new WeakMap<Machine, Map<number, AbortController>>();
const firstProcessId = 4242;
const gone = new AbortController();

/** Prints its process id, by which `kill` interrupts it. */
async function runAsProcess(process: Process, find: Find): Promise<number> {
  const interrupt = new AbortController();
  const processes = running.get(process.machine) ?? new Map<number, AbortController>();
  running.set(process.machine, processes);
  const id = firstProcessId + processes.size;
  processes.set(id, interrupt);
  process.err(`process ${id}\n`);
  const interrupted = AbortSignal.any([process.interrupted, interrupt.signal]);
  const code = await run({ ...process, interrupted }, find, process.args.slice(1));
  processes.set(id, gone);
  return code;
}

function kill(process: Process): number {
  const [signal, id] = process.args;
  if (signal !== '-INT') notModelled();
  const controller = running.get(process.machine)?.get(Number(id));
  if (controller === undefined || controller === gone) return fail(process, `kill: ${id}: No such process`);
  controller.abort();
  return 0;
}

function listMissing({ args, machine, out }: Process, find: Find): number {
  for (const name of args.slice(1)) if (machine.lacks.has(name) || find(name) === undefined) out(`${name}\n`);
  return 0;
}

/** Root is the only user on the machine. */
function makeOwn(process: Process): number {
  const [, path = ''] = process.args;
  const error = makeFolder(process.machine.files, path, true);
  return error === undefined ? 0 : fail(process, `mkdir: ${path}: ${fileErrorText[error]}`);
}

async function inWindow(process: Process, find: Find): Promise<number> {
  const [, seconds, ...words] = process.args;
  const counters = ['netstat', '-i', '-b', '-n', '-W'];
  await process.sleep(Number(seconds));
  await run(process, find, counters);
  return (await run(process, find, words)) || run(process, find, counters);
}

async function sampleTwice(process: Process, find: Find): Promise<number> {
  let load = '';
  const out = (text: string | Uint8Array) => {
    load += text;
  };
  await run({ ...process, out }, find, ['sysctl', '-n', 'vm.loadavg']);
  if (/^\{ 0[.,][0-4]/.test(load)) return 0;
  const sample = () => run(process, find, ['sysctl', '-n', 'kern.cp_time']);
  await sample();
  await process.sleep(5);
  return sample();
}

/** Ends a program in time; exit codes are those of timeout(1). */
async function runFor(process: Process, find: Find): Promise<number> {
  const { value, operands } = readOptions(process.args, 's:');
  const [seconds, name = '', ...args] = operands;
  const found = process.machine.lacks.has(name) ? undefined : find(name);
  if (found === undefined) return fail(process, `timeout: exec(${name}): No such file or directory`, 127);
  const over = new AbortController();
  const isCaught = value('s') === 'INT' && found.catchesInterrupt;
  process.deps.clock.after(Number(seconds), () => over.abort());
  const either = (signal: AbortSignal, isMeant: boolean) => (isMeant ? AbortSignal.any([signal, over.signal]) : signal);
  const ending = await runProgram(found.program, process, args, {
    interrupted: either(process.interrupted, isCaught),
    killed: either(process.killed, !isCaught),
  });
  return over.signal.aborted ? 124 : codeOf(ending);
}
