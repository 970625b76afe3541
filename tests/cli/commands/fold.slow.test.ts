// The command `ppsgate fold` as a process: its input, output and exit codes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fold = [join(inject('bundle'), 'cli.js'), 'fold'];

const graph = `# kernel: FreeBSD 15.0
@ cycles [10 samples]

80.00%  [8]        ip_input @ /boot/kernel/kernel
 100.0%  [8]         t4_intr @ /boot/kernel/if_cxgbe.ko

20.00%  [2]        cpu_idle @ /boot/kernel/kernel
 100.0%  [2]         sched_idletd

`;
writeFileSync(join(folder, 'pmc.graph'), graph);
const idleNote = 'omitted as idle: 2 of 10 samples (20 %), in sched_idletd, cpu_idle.';

const folded = 'main;read 12\n';
const modules = 'if_cxgbe.ko`t4_intr;kernel`ip_input 8\nkernel`sched_idletd;kernel`cpu_idle 2\n';

test.each<[string[], string, string, string]>([
  [['pmc.graph'], '', 't4_intr;ip_input 8\nsched_idletd;cpu_idle 2\n', ''],
  [[], folded, folded, ''],
  [['-'], folded, folded, ''],
  [['--no-idle', 'pmc.graph'], '', 't4_intr;ip_input 8\n', idleNote],
  [['--no-idle'], folded, folded, 'no sample is of an idle CPU, so none is omitted.'],
  [['--modules', 'pmc.graph'], '', modules, ''],
  [[], graph.slice(0, -30), 't4_intr;ip_input 8\ncpu_idle 2\n', 'standard input looks cut short'],
])('prints the stacks with %j', (args, input, stdout, note) => {
  const told = run(args, input);
  expect(told).toMatchObject({ stdout, status: 0 });
  expect(told.stderr).toMatch(note === '' ? /^$/ : /^ppsgate: /);
  expect(told.stderr).toContain(note);
});

test('prints everything in the profile as JSON, and the omitted idle stacks', () => {
  expect(JSON.parse(run(['--json', 'pmc.graph']).stdout)).toEqual({
    format: 'pmcstat',
    event: 'cycles',
    kernel: 'FreeBSD 15.0',
    samples: 10,
    notes: [],
    stacks: [
      { frames: ['t4_intr', 'ip_input'], samples: 8 },
      { frames: ['sched_idletd', 'cpu_idle'], samples: 2 },
    ],
  });
  expect(JSON.parse(run(['--json', '--no-idle', '--modules', 'pmc.graph']).stdout)).toMatchObject({
    samples: 8,
    notes: [idleNote],
    idle: { samples: 2, frames: ['sched_idletd', 'cpu_idle'] },
    stacks: [{ frames: ['if_cxgbe.ko`t4_intr', 'kernel`ip_input'], samples: 8 }],
  });
});

test.each([
  [['none'], '', 'Cannot read none: no such file or directory; name a profile.'],
  [['.'], '', 'Cannot read .: illegal operation on a directory; name a profile.'],
  [[], 'PERFILE2\0', 'standard input is a recording of perf; print it with perf script'],
  [[], 'a;b 1\nc\n', 'standard input, line 2: "c" is no folded stack like "main;read 12"'],
])('refuses %j of %j with a sentence and exit code 2', (args, input, sentence) => {
  const { stdout, stderr, status } = run(args, input);
  expect(stderr).toContain(`ppsgate: ${sentence}`);
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 });
});

test('ends quietly when its reader has seen enough', () => {
  const line = `${'frame;'.repeat(20)}leaf 1\n`;
  writeFileSync(join(folder, 'long.stack'), line.repeat(20_000));
  const script = '"$0" "$@" | head -n 1; echo "$PIPESTATUS"';
  const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, ...fold, 'long.stack'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: `${line}0\n`, stderr: '' });
});

function run(args: readonly string[], input = '') {
  return spawnSync(process.execPath, [...fold, ...args], { cwd: folder, encoding: 'utf8', input });
}
