// Writes a gzip file to which text is appended, and which is complete after each append.
import { closeSync, openSync, writeSync } from 'node:fs';
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** RFC 1952: the deflate method, no name, no time, Unix. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** RFC 1951: the greatest distance of a reference within a block. */
const windowBytes = 32 * 1024;

/**
 * Writes one stream of deflate, whose blocks refer to earlier texts: with a member for each text, recordings were four
 * to five times as large. The next text replaces the trailer in one write, so that a killed process leaves all earlier
 * texts.
 */
export class GzipLog {
  readonly #file: number;
  /** Offset of the trailer. */
  #end = 0;
  #window: Buffer = Buffer.alloc(0);
  #sum = 0;
  #bytes = 0;

  /** Throws if the file exists or cannot be written. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx', 0o600);
    this.#write(header);
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    const block = deflateRawSync(bytes, {
      level: constants.Z_BEST_COMPRESSION,
      memLevel: constants.Z_MAX_MEMLEVEL,
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#window.length > 0 && { dictionary: this.#window }),
    });
    this.#window = Buffer.concat([this.#window, bytes]).subarray(-windowBytes);
    this.#sum = crc32(bytes, this.#sum);
    this.#bytes += bytes.length;
    this.#write(block);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(piece: Buffer): void {
    const whole = Buffer.concat([piece, this.#trailer()]);
    for (let done = 0; done < whole.length; ) {
      done += writeSync(this.#file, whole, done, whole.length - done, this.#end + done);
    }
    this.#end += piece.length;
  }

  /** Returns an empty last block, the checksum and the size. */
  #trailer(): Buffer {
    const trailer = Buffer.alloc(10);
    trailer.writeUInt16LE(0x0003, 0);
    trailer.writeUInt32LE(this.#sum, 2);
    trailer.writeUInt32LE(this.#bytes % 2 ** 32, 6);
    return trailer;
  }
}
