// An sftp server on a machine's disk: the part of version 3 that an upload needs.
import { randomUUID } from 'node:crypto';
import type { ServerChannel } from 'ssh2';
import {
  absolute,
  type FileError,
  type FileSystem,
  isReadOnly,
  nodeAt,
  remove,
  rename,
  writeFile,
} from './file-system.ts';

/** Called with every written byte; returning false stops serving at once. */
export type OnWrite = (bytes: number) => boolean;

/**
 * Serves like OpenSSH's sftp-server(8) for OPEN, WRITE, CLOSE, SETSTAT, FSETSTAT, STAT, REMOVE and
 * posix-rename@openssh.com, in the formats of draft-ietf-secsh-filexfer-02. Supports no other requests.
 */
export function serveSftp(channel: ServerChannel, files: FileSystem, onWrite: OnWrite): void {
  const handles = new Map<string, string>();
  let pending = Buffer.alloc(0);
  channel.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
      const length = pending.readUInt32BE(0);
      const answer = respond(reader(pending.subarray(4, 4 + length)), files, handles, onWrite);
      pending = pending.subarray(4 + length);
      if (answer === undefined) return;
      channel.write(packet(answer));
    }
  });
  channel.on('end', () => channel.end());
}

const request = {
  init: 1,
  open: 3,
  close: 4,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  remove: 13,
  stat: 17,
  extended: 200,
} as const;

const answerType = { version: 2, status: 101, handle: 102, attributes: 105 } as const;

const statusOf: Readonly<Record<FileError, number>> = {
  EROFS: 4,
  ENOENT: 2,
  ENOTDIR: 4,
  EISDIR: 4,
  EEXIST: 4,
  ENOTEMPTY: 4,
  ENOSPC: 4,
};
const unsupported = 8;

/** The payload of the response; undefined for none. */
function respond(
  message: Reader,
  files: FileSystem,
  handles: Map<string, string>,
  onWrite: OnWrite,
): Buffer | undefined {
  const type = message.byte();
  if (type === request.init) {
    const extension = [text('posix-rename@openssh.com'), text('1')];
    return Buffer.concat([Buffer.from([answerType.version]), word(3), ...extension]);
  }
  const id = message.word();
  const done = (error?: FileError) => status(id, error === undefined ? 0 : statusOf[error]);
  switch (type) {
    case request.open: {
      const path = message.text();
      const flags = message.word();
      const error = open(files, path, flags, modeIn(message) ?? 0o644);
      if (error !== undefined) return done(error);
      const handle = randomUUID();
      handles.set(handle, path);
      return Buffer.concat([Buffer.from([answerType.handle]), word(id), text(handle)]);
    }
    case request.write: {
      const path = handles.get(message.text()) ?? '';
      const offset = message.long();
      const bytes = message.bytes();
      if (!onWrite(bytes.length)) return undefined;
      return done(writeAt(files, path, offset, bytes));
    }
    case request.close:
      return done(handles.delete(message.text()) ? undefined : 'ENOENT');
    case request.fsetstat:
      return done(setMode(files, handles.get(message.text()) ?? '', modeIn(message)));
    case request.setstat:
      return done(setMode(files, message.text(), modeIn(message)));
    case request.fstat:
      return attributes(id, files, handles.get(message.text()) ?? '');
    case request.stat:
    case request.lstat:
      return attributes(id, files, message.text());
    case request.remove:
      return done(unlink(files, message.text()));
    case request.extended:
      if (message.text() !== 'posix-rename@openssh.com') return status(id, unsupported);
      return done(rename(files, message.text(), message.text()));
    default:
      return status(id, unsupported);
  }
}

/** Keeps content that is not truncated. */
export function open(files: FileSystem, path: string, flags: number, mode: number): FileError | undefined {
  const node = nodeAt(files, path);
  if (node === undefined && !(flags & openFlag.create)) return 'ENOENT';
  if (node?.kind === 'file' && !(flags & openFlag.truncate)) {
    return isReadOnly(files, path) ? 'EROFS' : undefined;
  }
  return writeFile(files, path, '', mode);
}

export const openFlag = { create: 0x08, truncate: 0x10 } as const;

export function writeAt(files: FileSystem, path: string, offset: number, bytes: Buffer): FileError | undefined {
  const node = nodeAt(files, path);
  if (node?.kind !== 'file') return 'ENOENT';
  const content = Buffer.alloc(Math.max(node.bytes.length, offset + bytes.length));
  node.bytes.copy(content);
  bytes.copy(content, offset);
  return writeFile(files, path, content);
}

export function setMode(files: FileSystem, path: string, mode: number | undefined): FileError | undefined {
  const node = nodeAt(files, path);
  if (node === undefined) return 'ENOENT';
  if (mode !== undefined) node.mode = mode;
  return undefined;
}

export function unlink(files: FileSystem, path: string): FileError | undefined {
  const node = nodeAt(files, absolute(path));
  if (node === undefined) return 'ENOENT';
  if (node.kind === 'folder') return 'EISDIR';
  if (isReadOnly(files, path)) return 'EROFS';
  remove(files, path);
  return undefined;
}

function attributes(id: number, files: FileSystem, path: string): Buffer {
  const node = nodeAt(files, path);
  if (node === undefined) return status(id, statusOf.ENOENT);
  const size = node.kind === 'file' ? node.bytes.length : 512;
  const type = node.kind === 'file' ? 0o100000 : 0o040000;
  return Buffer.concat([
    Buffer.from([answerType.attributes]),
    word(id),
    word(hasSize | hasMode),
    word(0),
    word(size),
    word(type | node.mode),
  ]);
}

const hasSize = 1;
const hasOwner = 2;
const hasMode = 4;

/** Reads the mode of the attributes that come next. */
function modeIn(message: Reader): number | undefined {
  const flags = message.word();
  if (flags & hasSize) message.long();
  if (flags & hasOwner) message.long();
  return flags & hasMode ? message.word() & 0o7777 : undefined;
}

const status = (id: number, code: number): Buffer =>
  Buffer.concat([
    Buffer.from([answerType.status]),
    word(id),
    word(code),
    text(statusTexts.get(code) ?? 'Failure'),
    text(''),
  ]);

const statusTexts = new Map([
  [0, 'Success'],
  [2, 'No such file'],
  [unsupported, 'Operation unsupported'],
]);

/** The text of its status, as a client shows it. */
export const statusOfError = (error: FileError): string => statusTexts.get(statusOf[error]) ?? 'Failure';

const packet = (payload: Buffer): Buffer => Buffer.concat([word(payload.length), payload]);

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

const text = (value: string): Buffer => Buffer.concat([word(Buffer.byteLength(value)), Buffer.from(value)]);

type Reader = ReturnType<typeof reader>;

function reader(message: Buffer) {
  let position = 0;
  const take = (length: number): Buffer => {
    position += length;
    return message.subarray(position - length, position);
  };
  const word = () => take(4).readUInt32BE();
  const bytes = () => take(word());
  return {
    byte: () => take(1).readUInt8(),
    word,
    long: () => Number(take(8).readBigUInt64BE()),
    bytes,
    text: () => bytes().toString(),
  };
}
