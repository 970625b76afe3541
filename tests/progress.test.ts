import { expect, test } from 'vitest';
import type { ExperimentEvent } from '../src/experiment/experiment.ts';
import { showProgress } from '../src/progress.ts';
import { aRun, forwarding } from './fakes/result.ts';

const blast = {
  number: 1,
  cell: forwarding,
  runs: [
    { number: 1, pair: 1, variant: 'base' },
    { number: 2, pair: 1, variant: 'patched' },
  ],
};
const at = '2026-11-20T12:00:00.000Z';

const measured: ExperimentEvent = {
  kind: 'ended',
  blast,
  entry: {
    kind: 'measured',
    at,
    summary: {
      number: 1,
      attempt: 1,
      cell: forwarding,
      startedAt: at,
      trafficSeconds: 2,
      offeredPps: 3e6,
      logs: 'blasts/001-forwarding-inet4',
    },
    runs: [aRun(), aRun({ variant: 'patched', pps: 700_000 })],
  },
};

const started = (number: number, attempt = 1): ExperimentEvent => ({
  kind: 'blast',
  blast: { ...blast, number },
  attempt,
  done: number - 1,
  of: 4,
});

/** What is written when each event comes four seconds after the one before. */
function written(events: ExperimentEvent[], terminal: { isTTY?: boolean; columns?: number } = {}) {
  const texts: string[] = [];
  let seconds = 0;
  const output = {
    ...terminal,
    write: (text: string | Uint8Array) => texts.push(String(text)) > 0,
  };
  const progress = showProgress(output, 'pps', () => seconds * 1000);
  for (const event of events) {
    seconds += 4;
    progress.onEvent(event);
  }
  progress.end();
  return texts;
}

test('a log gets a line a blast: where it stands, what the last one gave, and the time left', () => {
  expect(written([{ kind: 'preparing' }, started(1), measured, started(2)])).toEqual([
    'laying every variant once …\n',
    'blast 1 of 4 · runs 1–2 · forwarding inet4\n',
    'blast 2 of 4 · runs 1–2 · forwarding inet4 · last: base 800.0 kpps, patched 700.0 kpps · 48 s left\n',
  ]);
});

test('a terminal gets one line that changes, cut to its width, and is cleared at the end', () => {
  const texts = written([started(1)], { isTTY: true, columns: 20 });
  expect(texts).toEqual(['\r\u001b[2Kblast 1 of 4 · runs', '\r\u001b[2K']);
});

test('a repeated blast says so, and a failed one why', () => {
  const reason = 'trafgen ended\n::error::without its summary';
  const failed: ExperimentEvent = {
    kind: 'ended',
    blast,
    entry: { kind: 'failed', at, blast: 1, reason },
  };
  const [, second] = written([started(1), failed, started(1, 2)]).slice(0, 2);
  // A CI log would take a line that begins with :: for a command.
  expect(second).toMatch(
    /^blast 1 of 4 \(try 2\) · .* · last: trafgen ended ::error::without its summary · \d+ s left\n$/,
  );
});
