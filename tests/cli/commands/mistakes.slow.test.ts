// Mistakes at a shell, in a repository with a ppsgate.yml: each is reported in one sentence on stderr and exits with 2.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { commit, git } from '../../fakes/repository.ts';

const config = `
testbeds:
  lab: { kind: embedded-linux }
  far:
    kind: linux
    sender: { host: tx, interface: eth0, cpu: 1 }
    dut: { host: dut, ingress: eth0, egress: eth1, cpu: 1 }
    receiver: { host: rx, interface: eth0 }
history: history.jsonl
reservations: { file: reservations.sqlite }
`;

const others = {
  'kernels/guests.yml': 'testbeds: { guests: { kind: virtual } }',
  'kernels/rack.yml': `
testbeds:
  rack:
    kind: freebsd
    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:00:00:01", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: cxl1, mac: "00:07:43:00:00:02", inet4: 198.19.0.110 }
`,
};

const here = realpathSync(mkdtempSync(join(tmpdir(), 'ppsgate-test-')));
afterAll(() => rmSync(here, { recursive: true }));

let headId = '';
beforeAll(() => {
  git(here, 'init', '--quiet', '--initial-branch=main');
  commit(here, { 'dut/nftables.conf': '', 'ppsgate.yml': config, ...others });
  git(here, 'switch', '--quiet', '--create', 'my-branch');
  headId = commit(here, { 'dut/nftables.conf': '#' }).slice(0, 12);
});

const range = ['gate', '--patch', 'main..my-branch'];
const kernels = ['--base-kernel', 'dut/nftables.conf', '--patched-kernel', 'ppsgate.yml'];
const linuxKernel = 'a .deb or a tar archive with boot/vmlinuz-* and its lib/modules/* (docs/how-to/virtual.md)';
const freebsdKernel = 'a tar archive with `kernel` and its modules at its top (docs/how-to/kernels.md)';
const revision = 'or a revision like D27401 or D27401:80677';
const scenarios = 'forwarding, nftables-stateless, nftables-stateful';

test.for([
  [['gate', '--patch', ''], '--patch is missing: see `ppsgate gate --help`.'],
  [['gate', '--patch', 'main'], `--patch: expected commits as BASE..HEAD, like main..HEAD, ${revision}, found "main".`],
  [
    ['gate', '--patch', 'my-branch'],
    `--patch: expected commits as BASE..HEAD, like main..my-branch, ${revision}, found "my-branch".`,
  ],
  [
    ['gate', '--patch', 'main.my-branch'],
    `--patch: expected commits as BASE..HEAD, like main..my-branch, ${revision}, found "main.my-branch".`,
  ],
  [
    ['gate', '--patch', 'main...my-branch'],
    '--patch: "main...my-branch" is not a range of commits: write BASE..HEAD, like main..my-branch.',
  ],
  [
    ['gate', '--patch', 'mian..my-branch'],
    '--patch: the base "mian" is not a commit, branch or tag of HERE; did you mean `main`?',
  ],
  [
    ['gate', '--patch', 'main..branch'],
    '--patch: the head "branch" is not a commit, branch or tag of HERE; did you mean `my-branch`?',
  ],
  [
    ['gate', '--patch', 'my-branch..main'],
    '--patch: my-branch..main is reversed, because main is older than my-branch: write main..my-branch.',
  ],
  [
    ['plan', '--patch', 'my-branch..main'],
    '--patch: my-branch..main is reversed, because main is older than my-branch: write main..my-branch.',
  ],
  [
    ['gate', '--patch', 'my-branch..HEAD'],
    '--patch: my-branch and HEAD are one commit, ID: write BASE..HEAD with a HEAD that has the patch.',
  ],
  [
    ['gate', '--patch', 'D123'],
    'The configuration has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.',
  ],
  [
    [...range, '--repository', 'https://github.com/example/router'],
    '--repository: "https://github.com/example/router" is an address: clone it, and name the folder.',
  ],
  [[...range, '--repository', '/'], '--repository: / is not a git repository: name the repository with the commits.'],
  [
    [...range, '--config', 'none.yml'],
    'HERE/none.yml: there is no such file; write one with `ppsgate init`, or name yours',
  ],
  [[...range, '--margin', 'x', '--json'], '--margin: expected a percentage like 2%, found "x".'],
  [[...range, '--max-runs', 'many'], '--max-runs: expected a whole number from 2 to 10000, found "many".'],
  [['gate', '--resume', '.', '--max-runs', '-4'], '--max-runs: expected a whole number from 2 to 10000, found "-4".'],
  [[...range, '--seed', ''], '--seed: expected a whole number from 0 to 2147483647, found "".'],
  [[...range, '--priority', 'high'], '--priority: expected one of release, patch, rerun, found "high".'],
  [[...range, '--families', 'ipv6'], '--families: expected one of inet4, inet6, found "ipv6"; did you mean `inet6`?'],
  [
    [...range, '--scenarios', 'nftables'],
    `--scenarios: expected one of ${scenarios}, found "nftables"; did you mean \`nftables-stateless\` or \`nftables-stateful\`?`,
  ],
  [[...range, '--each', 'lab,lab'], '--each: a selector is in this list twice.'],
  [
    [...range, '--testbed', 'far away'],
    '--testbed: expected words joined by and, or, not, like `mellanox and 40G` or `freebsd and not release`, found "far away": an and or an or is missing before `away`.',
  ],
  [
    [...range, '--testbed', 'labb'],
    '--testbed: no testbed of the configuration is "labb": known here are lab, embedded-linux, linux, far; did you mean `lab`?',
  ],
  [
    [...range, '--earlier', 'all'],
    '--earlier: "main..my-branch" is not a revision, and only revisions have earlier diffs.',
  ],
  [[...range, '--base-kernel', 'k'], '--patched-kernel is missing: see `ppsgate gate --help`.'],
  [
    [...range, '--testbed', 'lab', ...kernels],
    '--base-kernel: lab installs files and boots no kernels: choose a testbed of kind freebsd or virtual, or drop both kernels.',
  ],
  [
    [...range, '--config', 'kernels/guests.yml', ...kernels],
    `--base-kernel: dut/nftables.conf is a text file; expected ${linuxKernel}.`,
  ],
  [
    ['demo', '--kernels', 'ppsgate.yml,ppsgate.yml'],
    `--kernels: HERE/ppsgate.yml is a text file; expected ${linuxKernel}.`,
  ],
  [
    ['demo', '--freebsd', 'ppsgate.yml', '--kernels', 'ppsgate.yml,ppsgate.yml'],
    `--kernels: HERE/ppsgate.yml is a text file; expected ${freebsdKernel}.`,
  ],
  [
    ['testbeds', 'self-test', 'rack', '--config', 'kernels/rack.yml', ...kernels.slice(0, 2)],
    `--base-kernel: dut/nftables.conf is a text file; expected ${freebsdKernel}.`,
  ],
  [
    ['reserve', '', '--', 'true'],
    '<selector> is empty: name a testbed, or required properties like "mellanox and 40G".',
  ],
  [['badge', '--repository', 'a/b', '--branch', ''], '--branch: expected the name of a branch, found "".'],
  [['release', '--directory', 'gone'], '--directory: HERE/gone does not exist: name the work directory of a gate.'],
  [[...range, '--directory', 'ppsgate.yml'], '--directory: ppsgate.yml is a file: name a folder.'],
  [[...range, '--margin', '2', '%'], "too many arguments for 'gate'. Expected 0 arguments but got 1: %."],
  [
    ['bisect', '--patch', 'main..my-branch'],
    '--patch: expected a revision like D27401; for commits, write --good main --bad my-branch.',
  ],
  [
    ['compare', 'dut/nftables.conf', 'kernels'],
    'The folder kernels is no overlay, because it has none of nftables.conf, sysctl.conf, pf.conf, ipfw.rules: name a folder that has one.',
  ],
  [['site'], "required option '--from <dir>' not specified"],
  [
    ['nightly', '--data', '/proc/nightly', '--commit', 'mian'],
    '--commit: "mian" is not a commit, branch or tag of HERE; did you mean `main`?',
  ],
  [['nightly', '--data', 'ppsgate.yml'], '--data: ppsgate.yml is a file: name a folder.'],
  [
    ['gate', '--patch', 'main~9..my-branch'],
    '--patch: the base "main~9" would be older than main~0, the first commit: name that or a later one, or check it out with its history (fetch-depth: 0).',
  ],
  [['badge', '--repository', 'a/b', '--branch', 'a b'], '--branch: expected the name of a branch, found "a b".'],
  [['quarantine', 'nope'], 'HERE/ppsgate.yml has no testbed "nope": it has lab, far.'],
  [
    ['report', 'dut/nftables.conf'],
    'HERE/dut/nftables.conf is not a result of this version of ppsgate, because it is incomplete JSON: copy it again, or resume its gate.',
  ],
  [
    [...range, '--each', 'lab,labb'],
    '--each: no testbed of the configuration is "labb": known here are lab, embedded-linux, linux, far; did you mean `lab`?',
  ],
  [[...range, '--directory', ''], '--directory: expected the name of a folder, found "".'],
  [['gaet'], "unknown command 'gaet'\n(Did you mean gate?)"],
  [['gate', '--pach', 'x'], "unknown option '--pach'\n(Did you mean one of --each, --patch?)"],
  [['testbeds', 'check'], "missing required argument 'name'"],
  [
    ['testbeds', 'self-test', 'lab'],
    'lab is of kind embedded-linux, which boots no kernel: self-test a testbed of kind freebsd, or see `ppsgate testbeds check lab`.',
  ],
  [
    ['testbeds', 'self-test', 'far', '--skip', 'hang,everything'],
    '--skip: expected one of check, scenarios, trials, profile, panic, hang, noise, found "everything".',
  ],
  [
    ['reserve', 'lab', '--priority', 'high', '--', 'true'],
    '--priority: expected one of release, patch, rerun, found "high".',
  ],
  [['poll', '--every', 'x'], '--every: expected a whole number of seconds from 10 to 3600, found "x".'],
  [['poll', '--every', '-10'], '--every: expected a whole number of seconds from 10 to 3600, found "-10".'],
  [['analyze', '.', '--false-alarms', '-1%'], '--false-alarms: expected a percentage like 2%, found "-1%".'],
  [['demo', '--seed', 'x'], '--seed: expected a whole number from 0 to 2147483647, found "x".'],
  [
    ['demo', '--freebsd'],
    '--freebsd: name an image of FreeBSD for amd64, such as FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz of its VM images (https://www.freebsd.org/where/), as downloaded.',
  ],
  [
    ['demo', '--freebsd', 'missing.raw'],
    '--freebsd: missing.raw cannot be read (ENOENT: no such file or directory): name an existing image.',
  ],
  [
    ['demo', '--freebsd', 'ppsgate.yml', '--kernels'],
    '--kernels: with --freebsd, name two kernels of FreeBSD, base first, separated by a comma.',
  ],
  [
    ['demo', '--freebsd', 'ppsgate.yml', '--bisect'],
    '--freebsd: virtual machines judge patches; drop it, or --bisect.',
  ],
  [
    ['demo', '--design', 'sequential'],
    '--design: expected one of fixed, group-sequential, found "sequential"; did you mean `group-sequential`?',
  ],
  [['init', '--runner', 'x'], '--runner: expected ubuntu-latest, or labels like self-hosted,lab, found "x".'],
] as const)('ppsgate %j reports what is wrong', ([words, sentence]) => {
  expect(run(words)).toEqual({
    status: 2,
    stdout: '',
    stderr: `ppsgate: ${sentence.replace('HERE', here).replace('ID', headId)}\n`,
  });
  expect(readdirSync(here).toSorted()).toEqual(['.git', 'dut', 'kernels', 'ppsgate.yml']);
});

test('options from the Jenkins library are called as in its step', () => {
  const called = { PPSGATE_WORDS: '--max-runs=many' };
  expect(run([...range, '--max-runs=many'], called).stderr).toBe(
    'ppsgate: maxRuns: expected a whole number from 2 to 10000, found "many".\n',
  );
});

function run(words: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const cli = join(inject('bundle'), 'cli.js');
  const env = { ...process.env, HOME: here, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
    cwd: here,
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}
