// Runs a person's command in front of us: on our terminal, with our signals, and for as long as it may.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { reasonOf } from '../../model/one-line.ts';

export type CommandEnd =
  /** `code` is a shell's number, 128 and the signal's own, where a signal ended the command. */
  { kind: 'exited'; code: number } | { kind: 'not-started'; why: string };

type Foreground = {
  environment: NodeJS.ProcessEnv;
  /** Ends the command: SIGTERM, and SIGKILL to what is left of it `graceSeconds` later. */
  signal: AbortSignal;
  graceSeconds: number;
};

/** Until it ends, SIGINT, SIGTERM and SIGHUP of this process are the command's. */
export async function runInForeground(
  [program = '', ...args]: readonly string[],
  { environment, signal, graceSeconds }: Foreground,
): Promise<CommandEnd> {
  // A terminal knows one group of processes in front, and tells all of it of a Ctrl-C. Elsewhere a group of its own
  // is how what the command started is ended with it.
  const sharesTerminal = process.stdin.isTTY === true;
  // Before it starts: a signal that comes at once is the command's, too, and does not end us beside it.
  using _hearing = hearSignals((name) => {
    if (!(sharesTerminal && name === 'SIGINT')) send(name);
  });
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: environment,
    detached: !sharesTerminal,
  });
  const ended = once(child, 'exit');
  const { pid } = child;
  const send = (name: NodeJS.Signals | 0) =>
    pid !== undefined && isSent(sharesTerminal ? pid : -pid, name);
  if (pid === undefined) return { kind: 'not-started', why: await ended.then(String, whyNot) };

  const ending = Promise.withResolvers<void>();
  const end = () => void endAll(send, graceSeconds).then(ending.resolve, ending.reject);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const [code, signalName]: (number | NodeJS.Signals | null)[] = await ended;
  signal.removeEventListener('abort', end);
  if (signal.aborted) await ending.promise;
  return { kind: 'exited', code: codeOf(code, signalName) };
}

const whyNot = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : reasonOf(error);

const codeOf = (code: unknown, signalName: unknown): number =>
  typeof code === 'number' ? code : 128 + constants.signals[signalName as NodeJS.Signals];

async function endAll(
  send: (name: NodeJS.Signals | 0) => boolean,
  graceSeconds: number,
): Promise<void> {
  const giveUpAt = performance.now() + graceSeconds * 1000;
  send('SIGTERM');
  // One that is stopped hears of it once it goes on.
  send('SIGCONT');
  while (send(0)) {
    if (performance.now() >= giveUpAt) {
      send('SIGKILL');
      return;
    }
    await setTimeout(50);
  }
}

/** False where no process is left to receive it. */
function isSent(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, name);
  } catch {
    return false;
  }
}

/** Replaces earlier signal handlers until it is disposed of. */
function hearSignals(hear: (name: NodeJS.Signals) => void): Disposable {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const others = names.map((name) => ({ name, listeners: process.listeners(name) }));
  // A signal without a handler would end this process.
  for (const { name, listeners } of others) {
    process.on(name, hear);
    for (const listener of listeners) process.off(name, listener);
  }
  return {
    [Symbol.dispose]() {
      for (const { name, listeners } of others) {
        for (const listener of listeners) process.on(name, listener);
        process.off(name, hear);
      }
    },
  };
}
