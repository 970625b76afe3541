// Tests that the replacement of actions/upload-artifact, run like in a runner, uploads the same as the real one.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakeGitHub, installationToken, startFakeGitHub } from '../../fakes/github/server.ts';

let github: FakeGitHub;
let folder: string;

beforeEach(async () => {
  github = await startFakeGitHub({ repository: 'example/router', pullRequests: [] });
  folder = temporaryFolder();
  mkdirSync(join(folder, 'out/sub'), { recursive: true });
  for (const path of ['out/a.txt', 'out/sub/größe.txt', 'out/.hidden', 'b.txt'])
    writeFileSync(join(folder, path), path);
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

async function upload(inputs: Record<string, string>): Promise<string> {
  const named = { name: 'ppsgate-result', token: installationToken, ...inputs };
  const env = {
    ...Object.fromEntries(Object.entries(named).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
    GITHUB_API_URL: github.url,
    GITHUB_RUN_ID: '42',
    GITHUB_OUTPUT: join(folder, 'output'),
  };
  const action = join(import.meta.dirname, 'index.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [action], { cwd: folder, env });
  return stdout;
}

async function uploaded(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const zip = await fromBufferPromise(github.state.artifacts[0]?.bytes ?? Buffer.of());
  for await (const entry of zip.eachEntry()) files[entry.fileName] = await text(await zip.openReadStreamPromise(entry));
  return files;
}

test('a folder is the root of the zip, without what is hidden', async () => {
  await upload({ path: 'out' });
  expect(github.state.artifacts).toMatchObject([{ runId: 42, name: 'ppsgate-result' }]);
  expect(await uploaded()).toEqual({ 'a.txt': 'out/a.txt', 'sub/größe.txt': 'out/sub/größe.txt' });
});

test('several paths keep what they do not have in common', async () => {
  await upload({ path: 'b.txt\nout/sub' });
  expect(Object.keys(await uploaded())).toEqual(['b.txt', 'out/sub/größe.txt']);
});

test('a missing file is a warning, an error or nothing, as configured', async () => {
  const path = 'nowhere';
  expect(await upload({ path })).toContain('::warning::No files were found');
  expect(await upload({ path, 'if-no-files-found': 'ignore' })).toBe('');
  await expect(upload({ path, 'if-no-files-found': 'error' })).rejects.toMatchObject({ code: 1 });
  expect(github.state.artifacts).toEqual([]);
});

test('a name is taken once', async () => {
  await upload({ path: 'b.txt' });
  await expect(upload({ path: 'b.txt' })).rejects.toMatchObject({
    stdout: expect.stringContaining('409'),
  });
});
