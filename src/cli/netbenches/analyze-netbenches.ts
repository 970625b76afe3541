// Analyses a directory of benchmark logs: numbers and validity of runs, and a verdict per pair of sets.

import { type InterimResult, interimResults } from '../../analysis/stats/interim-result.ts';
import { limitsOf } from '../../analysis/stats/limited.ts';
import { cellVerdict, compare } from '../../analysis/stats/verdict.ts';
import { type PktGenRun, pktGenRun } from '../../lab/traffic/pkt-gen-run.ts';
import type { CellVerdict, Comparison, Policy, Run } from '../../model/result.ts';
import type { BenchSet } from './directory.ts';

export type AnalyzedRun = PktGenRun & { file: string };

export type AnalyzedSet = Omit<BenchSet, 'runs'> & { runs: AnalyzedRun[] };

export type SetComparison = {
  base: AnalyzedSet;
  patched: AnalyzedSet;
  verdict: CellVerdict;
  comparison?: Comparison | undefined;
};

export type Analysis = { sets: AnalyzedSet[]; comparisons: SetComparison[] };

export type AnalysisOptions = {
  /** Medians as the netbenches archive computes them. */
  netbenchesTrim: boolean;
  /** Label or image of the reference sets; absent: the first image. */
  base?: string | undefined;
  policy: Omit<Policy, 'metric'>;
};

/**
 * Compares sets with the base by image, or of one image by configuration. All runs exist, so each cell gets a single
 * analysis.
 */
export function analyzeBenches(benches: readonly BenchSet[], options: AnalysisOptions): Analysis {
  const sets = benches.map((set) => analyzed(set, options));
  const policy: Policy = { ...options.policy, metric: 'pps' };
  const pairs = pairsOf(sets, options.base);
  const judged = interimResults(pairs.map(cellOf), policy);
  const comparisons = judged.map((interim): SetComparison => {
    const [comparison] = compare(interim, 'pps', policy);
    const { base, patched } = interim.input;
    return { base, patched, verdict: verdictOf(interim, policy), comparison };
  });
  return { sets, comparisons };
}

function analyzed({ runs, ...set }: BenchSet, { netbenchesTrim }: AnalysisOptions): AnalyzedSet {
  return {
    ...set,
    runs: runs.map(({ receiver, sender }) => ({
      file: receiver.path,
      ...pktGenRun(receiver.log, sender?.log, { netbenchesTrim }),
    })),
  };
}

type SetPair = { base: AnalyzedSet; patched: AnalyzedSet };

function pairsOf(sets: readonly AnalyzedSet[], wanted: string | undefined): SetPair[] {
  const byImage = new Set(sets.map(({ image }) => image)).size > 1;
  const rest = ({ config, family }: AnalyzedSet) => `${byImage ? config : ''}|${family}`;
  return [...Map.groupBy(sets, rest).values()].flatMap((group) => {
    const base = group.find(({ image, label }) => image === wanted || label === wanted) ?? group[0];
    return group.flatMap((patched) => (base === undefined || patched === base ? [] : { base, patched }));
  });
}

/** Pooled runs do not depend on how they are paired. */
function cellOf({ base, patched }: SetPair) {
  const all = [...runsOf(base, 'base'), ...runsOf(patched, 'patched')];
  const runs = all.map(limitsOf(all));
  const counted = (variant: string) =>
    runs.filter((run) => run.variant === variant && run.validity.kind === 'valid').length;
  const pairs = Math.max(minPairs, Math.min(counted('base'), counted('patched')));
  return {
    base,
    patched,
    design: {
      name: 'fixed' as const,
      budgets: [pairs],
      pairsPerStep: 1,
      method: 'pooled' as const,
    },
    runs,
    closedPairs: pairs,
    failures: [],
  };
}

const minPairs = 3;

const runsOf = (set: AnalyzedSet, variant: string): Run[] =>
  set.runs.map(({ medianPps, validity }, index) => ({
    number: index + 1,
    trial: index + 1,
    attempt: 1,
    pair: 1,
    variant,
    pps: medianPps,
    samples: [],
    validity,
  }));

/** A generator that limited half the runs of either set limited the cell. */
function verdictOf(interim: InterimResult<ReturnType<typeof cellOf>>, policy: Policy): CellVerdict {
  const { base, patched } = interim.input;
  const limited = [base, patched].map(({ runs }) => {
    const reasons = runs.flatMap(({ validity }) =>
      validity.kind === 'invalid' && validity.cause === 'generator-limited' ? validity.reason : [],
    );
    return reasons.length >= runs.length / 2 ? reasons[0] : undefined;
  });
  const reason = limited.find((text) => text !== undefined);
  return reason === undefined ? cellVerdict(interim, policy) : { kind: 'invalid', reason };
}
