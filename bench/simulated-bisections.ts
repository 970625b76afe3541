// Simulates bisections on a lab of known noise: boots, minutes, and share of wrong conclusions.
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, quantile } from 'simple-statistics';
import { moderated } from '../src/analysis/stats/evidence.ts';
import {
  type ChangeRange,
  nextBuilds,
  nextStep,
  type PositionFailure,
  type SearchProblem,
} from '../src/gate/bisect/search.ts';
import { cellSource, earlierNoise, type NoiseSource } from './simulated-gates.ts';

export type BisectSimulation = {
  noise: NoiseSource;
  /** A share of runs that is slower by a ratio; absent: none. */
  slow?: SlowRuns | undefined;
  commits: number;
  /** Changes of the rate as ratios, each at its own random commit. */
  effects: readonly number[];
  brokenRatio: number;
  brokenInARow: number;
  historyRuns: number;
  mostBoots: number;
  minutes: BootMinutes;
  experiments: number;
  seed: number;
};

export type SlowRuns = { share: number; by: number };

export type BootMinutes = { build: number; run: number; failure: number };

export type BisectRow = {
  meanBoots: number;
  p95Boots: number;
  meanMinutes: number;
  p95Minutes: number;
  /** Bisections that name only correct commits. */
  namedRight: number;
  namedWrong: number;
  /** Bisections that name a small group, with or without the culprit. */
  groupRight: number;
  groupWrong: number;
  allFound: number;
  inconclusive: number;
  notReproduced: number;
};

/** Deterministic by request. */
export function simulateBisect(request: BisectSimulation, search: SearchStrategy = sequentialSearch): BisectRow {
  const random = xoroshiro128plus(request.seed);
  const drawCell = cellSource(request.noise, random);
  const ends: SimulatedExperiment[] = [];
  for (let experiment = 0; experiment < request.experiments; experiment++) {
    const openSession = drawCell();
    const drawSession = () => withSlowRuns(openSession(), request.slow, random);
    const earlier = earlierNoise(request.historyRuns, () => {
      const draw = drawSession();
      return (count) => Array.from({ length: count }, draw);
    });
    const deps = depsOf(request, random, drawSession());
    ends.push({ ...search(deps, moderated(earlier), request), culprits: deps.culprits });
  }
  return rowOf(ends);
}

function withSlowRuns(draw: () => number, slow: SlowRuns | undefined, random: RandomGenerator): () => number {
  if (slow === undefined) return draw;
  const { share, by } = slow;
  return () => draw() * (uniformFloat64(random) < share ? 1 - by : 1);
}

/** A range of commits. Natural logarithms of each boot's rate; undefined for a failure. */
type SimulatedDeps = {
  commits: number;
  culprits: readonly number[];
  boot(position: number): number | undefined;
};

export type SearchStrategy = (
  deps: SimulatedDeps,
  history: SearchProblem['history'],
  request: Pick<BisectSimulation, 'minutes' | 'mostBoots'>,
) => SimulatedOutcome;

type SimulatedOutcome = { boots: number; minutes: number } & (
  | { kind: 'found'; found: readonly Pick<ChangeRange, 'after' | 'last'>[] }
  | { kind: 'inconclusive' | 'not-reproduced' }
);

type SimulatedExperiment = SimulatedOutcome & { culprits: readonly number[] };

function depsOf(
  { commits, effects, brokenRatio, brokenInARow }: BisectSimulation,
  random: RandomGenerator,
  draw: () => number,
): SimulatedDeps {
  const culprits = new Map<number, number>();
  for (const effect of effects) {
    if (effect === 0) continue;
    let at = uniformInt(random, 1, commits);
    while (culprits.has(at)) at = uniformInt(random, 1, commits);
    culprits.set(at, effect);
  }
  const broken = brokenOf({ commits, brokenRatio, brokenInARow }, random);
  const levelAt = (position: number) =>
    [...culprits].reduce((level, [at, effect]) => level + (at <= position ? Math.log1p(effect) : 0), 0);
  return {
    commits,
    culprits: [...culprits.keys()].sort((a, b) => a - b),
    boot: (position) => (broken.has(position) ? undefined : levelAt(position) + Math.log(draw())),
  };
}

/** Both ends can always be measured. */
function brokenOf(
  { commits, brokenRatio, brokenInARow }: Pick<BisectSimulation, 'commits' | 'brokenRatio' | 'brokenInARow'>,
  random: RandomGenerator,
): ReadonlySet<number> {
  const broken = new Set<number>();
  const wanted = Math.min(Math.round(brokenRatio * commits), commits - 1);
  while (broken.size < wanted) {
    const from = uniformInt(random, 1, commits - 1);
    for (let at = from; at < Math.min(from + brokenInARow, commits); at++) {
      if (broken.size < wanted) broken.add(at);
    }
  }
  return broken;
}

/** Uses the real design, with builds ahead on a separate builder. */
const sequentialSearch: SearchStrategy = (deps, history, { minutes, mostBoots }) => {
  const measured = new Map<number, number[]>();
  const failed = new Map<number, PositionFailure>();
  const builder = newBuilder(minutes.build, (isBuilt) => nextBuilds(problem(), isBuilt, 1).at(0));
  let boots = 0;
  let now = 0;
  const problem = (): SearchProblem => ({
    steps: deps.commits,
    measured,
    failed,
    skipped: new Set(),
    history,
    mostBoots,
    boots,
  });
  for (;;) {
    const step = nextStep(problem(), {
      runMinutes: minutes.run,
      waitMinutes: (position) => builder.waitMinutes(position, now),
    });
    if (step.kind === 'ended') return { ...searched(step.ending), boots, minutes: now };
    const { position } = step;
    now = builder.need(position, now);
    const value = deps.boot(position);
    if (value === undefined) {
      boots += 1;
      now += minutes.failure;
      builder.runUntil(now);
      failed.set(position, { kind: 'broken', isSure: failed.has(position) });
    } else {
      boots += 1;
      now += minutes.run;
      builder.runUntil(now);
      measured.set(position, [...(measured.get(position) ?? []), value]);
    }
  }
};

function searched(ending: Extract<ReturnType<typeof nextStep>, { kind: 'ended' }>['ending']) {
  switch (ending.kind) {
    case 'found':
      return { kind: 'found', found: [ending] } as const;
    case 'several':
      return { kind: 'found', found: ending.found } as const;
    case 'not-reproduced':
      return { kind: 'not-reproduced' } as const;
    case 'slide':
    case 'inconclusive':
      return { kind: 'inconclusive' } as const;
  }
}

type SimulatedBuilder = {
  waitMinutes(position: number, now: number): number;
  /** Drops a build of another position, and returns the time at which the kernel is ready. */
  need(position: number, now: number): number;
  runUntil(now: number): void;
};

function newBuilder(
  buildMinutes: number,
  next: (isBuilt: (position: number) => boolean) => number | undefined,
): SimulatedBuilder {
  const built = new Set<number>();
  let building: { position: number; until: number } | undefined;
  const runUntil = (now: number) => {
    while (building !== undefined && building.until <= now) {
      built.add(building.position);
      begin(building.until);
    }
    if (building === undefined) begin(now);
  };
  const begin = (at: number) => {
    const position = next((one) => built.has(one));
    building = position === undefined ? undefined : { position, until: at + buildMinutes };
  };
  const waitMinutes = (position: number, now: number): number => {
    if (built.has(position)) return 0;
    return building?.position === position ? building.until - now : buildMinutes;
  };
  return {
    waitMinutes,
    need(position, now) {
      const at = now + waitMinutes(position, now);
      if (!built.has(position) && building?.position !== position) {
        building = { position, until: at };
      }
      runUntil(at);
      return at;
    },
    runUntil,
  };
}

function rowOf(ends: readonly SimulatedExperiment[]): BisectRow {
  const share = (holds: (end: SimulatedExperiment) => boolean) => ends.filter(holds).length / ends.length;
  const named = ends.map(judge);
  const shareOf = (verdict: NamingVerdict) => named.filter((one) => one === verdict).length / ends.length;
  const boots = ends.map((end) => end.boots);
  const minutes = ends.map((end) => end.minutes);
  return {
    meanBoots: mean(boots),
    p95Boots: quantile(boots, 0.95),
    meanMinutes: mean(minutes),
    p95Minutes: quantile(minutes, 0.95),
    namedRight: shareOf('named-right'),
    namedWrong: shareOf('named-wrong'),
    groupRight: shareOf('group-right'),
    groupWrong: shareOf('group-wrong'),
    allFound: share(findsAll),
    inconclusive: share(({ kind }) => kind === 'inconclusive'),
    notReproduced: share(({ kind }) => kind === 'not-reproduced'),
  };
}

type NamingVerdict = 'named-right' | 'named-wrong' | 'group-right' | 'group-wrong' | 'nothing';

/** A single wrong name makes the conclusion wrong; a group next to names makes it a group. */
function judge(end: SimulatedExperiment): NamingVerdict {
  if (end.kind !== 'found') return 'nothing';
  const holds = end.found.every(({ after, last }) =>
    end.culprits.some((culprit) => culprit > after && culprit <= last),
  );
  const isNamed = end.found.every(({ after, last }) => last - after === 1);
  if (isNamed) return holds ? 'named-right' : 'named-wrong';
  return holds ? 'group-right' : 'group-wrong';
}

const findsAll = (end: SimulatedExperiment): boolean =>
  end.kind === 'found' &&
  end.culprits.every((culprit) => end.found.some(({ after, last }) => culprit > after && culprit <= last));
