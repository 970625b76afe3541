import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineRate, type PktGenFault, parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { describeWith, sharedFolder } from '../../needs.ts';
import { anyCharacter } from '../../random.ts';

const stamp = (seconds: number): string => (seconds % 1000).toFixed(6).padStart(10, '0');
const said = (seconds: number, words: string): string => `${stamp(seconds)} ${words}\n`;
const rateLine = (seconds: number, pps: number): string =>
  said(
    seconds,
    `main_thread [2277] ${pps} pps (${pps} pkts ${pps * 480} bps in 1000000 usec) 1.00 avg_batch 9 min_space`,
  );
const kinds = (faults: readonly PktGenFault[]) => faults.map(({ kind }) => kind);

test('parses a rate with bits per second and, from older pkt-gens, without', () => {
  const log = parsePktGenLog(
    'CMD: pkt-gen -f rx -i ix1 -w 4\n' +
      '010.500000 main_thread [1550] 334808 pps (335314 pkts in 1001510 usec)\n' +
      '012.000000 main_thread [2277] 100 pps (150 pkts 72000 bps in 1500000 usec) 4.34 avg_batch 0 min_space\n',
  );
  const rates = [
    { seconds: 0, pps: 334808, packets: 335314, intervalSeconds: 1.00151, line: 2 },
    { seconds: 1.5, pps: 100, packets: 150, intervalSeconds: 1.5, line: 3 },
  ];
  expect(log).toEqual({ command: 'pkt-gen -f rx -i ix1 -w 4', skipped: 0, rates, lines: 3, faults: [] });
});

test('time continues where the printed clock wraps at 1000 s', () => {
  const start = fc.integer({ min: 0, max: 999 });
  const steps = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(start, steps, (first, gaps) => {
      let time = 0;
      const times = [0, ...gaps.map((gap) => (time += gap))];
      const text = times.map((at, index) => rateLine(first + at, index + 1)).join('');
      const { rates } = parsePktGenLog(text);
      expect(rates.map(({ seconds }) => Math.round(seconds * 1e6) / 1e6)).toEqual(times);
      expect(rates.map(({ pps }) => pps)).toEqual(times.map((_, index) => index + 1));
    }),
  );
});

test('detects a silence longer than the clock’s cycle by the rate’s own interval', () => {
  const { rates } = parsePktGenLog(
    `${rateLine(10, 1)}015.000000 main_thread [1] 1 pps (2005 pkts in 2005000000 usec)\n`,
  );
  expect(rates.at(-1)?.seconds).toBeCloseTo(2005, 6);
});

test.for([
  ['pkt-gen -N -f tx -i vcxl0 -n 1000 -l 62 -6', 62],
  ['sudo pkt-gen -f tx -l1514 -i ix0', 1514],
  ['pkt-gen -f tx -i ix0', 60],
  ['pkt-gen -f rx -i ix0', undefined],
] as const)('the size of frames is what the command says, or its default: %s', ([command, size]) => {
  const log = parsePktGenLog(`CMD on 192.0.2.1: ${command}\n`);
  expect([log.command, log.frameBytesWithoutCrc]).toEqual([command, size]);
});

test.for([
  ['Sent 3000 packets 180000 bytes 100 events 60 bytes each in 2.00 seconds.', 3000, 2, 1500],
  ['Sent 80 packets, 60 bytes each, in 4.00 seconds.', 80, 4, 20],
  ['Received 10 packets 600 bytes 1 events 60 bytes each in 5.00 seconds.', 10, 5, 2],
] as const)('the summary tells packets and seconds, and the size of frames: %s', ([line, packets, seconds, pps]) => {
  const log = parsePktGenLog(`${rateLine(1, 1)}${line}\n`);
  expect(log).toMatchObject({ summary: { packets, seconds, pps }, frameBytesWithoutCrc: 60, faults: [] });
});

const torn = `${rateLine(2, 5).slice(0, 40)}${rateLine(3, 5)}`;

test.for<[text: string, kind: PktGenFault['kind'] | undefined]>([
  ['Received 9 packets 540 bytes 3 events 60 bytes each in -1505074016.06 seconds.\n', 'negative-duration'],
  [said(2, 'receiver_body [1648] poll err'), 'crashed'],
  [said(2, 'main_thread [2304] ouch, thread 0 exited with error'), 'crashed'],
  // A receiver that waits for its first packet is interrupted.
  [
    said(2, 'sigint_h [574] received control-C on thread 0x206de9c12000') +
      said(2, 'receiver_body [1947] poll() error: Interrupted system call') +
      said(3, 'main_thread [2813] ouch, thread 0 exited with error'),
    undefined,
  ],
  [torn, 'unread-rate'],
  [said(1, 'receiver_body [1603] waiting for initial packets, poll returns 0 0'), undefined],
  [said(2, 'sender_body [1463] poll error/timeout on queue 0: No error: 0'), undefined],
  [said(3, 'sender_body [1676] poll error on queue 0: timeout'), undefined],
  ['ping6: failed to get receiving hop limit\n', undefined],
  ['Terminated\n', undefined],
])('after a rate, %j is the fault %s', ([text, kind]) => {
  const log = parsePktGenLog(rateLine(1, 5) + text);
  expect(log).toMatchObject({ rates: [{ pps: 5, line: 1 }] });
  expect(log.summary).toBeUndefined();
  expect(kinds(log.faults)).toEqual(kind === undefined ? [] : [kind]);
});

test('names what is no log of pkt-gen, and the line of a fault', async () => {
  const texts = [
    '',
    ' \n\n',
    '\u007fELF\0\0\u0001',
    'bash: pkt-gen: command not found\nrest',
    'CMD: equilibrium -4 -d 00:08:a2:09:33:da -t igb2 -r igb3\nIteration 1\n',
    'Benchmark tool using equilibrium throughput method\n',
    `${rateLine(1, 5)}${torn}`,
    `${rateLine(1, 5)}${said(2, 'receiver_body [1648] poll err')}`,
    `${rateLine(1, 5)}Received 9 packets 540 bytes 3 events 60 bytes each in -1505074016.06 seconds.\n`,
  ];
  const messages = texts.flatMap((text) =>
    parsePktGenLog(text).faults.map(({ kind, message }) => `${kind}: ${message}\n`),
  );
  await expect(messages.join('')).toMatchFileSnapshot('golden/faults.txt');
});

test('a log truncated anywhere keeps every rate before the cut, and reports that unless the cut is between lines', () => {
  const text = [1, 2, 3, 4].map((second) => rateLine(second, 1000 + second)).join('');
  fc.assert(
    fc.property(fc.integer({ min: rateLine(1, 1001).length, max: text.length }), (length) => {
      const log = parsePktGenLog(text.slice(0, length));
      const whole = text.slice(0, length + 1).split('\n').length - 1;
      expect(log.rates.map(({ pps }) => pps)).toEqual([1001, 1002, 1003, 1004].slice(0, whole));
      const isBetween = [text[length], text[length - 1]].includes('\n');
      expect(kinds(log.faults)).toEqual(isBetween ? [] : ['cut']);
    }),
  );
});

const rest = '480.00 avg_batch 0 min_space';
test.each([
  [`6.728 Mpps (6.735 Mpkts 3.229 Gbps in 1001031 usec) ${rest}`, 6_728_000, 6_735_000],
  [`921.798 Kpps (923.052 Kpkts 443.064 Mbps in 1001360 usec) ${rest}`, 921_798, 923_052],
  [`334.000 pps (335.000 pkts 160.800 Kbps in 1001510 usec) ${rest}`, 334, 335],
  [`0.000 pps (0.000 pkts 0.000 bps in 1001031 usec) ${rest}`, 0, 0],
  ['14.88 Mpps (14.90 Mpkts in 1001360 usec)', 14_880_000, 14_900_000],
  ['14.88 M pps (14.90 M pkts in 1001360 usec)', 14_880_000, 14_900_000],
  [`14.880 Mpps [avg/std 14.881 M/2.100 K pps] (14.895 Mpkts in 1001013 usec) ${rest}`, 14_880_000, 14_895_000],
  ['14880952 pps [avg/std 14880950/2 pps] (14880952 pkts in 1000000 usec)', 14_880_952, 14_880_952],
  [`14880952 pps (14880952 pkts in 1000000 usec) ${rest}`, 14_880_952, 14_880_952],
])('reads a rate as pkt-gen prints it with or without -N: %s', (text, pps, packets) => {
  const log = parsePktGenLog(said(1, `main_thread [2666] ${text}`));
  expect(log).toMatchObject({ rates: [{ pps, packets }], faults: [] });
});

test('every line is a rate, another line of pkt-gen, a rate that cannot be read, or skipped and counted', () => {
  const line = fc.constantFrom<[kind: string, text: string]>(
    ['rate', rateLine(1, 5)],
    [
      'rate',
      said(1, 'main_thread [9] 6.728 Mpps (6.735 Mpkts 3.229 Gbps in 1001031 usec) 480.00 avg_batch 0 min_space'),
    ],
    ['unread', said(1, 'main_thread [9] 6.728 mega (6.735 Mpkts)')],
    ['unread', said(1, 'main_thread [9] 6 pps (6 pkts in 1 usec) and more')],
    ['known', said(1, 'main [2916] interface is ix0')],
    ['known', said(1, 'start_threads [2577] Ready...')],
    ['skipped', 'Terminated\n'],
    ['skipped', 'Received nothing\n'],
    ['skipped', '\n'],
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (others) => {
      const lines = [['known', said(1, 'main [1] begins')] as const, ...others];
      const of = (kind: string) => lines.filter(([one]) => one === kind).length;
      const log = parsePktGenLog(lines.map(([, text]) => text).join(''));
      expect([log.lines, log.rates.length, log.skipped]).toEqual([lines.length, of('rate'), of('skipped')]);
      const [unread] = log.faults;
      const first = lines.findIndex(([kind]) => kind === 'unread') + 1;
      if (of('unread') === 0) expect(log.faults).toEqual([]);
      else expect(unread?.message).toMatch(new RegExp(`line ${first} of the log cannot be read: "`));
      if (of('unread') > 1) expect(unread?.message).toMatch(new RegExp(`^${of('unread')} rates,`));
    }),
  );
});

test('parses any text without an error, and every number is finite', () => {
  const pieces = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('\n', '\0', 'CMD: pkt-gen -l ', 'Sent 1 packets', ' 5 pps (', '\r\n'),
    fc.tuple(fc.nat(), fc.nat()).map(([seconds, pps]) => rateLine(seconds, pps)),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (texts) => {
      const { rates, faults } = parsePktGenLog(texts.join(''));
      const numbers = rates.flatMap((rate) => Object.values(rate));
      expect(numbers.every(Number.isFinite)).toBe(true);
      const seconds = rates.map((rate) => rate.seconds);
      expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
      expect(new Set(kinds(faults)).size).toBe(faults.length);
    }),
  );
});

test.for([
  [14_881_574, 60, 10e9, 14_880_952],
  [1_488_190, 60, 1e9, 1_488_095],
  [1_500_000, 60, 2.5e9, 3_720_238],
  [14_900_000, 60, 25e9, 37_202_381],
  [14_880_952, 43, 10e9, 14_880_952],
  [812_744, 1514, 10e9, 812_744],
  [140_000_000, 60, 100e9, 148_809_524],
] as const)('%i pps of %i bytes fit on a line of %i bit/s, which carries %i', ([pps, bytes, bitsPerSecond, most]) => {
  const line = lineRate(pps, bytes);
  expect([line?.bitsPerSecond, Math.round(line?.pps ?? 0)]).toEqual([bitsPerSecond, most]);
});

describeWith(['shared/corpus/runs'], 'the archive’s line shapes', () => {
  type Shape = { shape: string; example: string };
  const shapesOf = (side: string): Shape[] =>
    JSON.parse(readFileSync(join(sharedFolder('corpus'), `${side}-line-shapes.json`), 'utf8'));
  const shapes = [...shapesOf('receiver'), ...shapesOf('sender')];

  /** All of these lines are ignored, because they do not count the trial's packets. */
  const passedOver = [
    /^D (main|start_threads|nm_open|nm_mmap|extract_ip_range|get_vnet_hdr_len) \[N\] /,
    /^D (receiver_body \[N\] (reading|waiting)|sender_body \[N\] (start|frags|flush|pending|poll error))/,
    /^D send_packets \[N\] truncating packet/,
    /^(Receiving from|Sending on) netmap:\w+: N queues, N threads and N cpus\.$/,
    /^Speed: -?[ND] /,
    /^(<IPx>|\[IPvN\]).* -> .*\(<MAC> -> <MAC>\)$/,
    /^(Terminated|pingN: .*|)$/,
  ];
  const equilibrium = /equili|^Iteration N|^ {2}- |^- (Benchmark mode|UDP load|Link rate|Tolerance)|^Estimated Equil/;

  function expectedOf(shape: string): string {
    if (/^D main_thread \[N\] N pps/.test(shape)) return 'rate';
    if (/poll err$|ouch, thread/.test(shape)) return 'crashed';
    if (/in -D seconds\.$/.test(shape)) return 'negative-duration';
    if (/^(Sent|Received) N packets/.test(shape)) return 'summary';
    if (/^CMD(?!.*equil)/.test(shape)) return 'command';
    if (equilibrium.test(shape)) return 'nothing';
    return passedOver.some((known) => known.test(shape)) ? 'nothing' : 'unknown';
  }

  function understood(example: string): string {
    const log = parsePktGenLog(`${rateLine(0, 1)}${example}\n`);
    if (log.rates.length > 1) return 'rate';
    if (log.command !== undefined) return 'command';
    return log.faults[0]?.kind ?? (log.summary === undefined ? 'nothing' : 'summary');
  }

  test('each is read as what it is, or knowingly passed over', () => {
    const read = shapes.map(({ shape, example }) => `${understood(example)}: ${shape}`);
    expect(read).toEqual(shapes.map(({ shape }) => `${expectedOf(shape)}: ${shape}`));
  });
});
