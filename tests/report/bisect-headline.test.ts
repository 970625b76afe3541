import { describe, expect, test } from 'vitest';
import type { BisectAnswer } from '../../src/model/bisect-result.ts';
import { bisectHeadline, bisectNextSteps, bisectSymbol } from '../../src/report/bisect-headline.ts';
import { aBisectResult, bisectResults, commitAt, culprit, group } from '../fakes/bisect-result.ts';

test('less time for each packet is saved, and runs are not counted where variants share trials', () => {
  const result = aBisectResult({
    metric: 'nsPerPacket',
    isShared: true,
    boots: 1,
    answer: culprit(5, -0.126),
  });
  expect(bisectHeadline(result)).toBe('a0050505eeee saves 12.6 ± 0.2 % of the CPU time per packet, P > 0.999, 1 trial');
  expect(bisectSymbol(result)).toBe('🟢');
});

test('of many changes three are named and the others counted', () => {
  const found = [1, 2, 3, 4, 5].map((revision) => culprit(revision, -0.1));
  const answer: BisectAnswer = { kind: 'several', found, open: [] };
  expect(bisectHeadline(aBisectResult({ answer }))).toMatch(/^5 changes: .*; 2 more, 8 boots$/);
});

describe('the next step', () => {
  test('exists for each kind of answer', () => {
    for (const result of Object.values(bisectResults)) {
      const steps = bisectNextSteps(result);
      expect(steps.length).toBeGreaterThan(0);
      for (const one of steps) expect(one).toMatch(/^[A-Za-z].*\.$/);
    }
  });

  test('uses the commands of the place of the report', () => {
    const ways = {
      fixUp: (commit: string) => `\`fix-up=${commit}\``,
      goOn: '`/ppsgate extend`',
      verifyRevert: '`verify-revert`',
    };
    const result = aBisectResult({ answer: group(2, 5, commitAt(7)) });
    expect(bisectNextSteps(result, ways).join()).toContain('`fix-up=a0070707eeee`');
  });
});
