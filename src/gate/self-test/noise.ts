// Measures the lab's noise with A/A runs of base, and its meaning for gates.
import { chiSquaredDistributionTable, mean } from 'simple-statistics';
import { type Diagnostic, ok, wrong } from '../../lab/check/diagnostic.ts';
import { trial } from '../../lab/freebsd/freebsd-trial.ts';
import type { KeepLog } from '../../lab/testbed.ts';
import { formatEstimate, formatPercent, formatPps } from '../../model/format.ts';
import { byMetric } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { offeredTraffic } from '../../model/traffic.ts';
import { estimateRuns } from '../estimate/experiment.ts';
import { type HistoryEntry, historyOf } from '../experiment/history.ts';
import { designOf, policyOf } from '../experiment/plan.ts';
import { bootBase, folderOf, plannedFor, whyNot } from './base-variant.ts';
import { runsOf } from './self-test-journal.ts';
import { goOn, type SelfTest } from './self-test-request.ts';

/** Minimum for a useful spread, see `estimateRuns`. */
const degreesOfFreedom = 5;
const boots = degreesOfFreedom + 1;

/** Runs six times: a boot, and one trial of each cell. */
export async function* measureNoise(selfTest: SelfTest): AsyncGenerator<Diagnostic> {
  const { cells, deps, journal } = selfTest;
  for (let boot = 1; boot <= boots; boot += 1) {
    deps.signal.throwIfAborted();
    const missing = cells.filter((cell) => !runsOf(journal.runs(), cell).some((run) => run.boot === boot));
    if (missing.length === 0) continue;
    deps.notify(`Boot ${boot} of ${boots} of the same kernel, for the noise.`);
    const begun = deps.now();
    const trouble = await bootBase(selfTest, bootNumber(boot));
    if (trouble !== undefined) {
      yield wrong('the noise of the lab', trouble, goOn);
      return;
    }
    journal.keepBoot(boot, deps.now() - begun);
    for (const cell of missing) {
      const failure = await measure(selfTest, cell, boot);
      if (failure === undefined) continue;
      yield wrong(`the noise of ${cellName(cell)}`, failure, goOn);
      return;
    }
  }
  // Gates match history by commit.
  if (selfTest.commit !== '') await deps.history.append(historyOfSelfTest(selfTest));
  yield* judged(selfTest);
}

/** Maps to boot numbers of `bootBase` that earlier steps have not used. */
const bootNumber = (boot: number): number => 10 + boot;

const maxTries = 3;

/** Returns the reason if no run counts. */
async function measure(selfTest: SelfTest, cell: Cell, boot: number): Promise<string | undefined> {
  const { deps, cells, journal } = selfTest;
  const { lab } = await selfTest.open();
  let failure = '';
  for (let attempt = 1; attempt <= maxTries; attempt += 1) {
    deps.signal.throwIfAborted();
    const trouble = await bootBase(selfTest, bootNumber(boot));
    if (trouble !== undefined) return trouble;
    const begun = deps.now();
    const number = boot * cells.length + cells.indexOf(cell) + 1;
    const planned = plannedFor(cell, bootNumber(boot), number);
    const folder = `noise/${folderOf(cell)}-${boot}.${attempt}`;
    const keepLog: KeepLog = (name, text) => deps.keepLog(`${folder}/${name}`, text);
    const outcome = await trial(lab, planned, keepLog, deps.signal);
    const run = outcome.kind === 'measured' ? outcome.runs[0] : undefined;
    if (run?.validity.kind === 'valid' && run.pps > 0) {
      const trialSeconds = deps.now() - begun;
      journal.keepRun({ cell, boot, pps: run.pps, trialSeconds });
      deps.notify(`${cellName(cell)}: ${formatPps(run.pps)}.`);
      return undefined;
    }
    failure = run?.validity.kind === 'invalid' ? run.validity.reason : whyNot(outcome);
  }
  return failure;
}

function* judged(selfTest: SelfTest): Generator<Diagnostic> {
  const { config, cells } = selfTest;
  const policy = policyOf(config);
  const estimates = cells.flatMap((cell) => {
    const known = historyOf(historyOfSelfTest(selfTest), {
      testbed: selfTest.name,
      cell,
      traffic: config.traffic,
      metric: 'pps' as const,
    });
    const design = designOf(config, 2);
    const expected = estimateRuns({ design, history: known }, policy, cells.length);
    return expected.basis === 'history' ? [{ cell, expected, typical: known?.typical ?? 0 }] : [];
  });
  for (const { cell, expected, typical } of estimates) {
    const what = `the noise of ${cellName(cell)}`;
    const { noiseRatio = 0, reachableMarginRatio = 0 } = expected;
    const [least, most] = intervalOf(noiseRatio).map(formatPercent);
    const found = `${formatPps(typical)}, and boots differ by ${formatPercent(noiseRatio)} (90 % of such measurements: ${least} to ${most}); a loss of ${formatPercent(reachableMarginRatio)} is found with the required power`;
    const margin = formatPercent(policy.marginRatio);
    yield reachableMarginRatio <= policy.marginRatio
      ? ok(what, `${found}, and ${margin} matters`)
      : wrong(
          what,
          `${found}, and ${margin} is to be`,
          `raise \`gate.margin\` to ${formatPercent(roundedUp(reachableMarginRatio))}, or find the source of the noise: docs/how-to/lab.md, "Find what disturbs the lab"`,
        );
  }
  yield ok('a gate of these cells', durationsText(selfTest, estimates));
}

type RunsEstimates = { cell: Cell; expected: ReturnType<typeof estimateRuns> }[];

/** The slowest cell determines the number of boots, as one boot serves all cells. */
function durationsText({ journal, config }: SelfTest, estimates: RunsEstimates): string {
  const bootSeconds = mean(journal.bootSeconds());
  const secondsFor = (runs: 'runsIfUnchanged' | 'runsIfLost') =>
    estimates.reduce(
      (sum, { cell, expected }) =>
        sum + expected[runs] * mean(runsOf(journal.runs(), cell).map((run) => run.trialSeconds)),
      bootSeconds * Math.max(...estimates.map(({ expected }) => expected[runs])),
    );
  const lost = formatPercent(policyOf(config).marginRatio);
  return `${formatEstimate(secondsFor('runsIfUnchanged'))} if nothing has changed, ${formatEstimate(secondsFor('runsIfLost'))} if ${lost} is lost, plus the builds; a boot takes ${formatEstimate(bootSeconds)}`;
}

/** History for the first gates: base was measured as they would measure it. */
function historyOfSelfTest({ name, config, cells, commit, journal }: SelfTest): HistoryEntry[] {
  const traffic = offeredTraffic(config.traffic);
  const durations = {
    bootSeconds: mean(journal.bootSeconds()),
    trialSeconds: mean(journal.runs().map((run) => run.trialSeconds)),
  };
  return cells.flatMap((cell) => {
    const pps = runsOf(journal.runs(), cell).map((run) => run.pps);
    if (pps.length === 0) return [];
    const kind = 'freebsd' as const;
    const about = { at: journal.at, testbed: name, kind, cell, traffic, commit };
    return [{ ...about, ...byMetric(() => []), pps, moved: false, durations }];
  });
}

/** Chi-squared interval of a standard deviation. */
function intervalOf(ratio: number): [number, number] {
  const { '0.05': high, '0.95': low } = chiSquaredDistributionTable[degreesOfFreedom];
  return [ratio * Math.sqrt(degreesOfFreedom / high), ratio * Math.sqrt(degreesOfFreedom / low)];
}

const roundedUp = (ratio: number): number => Math.ceil(ratio * 200) / 200;
