import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startPhabricator } from '../../fakes/phabricator/server.ts';
import { startIn } from '../../fakes/place.ts';
import { commit, newRepository } from '../../fakes/repository.ts';

const ppsgate = (...args: string[]) => startIn('.')(...args).ended;

const check = (config: string, ...args: string[]) => ppsgate('phabricator', 'check', '-c', config, ...args);

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
