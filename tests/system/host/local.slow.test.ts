// This machine as a Host: the same promises as over ssh, and commands that end when they are cancelled.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { thisMachine } from '../../../src/system/host/local.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

let host: Host;

beforeEach(() => {
  host = thisMachine();
});
afterEach(() => vi.unstubAllEnvs());

test('a command returns its exit code, stdout and stderr', async () => {
  const outcome = await host.run(shell`echo out; echo err >&2; exit ${3}`);
  expect(outcome).toEqual({ kind: 'exited', code: 3, stdout: 'out\n', stderr: 'err\n' });
});

test('a command ended by a signal names it', async () => {
  const outcome = await host.run(shell`kill -TERM $$ `);
  expect(outcome).toEqual({ kind: 'signaled', signal: 'SIGTERM', stdout: '', stderr: '' });
});

test('a command reads bytes, a stream as it comes, or an end of file', async () => {
  const stdin = Buffer.alloc(1_000_000, 'x');
  expect(await host.output(shell`cat`, { stdin })).toBe(stdin.toString());
  expect(await host.output(shell`cat`)).toBe('');
  const stream = new PassThrough();
  const onStdout = () => stream.end('more\n');
  const running = host.run(shell`echo ready; cat >&2`, { stdin: stream, onStdout });
  expect(await running).toMatchObject({ stdout: '', stderr: 'more\n' });
});

test('a command does not see what our environment holds', async () => {
  vi.stubEnv('PPSGATE_TEST_TOKEN', 'secret');
  const environment = await host.output(shell`env`);
  expect(environment).toMatch(/^PATH=/m);
  expect(environment).not.toContain('secret');
});

test('a command that is cancelled, too late, or of a closed host is killed with all that it started', async () => {
  const cancel = new AbortController();
  const starting = shell`sleep 298.25 & echo started; wait`;
  const onStdout = () => cancel.abort(new Error('enough'));
  const failures = [
    [host.run(starting, { signal: cancel.signal, onStdout }), 'aborted'],
    [host.run(starting, { timeoutSeconds: 0.1 }), 'timeout'],
  ] as const;
  await Promise.all(failures.map(([running, kind]) => expect(running).rejects.toMatchObject({ kind })));
  const running = host.run(starting, { onStdout: () => host.close() });
  await expect(running).rejects.toMatchObject({ kind: 'lost' });
  await vi.waitFor(() => expect(sleeping('298.25')).toBe(false));
});

test('bytes, and the file at a path, are installed with their permissions', async () => {
  const folder = temporaryFolder();
  await host.upload(Buffer.from('bytes'), join(folder, 'bytes'), 0o640);
  await host.upload(join(folder, 'bytes'), join(folder, 'file'), 0o755);
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('bytes');
  const modes = ['bytes', 'file'].map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(modes).toEqual([0o640, 0o755]);
  expect(readdirSync(folder).toSorted()).toEqual(['bytes', 'file']);
});

test('an upload that fails leaves the old file, with an error', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  await expect(host.upload('/nonexistent', path, 0o644)).rejects.toThrow(
    /^Cannot upload .*file from \/nonexistent to this machine: ENOENT/,
  );
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder)).toEqual(['file']);
  await expect(host.upload(Buffer.from(''), '/nonexistent/a', 0o644)).rejects.toMatchObject({
    kind: 'upload-failed',
  });
});

test('an upload that was cancelled before is not begun', async () => {
  const path = join(temporaryFolder(), 'file');
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(host.upload(Buffer.from(''), path, 0o644, { signal })).rejects.toMatchObject({
    kind: 'aborted',
  });
  expect(existsSync(path)).toBe(false);
});

function sleeping(seconds: string): boolean {
  const processes = execFileSync('ps', ['-e', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  return processes.some((line) => line === `sleep ${seconds}`);
}
