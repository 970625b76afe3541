// Counts instructions by function, from blocks of code and how often they were executed: a flat profile without stacks.
import { median } from '../../analysis/stats/summary.ts';

type CountedBlocks = {
  /** The counters' file (see instructions.c) before the first window and after each. */
  counts: readonly Uint8Array[];
  symbols: string;
};

/** Gives a window of 10,000 packets about as many samples as a sampler would take. */
const instructionsPerSample = 1000;
const headerBytes = 64;
const slotBytes = 16;

/**
 * Folded stacks of one frame each, as `nf_tables\`nft_do_chain 1234`. Takes each function's median over the windows,
 * which removes a timer that ran in only one of three.
 */
export function foldedInstructions({ counts, symbols }: CountedBlocks): string {
  const functionAt = functionsOf(symbols);
  const windows = counts.slice(1).map((after, index) => executedBetween(counts[index] ?? after, after, functionAt));
  const names = new Set(windows.flatMap((window) => [...window.keys()]));
  const lines = [...names].flatMap((name) => {
    const executed = median(windows.map((window) => window.get(name) ?? 0));
    const samples = Math.round(executed / instructionsPerSample);
    return samples > 0 ? `${name} ${samples}` : [];
  });
  return `${lines.join('\n')}\n`;
}

/** Instructions of each function. */
function executedBetween(
  before: Uint8Array,
  after: Uint8Array,
  functionAt: (address: bigint) => string,
): Map<string, number> {
  const byFunction = new Map<string, number>();
  const [earlier, later] = [viewOf(before), viewOf(after)];
  for (let at = headerBytes; at + slotBytes <= later.byteLength; at += slotBytes) {
    // Most slots stay the same, and bigints are slow.
    if (later.getFloat64(at + 8) === earlier.getFloat64(at + 8)) continue;
    const address = later.getBigUint64(at, true);
    const executed = Number(later.getBigUint64(at + 8, true) - earlier.getBigUint64(at + 8, true));
    if (executed <= 0) continue;
    const name = functionAt(address);
    byFunction.set(name, (byFunction.get(name) ?? 0) + executed);
  }
  return byFunction;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Kernel addresses are in the upper half. */
const firstOfKernel = 1n << 63n;

/** Finds the last symbol of code at or below an address. Names come from the kernel, unverified. */
function functionsOf(symbols: string): (address: bigint) => string {
  const found: { address: bigint; label: string }[] = [];
  for (const line of symbols.split('\n')) {
    const [, address, name, module] =
      /^([0-9a-f]{16}) [tTwW] ([^\s;]{1,200})(?:\t\[([\w.-]{1,64})\])?$/.exec(line) ?? [];
    if (address === undefined || name === undefined) continue;
    // A guest that hides its addresses lists them as 0.
    if (BigInt(`0x${address}`) < firstOfKernel) continue;
    const label = module === undefined ? `kernel\`${name}` : `${module}\`${name}`;
    found.push({ address: BigInt(`0x${address}`), label });
  }
  const sorted = found.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  return (address) => {
    // Slot of blocks that found no free slot.
    if (address === 0n) return 'unknown';
    if (address < firstOfKernel) return 'userland';
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle]?.address ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    return sorted[low - 1]?.label ?? 'unknown';
  };
}
