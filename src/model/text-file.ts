// Recognizes files that are not UTF-8 text, before their content appears as garbage in a message.

/** Returns a clause on a file in UTF-16, or on a binary one; undefined for text. */
export function whyNotText(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) return 'has the encoding UTF-16: save it as UTF-8';
  return bytes.includes(0) ? 'is binary: name a text file' : undefined;
}

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Editors of Windows begin UTF-8 with a byte order mark. */
export const withoutMark = (bytes: Buffer): Buffer =>
  byteOrderMark.every((byte, index) => bytes[index] === byte) ? bytes.subarray(byteOrderMark.length) : bytes;
