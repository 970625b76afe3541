// Tests gates of `kind: virtual` on a real FreeBSD: verdicts, accidents, and the leftovers of a killed gate.
import { beforeAll, describe, expect, test } from 'vitest';
import { describeWith, testWith, virtualPrograms } from '../../needs.ts';
import {
  cellsOf,
  type Gated,
  gate,
  gated,
  measuredIn,
  ppsgate,
  readGated,
  repositoryWith,
  resumed,
  untilMeasured,
} from './gates.ts';
import { givenImage, type KernelName, needsOf } from './given.ts';

/** Uses one cell and few windows, which suffice to show the differences of these kernels. */
function repository(keys: Readonly<Record<string, unknown>> = {}): string {
  const { path, keyPath, hostKey } = givenImage();
  return repositoryWith({
    testbeds: {
      guests: { kind: 'virtual', image: { path, key: keyPath, hostKey, limit: '4 min' } },
    },
    scenarios: ['forwarding'],
    families: ['inet4'],
    traffic: { windows: 3, windowPackets: 3000 },
    gate: { margin: '5%' },
    ...keys,
  });
}

const needs = (...kernels: readonly KernelName[]) => ['root', ...virtualPrograms, ...needsOf(...kernels)];

describeWith(needs(), 'a virtual testbed with a real FreeBSD', () => {
  test('is checked by a guest that boots, counts, reboots and panics', async () => {
    const { code, text } = await ppsgate(repository(), 'testbeds', 'check', 'guests').ended;
    expect(text).not.toMatch(/^✗/m);
    expect(code).toBe(0);
  });
});

describeWith(needs('base', 'same'), 'a kernel that was built twice of one source', () => {
  let ended: Awaited<ReturnType<typeof readGated>>;
  let before: number[];
  let after: number[];

  beforeAll(async () => {
    const folder = repository({ scenarios: ['forwarding', 'ipfw-stateless'] });
    const running = gate(folder, 'same');
    await untilMeasured(running, folder);
    running.kill();
    await running.ended;
    before = measuredIn(folder);
    ended = await readGated(folder, await resumed(folder));
    after = measuredIn(folder);
  });

  test('passes, also with ipfw(4), which denies everything until it has rules', () => {
    const verdicts = cellsOf(ended.result).map(({ cell, verdict }) => [cell.scenario, verdict.kind]);
    expect(verdicts).toEqual([
      ['forwarding', 'no-regression'],
      ['ipfw-stateless', 'no-regression'],
    ]);
    expect(ended.code).toBe(0);
  });

  test('is measured no run twice after its gate was killed and resumed', () => {
    expect(before).toContain(1);
    expect(after).toEqual([...new Set(after)]);
  });
});

describeWith(needs('base', 'slower'), 'a slower kernel', () => {
  let slower: Gated;
  beforeAll(async () => {
    slower = await gated(repository({ profile: { enabled: true } }), 'slower');
  });

  test('is a regression', () => {
    expect(cellsOf(slower.result).map(({ verdict }) => verdict.kind)).toEqual(['regression']);
    expect(slower.code).toBe(1);
  });

  test('names the function that needs the instructions', () => {
    const [cell] = cellsOf(slower.result);
    const [first] = cell?.reason?.changedFunctions ?? [];
    expect(first?.function).toMatch(/^(?:accident_of|ip_tryforward)$/);
  });
});

describe.each([
  ['panics at boot', 'panic-at-boot', { kind: 'boot-failed', panic: expect.stringContaining('accident') }],
  ['panics under load', 'panic-under-load', { kind: 'panics-under-load', panic: expect.stringContaining('accident') }],
  ['hangs at boot', 'hang-at-boot', { kind: 'boot-failed' }],
] as const)('a kernel that %s', (_, kernel, outcome) => {
  testWith(needs('base', kernel), 'is rejected, with its last words', async () => {
    const { code, result } = await gated(repository(), kernel);
    expect(result.outcome).toMatchObject(outcome);
    expect(code).toBe(1);
  });
});

describeWith(needs('base', 'forwards-nothing'), 'a kernel that forwards nothing', () => {
  test('is a regression', async () => {
    const { code, result } = await gated(repository(), 'forwards-nothing');
    expect(cellsOf(result).map(({ verdict }) => verdict.kind)).toEqual(['regression']);
    expect(code).toBe(1);
  });
});
