// Detection of patches that change the code of the gate, with the action in the repository itself.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { changedOfGate } from '../../src/action/gate-code.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';

const before = {
  '.github/workflows/gate.yml': 'on: pull_request\n',
  'action.yml': 'runs: { using: node24, main: dist/action.js }\n',
  'dist/action.js': 'require("cpu-features");\n',
  'package.json': '{ "type": "module" }\n',
  'dut/nftables.conf': '# one\n',
};

const write = (path: string, text: string) => (workspace: string) => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};

const link = (path: string, target: string) => (workspace: string) => {
  rmSync(join(workspace, path), { recursive: true, force: true });
  symlinkSync(target, join(workspace, path));
};

const submodule = (path: string) => (workspace: string) => {
  const id = git(workspace, 'rev-parse', 'HEAD');
  git(workspace, 'update-index', '--add', '--cacheinfo', `160000,${id},${path}`);
};

type Change = (workspace: string) => void;

/** A gate of an action within the repository, and a patch with this change. */
async function changedBy(change: Change, { isOwnAction = true, code = 'dist' } = {}) {
  const workspace = newRepository();
  const baseCommit = commit(workspace, before);
  git(workspace, 'switch', '--quiet', '--create', 'patch');
  change(workspace);
  // A submodule has nothing in the working tree.
  if (git(workspace, 'diff', '--cached', '--name-only') === '') git(workspace, 'add', '--all');
  git(workspace, 'commit', '--quiet', '--message', 'A patch');
  const headCommit = git(workspace, 'rev-parse', 'HEAD');
  git(workspace, 'switch', '--quiet', '--force', 'main');
  const later = commit(workspace, { 'dist/action.js': 'of the base, meanwhile\n' });
  const patch = { baseCommit: later, headCommit };
  const job = { isOwnAction, workspace };
  expect(baseCommit).not.toBe(later);
  return changedOfGate(patch, openRepository(workspace), job, join(workspace, code));
}

const workflow: [string, Change, string] = [
  'a workflow',
  write('.github/workflows/another.yml', 'on: push\n'),
  '.github/',
];

const ofAction: [string, Change, string][] = [
  ['what is run', write('dist/action.js', 'forge();\n'), 'dist/'],
  ['what is run into a link', link('dist', 'dut'), 'dist/'],
  ['action.yml', write('action.yml', 'runs: { using: node24, main: dut/a.js }\n'), 'action.yml'],
  ['action.yaml, which GitHub reads as well', write('action.yaml', 'runs: {}\n'), 'action.yaml'],
  ['package.json', write('package.json', '{ "type": "commonjs" }\n'), 'package.json'],
  ['a module that dist may load', write('node_modules/cpu-features/index.js', 'forge();\n'), 'node_modules/'],
  ['a submodule of modules', submodule('node_modules'), 'node_modules/'],
];

test.each([workflow, ...ofAction])(
  'a patch of a repository with its own action is not verified that changes %s',
  async (_, change, named) => {
    expect(await changedBy(change)).toBe(named);
  },
);

test.each([
  ['tools/gate/dist/action.js', 'tools/gate/dist/'],
  ['tools/node_modules/cpu-features/index.js', 'tools/node_modules/'],
  ['tools/package.json', 'tools/package.json'],
  ['node_modules/cpu-features/index.js', 'node_modules/'],
])('nor one that changes %s, where the action lies deeper', async (path, named) => {
  expect(await changedBy(write(path, 'forge();\n'), { code: 'tools/gate/dist' })).toBe(named);
});

test('with the action of another repository only a workflow may not be changed', async () => {
  const [, change, named] = workflow;
  expect(await changedBy(change, { isOwnAction: false })).toBe(named);
  expect(await changedBy(write('dist/action.js', 'forge();\n'), { isOwnAction: false })).toBeUndefined();
});

test('a patch is verified that changes only measured files', async () => {
  expect(await changedBy(write('dut/nftables.conf', '# two\n'))).toBeUndefined();
});
