// The command `ppsgate changes` as a process.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../fakes/folder.ts';

const line = (nightlyRun: number): string => {
  const level = nightlyRun < 30 ? 1_000_000 : 950_000;
  return `n${nightlyRun} ${level + ((nightlyRun * 7) % 5) * 1000}\n`;
};
const nightly = Array.from({ length: 50 }, (_, nightlyRun) => line(nightlyRun)).join('');

test('shows the series as a sparkline, and each change with its levels', () => {
  const { stdout, status } = run(nightly, []);
  expect(status).toBe(0);
  const [head, bars = '', change, ...rest] = stdout.split('\n');
  expect(head).toMatch(/nightly\.txt: 50 nightly runs, n0 to n49$/);
  expect(bars.trim()).toMatch(/^[▆▇█]{30}[▁▂▃]{20}$/);
  expect(change).toBe('  n30  −4.99 %  1,002,000 → 952,000');
  expect(rest).toEqual(['']);
});

test('prints the changes as JSON', () => {
  expect(JSON.parse(run(nightly, ['--json']).stdout)).toEqual({
    changes: [
      {
        series: expect.stringMatching(/nightly\.txt$/),
        name: 'n30',
        index: 30,
        before: 1_002_000,
        after: 952_000,
        changeRatio: expect.closeTo(-0.0499, 4),
      },
    ],
  });
});

test.each([
  ['', [], 'There is no nightly run in'],
  ['n1 fast\n', [], 'expected a name and values above 0'],
  [nightly, ['--least', '2'], '--least: expected a percentage like 2%'],
  [nightly, ['--least', '60%'], '--least: expected a percentage from 0.1% to 50%'],
])('refuses %j with %j by a sentence and exit code 2', (text, options, sentence) => {
  const { stdout, stderr, status } = run(text, options);
  expect(stderr).toContain(sentence);
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 });
});

test('shows a name of a nightly run on one line, with any characters in it', () => {
  const hostile = nightly.replace('n30 ', 'n30\u001b[31m\u0007 ');
  const { stdout } = run(hostile, []);
  expect(stdout).toContain('  n30 [31m');
  expect(stdout).not.toContain('\u001b');
});

function run(text: string, options: readonly string[]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'nightly.txt'), text);
  const program = join(import.meta.dirname, '../../../src/cli.ts');
  const args = [program, 'changes', join(folder, 'nightly.txt'), ...options];
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  return spawnSync(process.execPath, args, { encoding: 'utf8', env });
}
