import { expect, test } from 'vitest';
import type { RunCounts } from '../../src/analysis/stats/interim-result.ts';
import type { ExperimentEvent } from '../../src/gate/experiment/experiment-event.ts';
import { showProgress } from '../../src/gate/progress.ts';
import { aHistoryEntry } from '../fakes/history.ts';
import { aPlan, gateConfig, singleRuns } from '../fakes/plan.ts';
import { aRun, forwarding, unfit } from '../fakes/result.ts';

const trial = {
  number: 1,
  cell: forwarding,
  runs: [
    { number: 1, pair: 1, variant: 'base' },
    { number: 2, pair: 1, variant: 'patched' },
  ],
};
const at = '2026-11-20T12:00:00.000Z';

const measured = {
  kind: 'ended',
  trial,
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
      logs: 'trials/001-forwarding-inet4',
    },
    runs: [aRun(), aRun({ variant: 'patched', pps: 700_000 })],
  },
} satisfies ExperimentEvent;

const started = (number: number, attempt = 1): ExperimentEvent => ({
  kind: 'trial',
  trial: { ...trial, number },
  attempt,
  done: number - 1,
  of: 4,
});

/** The output when each event follows the previous one after four seconds. */
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

test('a log gets one line per trial: its place, the last numbers, and the remaining time', () => {
  const preparing: ExperimentEvent = { kind: 'preparing', text: 'installing each variant once' };
  const lines = written([{ kind: 'planned', plan: aPlan() }, preparing, started(1), measured, started(2)]);
  expect(lines.slice(-3)).toEqual([
    'installing each variant once …\n',
    'trial 1 of at most 4 · runs 1–2 · forwarding inet4\n',
    'trial 2 of at most 4 · runs 1–2 · forwarding inet4 · last: base 800.0 kpps, patched 700.0 kpps · 24 s left at most\n',
  ]);
});

test('the last numbers of another cell have its name', () => {
  const ofOther: ExperimentEvent = {
    kind: 'trial',
    trial: { ...trial, number: 2, cell: { ...forwarding, family: 'inet6' } },
    attempt: 1,
    done: 1,
    of: 4,
  };
  expect(written([started(1), measured, ofOther]).at(-1)).toMatch(
    / · forwarding inet6 · last \(forwarding inet4\): base 800\.0 kpps, /,
  );
});

test('a run that does not count is shown with its reason, and not as a measurement', () => {
  const invalid: ExperimentEvent = {
    ...measured,
    entry: {
      ...measured.entry,
      runs: [aRun({ pps: 0, validity: unfit('no packet was counted') })],
    },
  };
  expect(written([started(1), invalid, started(2)]).at(-1)).toContain(
    'last: base does not count: no packet was counted',
  );
});

test('the remaining time follows the pace of the trials so far, unless earlier gates have shown theirs', () => {
  const timesOf = (plan: ReturnType<typeof aPlan>) =>
    written([{ kind: 'planned', plan }, started(1), measured, started(2)])
      .filter((line) => line.startsWith('trial '))
      .map((line) => / · ([^·]*) left at most/.exec(line)?.[1]);
  const plan = aPlan();
  expect(timesOf(plan)).toEqual([undefined, '24 s']);
  const durations = { bootSeconds: 0, trialSeconds: 24, buildSeconds: 0, gates: 1 };
  expect(timesOf({ ...plan, durations })).toEqual(['1 min 36 s', '48 s']);
});

test('a terminal gets one line that changes, cut to its width, and is cleared at the end', () => {
  const texts = written([started(1)], { isTTY: true, columns: 20 });
  expect(texts).toEqual(['\r\u001b[2Ktrial 1 of at most ', '\r\u001b[2K']);
});

// Attack read/host-line: A line from a host is a command to the runner. Defence: Output of a host is put on one line of
// ours, without commands.
test('a repeated trial is marked, and a failed one has the reason', () => {
  const reason = 'trafgen ended\n::error::without its summary';
  const failed: ExperimentEvent = {
    kind: 'ended',
    trial,
    entry: { kind: 'failed', at, trial: 1, reason },
  };
  const [, second] = written([started(1), failed, started(1, 2)]).slice(0, 2);
  // A CI log treats a line that begins with :: as a command.
  expect(second).toMatch(/^trial 1 of at most 4 \(try 2\) · .* · last: trafgen ended ::error::without its summary\n$/);
});

test('shows the design, the limit and the estimate of every cell before the first run', () => {
  const known = [1, 2, 3].map((day) => aHistoryEntry({ at: `2026-11-0${day}T12:00:00.000Z` }));
  const plan = aPlan({ ...singleRuns, families: ['inet4', 'inet6'] }, known);
  expect(written([{ kind: 'planned', plan }])).toEqual([
    'forwarding inet4: group-sequential, at most 20 + 20 runs; noise 0.523 % (15 earlier runs): about 4 runs without a loss, 4 with a loss of 5 %\n',
    'forwarding inet6: group-sequential, at most 20 + 20 runs\n',
    'under 1 min if nothing is lost (10 trials), 1 min if 5 % is; from default values, because no gate has run here yet, assuming that runs vary by 1 %\n',
  ]);
});

test('warns before the first run that a cell is too noisy for its margin, with the smallest possible margin', () => {
  const pps = [800_000, 840_000, 760_000, 880_000, 720_000];
  const known = [1, 2].map((day) => aHistoryEntry({ at: `2026-11-0${day}T12:00:00.000Z`, pps }));
  const plan = aPlan({ ...singleRuns, gate: { ...gateConfig, maxRunsPerVariant: 10 } }, known);
  expect(written([{ kind: 'planned', plan }])[1]).toMatch(
    /^forwarding inet4: too noisy to find a loss of 5 % in 95 % of cases; it can find 1\d(\.\d)? %: widen the margin, or allow more runs\n$/,
  );
});

test('a decided cell is reported on a line that stays', () => {
  const counts: RunCounts = { counted: [24, 24], made: [26, 26] };
  const decided = { kind: 'decided', cell: forwarding, counts } as const;
  const texts = written(
    [
      { ...decided, verdict: { kind: 'regression' } },
      { ...decided, verdict: { kind: 'invalid', reason: 'machine\n::error:: too busy' } },
    ],
    { isTTY: true },
  );
  expect(texts.slice(0, 2)).toEqual([
    '\r\u001b[2Kforwarding inet4: regression after 24 + 24 of 26 + 26 runs\n',
    '\r\u001b[2Kforwarding inet4: invalid: machine ::error:: too busy\n',
  ]);
});
