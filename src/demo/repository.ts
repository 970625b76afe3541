// The demo's own small repository: a router's rules and settings, and three patches whose effect is known.
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CellVerdict } from '../words/result.ts';

/** How a patch must come out, or the demo has failed. */
type Expectation = CellVerdict['kind'] | 'does-not-load';

export type DemoPatch = { branch: string; title: string; expected: Expectation };

/** The branch that the patches start from. */
export const baseBranch = 'main';

export const demoPatches: readonly DemoPatch[] = [
  {
    branch: 'comment-the-rules',
    title: 'Say what the early chain is for',
    expected: 'no-regression',
  },
  {
    branch: 'guard-protocol-254',
    title: 'Look sixteen times more for protocol 254',
    expected: 'regression',
  },
  {
    branch: 'guard-udp',
    title: 'Guard against a protocol that nft does not know',
    expected: 'does-not-load',
  },
];

export const demoConfig = `# The demo's lab is this machine, and its noise is that of a shared machine: hence the wide margin, and
# the CPU time per packet as the metric.
testbeds:
  this-machine:
    kind: embedded-linux
scenarios: [forwarding, nftables-stateless, nftables-stateful]
families: [inet4]
gate:
  metric: nsPerPacket
  margin: 5%
  falseAlarms: 0.2%
history: ../history.jsonl
`;

const sysctlConf = `# A router tells nobody of a shorter way.
net.ipv4.conf.all.send_redirects = 0
`;

/** A rule that never matches costs some 12 ns. */
const noOpRules = (count: number): string[] =>
  new Array<string>(count).fill('    meta l4proto 254 drop');

/** The router has rules enough to be much slower than the sender, which would be measured otherwise. */
const baseRules = noOpRules(60);

const nftablesConf = (rules: string[]): string =>
  [
    'table inet router {',
    '  chain early {',
    '    type filter hook prerouting priority raw; policy accept;',
    ...rules,
    '  }',
    '}',
    '',
  ].join('\n');

const rulesOf: Record<string, string[]> = {
  [baseBranch]: baseRules,
  'comment-the-rules': ['    # Whatever must not even be tracked is dropped here.', ...baseRules],
  'guard-protocol-254': [...baseRules, ...noOpRules(16)],
  'guard-udp': [...baseRules, '    meta l4proto upd drop'],
};

/** Makes the repository, whole or not at all: `main`, and a branch for each patch. */
export async function makeDemoRepository(finalDirectory: string): Promise<void> {
  const directory = `${finalDirectory}.part`;
  await rm(directory, { recursive: true, force: true });
  const commit = async (branch: string, message: string): Promise<void> => {
    await writeFile(join(directory, 'dut/nftables.conf'), nftablesConf(rulesOf[branch] ?? []));
    await git(directory, 'add', '.');
    await git(directory, 'commit', '--quiet', '--message', message);
  };

  await mkdir(join(directory, 'dut'), { recursive: true });
  await git(directory, 'init', '--quiet', `--initial-branch=${baseBranch}`);
  await writeFile(join(directory, 'ppsgate.yml'), demoConfig);
  await writeFile(join(directory, 'dut/sysctl.conf'), sysctlConf);
  await commit(baseBranch, 'Route between two networks');
  for (const { branch, title } of demoPatches) {
    await git(directory, 'switch', '--quiet', '--create', branch, baseBranch);
    await commit(branch, title);
  }
  await git(directory, 'switch', '--quiet', baseBranch);
  await rename(directory, finalDirectory);
}

/** Without the settings of whoever runs it, and at one date, so that the commits are the same everywhere. */
async function git(directory: string, ...args: string[]): Promise<void> {
  const identity = ['-c', 'user.name=ppsgate demo', '-c', 'user.email=demo@ppsgate.invalid'];
  const date = '2026-01-01T00:00:00Z';
  const surroundings = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  await promisify(execFile)('git', ['-C', directory, ...identity, ...args], {
    env: { ...process.env, ...surroundings },
  });
}
