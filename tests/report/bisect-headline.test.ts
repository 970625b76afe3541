import { describe, expect, test } from 'vitest';
import type { BisectAnswer } from '../../src/model/bisect-result.ts';
import { bisectHeadline, bisectNextSteps, bisectSymbol } from '../../src/report/bisect-headline.ts';
import { aBisectResult, bisectResults, commitAt, culprit, group, mellanoxFixed } from '../fakes/bisect-result.ts';

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

test('more instructions for each packet are a cost', () => {
  const metric = 'instructionsPerPacket';
  const headline = (change: number) => bisectHeadline(aBisectResult({ metric, answer: culprit(5, change) }));
  expect(headline(0.038)).toMatch(/costs 3\.8 ± 0\.2 % more instructions per packet, /);
  expect(headline(-0.038)).toMatch(/saves 3\.8 ± 0\.2 % of the instructions per packet, /);
  expect(bisectSymbol(aBisectResult({ metric, answer: culprit(5, 0.038) }))).toBe('🔴');
});

test('of many changes three are named and the others counted', () => {
  const found = [1, 2, 3, 4, 5].map((revision) => culprit(revision, -0.1));
  const answer: BisectAnswer = { kind: 'several', found, open: [] };
  expect(bisectHeadline(aBisectResult({ answer }))).toMatch(/^5 changes: .*; 2 more, 8 boots$/);
});

describe('the next step', () => {
  const stepsOf = (answer: BisectAnswer) => bisectNextSteps(aBisectResult({ answer })).join('\n');

  test('exists for each kind of answer', () => {
    for (const result of Object.values(bisectResults)) {
      const steps = bisectNextSteps(result);
      expect(steps.length).toBeGreaterThan(0);
      for (const one of steps) expect(one).toMatch(/^[A-Za-z].*\.$/);
    }
  });

  test('includes the fix-up that would distinguish the members of a group', () => {
    expect(stepsOf(group(2, 5, commitAt(7)))).toContain('`--fix-up a0070707eeee`');
    expect(stepsOf(group(2, 5))).toContain('`--fix-up COMMIT`');
  });

  test('is to have the culprit proven, unless that was done', () => {
    const proven = bisectResults['a reverted culprit, of variants that share trials'];
    expect(stepsOf(culprit(5, -0.1))).toContain('`--verify-revert`');
    expect(bisectNextSteps(proven ?? aBisectResult()).join()).not.toContain('--verify-revert');
  });

  test('mentions that a culprit and a fix-up were only measured together', () => {
    expect(bisectNextSteps(mellanoxFixed).join('\n')).toContain(
      'f8f5b459d21e could only be measured with 431980466ff0 applied',
    );
    expect(stepsOf(culprit(5, -0.1))).not.toContain('could only be measured');
  });

  test('is more boots where it is open', () => {
    const { inconclusive = aBisectResult() } = bisectResults;
    expect(bisectNextSteps(inconclusive)).toEqual([
      'Allow more boots with `ppsgate bisect --resume DIR --max-boots N`, about 14 are expected; a quieter cell or testbed needs fewer.',
    ]);
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
