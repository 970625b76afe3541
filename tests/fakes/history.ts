// A history without a file, and lines of one.
import type { HistoryEntry, HistoryFile } from '../../src/gate/experiment/history.ts';
import { forwarding } from './result.ts';

/** Five runs of base around 800 kpps on the fake testbed, with a test's changes. */
export const aHistoryEntry = (changes: Partial<HistoryEntry> = {}): HistoryEntry => ({
  at: '2026-11-01T12:00:00.000Z',
  testbed: 'fake',
  cell: forwarding,
  traffic: { flows: 2000, frameBytes: 64, offeredPps: 3_000_000 },
  commit: 'a'.repeat(40),
  pps: [805_000, 798_000, 801_000, 794_000, 802_000],
  nsPerPacket: [],
  instructionsPerPacket: [],
  moved: false,
  ...changes,
});

export function memoryHistory(entries: readonly HistoryEntry[] = []): HistoryFile {
  const kept = [...entries];
  return {
    read: async () => [...kept],
    async append(more) {
      kept.push(...more);
    },
  };
}
