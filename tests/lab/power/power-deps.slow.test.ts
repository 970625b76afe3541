// Runs programs that fail.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realPowerDeps } from '../../../src/lab/power/power.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const { run } = realPowerDeps;
/** No test lasts so long. */
const longSeconds = 600;
const sh = (script: string, options = {}) => run('sh', ['-c', script], { timeoutSeconds: longSeconds, ...options });

test('a program returns its code and both outputs', async () => {
  expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
    kind: 'exited',
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  });
});

test('a program reads what it is given, or an end of file', async () => {
  expect(await sh('cat', { stdin: 'word' })).toMatchObject({ stdout: 'word' });
  expect(await sh('cat')).toMatchObject({ code: 0, stdout: '' });
});

test('a program that does not end is killed with what it started', async () => {
  const fifo = join(temporaryFolder(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Ends when no process has the other side open.
  const allGone = readFile(fifo);
  const ran = await sh(`sleep 60 >${fifo} & sleep 60`, { timeoutSeconds: 0.2 });
  expect(ran).toEqual({ kind: 'failed', why: 'did not end within 0.2 s' });
  expect(await allGone).toHaveLength(0);
});

test('a program that writes without end is ended', async () => {
  expect(await sh('yes')).toEqual({ kind: 'failed', why: 'wrote more than 1048576 bytes' });
});

test('a program that is not there has failed', async () => {
  expect(await run('/nowhere/program', [], { timeoutSeconds: longSeconds })).toEqual({
    kind: 'failed',
    why: 'cannot be started: spawn /nowhere/program ENOENT',
  });
});
