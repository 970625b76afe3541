// Installs a file on a host atomically over sftp; a large one over several connections.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { SFTPWrapper, Stats } from 'ssh2';
import { reasonOf } from '../../model/one-line.ts';
import { type Connection, inSession } from './connection.ts';
import { HostError } from './host-error.ts';
import { rejectionOf, type TaskLimits, withinLimits } from './limits.ts';

export type UploadOptions = TaskLimits & {
  /**
   * Resumes an earlier upload of a local file from `….part`, and keeps that file if interrupted. Only a checksum can
   * prove that both uploads were of the same file.
   */
  readonly resume?: boolean;
};

export function upload(
  connection: Connection,
  source: Uint8Array | string,
  remotePath: string,
  mode: number,
  { resume = false, ...limits }: UploadOptions,
): Promise<void> {
  const what = `the upload of ${remotePath}`;
  const task = { ...limits, name: connection.name, what };
  const random = `${remotePath}.${randomUUID()}.part`;
  const way: UploadMethod =
    typeof source === 'string' && resume
      ? {
          partial: `${remotePath}.part`,
          keepsPartial: true,
          send: (sftp, partial, stop) => sendRest(sftp, source, partial, stop),
        }
      : {
          partial: random,
          keepsPartial: false,
          send: (sftp, partial) => done((callback) => sendAll(sftp, source, partial, callback)),
        };
  return withinLimits({ ...task, over: connection.over.signal }, ({ signal: stop }) =>
    connection.inTurn(() =>
      inSession<SFTPWrapper, void>(
        { ...task, stop },
        (opened) => connection.client.sftp(opened),
        (sftp) => install(sftp, way, remotePath, mode, stop),
      ),
    ),
  ).catch((error: unknown) => failUpload(error, source, remotePath, connection));
}

export function failUpload(
  error: unknown,
  source: Uint8Array | string,
  remotePath: string,
  { name }: Pick<Connection, 'name'>,
): never {
  if (error instanceof HostError) throw error;
  const from = typeof source === 'string' ? ` from ${source}` : '';
  throw new HostError('upload-failed', `Cannot upload ${remotePath}${from} to ${name}: ${reasonOf(error)}.`, {
    cause: error,
  });
}

type ResumableUpload<To> = {
  path: string;
  remotePath: string;
  mode: number;
  /** Known properties of the local file. */
  sha256: string;
  sumOf(host: To, path: string): Promise<string>;
  reconnect(): Promise<To>;
};

type UploadHost = {
  readonly name: string;
  upload(path: string, remotePath: string, mode: number, options: UploadOptions): Promise<void>;
};

const connectionsAtMost = 5;

/**
 * Installs a local file over up to five connections, each resuming where the last one broke. After a wrong checksum it
 * sends the file once more from the start, then throws a HostError.
 */
export async function uploadOverBreaks<To extends UploadHost>(host: To, upload: ResumableUpload<To>): Promise<void> {
  const { path, remotePath, mode, sha256, sumOf, reconnect } = upload;
  let wrongSums = 0;
  for (let connections = 1, to = host; wrongSums < 2; ) {
    try {
      await to.upload(path, remotePath, mode, { resume: true });
      if ((await sumOf(to, remotePath)) === sha256) return;
      wrongSums += 1;
    } catch (error) {
      const isLost = error instanceof HostError && error.kind === 'lost';
      if (!isLost || connections === connectionsAtMost) throw error;
      connections += 1;
      to = await reconnect();
    }
  }
  throw new HostError(
    'upload-failed',
    `${path} was sent to ${remotePath} on ${host.name} twice, and its SHA-256 there is still not ${sha256}.`,
  );
}

/** Writes to a temporary name, so that no reader sees a partial file. */
type UploadMethod = {
  partial: string;
  keepsPartial: boolean;
  send(sftp: SFTPWrapper, partial: string, stop: AbortSignal): Promise<void>;
};

async function install(
  sftp: SFTPWrapper,
  { partial, keepsPartial, send }: UploadMethod,
  remotePath: string,
  mode: number,
  stop: AbortSignal,
): Promise<void> {
  const stopped = rejectionOf(stop);
  const broken = new Promise<never>((_, reject) => {
    sftp.on('error', reject);
    sftp.on('close', () => reject(new Error('the sftp session was closed')));
  });
  try {
    const steps = async () => {
      await send(sftp, partial, stop);
      await done((callback) => sftp.chmod(partial, mode, callback));
      await done((callback) => sftp.ext_openssh_rename(partial, remotePath, callback));
    };
    await Promise.race([steps(), stopped, broken]);
  } catch (error) {
    if (keepsPartial) throw error;
    const removed = done((callback) => sftp.unlink(partial, callback));
    await Promise.race([removed, broken]).catch(() => {});
    throw error;
  } finally {
    sftp.end();
  }
}

function sendAll(sftp: SFTPWrapper, source: Uint8Array | string, remotePath: string, callback: Callback): void {
  if (typeof source === 'string') {
    sftp.fastPut(source, remotePath, { mode: 0o600 }, callback);
    return;
  }
  // ssh2 accepts only a Buffer as bytes, and converts other values to text.
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  sftp.writeFile(remotePath, bytes, { mode: 0o600 }, callback);
}

const chunkBytes = 32_768;
const chunksAtOnce = 32;

/** Restarts if the partial file is longer than ours. */
async function sendRest(sftp: SFTPWrapper, path: string, partial: string, stop: AbortSignal): Promise<void> {
  const { size } = await stat(path);
  const sizeThere = await sizeOf(sftp, partial);
  let position = sizeThere <= size ? sizeThere : 0;
  const flags = position > 0 ? 'r+' : 'w';
  const handle = await answer<Buffer>((callback) => sftp.open(partial, flags, { mode: 0o600 }, callback));
  const rest = createReadStream(path, { start: position, highWaterMark: chunkBytes, signal: stop });
  const underway: Promise<void>[] = [];
  // Sends chunks in order, as the server writes them in this order, so that an interrupted upload has no holes.
  for await (const chunk of rest as AsyncIterable<Buffer>) {
    const at = position;
    const written = done((callback) => sftp.write(handle, chunk, 0, chunk.length, at, callback));
    written.catch(() => {});
    underway.push(written);
    position += chunk.length;
    if (underway.length === chunksAtOnce) await underway.shift();
  }
  await Promise.all(underway);
  await done((callback) => sftp.close(handle, callback));
}

/** Zero for a missing file. */
async function sizeOf(sftp: SFTPWrapper, path: string): Promise<number> {
  try {
    return (await answer<Stats>((callback) => sftp.stat(path, callback))).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === noSuchFile) return 0;
    throw error;
  }
}

/** SSH_FX_NO_SUCH_FILE. */
const noSuchFile = 2;

type Callback = (error?: Error | null) => void;

const done = (start: (callback: Callback) => void): Promise<void> =>
  answer((callback) => start((error) => callback(error, undefined)));

function answer<T>(start: (callback: (error: Error | null | undefined, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value)));
  });
}
