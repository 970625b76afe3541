// A machine reached over ssh: logs in once, then runs commands and installs files on it.

import type { Command } from '../shell.ts';
import { closeConnection } from './connection.ts';
import {
  type CommandOutcome,
  type OutputOptions,
  output,
  type RunOptions,
  run,
} from './execute.ts';
import { type ConnectOptions, logIn, type SshTarget } from './login.ts';
import { type UploadOptions, upload } from './upload.ts';

/**
 * A machine with a login. Tasks may overlap: five run at once, others wait. A task that is cut short loses its session,
 * but sshd does not stop its command: start one that may continue silently under timeout(1).
 */
export type Host = AsyncDisposable & {
  readonly name: string;
  /** Throws a HostError if the command's end cannot be known. */
  run(command: Command, options?: RunOptions): Promise<CommandOutcome>;
  output(command: Command, options?: OutputOptions): Promise<string>;
  /** Installs bytes, or the local file at a path, atomically. */
  upload(
    source: Uint8Array | string,
    remotePath: string,
    mode: number,
    options?: UploadOptions,
  ): Promise<void>;
  /** Ends running commands, too. */
  close(): Promise<void>;
};

export async function connect(target: SshTarget, options: ConnectOptions = {}): Promise<Host> {
  const connection = await logIn(target, options);
  const close = () => closeConnection(connection);
  return {
    name: connection.name,
    run: (command, options = {}) => run(connection, command, options),
    output: (command, options = {}) => output(connection, command, options),
    upload: (source, remotePath, mode, options = {}) =>
      upload(connection, source, remotePath, mode, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}
