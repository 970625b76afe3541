// A machine reached over ssh: log in once, then run commands and install files on it.

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
 * A machine one is logged in to. Tasks may overlap; five go on at once, more wait for their turn.
 * A task that is cut short by its limits loses its session, and sshd tells the command nothing of it: one
 * that could go on in silence is to be started under timeout(1).
 */
export type Host = AsyncDisposable & {
  readonly name: string;
  /** Answers how the command ended; throws a HostError when that cannot be known. */
  run(command: Command, options?: RunOptions): Promise<CommandOutcome>;
  /** The stdout of a command that exits with 0; throws a HostError for any other. */
  output(command: Command, options?: OutputOptions): Promise<string>;
  /** Installs bytes, or the local file at a path, on the host: all of it at once or not at all. */
  upload(
    source: Uint8Array | string,
    remotePath: string,
    mode: number,
    options?: UploadOptions,
  ): Promise<void>;
  /** Ends the connection and what still runs over it. */
  close(): Promise<void>;
};

/** Logs in to a host whose key is known; throws a HostError when that does not succeed. */
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
