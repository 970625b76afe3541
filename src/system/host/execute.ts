// Runs a command on a host, and returns its exit status and output.
import { Readable, type Writable } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import { lastLine, shortened } from '../../model/one-line.ts';
import { type Command, commandText, lineForAnyShell } from '../shell.ts';
import { type Connection, inSession, type SshSession } from './connection.ts';
import { HostError } from './host-error.ts';
import { rejectionOf, type TaskLimits, withinLimits } from './limits.ts';

export type OutputOptions = TaskLimits & {
  /** Absent: empty input. A stream is passed on as it arrives. */
  readonly stdin?: string | Uint8Array | Readable;
  /** More bytes on stdout or stderr end the command. Absent: 16 MiB. */
  readonly maxOutputBytes?: number;
};

export type RunOptions = OutputOptions & {
  /** Receives stdout as it arrives, without a size limit; `stdout` of the outcome is then empty. */
  readonly onStdout?: (chunk: Uint8Array) => void;
  readonly onStderr?: (chunk: Uint8Array) => void;
  /** Replaces the command's own text in errors. */
  readonly shownAs?: Command;
};

export type CommandOutcome = { readonly stdout: string; readonly stderr: string } & (
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: string }
);

export const isGood = (outcome: CommandOutcome): boolean => outcome.kind === 'exited' && outcome.code === 0;

export function run(connection: Connection, command: Command, options: RunOptions): Promise<CommandOutcome> {
  const text = lineForAnyShell(command);
  return withinRun(connection, command, options, (execution) =>
    connection.inTurn(() =>
      inSession<ClientChannel, CommandOutcome>(
        execution,
        (opened) => connection.client.exec(text, opened),
        (channel) =>
          follow(
            {
              stdin: channel,
              stdout: channel,
              stderr: channel.stderr,
              ended: new Promise((resolve, reject) => {
                channel.on('error', reject);
                channel.on('close', (code?: number | null, signal?: string) =>
                  resolve({ code: code ?? undefined, signal }),
                );
              }),
              leave: () => channel.close(),
            },
            execution,
          ),
      ),
    ),
  );
}

/** Applies a run's limits to any way of running a command. */
export function withinRun(
  { name, over }: Pick<Connection, 'name' | 'over'>,
  command: Command,
  options: RunOptions,
  work: (execution: Execution) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const shown = commandText(options.shownAs ?? command);
  const task = { ...options, name, what: `"${shortened(shown)}"` };
  return withinLimits({ ...task, over: over.signal }, (stop) => {
    const { stdin } = options;
    // Broken input stops the command, even before it starts.
    if (stdin instanceof Readable) {
      if (stdin.errored) stop.abort(stdin.errored);
      stdin.on('error', (error) => stop.abort(error));
    }
    return work({ ...task, stop: stop.signal });
  });
}

export async function output(connection: Connection, command: Command, options: OutputOptions): Promise<string> {
  return stdoutOf(await run(connection, command, options), connection.name, command);
}

/** Throws a HostError for any exit status but 0. */
export function stdoutOf(outcome: CommandOutcome, name: string, command: Command): string {
  if (outcome.kind === 'exited' && outcome.code === 0) return outcome.stdout;
  const exit = outcome.kind === 'exited' ? `exited with ${outcome.code}` : `was ended by ${outcome.signal}`;
  const reason = lastLine(outcome.stderr) ?? 'stderr is empty';
  throw new HostError('command-failed', `"${shortened(commandText(command))}" on ${name} ${exit}: ${reason}`);
}

type Execution = RunOptions & SshSession;

type RunningCommand = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<CommandEnd>;
  leave(): void;
};

type CommandEnd = { readonly code?: number | undefined; readonly signal?: string | undefined };

export async function follow(running: RunningCommand, execution: Execution): Promise<CommandOutcome> {
  const { stop, stdin, onStdout, onStderr, maxOutputBytes = 16 * 1024 ** 2 } = execution;
  const stopped = rejectionOf(stop);
  try {
    // The channel reports its end only after both streams were read to theirs.
    const ended = Promise.all([
      running.ended,
      onStdout ? passOn(running.stdout, onStdout) : collect(running.stdout, 'stdout', maxOutputBytes, execution),
      onStderr ? passOn(running.stderr, onStderr) : collect(running.stderr, 'stderr', maxOutputBytes, execution),
    ]);
    if (stdin instanceof Readable) stdin.pipe(running.stdin);
    else running.stdin.end(stdin);
    const [exit, stdout, stderr] = await Promise.race([ended, stopped]);
    if (exit.signal !== undefined) return { kind: 'signaled', signal: exit.signal, stdout, stderr };
    if (exit.code !== undefined) return { kind: 'exited', code: exit.code, stdout, stderr };
    throw new HostError('lost', `${execution.name} ended ${execution.what} without saying how.`);
  } finally {
    if (stdin instanceof Readable) stdin.unpipe(running.stdin);
    running.leave();
  }
}

function passOn(stream: Readable, receive: (chunk: Uint8Array) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    stream.on('end', () => resolve(''));
    const take = (chunk: Buffer) => {
      try {
        receive(chunk);
      } catch (error) {
        stream.off('data', take).resume();
        reject(error);
      }
    };
    stream.on('data', take);
  });
}

function collect(stream: Readable, streamName: string, maxBytes: number, { name, what }: Execution): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    stream.on('end', () => resolve(Buffer.concat(chunks).toString()));
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else {
        reject(
          new HostError('too-much-output', `${what} on ${name} wrote more than ${maxBytes} bytes to ${streamName}.`),
        );
      }
    });
  });
}
