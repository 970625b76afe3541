// Reaches a machine over ssh: logs in once, then runs commands and installs files.

import type { Command } from '../shell.ts';
import { closeConnection } from './connection.ts';
import { type CommandOutcome, type OutputOptions, output, type RunOptions, run } from './execute.ts';
import { type ConnectOptions, logIn, type SshTarget } from './login.ts';
import { type UploadOptions, upload } from './upload.ts';

/**
 * A machine with a login. Tasks may overlap: five run at once, others wait. An interrupted task loses its session, but
 * sshd does not stop its command. Start a command that may continue silently under timeout(1).
 */
export type Host = AsyncDisposable & {
  readonly name: string;
  /** Throws a HostError if the command's exit status cannot be known. */
  run(command: Command, options?: RunOptions): Promise<CommandOutcome>;
  output(command: Command, options?: OutputOptions): Promise<string>;
  /** Atomically installs bytes, or the local file at a path. */
  upload(source: Uint8Array | string, remotePath: string, mode: number, options?: UploadOptions): Promise<void>;
  /** Also ends running commands. */
  close(): Promise<void>;
};

export async function connect(target: SshTarget, options: ConnectOptions = {}): Promise<Host> {
  const connection = await logIn(target, options);
  const close = () => closeConnection(connection);
  return {
    name: connection.name,
    run: (command, options = {}) => run(connection, command, options),
    output: (command, options = {}) => output(connection, command, options),
    upload: (source, remotePath, mode, options = {}) => upload(connection, source, remotePath, mode, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}
