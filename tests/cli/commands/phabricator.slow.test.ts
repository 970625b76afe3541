// Tests the output of `ppsgate phabricator check` for people and for programs, and its exit codes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startPhabricator } from '../../fakes/phabricator/server.ts';
import { commit, newRepository } from '../../fakes/repository.ts';

const cli = join(inject('bundle'), 'cli.js');

const check = (config: string, ...args: string[]) => ppsgate('phabricator', 'check', '-c', config, ...args);

async function ppsgate(...args: string[]) {
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const [status] = await once(child, 'close');
  return { status, stdout: await stdout, stderr: await stderr };
}

/** The path of a configuration with that `phabricator`. */
function configFile(phabricator: object | undefined): string {
  const path = join(temporaryFolder(), 'ppsgate.yml');
  const testbeds = { here: { kind: 'embedded-linux' } };
  writeFileSync(path, JSON.stringify({ testbeds, ...(phabricator && { phabricator }) }));
  return path;
}

/** All that a poll needs. */
async function aSetUp() {
  const phabricator = await startPhabricator();
  onTestFinished(() => phabricator.stop());
  phabricator.addUser('bob');
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, phabricator.token, { mode: 0o600 });
  const repository = newRepository();
  commit(repository, { 'dut/sysctl.conf': '' });
  const { url } = phabricator;
  return { url, tokenFile, people: ['bob'], relay: { start: { repository } } };
}

test('prints a line for each thing, and how it is on the whole', async () => {
  const { status, stdout } = await check(configFile(await aSetUp()));
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toContain('ok          people: bob is there');
  expect(lines.at(-1)).toBe('All checks passed.');
});

test('prints the diagnostics as JSON', async () => {
  const setUp = { ...(await aSetUp()), people: ['eve'] };
  const { status, stdout } = await check(configFile(setUp), '--json');
  expect(status).toBe(2);
  const { phabricator, diagnostics } = JSON.parse(stdout);
  expect(phabricator).toBe(setUp.url);
  expect(diagnostics).toContainEqual({
    kind: 'wrong',
    what: 'people',
    why: 'there is no user eve',
    fix: 'correct `phabricator.people` in ppsgate.yml, or make it visible to the bot',
  });
});

test.each(['relay', 'poll --once', 'gate --patch D1 --repository .', 'gate --patch D1 --repository . --answer'])(
  '%s ends with one sentence where the authority’s file is not there',
  async (line) => {
    const { relay, ...setUp } = await aSetUp();
    const directory = join(temporaryFolder(), 'relay');
    const config = configFile({ ...setUp, ca: 'nowhere.pem', relay: { ...relay, directory } });
    const { status, stderr } = await ppsgate(...line.split(' '), '--config', config);
    expect(stderr).toMatch(/^ppsgate: `phabricator\.ca` cannot be read \(\S+nowhere\.pem: ENOENT[^\n]*\n$/);
    expect(status).toBe(2);
    expect(existsSync(directory)).toBe(false);
  },
);
