// Tests reading the logs of a trial on a FreeBSD testbed, including drops on its DUT.
import { expect, test } from 'vitest';
import { readFreebsdLogs } from '../../../src/lab/freebsd/freebsd-logs.ts';
import type { TrialLimits } from '../../../src/model/limits.ts';
import { usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { losing } from '../../fakes/limits.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';

const rule = 'the rule "block drop all" of pf';
const dropped = losing(1_000_000, 'firewall', rule);
const startedAt = '2026-11-26T12:00:00.000Z';

function readWith(pps: number, limits: TrialLimits) {
  const receiver = madeLog({ pps: trial(pps, 20) });
  const senders = [madeLog({ pps: trial(1e5, 20), side: 'sender' })];
  const planned = {
    number: 1,
    cell: { scenario: 'pf-stateless', family: 'inet4' },
    runs: [{ number: 1, pair: 1, variant: 'patched' }],
  } as const;
  const outcome = readFreebsdLogs(
    { ...planned, runs: [...planned.runs] },
    { receiver, senders },
    { startedAt, traffic: usualTraffic, summary: { limits: { patched: limits } } },
  );
  if (outcome.kind !== 'measured') throw new Error(outcome.kind);
  return outcome;
}

test('A run without a forwarded packet has what dropped its packets.', () => {
  expect(readWith(0, dropped).runs).toMatchObject([{ pps: 0, droppedBy: rule }]);
});

test('Limits of a trial are the same when its logs are read again.', () => {
  const { patched } = readWith(0, dropped).summary.limits ?? {};
  if (patched === undefined) throw new Error('no limits');
  expect(readWith(0, patched).summary.limits).toEqual({ patched });
});
