// The command `ppsgate flamegraph` as a process: its input, output and exit codes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readXml } from '../../fakes/xml.ts';

const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);

const callGraph = [
  '@ CPU_CLK_UNHALTED_CORE [400 samples]',
  '',
  '75.00%  [300]      pf_test @ /boot/kernel/pf.ko',
  ' 100.0%  [300]       ip_input @ /boot/kernel/kernel',
  '',
  '25.00%  [100]      cpu_idle @ /boot/kernel/kernel',
  ' 100.0%  [100]       fork_exit',
];
write('pmc.graph', callGraph);
write('told.graph', ['# kernel: FreeBSD 15.0-CURRENT <GENERIC>', ...callGraph]);
write('other.graph', ['@ LLC_MISSES [2 samples]', '', '100.0%  [2]      f @ /boot/kernel/kernel']);
write('base.stack', ['ip_input;pf_test 1', 'ip_input;ipfw_chk 3']);
write('idle.stack', ['fork_exit;sched_idletd;cpu_idle 7']);
write('none.txt', ['no profile']);

test('writes an SVG without idle stacks, and prints the omitted share', () => {
  const { stdout, stderr, status } = run(['pmc.graph', '-o', 'pmc.svg']);
  expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: '', status: 0 });
  const svg = readFileSync(join(folder, 'pmc.svg'), 'utf8');
  expect(labelOf(svg)).toBe('pmc.graph: 300 samples of CPU_CLK_UNHALTED_CORE · idle left out: cpu_idle (25 %)');
  expect(svg).toContain('<title>pf_test\npf.ko · 300 samples, 100.00 %</title>');
  expect(svg).not.toContain('<title>cpu_idle');
});

test('draws idle processors on request, and compares with a base', () => {
  const { stdout, status } = run(['--idle', 'pmc.graph', '--base', 'base.stack']);
  expect(status).toBe(0);
  expect(labelOf(stdout)).toBe('pmc.graph against base.stack: 400 samples of CPU_CLK_UNHALTED_CORE; base: 4 samples');
  expect(stdout).toContain('<title>cpu_idle\n');
});

test.each([
  [['none'], 'Cannot read none: no such file or directory; name a profile.'],
  [['idle.stack'], 'idle.stack: all samples are of idle CPUs; draw them with --idle.'],
  [['-', '--base', '-'], '--base: standard input already supplies the profile; name a file.'],
  [
    ['base.stack', '-o', 'no/such/folder.svg'],
    '--output: cannot write no/such/folder.svg: no such file or directory; name another file.',
  ],
])('refuses %j with a sentence and exit code 2', (args, sentence) => {
  expect(run(args)).toMatchObject({ stdout: '', stderr: `ppsgate: ${sentence}\n`, status: 2 });
});

test('refuses to draw onto a terminal', () => {
  expect(run(['base.stack'], '', 'process.stdout.isTTY = true;')).toMatchObject({
    stdout: '',
    stderr: 'ppsgate: --output: a terminal cannot show a flamegraph; name a file, as -o OUT.svg.\n',
    status: 2,
  });
});

const labelOf = (svg: string): string | undefined => readXml(svg.trim()).attributes['aria-label'];

function run(args: readonly string[], input = '', first = '') {
  const source = (path: string) => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href);
  const entry = `
    import { makeProgram } from ${source('src/cli/program.ts')};
    ${first}
    await makeProgram().parseAsync().catch(({ exitCode }) => process.exit(exitCode));`;
  const flags = ['--input-type=module', '-e', entry, '--', 'flamegraph'];
  return spawnSync(process.execPath, [...flags, ...args], { cwd: folder, encoding: 'utf8', input });
}
