import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readNoiseFile } from '../../bench/noise-file.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aHistoryEntry } from '../fakes/history.ts';

function read(...lines: unknown[]) {
  const path = join(temporaryFolder(), 'noise.jsonl');
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return readNoiseFile(path);
}

test('lines of one cell are its sessions, in their order', async () => {
  const first = aHistoryEntry({ pps: [1, 2] });
  const other = aHistoryEntry({ pps: [3, 4], cell: { scenario: 'forwarding', family: 'inet6' } });
  const second = aHistoryEntry({
    pps: [5, 6],
    at: '2026-11-02T12:00:00.000Z',
    commit: 'f'.repeat(40),
  });
  expect(await read(first, other, second)).toEqual({
    cells: [
      [
        [1, 2],
        [5, 6],
      ],
      [[3, 4]],
    ],
    lines: 3,
  });
});

test.for(['testbed', 'cell', 'traffic', 'cpu', 'nic', 'topic', 'label'])(
  'lines that differ in %s are of different cells',
  async (key) => {
    const pps = [1, 2];
    const { cells } = await read({ pps, [key]: 'one' }, { pps, [key]: 'other' }, { pps });
    expect(cells).toEqual([[pps], [pps], [pps]]);
  },
);

test('lines with nothing but runs are sessions of one cell', async () => {
  const { cells } = await read({ pps: [1, 2] }, { pps: [3, 4], source: 'x' });
  expect(cells).toHaveLength(1);
});

test('a single run is counted as a line, and passed over', async () => {
  expect(await read({ pps: [1] }, { pps: [] }, { pps: [2, 3] })).toEqual({
    cells: [[[2, 3]]],
    lines: 3,
  });
});
