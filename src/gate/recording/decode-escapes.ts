// Decodes the escapes of URLs and JSON, and maps each decoded character to its position in the original.

type DecodedText = {
  text: string;
  /** Position in the original of the character at `index`; past the last one, the original's length. */
  at(index: number): number;
};

/** Decodes `%3A`, `\u003a` and `\/`, also if they were encoded several times. */
export function decodeEscapes(original: string): DecodedText {
  let decoded: DecodedText = { text: original, at: (index) => index };
  for (let round = 0; round < maxRounds && isEncoded.test(decoded.text); round += 1) {
    decoded = decodeOnce(decoded);
  }
  return decoded;
}

const maxRounds = 4;

/** Matches printable ASCII only, as names, addresses and keys consist of it. */
const encoded = /%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\+(\/)/gi;
const isEncoded = new RegExp(encoded.source, 'i');

function decodeOnce(before: DecodedText): DecodedText {
  const pieces: string[] = [];
  /** From index `from` of the new text, the old text is `by` characters longer. */
  const shifts: { from: number; by: number }[] = [];
  let length = 0;
  let read = 0;
  for (const match of before.text.matchAll(encoded)) {
    const [sequence, percent, json, hex, slash] = match;
    const code = percent ?? json ?? hex;
    const character = slash ?? String.fromCharCode(Number.parseInt(code ?? '', 16));
    pieces.push(before.text.slice(read, match.index), character);
    length += match.index - read + 1;
    read = match.index + sequence.length;
    shifts.push({ from: length, by: read - length });
  }
  pieces.push(before.text.slice(read));
  const at = (index: number): number => {
    let [low, high] = [0, shifts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shifts[middle]?.from ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return before.at(index + (shifts[low - 1]?.by ?? 0));
  };
  return { text: pieces.join(''), at };
}
