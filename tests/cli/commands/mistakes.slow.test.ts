// Mistakes at a shell, in a repository with a ppsgate.yml: each is reported on stderr alone, and exits with 2.
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

/** Words with spaces, and empty ones, are in quotes. */
const mistakes = `
analyze . --false-alarms -1%
analyze /nonexistent
analyze /proc/self/fdinfo
badge --repository a/b --branch ''
badge --repository router
badge --repository a/b --testbed labb
bisect --patch main..my-branch
bisect --bad HEAD
bisect --good main
bisect --good v9 --bad HEAD
bisect --good my-branch --bad main
bisect --good main --bad my-branch --family inet4,inet6
bisect --good main --bad my-branch --frame-size 64
bisect --good main --bad my-branch --max-boots 2
bisect --good main --bad my-branch --testbed mars
bisect --from nowhere
bisect --resume nowhere
comment '/ppsgate run'
comment hello --dry-run
comment '/ppsgate run' --dry-run --role admin
comment '/ppsgate run' --dry-run --pull-request 7
compare dut/nftables.conf kernels
demo --kernels ppsgate.yml,ppsgate.yml
demo --freebsd ppsgate.yml --kernels ppsgate.yml,ppsgate.yml
demo --freebsd
demo --freebsd ppsgate.yml --bisect
demo --design sequential
gaet
gate --patch ''
gate --patch main
gate --patch my-branch
gate --patch mian..my-branch
gate --patch D123
gate --patch main..my-branch --repository https://github.com/example/router
gate --patch main..my-branch --config none.yml
gate --patch main..my-branch --margin x --json
gate --patch main..my-branch --max-runs many
gate --patch main..my-branch --priority high
gate --patch main..my-branch --testbed 'far away'
gate --patch main..my-branch --earlier all
gate --patch main..my-branch --base-kernel k
gate --patch main..my-branch --testbed lab --base-kernel dut/nftables.conf --patched-kernel ppsgate.yml
gate --patch main..my-branch --config kernels/guests.yml --base-kernel dut/nftables.conf --patched-kernel ppsgate.yml
gate --patch main..my-branch --directory ppsgate.yml
gate --patch main..my-branch --margin 2 %
gate --patch main..my-branch --each lab,labb
gate --pach x
init --runner x
init --action example/ppsgate@v1
init --action example/ppsgate@0123456789abcdef0123456789abcdef012345670
init --runner 'self-hosted,] x: y'
init --branch 'release/**'
init --kind netbsd
init --image https://download.example.org/FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz
init --kind freebsd --image freebsd.raw --sha512 ab
init --kind freebsd --image https://download.example.org/FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz --sha512 abc
ministat none
ministat -c 97 ppsgate.yml
ministat -d '' ppsgate.yml
fold none
nightly
nightly --data /proc/nightly --commit mian
nightly --data ppsgate.yml
phabricator check
poll --every -10
quarantine nope
quarantine lab
quarantine lab --reason x --lift
release --directory gone
release
release lab --directory .
release lab
release labb --force
report dut/nftables.conf
reserve '' -- true
reserve lab
reserve 'mellanox and' -- true
site
testbeds self-test rack --config kernels/rack.yml --base-kernel dut/nftables.conf
testbeds check
testbeds self-test lab
testbeds self-test far --skip hang,everything
testbeds log labb
testbeds health lab labb
`;

test('each mistake is reported in its own words, and does nothing', async () => {
  const lines = mistakes.trim().split('\n');
  const words = lines.map((line) => (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')));
  const program = JSON.stringify(new URL('../../../src/cli/program.ts', import.meta.url).href);
  // One process for all: only what a command throws and prints counts here.
  const runAll = `
    const { makeProgram } = await import(${program});
    const print = process.stdout.write.bind(process.stdout);
    const ends = [];
    for (const words of ${JSON.stringify(words)}) {
      const end = { status: 0, stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr']) process[name].write = (text) => { end[name] += text; return true; };
      await makeProgram().parseAsync(words, { from: 'user' }).catch(() => { process.exitCode = 2; });
      ends.push({ ...end, status: process.exitCode });
    }
    print(JSON.stringify(ends), () => process.exit(0));`;
  const { stdout, stderr } = run(['--input-type=module', '--eval', runAll]);
  const ends: { status: number; stdout: string; stderr: string }[] = JSON.parse(stdout || stderr);
  expect(ends.flatMap(({ status, stdout }, index) => (status === 2 && stdout === '' ? [] : lines[index]))).toEqual([]);
  const masked = (text: string) => text.replaceAll(here, 'HERE').replace(headId, 'ID');
  const texts = ends.map(({ stderr }, index) => `$ ppsgate ${lines[index]}\n${masked(stderr)}`);
  await expect(texts.join('')).toMatchFileSnapshot('golden/mistakes.txt');
  // Some look into the store first.
  const left = readdirSync(here).filter((name) => !name.startsWith('reservations.sqlite'));
  expect(left.toSorted()).toEqual(['.git', 'dut', 'kernels', 'ppsgate.yml']);
});

test('options from the Jenkins library are called as in its step', () => {
  const cli = join(inject('bundle'), 'cli.js');
  const words = ['gate', '--patch', 'main..my-branch', '--max-runs=many'];
  expect(run([cli, ...words], { PPSGATE_WORDS: '--max-runs=many' })).toEqual({
    status: 2,
    stdout: '',
    stderr: 'ppsgate: maxRuns: expected a whole number from 2 to 10000, found "many".\n',
  });
});

function run(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, HOME: here, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: here, encoding: 'utf8', env });
  return { status, stdout, stderr };
}
