// Shows an experiment's progress: one changing line on a terminal, one line per trial elsewhere.
import type { WriteStream } from 'node:tty';
import { median } from '../analysis/stats/summary.ts';
import { plainLine } from '../model/escape.ts';
import { formatDuration, formatEstimate, formatMetric, formatPercent, formatRuns } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import { cellName } from '../model/scenario.ts';
import { estimateExperiment, experimentEstimateLine, RemainingTime } from './estimate/experiment.ts';
import type { ExperimentEvent } from './experiment/experiment-event.ts';
import type { JournalEntry } from './experiment/journal.ts';
import type { Plan } from './experiment/plan.ts';

export type ProgressOutput = Pick<WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

/** Renders the events of one experiment. `now` is in milliseconds. */
export function showProgress(output: ProgressOutput, metric: Metric, now: () => number) {
  const line = output.isTTY ? changingLine(output) : lineAfterLine(output);
  const remaining = new RemainingTime();
  let last: { cell?: string; text: string } = { text: '' };

  return {
    onEvent(event: ExperimentEvent): void {
      remaining.onEvent(event, now() / 1000);
      switch (event.kind) {
        case 'planned':
          for (const text of planLines(event.plan)) line.say(text);
          break;
        case 'finished-before':
          line.say(
            `It finished at ${event.at}: its result is shown again without a measurement; --max-runs N requests more runs.`,
          );
          break;
        case 'warning':
          line.say(`warning: ${event.text}`);
          break;
        case 'note':
          line.say(event.text);
          break;
        case 'decided':
          line.say(decision(event));
          break;
        case 'preparing':
          line.show(`${event.text} …`);
          break;
        case 'trial': {
          const { trial, attempt, done, of, why } = event;
          const because = why === undefined ? '' : `: ${plainLine(why, 120)}`;
          const again = attempt > 1 ? ` (try ${attempt}${because})` : '';
          const left = timeLeft(remaining.left(event));
          const place = `trial ${done + 1} of at most ${of}${again} · ${runRange(trial.runs)}`;
          const cell = cellName(trial.cell);
          const { text } = last;
          const ofOther = last.cell === undefined || last.cell === cell ? '' : ` (${last.cell})`;
          const shown = text === '' || text === why ? '' : `last${ofOther}: ${text}`;
          line.show([place, cell, shown, left].filter(Boolean).join(' · '));
          break;
        }
        case 'profile': {
          const again = event.attempt > 1 ? ` (try ${event.attempt})` : '';
          line.show(`profile of ${event.variant}${again} · ${cellName(event.cell)}`);
          break;
        }
        case 'ended':
          last = lastOf(event.entry, metric);
      }
    },
    end: () => line.end(),
  };
}

export const labelled = (output: ProgressOutput, label: string): ProgressOutput =>
  label === '' ? output : { write: (text: string) => output.write(`${label}: ${text}`) };

/** Lists the design of each cell, and cells that cannot reach the required power. */
function planLines(plan: Plan): string[] {
  const { cells, policy } = plan;
  const outlined = { ...plan, variants: plan.variants.length };
  const estimate = estimateExperiment(outlined);
  const lines = cells.flatMap((planned, index) => {
    const { cell, design, history } = planned;
    const most = design.budgets.at(-1) ?? 0;
    const budget = `at most ${most} + ${most} runs`;
    const start = `${cellName(cell)}: ${design.name}, ${budget}`;
    const expected = estimate.cells[index];
    if (expected?.basis !== 'history') return start;

    const { noiseRatio = 0, runsIfUnchanged, runsIfLost, reachableMarginRatio = 0 } = expected;
    const margin = formatPercent(policy.marginRatio);
    const expectation = `${start}; noise ${formatPercent(noiseRatio)} (${history?.runs} earlier runs): about ${Math.round(runsIfUnchanged)} runs without a loss, ${Math.round(runsIfLost)} with a loss of ${margin}`;
    if (reachableMarginRatio <= policy.marginRatio) return expectation;
    const reachable = formatPercent(reachableMarginRatio);
    const power = formatPercent(1 - policy.missRatio);
    return [
      expectation,
      `${cellName(cell)}: too noisy to find a loss of ${margin} in ${power} of cases; it can find ${reachable}: widen the margin, or allow more runs`,
    ];
  });
  return [...lines, experimentEstimateLine(estimate, outlined)];
}

function decision({ cell, verdict, counts }: Extract<ExperimentEvent, { kind: 'decided' }>) {
  const after = `after ${formatRuns(counts.counted, counts.made)} runs`;
  return verdict.kind === 'invalid'
    ? `${cellName(cell)}: invalid: ${plainLine(verdict.reason, 300)}`
    : verdict.kind === 'inconclusive' && verdict.isStopped
      ? `${cellName(cell)}: not decided ${after}, because another cell has a loss`
      : `${cellName(cell)}: ${verdict.kind} ${after}`;
}

function runRange(runs: readonly { number: number; variant: string }[]): string {
  const [first] = runs;
  return runs.length === 1 ? `run ${first?.number}, ${first?.variant}` : `runs ${first?.number}–${runs.at(-1)?.number}`;
}

function timeLeft(left: ReturnType<RemainingTime['left']>): string {
  if (left === undefined) return '';
  const { expectedSeconds, maxSeconds } = left;
  const most = `${formatDuration(maxSeconds)} left at most`;
  return expectedSeconds === undefined || expectedSeconds >= maxSeconds
    ? most
    : `${formatEstimate(expectedSeconds)} left if nothing is lost, ${most}`;
}

/** `base 1,057 ns, patched 1,170 ns`; for a variant without a valid run, the reason. */
function lastOf(entry: JournalEntry, metric: Metric): { cell?: string; text: string } {
  if (entry.kind !== 'measured') return { text: entry.kind === 'failed' ? entry.reason : '' };
  const byVariant = Map.groupBy(entry.runs, (run) => run.variant);
  const medians = [...byVariant].toSorted().map(([variant, runs]) => {
    const valid = runs.filter(({ validity }) => validity.kind === 'valid');
    const values = valid.flatMap((run) => run[metric] ?? []);
    const [fault] = runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity.reason : []));
    return valid.length === 0 && fault !== undefined
      ? `${variant} does not count: ${plainLine(fault, 120)}`
      : `${variant} ${formatMetric(median(values), metric)}`;
  });
  return { cell: cellName(entry.summary.cell), text: medians.join(', ') };
}

function changingLine(output: ProgressOutput) {
  return {
    show(text: string) {
      output.write(`\r\x1b[2K${text.slice(0, (output.columns ?? 80) - 1)}`);
    },
    say: (text: string) => void output.write(`\r\x1b[2K${text}\n`),
    end() {
      output.write('\r\x1b[2K');
    },
  };
}

function lineAfterLine(output: ProgressOutput) {
  // Keeps output of hosts on one line: CI logs treat lines that begin with :: as commands.
  const say = (text: string) => void output.write(`${text.replace(/\s+/g, ' ')}\n`);
  return { show: say, say, end() {} };
}
