// Runs a user's command in the foreground, with our terminal and signals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { reasonOf } from '../../model/one-line.ts';

export type CommandEnd =
  /** `code` follows the shell: 128 plus the signal's number if a signal ended the command. */
  { kind: 'exited'; code: number } | { kind: 'not-started'; why: string };

type Foreground = {
  environment: NodeJS.ProcessEnv;
  /** Ends the command with SIGTERM, and after `graceSeconds` all that remains with SIGKILL. */
  signal: AbortSignal;
  graceSeconds: number;
};

/** Forwards SIGINT, SIGTERM and SIGHUP to the command until it ends. */
export async function runInForeground(
  [program = '', ...args]: readonly string[],
  { environment, signal, graceSeconds }: Foreground,
): Promise<CommandEnd> {
  // A Ctrl-C reaches the terminal's foreground group. Elsewhere a new group lets us end the descendants.
  const sharesTerminal = process.stdin.isTTY === true;
  // Registers before the start, so that an early signal reaches the command instead of ending us.
  using _hearing = onSignals((name) => {
    if (!(sharesTerminal && name === 'SIGINT')) send(name);
  });
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: environment,
    detached: !sharesTerminal,
  });
  const ended = once(child, 'exit');
  const { pid } = child;
  const send = (name: NodeJS.Signals | 0) => pid !== undefined && isSent(sharesTerminal ? pid : -pid, name);
  if (pid === undefined) return { kind: 'not-started', why: await ended.then(String, whyNot) };

  const finished = Promise.withResolvers<void>();
  const end = () => void endAll(send, graceSeconds).then(finished.resolve, finished.reject);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const [code, signalName]: (number | NodeJS.Signals | null)[] = await ended;
  signal.removeEventListener('abort', end);
  if (signal.aborted) await finished.promise;
  return { kind: 'exited', code: codeOf(code, signalName) };
}

const whyNot = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : reasonOf(error);

const codeOf = (code: unknown, signalName: unknown): number =>
  typeof code === 'number' ? code : 128 + constants.signals[signalName as NodeJS.Signals];

async function endAll(send: (name: NodeJS.Signals | 0) => boolean, graceSeconds: number): Promise<void> {
  const giveUpAt = performance.now() + graceSeconds * 1000;
  send('SIGTERM');
  // A stopped process handles the signal only after SIGCONT.
  send('SIGCONT');
  while (send(0)) {
    if (performance.now() >= giveUpAt) {
      send('SIGKILL');
      return;
    }
    await setTimeout(50);
  }
}

function isSent(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, name);
  } catch {
    return false;
  }
}

/** Replaces earlier signal handlers until disposed. */
function onSignals(onSignal: (name: NodeJS.Signals) => void): Disposable {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const others = names.map((name) => ({ name, listeners: process.listeners(name) }));
  // A signal without a handler would end this process.
  for (const { name, listeners } of others) {
    process.on(name, onSignal);
    for (const listener of listeners) process.off(name, listener);
  }
  return {
    [Symbol.dispose]() {
      for (const { name, listeners } of others) {
        for (const listener of listeners) process.on(name, listener);
        process.off(name, onSignal);
      }
    },
  };
}
