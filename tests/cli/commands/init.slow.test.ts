// `ppsgate init`: the files it writes, those it leaves alone, and its questions.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runInit } from '../../../src/cli/gate/init.ts';
import { starterRules } from '../../../src/cli/init/config-file.ts';
import type { InitOptions } from '../../../src/cli/init/init-selectors.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

const action = 'example/ppsgate@0123456789abcdef0123456789abcdef01234567';
const workflow = '.github/workflows/ppsgate.yml';

/** Runs init there and returns its output; `ask` replies like a person at a terminal. */
async function init(directory: string, options: InitOptions = { action }, ask?: (question: string) => Promise<string>) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const apiUrl = 'http://127.0.0.1:1';
    expect(await runInit(options, { directory, ask, apiUrl })).toBe(0);
    return write.mock.calls.map(([text]) => text).join('');
  } finally {
    write.mockRestore();
  }
}

const read = (directory: string, path: string) => readFileSync(join(directory, path), 'utf8');
const isThere = (directory: string) => git(directory, 'status', '--porcelain', '-uall').split('\n');

test('for GitHub’s own runner it writes a workflow and a configuration, and prints the next steps', async () => {
  const directory = newRepository();
  git(directory, 'remote', 'add', 'origin', 'https://github.com/example/router.git');
  await expect(await init(directory)).toMatchFileSnapshot('golden/init.txt');
  expect(isThere(directory)).toEqual([`?? ${workflow}`, '?? .gitignore', '?? ppsgate.yml']);
  expect(read(directory, workflow)).toContain(`uses: ${action}\n`);
  await loadConfig(join(directory, 'ppsgate.yml'));
});

const image = 'https://download.example.org/FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz';
const sha512 = 'aB'.repeat(64);

test('for a tree of FreeBSD it writes guests of an image, a builder and a workflow that readies both', async () => {
  const directory = newRepository();
  await init(directory, { action, kind: 'freebsd', image, sha512, yes: true });
  expect(isThere(directory)).toEqual([`?? ${workflow}`, '?? .gitignore', '?? ppsgate.yml']);
  const { testbeds, scenarios } = await loadConfig(join(directory, 'ppsgate.yml'));
  const path = '/var/tmp/ppsgate-image/FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz';
  expect(testbeds.guests).toMatchObject({
    system: 'freebsd',
    image: { path, sha512: sha512.toLowerCase() },
    builder: { repository: '/usr/src', jail: { user: 'kernels' }, recipe: { cross: {} } },
  });
  expect(scenarios).toEqual(['forwarding', 'pf-stateful', 'ipfw-stateful']);
  expect(parseYaml(read(directory, workflow)).jobs.gate).toMatchObject({ 'runs-on': 'ubuntu-24.04' });
  expect(read(directory, workflow)).toContain('Ready this machine to build kernels');
});

test('without a version of ppsgate it writes a configuration alone, and says how to measure here', async () => {
  const directory = newRepository();
  writeFileSync(join(directory, 'nftables.conf'), '');
  expect(await init(directory, {})).toContain('--action OWNER/ppsgate@COMMIT');
  expect(isThere(directory)).toEqual(['?? .gitignore', '?? nftables.conf', '?? ppsgate.yml']);
  expect(read(directory, 'ppsgate.yml')).not.toContain('yaml-language-server');
  const { overlay } = await loadConfig(join(directory, 'ppsgate.yml'));
  expect(overlay).toMatchObject({ files: { 'nftables.conf': 'nftables.conf' } });
});

test('once more it changes nothing', async () => {
  const directory = newRepository();
  await init(directory, { action, yes: true });
  commit(directory, {});
  const { files } = JSON.parse(await init(directory, { action, json: true }));
  expect(files).toEqual([
    { path: workflow, kind: 'unchanged' },
    { path: 'ppsgate.yml', kind: 'unchanged' },
    { path: '.gitignore', kind: 'unchanged' },
  ]);
  expect(isThere(directory)).toEqual(['']);
});

test('a changed file is kept, and a workflow is overwritten by force, but never ppsgate.yml', async () => {
  const directory = newRepository();
  await init(directory, { action, yes: true });
  for (const path of [workflow, 'ppsgate.yml']) writeFileSync(join(directory, path), 'mine\n');
  const kinds = async (options: InitOptions) => {
    const { files } = JSON.parse(await init(directory, { action, json: true, ...options }));
    return files.map(({ kind }: { kind: string }) => kind);
  };
  expect(await kinds({})).toEqual(['kept', 'kept', 'unchanged']);
  expect(read(directory, workflow)).toBe('mine\n');
  expect(await kinds({ force: true })).toEqual(['overwritten', 'kept', 'unchanged']);
  expect(read(directory, workflow)).toContain(action);
  expect(read(directory, 'ppsgate.yml')).toBe('mine\n');
});

test('a dry run shows the files and writes none', async () => {
  const directory = newRepository();
  const output = await init(directory, { action, dryRun: true });
  expect(output).toMatch(/\n--- ppsgate\.yml\n# yaml-.*\n# Measurements and testbeds\./);
  expect(output).toContain('Nothing is written yet.');
  expect(isThere(directory)).toEqual(['']);
});

test('it prompts for values without a flag, and an empty answer is the default', async () => {
  const directory = newRepository();
  git(directory, 'remote', 'add', 'origin', 'git@github.com:example/router.git');
  const questions: string[] = [];
  const answers = ['self-hosted', 'trunk', '', 'no'];
  const output = await init(directory, { action }, async (question) => {
    questions.push(question);
    return answers.shift() ?? '';
  });
  expect(questions).toHaveLength(4);
  expect(output).toContain('--repo example/router');
  expect(parseYaml(read(directory, workflow))).toMatchObject({
    on: { push: { branches: ['trunk'] } },
    jobs: { gate: { 'runs-on': 'self-hosted' } },
  });
});

test('the default branch is that of origin, whichever is checked out', async () => {
  const origin = newRepository();
  commit(origin, { 'a.c': 'int a;\n' });
  const directory = join(temporaryFolder(), 'clone');
  git(origin, 'clone', '--quiet', origin, directory);
  git(directory, 'switch', '--quiet', '--create', 'patch');
  await init(directory);
  expect(parseYaml(read(directory, workflow)).on.push).toEqual({ branches: ['main'] });
});

describe('a repository without rules', () => {
  const rules = 'dut/nftables.conf';
  const embedded = 'testbeds: { lab: { kind: embedded-linux } }\n';

  test.each([
    ['with --yes', { action, yes: true }, undefined],
    ['at a terminal where they are wanted', { action }, async () => ''],
  ] as const)('gets some that change nothing of what ppsgate sends, %s', async (_, options, ask) => {
    const directory = newRepository();
    expect(await init(directory, options, ask)).toContain(`created  ${rules}\n`);
    expect(read(directory, rules)).toBe(starterRules);
  });

  test('gets them in the overlay that its own ppsgate.yml names', async () => {
    const directory = newRepository();
    const config = `overlay: some/where\n${embedded}`;
    commit(directory, { 'ppsgate.yml': config });
    await init(directory, { action, yes: true });
    expect(read(directory, 'some/where/nftables.conf')).toBe(starterRules);
    expect(read(directory, 'ppsgate.yml')).toBe(config);
  });

  test.each([
    ['has files of its own there', { 'dut/sysctl.conf': '' }],
    ['installs its overlay from its top', { 'ppsgate.yml': `overlay: .\n${embedded}` }],
    ['has a ppsgate.yml that is wrong', { 'ppsgate.yml': 'overlay: [' }],
    ['has them elsewhere', { 'ppsgate.yml': `overlay: ../dut\n${embedded}` }],
    ['has a file of that name', { dut: '' }],
  ])('gets none where it %s', async (_, files) => {
    const directory = newRepository();
    commit(directory, files);
    expect(await init(directory, { action, yes: true })).not.toContain('nftables.conf');
    expect(existsSync(join(directory, rules))).toBe(false);
  });
});

test.each([
  ['has it', 'phabricator: { url: "https://reviews.example.org" }\n', true],
  ['cannot be read', 'phabricator: [\n', false],
])('the Conduit secret is passed where ppsgate.yml has Phabricator: it %s', async (_, config, passes) => {
  const directory = newRepository();
  commit(directory, { 'ppsgate.yml': config });
  await init(directory);
  expect(read(directory, workflow).includes('secrets.PPSGATE_CONDUIT_TOKEN')).toBe(passes);
});

describe('work directories are ignored', () => {
  test.each([
    ['', '/ppsgate-*/\n', 'extended'],
    ['*.o', '*.o\n/ppsgate-*/\n', 'extended'],
    ['# /ppsgate-*/\n', '# /ppsgate-*/\n/ppsgate-*/\n', 'extended'],
    ['ppsgate-*\r\n*.o\r\n', 'ppsgate-*\r\n*.o\r\n', 'unchanged'],
  ])('beside all else: %j', async (before, after, kind) => {
    const directory = newRepository();
    writeFileSync(join(directory, '.gitignore'), before);
    const { files } = JSON.parse(await init(directory, { action, json: true }));
    expect(files).toContainEqual({ path: '.gitignore', kind });
    expect(read(directory, '.gitignore')).toBe(after);
  });
});

test('refuses to write where there is no git repository, or a folder is in the way of a file', async () => {
  await expect(init(temporaryFolder())).rejects.toThrow('is not in a git repository');
  const directory = newRepository();
  mkdirSync(join(directory, workflow), { recursive: true });
  await expect(init(directory)).rejects.toThrow(/ppsgate\.yml cannot be written \(EISDIR/);
});

describe('a repository that has rules', () => {
  const overlayIn = async (directory: string) => (await loadConfig(join(directory, 'ppsgate.yml'))).overlay;

  test('has them measured where they are, and gets none', async () => {
    const directory = newRepository();
    commit(directory, { 'etc/nftables.conf': '# mine\n', 'etc/sysctl.conf': '' });
    expect(await init(directory, { action, yes: true })).not.toContain('dut');
    const files = { 'nftables.conf': 'etc/nftables.conf', 'sysctl.conf': 'etc/sysctl.conf' };
    expect(await overlayIn(directory)).toEqual({ files, beside: directory });
    expect(existsSync(join(directory, 'dut'))).toBe(false);
  });

  test('of pf has them measured on guests with FreeBSD, without a builder', async () => {
    const directory = newRepository();
    commit(directory, { 'etc/pf.conf': 'pass\n' });
    await init(directory, { action, image, sha512, yes: true });
    const config = await loadConfig(join(directory, 'ppsgate.yml'));
    expect(config.overlay).toMatchObject({ files: { 'pf.conf': 'etc/pf.conf' } });
    expect(config.testbeds.guests).toMatchObject({ kind: 'virtual', system: 'freebsd' });
    expect(config.testbeds.guests).not.toHaveProperty('builder');
    expect(config.scenarios).toEqual(['forwarding']);
    expect(read(directory, workflow)).not.toContain('Ready this machine to build kernels');
  });

  test('of ipfw needs the image of its guests', async () => {
    const directory = newRepository();
    commit(directory, { 'ipfw.rules': 'add allow ip from any to any\n' });
    await expect(init(directory, { action, yes: true })).rejects.toThrow('--image and --sha512');
  });

  test.each<[string, string[], InitOptions, RegExp]>([
    [
      'pf and ipfw',
      ['pf.conf', 'etc/ipfw.rules'],
      { image, sha512 },
      /^left out +etc\/ipfw\.rules +pf\.conf is measured/m,
    ],
    [
      'Linux and FreeBSD',
      ['etc/nftables.conf', 'pf.conf'],
      {},
      /^left out +pf\.conf .*`ppsgate init --kind freebsd`$/m,
    ],
  ])('of %s is reported with the omitted one', async (_, paths, options, why) => {
    const directory = newRepository();
    commit(directory, Object.fromEntries(paths.map((path) => [path, ''])));
    expect(await init(directory, { action, ...options, yes: true })).toMatch(why);
    expect(await overlayIn(directory)).toMatchObject({ files: { [basename(paths[0] ?? '')]: paths[0] } });
  });

  test('follows no link to them', async () => {
    const directory = newRepository();
    commit(directory, { 'etc/nftables.conf': '' }, { 'nftables.conf': '/etc/nftables.conf' });
    await init(directory, { action, yes: true });
    expect(await overlayIn(directory)).toMatchObject({
      files: { 'nftables.conf': 'etc/nftables.conf' },
    });
  });

  test('and a ppsgate.yml that does not name them is reported with the missing line', async () => {
    const directory = newRepository();
    const text = 'testbeds: { lab: { kind: embedded-linux } }\n';
    commit(directory, { 'etc/nftables.conf': '', 'ppsgate.yml': text });
    expect(await init(directory, { action, yes: true })).toContain(
      'write `overlay: { files: { nftables.conf: etc/nftables.conf } }` in ppsgate.yml',
    );
  });
});
