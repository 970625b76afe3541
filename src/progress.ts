// What a person sees while an experiment runs: one line that changes on a terminal, one line a blast elsewhere.
import type { WriteStream } from 'node:tty';
import type { ExperimentEvent } from './experiment/experiment.ts';
import type { Entry } from './experiment/journal.ts';
import { formatDuration, formatMetric } from './report/format.ts';
import type { Metric } from './report/result.ts';
import { cellName } from './scenario/scenario.ts';
import { median } from './stats/summary.ts';

export type Output = Pick<WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

/** Tells of the events of one experiment; `now` in milliseconds. */
export function showProgress(output: Output, metric: Metric, now: () => number) {
  const line = output.isTTY ? changingLine(output) : plainLine(output);
  const pace = { startedAt: now(), blasts: 0 };
  let last = '';

  return {
    onEvent(event: ExperimentEvent): void {
      switch (event.kind) {
        case 'preparing':
          line.show('laying every variant once …');
          break;
        case 'blast': {
          const { blast, attempt, done, of } = event;
          const again = attempt > 1 ? ` (try ${attempt})` : '';
          const left = timeLeft((now() - pace.startedAt) / 1000, pace.blasts, of - done);
          const place = `blast ${blast.number} of ${of}${again} · ${runRange(blast.runs)}`;
          const parts = [place, cellName(blast.cell), last, left];
          line.show(parts.filter(Boolean).join(' · '));
          break;
        }
        case 'ended':
          pace.blasts += 1;
          last = summary(event.entry, metric);
      }
    },
    end: () => line.end(),
  };
}

const runRange = (runs: readonly { number: number }[]): string =>
  `runs ${runs.at(0)?.number}–${runs.at(-1)?.number}`;

/** Nothing before the first blast has told how long one takes. */
function timeLeft(seconds: number, blasts: number, left: number): string {
  return blasts === 0 ? '' : `${formatDuration((seconds / blasts) * left)} left`;
}

/** `last: base 1,057 ns, patched 1,170 ns`. */
function summary(entry: Entry, metric: Metric): string {
  if (entry.kind !== 'measured') return entry.kind === 'failed' ? `last: ${entry.reason}` : '';
  const byVariant = Map.groupBy(entry.runs, (run) => run.variant);
  const medians = [...byVariant].toSorted().map(([variant, runs]) => {
    const values = runs.flatMap((run) => run[metric] ?? []);
    return `${variant} ${formatMetric(median(values), metric)}`;
  });
  return `last: ${medians.join(', ')}`;
}

function changingLine(output: Output) {
  return {
    show(text: string) {
      output.write(`\r\x1b[2K${text.slice(0, (output.columns ?? 80) - 1)}`);
    },
    end() {
      output.write('\r\x1b[2K');
    },
  };
}

function plainLine(output: Output) {
  return {
    // On one line whatever a host said: a CI log takes lines that begin with :: for commands.
    show: (text: string) => void output.write(`${text.replace(/\s+/g, ' ')}\n`),
    end() {},
  };
}
