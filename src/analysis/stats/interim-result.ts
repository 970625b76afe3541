// How the cells of a patch stand, judged together at the looks that their runs have reached.
import { geometricMean } from 'simple-statistics';
import type { CellResult, History, Metric, Policy, Run } from '../../model/result.ts';
import { type InterimAnalysis, looksOf } from './design.ts';
import {
  type Evidence,
  knownNoise,
  type Noise,
  onePerLayout,
  type Pair,
  pairedEvidence,
  pooledEvidence,
} from './evidence.ts';
import { type Judgement, judgedAt, judgeInOrder, type Lost, type Verdict } from './judge.ts';

export type CellRuns = {
  design: CellResult['design'];
  history?: History | undefined;
  /** All tries of all trials. */
  runs: Run[];
  /** So many pairs have all their runs, or will not get them. */
  closedPairs: number;
  /** Why trials measured nothing. */
  failures: readonly string[];
};

/**
 * `closed` cells get no more runs: they are decided, so many of their runs do not count that no look can be, or they are
 * `stopped`, as another cell loses.
 */
export type InterimResult<Input extends CellRuns = CellRuns> = {
  input: Input;
  looks: InterimAnalysis[];
  judgement: Judgement | Lost | undefined;
  closed: boolean;
  stopped?: true;
};

/**
 * Judges every cell at its looks. The false alarms that a patch may raise are shared out evenly. As in Holm's
 * procedure (Scandinavian Journal of Statistics 6, 1979), a cell that was found to lose leaves its share to those
 * still open, which are judged with it at their last look; so the rate holds over the patch, whatever its cells lose.
 */
export function interimResults<Input extends CellRuns>(
  inputs: readonly Input[],
  policy: Policy,
): InterimResult<Input>[] {
  const strict = inputs.map((input): InterimResult<Input> => {
    const looks = looksSharedBy(inputs.length, input, policy);
    const lost = lostAt(input, looks);
    if (lost !== undefined) return { input, looks, judgement: lost, closed: true };
    const evidence = (pairs: number) => evidenceAt(input, pairs, policy);
    const judgement = judgeInOrder(looks, evidence, policy);
    const reached = looks.filter(({ pairs }) => pairs <= input.closedPairs);
    const isDead = reached.some(({ pairs }) => evidence(pairs) === undefined);
    return { input, looks, judgement, closed: isDecided(judgement) || isDead };
  });
  const all = relaxed(strict, policy);
  return policy.stopsAtFirst ? stoppedAtFirst(all) : all;
}

/**
 * What ends early for another cell's loss is called nothing, so no error rate grows. A cell that has used its runs up was
 * measured to its own end.
 */
function stoppedAtFirst<Input extends CellRuns>(
  all: InterimResult<Input>[],
): InterimResult<Input>[] {
  if (!all.some(({ judgement }) => judgement?.verdict === 'regression')) return all;
  return all.map((interim) => {
    const { design, closedPairs } = interim.input;
    const isUsedUp = closedPairs >= (design.budgets.at(-1) ?? 0);
    return interim.closed || isUsedUp ? interim : { ...interim, closed: true, stopped: true };
  });
}

export const isDecided = (judgement: Judgement | Lost | undefined): boolean =>
  judgement !== undefined && judgement.verdict !== 'inconclusive';

function relaxed<Input extends CellRuns>(
  before: InterimResult<Input>[],
  policy: Policy,
): InterimResult<Input>[] {
  const count = (kind: Verdict) =>
    before.filter(({ judgement }) => judgement?.verdict === kind).length;
  const after = before.map((interim) =>
    (['regression', 'improvement'] as const).reduce(
      (now, kind) => rejudged(now, kind, before.length - count(kind), policy),
      interim,
    ),
  );
  const isSame = after.every(({ closed }, index) => closed === before[index]?.closed);
  return isSame ? after : relaxed(after, policy);
}

/** An open cell at its last look, with the share that is left to it if only verdicts of that kind are counted. */
function rejudged<Input extends CellRuns>(
  interim: InterimResult<Input>,
  kind: 'regression' | 'improvement',
  sharers: number,
  policy: Policy,
): InterimResult<Input> {
  const { input, judgement } = interim;
  if (judgement?.evidence === undefined || interim.closed || sharers < 1) return interim;
  const looks = looksSharedBy(sharers, input, policy);
  const look = looks.find(({ pairs }) => pairs === judgement.look.pairs) ?? judgement.look;
  const { evidence } = judgement;
  const again = judgedAt(look, evidence, policy);
  if (again.verdict !== kind) return interim;
  return { ...interim, looks, judgement: { ...again, evidence }, closed: true };
}

/** The looks of a cell that shares the false alarms of its patch with so many, itself among them. */
export function looksSharedBy(
  sharers: number,
  { design, history }: Pick<CellRuns, 'design' | 'history'>,
  policy: Policy,
): InterimAnalysis[] {
  const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
  return looksOf(
    { ...design, earlierDegreesOfFreedom },
    {
      // Nothing is a loss of which the interval that is shown leaves open that there is none.
      falseAlarms: Math.min(policy.falseAlarmRatio / sharers, policy.missRatio),
      misses: policy.missRatio,
      outside: (1 - policy.confidenceRatio) / 2,
    },
  );
}

/** At once, whatever looks are planned. */
function lostAt(input: CellRuns, looks: readonly InterimAnalysis[]): Lost | undefined {
  if (!forwardsNothing(input)) return undefined;
  const valid = input.runs.filter(({ validity }) => validity.kind === 'valid');
  const pairs = Math.max(...valid.map(({ pair }) => pair));
  const levels = looks[0]?.levels ?? { falseAlarms: 0, misses: 0, outside: 0 };
  return { verdict: 'regression', look: { pairs, levels } };
}

/**
 * Whether patched does, in some of its runs at least. As with panics, nobody is blamed for what happened once, and a patch
 * only for what happened to it twice more than to a base that has forwarded twice here. Of runs that share a trial one in
 * ten may be lost to a stall of a shared machine, as elsewhere.
 */
export function forwardsNothing({ runs, design }: Pick<CellRuns, 'runs' | 'design'>): boolean {
  const valid = runs.filter(({ validity }) => validity.kind === 'valid');
  const countsOf = (name: string) => {
    const own = valid.filter(({ variant }) => variant === name);
    const moving = own.filter(({ pps }) => pps > 0).length;
    return { moving, silent: own.length - moving, all: own.length };
  };
  const [base, patched] = [countsOf('base'), countsOf('patched')];
  const isStall = design.method === 'paired' && isEnough(patched.moving, patched.all);
  return base.moving >= 2 && patched.silent >= 2 + base.silent && !isStall;
}

/** Undefined where not all of these pairs are there yet, or too few of them count. */
export function evidenceAt(
  input: CellRuns,
  pairs: number,
  { metric, marginRatio }: Pick<Policy, 'metric' | 'marginRatio'>,
): Evidence | undefined {
  if (pairs > input.closedPairs) return undefined;
  const counted = countedRuns(input, pairs);
  const moving = { base: counted.base, patched: counted.patched.filter(({ pps }) => pps > 0) };
  if (!isEnough(moving.patched.length, counted.patched.length)) return undefined;
  if (!isEnough(countOf(moving, metric), pairs)) return undefined;
  return evidenceOf(moving, metric, input.design.method, knownNoise(input.history, marginRatio));
}

/** One pair in ten may be lost to a stall of a shared machine: the interval gets wider by what is missing. */
export const isEnough = (counted: number, asked: number): boolean => counted >= 0.9 * asked;

export type CountedRuns = { base: Run[]; patched: Run[] };

/**
 * Valid runs of the first `pairs` pairs whose base forwards; of paired ones only where both runs are. Of a patch that
 * forwards nothing its silent runs alone; of any other a silent run that had its own trial does not count, as it was
 * repeated.
 */
export function countedRuns(
  { runs, design }: Pick<CellRuns, 'runs' | 'design'>,
  pairs: number,
): CountedRuns {
  const valid = runs.filter((run) => run.pair <= pairs && run.validity.kind === 'valid');
  const whole =
    design.method === 'pooled'
      ? valid
      : validPairs(valid).flatMap(({ base, patched }) => (base.pps > 0 ? [base, patched] : []));
  const patched = whole.filter((run) => run.variant === 'patched');
  const isLost = forwardsNothing({ runs: valid, design });
  const isCounted = ({ pps }: Run) => (isLost ? pps === 0 : pps > 0 || design.method === 'paired');
  return {
    base: whole.filter((run) => run.variant === 'base' && run.pps > 0),
    patched: patched.filter(isCounted),
  };
}

/** Runs of base and patched that the numbers of a cell rest on, of how many that were made. */
export type RunCounts = { counted: [number, number]; made: [number, number] };

export function runCounts(
  { runs, design, pairs }: Pick<CellResult, 'runs' | 'design' | 'pairs'>,
  metric: Metric,
): RunCounts {
  const { base, patched } = countedRuns({ runs, design }, pairs);
  const madeOf = (name: string) => runs.filter(({ variant }) => variant === name).length;
  return {
    counted: [valuesOf(base, metric).length, valuesOf(patched, metric).length],
    made: [madeOf('base'), madeOf('patched')],
  };
}

export const countOf = ({ base, patched }: CountedRuns, metric: Metric): number =>
  Math.min(valuesOf(base, metric).length, valuesOf(patched, metric).length);

export const valuesOf = (runs: readonly Run[], metric: Metric): number[] =>
  runs.flatMap((run) => run[metric] || []);

export function evidenceOf(
  counted: CountedRuns,
  metric: Metric,
  method: Evidence['method'],
  earlier?: Noise,
): Evidence {
  if (method === 'pooled') {
    const drawn = (runs: readonly Run[]) =>
      onePerLayout(runs.flatMap(({ layout, [metric]: value }) => (value ? { value, layout } : [])));
    return pooledEvidence(drawn(counted.base), drawn(counted.patched), earlier);
  }
  return pairedEvidence(drawnPairs(counted, metric));
}

/**
 * One pair for every order that chance drew: a pair and the one after it, which mirrors its order, are averaged. What
 * disturbs the two neighbours in the middle of such four bends both pairs alike, so they do not count as two; the four
 * favour either variant as the coin fell, whatever the disturbance, and Wilcoxon's test holds exactly.
 */
function drawnPairs({ base, patched }: CountedRuns, metric: Metric): Pair[] {
  const pairs = validPairs([...base, ...patched]).filter(
    (pair) => pair.base[metric] && pair.patched[metric],
  );
  const drawn = Map.groupBy(
    pairs,
    (pair) => `${pair.base.trial}.${pair.base.attempt}/${Math.ceil(pair.base.pair / 2)}`,
  );
  return [...drawn.values()].map((mirrored) => ({
    base: geometricMean(mirrored.map((pair) => pair.base[metric] ?? 0)),
    patched: geometricMean(mirrored.map((pair) => pair.patched[metric] ?? 0)),
  }));
}

type RunPair = { base: Run; patched: Run };

/** The pairs of which both runs count, and come from the same try of the same trial. */
export function validPairs(runs: readonly Run[]): RunPair[] {
  const groups = Map.groupBy(runs, (run) => `${run.trial}.${run.attempt}/${run.pair}`);
  return [...groups.values()].flatMap((group) => {
    const valid = group.filter((run) => run.validity.kind === 'valid');
    const base = valid.find((run) => run.variant === 'base');
    const patched = valid.find((run) => run.variant === 'patched');
    return base && patched ? [{ base, patched }] : [];
  });
}
