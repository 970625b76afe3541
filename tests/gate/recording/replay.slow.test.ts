// A recording of the fake laboratory, given to the same code again.
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import { recordCheck, recordSelfTest, recordTestbed, trialOf } from './lab.ts';
import { linesOf, writeLines } from './spoil.ts';

const signal = new AbortController().signal;
const keepLog = async () => {};

describe('a recording of a check', () => {
  test('is replayed without a difference, trial and all', async () => {
    const { path, diagnostics } = await recordCheck();
    const replayed = await replay(readRecording(path));
    expect(replayed.differences).toEqual([]);
    expect(replayed.diagnostics.map(({ kind, what }) => `${kind} ${what}`)).toEqual(
      diagnostics.map(({ kind, what }) => `${kind} ${what}`),
    );
    expect(replayed).toMatchObject({ isTorn: false, head: { command: 'testbeds check' } });
    expect(replayed.hosts).toContain('DUT');
  });

  test('of a lab in which things are wrong is, too, also where the DUT is power-cycled', async () => {
    const { path, diagnostics } = await recordCheck(
      {
        spoil: ({ dut, receiver }) => {
          dut.machine.routes.length = 0;
          for (const port of receiver.machine.interfaces) port.isUp = port.name !== 'vcxl1';
        },
      },
      { cycles: true },
    );
    expect(diagnostics.some(({ kind }) => kind === 'wrong')).toBe(true);
    const replayed = await replay(readRecording(path));
    expect(replayed.differences).toEqual([]);
  });
});

describe('a recording of a gate’s testbed', () => {
  test('is replayed without a difference: inspected, booted, measured, profiled, given back', async () => {
    const path = await recordTestbed(async (testbed) => {
      for (const variant of ['base', 'patched']) {
        await testbed.trial(trialOf(variant, 1), keepLog, signal);
        await testbed.trial(trialOf(variant, 1, 'pf-stateful'), keepLog, signal);
      }
      const cell = { scenario: 'forwarding', family: 'inet4' } as const;
      const request = { cell, variant: 'patched', seconds: 5, attempt: 1 };
      await testbed.profile(request, keepLog, signal);
    });
    const replayed = await replay(readRecording(path));
    expect(replayed.differences).toEqual([]);
    expect(replayed.questions).toBeGreaterThan(200);
  });

  test('that boots environments is, too', async () => {
    const path = await recordTestbed(
      async (testbed) => {
        for (const variant of ['base', 'patched']) {
          await testbed.trial(trialOf(variant, 1), keepLog, signal);
        }
      },
      { root: 'zfs' },
      'boot-environment',
    );
    expect((await replay(readRecording(path))).differences).toEqual([]);
  });

  test('of which something else comes today tells what, and goes on', async () => {
    const path = await recordTestbed(async (testbed) => {
      // Opens the ports that those after it use.
      await testbed.trial(trialOf('base', 1), keepLog, signal);
      await testbed.trial(trialOf('base', 1, 'pf-stateful'), keepLog, signal);
      await testbed.trial(trialOf('base', 1), keepLog, signal);
    });
    const lines = JSON.stringify(linesOf(path)).replaceAll('Status: Enabled', 'Status: Disabled');
    writeLines(path, JSON.parse(lines) as object[]);
    const { differences } = await replay(readRecording(path));
    expect(differences).toEqual([
      {
        kind: 'made-otherwise',
        sentence: expect.stringMatching(
          /^what came of `trial` was "…\{"kind":"measured".*then, and is "…\{"kind":"failed".* now$/,
        ),
      },
    ]);
  });

  test('in which the DUT was lost is, too', async () => {
    const path = await recordTestbed(
      async (testbed) => {
        for (const pair of [1, 2]) await testbed.trial(trialOf('patched', pair), keepLog, signal);
      },
      { faults: [{ kind: 'panic-under-load', at: 1 }] },
    );
    expect((await replay(readRecording(path))).differences).toEqual([]);
  });
});

test('a recording of a self-test is replayed without a difference, accidents, noise and console too', async () => {
  const { path, diagnostics } = await recordSelfTest();
  expect(diagnostics.filter(({ kind }) => kind !== 'ok')).toEqual([]);
  const replayed = await replay(readRecording(path));
  expect(replayed.differences).toEqual([]);
  expect(replayed.diagnostics.map(({ what }) => what)).toEqual(diagnostics.map(({ what }) => what));
});
