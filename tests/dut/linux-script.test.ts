import { expect, test } from 'vitest';
import { observeCommand, parseObservation, samplesSoFar } from '../../src/dut/linux-script.ts';
import { commandText } from '../../src/host/shell.ts';

const log = `lay base 100.000000 100.020000
sample 0 100.100000 1000 900 5000000 7000000 3
sample 0 100.200000 3000 2800 95000000 8000000 3
sample 0 100.350000 6000 5800 230000000 8000000 4
lay patched 100.400000 100.420000
sample 1 100.500000 7000 6600 300000000 9000000 4
sample 1 100.600000 8000 7400 390000000 9000000 4
end
`;

const failed = (reason: string) => ({ kind: 'failed', reason: expect.stringContaining(reason) });

test('each run is what happened between its points of time, and nothing of the time in between', () => {
  const observation = parseObservation(log);
  expect(observation).toEqual({
    kind: 'observed',
    samplesPerRun: [
      [
        {
          seconds: expect.closeTo(0.1),
          receivedPackets: 2000,
          forwardedPackets: 1900,
          busySeconds: expect.closeTo(0.09),
          deniedSeconds: expect.closeTo(0.001),
        },
        {
          seconds: expect.closeTo(0.15),
          receivedPackets: 3000,
          forwardedPackets: 3000,
          busySeconds: expect.closeTo(0.135),
          deniedSeconds: expect.closeTo(0.01),
        },
      ],
      [
        {
          seconds: expect.closeTo(0.1),
          receivedPackets: 1000,
          forwardedPackets: 800,
          busySeconds: expect.closeTo(0.09),
          deniedSeconds: 0,
        },
      ],
    ],
  });
});

test('a DUT without a forwarding thread of its own tells no busy time', () => {
  const untold = log.replaceAll(/( \d+){3}$/gm, ' - - -').replaceAll(/^lay.*\n/gm, '');
  const observation = parseObservation(untold);
  const [sample] = observation.kind === 'observed' ? (observation.samplesPerRun[0] ?? []) : [];
  expect(sample).toEqual({
    seconds: expect.closeTo(0.1),
    receivedPackets: 2000,
    forwardedPackets: 1900,
  });
});

test.for([
  ['nothing at all', ''],
  ['no end', log.replace('end\n', '')],
  ['an end cut short', log.slice(0, -2)],
] as const)('a log that does not end as it should is a failure: %s', ([, text]) => {
  expect(parseObservation(text)).toEqual(failed('stopped sampling'));
});

test.for([
  ['the clock was set back', log.replace('100.200000', '100.050000')],
  ['the clock stood still', log.replace('100.200000', '100.100000')],
  ['a counter began anew', log.replace(' 2800 ', ' 12 ')],
  ['a line holds no number', log.replace(' 3000 ', ' many ')],
  ['a line is too short', log.replace(' 7000 6600 300000000 9000000 4', '')],
] as const)('points of time that make no sense are a failure: %s', ([, text]) => {
  expect(parseObservation(text)).toEqual(failed('went backwards, or is unreadable'));
});

test('the sampler runs ahead of all else on its CPU, with one argument for every variant', () => {
  const command = observeCommand({
    script: '/run/dut.bash',
    ingress: 'in0',
    egress: 'out0',
    cpu: 1,
    scenario: 'forwarding',
    warmUpSeconds: 0.5,
    settleSeconds: 0.02,
    sliceSeconds: 0.025,
    slices: 4,
    live: false,
    variants: ['base', 'patched', 'diff 80345'],
  });
  expect(commandText(command)).toBe(
    "chrt -f 20 taskset -c '1' bash '/run/dut.bash' observe 'in0' 'out0' '1' 'forwarding' '0.5' '0.02' '0.025' '4' '0' 'base' 'patched' 'diff 80345'",
  );
});

test('of a log that is still being written the whole lines count', () => {
  const whole = samplesSoFar(log.slice(0, log.indexOf('lay patched')));
  expect(whole.map(({ forwardedPackets }) => forwardedPackets)).toEqual([1900, 3000]);
  const cut = samplesSoFar(log.slice(0, log.indexOf(' 5800')));
  expect(cut.map(({ forwardedPackets }) => forwardedPackets)).toEqual([1900]);
  expect(samplesSoFar('')).toEqual([]);
});
