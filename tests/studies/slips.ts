// Asserts that no report of ours repeats the mistakes of published studies of forwarding.
import { join } from 'node:path';
import { expect } from 'vitest';
import { frameBytesFor } from '../../src/config/schema.ts';
import { readJournal } from '../../src/gate/experiment/journal.ts';
import { readPlan } from '../../src/gate/experiment/plan.ts';
import { reread } from '../../src/gate/experiment/reread.ts';
import { formatChange, formatInterval, formatPps, grouped } from '../../src/model/format.ts';
import type { CellResult, Result, TrialSummary } from '../../src/model/result.ts';
import { cellName } from '../../src/model/scenario.ts';
import { type PktGenOptions, readPktGen } from '../fakes/freebsd-lab/commands/pkt-gen-options.ts';
import { splitWords } from '../fakes/freebsd-lab/shell.ts';
import { cellsOf, type Judged, ownKernel } from './study.ts';

/** `kernels` are the names that the variants' kernels print. */
export type Kernels = { base: string; patched: string };

/** Checks a judged patch with any verdict. */
export async function expectNoSlip(judged: Judged, kernels: Kernels): Promise<void> {
  expectKernelsThatRan(judged, kernels);
  expectTrafficThatWasSent(judged);
  expectTablesThatStandAlone(judged);
  expectVerdicts(judged);
  expectProseThatFitsItsTable(judged);
  expectNumbersOfTheResult(judged);
  expectNothingOfTheGenerator(judged);
  await expectEveryLog(judged);
  expectCleanDut(judged);
}

/** Flamegraphs were labelled with another revision than the measured one. */
export function expectKernelsThatRan(judged: Judged, kernels: Kernels): void {
  const { result, report, study } = judged;
  for (const trial of result.trials) {
    expect(trial.kernel).toBe(kernels[variantOf(result, trial)]);
    const [from, to] = spanOf(trial);
    const during = study.loads.filter(({ at }) => at >= from && at <= to);
    const ran = during.map(({ ident, scenario, family }) => `${ident}, ${scenario} ${family}`);
    const ident = trial.kernel?.split(' ').at(-1);
    expect([...new Set(ran)]).toEqual([`${ident}, ${cellName(trial.cell)}`]);
  }
  if (result.trials.length === 0) return;
  for (const [variant, kernel] of Object.entries(kernels)) {
    const { commit } = result.variants.find(({ name }) => name === variant) ?? {};
    expect(report).toContain(`- \`${variant}\`: commit \`${commit}\`, \`${kernel}\`\n`);
  }
  expect(titleOf(report)).toContain(kernels.base);
  expect(titleOf(report)).not.toContain(ownKernel.ident);
}

function variantOf(result: Result, { number, attempt }: TrialSummary): keyof Kernels {
  const runs = cellsOf(result).flatMap((cell) => cell.runs);
  const run = runs.find((one) => one.trial === number && one.attempt === attempt);
  return run?.variant === 'base' ? 'base' : 'patched';
}

/** The span of a trial without its last second, in which the next trial of a boot may have begun. */
function spanOf({ startedAt, trafficSeconds }: TrialSummary): [from: number, to: number] {
  const from = Date.parse(startedAt) / 1000;
  return [from, from + trafficSeconds - 1];
}

/** Returns the verdict, the table, and the line below on the testbed and the method. */
const titleOf = (report: string): string => report.split('<details>')[0] ?? '';

/** The report named 5000 flows, and the command 2000. */
export function expectTrafficThatWasSent({ result, report, study }: Judged): void {
  const { flows, offeredPps } = result.traffic;
  for (const trial of result.trials) {
    const sent = sendersDuring(study.lab.senders, trial);
    expect(sent).not.toEqual([]);
    const total = (of: (options: PktGenOptions) => number) => sent.map(of).reduce((sum, one) => sum + one, 0);
    expect(total(({ source, destination }) => source.size * destination.size)).toBe(flows);
    expect(total(({ ratePps, threads }) => ratePps * threads)).toBeCloseTo(offeredPps ?? 0, -1);
    const frameBytes = frameBytesFor(result.traffic, trial.cell);
    for (const { frameBytesWithoutCrc, family } of sent) {
      expect([frameBytesWithoutCrc + 4, family]).toEqual([frameBytes, trial.cell.family]);
      expect(titleOf(report)).toMatch(new RegExp(`\\b${frameBytes}-(?:byte| and)`));
    }
  }
  if (result.trials.length === 0) return;
  expect(titleOf(report)).toContain(`${grouped(flows)} flows of `);
  if (offeredPps !== undefined) expect(titleOf(report)).toContain(`targeted ${formatPps(offeredPps)} `);
  const most = Math.max(...result.trials.map((trial) => trial.offeredPps));
  expect(titleOf(report)).toContain(`sent up to ${formatPps(most)}, averaged over a trial`);
}

function sendersDuring(senders: Judged['study']['lab']['senders'], trial: TrialSummary): PktGenOptions[] {
  const [from, to] = spanOf(trial);
  const journal = senders.flatMap((sender) => sender.journal);
  return journal.flatMap(({ at, command }) => {
    const split = splitWords(command);
    const words = split.kind === 'words' ? split.words : [];
    if (at < from || at > to || !words.includes('pkt-gen')) return [];
    const read = readPktGen(words.slice(words.indexOf('pkt-gen') + 1));
    return read.kind === 'right' && read.options.sends ? read.options : [];
  });
}

/** Stray text was glued to a table. */
export function expectTablesThatStandAlone({ report }: Judged): void {
  const blocks = report.split(/\n{2,}/).filter((block) => block.includes('|--'));
  const tables = blocks.filter((block) => !block.includes('+--'));
  expect(tables).not.toEqual([]);
  for (const table of tables) {
    const widths = table.split('\n').map((line) => line.split(/(?<!\\)\|/).length);
    expect(new Set(widths).size, table).toBe(1);
    for (const line of table.split('\n')) expect(line).toMatch(/^\|.*\|$/);
  }
  for (const block of report.split('```').filter((_, index) => index % 2 === 1)) {
    expect(block).toMatch(/^\nx .*\n\+ .*\n\+-{10,}\+\n.*\n$/s);
  }
}

/** The line with the verdict was missing. */
export function expectVerdicts({ result, report }: Judged): void {
  expect(report).toMatch(/^### \S+ ppsgate: \S+ (?:gains|loses|forwards nothing|may lose|was not measured)/);
  for (const { cell, verdict } of cellsOf(result)) {
    expect(rowOf(report, cellName(cell))[1]).toMatch(new RegExp(`^\\S+ ${verdict.kind}(?:, forwards nothing)?$`));
  }
}

/** Cells of a row of the table, spaces that may not break taken as others. */
function rowOf(report: string, name: string): string[] {
  const line = report.split('\n').find((one) => one.startsWith(`| ${name} |`));
  const cells = (line ?? '').split(/(?<!\\)\|/).map((cell) => cell.trim());
  return cells.slice(1, -1).map((cell) => cell.replaceAll('\u00a0', ' '));
}

/** The prose said −1 %, and the table beside it +1.6 %. */
export function expectProseThatFitsItsTable({ result, report }: Judged): void {
  const [headline = ''] = report.split('\n');
  const told = [...headline.matchAll(/([\d.]+) % \(([^)]+)\)/g)];
  const changed = cellsOf(result).filter(({ verdict }) =>
    headline.includes(' loses ') ? verdict.kind === 'regression' : verdict.kind === 'improvement',
  );
  const isAboutChanges = / (?:gains|loses) [\d.]+ %/.test(headline);
  expect(told.map(([, , name]) => name)).toEqual(isAboutChanges ? changed.map(({ cell }) => cellName(cell)) : []);
  for (const [, percent, name = ''] of told) {
    const change = rowOf(report, name)[2]?.replaceAll('*', '') ?? '';
    expect(change.slice(0, 1)).toBe(headline.includes(' loses ') ? '−' : '+');
    expect(percent).toBe(/[\d.]+/.exec(change)?.[0]);
  }
}

/** Numbers were typed by hand. */
export function expectNumbersOfTheResult({ result, report }: Judged): void {
  for (const { cell, comparisons, runs: tried, verdict } of cellsOf(result)) {
    const [, , change = '', base, patched, runs = ''] = rowOf(report, cellName(cell));
    const [comparison] = comparisons;
    if (verdict.kind === 'invalid') expect(change).toBe('–');
    if (comparison === undefined) {
      expect([change, base, patched]).toEqual(['–', '–', '–']);
      const made = ['base', 'patched'].map((name) => tried.filter((run) => run.variant === name));
      expect(runs).toMatch(new RegExp(` of ${made[0]?.length} \\+ ${made[1]?.length}$`));
      expect(report).not.toContain(`ministat: ${cellName(cell)}`);
      continue;
    }
    const { low, high } = comparison.interval;
    expect([base, patched]).toEqual([formatPps(comparison.base), formatPps(comparison.patched)]);
    // ministat wants three of each.
    const fewest = Math.min(comparison.baseRuns, comparison.patchedRuns);
    const counted = fewest < 3 ? 'no block' : runs.replace(/ of .*/, '');
    expect(ministatCounts(report, cell)).toBe(counted);
    if (verdict.kind === 'invalid') continue;
    if (comparison.patched === 0) {
      // Shows no change of a zero rate.
      expect(change).toBe('–');
      continue;
    }
    expect(change.replaceAll('*', '')).toBe(
      `${formatChange(comparison.interval.change)} (${formatInterval(low, high)})`,
    );
    expect(change.startsWith('**')).toBe(low > 0 || high < 0);
  }
}

/** `3 + 3`, as the block below the table counts them. */
function ministatCounts(report: string, cell: CellResult['cell']): string {
  const [, block = ''] = report.split(`**ministat: ${cellName(cell)}**`);
  const rows = /^x +(\d+) .*?^\+ +(\d+) /ms.exec(block);
  return rows === null ? 'no block' : `${rows[1]} + ${rows[2]}`;
}

/** A published difference was limited by the generator. */
export function expectNothingOfTheGenerator({ result }: Judged): void {
  for (const { verdict, comparisons, runs } of cellsOf(result)) {
    const valid = runs.filter(({ validity }) => validity.kind === 'valid');
    for (const run of valid) {
      const trial = result.trials.find(({ number, attempt }) => number === run.trial && attempt === run.attempt);
      expect(run.pps / (trial?.offeredPps ?? 0)).toBeLessThan(0.98);
    }
    if (valid.length === 0) expect([verdict.kind, comparisons]).toEqual(['invalid', []]);
  }
}

/** A later run overwrote the log of the first. */
export async function expectEveryLog({ result, directory }: Judged): Promise<void> {
  const folders = result.trials.map(({ logs }) => logs);
  expect(new Set(folders).size).toBe(folders.length);
  const again = await reread(directory, await readPlan(directory));
  const journal = await readJournal(join(directory, 'journal.jsonl'));
  expect(again).toEqual({ entries: journal, unread: 0 });
}

/** A DUT goes back clean. */
export function expectCleanDut({ study }: Pick<Judged, 'study'>): void {
  expect(study.lab.state()).toMatchObject({
    stage: 'up',
    kernel: ownKernel.ident,
    scenario: 'forwarding',
    leftovers: [],
    nextboot: undefined,
  });
}
