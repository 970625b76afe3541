// pgrep and pkill: programs that run on a machine, by name.
import { hasOption } from '../getopt.ts';
import { type Machine, setCutOff } from '../machine.ts';
import { notModelled, type Process, type Program, runProgram } from '../process.ts';
import { readOptions, showUsage } from './options.ts';

export const processPrograms: Readonly<Record<string, Program>> = { pgrep, pkill };

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

const criteria =
  '[-F pidfile] [-G gid] [-M core] [-N system]\n             [-P ppid] [-U uid] [-c class] [-g pgrp] [-j jail]\n             [-s sid] [-t tty] [-u euid] pattern ...';

const usages = {
  pgrep: `usage: pgrep [-LSfilnoqvx] [-d delim] ${criteria}`,
  pkill: `usage: pkill [-signal] [-ILfilnovx] ${criteria}`,
};

const spec = 'DF:G:ILM:N:P:SU:ac:d:fg:ij:lnoqs:t:u:vx';

function pgrep(process: Process): number {
  const found = matching(process, 'pgrep');
  if (found.kind === 'refused') return found.code;
  if (found.ancestors > 0) return notModelled(process, 'pgrep -a of sshd');
  for (const { id } of found.all) process.out(`${id}\n`);
  return found.all.length > 0 ? 0 : 1;
}

/** Accepts a signal only as its first argument. */
function pkill(process: Process): number {
  const [first = '', ...rest] = process.args;
  const signal = /^-(?:SIG)?(INT|KILL|TERM|STOP)$/i.exec(first)?.[1]?.toUpperCase();
  const args = signal === undefined ? process.args : rest;
  const found = matching({ ...process, args }, 'pkill');
  if (found.kind === 'refused') return found.code;
  if (signal === 'STOP') return stop(process, found);
  if (found.ancestors > 0) return notModelled(process, 'pkill -a of sshd');
  for (const { interrupt, kill } of found.all) (signal === 'INT' ? interrupt : kill).abort();
  return found.all.length > 0 ? 0 : 1;
}

/** Only sshd can be stopped in the fake lab: logins then fail. */
function stop(process: Process, { all, ancestors }: FoundProcesses): number {
  if (all.length > 0) return notModelled(process, 'this use of -STOP');
  if (ancestors === 0) return 1;
  setCutOff(process.machine, true);
  return 0;
}

/** `ancestors` counts those of the command itself, which it finds only with -a. */
type FoundProcesses = { all: Running[]; ancestors: number };

type Matching = ({ kind: 'found' } & FoundProcesses) | { kind: 'refused'; code: number };

/** Over ssh: the listener, and the session. */
const ancestorNames = ['sshd', 'sshd'];

/** Both exit with 2 if used incorrectly. */
function matching(process: Process, program: 'pgrep' | 'pkill'): Matching {
  const usage = { program, spec, usage: usages[program], code: 2 };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given;
  const { options, operands } = given;
  if (operands.length === 0) return { kind: 'refused', code: showUsage(process, usage) };
  const isWithAncestors = hasOption(options, 'a');
  const isExact = options.length === (isWithAncestors ? 2 : 1) && hasOption(options, 'x');
  const isPlain = operands.every((operand) => /^[\w-]+$/.test(operand));
  if (!isExact || !isPlain) {
    return { kind: 'refused', code: notModelled(process, `this use of ${program}`) };
  }
  const all = [...(running.get(process.machine) ?? [])];
  const ancestors = ancestorNames.filter((name) => isWithAncestors && operands.includes(name));
  return {
    kind: 'found',
    all: all.filter(({ name }) => operands.includes(name)),
    ancestors: ancestors.length,
  };
}
