// Recomputes every verdict of an untrusted result from its raw runs, under the requested policy.
import { isDeepStrictEqual } from 'node:util';
import { withLimits } from '../../analysis/stats/cell-limits.ts';
import { analysisSizes } from '../../analysis/stats/design.ts';
import { type CellRuns, evidenceAt, interimResults, isEnough } from '../../analysis/stats/interim-result.ts';
import { cellResult, worstVerdict } from '../../analysis/stats/verdict.ts';
import { type Config, testbedKindOf } from '../../config/schema.ts';
import { isPlaceLeftAlone } from '../../kernel/touched.ts';
import { formatPercent } from '../../model/format.ts';
import type { Patch } from '../../model/patch.ts';
import type { CellResult, Comparison, EarlierGates, Outcome, Policy, Result, Run } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { offeredTraffic, packetsText } from '../../model/traffic.ts';
import { diffName, isJudged } from '../../model/variant-name.ts';
import { earlierGates, gateOfLine } from './earlier-gates.ts';
import { baseNumbers, entriesOf, type HistoryEntry } from './history.ts';
import { cellsOf, designOf, policyOf, policyOfExtended } from './plan.ts';

export type RequestedExperiment = {
  patch: Patch;
  /** Base's configuration, with the overrides of the authorized request. */
  config: Config;
  cells?: readonly Cell[];
  testbeds: readonly string[];
  /** True if the experiment continued after its first budget. */
  isExtended: boolean;
  /** Trusted lines, from which earlier gates are counted. */
  history?: readonly HistoryEntry[];
  /** Found by git. Absent: the claimed base is kept, and earlier gates of any base count. */
  mergeBase?: string | undefined;
};

type Recomputed =
  /** `refused` lists claims that the runs or the request contradict, in sentences that may quote the result. */
  | { kind: 'computed'; result: Result; refused: string[] }
  /** `why` is one sentence that may quote the result. */
  | { kind: 'refused'; why: string };

/**
 * Applies the configuration's policy, cells, designs and traffic to the raw runs. Trusts the numbers on earlier noise
 * as much as the runs, and an invalid cell, which passes nothing. Counts earlier gates again, and keeps the larger
 * number. Keeps profiles, and recomputes reasons. The caller must check an unchanged patch against the repository.
 */
export function recompute(claimed: Result, requested: RequestedExperiment): Recomputed {
  const { config, testbeds } = requested;
  if (!testbeds.includes(claimed.testbed.name)) {
    const why = `The result is of the testbed ${claimed.testbed.name} instead of ${testbeds.join(' or ')}: judge the patch again.`;
    return { kind: 'refused', why };
  }
  const { kind: _, ...testbed } = claimed.testbed;
  const kind = testbedKindOf(config, testbed.name);
  const computed: Result = {
    ...claimed,
    testbed: { ...testbed, ...(kind !== undefined && { kind }) },
    policy: requestedPolicy(requested),
    traffic: {
      ...offeredTraffic(config.traffic),
      measureSeconds: config.traffic.measureSeconds,
    },
    variants: variantsOf(claimed, requested),
    leftOut: claimed.leftOut.filter(({ variant }) => othersOf(requested.patch).includes(variant)),
    // Ignores trials that were not needed.
    ...(claimed.outcome.kind === 'unchanged' && { trials: [] }),
    outcome: outcomeOf(claimed, requested),
  };
  const result = withLimits(withEarlierGates(computed, requested));
  return {
    kind: 'computed',
    result,
    refused: differences(claimed, result).slice(0, maxDifferences),
  };
}

const requestedPolicy = ({ config, isExtended }: RequestedExperiment): Policy =>
  isExtended ? policyOfExtended(policyOf(config)) : policyOf(config);

/** A forged result may have any number of such cells. */
const maxDifferences = 20;

/** Takes the approved commits. Without git, the fork point depends on the patch's history. */
function variantsOf({ variants }: Result, { patch, mergeBase }: RequestedExperiment): Result['variants'] {
  const earlier = patch.kind === 'revision' ? patch.earlier : [];
  const commits = [
    { name: 'patched', commit: patch.headCommit },
    ...earlier.map(({ diff, headCommit }) => ({ name: diffName(diff), commit: headCommit })),
  ];
  const claimOf = (name: string) => variants.find((one) => one.name === name);
  const claimed = claimOf('base') ?? { name: 'base', commit: patch.baseCommit, files: [] };
  const base = { ...claimed, commit: mergeBase ?? claimed.commit };
  return [base, ...commits.map((one) => ({ files: [], ...claimOf(one.name), ...one }))];
}

/** Accepts claims of gates that the trusted side does not know, but restores any that a claim hides. */
function withEarlierGates(result: Result, { patch, history = [], mergeBase }: RequestedExperiment): Result {
  const { outcome, testbed, policy } = result;
  if (outcome.kind !== 'judged') return result;
  const { measureSeconds: _, ...traffic } = result.traffic;
  const { baseCommit, headCommit: head } = patch;
  const base = baseCommit === head ? head : mergeBase;
  const own = entriesOf(history, { testbed: testbed.name, kind: testbed.kind });
  const cells = outcome.cells.map((one): CellResult => {
    const { earlierGates: claimed, ...rest } = one;
    const id = gateOfLine(result, one)?.id;
    const gate = { testbed: testbed.name, cell: one.cell, traffic, policy, base, head, id };
    const most = base === head ? undefined : greaterOf(claimed, earlierGates(own, gate));
    return { ...rest, ...(most && { earlierGates: most }) };
  });
  return { ...result, outcome: { ...outcome, cells } };
}

function greaterOf(a: EarlierGates | undefined, b: EarlierGates | undefined) {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    count: Math.max(a.count, b.count),
    regressions: Math.max(a.regressions, b.regressions),
  };
}

const othersOf = (patch: Patch): string[] =>
  patch.kind === 'revision' ? patch.earlier.map(({ diff }) => diffName(diff)) : [];

function outcomeOf({ outcome, testbed }: Result, requested: RequestedExperiment): Outcome {
  if (outcome.kind === 'unchanged') {
    const { ignoredPaths: claimed = [] } = outcome;
    const on = { config: requested.config, testbed: testbed.name };
    const ignoredPaths = claimed.filter((place) => isPlaceLeftAlone(place, on));
    return { kind: 'unchanged', ...(ignoredPaths.length > 0 && { ignoredPaths }) };
  }
  if (outcome.kind !== 'judged') return outcome;
  const policy = requestedPolicy(requested);
  const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
  const { cells: wanted = cellsOf(requested.config) } = requested;
  const inputs = wanted.map((cell) => inputOf(cell, claims, requested));
  const cells = interimResults(inputs, policy).map((interim): CellResult => {
    const { claim, runs } = interim.input;
    const ofBase = baseNumbers(runs, policy.metric);
    const computed = cellResult(interim, policy, ofBase, othersOf(requested.patch));
    const stays = claim?.verdict.kind === 'invalid' && computed.verdict.kind !== 'regression';
    return {
      ...computed,
      ...(stays && { verdict: claim.verdict }),
      ...(claim === undefined && { verdict: notMeasured }),
      ...(claim?.earlierGates && { earlierGates: claim.earlierGates }),
      profiles: profilesOf(claim, requested.patch),
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
 * Counts pairs of the last analysis that has all its runs. If every analysis so far has evidence but the result claims
 * an invalid cell, the experiment ended with the next one, whose runs were lost.
 */
function closedPairsOf(input: Omit<ClaimedCell, 'closedPairs'>, policy: Policy): number {
  const { claim, design, runs } = input;
  const sizes = analysisSizes(design);
  const lacking = sizes.findIndex((size) => !isThere(runs, size));
  if (lacking === -1) return sizes.at(-1) ?? 0;
  const closedPairs = sizes[lacking - 1] ?? 0;
  const hasEvidence = (size: number) => evidenceAt({ ...input, closedPairs }, size, policy) !== undefined;
  const isLost = claim?.verdict.kind === 'invalid' && sizes.slice(0, lacking).every(hasEvidence);
  return isLost ? (sizes[lacking] ?? 0) : closedPairs;
}

/** The maximum of `parseMaxRuns`. */
const maxRuns = 10_000;

/** Doubling reaches the maximum in ten steps. Each halves the error rate, which soon underflows. */
const maxBudgets = 20;

/** Returns budgets that extensions added, if they are plausible. */
function extended({ budgets: planned, pairsPerStep }: CellResult['design'], claimed: number[]) {
  const isOne = claimed.every(
    (budget, stage) =>
      (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) &&
      budget % pairsPerStep === 0 &&
      budget < maxRuns + pairsPerStep,
  );
  return isOne && claimed.length > 0 && claimed.length <= maxBudgets ? claimed : planned;
}

function isThere(runs: readonly Run[], size: number): boolean {
  const pairsOf = (name: string) =>
    new Set(runs.flatMap(({ variant, pair }) => (variant === name && pair <= size ? pair : [])));
  return isEnough(pairsOf('base').intersection(pairsOf('patched')).size, size);
}

/** Keeps only known variants, which bounds their number. */
function profilesOf(claim: CellResult | undefined, patch: Patch): CellResult['profiles'] {
  const variants = ['base', 'patched', ...othersOf(patch)];
  return variants.flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}

/** Lists, in sentences, claims that the recomputed result contradicts. */
const differences = (claimed: Result, result: Result): string[] => [
  ...ofPolicy(claimed.policy, result.policy),
  ...ofTraffic(claimed.traffic, result.traffic),
  ...ofOutcome(claimed.outcome, result.outcome),
];

function ofPolicy(claimed: Policy, requested: Policy): string[] {
  const metric = [claimed.metric, requested.metric] as const;
  const ratios = ratioNames.map(([key, name]) => {
    const [found, wanted] = [claimed[key], requested[key]];
    return found === wanted
      ? []
      : `It used ${name} of ${formatPercent(found)}, but ${formatPercent(wanted)} was requested.`;
  });
  const other = metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, but ${metric[1]} was requested.`;
  return [other, ...ratios].flat();
}

const ratioNames = [
  ['marginRatio', 'a margin'],
  ['confidenceRatio', 'a confidence'],
  ['falseAlarmRatio', 'a rate of false alarms'],
  ['missRatio', 'a rate of misses'],
] as const;

function ofTraffic(claimed: Result['traffic'], requested: Result['traffic']): string[] {
  const keys = ['flows', 'frameBytes', 'offeredPps', 'measureSeconds'] as const;
  const numbers = keys.flatMap((key) =>
    claimed[key] === requested[key]
      ? []
      : `Its traffic has ${key} ${claimed[key] ?? 'unbounded'}, and ${requested[key] ?? 'unbounded'} was requested.`,
  );
  if (isDeepStrictEqual(claimed.packets, requested.packets)) return numbers;
  const [found, wanted] = [claimed, requested].map(({ packets }) => packetsText(packets));
  return [...numbers, `Its packets are ${found} instead of ${wanted}.`];
}

function ofOutcome(claimed: Outcome, computed: Outcome): string[] {
  if (claimed.kind !== 'judged' || computed.kind !== 'judged') return [];
  const requested = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
  const unasked = claimed.cells.filter(({ cell }) => !requested.has(cellName(cell)));
  const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
  return [
    ...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which was not requested.`),
    ...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
    ...(claimed.verdict === computed.verdict
      ? []
      : [`It reports ${claimed.verdict} for the patch, but its cells yield ${computed.verdict}.`]),
  ];
}

function ofCell(claim: CellResult | undefined, { cell, verdict, comparisons }: CellResult): string[] {
  const name = cellName(cell);
  if (claim === undefined) return [`It has no cell ${name}, which was requested.`];
  if (claim.verdict.kind !== verdict.kind) {
    return [`It reports ${claim.verdict.kind} for ${name}, but its runs yield ${verdict.kind}.`];
  }
  const isSame = comparisons.every((one) =>
    claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other)),
  );
  return isSame ? [] : [`Its numbers for ${name} do not match its runs.`];
}

/** Another machine may round differently. */
const isAlmost = (a: Comparison, b: Comparison): boolean =>
  [
    [a.base, b.base],
    [a.patched, b.patched],
    ...(['change', 'low', 'high'] as const).map((key) => [a.interval[key], b.interval[key]]),
  ].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));
