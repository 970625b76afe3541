// Opens the console of a machine: IPMI's Serial over LAN, conserver's client, or a command of the lab's own.

import type { ConserverConfig, ConsoleConfig } from '../../config/console.ts';
import type { IpmiConfig } from '../../config/power.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import { requestBmc, sessionEnvironment, sessionWords } from '../power/ipmi.ts';
import { PowerError } from '../power/power.ts';
import { readPassword } from '../power/secret-files.ts';
import type { ConsoleDeps, ProgramEnd, RunningProgram } from './console-deps.ts';

export type { ConsoleConfig } from '../../config/console.ts';
export { type ConsoleDeps, realConsoleDeps } from './console-deps.ts';

/** A console that cannot be opened, or has ended: which, and what was said, in one sentence. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}

export type OpenedConsole = {
  /** When there is no more to hear: why, in a sentence. Never rejects. */
  ended: Promise<string>;
  close(): Promise<void>;
};

/** Gets what a console prints, as it comes. */
export type OnOutput = (chunk: Buffer) => void;

/**
 * The console of the machine that people call `name`, when it says that it is open. Throws a ConsoleError where it is not
 * within some seconds.
 */
export async function openConsole(
  name: string,
  config: ConsoleConfig,
  onOutput: OnOutput,
  deps: ConsoleDeps,
): Promise<OpenedConsole> {
  const label = labelOf(name, config);
  const ways = await programOf(label, config, deps);
  const { program, args, env, opens, farewell } = ways;
  const isOpen = Promise.withResolvers<undefined>();
  let head = '';
  const started = deps.start(program, args, {
    env,
    ...(farewell !== undefined && { farewell }),
    onOutput(chunk) {
      onOutput(chunk);
      if (head.length > mostOfHead) return;
      head += chunk.toString('latin1');
      if (opens === undefined || opens.test(head)) isOpen.resolve(undefined);
    },
  });
  const failure = await Promise.race([isOpen.promise, started.ended, silence(ways, deps)]);
  if (failure === undefined) return opened(label, program, started);
  await started.close();
  throw new ConsoleError(
    `${label} cannot be opened: ${sentence(program, { ...failure, lastError: failure.lastError ?? lastLine(head) })}.`,
  );
}

const mostOfHead = 4096;

/** One that is silent is a machine that prints nothing, unless it has a word to say first. */
async function silence(
  { opens, patienceSeconds }: ConsoleProgram,
  deps: ConsoleDeps,
): Promise<ProgramEnd | undefined> {
  await deps.wait(patienceSeconds);
  if (opens === undefined) return undefined;
  return { how: `did not open it within ${patienceSeconds} s`, lastError: undefined };
}

const opened = (
  label: string,
  program: string,
  { ended, close }: RunningProgram,
): OpenedConsole => ({
  ended: ended.then((how) => `${label} is not recorded any more: ${sentence(program, how)}.`),
  close,
});

/** Only the program is named: an argument may be a password. */
const sentence = (program: string, { how, lastError }: ProgramEnd): string =>
  [`${shortened(program)} ${how}`, lastError && `and said "${shortened(lastError)}"`]
    .filter(Boolean)
    .join(' ');

function labelOf(name: string, config: ConsoleConfig): string {
  switch (config.kind) {
    case 'ipmi':
      return `The console of ${name} (IPMI at ${config.host}:${config.port})`;
    case 'conserver':
      return `The console of ${name} (${config.console} of conserver)`;
    case 'command':
      return `The console of ${name} (by a command)`;
  }
}

type ConsoleProgram = {
  program: string;
  args: readonly string[];
  env: Record<string, string>;
  /** What is printed when it is open; absent: anything. */
  opens?: RegExp;
  /** How long it may take until it is open, or has ended. */
  patienceSeconds: number;
  farewell?: string;
};

async function programOf(
  label: string,
  config: ConsoleConfig,
  deps: ConsoleDeps,
): Promise<ConsoleProgram> {
  switch (config.kind) {
    case 'ipmi':
      return overLan(label, config, deps);
    case 'conserver':
      return spying(config);
    case 'command': {
      const [program = '', ...args] = config.command;
      return { program, args, env: {}, patienceSeconds: 1 };
    }
  }
}

/** A BMC has one session for it: what somebody has left open is ended first. */
async function overLan(
  label: string,
  config: IpmiConfig,
  deps: ConsoleDeps,
): Promise<ConsoleProgram> {
  try {
    const password = await readPassword(label, config.passwordPath, deps);
    await requestBmc({ label, config, password, order: ['sol', 'deactivate'], deps });
    return {
      program: 'ipmitool',
      args: [...sessionWords(config), 'sol', 'activate'],
      env: sessionEnvironment(password),
      // Without a terminal, its own words come with the machine's first ones.
      patienceSeconds: 3,
      farewell: '~.',
    };
  } catch (error) {
    if (error instanceof PowerError) throw new ConsoleError(error.message, { cause: error });
    throw error;
  }
}

/** `-s` reads alone, and disturbs nobody who types there; `-k` ends where the server itself has lost the console. */
const spying = ({ console, host, port }: ConserverConfig): ConsoleProgram => ({
  program: 'console',
  args: [
    ...(host === undefined ? [] : ['-M', host]),
    ...(port === undefined ? [] : ['-p', `${port}`]),
    ...['-k', '-s', console],
  ],
  env: { LC_ALL: 'C' },
  opens: /^\[spying\]/m,
  patienceSeconds: 20,
  farewell: '\x05c.',
});
