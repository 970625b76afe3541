import { expect, test } from 'vitest';
import { readLinuxLogs } from '../../../src/lab/netns/netns-logs.ts';
import { forwarding } from '../../fakes/result.ts';

const planned = {
  number: 3,
  cell: forwarding,
  runs: [
    { number: 1, pair: 1, variant: 'base' },
    { number: 2, pair: 1, variant: 'patched' },
  ],
};

/** Two runs of one sample of 20 ms; the thread was busy for 19 ms of each. */
const dut = [
  'lay base 1.0 1.1',
  'sample 0 1.200000 1000 1000 1000000',
  'sample 0 1.220000 17000 17000 20000000',
  'lay patched 1.3 1.4',
  'sample 1 1.500000 18000 18000 30000000',
  'sample 1 1.520000 30000 30000 49000000',
  'end',
  '',
].join('\n');
const sender = '\n     3000000 packets outgoing\n     2 sec, 0 usec on CPU0 (3000000 packets)\n';

const countersOf = (forwarded: number, received: number) =>
  JSON.stringify({
    before: { forwarded: 5, received: 7 },
    after: { forwarded: 5 + forwarded, received: 7 + received },
  });

const logs = { dut, sender, counters: countersOf(30_000, 30_000) };
const startedAt = '2026-11-20T12:00:00.000Z';

test('the three logs of a trial are its runs and its summary', () => {
  expect(readLinuxLogs(planned, startedAt, logs)).toMatchObject({
    kind: 'measured',
    runs: [
      { number: 1, trial: 3, variant: 'base', pps: expect.closeTo(800_000, 3) },
      { number: 2, trial: 3, variant: 'patched', pps: expect.closeTo(600_000, 3) },
    ],
    summary: { number: 3, cell: forwarding, startedAt, trafficSeconds: 2, offeredPps: 1_500_000 },
  });
});

test('A run without a forwarded packet has what dropped its packets.', () => {
  const silent = dut
    .replace('1.520000 30000 30000', '1.520000 30000 18000')
    .replace('end\n', 'drops patched\ntrace trace id 1 ip filter forward policy drop\nend\n');
  const outcome = readLinuxLogs(planned, startedAt, { ...logs, dut: silent });
  expect(outcome.kind === 'measured' && outcome.runs).toMatchObject([
    expect.not.objectContaining({ droppedBy: expect.anything() }),
    { pps: 0, droppedBy: 'the policy of chain forward of table ip filter' },
  ]);
});

test('a sender that waited for its CPU is known from its log', () => {
  const idle = dut.replaceAll('20000000', '12000000').replaceAll('49000000', '41000000');
  const waited = 'waited 2050000000 ns and 0 ticks from 1795375220.000000 to 1795375225.000000\n';
  const busy = { validity: { cause: 'machine-busy' } };
  const outcome = readLinuxLogs(planned, startedAt, { ...logs, dut: idle, sender: waited + sender });
  expect(outcome).toMatchObject({ runs: [busy, busy] });
});

test('packets that the DUT forwarded and the receiver never saw make a trial fail', () => {
  const counters = countersOf(30_000, 29_000);
  expect(readLinuxLogs(planned, startedAt, { ...logs, counters })).toEqual({
    kind: 'failed',
    reason: 'the receiver counted 29000 packets of the 30000 that the DUT forwarded',
  });
});

test.for([
  ['sender', { sender: 'trafgen: no such device\n' }],
  ['counters', { counters: logs.counters.slice(0, -6) }],
  ['DUT', { dut: dut.slice(0, -6) }],
] as const)('a truncated log of the %s makes a trial fail', ([, changes]) => {
  expect(readLinuxLogs(planned, startedAt, { ...logs, ...changes })).toMatchObject({ kind: 'failed' });
});
