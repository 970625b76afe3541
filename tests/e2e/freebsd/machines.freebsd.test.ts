// Tests gates of `kind: freebsd` on a real FreeBSD: three guests replace the machines of a laboratory.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith, testWith } from '../../needs.ts';
import {
  cellsOf,
  type Ended,
  gate,
  gated,
  measuredIn,
  ppsgate,
  readGated,
  repositoryWith,
  resumed,
  untilMeasured,
} from './gates.ts';
import { givenImage, needsOf } from './given.ts';
import { type LabOfGuests, startLabOfGuests } from './lab-of-guests.ts';

const rules = `${'add count udp from any to any 9999\n'.repeat(10)}add allow ip from any to any\n`;

describeWith(['setpriv', 'qemu-img', ...needsOf('base')], 'three machines with a real FreeBSD', () => {
  let lab: LabOfGuests;
  beforeAll(async () => {
    lab = await startLabOfGuests(givenImage());
  });
  afterAll(() => lab?.[Symbol.asyncDispose]());

  /**
   * Uses one cell of few short runs, at a rate that the DUT cannot forward. A DUT whose host was busy while it booted
   * executes instructions faster until it has made up for that, which takes part of the settling time.
   */
  const repository = (keys: Readonly<Record<string, unknown>> = {}) =>
    repositoryWith(
      {
        testbeds: { guests: lab.testbed },
        rules: { long: { firewall: 'ipfw', file: 'long.ipfw' } },
        scenarios: ['long'],
        families: ['inet4'],
        traffic: {
          flows: 200,
          rate: '24 kpps',
          measure: '15 s',
          measureAtLeast: '8 s',
          settle: '15 s',
        },
        gate: { margin: '5%', maxRuns: 4 },
        ...keys,
      },
      { 'long.ipfw': rules },
    );
  const forwarding = { scenarios: ['forwarding'] };

  test('are in order by their check, and the power switch is that of the DUT', async () => {
    const check = ['testbeds', 'check', 'guests', '--power'];
    const { code, text } = await ppsgate(repository(), ...check).ended;
    expect(text).not.toMatch(/^✗/m);
    expect(code).toBe(0);
  });

  describeWith(needsOf('same'), 'that measure a kernel that was built twice of one source', () => {
    let ended: Ended & Awaited<ReturnType<typeof readGated>>;
    let before: number[];
    let after: number[];

    beforeAll(async () => {
      const folder = repository();
      const running = gate(folder, 'same');
      await untilMeasured(running, folder);
      running.kill();
      await running.ended;
      before = measuredIn(folder);
      ended = await readGated(folder, await resumed(folder));
      after = measuredIn(folder);
    });

    test('pass it, with ipfw(4), which denies everything until it has rules', () => {
      expect(cellsOf(ended.result).map(({ verdict }) => verdict.kind)).toEqual(['no-regression']);
      expect(ended.code).toBe(0);
    });

    test('measure no run twice after their gate was killed and resumed', () => {
      expect(before).toContain(1);
      expect(after).toEqual([...new Set(after)]);
    });
  });

  testWith(needsOf('slower'), 'find a slower kernel', async () => {
    const { code, result } = await gated(repository(), 'slower');
    expect(cellsOf(result).map(({ verdict }) => verdict.kind)).toEqual(['regression']);
    expect(code).toBe(1);
  });

  for (const [what, patched, outcome] of [
    ['panics at boot', 'panic-at-boot', { kind: 'boot-failed', panic: expect.stringContaining('accident') }],
    [
      'panics under load',
      'panic-under-load',
      { kind: 'panics-under-load', panic: expect.stringContaining('accident') },
    ],
    ['hangs at boot, after a power cycle', 'hang-at-boot', { kind: 'boot-failed' }],
  ] as const) {
    testWith(needsOf(patched), `reject a kernel that ${what}`, async () => {
      const { code, result } = await gated(repository(forwarding), patched);
      expect(result.outcome).toMatchObject(outcome);
      expect(code).toBe(1);
    });
  }

  testWith(needsOf('forwards-nothing'), 'find that a kernel forwards nothing', async () => {
    const { code, report } = await gated(repository(forwarding), 'forwards-nothing');
    expect(report).toContain('forwards nothing');
    expect(code).toBe(1);
  });

  test('are restored after all of this: the DUT runs its own kernel, and has none of ours', async () => {
    const { code, text } = await ppsgate(repository(), 'testbeds', 'check', 'guests', '--no-traffic').ended;
    expect(text).not.toMatch(/^✗/m);
    expect(code).toBe(0);
  });
});
