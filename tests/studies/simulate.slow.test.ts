// Runs bench/simulate.ts as a process, as the docs show it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const run = (...words: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, '../../bench/simulate.ts'), ...words], { encoding: 'utf8' });

const rowsOf = (...words: string[]): Record<string, number>[] => JSON.parse(run(...words, '--json').stdout).rows;

test('has a row for each design and change, and the minutes of its runs', () => {
  const rows = rowsOf('--noise', '1%', '--experiments', '50', '--cells', '2', '--reboot', '90', '--traffic', '30');
  expect(rows.map(({ design, effect }) => [design, effect])).toEqual(
    ['fixed', 'group-sequential'].flatMap((design) => [0, -0.01, -0.02, -0.5].map((effect) => [design, effect])),
  );
  expect(rows[0]).toMatchObject({ meanRuns: 40, meanMinutes: 80, patchRegression: 0 });
});

test('has a row for each number of commits and change of bisections', () => {
  const rows = rowsOf('--bisect', '--noise', '0.5%', '--experiments', '20', '--commits', '16,64', '--effects', '0,-5%');
  expect(rows.map(({ commits, effect }) => [commits, effect])).toEqual(
    [16, 64].flatMap((n) => [0, -0.05].map((e) => [n, e])),
  );
});

test('prints a table, and the usage for wrong options', () => {
  expect(run('--noise', '1%', '--experiments', '20').stdout).toMatch(/^ +design +effect +regression /m);
  expect(run('--noise', '1%', '--cells', 'many')).toMatchObject({ status: 2, stdout: '' });
});
