// Reads the members of a tar archive from a stream, without unpacking it: ustar, pax and GNU formats.

export class TarError extends Error {
  override readonly name: string = 'TarError';
}

/** Reports bytes that are no archive from the beginning. */
export class NoTarError extends TarError {
  override readonly name = 'NoTarError';
}

export type TarMember = {
  /** Omits a leading `./`. */
  path: string;
  isFile: boolean;
  /** First bytes of the file, as many as requested. */
  head: Buffer;
};

export type TarLimits = { headBytes: number; maxMembers: number; maxBytes: number };

const blockBytes = 512;
const maxNameBytes = 64 * 1024;

/** Reads the stream to its end. Throws a TarError if it is no archive, ends early, or exceeds its limits. */
export async function* tarMembers(chunks: AsyncIterable<Buffer>, limits: TarLimits): AsyncGenerator<TarMember> {
  const bytes = new ByteReader(chunks, limits.maxBytes);
  try {
    yield* membersIn(bytes, limits);
    await bytes.drain();
  } finally {
    await bytes.close();
  }
}

async function* membersIn(bytes: ByteReader, { headBytes, maxMembers }: TarLimits): AsyncGenerator<TarMember> {
  let longPath: string | undefined;
  for (let count = 0; count <= maxMembers; count += 1) {
    const header = await bytes.take(blockBytes);
    const isFirst = count === 0;
    if (header.length < blockBytes) throw isFirst ? new NoTarError(none) : endsEarly();
    if (header.every((byte) => byte === 0)) return;
    const read = readHeader(header);
    if (read === undefined) {
      throw isFirst ? new NoTarError(none) : new TarError('a header in its middle is wrong');
    }
    const { type, path, size } = read;
    if (type === 'S') await skipSparseMap(bytes, header);
    const head = await bytes.take(Math.min(size, nameTypes.has(type) ? maxNameBytes : headBytes));
    await bytes.skip(padded(size) - head.length);
    if (nameTypes.has(type)) {
      longPath = (type === 'L' ? untilZero(head) : paxPath(head)) ?? longPath;
    } else {
      yield {
        path: (longPath ?? path).replace(/^(?:\.\/)+/, ''),
        isFile: ['0', '\0', '7', 'S'].includes(type),
        head,
      };
      longPath = undefined;
    }
  }
  throw new TarError(`it has more than ${maxMembers} members`);
}

/** Members that hold the path of the next one, in GNU and pax(1) format. */
const nameTypes: ReadonlySet<string> = new Set(['L', 'x']);
const none = 'it is not a tar archive';

const endsEarly = (): TarError => new TarError('it is truncated');

const padded = (size: number): number => Math.ceil(size / blockBytes) * blockBytes;

type TarHeader = { type: string; path: string; size: number };

function readHeader(header: Buffer): TarHeader | undefined {
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  const [size, written] = [octal(header, 124, 12), octal(header, 148, 8)];
  if (size === undefined || written !== sum) return undefined;
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? untilZero(header.subarray(345, 500)) : '';
  const name = untilZero(header.subarray(0, 100));
  return {
    type: header.toString('latin1', 156, 157),
    path: prefix === '' ? name : `${prefix}/${name}`,
    size,
  };
}

function octal(header: Buffer, at: number, length: number): number | undefined {
  const text = untilZero(header.subarray(at, at + length)).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : undefined;
}

function untilZero(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

/** Records of `LENGTH KEY=VALUE\n`, see pax(1). */
const paxPath = (text: Buffer): string | undefined => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text.toString('utf8'))?.[1];

/** A GNU sparse file lists its holes in further blocks; each block tells if another one follows. */
async function skipSparseMap(bytes: ByteReader, header: Buffer): Promise<void> {
  let isFollowed = header[482] === 1;
  while (isFollowed) isFollowed = (await bytes.takeAll(blockBytes))[504] === 1;
}

class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #left: Buffer = Buffer.alloc(0);
  #allowed: number;

  constructor(chunks: AsyncIterable<Buffer>, maxBytes: number) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#allowed = maxBytes;
  }

  /** Returns fewer bytes only at the end of the stream. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let lacking = length; lacking > 0; ) {
      if (this.#left.length === 0 && !(await this.#read())) break;
      const part = this.#left.subarray(0, lacking);
      this.#left = this.#left.subarray(part.length);
      lacking -= part.length;
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  async takeAll(length: number): Promise<Buffer> {
    const taken = await this.take(length);
    if (taken.length < length) throw endsEarly();
    return taken;
  }

  async skip(length: number): Promise<void> {
    for (let lacking = length; lacking > 0; ) {
      if (this.#left.length === 0 && !(await this.#read())) throw endsEarly();
      const skipped = Math.min(lacking, this.#left.length);
      this.#left = this.#left.subarray(skipped);
      lacking -= skipped;
    }
  }

  async drain(): Promise<void> {
    while (await this.#read()) this.#left = Buffer.alloc(0);
  }

  /** Ends the process that writes the bytes. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #read(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done) return false;
    this.#left = next.value;
    this.#allowed -= next.value.length;
    if (this.#allowed < 0) throw new TarError('it unpacks to too many bytes');
    return true;
  }
}
