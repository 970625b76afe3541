// Lays a file on a host over sftp: all of it at once, or not at all.
import { randomUUID } from 'node:crypto';
import type { SFTPWrapper } from 'ssh2';
import { type Connection, inSession } from './connection.ts';
import { HostError } from './host-error.ts';
import { type Limits, rejectionOf, withinLimits } from './limits.ts';
import { reasonOf } from './one-line.ts';

/**
 * Lays bytes, or the local file at a path, on the host with the given permissions; throws a HostError
 * where that does not succeed.
 */
export function upload(
  connection: Connection,
  source: Uint8Array | string,
  remotePath: string,
  mode: number,
  limits: Limits,
): Promise<void> {
  const what = `the upload of ${remotePath}`;
  const task = { ...limits, name: connection.name, what };
  return withinLimits({ ...task, over: connection.over.signal }, ({ signal: stop }) =>
    connection.inTurn(() =>
      inSession<SFTPWrapper, void>(
        { ...task, stop },
        (opened) => connection.client.sftp(opened),
        (sftp) => lay(sftp, source, remotePath, mode, stop),
      ),
    ),
  ).catch((error: unknown) => {
    if (error instanceof HostError) throw error;
    const from = typeof source === 'string' ? ` from ${source}` : '';
    throw new HostError(
      'upload-failed',
      `Cannot lay ${remotePath}${from} on ${connection.name}: ${reasonOf(error)}; check that both folders exist and that ours there can be written.`,
      { cause: error },
    );
  });
}

/** Under another name first, so that nobody meets half a file. */
async function lay(
  sftp: SFTPWrapper,
  source: Uint8Array | string,
  remotePath: string,
  mode: number,
  stop: AbortSignal,
): Promise<void> {
  const partial = `${remotePath}.${randomUUID()}.part`;
  const stopped = rejectionOf(stop);
  const broken = new Promise<never>((_, reject) => {
    sftp.on('error', reject);
    sftp.on('close', () => reject(new Error('the sftp session was closed')));
  });
  try {
    const steps = async () => {
      await done((callback) => send(sftp, source, partial, callback));
      await done((callback) => sftp.chmod(partial, mode, callback));
      await done((callback) => sftp.ext_openssh_rename(partial, remotePath, callback));
    };
    await Promise.race([steps(), stopped, broken]);
  } catch (error) {
    const removed = done((callback) => sftp.unlink(partial, callback));
    await Promise.race([removed, broken]).catch(() => {});
    throw error;
  } finally {
    sftp.end();
  }
}

type Callback = (error?: Error | null) => void;

function send(
  sftp: SFTPWrapper,
  source: Uint8Array | string,
  remotePath: string,
  callback: Callback,
): void {
  if (typeof source === 'string') {
    sftp.fastPut(source, remotePath, { mode: 0o600 }, callback);
    return;
  }
  // ssh2 takes only a Buffer for bytes, and prints whatever else it gets.
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  sftp.writeFile(remotePath, bytes, { mode: 0o600 }, callback);
}

function done(start: (callback: Callback) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}
