// What consoles are reached by: programs on this machine whose output goes on, and what power's are reached by.
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { lastLine, reasonOf } from '../../model/one-line.ts';
import { type PowerDeps, realPowerDeps } from '../power/power.ts';

export type ConsoleDeps = Pick<PowerDeps, 'run' | 'sleep' | 'readSecret' | 'password'> & {
  /** `program` on the PATH with `args` as they are: no shell reads them. Never throws. */
  start(program: string, args: readonly string[], options: StartOptions): RunningProgram;
  /** As `sleep`, but keeps no process from ending. */
  wait(seconds: number): Promise<void>;
};

type StartOptions = {
  /** Beside our own environment. */
  env?: Readonly<Record<string, string>>;
  /** Receives each piece of its output. */
  onOutput(chunk: Buffer): void;
  /** What has it leave, on its standard input, which stays open until then; absent: a signal does. */
  farewell?: string;
};

export type RunningProgram = {
  /** When it has ended, or could not be started. Never rejects. */
  ended: Promise<ProgramEnd>;
  /** Returns when it and what it started have ended; a second time does nothing. */
  close(): Promise<void>;
};

/** `how` completes "NAME …"; `said` is the last line of its standard error. */
export type ProgramEnd = { how: string; lastError: string | undefined };

export const realConsoleDeps: ConsoleDeps = { ...realPowerDeps, start, wait };

function wait(seconds: number): Promise<void> {
  return setTimeout(seconds * 1000, undefined, { ref: false });
}

const secondsToLeave = 3;
const mostOfErrors = 4096;

function start(
  program: string,
  args: readonly string[],
  { env, onOutput, farewell }: StartOptions,
): RunningProgram {
  // Detached is in a process group of its own, to be killed as one, and without a terminal to ask for a password on.
  const child = spawn(program, args, { env: { ...process.env, ...env }, detached: true });
  let errors = '';
  child.stdout.on('data', onOutput);
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-mostOfErrors);
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.on('error', (error) =>
      resolve({ how: `cannot be started: ${reasonOf(error)}`, lastError: undefined }),
    );
    child.on('close', (code, signal) => {
      const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
      resolve({ how, lastError: lastLine(errors) });
    });
  });
  const kill = (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // All of it has ended.
    }
  };
  return {
    ended,
    async close() {
      child.stdin.end(farewell);
      if (farewell === undefined) kill('SIGTERM');
      await Promise.race([ended, wait(secondsToLeave)]);
      kill('SIGKILL');
      await ended;
    },
  };
}
