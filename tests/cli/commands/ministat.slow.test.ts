// The command `ppsgate ministat` as a process: its input, output and exit codes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'base'), '12\n19\n15\n15\n13\n');
writeFileSync(join(folder, 'patched'), 'x,14\nx,23\nx,19\nx,19\n');

test('summarizes a file in a plot of 74 columns where standard output is no terminal', () => {
  const { stdout, stderr, status } = run(['base']);
  expect(stdout.split('\n').slice(0, 2)).toEqual(['x base', `+${'-'.repeat(74)}+`]);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

test('reads standard input where no file or - is named', () => {
  expect(run(['-n'], '1\n2\n3\n').stdout).toMatch(/^x <stdin>\n.*\nx {3}3 {13}1 /);
  expect(run(['-n', '-'], '1\n2\n3\n').stdout).toMatch(/^x -\n.*\nx {3}3 {13}1 /);
});

test('accepts ministat’s flags together and apart', () => {
  expect(run(['-nqC', '2', '-d,', 'patched']).stdout).toBe(
    'x   4            14            23            19         18.75     3.6855574\n',
  );
  expect(run(['-sw', '10', '-c80', 'base']).stdout).toContain(`\n+${'-'.repeat(10)}+\n`);
  expect(run(['-qAP', 'base']).stdout).toMatch(/ 2\.4\n$/);
});

test('prints the numbers as JSON', () => {
  const answer: unknown = JSON.parse(run(['--json', '-c', '99.5', 'base', 'base']).stdout);
  expect(answer).toMatchObject({
    confidencePercent: 99.5,
    summaries: [{ name: 'base', n: 5, median: 15 }, { average: 14.8 }],
    differences: [{ name: 'base', difference: 0, significant: false }],
  });
});

function run(args: readonly string[], input = '') {
  const ministat = [join(inject('bundle'), 'cli.js'), 'ministat'];
  return spawnSync(process.execPath, [...ministat, ...args], { cwd: folder, encoding: 'utf8', input });
}
