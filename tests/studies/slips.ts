// Asserts that no report of ours repeats the mistakes of published studies of forwarding.
import { join } from 'node:path';
import { expect } from 'vitest';
import { frameBytesFor } from '../../src/config/schema.ts';
import { readJournal } from '../../src/gate/experiment/journal.ts';
import { readPlan } from '../../src/gate/experiment/plan.ts';
import { reread } from '../../src/gate/experiment/reread.ts';
import { formatPps, grouped } from '../../src/model/format.ts';
import type { Result, TrialSummary } from '../../src/model/result.ts';
import { cellName } from '../../src/model/scenario.ts';
import { type PktGenOptions, readPktGen } from '../fakes/freebsd-lab/commands/pkt-gen-options.ts';
import { splitWords } from '../fakes/freebsd-lab/shell.ts';
import { cellsOf, type Judged, ownKernel } from './study.ts';

/** `kernels` are the names that the variants' kernels print. */
type Kernels = { base: string; patched: string };

/** Checks a judged patch with any verdict. */
export async function expectNoSlip(judged: Judged, kernels: Kernels): Promise<void> {
  expectKernelsThatRan(judged, kernels);
  expectTrafficThatWasSent(judged);
  expectNothingOfTheGenerator(judged);
  await expectEveryLog(judged);
  expectCleanDut(judged);
}

/** Flamegraphs were labelled with another revision than the measured one. */
function expectKernelsThatRan(judged: Judged, kernels: Kernels): void {
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
function expectTrafficThatWasSent({ result, report, study }: Judged): void {
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
    const options = readPktGen(words.slice(words.indexOf('pkt-gen') + 1));
    return options.sends ? options : [];
  });
}

/** A published difference was limited by the generator. */
function expectNothingOfTheGenerator({ result }: Judged): void {
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
async function expectEveryLog({ result, directory }: Judged): Promise<void> {
  const folders = result.trials.map(({ logs }) => logs);
  expect(new Set(folders).size).toBe(folders.length);
  const again = await reread(directory, await readPlan(directory));
  const journal = await readJournal(join(directory, 'journal.jsonl'));
  expect(again).toEqual({ entries: journal, unread: 0 });
}

/** A DUT goes back clean. */
function expectCleanDut({ study }: Pick<Judged, 'study'>): void {
  expect(study.lab.state()).toMatchObject({
    stage: 'up',
    kernel: ownKernel.ident,
    scenario: 'forwarding',
    leftovers: [],
    nextboot: undefined,
  });
}
