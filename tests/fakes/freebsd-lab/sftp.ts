// Serves sftp version 3 (draft-ietf-secsh-filexfer-02) from a machine's disk: the part that a resumed upload needs.
import type { ServerChannel } from 'ssh2';
import { append, type FileError, type FileSystem, nodeAt, rename, writeFile } from './file-system.ts';

export function serveSftp(channel: ServerChannel, files: FileSystem): void {
  let pending = Buffer.alloc(0);
  channel.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
      const length = pending.readUInt32BE(0);
      channel.write(field(respond(reader(pending.subarray(4, 4 + length)), files)));
      pending = pending.subarray(4 + length);
    }
  });
  channel.on('end', () => channel.end());
}

const [failure, unsupported] = [4, 8];

function respond({ byte, word, bytes }: Reader, files: FileSystem): Buffer {
  const text = () => bytes().toString();
  const type = byte();
  if (type === 1) return Buffer.concat([Buffer.of(2), asWord(3), field('posix-rename@openssh.com'), field('1')]);
  const id = asWord(word());
  const status = (code: number) => Buffer.concat([Buffer.of(101), id, asWord(code), field(''), field('')]);
  const done = (error?: FileError) => status(error === undefined ? 0 : failure);
  switch (type) {
    case 3: {
      const [path, flags] = [text(), word()];
      const error = flags & truncates ? writeFile(files, path, '', 0o600) : undefined;
      // The handle of a file is its path.
      return error === undefined ? Buffer.concat([Buffer.of(102), id, field(path)]) : done(error);
    }
    case 4:
      return done();
    case 6:
      return done(append(files, text(), word() * 2 ** 32 + word(), bytes()));
    case 9: {
      const node = nodeAt(files, text());
      // Its attributes are only a mode.
      if (node !== undefined && word() === hasMode) node.mode = word() & 0o7777;
      return done();
    }
    case 17: {
      const node = nodeAt(files, text());
      if (node?.kind !== 'file') return status(noSuchFile);
      return Buffer.concat([Buffer.of(105), id, asWord(hasSize), asWord(0), asWord(node.bytes.length)]);
    }
    case 200:
      return text() === 'posix-rename@openssh.com' ? done(rename(files, text(), text())) : status(unsupported);
    default:
      return status(unsupported);
  }
}

const [truncates, hasSize, hasMode, noSuchFile] = [0x10, 1, 4, 2];

function asWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const field = (content: string | Buffer): Buffer =>
  Buffer.concat([asWord(Buffer.byteLength(content)), Buffer.from(content)]);

type Reader = ReturnType<typeof reader>;

function reader(message: Buffer) {
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  const word = () => take(4).readUInt32BE();
  return {
    byte: () => take(1).readUInt8(),
    word,
    bytes: () => take(word()),
  };
}
