// Generates random results of gates, with any texts of others.
import fc from 'fast-check';
import type { CellResult, ChangedFunction, Result } from '../../src/model/result.ts';
import { families, scenarios } from '../../src/model/scenario.ts';
import { judgeCell } from './cell.ts';
import { aCell, aProfile, aResult, aRun, pairedRuns, unfit } from './result.ts';

const repeated = (times: number, values: number[]): number[] => new Array<number[]>(times).fill(values).flat();

export const loss = judgeCell(
  pairedRuns(
    repeated(2, [801e3, 805e3, 799e3, 803e3, 806e3, 800e3, 804e3, 802e3, 801e3, 805e3]),
    repeated(2, [721e3, 718e3, 722e3, 719e3, 724e3, 717e3, 723e3, 720e3, 722e3, 719e3]),
  ).map((run) => ({ ...run, nsPerPacket: 1e9 / run.pps })),
);

export const changedFunction = (name = 'fib4_lookup', module?: string): ChangedFunction => ({
  function: name,
  ...(module !== undefined && { module }),
  baseRatio: 0.093,
  patchedRatio: 0.124,
});

/** Profiles of base and patched, and the reason that they give. */
export const profiled = (changedFunctions: ChangedFunction[] = [changedFunction()], idleFrames: string[] = []) => ({
  profiles: [aProfile('base'), aProfile('patched')],
  reason: { changedFunctions, moved: changedFunctions.length, idleFrames },
});

const unprofiled = (reason: string) => ({
  profiles: [aProfile('base'), { kind: 'missing', variant: 'patched', reason } as const],
});

const anyCell = (text: fc.Arbitrary<string>, scenario: fc.Arbitrary<string>): fc.Arbitrary<CellResult> =>
  fc
    .record({
      scenario,
      family: fc.constantFrom(...families),
      kind: fc.constantFrom('regression', 'improvement', 'no-regression', 'inconclusive', 'invalid'),
      reason: text,
      change: fc.double({ min: -0.99, max: 10, noNaN: true }),
    })
    .map(({ scenario, family, kind, reason, change }) => {
      const verdict = kind === 'invalid' ? { kind, reason } : { kind };
      const interval = { change, low: change - 0.01, high: change + 0.01 };
      const hole = aRun({ validity: unfit(reason) });
      const cell = aCell(verdict, interval, { scenario, family });
      return {
        ...cell,
        runs: [...loss.runs, hole],
        ...(change < 0 ? profiled([changedFunction(reason, reason), changedFunction()], [reason]) : unprofiled(reason)),
      };
    });

const anyOutcome = (text: fc.Arbitrary<string>, scenario: fc.Arbitrary<string>): fc.Arbitrary<Result['outcome']> =>
  fc.oneof(
    fc
      .tuple(fc.array(anyCell(text, scenario), { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 120 }))
      .map(([some, count]) => ({
        kind: 'judged' as const,
        verdict: some[0]?.verdict.kind ?? 'invalid',
        cells: Array.from({ length: count }, (_, index) => some[index % some.length] ?? loss),
      })),
    text.map((message) => ({ kind: 'does-not-apply' as const, message })),
    text.map((message) => ({
      kind: 'does-not-load' as const,
      scenario: 'forwarding' as const,
      message,
    })),
    fc.tuple(text, text, text).map(([message, panic, console]) => ({
      kind: 'boot-failed' as const,
      message,
      panic,
      console,
    })),
  );

/** Foreign texts are drawn from `text`, names of scenarios from `scenario`. */
export const anyResult = (
  text: fc.Arbitrary<string>,
  scenario: fc.Arbitrary<string> = fc.constantFrom(...scenarios),
): fc.Arbitrary<Result> =>
  fc
    .record({
      outcome: anyOutcome(text, scenario),
      title: text,
      author: text,
      testbed: text,
      version: text,
      variant: text,
      commit: text,
      fingerprint: fc.dictionary(text, text, { maxKeys: 3 }),
      cpu: text,
      warning: text,
      kernel: text,
    })
    .map((texts) => {
      const result = aResult({ outcome: texts.outcome });
      return {
        ...result,
        generator: { name: 'ppsgate', version: texts.version },
        patch: { ...result.patch, title: texts.title, author: texts.author },
        variants: [{ name: texts.variant, commit: texts.commit, files: [] }],
        trials: result.trials.map((trial) => ({ ...trial, kernel: texts.kernel })),
        testbed: {
          name: texts.testbed,
          fingerprint: { ...texts.fingerprint, cpu: texts.cpu, kernel: texts.cpu },
          warnings: [texts.warning],
        },
      };
    });
