// Parses the frame lines of perf script: an address, a function with its offset, and its module.

type FoundFrame = { name: string; module?: string };

/** Matches `ADDRESS NAME+0xOFFSET (MODULE)`; -F may omit each part, and inlined functions have no address. */
export function frameIn(line: string): FoundFrame | undefined {
  const text = line.trimEnd();
  const [, address, symbol] = addressed.exec(text) ?? [];
  if (address !== undefined && symbol !== undefined) return symbolFrame(address, symbol);
  if (!/^(?:\t| {8})/.test(text)) return undefined;
  if (addressAlone.test(text)) return { name: text.trim() };
  const label = text.trim();
  const isOneWord = /^\S*[^\s:]$/.test(label) && !label.includes('[');
  return isOneWord || / \(\S/.test(label.slice(0, -1)) ? labelled(label) : undefined;
}

/** Reads the frame of a sample without a call chain, after the event or the last field of its head. */
export function frameAfterHead(rest: string): FoundFrame | undefined {
  if (!atAddress.test(rest)) return undefined;
  // Data addresses of -F addr come before the sampled one.
  const last = /^\s+(?:[\da-f]{4,16}\s+)*(?=[\da-f]{1,16} +[^\s(])/.exec(rest)?.[0];
  const [, address = '', symbol = ''] = addressed.exec(` ${rest.slice(last?.length).trim()}`) ?? [];
  return address === '' ? { name: rest.trim() } : symbolFrame(address, symbol);
}

const atAddress = /^(?:\s+[\da-f]{6}|\s{1,2}[ \da-f]{15}[\da-f](?: |$))/;
const addressed = /^\s+([\da-f]{1,16}) +(\S.*)$/;
const addressAlone = /^\s+[\da-f]{1,16}$/;
const offset = /\+0x[\da-f]+$/;

function symbolFrame(address: string, symbol: string): FoundFrame | undefined {
  if (/^(?:insn|ilen):/.test(symbol)) return undefined;
  const module = /^\((\S[^()]*(?: \(deleted\))?)\)$/.exec(symbol)?.[1];
  return module === undefined ? labelled(symbol) : { name: address, ...modulePart(module) };
}

function labelled(label: string): FoundFrame {
  const text = label.replace(/ \((?:inlined|inline)\)$/, '');
  const [symbol, module] = parted(text);
  return { name: symbol.replace(offset, ''), ...modulePart(module) };
}

const modulePart = (module: string | undefined) => (module === undefined ? {} : { module: module.replace(offset, '') });

/** C++ names contain parentheses too, but none that follow a space and end the line. */
function parted(text: string): [symbol: string, module?: string] {
  if (!text.endsWith(')')) return [text];
  const end = text.endsWith(' (deleted))') ? text.length - ' (deleted))'.length : text.length;
  const start = text.lastIndexOf(' (', end - 1);
  return start < 1 ? [text] : [text.slice(0, start), text.slice(start + ' ('.length, -1)];
}
