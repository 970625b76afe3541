// pgrep and pkill: programs that run on a machine, by name.
import { type Machine, setCutOff } from '../machine.ts';
import { notModelled, type Process, type Program, runProgram } from '../process.ts';
import { readOptions } from './options.ts';

export const processPrograms: Readonly<Record<string, Program>> = {
  pgrep,
  pkill,
  // sshd is an ancestor of the command itself, which pkill finds only with -a.
  'pkill -STOP -x sshd': () => 1,
  'pkill -STOP -a -x sshd': stopSshd,
};

type Running = { id: number; name: string; interrupt: AbortController; kill: AbortController };

const running = new WeakMap<Machine, Set<Running>>();
const firstProcessId = 5242;

/** A program that pgrep and pkill find by that name while it runs, and that handles SIGINT. */
export const listed =
  (name: string, program: Program): Program =>
  async (process) => {
    const all = running.get(process.machine) ?? new Set<Running>();
    running.set(process.machine, all);
    const id = Math.max(firstProcessId - 1, ...[...all].map((one) => one.id)) + 1;
    const entry = { id, name, interrupt: new AbortController(), kill: new AbortController() };
    all.add(entry);
    try {
      const ending = await runProgram(program, process, process.args, {
        interrupted: AbortSignal.any([process.interrupted, entry.interrupt.signal]),
        killed: AbortSignal.any([process.killed, entry.kill.signal]),
      });
      return ending.kind === 'exited' ? ending.code : 128 + 9;
    } finally {
      all.delete(entry);
    }
  };

function pgrep({ machine, args, out }: Process): number {
  const found = matching(machine, readOptions(args, 'x').operands);
  for (const { id } of found) out(`${id}\n`);
  return found.length > 0 ? 0 : 1;
}

function pkill({ machine, args }: Process): number {
  const [signal, ...rest] = args;
  if (signal !== '-INT' && signal !== '-KILL') notModelled();
  const found = matching(machine, readOptions(rest, 'x').operands);
  for (const { interrupt, kill } of found) (signal === '-INT' ? interrupt : kill).abort();
  return found.length > 0 ? 0 : 1;
}

const matching = (machine: Machine, names: readonly string[]): Running[] =>
  [...(running.get(machine) ?? [])].filter(({ name }) => names.includes(name));

/** Logins then fail. */
function stopSshd({ machine }: Process): number {
  setCutOff(machine, true);
  return 0;
}
