import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readBenches } from '../../../src/cli/netbenches/directory.ts';
import { type PktGenLog, parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { type PktGenRun, type PktGenRunOptions, pktGenRun } from '../../../src/lab/traffic/pkt-gen-run.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

const received = (pps: readonly number[]) => parsePktGenLog(madeLog({ pps }));
const sent = (pps: readonly number[]) => parsePktGenLog(madeLog({ pps, side: 'sender' }));
const packetsOf = ({ rates }: PktGenLog) => rates.reduce((sum, { packets }) => sum + packets, 0);

type Logs = { receiver?: PktGenLog; senders?: readonly PktGenLog[] | undefined };

/** A run of 5 Mpps received of 14 Mpps sent, for 30 s, with these changes. */
const run = ({ receiver = steady, senders = [offer] }: Logs, options: Partial<PktGenRunOptions> = {}): PktGenRun =>
  pktGenRun(receiver, senders, { netbenchesTrim: false, ...options });
const steady = received(trial(5e6, 30));
const offer = sent(trial(14e6, 30));

test('a run’s number is the median of its steady stretch', () => {
  expect(run({ receiver: received([0, 0, ...trial(5e6, 30), 0]) })).toEqual({
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
  const { medianPps, seconds } = pktGenRun(received(pps), undefined, { netbenchesTrim: true });
  expect([medianPps, seconds]).toEqual([1e6 + 14.5, 16]);
});

test('the offer of several senders is the sum, and is known only if each of them was steady', () => {
  const senders = [sent(trial(7e6, 30)), sent(trial(6e6, 30))];
  expect(run({ senders })).toMatchObject({ offeredPps: 13e6, validity: { kind: 'valid' } });
  expect(run({ senders: [...senders, sent([])] })).not.toHaveProperty('offeredPps');
});

const crash = '950.000000 main_thread [2304] ouch, thread 0 exited with error\n';
const crashed = (side: 'receiver' | 'sender', pps: number) =>
  parsePktGenLog(madeLog({ pps: trial(pps, 30), side }) + crash);
const message = 'bench.a.1.sender cannot be read: it is not a regular file';
const unreadable: PktGenLog = { rates: [], lines: 0, skipped: 0, faults: [{ kind: 'unreadable', message }] };
const text = madeLog({ pps: trial(5e6, 30) });
const withoutRates = parsePktGenLog(text.replaceAll(' pps (', ' packets a second ('));
const truncated = parsePktGenLog(text.split('\n').slice(0, 15).join('\n').slice(0, -20));

const withHole = (pps: number) => received([...trial(5e6, 20).slice(0, -1), pps, pps, ...trial(5e6, 20).slice(1)]);
const seconds = (count: number): Logs => ({ receiver: received(trial(5e6, count)), senders: undefined });

const full = [sent(trial(14_881_000, 30))];
const through = (pps: number): Logs => ({ receiver: received(trial(pps, 30)), senders: full });
const all = (pps: number, senders = 1): Logs => ({
  receiver: received(trial(senders * pps, 30)),
  senders: Array.from({ length: senders }, () => sent(trial(pps, 30))),
});
const two = [sent(trial(7e6, 30)), sent(trial(6e6, 30))];

const short = received(trial(5e6, 20));
const shortOffer = sent(trial(14e6, 20));
const egress = (egressPackets: number | undefined, receiver = short, sender = shortOffer) =>
  run({ receiver, senders: [sender] }, { egressPackets });
const warm = received([9e6, 9e6, 9e6, ...trial(5e6, 17)]);
const counted = packetsOf(short);
const summary = { packets: counted * 1.1, seconds: 22, pps: 5e6 };

const silence = received(new Array<number>(26).fill(0));
const silent = (more: Partial<PktGenRunOptions> = {}, logs: Logs = {}) =>
  run(
    { receiver: silence, senders: [shortOffer], ...logs },
    { ingressPackets: packetsOf(shortOffer), egressPackets: 40, ...more },
  );

const rows: readonly (readonly [name: string, cause: string | undefined, run: PktGenRun])[] = [
  ['a crash of the receiver', 'broken-log', run({ receiver: crashed('receiver', 5e6) })],
  ['a crash of the sender', 'broken-log', run({ senders: [crashed('sender', 14e6)] })],
  ['an unreadable log', 'broken-log', run({ senders: [unreadable] })],
  ['no readable rate', 'broken-log', run({ receiver: withoutRates, senders: undefined })],
  ['a log truncated before enough was measured', 'too-short', run({ receiver: truncated, senders: undefined })],
  ['nine steady seconds', 'too-short', run(seconds(9))],
  ['ten steady seconds', undefined, run(seconds(10))],
  ['a hole without packets', 'hole', run({ receiver: withHole(0), senders: undefined })],
  ['a hole with hardly a packet', 'hole', run({ receiver: withHole(100), senders: undefined })],
  ['99.6 % of the offer forwarded', 'generator-limited', run(through(14_817_000))],
  ['98 % of the offer forwarded', 'generator-limited', run(through(14_584_000))],
  ['hardly less than 98 % of the offer forwarded', undefined, run(through(14_583_000))],
  ['a full line', 'generator-limited', run(all(14.88e6), { requestedPps: [14.88e6], lineGigabits: 10 })],
  ['a slow generator', 'generator-limited', run(all(1e6), { lineGigabits: 10 })],
  ['two slow generators', 'generator-limited', run(all(1e6, 2), { lineGigabits: 10 })],
  ['a requested rate', 'generator-limited', run(all(5e6), { requestedPps: [5e6], lineGigabits: 10 })],
  ['an unsteady sender', 'unsteady', run({ senders: [sent([])] })],
  ['an unsteady sender of three', 'unsteady', run({ senders: [...two, sent([])] })],
  ['75 % of a requested rate', 'generator-limited', run({ senders: two }, { requestedPps: [7e6, 8e6] })],
  ['95 % of each requested rate', undefined, run({ senders: two }, { requestedPps: [7.3e6, 6.3e6] })],
  ['a receiver that counts clearly fewer', 'receiver-limited', egress(9.1e6 * 22, received(trial(6.2e6, 20)))],
  ['a receiver slower than a slow generator', 'receiver-limited', egress(6e6 * 22, short, sent(trial(5e6, 20)))],
  ['all packets of the DUT counted', undefined, egress(counted)],
  ['98 % of the packets of the DUT counted', undefined, egress(counted / 0.981)],
  ['90 % of the packets of the DUT counted', 'receiver-limited', egress(counted / 0.9)],
  ['a DUT that does not report', undefined, egress(undefined)],
  ['a DUT that counts nothing', undefined, egress(0)],
  ['a rate above its median at first', undefined, egress(packetsOf(warm), warm)],
  ['packets after the last rate, without a summary', 'receiver-limited', egress(summary.packets)],
  ['packets after the last rate, in the summary', undefined, egress(summary.packets, { ...short, summary })],
  ['silence of a DUT that received all and sent none', undefined, silent()],
  // A card may count some of the packets that it must drop.
  ['silence of a DUT that received 60 %', undefined, silent({ ingressPackets: packetsOf(shortOffer) * 0.6 })],
  ['silence of a DUT that received nothing', 'unsteady', silent({ ingressPackets: 0 })],
  ['silence of a DUT that received a few', 'unsteady', silent({ ingressPackets: 28_000_000 })],
  ['silence of a DUT that does not report receipt', 'unsteady', silent({ ingressPackets: undefined })],
  ['silence of a DUT that does not report sending', 'unsteady', silent({ egressPackets: undefined })],
  ['silence of a receiver behind a DUT that sent', 'unsteady', silent({ egressPackets: 130_000_000 })],
  ['silence of the sender, too', 'unsteady', silent({}, { senders: [sent(new Array<number>(20).fill(0))] })],
  ['silence without a sender', 'unsteady', silent({}, { senders: [] })],
  ['silence with a slow sender', 'generator-limited', silent({ requestedPps: [20e6] })],
  ['silence for three seconds', 'too-short', silent({}, { receiver: received([0, 0, 0]) })],
];

test.each(rows)('%s: %s', (_, cause, { validity }) => {
  expect(validity).toMatchObject(cause === undefined ? { kind: 'valid' } : { kind: 'invalid', cause });
});

test('each invalid run has its reason', async () => {
  const reasons = rows.flatMap(([name, , { validity }]) =>
    validity.kind === 'invalid' ? `${name}: ${validity.reason}\n` : [],
  );
  await expect(reasons.join('')).toMatchFileSnapshot('golden/validity.txt');
});

describeWith(['shared/corpus/runs'], 'the archive’s runs', () => {
  describe.each([
    ['r325006-D12685', Array(20).fill({ kind: 'valid' })],
    ['r368606-D27401', Array(10).fill(expect.objectContaining({ cause: 'generator-limited' }))],
  ])('of %s', (study, validities) => {
    const folder = join(sharedFolder('corpus/runs'), study);
    const judged = async (netbenchesTrim: boolean) =>
      (await readBenches(folder)).flatMap(({ label, runs }) =>
        runs.map(({ receiver, sender }) => ({
          label,
          ...pktGenRun(receiver.log, sender?.log, { netbenchesTrim }),
        })),
      );

    test('have the published medians, to the packet', async () => {
      const runs = await judged(true);
      const labels = [...new Set(runs.map(({ label }) => label))];
      const published = labels.flatMap((label) =>
        readFileSync(join(folder, `${label}.pps`), 'utf8')
          .trim()
          .split('\n')
          .map(Number),
      );
      expect(runs.map(({ medianPps }) => medianPps)).toEqual(published);
    });

    test('are valid, or limited by the generator', async () => {
      expect((await judged(false)).map(({ validity }) => validity)).toEqual(validities);
    });
  });
});
