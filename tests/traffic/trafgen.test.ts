import { expect, test } from 'vitest';
import { commandText } from '../../src/host/shell.ts';
import { parseTrafgenLog, senderCommand } from '../../src/traffic/trafgen.ts';

const log = `
Running! Hang up with ^C!


     6000000 packets outgoing
   360000000 bytes outgoing
           2 sec, 500000 usec on CPU0 (6000000 packets)
`;

test('the summary at the end of the log tells packets, seconds and packets per second', () => {
  expect(parseTrafgenLog(log)).toEqual({
    kind: 'sent',
    packets: 6_000_000,
    seconds: 2.5,
    offeredPps: 2_400_000,
  });
});

test.for([
  [
    'its last words',
    'Running!\nFlushing TX_RING failed: EAGAIN\n',
    'Flushing TX_RING failed: EAGAIN',
  ],
  ['nothing said', '', ''],
  ['half a summary', '  600 packets outgoing\n', '600 packets outgoing'],
  [
    'no time spent',
    ' 0 packets outgoing\n 0 sec, 0 usec on CPU0 (0 packets)\n',
    ' 0 sec, 0 usec on CPU0 (0 packets)',
  ],
] as const)(
  'a log without the whole summary is a failure that quotes its last line: %s',
  ([, text, last]) => {
    expect(parseTrafgenLog(text)).toEqual({
      kind: 'failed',
      reason: `trafgen ended without its summary: "${last}"`,
    });
  },
);

test('the sender’s script gets its arguments in its own order', () => {
  const command = senderCommand({
    script: '/run/send.bash',
    interface: 'tx0',
    cpu: 1,
    offeredPps: 3_000_000,
    flows: '/run/inet4.flows',
    limitSeconds: 60,
  });
  expect(commandText(command)).toBe(
    "bash '/run/send.bash' 'tx0' '1' '3000000' '/run/inet4.flows' '60'",
  );
});
