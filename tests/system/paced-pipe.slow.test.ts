// Tests output of programs that write a byte at a time, more than a reader accepts, or nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openPacedPipe } from '../../src/system/paced-pipe.ts';
import { temporaryFolder } from '../fakes/folder.ts';

async function outputOf(script: string) {
  const pieces: Buffer[] = [];
  const startedAt = performance.now();
  const pipe = openPacedPipe(join(temporaryFolder(), 'pipe'), (piece) => pieces.push(piece));
  onTestFinished(() => pipe.close());
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', pipe.descriptor, 'ignore'] });
  await once(child, 'close');
  pipe.close();
  const maxReads = 2 + (performance.now() - startedAt) / 50;
  return { pieces, text: Buffer.concat(pieces).toString(), maxReads };
}

test('Twenty thousand writes of one byte arrive whole, in a few pieces.', async () => {
  const script = 'i=0; while [ $i -lt 20000 ]; do printf x; i=$((i+1)); done';
  const { pieces, text, maxReads } = await outputOf(script);
  expect(text).toBe('x'.repeat(20_000));
  expect(pieces.length).toBeLessThan(maxReads);
});

test('A program that writes faster than is read waits, and loses nothing.', async () => {
  const { pieces, text, maxReads } = await outputOf('yes | head -c 500000; printf end');
  expect(text).toHaveLength(500_003);
  expect(text).toMatch(/y\nend$/);
  expect(pieces.length).toBeLessThan(maxReads);
});

test('Output of a program that has just ended is there for the next reader, within the interval.', () => {
  let text = '';
  const pipe = openPacedPipe(join(temporaryFolder(), 'pipe'), (piece) => {
    text += piece;
  });
  onTestFinished(() => pipe.close());
  spawnSync('echo', ['last words'], { stdio: ['ignore', pipe.descriptor, 'ignore'] });
  expect(text).toBe('');
  pipe.read();
  expect(text).toBe('last words\n');
});

test('Other users cannot open the pipe.', async () => {
  const path = join(temporaryFolder(), 'pipe');
  const pipe = openPacedPipe(path, () => {});
  onTestFinished(() => pipe.close());
  const child = spawn('stat', ['-c', '%A', path]);
  expect(Buffer.concat(await child.stdout.toArray()).toString()).toBe('prw-------\n');
});
