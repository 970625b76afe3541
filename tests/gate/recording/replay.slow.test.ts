// Replays recordings of the fake laboratory with the code that recorded them.
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { recordCheck, recordSelfTest, recordTestbed, trialOf } from './record-lab.ts';
import { linesOf, writeLines } from './spoil.ts';

const signal = new AbortController().signal;
const keepLog = async () => {};

describe('a recording of a check', () => {
  test('replays without a difference, trial included', async () => {
    const { path, diagnostics } = await recordCheck();
    const replayed = await replay(readRecording(path));
    expect(replayed.differences).toEqual([]);
    expect(replayed.diagnostics.map(({ kind, what }) => `${kind} ${what}`)).toEqual(
      diagnostics.map(({ kind, what }) => `${kind} ${what}`),
    );
    expect(replayed).toMatchObject({ isTorn: false, head: { command: 'testbeds check' } });
    expect(replayed.hosts).toContain('DUT');
  });

  test('of a faulty lab with a power cycle replays without a difference', async () => {
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
  test('replays without a difference: inspected, booted, measured, profiled, restored', async () => {
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

  test('of one kernel twice replays without a difference', async () => {
    const work = async (testbed: Testbed) => {
      for (const variant of ['patched', 'base']) {
        await testbed.trial(trialOf(variant, 1), keepLog, signal);
      }
    };
    const idents = { base: 'same', patched: 'same' };
    const path = await recordTestbed(work, {}, 'nextboot', idents);
    expect((await replay(readRecording(path))).differences).toEqual([]);
  });

  test('with boot environments replays without a difference', async () => {
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

  test('names an outcome that differs today, and continues', async () => {
    const path = await recordTestbed(async (testbed) => {
      // Opens the ports that the next trials use.
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

  test('with a lost DUT replays without a difference', async () => {
    const path = await recordTestbed(
      async (testbed) => {
        for (const pair of [1, 2]) await testbed.trial(trialOf('patched', pair), keepLog, signal);
      },
      { faults: [{ kind: 'panic-under-load', at: 1 }] },
    );
    expect((await replay(readRecording(path))).differences).toEqual([]);
  });
});

test('a recorded self-test replays without a difference, accidents, noise and console included', async () => {
  const { path, diagnostics } = await recordSelfTest();
  expect(diagnostics.filter(({ kind }) => kind !== 'ok')).toEqual([]);
  const replayed = await replay(readRecording(path));
  expect(replayed.differences).toEqual([]);
  expect(replayed.diagnostics.map(({ what }) => what)).toEqual(diagnostics.map(({ what }) => what));
});
