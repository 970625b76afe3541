// Opens a machine's console: IPMI's Serial over LAN, conserver's client, or a site's own command.

import type { ConserverConfig, ConsoleConfig } from '../../config/console.ts';
import type { IpmiConfig } from '../../config/power.ts';
import { lastLine, shortened } from '../../model/one-line.ts';
import { requestBmc, sessionEnvironment, sessionWords } from '../power/ipmi.ts';
import { PowerError } from '../power/power.ts';
import { readPassword } from '../power/power-controller.ts';
import type { ConsoleDeps, ProgramEnd } from './console-deps.ts';

export type { ConsoleConfig } from '../../config/console.ts';
export { type ConsoleDeps, realConsoleDeps } from './console-deps.ts';

export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}

export type OpenedConsole = {
  /** Resolves at the end of the output to a sentence on the reason. Never rejects. */
  ended: Promise<string>;
  close(): Promise<void>;
};

export type OnOutput = (chunk: Buffer) => void;

/** `name` names the machine to people. Throws a ConsoleError if the console does not open within seconds. */
export async function openConsole(
  name: string,
  config: ConsoleConfig,
  onOutput: OnOutput,
  deps: ConsoleDeps,
): Promise<OpenedConsole> {
  const label = labelOf(name, config);
  const consoleProgram = await programOf(label, config, deps);
  const { program, args, env, opens, endInput } = consoleProgram;
  const isOpen = Promise.withResolvers<undefined>();
  let head = '';
  const started = deps.start(program, args, {
    env,
    ...(endInput !== undefined && { endInput }),
    onOutput(chunk) {
      onOutput(chunk);
      if (head.length > maxHeadCharacters) return;
      head += chunk.toString('latin1');
      if (opens === undefined || opens.test(head)) isOpen.resolve(undefined);
    },
  });
  const failure = await Promise.race([isOpen.promise, started.ended, silence(consoleProgram, deps)]);
  if (failure === undefined) {
    const ended = started.ended.then((how) => `${label} is no longer recorded: ${sentence(program, how)}.`);
    return { ended, close: started.close };
  }
  await started.close();
  throw new ConsoleError(
    `${label} cannot be opened: ${sentence(program, { ...failure, lastError: failure.lastError ?? lastLine(head) })}.`,
  );
}

const maxHeadCharacters = 4096;

/** Accepts silence as an idle machine, unless the program prints a message on opening. */
async function silence({ opens, openSeconds }: ConsoleProgram, deps: ConsoleDeps): Promise<ProgramEnd | undefined> {
  await deps.wait(openSeconds);
  if (opens === undefined) return undefined;
  return { how: `did not open within ${openSeconds} s`, lastError: undefined };
}

/** Names only the program: an argument may be a password. */
const sentence = (program: string, { how, lastError }: ProgramEnd): string =>
  [`${shortened(program)} ${how}`, lastError && `and wrote "${shortened(lastError)}"`].filter(Boolean).join(' ');

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
  /** Printed once the console is open; absent: any output counts. */
  opens?: RegExp;
  openSeconds: number;
  endInput?: string;
};

async function programOf(label: string, config: ConsoleConfig, deps: ConsoleDeps): Promise<ConsoleProgram> {
  switch (config.kind) {
    case 'ipmi':
      return overLan(label, config, deps);
    case 'conserver':
      return spyOn(config);
    case 'command': {
      const [program = '', ...args] = config.command;
      return { program, args, env: {}, openSeconds: 1 };
    }
  }
}

/** A BMC has one session; a leftover one is ended first. */
async function overLan(label: string, config: IpmiConfig, deps: ConsoleDeps): Promise<ConsoleProgram> {
  try {
    const password = await readPassword(label, config.passwordPath, deps);
    await requestBmc({ label, config, password, order: ['sol', 'deactivate'], deps });
    return {
      program: 'ipmitool',
      args: [...sessionWords(config), 'sol', 'activate'],
      env: sessionEnvironment(password),
      // Without a terminal, ipmitool prints its message only with the machine's first output.
      openSeconds: 3,
      endInput: '~.',
    };
  } catch (error) {
    if (error instanceof PowerError) throw new ConsoleError(error.message, { cause: error });
    throw error;
  }
}

/** `-s` only reads, and disturbs no other user. `-k` exits if the server has lost the console. */
const spyOn = ({ console, host, port }: ConserverConfig): ConsoleProgram => ({
  program: 'console',
  args: [
    ...(host === undefined ? [] : ['-M', host]),
    ...(port === undefined ? [] : ['-p', `${port}`]),
    '-k',
    '-s',
    console,
  ],
  env: { LC_ALL: 'C' },
  opens: /^\[spying\]/m,
  openSeconds: 20,
  endInput: '\x05c.',
});
