// Counts boots and wrong culprits of bisections, beside the usual method by hand: 3 or 5 boots a step.
// By hand: npm run bench:bisect
import { mean } from 'simple-statistics';
import { formatPercent, grouped } from '../src/model/format.ts';
import { type Goal, goalText, isMissed, type Lab, type Line, labs, plain, printLines, share } from './designs.ts';
import { type BisectRow, type BisectSimulation, type SearchStrategy, simulateBisect } from './simulated-bisections.ts';

type Deps = Pick<BisectSimulation, 'commits' | 'effects' | 'brokenRatio' | 'slow'>;
type Measure =
  | Exclude<keyof BisectRow, 'namedWrong' | 'groupWrong'>
  | 'anythingNamed'
  | 'rightOfNamed'
  | 'rightOfGroups';
type Goals = Partial<Record<Measure, Goal>>;

const worldsARow = 2000;

/** Yields each line as soon as it is known. */
export async function* benchBisect(): AsyncGenerator<Line> {
  const { says, quiet } = await labs();
  yield plain(`${says} ${quiet.says}; ${grouped(worldsARow)} worlds a row.`);
  yield plain('20 boots of history, builds of 10 min, 5 min a boot with its trial, 10 min one that fails.\n');
  for (const { deps, goals } of worlds) yield lineOf('posterior', deps, quiet, undefined, goals);
  yield plain('\n5 % of boots, of history too, 5 % slow:');
  for (const { deps, goals } of slowWorlds) yield lineOf('posterior', deps, quiet, undefined, goals);
  yield plain('\nEnds that a false alarm of a gate named (--from), which are booted anew:');
  for (const deps of falseAlarms) yield lineOf('--from', deps, quiet, undefined, nothingNamed);
  yield plain('\nFixed boots a step, for the same worlds:');
  for (const bootsAStep of [3, 5]) {
    for (const { deps } of worlds.filter(isPlain)) {
      yield lineOf(`${bootsAStep} a step`, deps, quiet, fixedBoots(bootsAStep), {});
    }
  }
}

const depsOf = (effects: number[], commits = 256, brokenRatio = 0): Deps => ({
  effects,
  commits,
  brokenRatio,
});

const large: Goals = {
  meanBoots: { most: 15 },
  meanMinutes: { most: 150 },
  rightOfNamed: { least: 0.995 },
};

const nothingNamed: Goals = { anythingNamed: { most: 0.005 } };

const worlds: { deps: Deps; goals: Goals }[] = [
  { deps: depsOf([-0.02]), goals: { meanBoots: { most: 21 }, rightOfNamed: { least: 0.99 } } },
  { deps: depsOf([-0.05]), goals: large },
  { deps: depsOf([-0.1]), goals: large },
  { deps: depsOf([-0.56]), goals: large },
  ...[16, 64, 1024].flatMap((commits) =>
    [-0.02, -0.05].map((effect) => ({ deps: depsOf([effect], commits), goals: {} })),
  ),
  ...[0.05, 0.1, 0.2].map((brokenRatio) => ({
    deps: depsOf([-0.05], 256, brokenRatio),
    goals:
      brokenRatio === 0.1
        ? ({
            meanBoots: { most: 15.5 },
            p95Minutes: { most: 190 },
            rightOfGroups: { least: 0.99 },
          } satisfies Goals)
        : {},
  })),
  { deps: depsOf([0]), goals: nothingNamed },
  { deps: depsOf([-0.05, -0.05]), goals: { allFound: { least: 0.97 } } },
  { deps: depsOf([-0.1, 0.05]), goals: {} },
  { deps: depsOf([-0.02, -0.02]), goals: {} },
];

const slow = { share: 0.05, by: 0.05 };

const slowWorlds: { deps: Deps; goals: Goals }[] = [
  ...[-0.02, -0.05].map((effect) => ({
    deps: { ...depsOf([effect]), slow },
    goals: { rightOfNamed: { least: 0.99 } },
  })),
  { deps: { ...depsOf([-0.1]), slow }, goals: {} },
];

/** Short ranges, as of a patch, have more of their steps at an end. */
const falseAlarms: Deps[] = [4, 16, 256].flatMap((commits) => [
  depsOf([0], commits),
  { ...depsOf([0], commits), slow },
]);

const isPlain = ({ deps }: (typeof worlds)[number]): boolean =>
  deps.commits === 256 && deps.effects.length === 1 && deps.brokenRatio === 0;

function lineOf(says: string, deps: Deps, { noise }: Lab, search: SearchStrategy | undefined, goals: Goals): Line {
  const row = simulateBisect(
    {
      noise,
      ...deps,
      brokenInARow: 6,
      historyRuns: 20,
      mostBoots: 120,
      minutes: { build: 10, run: 5, failure: 10 },
      experiments: worldsARow,
      seed: 1,
    },
    search,
  );
  const measures: Record<Measure, number> = {
    ...row,
    anythingNamed: row.namedRight + row.namedWrong + row.groupRight + row.groupWrong,
    rightOfNamed: ratioOf(row.namedRight, row.namedWrong),
    rightOfGroups: ratioOf(row.groupRight, row.groupWrong),
  };
  const goalOf = (measure: Measure) => goalText(goals[measure]);
  const effects = deps.effects.map(formatPercent).join(' and ');
  const broken = deps.brokenRatio > 0 ? `, ${formatPercent(deps.brokenRatio)} broken` : '';
  const outliers = deps.slow === undefined ? '' : ', slow boots';
  const parts = [
    `${says}: ${deps.commits} commits, ${effects}${broken}${outliers}: boots ${row.meanBoots.toFixed(1)}${goalOf('meanBoots')}`,
    `p95 ${Math.ceil(row.p95Boots)}`,
    `minutes ${row.meanMinutes.toFixed(0)}${goalOf('meanMinutes')}`,
    `p95 ${row.p95Minutes.toFixed(0)}${goalOf('p95Minutes')}`,
    `named ${share(row.namedRight)}`,
    `wrong ${share(row.namedWrong)}`,
    ...(goals.rightOfNamed ? [`right of those named ${share(measures.rightOfNamed)}${goalOf('rightOfNamed')}`] : []),
    `group ${share(row.groupRight)}`,
    `group without it ${share(row.groupWrong)}`,
    ...(goals.rightOfGroups ? [`right of groups ${share(measures.rightOfGroups)}${goalOf('rightOfGroups')}`] : []),
    ...(deps.effects.length > 1 ? [`all found ${share(row.allFound)}${goalOf('allFound')}`] : []),
    `inconclusive ${share(row.inconclusive)}`,
    ...(goals.anythingNamed ? [`anything named ${share(measures.anythingNamed)}${goalOf('anythingNamed')}`] : []),
    `not reproduced ${share(row.notReproduced)}`,
  ];
  const missed = Object.entries(goals).some(([measure, goal]) => isMissed(measures[measure as Measure], goal));
  return { text: parts.join(', '), missed };
}

const ratioOf = (right: number, wrong: number): number => (right + wrong === 0 ? 1 : right / (right + wrong));

/** Plain bisection: so many boots of both ends and of each middle, whose mean is held against the middle of both levels. */
function fixedBoots(bootsAStep: number): SearchStrategy {
  return (deps, _history, { minutes }) => {
    let boots = 0;
    const levelOf = (position: number): number => {
      boots += bootsAStep;
      return mean(Array.from({ length: bootsAStep }, () => deps.boot(position) ?? Number.NaN));
    };
    const good = levelOf(0);
    const threshold = (good + levelOf(deps.commits)) / 2;
    let [after, last] = [0, deps.commits];
    let builds = 2;
    while (last - after > 1) {
      const middle = Math.floor((after + last) / 2);
      builds += 1;
      if (levelOf(middle) > threshold === good > threshold) after = middle;
      else last = middle;
    }
    const spent = builds * minutes.build + boots * minutes.run;
    return { kind: 'found', found: [{ after, last }], boots, minutes: spent };
  };
}

if (import.meta.main) await printLines(benchBisect());
