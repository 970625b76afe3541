// Maps short texts, by their bytes, to values: decoding each line of a large file takes longer than everything else.

/** Keeps the last text of each slot. Calls `make` again after a collision and for long texts, so it must be pure. */
export class ByteTable<Value> {
  readonly #make: (text: string) => Value;
  /** A single array, as a small object for each text is slower to reach. */
  readonly #texts = new Uint8Array(slots * slotBytes);
  /** Zero without a text. */
  readonly #lengths = new Uint8Array(slots);
  /** With its length, as an array that grows with gaps becomes a slow map. */
  readonly #values = new Array<Value>(slots);

  constructor(make: (text: string) => Value) {
    this.#make = make;
  }

  /** Reads at least one byte. */
  get(bytes: Buffer, start: number, end: number): Value {
    const length = end - start;
    const slot = slotOf(bytes, start, end);
    if (this.#lengths[slot] === length && this.#isAt(slot * slotBytes, bytes, start, end)) {
      return this.#values[slot] as Value;
    }
    const value = this.#make(bytes.toString('utf8', start, end));
    if (length > slotBytes) return value;
    this.#texts.set(bytes.subarray(start, end), slot * slotBytes);
    this.#lengths[slot] = length;
    this.#values[slot] = value;
    return value;
  }

  #isAt(place: number, bytes: Buffer, start: number, end: number): boolean {
    const texts = this.#texts;
    const offset = place - start;
    for (let at = start; at < end; at += 1) if (texts[offset + at] !== bytes[at]) return false;
    return true;
  }
}

const slotBits = 15;
const slots = 2 ** slotBits;
/** Most functions of kernels have shorter names. */
const slotBytes = 64;

/** The upper bits of a product by 2^32 over the golden ratio depend on all bytes. */
function slotOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return Math.imul(hash, 0x9e3779b1) >>> (32 - slotBits);
}
