// Reservations at a terminal, and Ctrl-C there; script(1) is the terminal.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readLab, readLog } from '../../../src/gate/reserve/records.ts';
import { aPlace, embedded, linuxOf } from '../../fakes/place.ts';
import { describeWith } from '../../needs.ts';

const cli = join(inject('bundle'), 'cli.js');
const patience = { timeout: 120_000 };

/** Types into it, and returns what it shows. */
function terminal(folder: string, command: string) {
  // A shell that stays would be in front as well, and some die of the Ctrl-C.
  const line = `exec '${process.execPath}' '${cli}' ${command}`;
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn('script', ['-qefc', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: folder,
    env: { ...process.env, NO_COLOR: '' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.on('data', (part) => (shown += part));
  return {
    shown: () => shown,
    type: (text: string) => void child.stdin.write(text),
    ended: once(child, 'close').then(([status]) => status),
  };
}

const ctrlC = '\x03';

describeWith(['script'], 'at a terminal', () => {
  test('a Ctrl-C reaches the command once, and the testbed is released when the command ends', async () => {
    const { folder, store } = await aPlace({ here: embedded });
    const counts = 'process.on("SIGINT", () => console.log("heard")); setTimeout(() => console.log("ready"), 300);';
    const ends = 'process.once("SIGINT", () => setTimeout(() => process.exit(5), 1000));';
    const command = `'${process.execPath}' -e '${counts}${ends}setInterval(() => {}, 1000)'`;
    const { shown, type, ended } = terminal(folder, `reserve here -- ${command}`);
    await expect.poll(shown, patience).toContain('ready');
    type(ctrlC);
    expect(await ended, shown()).toBe(5);
    expect(shown().match(/heard/g)).toHaveLength(1);
    expect(await readLog(store)).toMatchObject([{ outcome: 'its command ended with 5' }]);
    expect((await readLab(store)).held.size).toBe(0);
  });

  test('the end of input leaves it where it is', async () => {
    const { folder, take, store } = await aPlace({ hp: linuxOf('hp') });
    await take('hp');
    const { shown, type, ended } = terminal(folder, 'release hp --force');
    await expect.poll(shown, patience).toContain('Who are you?');
    type('\x04');
    expect(await ended).toBe(0);
    expect(shown()).toContain('hp is still held by alice@lab1.');
    expect((await readLab(store)).held.size).toBe(3);
  });

  test('a watch redraws changes, in colours, until Ctrl-C', async () => {
    const { folder, take } = await aPlace({ hp: linuxOf('hp') });
    const { shown, type, ended } = terminal(folder, 'testbeds --watch');
    await expect.poll(shown, patience).toContain('\x1b[32mfree \x1b[0m');
    await take('hp');
    await expect.poll(shown, patience).toContain('\x1b[33mheld \x1b[0m');
    type(ctrlC);
    expect(await ended).toBe(130);
  });
});
