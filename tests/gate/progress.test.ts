import { expect, test } from 'vitest';
import type { RunCounts } from '../../src/analysis/stats/interim-result.ts';
import type { ExperimentEvent } from '../../src/gate/experiment/experiment-event.ts';
import { showProgress } from '../../src/gate/progress.ts';
import { aHistoryEntry } from '../fakes/history.ts';
import { aPlan, gateConfig, singleRuns } from '../fakes/plan.ts';
import { aRun, aTrial, forwarding, unfit } from '../fakes/result.ts';

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
    summary: aTrial(),
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

test('a log has one line per trial, and one per cell before the first run', async () => {
  const plan = aPlan();
  const other = { ...trial, number: 2, cell: { ...forwarding, family: 'inet6' as const } };
  const runs = [aRun({ pps: 0, validity: unfit('no packet was counted') })];
  const known = [1, 2, 3].map((day) => aHistoryEntry({ at: `2026-11-0${day}T12:00:00.000Z` }));
  const pps = [800_000, 840_000, 760_000, 880_000, 720_000];
  const noisy = known.map((entry) => ({ ...entry, pps }));
  const gate = { ...gateConfig, maxRunsPerVariant: 10 };
  const logs: Record<string, ExperimentEvent[]> = {
    'two trials': [
      { kind: 'planned', plan },
      { kind: 'preparing', text: 'installing each variant once' },
      started(1),
      measured,
      started(2),
    ],
    'another cell': [started(1), measured, { kind: 'trial', trial: other, attempt: 1, done: 1, of: 4 }],
    'a run that does not count': [started(1), { ...measured, entry: { ...measured.entry, runs } }, started(2)],
    'known and unknown noise': [
      { kind: 'planned', plan: aPlan({ ...singleRuns, families: ['inet4', 'inet6'] }, known) },
    ],
    'too much noise': [{ kind: 'planned', plan: aPlan({ ...singleRuns, gate }, noisy) }],
  };
  const texts = Object.entries(logs).map(([name, events]) => `${name}\n${written(events).join('')}`);
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/progress.txt');
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
