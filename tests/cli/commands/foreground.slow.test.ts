// Tests a user's command that must end when its time is over.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInForeground } from '../../../src/cli/lab/foreground.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { isRunning, stateOf } from '../../fakes/running.ts';

/** Runs a shell's script, which writes its process id to the file `id`, and ends it once that is there. */
async function endedWhileRunning(script: string, graceSeconds: number) {
  const folder = temporaryFolder();
  const over = new AbortController();
  const ending = runInForeground(['sh', '-c', script], {
    environment: { ...process.env, ID: join(folder, 'id') },
    signal: over.signal,
    graceSeconds,
  });
  const idOf = () => Number(readFileSync(join(folder, 'id'), 'utf8'));
  await expect.poll(idOf).toBeGreaterThan(0);
  const end = () => over.abort(new Error('over'));
  return { id: idOf(), end, ending };
}

const sayId = 'echo "$$" > "$ID.new"; mv "$ID.new" "$ID"';

test('one that does not mind SIGTERM is killed after its time of grace', async () => {
  const script = `trap "" TERM; ${sayId}; while :; do sleep 0.05; done`;
  const { end, ending } = await endedWhileRunning(script, 0.5);
  end();
  expect(await ending).toEqual({ kind: 'exited', code: 128 + 9 });
});

test('one that ends slowly gets the time for it', async () => {
  const script = `trap "sleep 0.5; exit 3" TERM; ${sayId}; while :; do sleep 0.05; done`;
  const { end, ending } = await endedWhileRunning(script, 20);
  end();
  expect(await ending).toEqual({ kind: 'exited', code: 3 });
});

test('one that was stopped is ended, too', async () => {
  const { id, end, ending } = await endedWhileRunning(`${sayId}; exec sleep 60`, 20);
  process.kill(id, 'SIGSTOP');
  await expect.poll(() => stateOf(id)).toMatch(/^T/);
  end();
  expect(await ending).toEqual({ kind: 'exited', code: 128 + 15 });
});

test('its descendants are ended with it, even if they ignore signals', async () => {
  const stubborn = `trap "" TERM; echo "$$" > "$ID.new"; mv "$ID.new" "$ID"; while :; do sleep 0.05; done`;
  const { id, end, ending } = await endedWhileRunning(`sh -c '${stubborn}' & wait`, 0.5);
  end();
  expect(await ending).toEqual({ kind: 'exited', code: 128 + 15 });
  await expect.poll(() => isRunning(id)).toBe(false);
});

test('an early signal already reaches the command', async () => {
  const command = ['sh', '-c', 'kill -HUP "$PPID"; exec sleep 60'];
  const { signal } = new AbortController();
  const ending = runInForeground(command, { environment: process.env, signal, graceSeconds: 1 });
  expect(await ending).toEqual({ kind: 'exited', code: 128 + 1 });
});

test('signals are those of this process again afterwards', async () => {
  const listeners = () => process.listeners('SIGTERM');
  const before = listeners();
  const during = runInForeground(['true'], {
    environment: process.env,
    signal: new AbortController().signal,
    graceSeconds: 1,
  });
  expect(listeners()).not.toEqual(before);
  expect(await during).toEqual({ kind: 'exited', code: 0 });
  expect(listeners()).toEqual(before);
});
