// Text in which characters may be written otherwise, as in URLs and JSON: how it reads, and where each character stands.

export type Decoded = {
  text: string;
  /** Where in the original the character at an index of `text` begins; its length for the index after the last. */
  at(index: number): number;
};

/** Reads `%3A`, `\u003a` and `\/`, also where that was done several times over. */
export function decoded(original: string): Decoded {
  let found: Decoded = { text: original, at: (index) => index };
  for (let round = 0; round < mostRounds; round += 1) {
    if (!isEncoded.test(found.text)) return found;
    found = decodedOnce(found);
  }
  return found;
}

const mostRounds = 4;

/** Printable ASCII alone: all that a name, an address or a key is made of. */
const encoded = /%([2-7][0-9a-f])|\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])|\\+(\/)/gi;
const isEncoded = new RegExp(encoded.source, 'i');

function decodedOnce(before: Decoded): Decoded {
  const pieces: string[] = [];
  /** Index in the new text from which on so many characters were left out of the old one. */
  const shifts: { from: number; by: number }[] = [];
  let length = 0;
  let read = 0;
  for (const match of before.text.matchAll(encoded)) {
    const [whole, percent, json, hex, slash] = match;
    const code = percent ?? json ?? hex;
    const character = slash ?? String.fromCharCode(Number.parseInt(code ?? '', 16));
    pieces.push(before.text.slice(read, match.index), character);
    length += match.index - read + 1;
    read = match.index + whole.length;
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
