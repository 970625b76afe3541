// Runs ppsgate as a person does: a folder with ppsgate.yml, a repository, and kernels that were built before.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, vi } from 'vitest';
import { stringify } from 'yaml';
import type { CellResult, Result, Run } from '../../../src/model/result.ts';
import { readResult } from '../../../src/report/read-result.ts';
import { commit, git } from '../../fakes/repository.ts';
import { type KernelName, kernel } from './given.ts';

const cli = join(import.meta.dirname, '../../../src/cli.ts');

/** The folder of the importing test file, whose hooks make repositories too. */
const place = mkdtempSync(join(tmpdir(), 'ppsgate-freebsd-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

export type Ended = { code: number | null; text: string };

export type Running = { kill(): void; readonly ended: Promise<Ended> };

export function ppsgate(folder: string, ...args: readonly string[]): Running {
  // Ends with the tests, in any way.
  const words = ['--pdeathsig', 'TERM', process.execPath, cli, ...args];
  const child = spawn('setpriv', words, { cwd: folder });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
  return { kill: () => void child.kill('SIGKILL'), ended };
}

/** A repository with `main` and `patched`, whose ppsgate.yml has these keys, with files of both and of the patch by their paths. */
export function repositoryWith(
  config: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>> = {},
  patched: Readonly<Record<string, string>> = { 'sys/net/if.c': 'int patched;\n' },
): string {
  const folder = mkdtempSync(join(place, 'repository-'));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  const text = stringify({
    profile: { enabled: false },
    history: 'history.jsonl',
    // A gate that outlived earlier tests may have put a testbed of this name in quarantine.
    reservations: { store: 'sqlite', file: join(place, 'reservations.sqlite') },
    ...config,
  });
  commit(folder, { ...files, 'ppsgate.yml': text, 'sys/net/if.c': 'int base;\n' });
  git(folder, 'switch', '--quiet', '--create', 'patched');
  commit(folder, { ...patched });
  git(folder, 'switch', '--quiet', 'main');
  return folder;
}

/** Begins a gate of two kernels; its work directory is `work` in the repository. */
export const gate = (repository: string, patched: KernelName, ...args: readonly string[]): Running => {
  const kernels = ['--base-kernel', kernel('base'), '--patched-kernel', kernel(patched)];
  const range = ['--patch', 'main..patched', '--directory', workOf(repository)];
  return ppsgate(repository, 'gate', ...range, ...kernels, ...args);
};

export const workOf = (repository: string): string => join(repository, 'work');

export type Gated = Ended & { result: Result; report: string };

/** Runs a gate to its end. */
export async function gated(repository: string, patched: KernelName): Promise<Gated> {
  return readGated(repository, await gate(repository, patched).ended);
}

/** Waits until a gate has measured its first trial; throws if it ends before. */
export async function untilMeasured(running: Running, repository: string): Promise<void> {
  const hasMeasured = vi.waitFor(() => expect(measuredIn(repository)).toContain(1), {
    timeout: 3_600_000,
    interval: 1000,
  });
  const hasEnded = running.ended.then(({ code, text }) => {
    throw new Error(`The gate ended with ${code} before it measured:\n${text}`);
  });
  await Promise.race([hasMeasured, hasEnded]);
}

export const resumed = async (repository: string): Promise<Ended> =>
  ppsgate(repository, 'gate', '--resume', workOf(repository)).ended;

export async function readGated(repository: string, ended: Ended): Promise<Gated> {
  const work = workOf(repository);
  if (!existsSync(join(work, 'result.json'))) {
    throw new Error(`The gate has no result, and ended with ${ended.code}:\n${ended.text}`);
  }
  const report = readFileSync(join(work, 'report.md'), 'utf8');
  return { ...ended, result: await readResult(work), report };
}

export const cellsOf = ({ outcome }: Result): readonly CellResult[] => (outcome.kind === 'judged' ? outcome.cells : []);

/** Returns the numbers of the trials with valid runs in the journal; an invalid one is measured again. */
export function measuredIn(repository: string): number[] {
  const path = join(workOf(repository), 'journal.jsonl');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  return lines
    .map((line) => JSON.parse(line))
    .flatMap(({ kind, summary, runs }) => (kind === 'measured' && areValid(runs) ? [summary.number] : []));
}

const areValid = (runs: readonly Pick<Run, 'validity'>[]): boolean =>
  runs.every(({ validity }) => validity.kind === 'valid');
