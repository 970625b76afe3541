// Tests the workflow files of `ppsgate init` and of the project itself: permissions of each job, and what each event
// starts and ends.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { freebsdTreeSteps, parseImage } from '../../../src/cli/init/freebsd-tree.ts';
import { type Setting, splitWorkflow } from '../../../src/cli/init/workflows.ts';
import { newRepository } from '../../fakes/repository.ts';
import { describeWith } from '../../needs.ts';
import { evaluate, type Values } from './expression.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';
const setting: Setting = {
  name: 'ppsgate',
  branch: 'main',
  action: `example/ppsgate@${commit}`,
  runner: ['ubuntu-latest'],
  hasPhabricator: false,
};
const image = parseImage(
  'https://download.example.org/FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz',
  'ab'.repeat(64),
);
const beside: Setting = { ...setting, runner: ['self-hosted', 'lab'] };

/** The project's own setting: its action is in the repository, and its Phabricator is an example. */
const own: Setting = {
  ...setting,
  name: 'gate',
  action: './ # zizmor: ignore[self-repository] act knows no other way to say it',
  config: 'docs/example/ppsgate.yml',
};
const ownHeader =
  '# Made by tests/cli/init/workflows.slow.test.ts: change src/cli/init/workflows.ts, then run this test with --update.\n';

const stepSchema = z.object({
  uses: z.string().optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

const jobSchema = z.object({
  if: z.string().default('true'),
  needs: z.union([z.string(), z.array(z.string())]).optional(),
  'runs-on': z.union([z.string(), z.array(z.string())]),
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.boolean() }).optional(),
  permissions: z.record(z.string(), z.string()),
  steps: z.array(stepSchema),
});

const workflowSchema = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: z.object({}).strict(),
  jobs: z.record(z.string(), jobSchema),
});

const read = (text: string) => workflowSchema.parse(parseYaml(text));

function jobOf(text: string, name: string) {
  const job = read(text).jobs[name];
  if (job === undefined) throw new Error(`There is no job ${name}.`);
  return job;
}

const permissionsOf = (text: string) =>
  Object.fromEntries(Object.entries(read(text).jobs).map(([name, { permissions }]) => [name, permissions]));

test('The project’s own workflow is what init writes.', async () => {
  const text = `${ownHeader}${splitWorkflow(own)}`;
  await expect(text).toMatchFileSnapshot('../../../.github/workflows/gate.yml');
});

/** Additions for a tree of Linux, which no other repository needs. */
const linuxTree: Setting = {
  ...setting,
  action: `example/ppsgate@${'0'.repeat(40)} # v0.1.0`,
  // Instructions are counted with QEMU 7.2 to 8.2, and this runner has 8.2.
  runner: ['ubuntu-24.04'],
  readyRunner: `\
      # The patch's makefiles run as \`kernels\`, which has no network and may write to nothing but the folder of builds; the
      # clone is root's, and shares its objects with the checkout.
      - name: Ready this machine to build kernels
        run: |
          sudo apt-get -qq update
          sudo apt-get -qq install --yes --no-install-recommends bc bison flex libelf-dev libssl-dev
          sudo useradd --system --shell /usr/sbin/nologin kernels
          sudo git clone --quiet --no-checkout "$GITHUB_WORKSPACE" /usr/src/linux`,
};

const linuxTreeHeader = `\
# A workflow for a tree of Linux: kernels of base and patched are built on GitHub's own runner, and boot there in virtual
# machines side by side. docs/how-to/virtual.md has the ppsgate.yml that goes with it. Copy it to .github/workflows/ppsgate.yml, and
# put the ppsgate that you trust, by a commit with all its 40 digits, in place of example/ppsgate.
# Made by tests/cli/init/workflows.slow.test.ts.
#
`;

test('The example for a tree of Linux is what init writes, with steps that build kernels.', async () => {
  const text = `${linuxTreeHeader}${splitWorkflow(linuxTree)}`;
  const place = '../../../docs/example/workflows/linux-kernel.yml';
  await expect(text).toMatchFileSnapshot(place);
});

test('each job may do what it does and no more', () => {
  const answers = {
    contents: 'write',
    'pull-requests': 'write',
    checks: 'write',
    actions: 'read',
    issues: 'write',
  };
  const accept = { contents: 'write', issues: 'write' };
  for (const one of [setting, beside, own, linuxTree]) {
    expect(permissionsOf(splitWorkflow(one))).toEqual({
      admit: { contents: 'read', 'pull-requests': 'write', checks: 'write' },
      gate: { contents: 'read', actions: 'read' },
      bisect: { contents: 'read' },
      cancel: {},
      publish: answers,
      accept,
    });
  }
});

test('The Conduit secret is passed only where ppsgate.yml has Phabricator.', () => {
  for (const one of [setting, beside, own]) {
    expect(splitWorkflow(one)).not.toMatch(/conduit|secrets\./i);
    const { jobs } = read(splitWorkflow({ ...one, hasPhabricator: true }));
    const withToken = Object.keys(jobs).filter((name) =>
      jobs[name]?.steps.some(({ with: inputs }) => 'conduit-token' in inputs),
    );
    expect(withToken).toEqual(['admit', 'gate', 'bisect', 'publish']);
  }
});

test('only what measures runs beside the lab', () => {
  const { jobs } = read(splitWorkflow(beside));
  expect(Object.entries(jobs).map(([name, job]) => [name, job['runs-on']])).toEqual([
    ['admit', 'ubuntu-latest'],
    ['gate', ['self-hosted', 'lab']],
    ['bisect', ['self-hosted', 'lab']],
    ['cancel', 'ubuntu-latest'],
    ['publish', 'ubuntu-latest'],
    ['accept', 'ubuntu-latest'],
  ]);
});

const steps = [splitWorkflow(setting), splitWorkflow(beside)]
  .flatMap((text) => Object.values(read(text).jobs))
  .flatMap((job) => job.steps);

test('every action is pinned to a commit', () => {
  const actions = steps.flatMap(({ uses }) => uses ?? []);
  expect(actions).toHaveLength(24);
  for (const action of actions) expect(action).toMatch(/@[\da-f]{40}$/);
});

test('every checkout is of the base, with its history and without a token left behind', () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
  expect(checkouts).toHaveLength(10);
  for (const checkout of checkouts) {
    expect(checkout.with).toEqual({ 'fetch-depth': 0, 'persist-credentials': false });
  }
});

test('the uploaded path cannot be changed by any output', () => {
  const uploads = steps.filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'));
  const paths = uploads.map((upload) => upload.with.path);
  expect(paths).toEqual(new Array(4).fill(`\${{ runner.temp }}/ppsgate`));
});

test('a branch that YAML would take for something else is quoted', () => {
  const { on } = read(splitWorkflow({ ...setting, branch: 'true' }));
  expect(on.push).toEqual({ branches: ['true'] });
});

/** A job's fate for an event on pull request 7: whether it runs, its queue, and whether it cancels the job ahead. */
function outcome(text: string, name: string, values: Values) {
  const job = jobOf(text, name);
  const { group = '', 'cancel-in-progress': ends = false } = job.concurrency ?? {};
  return {
    runs: Boolean(evaluate(job.if, values)),
    line: group.replace(/\$\{\{(.+?)\}\}/gs, (_, inner: string) => String(evaluate(inner, values))),
    ends,
  };
}

const onEvent = (name: string, event: object): Values => ({
  github: { event_name: name, run_id: '99', repository: 'example/router', event },
});

const onEdit = (changes: object) =>
  onEvent('pull_request_target', { action: 'edited', pull_request: { number: 7 }, changes });

const onComment = (body: string, association: string, { isIssue = false } = {}) =>
  onEvent('issue_comment', {
    action: 'created',
    issue: { number: 7, ...(!isIssue && { pull_request: { url: 'x' } }) },
    comment: { body, author_association: association },
  });

const onCheck = (name: string) => onEvent('check_run', { check_run: { name } });

const admitted = (outputs: Record<string, string>): Values => ({
  github: { run_id: '99' },
  matrix: { line: 'ppsgate' },
  needs: { admit: { outputs } },
});

test('an admission ends running measurements of the same patch, and so does a cancel', () => {
  const text = splitWorkflow(beside);
  const line = { line: 'ppsgate-#7', ends: true };
  const go = admitted({ go: 'true', cancel: 'false', subject: '#7' });
  expect(outcome(text, 'gate', go)).toEqual({ runs: true, ...line });
  expect(outcome(text, 'cancel', go)).toEqual({ runs: false, line: 'ppsgate-99', ends: true });
  const cancel = admitted({ go: 'false', cancel: 'true', subject: '#7' });
  expect(outcome(text, 'gate', cancel)).toEqual({ runs: false, line: 'ppsgate-99', ends: true });
  expect(outcome(text, 'cancel', cancel)).toEqual({ runs: true, ...line });
});

test('a bisection has a separate concurrency group, and so a cancel that ends it', () => {
  const text = splitWorkflow(beside);
  const line = { line: 'ppsgate-bisect-#7', ends: true };
  const begun = admitted({ go: 'false', bisect: 'true', cancel: 'false', subject: '#7' });
  expect(outcome(text, 'bisect', begun)).toEqual({ runs: true, ...line });
  expect(outcome(text, 'gate', begun)).toEqual({ runs: false, line: 'ppsgate-99', ends: true });
  const cancel = admitted({ go: 'false', bisect: 'false', cancel: 'true', subject: '#7' });
  const other = { ...cancel, matrix: { line: 'ppsgate-bisect' } };
  expect(outcome(text, 'cancel', other)).toEqual({ runs: true, ...line });
});

test('a refused event ends nothing, even if it names a patch', () => {
  const text = splitWorkflow(beside);
  const refused = admitted({ go: 'false', cancel: 'false', subject: '#7' });
  for (const job of ['gate', 'cancel']) {
    expect(outcome(text, job, refused)).toEqual({ runs: false, line: 'ppsgate-99', ends: true });
  }
});

test.for([
  ['a push', true, onEvent('pull_request_target', { action: 'synchronize' })],
  ['another base', true, onEdit({ base: { ref: { from: 'lax' } } })],
  ['another title', false, onEdit({ title: { from: 'Draft' } })],
  ['a command', true, onComment('/ppsgate run', 'NONE')],
  ['a remark', false, onComment('What does /ppsgate do?', 'OWNER')],
  ['a command on an issue', false, onComment('/ppsgate run', 'OWNER', { isIssue: true })],
  ['a button of our check', true, onCheck('ppsgate: chelsio')],
  ['a button of another check', false, onCheck('style')],
  ['the nightly run', true, onEvent('schedule', {})],
  ['what a merge queue waits for', true, onEvent('merge_group', { action: 'checks_requested' })],
] as const)('admission looks at %s: %s', ([, expected, values]) => {
  expect(outcome(splitWorkflow(beside), 'admit', values).runs).toBe(expected);
});

test.for([
  ['an insider’s word in an issue', true, '/ppsgate accept', 'MEMBER', { isIssue: true }],
  ['a stranger’s', false, '/ppsgate accept', 'NONE', { isIssue: true }],
  ['another command', false, '/ppsgate run', 'MEMBER', { isIssue: true }],
  ['the same at a pull request', false, '/ppsgate accept', 'MEMBER', {}],
] as const)('a level is accepted by %s: %s', ([, expected, body, who, place]) => {
  expect(outcome(splitWorkflow(setting), 'accept', onComment(body, who, place)).runs).toBe(expected);
});

describeWith(['actionlint', 'zizmor', 'git'], 'the linters of workflows', () => {
  test.for([
    ["the workflow for GitHub's runner", setting],
    ['the workflow beside a lab', { ...setting, runner: ['self-hosted'] }],
    ['the workflow with Phabricator', { ...setting, hasPhabricator: true }],
    ['the workflow for a tree of Linux', linuxTree],
    ['the workflow for a tree of FreeBSD', { ...setting, readyRunner: freebsdTreeSteps(image) }],
  ] as const)('find nothing in %s', ([, one]) => {
    const directory = newRepository();
    const folder = join(directory, '.github/workflows');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ppsgate.yml'), splitWorkflow(one));
    const lint = (program: string, ...args: string[]) =>
      execFileSync(program, args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
    expect(lint('actionlint')).toBe('');
    expect(lint('zizmor', '--offline', '--no-progress', '--pedantic', '.')).toContain('No findings to report');
  });
});
