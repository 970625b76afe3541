import { describe, expect, test } from 'vitest';
import { fingerprintOf, withFingerprint } from '../../../src/analysis/trend/fingerprint.ts';
import { emptyTrend } from '../../../src/analysis/trend/nightly-runs.ts';
import type { Result } from '../../../src/model/result.ts';
import { aResult } from '../../fakes/result.ts';

const { index } = emptyTrend;
const [trial] = aResult().trials;

const told = (fingerprint: Record<string, string>, changes: Partial<Result> = {}): Result =>
  aResult({ testbed: { name: 'shelf-3', fingerprint, warnings: [] }, ...changes });

const ownKernels = { trials: trial ? [{ ...trial, kernel: 'FreeBSD 15.0-CURRENT' }] : [] };

describe('a fingerprint', () => {
  test('is another one with another firmware, setting or traffic', () => {
    const { traffic } = aResult();
    const all = [
      told({}),
      told({ BIOS: '2.0' }),
      told({ BIOS: '2.1' }),
      told({ BIOS: '2.1' }, { traffic: { ...traffic, flows: 1 } }),
      told({ BIOS: '2.1' }, { traffic: { ...traffic, packets: { protocol: 'tcp' } } }),
    ];
    expect(new Set(all.map((one) => fingerprintOf(one).id)).size).toBe(5);
  });

  test('includes the kernel only if variants share one, and no values that vary', () => {
    const [one, two] = [
      { kernel: 'Linux 6.18', 'dev.cpu.0.freq': '2400' },
      { kernel: 'Linux 6.19', 'dev.cpu.0.freq': '3100' },
    ];
    expect(fingerprintOf(told(one)).id).not.toBe(fingerprintOf(told(two)).id);
    expect(fingerprintOf(told(one, ownKernels))).toEqual(fingerprintOf(told(two, ownKernels)));
  });

  test('is kept with what differs from the one before', () => {
    const first = withFingerprint(index, told({ BIOS: '2.0', cpu: 'Xeon', fan: 'slow' }));
    const later = { startedAt: '2026-11-21T12:00:00.000Z' };
    const second = withFingerprint(first, told({ BIOS: '2.1', cpu: 'Xeon' }, later));
    expect(second.fingerprints).toEqual([
      {
        id: expect.any(String),
        testbed: 'shelf-3',
        since: '2026-11-20T12:00:00.000Z',
        differs: [],
      },
      {
        id: expect.any(String),
        testbed: 'shelf-3',
        since: later.startedAt,
        differs: ['BIOS: 2.1', 'fan: not told any more'],
        facts: expect.objectContaining({ BIOS: '2.1' }),
      },
    ]);
  });

  test('lists what differs on one short line, for any text of a machine', () => {
    const hostile = `\u001b[31m${'x\n'.repeat(1000)}\u202e`;
    const after = [told({}), told({ [hostile]: hostile })].reduce(withFingerprint, index);
    const [said = ''] = after.fingerprints.flatMap(({ differs }) => differs);
    expect(said).toMatch(/^[x ]{199}…: [x ]{199}…$/);
  });

  test('that stays, or returns, is not stored twice', () => {
    const [old, fresh] = [told({ BIOS: '2.0' }), told({ BIOS: '2.1' })];
    const both = [old, fresh].reduce(withFingerprint, index);
    expect(withFingerprint(both, fresh)).toBe(both);
    const back = withFingerprint(both, old);
    expect(back.fingerprints.map(({ id }) => id).toSorted()).toEqual(both.fingerprints.map(({ id }) => id).toSorted());
    const third = withFingerprint(back, told({ BIOS: '2.2', since: 'today' }));
    expect(third.fingerprints.flatMap(({ facts }) => facts?.BIOS ?? [])).toEqual(['2.2']);
  });
});
