import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, inject, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../src/config/load.ts';
import { RepositoryError } from '../../src/forge/patch/repository.ts';
import { JournalError } from '../../src/gate/experiment/journal.ts';
import { PlanError } from '../../src/gate/experiment/plan-file.ts';
import { conclusionOfError, conclusionOfResult, exitCodes } from '../../src/model/conclusion.ts';
import type { CellVerdict, Outcome } from '../../src/model/result.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { ResultError } from '../../src/report/read-result.ts';
import { runToExit } from '../../src/system/exit.ts';
import { HostError } from '../../src/system/host/host-error.ts';

const judged = (verdict: CellVerdict['kind']): { outcome: Outcome } => ({
  outcome: { kind: 'judged', verdict, cells: [] },
});

test.for([
  ['no-regression', 0],
  ['improvement', 0],
  ['regression', 1],
  ['inconclusive', 3],
  ['invalid', 3],
] as const)('the verdict %s exits with %i', ([verdict, code]) => {
  expect(exitCodes[conclusionOfResult(judged(verdict))]).toBe(code);
});

test('a patch that does not load or apply is at fault', () => {
  const outcome = { kind: 'does-not-load', scenario: 'forwarding', message: '' } as const;
  expect(conclusionOfResult({ outcome })).toBe('patchAtFault');
  expect(conclusionOfResult({ outcome: { kind: 'does-not-apply', message: '' } })).toBe('patchAtFault');
});

test('wrong usage exits with 2, and a failure of infrastructure with 4', () => {
  const usage = [
    new ConfigError('ppsgate.yml', []),
    new UsageError(),
    new PlanError(),
    new JournalError(),
    new RepositoryError(),
    new ResultError(),
  ];
  expect(usage.map((error) => exitCodes[conclusionOfError(error)])).toEqual(usage.map(() => 2));
  expect(exitCodes[conclusionOfError(new HostError('lost', 'gone'))]).toBe(4);
  expect(exitCodes[conclusionOfError('thrown by whom?')]).toBe(4);
});

async function exitOf(work: (signal: AbortSignal) => Promise<number>, debug = false, lastWords: string[] = []) {
  const told: string[] = [];
  const before = process.exitCode;
  await runToExit(work, {
    debug,
    closingLines: lastWords,
    notify: (sentence) => told.push(sentence),
  });
  const code = process.exitCode;
  process.exitCode = before;
  return { code, told };
}

test('prints an error as its own sentence, and its place only on request', async () => {
  const fail = () => Promise.reject(new UsageError('runs: expected a number.'));
  expect(await exitOf(fail)).toEqual({ code: 2, told: ['runs: expected a number.'] });
  const { told } = await exitOf(fail, true);
  expect(told[0]).toMatch(/runs: expected a number\.\n\s+at .*exit\.slow\.test\.ts/);
});

test('cancelled work exits with 130 and prints nothing more', async () => {
  const work = (signal: AbortSignal) =>
    new Promise<number>((_, reject) => {
      signal.addEventListener('abort', () => reject(new HostError('aborted', 'cancelled')));
      process.kill(process.pid, 'SIGINT');
    });
  expect(await exitOf(work)).toEqual({ code: 130, told: [] });
});

test('prints follow-up messages after the reason, and only after a failure', async () => {
  const lastWords: string[] = [];
  const fail = async () => {
    lastWords.push('go on');
    throw new HostError('lost', 'gone');
  };
  expect(await exitOf(fail, false, lastWords)).toEqual({ code: 4, told: ['gone', 'go on'] });
  expect(await exitOf(async () => 0, false, lastWords)).toEqual({ code: 0, told: [] });
});

test.each([
  [['--help'], 0],
  [['gate', '--help'], 0],
])('%j ends quietly with its usual exit code if its output is not read', async (words) => {
  const cli = join(inject('bundle'), 'cli.js');
  const child = spawn(process.execPath, [cli, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const said = text(child.stderr);
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(await said).not.toContain('EPIPE');
});

test('The first signal ends a computation that has nothing to clean up', async () => {
  const exit = JSON.stringify(join(import.meta.dirname, '../../src/system/exit.ts'));
  const program = `
    const { runToExit } = await import(${exit});
    await runToExit(async () => { console.log('begun'); for (;;); }, { endsAtOnce: true });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
});
