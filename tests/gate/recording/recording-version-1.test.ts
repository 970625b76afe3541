// Reads a recording of version 1, which uses other names than today's.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { selfTestReport, selfTestRequest, testbedCall } from '../../../src/gate/recording/recording-schemas.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { writeLines } from './spoil.ts';

const machine = { host: '127.0.0.1', port: 22, user: 'root', knownHostsPath: '/dev/null' };
const generator = {
  ...machine,
  interface: 'vtnet1',
  mac: '00:00:5e:00:53:00',
  addresses: {},
  threads: 1,
};
const testbed = {
  kind: 'freebsd',
  dut: {
    ...machine,
    ingress: { interface: 'vtnet1' },
    egress: { interface: 'vtnet2' },
    boot: { method: 'nextboot', limitSeconds: 240 },
  },
  senders: [generator],
  receiver: generator,
  preflight: 'warn',
};
const traffic = { flows: 200, settleSeconds: 4, measureSeconds: 20, runsPerBlast: 1 };
const cell = { scenario: 'forwarding', family: 'inet4' };
const journal = [
  { kind: 'begun', testbed: 'qemu', at: '2026-11-25T14:05:17.080Z' },
  { kind: 'well', step: 'the check', findings: [{ kind: 'ok', what: 'ssh', why: 'root' }] },
  { kind: 'run', run: { cell, boot: 1, pps: 1000, blastSeconds: 30 } },
];
const run = { number: 1, variant: 'base', pair: 1 };

const lines = [
  {
    kind: 'head',
    format: 'ppsgate recording',
    version: 1,
    ppsgate: '0.1.0',
    command: 'testbeds rehearse',
    date: '2026-11-25T14:05:15.437Z',
  },
  {
    kind: 'begins',
    at: 1,
    part: 'rehearsal',
    request: {
      name: 'qemu',
      testbed,
      config: {
        scenarios: ['forwarding'],
        families: ['inet4'],
        traffic,
        gate: { metric: 'pps', marginRatio: 0.1 },
      },
      rules: {},
      skip: ['noise', 'blasts', 'profile'],
      journal: journal.map((entry) => JSON.stringify(entry)),
    },
  },
  { kind: 'asks', at: 2, id: 1, host: 'DUT', asked: { what: 'run', command: 'ls -1 /boot' } },
  { kind: 'hears', at: 3, id: 1, stream: 'stdout', text: 'blast\nkernel\n' },
  { kind: 'ends', at: 4, id: 1, answer: { kind: 'exited', code: 0 } },
  {
    kind: 'tells',
    at: 5,
    part: 'rehearsal',
    outcome: { finding: { kind: 'wrong', what: 'ssh', why: 'refused', mend: 'start sshd' } },
  },
  { kind: 'begins', at: 6, part: 'testbed', request: { name: 'qemu', testbed, traffic } },
  {
    kind: 'tells',
    at: 7,
    part: 'testbed',
    outcome: {
      call: 'blast',
      planned: { number: 1, cell, runs: [run] },
      outcome: { kind: 'measured', runs: [{ ...run, blast: 1, pps: 18_750 }] },
    },
  },
];

test('renames requests and outcomes of version 1, and leaves output of machines alone', () => {
  const path = join(temporaryFolder(), 'version-1.rec');
  writeLines(path, lines);
  const { head, events, requests } = readRecording(path);
  expect(head.version).toBe(1);
  const [begin, report, , call] = events;
  expect(events.map(({ kind, part }) => `${kind} ${part}`)).toEqual([
    'begins self-test',
    'tells self-test',
    'begins testbed',
    'tells testbed',
  ]);
  const request = selfTestRequest.parse(begin?.value);
  expect(request).toMatchObject({
    skip: ['noise', 'trials', 'profile'],
    config: { traffic: { runsPerTrial: 1 } },
  });
  expect(request.journal.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'begun' },
    { kind: 'well', diagnostics: [{ kind: 'ok', what: 'ssh' }] },
    { kind: 'run', run: { trialSeconds: 30 } },
  ]);
  expect(selfTestReport.parse(report?.value)).toEqual({
    diagnostic: { kind: 'wrong', what: 'ssh', why: 'refused', fix: 'start sshd' },
  });
  expect(testbedCall.parse(call?.value)).toMatchObject({
    call: 'trial',
    outcome: { runs: [{ trial: 1 }] },
  });
  expect(requests[0]?.output[0]?.text).toBe('blast\nkernel\n');
});

test('replays each part of version 1', async () => {
  const path = join(temporaryFolder(), 'version-1.rec');
  writeLines(path, lines);
  const { differences } = await replay(readRecording(path));
  expect(differences.map(({ sentence }) => sentence)).toEqual([
    'at the start the current code asks a question that is not in the recording: the login to the receiver',
    'ssh was wrong (refused) when recorded, but is ok (root) now',
    'the current code fails on it: The recording has no reply to the login to the receiver.',
    'at the start the current code asks a question that is not in the recording: the login to the receiver',
  ]);
});
