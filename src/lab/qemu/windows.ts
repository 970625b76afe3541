// Sends windows of packets through guests in turn, with a script on their wires; see windows.sh.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { lastLine } from '../../model/one-line.ts';
import type { Guest } from './vm/guest.ts';
import { senderCpu, type VirtualLab } from './vm/virtual-lab.ts';

const script = readFileSync(new URL('./windows.sh', import.meta.url), 'utf8');

export type WindowsRequest = {
  guests: readonly Guest[];
  /** Writes the packets' file, and returns its path. */
  flows(): Promise<string>;
  packets: number;
  /** Windows of each guest, one more than are measured; see `readVirtualLogs`. */
  windows: number;
  signal: AbortSignal;
};

export type WindowsOutcome =
  | { kind: 'sent'; log: string }
  /** A guest ended, or the script failed; with its last line of output. */
  | { kind: 'broken'; log: string; lastLine: string };

/** Time limit of a window: a thousand packets per second, on a busy machine. */
const maxSeconds = 30;

export async function sendWindows(
  { wire }: Pick<VirtualLab, 'wire'>,
  { guests, flows, packets, windows, signal }: WindowsRequest,
): Promise<WindowsOutcome> {
  const all = guests.map((_, index) => index + 1);
  // Reverses the order in each round, so that a drift cancels out.
  const rounds = Array.from({ length: windows }, (_, round) => (round % 2 === 0 ? all : all.toReversed()));
  const file = await flows();
  const described = guests.map(({ interfaces, counts = '-', cpuThread }) =>
    [interfaces.sender, interfaces.receiver, counts, cpuThread, file].join(','),
  );
  const words = [packets, maxSeconds, senderCpu, rounds.flat().join(',')].map(String);
  const sending = wire.start('bash', ['-c', script, 'windows.sh', ...words, ...described]);
  let log = '';
  let errors = '';
  sending.stdout?.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  sending.stderr?.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(-4096);
  });
  const stop = () => void sending.stdin?.end();
  sending.stdin?.on('error', () => {});
  signal.addEventListener('abort', stop);
  for (const { ended } of guests) ended.then(stop);
  try {
    const [code] = await once(sending, 'close');
    signal.throwIfAborted();
    if (code === 0) return { kind: 'sent', log };
    return { kind: 'broken', log, lastLine: lastLine(errors) ?? 'it said nothing' };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
