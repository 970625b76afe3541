import { describe, expect, test } from 'vitest';
import { boundsOf } from '../../../src/analysis/stats/evidence.ts';
import { countedRuns, evidenceOf, interimResults } from '../../../src/analysis/stats/interim-result.ts';
import type { Run } from '../../../src/model/result.ts';
import { cellRuns, singleRunDesign } from '../../fakes/cell.ts';
import { aRun, pairedRuns, policy } from '../../fakes/result.ts';

describe('cells of one patch', () => {
  const [base, slower] = [
    [800e3, 818e3, 788e3, 806e3, 783e3],
    [760e3, 776e3, 750e3, 765e3, 742e3],
  ];
  const cellOf = (patched: number[]) => cellRuns(pairedRuns(base, patched), { design: singleRunDesign });
  const verdicts = (inputs: ReturnType<typeof cellOf>[]) =>
    interimResults(inputs, policy).map(({ judgement }) => judgement?.verdict);

  test('share the false alarms: what is a regression alone may be open among fifty', () => {
    expect(verdicts([cellOf(slower)])).toEqual(['regression']);
    const unknown = cellOf([812e3, 770e3, 820e3, 790e3, 765e3]);
    const fifty = verdicts([cellOf(slower), ...new Array(49).fill(unknown)]);
    expect(fifty[0]).toBe('inconclusive');
  });

  test('leave their share to the others once they have lost', () => {
    const lost = cellOf(base.map((value) => value / 2));
    const fifty = verdicts([cellOf(slower), ...new Array(49).fill(lost)]);
    expect(fifty).toEqual(new Array(50).fill('regression'));
  });
});

describe('single runs', () => {
  /** Three pairs in ABBAs of a patch that loses `loss`, with 1 % less at each further trial. */
  const drifting = (loss: number): Run[] =>
    ['base', 'patched', 'patched', 'base', 'base', 'patched'].map((variant, index) => {
      const number = index + 1;
      const noise = 1 + ((index * 5) % 3) / 10_000;
      const own = variant === 'patched' ? 1 - loss : 1;
      const pps = 8e5 * own * noise * 0.99 ** index;
      return aRun({ number, trial: number, pair: Math.ceil(number / 2), variant, pps });
    });
  const judged = (runs: Run[], closedPairs: number) =>
    interimResults([cellRuns(runs, { design: singleRunDesign, closedPairs })], policy)[0];

  test('that drift are judged as if they did not, from the third pair on', () => {
    const judgement = judged(drifting(0), 3)?.judgement;
    expect(judgement).toMatchObject({ verdict: 'no-regression', analysis: { pairs: 3 } });
    expect(judgement?.evidence?.effect).toBeCloseTo(0, 3);
    expect(judged(drifting(0.05), 3)?.judgement).toMatchObject({
      verdict: 'regression',
      analysis: { pairs: 3 },
    });
  });

  test('are not judged before the first ABBA is whole', () => {
    const [base, patched] = drifting(0.5);
    const first = [base, patched].flatMap((run) => run ?? []);
    expect(judged(first, 1)).toMatchObject({ judgement: undefined, closed: false });
  });
});

describe('runs that share a trial', () => {
  const level = 0.05;

  test('raise no more false alarms than requested over all random orders, under any disturbance', () => {
    // Slows the middle of each four runs in turn, where both pairs have the same variant.
    const slots = Array.from({ length: 10 }, (_, four) => [1, 1 + four / 50, 1 + four / 40, 1]);
    const alarms = everyOrder(slots.length).filter((order) => {
      const runs = slots.flatMap((slowness, four) => mirrored(order[four] ?? false, slowness, four));
      const counted = countedRuns(cellRuns(runs), 2 * slots.length);
      return boundsOf(evidenceOf(counted, 'pps', 'paired'), level).high < 0;
    });
    expect(alarms.length / 2 ** slots.length).toBeLessThanOrEqual(level);
    expect(alarms.length).toBeGreaterThan(0);
  });

  const everyOrder = (fours: number): boolean[][] =>
    Array.from({ length: 2 ** fours }, (_, bits) =>
      Array.from({ length: fours }, (_, four) => ((bits >> four) & 1) === 1),
    );

  /** Base, patched, patched, base, or the other way round, of a patch that changes nothing. */
  function mirrored(patchedFirst: boolean, slowness: number[], four: number): Run[] {
    const outer = patchedFirst ? 'patched' : 'base';
    const inner = patchedFirst ? 'base' : 'patched';
    return [outer, inner, inner, outer].map((variant, index) =>
      aRun({
        number: 4 * four + index + 1,
        pair: 2 * four + (index < 2 ? 1 : 2),
        variant,
        pps: 8e5 / (slowness[index] ?? 1),
      }),
    );
  }
});
