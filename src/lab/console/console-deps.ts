// Starts local programs that read consoles.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { lastLine, reasonOf } from '../../model/one-line.ts';
import { openPacedPipe, type PacedPipe } from '../../system/paced-pipe.ts';
import { type PowerDeps, realPowerDeps } from '../power/power.ts';

export type ConsoleDeps = PowerDeps & {
  /** Runs `program` from the PATH with `args`, without a shell. Never throws. */
  start(program: string, args: readonly string[], options: StartOptions): RunningProgram;
  /** Like `sleep`, but does not keep the process alive. */
  wait(seconds: number): Promise<void>;
};

type StartOptions = {
  env?: Readonly<Record<string, string>>;
  onOutput(chunk: Buffer): void;
  /** Written to the program's standard input to end it; absent: a signal ends it. */
  endInput?: string;
};

export type RunningProgram = {
  /** Resolves when the program has ended, or could not start. Never rejects. */
  ended: Promise<ProgramEnd>;
  close(): Promise<void>;
};

/** `how` completes "NAME …"; `lastError` is the last line of its standard error. */
export type ProgramEnd = { how: string; lastError: string | undefined };

export const realConsoleDeps: ConsoleDeps = { ...realPowerDeps, start, wait };

function wait(seconds: number): Promise<void> {
  return setTimeout(seconds * 1000, undefined, { ref: false });
}

const secondsToEnd = 3;
const maxErrorCharacters = 4096;

function openOutput(onOutput: (chunk: Buffer) => void): PacedPipe {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-console-'));
  try {
    return openPacedPipe(join(folder, 'output'), onOutput);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function start(program: string, args: readonly string[], { env, onOutput, endInput }: StartOptions): RunningProgram {
  const output = openOutput(onOutput);
  // Detached: a new process group, so that it can be killed as one, and no terminal to prompt for a password.
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', output.descriptor, 'pipe'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-maxErrorCharacters);
  });
  child.stdin?.on('error', () => {});
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.on('error', (error) => {
      output.close();
      resolve({ how: `cannot be started: ${reasonOf(error)}`, lastError: undefined });
    });
    child.on('close', (code, signal) => {
      output.close();
      const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
      resolve({ how, lastError: lastLine(errors) });
    });
  });
  const kill = (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The process group has ended.
    }
  };
  return {
    ended,
    async close() {
      child.stdin?.end(endInput);
      if (endInput === undefined) kill('SIGTERM');
      await Promise.race([ended, wait(secondsToEnd)]);
      kill('SIGKILL');
      await ended;
    },
  };
}
