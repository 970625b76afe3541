// Splits a command's stream into the whole lines that a recording keeps, and leaves out binary and excess output.
import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';

/** Limit per stream of a command: exceeds the graph of a profile. */
const maxOutputBytes = 16 * 1024 ** 2;
/** The mask needs whole lines; a longer line is omitted, with everything after it. */
const maxLineBytes = 1024 ** 2;

/** Holds back partial lines: half a line may end in half a secret. */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #omittedHash = createHash('sha256');
  #pending = '';
  #bytes = 0;
  #omittedBytes = 0;
  #isFull = false;

  add(chunk: Uint8Array): string {
    this.#bytes += chunk.byteLength;
    this.#isFull ||= this.#bytes > maxOutputBytes || chunk.includes(0);
    if (this.#isFull) {
      this.#omit(chunk);
      return '';
    }
    this.#pending += this.#decoder.write(Buffer.from(chunk));
    const end = isInKey(this.#pending) ? 0 : this.#pending.lastIndexOf('\n') + 1;
    const lines = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end);
    if (this.#pending.length > maxLineBytes) {
      this.#omit(Buffer.from(this.#pending));
      this.#pending = '';
      this.#isFull = true;
    }
    return lines;
  }

  /** Returns the last partial line, unless output was omitted after it, and the size and sum of that output. */
  end(): { rest: string; omitted: { bytes: number; sha256: string } | undefined } {
    const omitted = { bytes: this.#omittedBytes, sha256: this.#omittedHash.digest('hex') };
    return {
      rest: this.#isFull ? '' : this.#pending + this.#decoder.end(),
      omitted: omitted.bytes === 0 ? undefined : omitted,
    };
  }

  #omit(bytes: Uint8Array): void {
    this.#omittedBytes += bytes.byteLength;
    this.#omittedHash.update(bytes);
  }
}

/** A split private key can no longer be recognized by its first line. */
function isInKey(text: string): boolean {
  const begin = text.lastIndexOf('-----BEGIN ');
  return begin !== -1 && !text.slice(begin).includes('-----END ');
}
