// The command `ppsgate simulate` as a process: its input, output and exit codes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { describeWith, sharedFolder } from '../../needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const quiet = '{"pps": [1000, 1004, 997, 1001, 999]}';
const wild = '{"pps": [1000, 1200, 800, 1100, 950]}';
writeFileSync(join(folder, 'quiet'), `${quiet}\n`);
writeFileSync(join(folder, 'empty'), '\n');
writeFileSync(join(folder, 'binary'), Buffer.from([0, 255, 10, 128, 7]));
writeFileSync(join(folder, 'short'), '{"pps": [1000]}\n');

test('prints one row as JSON for each design and change, and nothing else', () => {
  const { stdout, stderr, status } = run(['--noise', '1%', '--experiments', '50', '--json']);
  // A busy machine needs two seconds, and prints progress.
  expect(stderr).toMatch(/^(?:\d+ of 8: \S+ at \S+ %?\n)*$/);
  expect(status).toBe(0);
  const { rows } = z.strictObject({ rows: z.array(rowSchema) }).parse(JSON.parse(stdout));
  expect(rows.map(({ design, effect }) => [design, effect])).toEqual(
    ['fixed', 'group-sequential'].flatMap((design) => [0, -0.01, -0.02, -0.5].map((effect) => [design, effect])),
  );
});

test('prints all four outcomes of a row as shares of one whole', () => {
  const sums = rowsOf(['--noise', '2%']).map(
    ({ regression, noRegression, improvement, inconclusive }) => regression + noRegression + improvement + inconclusive,
  );
  expect(sums).toEqual(Array(8).fill(expect.closeTo(1, 12)));
});

test('uses half the margin and the margin if no changes are given', () => {
  const rows = rowsOf(['--noise', '1%', '--design', 'fixed', '--margin', '5%']);
  expect(rows.map((row) => row.effect)).toEqual([0, -0.025, -0.05, -0.5]);
});

test('accepts changes with either minus sign, a plus sign and none', () => {
  const rows = rowsOf(['--noise', '1%', '--design', 'fixed', '--effects', '0, -1%,−1.5%,+2%,3%']);
  expect(rows.map((row) => row.effect)).toEqual([0, -0.01, -0.015, 0.02, 0.03]);
});

test('finds half of the packets lost in every experiment', () => {
  const rows = rowsOf(['--noise', 'quiet', '--effects', '-50%']);
  expect(rows.map((row) => row.regression)).toEqual([1, 1]);
});

test('prints the same rows for the same seed, and others for another', () => {
  const args = ['--noise', '1%', '--seed'];
  expect(rowsOf([...args, '7'])).toEqual(rowsOf([...args, '7']));
  expect(rowsOf([...args, '7'])).not.toEqual(rowsOf([...args, '8']));
});

test('counts the runs of both variants, and the time in the lab by them', () => {
  const fixed = ['--noise', '1%', '--design', 'fixed', '--effects', '0', '--max-runs', '6'];
  const runs = { meanRuns: 12, p95Runs: 12 };
  expect(rowsOf(fixed)).toMatchObject([{ ...runs, meanMinutes: (12 * (240 + 68)) / 60 }]);
  expect(rowsOf([...fixed, '--reboot', '90 s', '--traffic', '30 s'])).toMatchObject([{ ...runs, meanMinutes: 24 }]);
});

test('shows what builds that differ do to false alarms, with several layouts and with one', () => {
  const known = ['--noise', '0.6%', '--design', 'group-sequential', '--history', '10'];
  const builds = [...known, '--effects', '0', '--cells', '12', '--build-noise', '0.5%'];
  const [[one], [several]] = [rowsOf(builds), rowsOf([...builds, '--layout-variants', '8'])];
  expect(one?.patchRegression).toBeGreaterThan(0.1);
  expect(several?.patchRegression).toBeLessThan(0.1);
  const { stdout } = run([...builds, '--layout-variants', '8', '--experiments', '50']);
  expect(stdout).toContain(', build noise 0.5 %, each kernel linked 8 times, ');
});

test('needs fewer runs with a history than without', () => {
  const args = ['--noise', '1%', '--design', 'group-sequential', '--effects', '0'];
  const [[without], [known]] = [rowsOf(args), rowsOf([...args, '--history', '10'])];
  expect(known?.meanRuns).toBeLessThan(without?.meanRuns ?? 0);
});

test('includes patches as soon as they have several cells', () => {
  const design = ['--design', 'group-sequential', '--false-alarms', '20%'];
  const args = ['--noise', '1%', ...design, '--effects', '0'];
  expect(rowsOf(args)[0]).not.toHaveProperty('patchRegression');
  const row = rowsOf([...args, '--cells', '3'])[0];
  expect(row?.patchRegression).toBeGreaterThan(row?.regression ?? 1);
});

test('raises more false alarms if more are permitted', () => {
  const args = ['--noise', '3%', '--design', 'group-sequential', '--effects', '0'];
  const rate = (asked: string) => rowsOf([...args, '--false-alarms', asked])[0]?.regression ?? 0;
  expect(rate('1%')).toBeLessThan(rate('10%'));
});

test('misses fewer losses of the margin with more power', () => {
  const args = ['--noise', '2%', '--design', 'group-sequential', '--effects', '-2%'];
  const rate = (asked: string) => rowsOf([...args, '--power', asked])[0]?.noRegression ?? 0;
  expect(rate('99%')).toBeLessThan(rate('80%'));
});

test('omits sets that are noisier than requested', () => {
  writeFileSync(join(folder, 'mixed'), `${wild}\n${quiet}\n${wild}\n`);
  const [left, alone, mixed] = [
    rowsOf(['--noise', 'mixed', '--max-cv', '1%']),
    rowsOf(['--noise', 'quiet']),
    rowsOf(['--noise', 'mixed']),
  ];
  expect(left).toEqual(alone);
  expect(left).not.toEqual(mixed);
});

test('passes over empty lines and single runs, and ignores other keys', () => {
  const lines = ['{"pps": [1000]}', '', '{"pps": []}', `{"cell": {"x": 1}, ${quiet.slice(1)}\r`];
  writeFileSync(join(folder, 'history'), lines.join('\n'));
  expect(rowsOf(['--noise', 'history'])).toEqual(rowsOf(['--noise', 'quiet']));
});

test('lines of one cell are sessions of it, and other draws than lines of several', () => {
  const [near, far] = [quiet, wild].map((line) => JSON.parse(line).pps as number[]);
  const lines = (name: string, ...cells: string[]) => {
    const text = [near, far].map((pps, index) => JSON.stringify({ pps, cell: cells[index] }));
    writeFileSync(join(folder, name), `${text.join('\n')}\n`);
    return ['--noise', name, '--design', 'fixed', '--effects', '0', '--history', '10'];
  };
  const [together, apart] = [lines('together', 'a', 'a'), lines('apart', 'a', 'b')];
  expect(run(together).stdout).toContain(': 2 of 2 sets of runs, those with at least 2 runs, of 1 cell\n');
  expect(run(apart).stdout).toContain(', of 2 cells\n');
  expect(rowsOf(together)).not.toEqual(rowsOf(apart));
});

test('prints a table below what it was made of', () => {
  writeFileSync(join(folder, 'three'), `${wild}\n${quiet}\n{"pps": [1]}\n`);
  const args = ['--noise', 'three', '--max-cv', '1%', '--effects', '0,-2%', '--design', 'group-sequential,fixed'];
  const { stdout } = run([...args, '--max-runs', '8', '--cells', '2', '--experiments', '1000']);
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('three: 1 of 3 sets of runs, those with at least 2 runs and a CV of at most 1 %, of 1 cell');
  expect(lines[1]).toBe(
    'margin 2 %, required false alarms 1 %, power 95 %, at most 8 + 8 runs, 0 of history, 1,000 experiments a row, seed 1',
  );
  expect(lines[3]).toBe(
    'design            change  regression  no regression  improvement  inconclusive  any of 2  mean runs  p95 runs  minutes',
  );
  expect(lines[6]).toBe(
    'fixed                0 %      0.00 %       100.00 %       0.00 %        0.00 %    0.00 %      16.00        16     82.1',
  );
  expect(lines.slice(4, 8).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['group-sequential', '0 %'],
    ['group-sequential', '-2 %'],
    ['fixed', '0 %'],
    ['fixed', '-2 %'],
  ]);
  expect(lines[9]).toMatch(/^Regressions at 0 % are false alarms, those at -2 % are the power/);
});

test.each([
  [[], '--noise: missing; expected a file of JSON lines with pps, or a CV like 1%.'],
  [['--noise', ''], '--noise: expected a file of JSON lines with pps, or a CV like 1%, found "".'],
  [['--noise', 'none'], '--noise: none: there is no such file; name a file of JSON lines, or a CV like 1%.'],
  [['--noise', '.'], '--noise: .: cannot be read (EISDIR); name a file of JSON lines, or a CV like 1%.'],
  [['--noise', 'empty'], '--noise: empty: expected JSON lines with the pps of at least 2 runs, found nothing.'],
  [['--noise', 'short'], '--noise: short: expected JSON lines with the pps of at least 2 runs, found 1 with fewer.'],
  [['--noise', 'binary'], '--noise: binary:1: expected JSON like {"pps": [980100, 979500, 981200]}.'],
  [['--noise', '0%'], '--noise: expected a percentage above 0% and up to 100%, found "0%".'],
  [['--noise', '1%', '--max-cv', '1%'], '--max-cv: leaves out lines of a file, but --noise is a CV: drop one of them.'],
  [
    ['--noise', 'quiet', '--max-cv', '0.01%'],
    '--max-cv: quiet has no set of runs with a CV of at most 0.01 %; its quietest has 0.259 %.',
  ],
  [['--noise', '1%', '--max-runs', '0'], '--max-runs: expected a whole number from 2 to 1000, found "0".'],
  [['--noise', '1%', '--history', '1001'], '--history: expected a whole number from 0 to 1000, found "1001".'],
  [['--noise', '1%', '--experiments', '0'], '--experiments: expected a whole number from 1 to 1000000, found "0".'],
  [['--noise', '1%', '--experiments', '1e9'], '--experiments: expected a whole number from 1 to 1000000, found "1e9".'],
  [
    ['--noise', '1%', '--experiments', '5', '--cells', '6'],
    '--cells: expected at most the number of experiments, 5, found 6.',
  ],
  [['--noise', '1%', '--seed', '-1'], '--seed: expected a whole number from 0 to 2147483647, found "-1".'],
  [
    ['--noise', '1%', '--design', 'fixed,group-sequental'],
    '--design: expected one of fixed, group-sequential, found "group-sequental"; did you mean `group-sequential`?',
  ],
  [['--noise', '1%', '--margin', '0%'], '--margin: expected a percentage above 0% and up to 50%, found "0%".'],
  [['--noise', '1%', '--margin', '2'], '--margin: expected a percentage like 2%, found "2".'],
  [['--noise', '1%', '--effects', '0,-100%'], '--effects: expected 0, or a change from -99% to +99%, found "-100%".'],
  [['--noise', '1%', '--build-noise', '21%'], '--build-noise: expected a percentage from 0% to 20%, found "21%".'],
  [
    ['--noise', '1%', '--layout-variants', '21'],
    '--layout-variants: expected a whole number from 1 to 20, found "21".',
  ],
  [
    ['--noise', '1%', '--bisect', '--layout-variants', '8'],
    '--layout-variants: applies to gates only; drop it, or --bisect.',
  ],
  [['--noise', '1%', '--reboot', '4'], '--reboot: expected a duration like 500 ms, 12 s, 2 min or 30 d, found "4".'],
])('refuses %j with a sentence and exit code 2', (args, sentence) => {
  expect(run(args)).toMatchObject({
    stdout: '',
    stderr: `ppsgate: ${sentence}\n`,
    status: 2,
  });
});

test.each([
  ['{"pps": [1, 2', 'expected JSON like {"pps": [980100, 979500, 981200]}.'],
  ['{"pps": [1, NaN, 3]}', 'expected JSON like {"pps": [980100, 979500, 981200]}.'],
  ['{"pps": [1, null, 3]}', 'pps[1]: expected a number above 0, found nothing.'],
  ['{"pps": [1, 2, -3]}', 'pps[2]: expected a number above 0, found -3.'],
  ['{"pps": [0, 2, 3]}', 'pps[0]: expected a number above 0, found 0.'],
  ['{"pps": [1, "2", 3]}', 'pps[1]: expected a number above 0, found "2".'],
  ['{"pps": [1, 1e999, 3]}', 'pps[1]: expected a number above 0, found Infinity.'],
  ['{"pps": 1}', 'pps: expected a list of numbers above 0, found 1.'],
  ['{"ppss": [1]}', 'pps: missing; expected a list of numbers above 0.'],
  ['[1, 2, 3]', 'expected an object with pps, a list of numbers above 0, found a list.'],
])('names the line of a file that holds %s', (line, problem) => {
  writeFileSync(join(folder, 'bad'), `${`${quiet}\n`.repeat(6)}${line}\n${quiet}\n`);
  expect(run(['--noise', 'bad'])).toMatchObject({
    stdout: '',
    stderr: `ppsgate: --noise: bad:7: ${problem}\n`,
    status: 2,
  });
});

test('shows an example in its help', () => {
  expect(run(['--help']).stdout).toContain('Example:\n  ppsgate simulate --noise 1%');
});

describeWith(['shared/corpus'], 'on results of real testbeds', () => {
  test('reads every line, and keeps the quiet half', () => {
    const file = sharedFolder('corpus/noise.jsonl');
    const { stdout } = run(['--noise', file, '--max-cv', '1%', '--experiments', '100']);
    expect(stdout).toContain('noise.jsonl: 932 of 1,818 sets of runs');
  });
});

const share = z.number().min(0).max(1);
const rowSchema = z.strictObject({
  design: z.string(),
  effect: z.number(),
  regression: share,
  noRegression: share,
  improvement: share,
  inconclusive: share,
  patchRegression: share.optional(),
  meanRuns: z.number().positive(),
  p95Runs: z.number().positive(),
  meanMinutes: z.number().positive(),
});

function rowsOf(args: readonly string[]): z.output<typeof rowSchema>[] {
  const answer: unknown = JSON.parse(run(['--experiments', '1000', ...args, '--json']).stdout);
  return z.object({ rows: z.array(rowSchema) }).parse(answer).rows;
}

describe('--bisect', () => {
  test('prints a row for each number of commits and each change', () => {
    const rest = ['--noise', '0.5%', '--history', '20', '--experiments', '20', '--json'];
    const many = ['--commits', '16,64', '--effects', '0,-5%', '--broken', '10%'];
    const { stdout, status } = run(['--bisect', ...many, ...rest]);
    expect(status).toBe(0);
    const { rows } = z.strictObject({ rows: z.array(bisectRowSchema) }).parse(JSON.parse(stdout));
    expect(rows.map(({ commits, effect }) => [commits, effect])).toEqual([
      [16, 0],
      [16, -0.05],
      [64, 0],
      [64, -0.05],
    ]);
    expect(rows.every(({ brokenRatio }) => brokenRatio === 0.1)).toBe(true);
  });

  test('prints a table for people', () => {
    const { stdout } = run(['--bisect', '--noise', '0.5%', '--experiments', '5', '--effects', '-5%']);
    expect(stdout).toContain('commits  change  mean boots');
    expect(stdout).toContain('builds of 10 min');
  });

  test.each([
    [['--bisect', '--noise', '1%', '--margin', '2%'], '--margin: applies to gates only'],
    [['--noise', '1%', '--commits', '16'], '--commits: applies to bisections only'],
    [['--bisect', '--noise', '1%', '--commits', '0'], '--commits: expected a whole number from 1'],
    [['--bisect', '--noise', '1%', '--broken', '95%'], '--broken: expected a percentage up to 90%'],
    [['--bisect', '--noise', '1%', '--build-minutes', 'ten'], '--build-minutes: expected a number'],
    [['--bisect'], '--noise: missing'],
  ])('refuses %j', (args, message) => {
    const { stderr, status } = run(args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

function run(args: readonly string[]) {
  const cli = join(inject('bundle'), 'cli.js');
  return spawnSync(process.execPath, [cli, 'simulate', ...args], { cwd: folder, encoding: 'utf8' });
}

const bisectRowSchema = z.strictObject({
  commits: z.int(),
  effect: z.number(),
  brokenRatio: share,
  meanBoots: z.number(),
  p95Boots: z.number(),
  meanMinutes: z.number(),
  p95Minutes: z.number(),
  namedRight: share,
  namedWrong: share,
  groupRight: share,
  groupWrong: share,
  inconclusive: share,
  notReproduced: share,
});
