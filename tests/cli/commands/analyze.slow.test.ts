// Tests the input, output and exit codes of `ppsgate analyze`.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { gate } from '../../../src/gate/gate.ts';
import { unshared } from '../../../src/lab/testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { memoryHistory } from '../../fakes/history.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';
import { aConfig } from '../../fakes/plan.ts';
import { pullRequest } from '../../fakes/result.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';

const cli = join(inject('bundle'), 'cli.js');

const analyze = (...args: string[]) => spawnSync(process.execPath, [cli, 'analyze', ...args], { encoding: 'utf8' });

/** Five runs a set, at these rates. */
function benches(sets: Readonly<Record<string, number>>): string {
  const folder = temporaryFolder();
  for (const [label, pps] of Object.entries(sets)) {
    for (const run of [1, 2, 3, 4, 5]) {
      const rate = pps * (1 + run / 1000);
      writeFileSync(join(folder, `bench.${label}.${run}.receiver`), madeLog({ pps: trial(rate, 30) }));
    }
  }
  return folder;
}

test('prints sets, verdicts and ministat’s block, and exits by the worst verdict', () => {
  const slower = analyze(benches({ r1: 5e6, r2: 4e6 }));
  expect(slower.status).toBe(1);
  expect(slower.stdout).toContain('r1: 5 of 5 runs count\n  bench.r1.1.receiver  5.005 Mpps, 30 s');
  expect(slower.stdout).toMatch(/^r2 against r1: regression, −20\.0 % \(95 % interval −20\.\d … −19\.\d\)$/m);
  expect(slower.stdout).toContain('Difference at 95.0% confidence');
  expect(analyze(benches({ r1: 5e6, r2: 5e6 })).status).toBe(0);
});

test('a single variant is shown, with a note', () => {
  const { stdout, stderr, status } = analyze(benches({ r1: 5e6 }));
  expect(stdout).toContain('r1: 5 of 5 runs count');
  expect(stderr).toContain('There is nothing to compare');
  expect(status).toBe(2);
});

test('a base that is in no set is refused', () => {
  const { stderr, status } = analyze('--base', 'r9', benches({ r1: 5e6, r2: 4e6 }));
  expect(status).toBe(2);
  expect(stderr).toMatch(/^ppsgate: --base: .* has no set r9\.$/m);
});

test('a work directory of a gate is judged again from what it holds, which stays as it is', async () => {
  const directory = temporaryFolder();
  await gate({ patch: pullRequest, config: aConfig(), testbeds: ['fake'], seed: 5 }, directory, {
    repository: {
      resolve: async (name) => name,
      mergeBase: async (first) => first,
      pathOf: async ({ path }) => path,
      list: async (commit) => [{ path: 'nftables.conf', mode: '100644', object: commit }],
      entriesAt: async () => [],
      read: async (object) => `# ${object}\n`,
      changedPaths: async () => ['dut/nftables.conf'],
      idAt: async () => undefined,
      diff: async () => Buffer.from(''),
      describe: async () => ({ subject: 'A patch', author: 'alice' }),
    },
    reserve: async ([name = '']) => unshared(name, async () => fakeTestbed({ speed: () => 0.8 })),
    history: memoryHistory(),
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent: () => {},
    signal: new AbortController().signal,
  });
  const files = readdirSync(directory);
  const { stdout, stderr, status } = analyze(directory);
  expect(status).toBe(1);
  expect(stdout).toContain('### 🔴 ppsgate: #7 ');
  expect(stderr).toContain('the logs of 1 trials cannot be read again');
  expect(JSON.parse(analyze('--json', directory).stdout)).toMatchObject({
    sets: [{ label: 'base.forwarding.inet4' }, { label: 'patched.forwarding.inet4' }],
    comparisons: [{ verdict: 'regression' }],
  });
  expect(readdirSync(directory)).toEqual(files);
});
