import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTrafgenLog } from '../../../src/lab/traffic/trafgen.ts';

const log = `
Running! Hang up with ^C!


     6000000 packets outgoing
   360000000 bytes outgoing
           2 sec, 500000 usec on CPU0 (6000000 packets)
`;

test('the summary at the end of the log has packets, seconds and packets per second', () => {
  expect(parseTrafgenLog(log)).toEqual({ kind: 'sent', packets: 6_000_000, seconds: 2.5, offeredPps: 2_400_000 });
});

describe('the line before it', () => {
  const waitedOf = (line: string) => {
    const sent = parseTrafgenLog(line + log);
    return sent.kind === 'sent' ? sent.waitedRatio : sent.kind;
  };

  test('has the share of the time for which trafgen waited for its CPU', () => {
    const line = 'waited 1500000000 ns and 25 ticks from 1795375220.500000 to 1795375225.500000\n';
    expect(waitedOf(line)).toBeCloseTo(0.35);
  });

  // A sender may report that it waited longer than it sent.
  test.for([
    ['missing, as in older logs', ''],
    ['of a clock that went back', 'waited 15 ns and 0 ticks from 9.500000 to 9.400000\n'],
    ['of no time', 'waited 15 ns and 0 ticks from 9.500000 to 9.500000\n'],
    ['negative', 'waited -15 ns and 0 ticks from 8.000000 to 9.000000\n'],
    ['of a CPU that has given back what was stolen', 'waited 15 ns and -3 ticks from 8.0 to 9.0\n'],
    ['endless', `waited ${'9'.repeat(400)} ns and 0 ticks from 8.000000 to 9.000000\n`],
    ['cut', 'waited 15 ns and 0 ticks from 8.000000\n'],
    ['among what trafgen says', '\nwaited 15 ns and 0 ticks from 8.000000 to 9.000000\n'],
  ] as const)('tells nothing where it is %s', ([, line]) => {
    expect(waitedOf(line)).toBeUndefined();
  });

  test('is never more than all of the time', () => {
    const any = fc.record({
      ns: fc.nat({ max: 999_999_999_999_999 }),
      ticks: fc.nat({ max: 999_999_999 }),
      start: fc.nat({ max: 9_999_999_998 }),
    });
    const isShare = ({ ns, ticks, start }: { ns: number; ticks: number; start: number }) => {
      const line = `waited ${ns} ns and ${ticks} ticks from ${start}.000000 to ${start + 1}.000000\n`;
      expect(waitedOf(line)).toBeCloseTo(Math.min(1, ns / 1e9 + ticks / 100), 9);
    };
    fc.assert(fc.property(any, isShare));
  });
});

test.for([
  ['its last words', 'Running!\nFlushing TX_RING failed: EAGAIN\n', 'Flushing TX_RING failed: EAGAIN'],
  ['nothing said', '', ''],
  ['half a summary', '  600 packets outgoing\n', '600 packets outgoing'],
  ['no time spent', ' 0 packets outgoing\n 0 sec, 0 usec on CPU0 (0 packets)\n', '0 sec, 0 usec on CPU0 (0 packets)'],
] as const)('a log without the whole summary is a failure that quotes its last line: %s', ([, text, last]) => {
  expect(parseTrafgenLog(text)).toEqual({
    kind: 'failed',
    reason: `trafgen ended without its summary: "${last}"`,
  });
});
