// Decides on comments in a repository, without GitHub.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { commit, git } from '../../fakes/repository.ts';

const config = 'testbeds: { lab: { kind: embedded-linux } }\ngithub: { people: [dan] }\n';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'ppsgate-test-')));
afterAll(() => rmSync(directory, { recursive: true }));

beforeAll(() => {
  git(directory, 'init', '--quiet', '--initial-branch=main');
  commit(directory, { 'dut/nftables.conf': '', 'ppsgate.yml': config });
  git(directory, 'switch', '--quiet', '--create', 'my-branch');
  commit(directory, { 'dut/nftables.conf': '#', 'ppsgate.yml': 'nonsense' });
});

function decide(text: string, ...options: string[]) {
  const cli = [join(inject('bundle'), 'cli.js'), 'comment', text, ...options];
  const ran = spawnSync(process.execPath, cli, { cwd: directory, encoding: 'utf8' });
  return { status: ran.status, told: ran.stdout + ran.stderr };
}

test('A command of a maintainer is approved, with what would be measured by the base’s configuration', () => {
  const { status, told } = decide('/ppsgate run inet4 inet6 margin=2%', '--dry-run');
  expect(told).toContain('approved\nwould measure: forwarding inet4, forwarding inet6, on lab');
  expect(told).toContain(`why: maintainer, who may have patches measured in this/repository`);
  expect(status).toBe(0);
});

test('A command of a stranger is refused as the workflow refuses it', () => {
  const { status, told } = decide('/ppsgate run', '--dry-run', '--by', 'eve', '--role', 'read');
  expect(told).toBe(
    'not approved\nwhy: Thank you, eve: #1 runs on the testbed once a person with write access to this/repository requests it.\n',
  );
  expect(status).toBe(2);
});
