import { describe, expect, test } from 'vitest';
import { evidenceOf } from '../../../src/gate/bisect/evidence.ts';
import { nextOf, noCosts, wantedVariants } from '../../../src/gate/bisect/next-boot.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import type { Rejection } from '../../../src/model/rejection.ts';
import {
  aBisectPlan,
  aSharedPlan,
  at,
  booted,
  commitAt,
  lost,
  lostAlone,
  started,
  variantAt,
  withFixUp,
} from '../../fakes/bisect.ts';
import { aRun, unfit } from '../../fakes/result.ts';

const rejected = (variant: string, rejection: Rejection): JournalEntry => ({
  kind: 'rejected',
  at,
  variant,
  rejection,
});

const panicked: Rejection = { kind: 'panics-under-load', message: 'Twice.' };
const unbuilt: Rejection = { kind: 'build-failed', message: 'error: x' };

/** Two boots of each end: 800 and 400 kpps. */
const reproduced: JournalEntry[] = [
  started,
  booted(1, 'base', 800),
  booted(2, 'patched', 400),
  booted(3, 'base', 802),
  booted(4, 'patched', 401),
];

describe('earlier runs', () => {
  const history = {
    runs: 30,
    typical: 8e5,
    typicalRuns: 30,
    sumOfSquares: 24e-6,
    degreesOfFreedom: 24,
  };
  const priorOf = (plan: ReturnType<typeof aBisectPlan>) => evidenceOf(plan, reproduced).problem.history;

  test('are a prior of four degrees of freedom, or of as many as sessions of the testbed allow', () => {
    const plan = aBisectPlan(8);
    expect(priorOf({ ...plan, history })).toEqual({ sumOfSquares: 4e-6, degreesOfFreedom: 4 });
    const known = { ...history, sessionDegreesOfFreedom: 12 };
    expect(priorOf({ ...plan, history: known })).toEqual({
      sumOfSquares: 12e-6,
      degreesOfFreedom: 12,
    });
    expect(priorOf(plan)).toEqual({ sumOfSquares: 0, degreesOfFreedom: 0 });
  });

  test('do not affect levels in trials that variants share', () => {
    const plan = { ...aSharedPlan(8), history };
    expect(evidenceOf(plan, []).problem.history.degreesOfFreedom).toBe(0);
  });
});

describe('a boot', () => {
  const plan = aBisectPlan(8);
  const notify = (...entries: JournalEntry[]) => evidenceOf(plan, [...reproduced, ...entries]).problem;

  test('that was measured is the logarithm of its rate, at its place', () => {
    const { measured, boots, steps } = notify(booted(5, variantAt(3), 796));
    expect(measured.get(3)).toEqual([Math.log(796_000)]);
    expect([boots, steps]).toEqual([5, 8]);
  });

  test('that does not count yields nothing, but counts as a boot', () => {
    const entry = booted(5, variantAt(3), 796);
    if (entry.kind === 'measured') {
      entry.runs = entry.runs.map((run) => ({ ...run, validity: unfit('A hole.') }));
    }
    const { measured, failed, boots } = notify(entry);
    expect([measured.has(3), failed.has(3), boots]).toEqual([false, false, 5]);
  });

  test('in which no packet comes through is a sure failure when seen twice', () => {
    const once = notify(booted(5, variantAt(3), 0));
    expect(once.failed.get(3)).toEqual({ kind: 'forwards-nothing', isSure: false });
    const twice = notify(booted(5, variantAt(3), 0), booted(6, variantAt(3), 0));
    expect(twice.failed.get(3)).toEqual({ kind: 'forwards-nothing', isSure: true });
  });

  test.for([
    [39, false],
    [41, true],
  ] as const)('with less than a tenth of the slower end forwards nothing: %i kpps', ([kpps, isMeasured]) => {
    expect(notify(booted(5, variantAt(3), kpps)).measured.has(3)).toBe(isMeasured);
  });

  test('in which nothing came through once, and then something did, was the laboratory', () => {
    const { measured, failed } = notify(booted(5, variantAt(3), 0), booted(6, variantAt(3), 790));
    expect([measured.get(3)?.length, failed.has(3)]).toEqual([1, false]);
  });

  test('that was rejected is the commit’s, and a build that failed only when it failed again', () => {
    expect(notify(rejected(variantAt(3), panicked)).failed.get(3)?.isSure).toBe(true);
    const once = notify(rejected(variantAt(3), unbuilt));
    expect(once.failed.get(3)?.isSure).toBe(false);
    const twice = notify(rejected(variantAt(3), unbuilt), rejected(variantAt(3), unbuilt));
    expect(twice.failed.get(3)?.isSure).toBe(true);
  });

  test('of a bad end that forwards nothing has a level, which is the target', () => {
    const silent = [
      started,
      booted(1, 'base', 800),
      booted(2, 'patched', 0),
      booted(3, 'base', 800),
      booted(4, 'patched', 0),
      booted(5, variantAt(3), 0),
    ];
    const { measured, failed } = evidenceOf(plan, silent).problem;
    expect(measured.get(8)?.[0]).toBeCloseTo(Math.log(800), 6);
    expect(measured.get(3)?.[0]).toBeCloseTo(Math.log(800), 6);
    expect(failed.size).toBe(0);
  });
});

describe('a fix-up', () => {
  const stretch = [3, 4, 5];
  const fixed = aBisectPlan(8, {}, Object.fromEntries(stretch.map((place) => [place, { forms: withFixUp(place, 6) }])));
  const withIt = (place: number) => `${variantAt(place)}-with-${variantAt(6)}`;
  const formsNow = (...entries: JournalEntry[]) =>
    evidenceOf(fixed, [...reproduced, ...entries]).positions.map(({ form }) => form.variant);

  test('is left out until its commit was tried without', () => {
    expect(formsNow().slice(3, 6)).toEqual(stretch.map(variantAt));
    expect(formsNow(rejected(variantAt(4), panicked))[4]).toBe(withIt(4));
  });

  test('that has helped is on top of the whole stretch', () => {
    const helped = [rejected(variantAt(4), panicked), booted(5, withIt(4), 800)];
    expect(formsNow(...helped).slice(3, 6)).toEqual(stretch.map(withIt));
  });

  test('is not needed where a commit was measured without it, nor before that', () => {
    const helped = [booted(5, variantAt(3), 800), rejected(variantAt(4), panicked), booted(6, withIt(4), 800)];
    expect(formsNow(...helped).slice(3, 6)).toEqual([variantAt(3), withIt(4), withIt(5)]);
  });

  test('on top of the commit before it is the same kernel, and one position with it', () => {
    const same = { variant: variantAt(6), commit: commitAt(6), fixUps: [commitAt(6)] };
    const forms = [...withFixUp(5, 6).slice(0, 1), same];
    const plan = aBisectPlan(8, {}, { 5: { forms } });
    const { positions, problem } = evidenceOf(plan, [
      ...reproduced,
      rejected(variantAt(5), panicked),
      booted(5, variantAt(6), 800),
    ]);
    expect(positions[5]).toMatchObject({ first: 5, last: 6 });
    expect([problem.steps, problem.measured.get(5)?.length]).toEqual([7, 1]);
  });

  test('is tried at once where its commit has failed', () => {
    const next = nextOf(fixed, [...reproduced, rejected(variantAt(4), panicked)], noCosts);
    expect(next).toMatchObject({ kind: 'measure', variants: [withIt(4)] });
  });
});

describe('the next boot', () => {
  const plan = aBisectPlan(8);
  const next = (...entries: JournalEntry[]) => nextOf(plan, [...reproduced, ...entries], noCosts);
  const measuring = (variant: string) => ({ kind: 'measure', variants: [variant] });

  test('is of the ends in turn, and then of the middle', () => {
    const after = (count: number) => nextOf(plan, reproduced.slice(0, count), noCosts);
    expect(after(1)).toMatchObject(measuring('base'));
    expect(after(2)).toMatchObject(measuring('patched'));
    expect(next()).toMatchObject(measuring(variantAt(4)));
  });

  test('repeats a lost one, up to three times', () => {
    const one = lost(5, variantAt(4));
    expect(next(one)).toMatchObject(measuring(variantAt(4)));
    expect(next(one, lost(6, variantAt(4)), lost(7, variantAt(4)))).toEqual({
      kind: 'stuck',
      variant: variantAt(4),
      why: 'The sender has died.',
    });
  });

  test('is a new try after a restart, with base in between while no variant is to blame', () => {
    const gone = [5, 6, 7].map((number) => lost(number, variantAt(4)));
    expect(next(...gone, started)).toMatchObject(measuring(variantAt(4)));
    const again = [...gone, started, lostAlone(8, variantAt(4))];
    expect(next(...again)).toMatchObject(measuring('base'));
    expect(next(...again, booted(9, 'base', 800))).toMatchObject(measuring(variantAt(4)));
  });

  test('is none if all boots are used up', () => {
    const spent = aBisectPlan(8, { mostBoots: 5 });
    const entries = [...reproduced, lost(5, variantAt(4))];
    expect(nextOf(spent, entries, noCosts)).toMatchObject({
      kind: 'ended',
      ending: { kind: 'inconclusive' },
    });
  });

  test('has kernels built ahead on both sides, and keeps those of the ends', () => {
    const isReady = (variant: string) => ['base', 'patched'].includes(variant);
    const wanted = wantedVariants(plan, reproduced, [variantAt(4)], isReady);
    expect(wanted[0]).toBe(variantAt(4));
    expect(wanted).toEqual(expect.arrayContaining(['base', 'patched']));
    const ahead = wanted.slice(1).filter((variant) => !isReady(variant));
    expect(ahead.slice(0, 2).toSorted()).toEqual([variantAt(2), variantAt(6)]);
  });
});

describe('a shared trial', () => {
  const plan = aSharedPlan(4);
  const runsOf = (variant: string, pps: number, validity?: ReturnType<typeof unfit>) =>
    [1, 2].map((number) => aRun({ number, trial: 1, pair: number, variant, pps, ...(validity && { validity }) }));
  const trial = (...runs: ReturnType<typeof aRun>[]): JournalEntry => {
    const entry = booted(1, 'base', 800);
    if (entry.kind !== 'measured') throw new TypeError('It is a measured one.');
    return { ...entry, runs };
  };

  test('holds each commit against the middle of both ends', () => {
    const runs = [runsOf('base', 4e6), runsOf(variantAt(2), 2e6), runsOf('patched', 1e6)].flat();
    const { measured } = evidenceOf(plan, [started, trial(...runs)]).problem;
    expect(measured.get(0)?.[0]).toBeCloseTo(Math.log(2), 9);
    expect(measured.get(2)?.[0]).toBeCloseTo(0, 9);
    expect(measured.get(4)?.[0]).toBeCloseTo(-Math.log(2), 9);
  });

  test.each([
    ['an end', runsOf('patched', 1e6, unfit('The machine was busy.')), 'The machine was busy.'],
    ['both ends', [...runsOf('patched', 1e6, unfit('x')), ...runsOf('base', 1e6, unfit('x'))], 'x'],
    ['ends that forward nothing', [...runsOf('patched', 0), ...runsOf('base', 0)], 'neither end forwarded a packet'],
  ])('that tells nothing of %s tells nothing of any', (_, ends, why) => {
    const others = ends.some(({ variant }) => variant === 'base') ? [] : runsOf('base', 4e6);
    const runs = [...others, ...runsOf(variantAt(2), 2e6), ...ends];
    const { problem, findings } = evidenceOf(plan, [started, trial(...runs)]);
    expect(problem.measured.size).toBe(0);
    expect(findings.get(variantAt(2))?.lost).toEqual({ times: 1, why });
  });
});
