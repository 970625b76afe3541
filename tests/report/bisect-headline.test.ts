import { describe, expect, test } from 'vitest';
import type { BisectAnswer } from '../../src/model/bisect-result.ts';
import { bisectHeadline, bisectNextSteps, bisectSymbol } from '../../src/report/bisect-headline.ts';
import {
  aBisectResult,
  bisectResults,
  commitAt,
  culprit,
  group,
  mellanoxBroken,
  mellanoxFixed,
} from '../fakes/bisect-result.ts';

const headlineOf = (name: string): string => {
  const result = bisectResults[name];
  if (result === undefined) expect.fail(`There is no result "${name}".`);
  return `${bisectSymbol(result)} ${bisectHeadline(result)}`;
};

test.for([
  ['culprit', '🔴 a0050505eeee costs 10.0 ± 0.2 %, P > 0.999, 8 boots'],
  ['a gain', '🟢 a0050505eeee brings 8.3 ± 0.2 %, P > 0.999, 8 boots'],
  ['a cost in time', '🔴 a0050505eeee costs 12.6 ± 0.2 % more CPU time per packet, P > 0.999, 8 boots'],
  ['group', '🔴 one of these 3 costs 10.0 ± 0.2 %: a0030303eeee, a0040404eeee, a0050505eeee, P > 0.999, 8 boots'],
  [
    'several',
    '🔴 2 changes: a0030303eeee costs 10.0 ± 0.2 %; a0060606eeee brings 5.0 ± 0.2 %; 2 commits still open, 8 boots',
  ],
  ['not reproduced', '⚪ good and bad differ by less than 0.40 %: +0.1 ± 0.3 %, 8 boots'],
  ['a bad end that fails', '⚪ the bad one cannot be measured: it forwards nothing, 8 boots'],
  ['nothing measured', '⚪ the good one cannot be measured: it forwards nothing, 1 boot'],
  ['slide', '🟡 lost gradually: −5.0 ± 0.3 % over 3 steps, and no commit stands out, 8 boots'],
  [
    'inconclusive',
    '🟡 no commit is certain yet: a0050505eeee (P = 0.610), a0040404eeee (P = 0.220), a0030303eeee (P = 0.100), 8 boots, about 14 more expected',
  ],
] as const)('the sentence of %s', ([name, said]) => {
  expect(headlineOf(name)).toBe(said);
});

test('a regression of Mellanox’ driver is named with its fix-up, and as one of eleven without', () => {
  expect(bisectHeadline(mellanoxFixed)).toBe('f8f5b459d21e costs 55.9 ± 0.2 %, P > 0.999, 10 boots');
  expect(bisectHeadline(mellanoxBroken)).toBe(
    'one of these 11 costs 55.9 ± 0.2 %: f8f5b459d21e … 431980466ff0, P > 0.999, 11 boots',
  );
});

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
