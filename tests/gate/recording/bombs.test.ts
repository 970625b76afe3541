// Small recordings that unpack to much.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const head = JSON.stringify({
  kind: 'head',
  format: 'ppsgate recording',
  version: 2,
  ppsgate: '1.0.0',
  command: 'gate',
  date: '2026-11-20T12:00:00.000Z',
});

function recording(lines: string): string {
  const path = join(temporaryFolder(), 'lab.rec');
  writeFileSync(path, gzipSync(`${head}\n${lines}`, { level: 1 }));
  return path;
}

const begins = `${JSON.stringify({ kind: 'begins', at: 1, part: 'check', request: {} })}\n`;

// Attack read/recording-bomb: A small recording unpacks to much, or has huge kernels made and hashed. Defence: Bytes,
// lines, requests and parts have limits, and so has the total of its kernels.
test.for<[string, () => string, string]>([
  ['lines', () => '\n'.repeat(2_000_000), '2,000,000 lines'],
  ['bytes in a line', () => `"${'x'.repeat(16 * 1024 ** 2)}"\n`, '16,777,216 bytes in a line'],
  ['parts', () => begins.repeat(1001), '1,000 parts'],
])('A recording with too many %s is not opened', ([, lines, many]) => {
  const path = recording(lines());
  expect(() => readRecording(path)).toThrow(
    `${path} has more than ${many}, more than any recording: it is not opened.`,
  );
});

test('A recording with as many lines as it may have is opened', () => {
  const path = recording('\n'.repeat(1000) + begins.repeat(1000));
  expect(readRecording(path)).toMatchObject({ requests: [], isTorn: false });
});
