// Creates the demo's small repositories: a router's rules and settings, and patches or commits of known effect.
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CellVerdict } from '../../model/result.ts';

type Expectation = CellVerdict['kind'] | 'does-not-load';

export type DemoPatch = {
  branch: string;
  title: string;
  /** Absent: unknown beforehand, only reported. */
  expected?: Expectation;
  /** The patch changes kernels instead of the branch's files. */
  boots?: true;
};

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

const sysctlConf = `# A router sends no redirects.
net.ipv4.conf.all.send_redirects = 0
`;

/** A rule that never matches costs about 12 ns. */
const noOpRules = (count: number): string[] => new Array<string>(count).fill('    meta l4proto 254 drop');

/** Enough rules to make the router slower than the sender, which would otherwise be measured. */
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
  'comment-the-rules': ['    # Packets that must not even be tracked are dropped here.', ...baseRules],
  'guard-protocol-254': [...baseRules, ...noOpRules(16)],
  'guard-udp': [...baseRules, '    meta l4proto upd drop'],
};

export const virtualDemoPatches: readonly DemoPatch[] = [
  { branch: 'one-rule-more', title: 'Look for protocol 254', expected: 'regression' },
  { branch: 'newer-kernel', title: 'Boot the newer kernel', boots: true },
];

/** Guests boot `kernel` if a patch changes only files. */
export const virtualDemoConfig = (kernel: string): string => `testbeds:
  this-machine:
    kind: virtual
    kernel: ${JSON.stringify(kernel)}
scenarios: [forwarding]
families: [inet4]
history: ../history.jsonl
`;

export const makeVirtualDemoRepository = (finalDirectory: string): Promise<void> =>
  makeRepository(finalDirectory, async (commit, git) => {
    await commit('Route between two networks', '# Nothing is filtered yet.\n');
    for (const { branch, title } of virtualDemoPatches) {
      await git('switch', '--quiet', '--create', branch, baseBranch);
      const isRule = branch === 'one-rule-more';
      await commit(title, isRule ? nftablesConf(noOpRules(1)) : '# Nothing is filtered at all.\n');
    }
    await git('switch', '--quiet', baseBranch);
  });

export const freebsdDemoPatches: readonly DemoPatch[] = [
  { branch: 'filter-with-pf', title: 'Filter with pf', expected: 'regression' },
  { branch: 'patched-kernel', title: 'Boot the patched kernel', boots: true },
];

/** Guests boot the image's own kernel if a patch changes only files. */
export const freebsdDemoConfig = (image: string): string => `testbeds:
  this-machine:
    kind: virtual
    image: { path: ${JSON.stringify(image)} }
scenarios: [forwarding]
families: [inet4]
history: ../history.jsonl
`;

export const makeFreebsdDemoRepository = (finalDirectory: string): Promise<void> =>
  makeRepository(
    finalDirectory,
    async (commit, git) => {
      await commit('Route between two networks', undefined);
      for (const { branch, title, boots } of freebsdDemoPatches) {
        await git('switch', '--quiet', '--create', branch, baseBranch);
        await commit(title, boots ? undefined : 'set skip on lo0\npass\n');
      }
      await git('switch', '--quiet', baseBranch);
    },
    'dut/pf.conf',
  );

/** Creates `main` and a branch per patch, atomically. */
export const makeDemoRepository = (finalDirectory: string): Promise<void> =>
  makeRepository(finalDirectory, async (commit, git) => {
    await commit('Route between two networks', nftablesConf(rulesOf[baseBranch] ?? []));
    for (const { branch, title } of demoPatches) {
      await git('switch', '--quiet', '--create', branch, baseBranch);
      await commit(title, nftablesConf(rulesOf[branch] ?? []));
    }
    await git('switch', '--quiet', baseBranch);
  });

/** Later commits of the bisection's repository: subject, and edit of the router's rules. */
type DemoCommit = { subject: string; edit(rules: readonly string[]): string[] };

export const culpritSubject = 'Look sixteen times more for protocol 254';
const unknownProtocol = '    meta l4proto upd drop';

const commitOf = (subject: string, remark: string): DemoCommit => ({
  subject,
  edit: (rules) => [`    # ${remark}`, ...rules],
});

/** 24 commits: one costs packets, two do not load, and one fixes these; the others cost nothing. */
export const bisectCommits: readonly DemoCommit[] = [
  commitOf('Say what the early chain is for', 'Packets that must not even be tracked are dropped here.'),
  commitOf('Say where the rules come from', 'The list is that of the addendum.'),
  commitOf('Name the people who mind the rules', 'Ask routing@example.net.'),
  commitOf('Say how often the rules are looked at', 'Looked at each spring.'),
  commitOf('Say what protocol 254 is', 'Protocol 254 is for experiments.'),
  commitOf('Point to the register of protocols', 'See /etc/protocols.'),
  {
    subject: 'Guard against datagrams of no port',
    edit: (rules) => [...rules, unknownProtocol],
  },
  commitOf('Say who asked for the guard', 'The guard is by request.'),
  {
    subject: 'Drop the guard that nft does not know',
    edit: (rules) => rules.filter((rule) => rule !== unknownProtocol),
  },
  commitOf('Say why there is no guard', 'No guard: see the log.'),
  commitOf('Say what is done by hand', 'Sets are filled by hand.'),
  commitOf('Say when the router was set up', 'Set up in the year of the move.'),
  commitOf('Say what happens on a restart', 'A restart loses no state.'),
  commitOf('Say where the states are', 'States are in the kernel.'),
  commitOf('Say what the policy is', 'What is not dropped is accepted.'),
  { subject: culpritSubject, edit: (rules) => [...rules, ...noOpRules(16)] },
  commitOf('Say what the rules cost', 'A rule costs about 12 ns.'),
  commitOf('Say how to try a change', 'Try a change in a namespace first.'),
  commitOf('Say how to read the counters', 'Counters: nft list ruleset.'),
  commitOf('Say what to do at night', 'At night call the desk.'),
  commitOf('Say what the desk knows', 'The desk knows the passwords.'),
  commitOf('Say what is not here', 'Addresses are elsewhere.'),
  commitOf('Say what else is not here', 'Names are elsewhere, too.'),
  commitOf('Say that this is all', 'That is all.'),
];

/** Creates `main` for the bisection, atomically: the first commit is good, the last is bad. */
export const makeBisectRepository = (finalDirectory: string): Promise<void> =>
  makeRepository(finalDirectory, async (commit) => {
    let rules = baseRules;
    await commit('Route between two networks', nftablesConf(rules));
    for (const { subject, edit } of bisectCommits) {
      rules = edit(rules);
      await commit(subject, nftablesConf(rules));
    }
  });

type Git = (...args: string[]) => Promise<void>;

async function makeRepository(
  finalDirectory: string,
  fill: (commit: (message: string, rules: string | undefined) => Promise<void>, git: Git) => Promise<void>,
  rulesPath = 'dut/nftables.conf',
): Promise<void> {
  const directory = `${finalDirectory}.part`;
  await rm(directory, { recursive: true, force: true });
  await mkdir(join(directory, 'dut'), { recursive: true });
  const git = gitIn(directory);
  await git('init', '--quiet', `--initial-branch=${baseBranch}`);
  await writeFile(join(directory, 'ppsgate.yml'), demoConfig);
  if (rulesPath === 'dut/nftables.conf') {
    await writeFile(join(directory, 'dut/sysctl.conf'), sysctlConf);
  }
  await fill(async (message, rules) => {
    if (rules !== undefined) await writeFile(join(directory, rulesPath), rules);
    await git('add', '.');
    await git('commit', '--quiet', '--allow-empty', '--message', message);
  }, git);
  await rename(directory, finalDirectory);
}

/** Runs git without the user's settings and with one date, so that the commits are the same everywhere. */
function gitIn(directory: string): Git {
  const identity = ['-c', 'user.name=ppsgate demo', '-c', 'user.email=demo@ppsgate.invalid'];
  const date = '2026-01-01T00:00:00Z';
  const surroundings = {
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  return async (...args) => {
    await promisify(execFile)('git', ['-C', directory, ...identity, ...args], {
      env: { ...process.env, ...surroundings },
    });
  };
}
