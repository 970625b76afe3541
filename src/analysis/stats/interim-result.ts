// Judges the cells of a patch together, at the interim analyses that their runs have reached.

import type { Metric } from '../../model/metric.ts';
import type { CellResult, History, Policy, Run } from '../../model/result.ts';
import { analysesOf, type InterimAnalysis } from './design.ts';
import {
  type Evidence,
  type Noise,
  onePerLayout,
  type Pair,
  pairedEvidence,
  pooledEvidence,
  priorNoise,
} from './evidence.ts';
import { type Judgement, judgeInOrder, type Lost, type Verdict, verdictAt } from './judge.ts';
import { geometricMean } from './summary.ts';

export type CellRuns = {
  design: CellResult['design'];
  history?: History | undefined;
  runs: Run[];
  /** Pairs that have all their runs, or will not get them. */
  closedPairs: number;
  failures: readonly string[];
};

/** `closed` cells get no more runs: they are decided, lack valid runs, or are `stopped` as another cell loses. */
export type InterimResult<Input extends CellRuns = CellRuns> = {
  input: Input;
  analyses: InterimAnalysis[];
  judgement: Judgement | Lost | undefined;
  closed: boolean;
  stopped?: true;
};

/**
 * Judges every cell at its interim analyses. Splits the false alarms of a patch evenly. As in Holm's procedure
 * (Scandinavian Journal of Statistics 6, 1979), a losing cell passes its share to the open cells, which are judged with
 * it at their last analysis. So the rate holds for the patch, however many cells lose.
 */
export function interimResults<Input extends CellRuns>(
  inputs: readonly Input[],
  policy: Policy,
): InterimResult<Input>[] {
  const strict = inputs.map((input): InterimResult<Input> => {
    const analyses = analysesSharedBy(inputs.length, input, policy);
    const lost = lostAt(input, analyses);
    if (lost !== undefined) return { input, analyses: analyses, judgement: lost, closed: true };
    const evidence = (pairs: number) => evidenceAt(input, pairs, policy);
    const judgement = judgeInOrder(analyses, evidence, policy);
    const reached = analyses.filter(({ pairs }) => pairs <= input.closedPairs);
    const isDead = reached.some(({ pairs }) => evidence(pairs) === undefined);
    return { input, analyses: analyses, judgement, closed: isDecided(judgement) || isDead };
  });
  const all = relaxed(strict, policy);
  return policy.stopsAtFirst ? stoppedAtFirst(all) : all;
}

/** Gives a cell no verdict if another's loss stopped it early, so no error rate grows. */
function stoppedAtFirst<Input extends CellRuns>(all: InterimResult<Input>[]): InterimResult<Input>[] {
  if (!all.some(({ judgement }) => judgement?.verdict === 'regression')) return all;
  return all.map((interim) => {
    const { design, closedPairs } = interim.input;
    const isUsedUp = closedPairs >= (design.budgets.at(-1) ?? 0);
    return interim.closed || isUsedUp ? interim : { ...interim, closed: true, stopped: true };
  });
}

export const isDecided = (judgement: Judgement | Lost | undefined): boolean =>
  judgement !== undefined && judgement.verdict !== 'inconclusive';

function relaxed<Input extends CellRuns>(before: InterimResult<Input>[], policy: Policy): InterimResult<Input>[] {
  const count = (kind: Verdict) => before.filter(({ judgement }) => judgement?.verdict === kind).length;
  const after = before.map((interim) =>
    (['regression', 'improvement'] as const).reduce(
      (now, kind) => rejudged(now, kind, before.length - count(kind), policy),
      interim,
    ),
  );
  const isSame = after.every(({ closed }, index) => closed === before[index]?.closed);
  return isSame ? after : relaxed(after, policy);
}

/** Judges an open cell at its last interim analysis with its remaining share, if only verdicts of that kind count. */
function rejudged<Input extends CellRuns>(
  interim: InterimResult<Input>,
  kind: 'regression' | 'improvement',
  sharers: number,
  policy: Policy,
): InterimResult<Input> {
  const { input, judgement } = interim;
  if (judgement?.evidence === undefined || interim.closed || sharers < 1) return interim;
  const analyses = analysesSharedBy(sharers, input, policy);
  const analysis = analyses.find(({ pairs }) => pairs === judgement.analysis.pairs) ?? judgement.analysis;
  const { evidence } = judgement;
  if (verdictAt(analysis, evidence, policy) !== kind) return interim;
  return {
    ...interim,
    analyses: analyses,
    judgement: { verdict: kind, analysis: analysis, evidence },
    closed: true,
  };
}

/** Interim analyses of a cell that shares the false alarms of its patch with this many cells, including itself. */
export function analysesSharedBy(
  sharers: number,
  { design }: Pick<CellRuns, 'design'>,
  policy: Policy,
): InterimAnalysis[] {
  return analysesOf(design, {
    // A loss requires that the displayed interval excludes zero.
    falseAlarms: Math.min(policy.falseAlarmRatio / sharers, policy.missRatio),
    misses: policy.missRatio,
    outside: (1 - policy.confidenceRatio) / 2,
  });
}

/** A loss that is decided at once, before any planned interim analysis. */
function lostAt(input: CellRuns, analyses: readonly InterimAnalysis[]): Lost | undefined {
  if (!forwardsNothing(input)) return undefined;
  const valid = input.runs.filter(({ validity }) => validity.kind === 'valid');
  const pairs = valid.reduce((last, { pair }) => Math.max(last, pair), 0);
  const levels = analyses[0]?.levels ?? { falseAlarms: 0, misses: 0, outside: 0 };
  return { verdict: 'regression', analysis: { pairs, levels } };
}

/**
 * True if patched forwards nothing in at least some runs. As with panics, blames a patch only if this happens twice
 * more than to a base that has forwarded twice here. Of runs that share a trial, a stall of a shared machine may cost
 * one in ten.
 */
function forwardsNothing({ runs, design }: Pick<CellRuns, 'runs' | 'design'>): boolean {
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

/** Undefined if some of these pairs are missing, or too few count. */
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
  return evidenceOf(moving, metric, input.design.method, priorNoise(input.history, marginRatio));
}

/** Stalls of a shared machine may cost a tenth of the pairs: the interval widens accordingly. */
export const isEnough = (counted: number, wanted: number): boolean => counted >= 0.9 * wanted;

export type CountedRuns = { base: Run[]; patched: Run[] };

/**
 * Valid runs of the first `pairs` pairs whose base forwards; for paired runs, only if both are valid. For a patch that
 * forwards nothing, only its silent runs; otherwise a silent run with its own trial was repeated and does not count.
 */
export function countedRuns({ runs, design }: Pick<CellRuns, 'runs' | 'design'>, pairs: number): CountedRuns {
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

export const valuesOf = (runs: readonly Run[], metric: Metric): number[] => runs.flatMap((run) => run[metric] || []);

export function evidenceOf(counted: CountedRuns, metric: Metric, method: Evidence['method'], prior?: Noise): Evidence {
  if (method === 'pooled') {
    const drawn = (runs: readonly Run[]) =>
      onePerLayout(runs.flatMap(({ trial, layout, [metric]: value }) => (value ? { value, trial, layout } : [])));
    return pooledEvidence(drawn(counted.base), drawn(counted.patched), prior);
  }
  return pairedEvidence(drawnPairs(counted, metric));
}

/**
 * Averages each pair with the next one, which mirrors its order, for one pair per random order. A disturbance of the
 * two middle runs bends both pairs alike, so they are not independent; the four favour either variant by chance, and
 * Wilcoxon's test holds exactly.
 */
function drawnPairs({ base, patched }: CountedRuns, metric: Metric): Pair[] {
  const pairs = validPairs([...base, ...patched]).filter((pair) => pair.base[metric] && pair.patched[metric]);
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

/** Pairs in which both runs count and come from the same try of the same trial. */
export function validPairs(runs: readonly Run[]): RunPair[] {
  const groups = Map.groupBy(runs, (run) => `${run.trial}.${run.attempt}/${run.pair}`);
  return [...groups.values()].flatMap((group) => {
    const valid = group.filter((run) => run.validity.kind === 'valid');
    const base = valid.find((run) => run.variant === 'base');
    const patched = valid.find((run) => run.variant === 'patched');
    return base && patched ? [{ base, patched }] : [];
  });
}
