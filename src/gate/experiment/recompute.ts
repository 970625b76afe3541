// Recomputes every verdict of an untrusted result from its raw runs, under the requested policy.

import { lookSizes } from '../../analysis/stats/design.ts';
import {
  type CellRuns,
  evidenceAt,
  interimResults,
  isEnough,
} from '../../analysis/stats/interim-result.ts';
import { cellResult, worstVerdict } from '../../analysis/stats/verdict.ts';
import type { Config } from '../../config/schema.ts';
import { isPlaceLeftAlone } from '../../kernel/touched.ts';
import { formatPercent } from '../../model/format.ts';
import type { Patch } from '../../model/patch.ts';
import type { CellResult, Comparison, Outcome, Policy, Result, Run } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { diffName, isJudged } from '../../model/variant-name.ts';
import { baseNumbers } from './history.ts';
import { cellsOf, designOf, policyOf, policyOfExtended } from './plan.ts';

/** The experiment that an authorized person requested. */
export type RequestedExperiment = {
  patch: Patch;
  /** Configuration of the base, with what the admitted request changes. */
  config: Config;
  /** Absent: all cells of the configuration. */
  cells?: readonly Cell[];
  /** Names of those that may be measured on. */
  testbeds: readonly string[];
  /** The experiment went on after its first budget. */
  isExtended: boolean;
};

export type Recomputed =
  /** `refused` is what the result says and its runs, or what was asked for, do not: sentences, in which its texts may be. */
  | { kind: 'computed'; result: Result; refused: string[] }
  /** `why` is one sentence, in which its texts may be. */
  | { kind: 'refused'; why: string };

/**
 * The same result, with the policy, cells, designs and traffic of the configuration and all that follows from the runs
 * under these. What earlier experiments told of a cell's noise is taken for numbers, as the runs are; so is that a cell
 * is invalid, which lets nothing pass. The profiles keep their place, and reasons have to be found again; that a patch is
 * unchanged is for the repository to tell.
 */
export function recompute(claimed: Result, asked: RequestedExperiment): Recomputed {
  const { config, testbeds } = asked;
  if (!testbeds.includes(claimed.testbed.name)) {
    const why = `The result is of the testbed ${claimed.testbed.name}, and not of ${testbeds.join(' or ')}: judge the patch again.`;
    return { kind: 'refused', why };
  }
  const { flows, frameBytes, offeredPps, measureSeconds } = config.traffic;
  const result: Result = {
    ...claimed,
    policy: policyAsked(asked),
    traffic: { flows, frameBytes, measureSeconds, ...(offeredPps !== undefined && { offeredPps }) },
    variants: variantsOf(claimed, asked.patch),
    leftOut: claimed.leftOut.filter(({ variant }) => othersOf(asked.patch).includes(variant)),
    // Ignores trials that were not necessary.
    ...(claimed.outcome.kind === 'unchanged' && { trials: [] }),
    outcome: outcomeOf(claimed, asked),
  };
  return { kind: 'computed', result, refused: differences(claimed, result).slice(0, mostTold) };
}

const policyAsked = ({ config, isExtended }: RequestedExperiment): Policy =>
  isExtended ? policyOfExtended(policyOf(config)) : policyOf(config);

/** A result that lies may do so of any number of cells. */
const mostTold = 20;

/** The commits are those that were approved; where the patch parted from its base only its history tells. */
function variantsOf({ variants }: Result, patch: Patch): Result['variants'] {
  const earlier = patch.kind === 'revision' ? patch.earlier : [];
  const commits = [
    { name: 'patched', commit: patch.headCommit },
    ...earlier.map(({ diff, headCommit }) => ({ name: diffName(diff), commit: headCommit })),
  ];
  const claimOf = (name: string) => variants.find((one) => one.name === name);
  const base = claimOf('base') ?? { name: 'base', commit: patch.baseCommit, files: [] };
  return [base, ...commits.map((one) => ({ files: [], ...claimOf(one.name), ...one }))];
}

const othersOf = (patch: Patch): string[] =>
  patch.kind === 'revision' ? patch.earlier.map(({ diff }) => diffName(diff)) : [];

function outcomeOf({ outcome, testbed }: Result, asked: RequestedExperiment): Outcome {
  if (outcome.kind === 'unchanged') {
    const { ignoredPaths: claimed = [] } = outcome;
    const on = { config: asked.config, testbed: testbed.name };
    const ignoredPaths = claimed.filter((place) => isPlaceLeftAlone(place, on));
    return { kind: 'unchanged', ...(ignoredPaths.length > 0 && { ignoredPaths }) };
  }
  if (outcome.kind !== 'judged') return outcome;
  const policy = policyAsked(asked);
  const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
  const { cells: wanted = cellsOf(asked.config) } = asked;
  const inputs = wanted.map((cell) => inputOf(cell, claims, asked));
  const cells = interimResults(inputs, policy).map((interim): CellResult => {
    const { claim, runs } = interim.input;
    const ofBase = baseNumbers(runs, policy.metric);
    const computed = cellResult(interim, policy, ofBase, othersOf(asked.patch));
    const stays = claim?.verdict.kind === 'invalid' && computed.verdict.kind !== 'regression';
    return {
      ...computed,
      ...(stays && { verdict: claim.verdict }),
      ...(claim === undefined && { verdict: notMeasured }),
      profiles: profilesOf(claim, asked.patch),
    };
  });
  return { kind: 'judged', verdict: worstVerdict(cells), cells };
}

const notMeasured = { kind: 'invalid', reason: 'the result has no such cell' } as const;

type ClaimedCell = CellRuns & { cell: Cell; claim: CellResult | undefined };

function inputOf(
  cell: Cell,
  claims: ReadonlyMap<string, CellResult>,
  { patch, config, isExtended }: RequestedExperiment,
): ClaimedCell {
  const claim = claims.get(cellName(cell));
  const others = othersOf(patch);
  const history = claim?.history;
  const planned = designOf(config, 2 + others.length);
  const budgets = isExtended ? extended(planned, claim?.design.budgets ?? []) : planned.budgets;
  const design = { ...planned, budgets };
  const isOurs = ({ variant }: Run) => isJudged(variant) || others.includes(variant);
  const runs = claim?.runs.filter(isOurs) ?? [];
  const input = { cell, claim, design, ...(history && { history }), runs, failures: [] };
  return { ...input, closedPairs: closedPairsOf(input, policyOf(config)) };
}

/**
 * Pairs of the last look that has its runs. Where all looks up to there tell something, but the result says that the
 * cell is invalid, the experiment ended with the next one, whose runs were lost for good.
 */
function closedPairsOf(input: Omit<ClaimedCell, 'closedPairs'>, policy: Policy): number {
  const { claim, design, history, runs } = input;
  const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
  const sizes = lookSizes({ ...design, earlierDegreesOfFreedom });
  const lacking = sizes.findIndex((size) => !isThere(runs, size));
  if (lacking === -1) return sizes.at(-1) ?? 0;
  const closedPairs = sizes[lacking - 1] ?? 0;
  const tells = (size: number) => evidenceAt({ ...input, closedPairs }, size, policy) !== undefined;
  const isLost = claim?.verdict.kind === 'invalid' && sizes.slice(0, lacking).every(tells);
  return isLost ? (sizes[lacking] ?? 0) : closedPairs;
}

/** The greatest number that `parseMaxRuns` accepts. */
const mostRuns = 10_000;

/** Doubled each time, ten reach those runs; each has half the error rate of the one before, which soon is no number. */
const mostBudgets = 20;

/** The budgets that extensions have added to the one that was planned, where they can be such. */
function extended({ budgets: planned, pairsPerStep }: CellResult['design'], claimed: number[]) {
  const isOne = claimed.every(
    (budget, stage) =>
      (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) &&
      budget % pairsPerStep === 0 &&
      budget < mostRuns + pairsPerStep,
  );
  return isOne && claimed.length > 0 && claimed.length <= mostBudgets ? claimed : planned;
}

/** True when an interim analysis has enough of its runs. */
function isThere(runs: readonly Run[], size: number): boolean {
  const pairsOf = (name: string) =>
    new Set(runs.flatMap(({ variant, pair }) => (variant === name && pair <= size ? pair : [])));
  return isEnough(pairsOf('base').intersection(pairsOf('patched')).size, size);
}

/** One of each variant, so that their number is bounded. */
function profilesOf(claim: CellResult | undefined, patch: Patch): CellResult['profiles'] {
  const variants = ['base', 'patched', ...othersOf(patch)];
  return variants.flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}

/** Sentences about claims that the recomputed result contradicts. */
const differences = (claimed: Result, result: Result): string[] => [
  ...ofPolicy(claimed.policy, result.policy),
  ...ofTraffic(claimed.traffic, result.traffic),
  ...ofOutcome(claimed.outcome, result.outcome),
];

function ofPolicy(claimed: Policy, asked: Policy): string[] {
  const metric = [claimed.metric, asked.metric] as const;
  const ratios = ratioNames.map(([key, name]) => {
    const [said, wanted] = [claimed[key], asked[key]];
    return said === wanted
      ? []
      : `It was held to ${name} of ${formatPercent(said)}, and ${formatPercent(wanted)} is asked for.`;
  });
  const other =
    metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, and ${metric[1]} is asked for.`;
  return [other, ...ratios].flat();
}

const ratioNames = [
  ['marginRatio', 'a margin'],
  ['confidenceRatio', 'a confidence'],
  ['falseAlarmRatio', 'a rate of false alarms'],
  ['missRatio', 'a rate of misses'],
] as const;

function ofTraffic(claimed: Result['traffic'], asked: Result['traffic']): string[] {
  const keys = ['flows', 'frameBytes', 'offeredPps', 'measureSeconds'] as const;
  return keys.flatMap((key) =>
    claimed[key] === asked[key]
      ? []
      : `Its traffic has ${key} ${claimed[key] ?? 'unbounded'}, and ${asked[key] ?? 'unbounded'} is asked for.`,
  );
}

function ofOutcome(claimed: Outcome, computed: Outcome): string[] {
  if (claimed.kind !== 'judged' || computed.kind !== 'judged') return [];
  const asked = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
  const unasked = claimed.cells.filter(({ cell }) => !asked.has(cellName(cell)));
  const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
  return [
    ...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which is not asked for.`),
    ...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
    ...(claimed.verdict === computed.verdict
      ? []
      : [`It says ${claimed.verdict} of the patch, and its cells say ${computed.verdict}.`]),
  ];
}

function ofCell(
  claim: CellResult | undefined,
  { cell, verdict, comparisons }: CellResult,
): string[] {
  const name = cellName(cell);
  if (claim === undefined) return [`It has no cell ${name}, which is asked for.`];
  if (claim.verdict.kind !== verdict.kind) {
    return [`It says ${claim.verdict.kind} of ${name}, and its runs say ${verdict.kind}.`];
  }
  const isSame = comparisons.every((one) =>
    claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other)),
  );
  return isSame ? [] : [`Its numbers of ${name} are not those of its runs.`];
}

/** Another machine may round otherwise. */
const isAlmost = (a: Comparison, b: Comparison): boolean =>
  [
    [a.base, b.base],
    [a.patched, b.patched],
    ...(['change', 'low', 'high'] as const).map((key) => [a.interval[key], b.interval[key]]),
  ].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));
