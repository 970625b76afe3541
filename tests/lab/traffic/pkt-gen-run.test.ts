import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BenchRun, readBenches } from '../../../src/cli/netbenches/directory.ts';
import { type PktGenLog, parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { type PktGenRunOptions, pktGenRun } from '../../../src/lab/traffic/pkt-gen-run.ts';
import { type MadeLog, madeLog, trial } from '../../fakes/pkt-gen.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

const ours: PktGenRunOptions = { netbenchesTrim: false };
const archive: PktGenRunOptions = { netbenchesTrim: true };

const received = (pps: readonly number[]) => parsePktGenLog(madeLog({ pps }));
const sent = (pps: readonly number[], more: Partial<MadeLog> = {}) =>
  parsePktGenLog(madeLog({ pps, side: 'sender', ...more }));
const invalid = (reason: string, cause: unknown = expect.any(String)) => ({
  kind: 'invalid',
  cause,
  reason,
});

test('a run’s number is the median of its steady stretch', () => {
  const run = pktGenRun(received([0, 0, ...trial(5e6, 30), 0]), sent(trial(14e6, 30)), ours);
  expect(run).toEqual({
    medianPps: 5e6,
    offeredPps: 14e6,
    seconds: 30,
    steadyAfterSeconds: 13,
    validity: { kind: 'valid' },
  });
});

test('the archive’s median drops 15 lines at the start, 10 at the end, and zeros', () => {
  // Of 10 + 32 lines 17 remain: the rates from the 7th (line 16) to the 23rd (line 32), one of them zero.
  const pps = Array.from({ length: 32 }, (_, index) => (index === 10 ? 0 : 1e6 + index));
  const run = pktGenRun(received(pps), undefined, archive);
  expect(run.medianPps).toBe(1e6 + 14.5);
  expect(run.seconds).toBe(16);
});

test('a crash makes the run invalid, on whichever side', () => {
  const crash = '950.000000 main_thread [2304] ouch, thread 0 exited with error\n';
  const good = madeLog({ pps: trial(5e6, 30) });
  const offered = madeLog({ pps: trial(14e6, 30), side: 'sender' });
  const validity = (receiver: string, sender: string) =>
    pktGenRun(parsePktGenLog(receiver), parsePktGenLog(sender), ours).validity;
  const words = 'pkt-gen crashed: "ouch, thread 0 exited with error" on line 43';
  expect(validity(good + crash, offered)).toEqual(invalid(`receiver: ${words}`));
  expect(validity(good, offered + crash)).toEqual(invalid(`sender: ${words}`));
});

test('a log that cannot be read says why it is not', () => {
  const message = 'bench.a.1.sender cannot be read: it is not a regular file';
  const sender: PktGenLog = {
    rates: [],
    lines: 0,
    skipped: 0,
    faults: [{ kind: 'unreadable', message }],
  };
  expect(pktGenRun(received(trial(5e6, 30)), sender, ours).validity).toEqual(invalid(`sender: ${message}`));
});

test('a log without any readable rate quotes the first', () => {
  const text = madeLog({ pps: trial(5e6, 30) }).replaceAll(' pps (', ' packets a second (');
  const { kind, reason } = {
    reason: '',
    ...pktGenRun(parsePktGenLog(text), undefined, ours).validity,
  };
  expect(kind).toBe('invalid');
  expect(reason).toMatch(
    /^receiver: \d+ rates, the first on line \d+ of the log cannot be read: "[\d.]+ main_thread \[\d+\] \d+ packets a second \(/,
  );
});

test('a log truncated before enough was measured is reported with the line', () => {
  const text = madeLog({ pps: trial(5e6, 30) });
  const tenLines = text.split('\n').slice(0, 15).join('\n').slice(0, -20);
  expect(pktGenRun(parsePktGenLog(tenLines), undefined, ours).validity).toEqual(
    invalid(
      'only 4.0 s of steady traffic, at least 10 s are needed (line 15 of the log, its last, has no line break: "906.000000 main_thread [2277] 5005000 pps (5005000 pkts 2402400000 bps in 10000…")',
    ),
  );
});

test('a receiver that saw nothing is invalid: a dead link looks the same', () => {
  const run = pktGenRun(received(Array(60).fill(0)), sent(trial(14e6, 30)), ours);
  expect(run).toMatchObject({
    medianPps: 0,
    seconds: 0,
    validity: invalid(
      'no steady rate: no packet was received in 60 s, and the packet counters of the DUT are unknown',
      'unsteady',
    ),
  });
});

test('fewer than ten steady seconds are too few', () => {
  expect(pktGenRun(received(trial(5e6, 9)), undefined, ours).validity).toEqual(
    invalid('only 9.0 s of steady traffic, at least 10 s are needed'),
  );
  expect(pktGenRun(received(trial(5e6, 10)), undefined, ours).validity.kind).toBe('valid');
});

test.for([
  [0, 'no packet'],
  [100, 'hardly any packet'],
] as const)('a hole of %i pps is told with its length and its end', ([pps, words]) => {
  const run = pktGenRun(
    received([...trial(5e6, 20).slice(0, -1), pps, pps, ...trial(5e6, 20).slice(1)]),
    undefined,
    ours,
  );
  expect(run.validity).toEqual(invalid(`${words} was received for 2.0 s, until 22 s after the log's first rate`));
});

test('a DUT that forwards 98 % of the offer was not its limit', () => {
  const validity = (pps: number) => pktGenRun(received(trial(pps, 30)), sent(trial(14_881_000, 30)), ours).validity;
  expect(validity(14_817_000)).toEqual(
    invalid(
      'generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %), and the line carries 14.88 Mpps (10 Gbit/s)',
      'generator-limited',
    ),
  );
  expect(validity(14_584_000).kind).toBe('invalid');
  expect(validity(14_583_000).kind).toBe('valid');
});

describe('a DUT that forwards all of the offer', () => {
  const limited = (pps: number, options: Partial<PktGenRunOptions>, senders = 1) => {
    const { validity } = pktGenRun(
      received(trial(senders * pps, 30)),
      Array.from({ length: senders }, () => sent(trial(pps, 30))),
      { ...ours, ...options },
    );
    return validity.kind === 'invalid' && validity.reason.replace(/.*\(100 %\)/, '');
  };

  test('is reported with the line if that is full, though a rate is set', () => {
    const options = { requestedPps: [14.88e6], lineGigabits: 10 };
    expect(limited(14.88e6, options)).toBe(', and the line carries 14.88 Mpps (10 Gbit/s)');
  });

  test('is reported with the speed of its port, however slow the generator', () => {
    const line = ', and the line carries 14.88 Mpps (10 Gbit/s)';
    expect(limited(1e6, { lineGigabits: 10 })).toBe(line);
    expect(limited(1e6, { lineGigabits: 10 }, 2)).toBe(line);
  });
});

test('an unsteady offered rate counts as unknown', () => {
  const run = pktGenRun(received(trial(5e6, 30)), sent([]), ours);
  expect(run).not.toHaveProperty('offeredPps');
  expect(run.validity).toEqual(invalid('sender: no steady rate: not one packet was counted'));
});

test('the offer of several senders is the sum, and is known only if each of them was steady', () => {
  const senders = [sent(trial(7e6, 30)), sent(trial(6e6, 30))];
  const run = pktGenRun(received(trial(5e6, 30)), senders, ours);
  expect(run).toMatchObject({ offeredPps: 13e6, validity: { kind: 'valid' } });

  const dead = pktGenRun(received(trial(5e6, 30)), [...senders, sent([])], ours);
  expect(dead).not.toHaveProperty('offeredPps');
  expect(dead.validity).toEqual(invalid('sender 3: no steady rate: not one packet was counted', 'unsteady'));
});

test('a sender that reaches less than 95 % of its requested rate is reported by its number', () => {
  const senders = [sent(trial(7e6, 30)), sent(trial(6e6, 30))];
  const validity = (requestedPps: number[]) =>
    pktGenRun(received(trial(5e6, 30)), senders, { ...ours, requestedPps }).validity;
  expect(validity([7e6, 8e6])).toEqual(
    invalid('sender 2: it sent slower than requested, 6.000 Mpps of 8.000 Mpps (75 %)', 'generator-limited'),
  );
  expect(validity([7.3e6, 6.3e6])).toEqual({ kind: 'valid' });
});

describe('compared with the DUT’s count of sent packets', () => {
  const offer = sent(trial(14e6, 20));
  const validity = (received: PktGenLog, egressPackets: number | undefined, sender = offer) =>
    pktGenRun(received, sender, { ...ours, egressPackets }).validity;
  /** Packets of the trial, with its first and its last second, and the sender's time. */
  const packetsOf = ({ rates }: PktGenLog) => rates.reduce((sum, { packets }) => sum + packets, 0);

  test('a receiver that counts clearly fewer was the limit, and both rates are reported', () => {
    const slow = received(trial(6.2e6, 20));
    expect(validity(slow, 9.1e6 * 22)).toEqual(
      invalid('receiver-limited: the DUT sent 9.100 Mpps and the receiver counted 6.200 Mpps', 'receiver-limited'),
    );
  });

  test('98 % is accepted, and so is a DUT that does not report', () => {
    const log = received(trial(5e6, 20));
    const all = packetsOf(log);
    expect(validity(log, all)).toEqual({ kind: 'valid' });
    expect(validity(log, all / 0.981)).toEqual({ kind: 'valid' });
    expect(validity(log, all / 0.9).kind).toBe('invalid');
    expect(validity(log, undefined)).toEqual({ kind: 'valid' });
    expect(validity(log, 0)).toEqual({ kind: 'valid' });
  });

  test('a rate that is above its median at first loses no packets', () => {
    const warm = received([9e6, 9e6, 9e6, ...trial(5e6, 17)]);
    expect(packetsOf(warm) / 22 / 5e6).toBeGreaterThan(1.03);
    expect(validity(warm, packetsOf(warm))).toEqual({ kind: 'valid' });
  });

  test('the summary counts what came after the last rate', () => {
    const log = received(trial(5e6, 20));
    const summary = { packets: packetsOf(log) * 1.1, seconds: 22, pps: 5e6 };
    expect(validity(log, summary.packets).kind).toBe('invalid');
    expect(validity({ ...log, summary }, summary.packets)).toEqual({ kind: 'valid' });
  });

  test('it is the receiver that was the limit even where it seems that the generator was', () => {
    const slow = received(trial(5e6, 20));
    const offered = sent(trial(5e6, 20));
    expect(validity(slow, 6e6 * 22, offered)).toMatchObject({ cause: 'receiver-limited' });
  });
});

describeWith(['shared/corpus/runs'], 'the archive’s runs', () => {
  const corpus = sharedFolder('corpus/runs');
  const judged = ({ receiver, sender }: BenchRun, options: PktGenRunOptions) =>
    pktGenRun(receiver.log, sender?.log, options);

  test.for(['r325006-D12685', 'r368606-D27401'])(
    'the medians of %s are the published ones, to the packet',
    async (study) => {
      const folder = join(corpus, study);
      for (const { label, runs } of await readBenches(folder)) {
        const published = readFileSync(join(folder, `${label}.pps`), 'utf8')
          .trim()
          .split('\n');
        expect(runs.map((run) => judged(run, archive).medianPps)).toEqual(published.map(Number));
      }
    },
  );

  test('all 20 runs of D12685 count', async () => {
    const sets = await readBenches(join(corpus, 'r325006-D12685'));
    const validities = sets.flatMap(({ runs }) => runs.map((run) => judged(run, ours).validity));
    expect(validities).toEqual(Array(20).fill({ kind: 'valid' }));
  });

  test('all 10 runs of D27401 were limited by the generator', async () => {
    const sets = await readBenches(join(corpus, 'r368606-D27401'));
    const validities = sets.flatMap(({ runs }) => runs.map((run) => judged(run, ours).validity));
    const reason =
      'generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %), and the line carries 14.88 Mpps (10 Gbit/s)';
    expect(validities).toEqual(Array(10).fill(invalid(reason, 'generator-limited')));
  });
});

describe('a run in which no packet was received', () => {
  const offer = sent(trial(14e6, 20));
  const all = offer.rates.reduce((sum, { packets }) => sum + packets, 0);
  const silence = received(new Array<number>(26).fill(0));
  const dropped = { ...ours, ingressPackets: all, egressPackets: 40 };
  const run = (more: Partial<PktGenRunOptions> = {}, sender: PktGenLog | undefined = offer) =>
    pktGenRun(silence, sender, { ...dropped, ...more });
  const silent = 'no steady rate: no packet was received in 26 s, and';
  const unknown = `${silent} the packet counters of the DUT are unknown`;

  test('counts if the DUT’s own ports prove that it received them, and sent none', () => {
    expect(run()).toMatchObject({ medianPps: 0, validity: { kind: 'valid' } });
    // A card may count some of the packets that it must drop.
    expect(run({ ingressPackets: all * 0.6 }).validity).toEqual({ kind: 'valid' });
  });

  test.each<[string, Partial<PktGenRunOptions>, string]>([
    ['did not get them', { ingressPackets: 0 }, `${silent} the ports of the DUT counted 0 in and 40 out`],
    ['got a few', { ingressPackets: 28_000_000 }, `${silent} the ports of the DUT counted 28,000,000 in and 40 out`],
    ['does not tell what it got', { ingressPackets: undefined }, unknown],
    ['does not tell what it sent', { egressPackets: undefined }, unknown],
  ])('does not where the DUT %s', (_, more, why) => {
    expect(run(more).validity).toEqual(invalid(why, 'unsteady'));
  });

  test('does not if the DUT sent them, and the receiver counted none', () => {
    expect(run({ egressPackets: 130_000_000 }).validity).toEqual(
      invalid('no steady rate: no packet was received in 26 s, although 130,000,000 left the DUT', 'unsteady'),
    );
  });

  test('does not without a sender, or if it sent too little, or for too short a time', () => {
    expect(run({}, sent(new Array<number>(20).fill(0))).validity).toMatchObject({
      kind: 'invalid',
    });
    expect(pktGenRun(silence, undefined, dropped).validity).toEqual(
      invalid(`${silent} the ports of the DUT counted ${all.toLocaleString('en')} in and 40 out`, 'unsteady'),
    );
    expect(run({ requestedPps: [20e6] }).validity).toMatchObject({ cause: 'generator-limited' });
    expect(pktGenRun(received([0, 0, 0]), offer, dropped).validity).toMatchObject({
      cause: 'too-short',
    });
  });
});
