// timeout: ends another program in time.
import { getopt, hasOption, optionValue } from '../getopt.ts';
import { fail, type Process, type Program, runProgram } from '../process.ts';

export type Found = { program: Program; catchesInterrupt: boolean };

const usage =
  'Usage: timeout [-f | --foreground] [-k time | --kill-after time] [-p | --preserve-status] [-s signal | --signal signal] [-v | --verbose] <duration> <command> [arg ...]';

const timedOut = 124;
const invalid = 125;
const notFound = 127;

/** `find` returns the program of a name. Exit codes are those of timeout(1). */
export function timeoutWith(find: (name: string) => Found | undefined): Program {
  return (process) => {
    const parsed = getopt('timeout', 'fhk:ps:v', process.args);
    if (parsed.kind === 'refused') return fail(process, `${parsed.message}\n${usage}`, invalid);
    const { options, operands } = parsed;
    const [duration, name, ...args] = operands;
    if (duration === undefined || name === undefined) return fail(process, usage, invalid);
    const seconds = secondsOf(duration);
    const signal = signalOf(optionValue(options, 's') ?? 'TERM');
    if (seconds === undefined) return fail(process, 'timeout: duration is not a number', invalid);
    if (signal === undefined) return fail(process, 'timeout: invalid signal', invalid);
    const found = find(name);
    if (found === undefined) {
      return fail(process, `timeout: exec(${name}): No such file or directory`, notFound);
    }
    const preserves = hasOption(options, 'p');
    return runFor(process, found, args, { seconds, signal, preserves });
  };
}

function secondsOf(duration: string): number | undefined {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(duration) ?? [];
  const unitSeconds = new Map([
    ['', 1],
    ['s', 1],
    ['m', 60],
    ['h', 3600],
    ['d', 86_400],
  ]).get(unit);
  return number === undefined || unitSeconds === undefined ? undefined : Number(number) * unitSeconds;
}

function signalOf(name: string): string | undefined {
  const bare = name.toUpperCase().replace(/^SIG/, '');
  const numbers = new Map([
    ['1', 'HUP'],
    ['2', 'INT'],
    ['9', 'KILL'],
    ['15', 'TERM'],
  ]);
  const signal = numbers.get(bare) ?? bare;
  return [...numbers.values()].includes(signal) ? signal : undefined;
}

type Limit = { seconds: number; signal: string; preserves: boolean };

async function runFor(
  process: Process,
  { program, catchesInterrupt }: Found,
  args: readonly string[],
  { seconds, signal, preserves }: Limit,
): Promise<number> {
  const interrupt = new AbortController();
  const kill = new AbortController();
  const isCaught = signal === 'INT' && catchesInterrupt;
  process.deps.clock.after(seconds, () => (isCaught ? interrupt : kill).abort());
  const ending = await runProgram(program, process, args, {
    interrupted: AbortSignal.any([process.interrupted, interrupt.signal]),
    killed: AbortSignal.any([process.killed, kill.signal]),
  });
  const isOver = interrupt.signal.aborted || kill.signal.aborted;
  if (isOver && !preserves) return timedOut;
  return ending.kind === 'exited' ? ending.code : 128 + 9;
}
