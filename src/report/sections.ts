// Provides the facts shared by a comment and a page.

import { buildNoise } from '../analysis/stats/build-noise.ts';
import { countedRuns } from '../analysis/stats/interim-result.ts';
import { runsApart } from '../analysis/stats/outlier.ts';
import { frameBytesFor } from '../config/schema.ts';
import {
  counted,
  formatChange,
  formatDuration,
  formatInterval,
  formatPercent,
  formatPps,
  formatSigned,
  grouped,
  metricName,
} from '../model/format.ts';
import { isCost, type Metric } from '../model/metric.ts';
import { comparedNames, type Patch } from '../model/patch.ts';
import type { Rejection } from '../model/rejection.ts';
import {
  type CellResult,
  type CellVerdict,
  metricSchema,
  type Policy,
  type Result,
  type Run,
} from '../model/result.ts';
import { packetsText } from '../model/traffic.ts';
import { isJudged } from '../model/variant-name.ts';
import { joined, name, nameOf, quoted, type Text, words } from './document.ts';
import { isSilent, marginsOf, rejectionText } from './headline.ts';

export function setting(result: Result): Text {
  const { testbed, trials } = result;
  // Kernels of the variants replace the DUT's own.
  const hasKernels = trials.some(({ kernel, kernels }) => kernel ?? kernels);
  const own = hasKernels ? undefined : testbed.fingerprint.kernel;
  const [measured = own] = kernelsOf(result).get('base') ?? [];
  return settingOf(result, measured);
}

type Measurement = Pick<Result, 'testbed' | 'traffic' | 'trials' | 'startedAt' | 'finishedAt'>;

/** Accepts any measurement; `kernel` follows the CPU. */
export function settingOf(result: Measurement, kernel?: string): Text {
  const { testbed, traffic, trials } = result;
  const hardware = [testbed.fingerprint.cpu, kernel].filter((one) => one !== undefined);
  const hosts = hardware.map((one) => quoted(one));
  const testbedText = [quoted(testbed.name), hosts.length > 0 ? words` (${joined(hosts, ', ')})` : ''];
  if (trials.length === 0) return testbedText;
  const sent = trials.reduce((most, trial) => Math.max(most, trial.offeredPps), 0);
  const aim = traffic.offeredPps === undefined ? '' : `the sender targeted ${formatPps(traffic.offeredPps)} and `;
  const size = traffic.packets?.sizes === undefined ? `${frameSizes(result)} ` : '';
  const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1000;
  return [
    testbedText,
    ` · ${grouped(traffic.flows)} flows of ${size}${packetsText(traffic.packets)} · ${aim || 'the sender '}sent up to ${formatPps(sent)}, averaged over a trial with its pauses and all variants`,
    ` · measured in ${formatDuration(seconds)}`,
  ];
}

/** `64- and 66-byte`: the actual sizes, as the smallest size does not fit every family. */
function frameSizes({ trials, traffic }: Measurement): string {
  const all = new Set(trials.map(({ cell }) => frameBytesFor(traffic, cell)));
  const sizes = [...all].toSorted((a, b) => a - b);
  const last = `${sizes.pop()}-byte`;
  if (sizes.length > 10) return `${sizes[0]}- to ${last}`;
  return [sizes.map((size) => `${size}-`).join(', '), last].filter(Boolean).join(' and ');
}

export function rule(policy: Policy): string {
  const { metric, marginRatio, falseAlarmRatio } = policy;
  const speed = isCost(metric) ? ` (a loss of ${formatPercent(marginRatio)} of its speed)` : '';
  return `Judged by ${metricName(metric)} · ${formatSigned(marginsOf(policy).loss)} or more matters${speed} · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;
}

export function failureOutput(outcome: Rejection): string {
  const panic = 'panic' in outcome && outcome.panic !== undefined ? `panic: ${outcome.panic}` : '';
  const log = guestConsoleOf(outcome) ?? 'dut-console.log';
  const console =
    'console' in outcome && outcome.console
      ? `Its console${linesShown(outcome)}, whole in ${log}:\n${outcome.console}`
      : '';
  return [outcome.message, panic, console].filter(Boolean).join('\n');
}

function linesShown({
  console = '',
  consoleLines,
}: {
  console?: string | undefined;
  consoleLines?: number | undefined;
}): string {
  const shown = console.split('\n').length;
  return consoleLines === undefined ? '' : ` (${grouped(shown)} of ${counted(consoleLines, 'line')})`;
}

const guestConsoleOf = (outcome: Rejection): string | undefined =>
  'guestConsole' in outcome ? outcome.guestConsole : undefined;

const leftOf = (outcome: Rejection): string =>
  guestConsoleOf(outcome) === undefined
    ? 'The DUT is back on its own kernel'
    : 'The guest was discarded, and base runs in a new one';

export function failureText(outcome: Rejection, patch: Patch): Text {
  switch (outcome.kind) {
    case 'does-not-apply':
      return 'The patch does not apply, and nothing was measured:';
    case 'build-failed':
      return 'The base builds, but the patched kernel does not; nothing was measured. First messages of the build:';
    case 'out-of-disk':
      return 'The patch is not to blame, and nothing was measured:';
    case 'does-not-load':
      return words`${filesThatDoNotLoad(patch)} (${name(outcome.scenario)}); nothing was measured. Output of the DUT:`;
    case 'boot-failed':
      return `The patched kernel does not boot, and nothing was measured with it. ${leftOf(outcome)}:`;
    case 'panics-under-load':
      return `The patched kernel panicked twice in the same trial, and no verdict was reached. ${leftOf(outcome)}:`;
  }
}

function filesThatDoNotLoad(patch: Patch): string {
  const names = comparedNames(patch);
  return names === undefined
    ? 'The base loads, but the patched files do not'
    : `${names.base} loads, but ${names.patched} does not`;
}

export const otherMetrics = ({ metric }: Policy, cells: readonly CellResult[]): Metric[] =>
  metricSchema.options.filter(
    (other) =>
      other !== metric && cells.some((cell) => !isSilent(cell) && cell.comparisons.some((one) => one.metric === other)),
  );

/** `packets per second (more is better), which is not judged`. */
export const otherMetricTitle = (metric: Metric): string => `${metricName(metric)}, which is not judged`;

/** Warns of costs outside the metric; empty for a metric that covers a packet's whole path. */
export const unseenBy = (metric: Metric): string[] =>
  metric === 'instructionsPerPacket'
    ? [
        'Cache misses, locks, other CPUs, and real NICs with their drivers are not part of an instruction count: trust it for code that every packet passes, such as an nftables rule or the forwarding path, and not for a driver.',
      ]
    : [];

const maxReasons = 20;

/** Explains, below the table, why cells are invalid. */
export function invalidLines(cells: readonly CellResult[]): Text[] {
  const lines = cells.flatMap(({ cell, verdict }) =>
    verdict.kind === 'invalid' ? [words`${nameOf(cell)} is invalid: ${quoted(verdict.reason, 300)}`] : [],
  );
  const rest = lines.length - maxReasons;
  return [
    ...lines.slice(0, maxReasons),
    ...(rest > 0 ? [`${counted(rest, 'more cell')} ${rest === 1 ? 'is' : 'are'} invalid`] : []),
  ];
}

export const uncountedLines = (cells: readonly CellResult[]): Text[] =>
  cells.flatMap((result) => {
    const { cell, runs } = result;
    const spare = spareRuns(result);
    const lines = [
      ...invalidRunLines(runs),
      ...[...Map.groupBy(spare, (run) => whySpare(run, result))].map(
        ([why, group]) => `${group.length} of ${counted(runs.length, 'run')}, ${why}`,
      ),
    ];
    return lines.map((line) => words`${nameOf(cell)}: ${line}`);
  });

/** `2 of 8 runs, …`: one line for each cause. */
export function invalidRunLines(runs: readonly Run[]): Text[] {
  const faults = runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity : []));
  return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
    const [first, ...others] = group.map(({ reason }) => reason);
    const like = others.some((reason) => reason !== first) ? 'the first of them: ' : '';
    return words`${`${group.length} of ${counted(runs.length, 'run')}, ${like}`}${quoted(first ?? '')}`;
  });
}

export function spareRuns(cell: CellResult): Run[] {
  const { base, patched } = countedRuns(cell, cell.pairs);
  const counted = new Set([...base, ...patched]);
  return cell.runs.filter((run) => isOfVerdict(run) && run.validity.kind === 'valid' && !counted.has(run));
}

/** Explains, after their number, why such a run, or several alike, are unused. */
export function whySpare({ variant, pps }: Run, cell: CellResult): string {
  if (pps === 0) return 'with no packet forwarded; a single such run does not count';
  if (variant === 'patched' && isSilent(cell)) return 'with packets forwarded, while other runs forwarded none';
  return 'whose paired run does not count, or that ended after the verdict';
}

/** Lists outliers: they count, and each was repeated once. */
export const apartLines = (cells: readonly CellResult[]): Text[] =>
  cells.flatMap(({ cell, design, runs }) =>
    (design.method === 'pooled' ? runsApart(runs.filter(isOfVerdict)) : []).map(
      ({ number, variant, pps }) =>
        words`${nameOf(cell)}: run ${String(number)} of ${quoted(variant)}, ${formatPps(pps)}`,
    ),
  );

/** Compares the noise between builds with that between runs of one build, in a line per cell with several layouts. */
export function buildNoiseLines({ outcome, policy, variants }: Result): Text[] {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const commits = new Set(variants.flatMap((variant) => (isJudged(variant.name) ? variant.commit : [])));
  return cells.flatMap((cell) => {
    const noise = buildNoise(cell, policy.metric, commits.size === 1);
    if (noise === undefined) return [];
    const { layouts, betweenLayouts, withinLayouts = 0, together } = noise;
    const text =
      betweenLayouts === undefined
        ? `builds and runs together differ by ${formatPercent(together)}, because none of ${layouts} layouts was booted twice`
        : `builds differ by ${formatPercent(betweenLayouts)} (${layouts} layouts), and runs of one build by ${formatPercent(withinLayouts)}`;
    return [words`${nameOf(cell.cell)}: ${text} (standard deviations)`];
  });
}

const isOfVerdict = ({ variant }: Run): boolean => isJudged(variant);

export const movedBaselineLines = (cells: readonly CellResult[]): Text[] =>
  cells.flatMap(({ cell, baseline }) => {
    if (baseline.kind !== 'moved') return [];
    const { change, low, high } = baseline.interval;
    return [
      words`${nameOf(cell)}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`,
    ];
  });

export function environmentLines(result: Result): Text[] {
  const { variants, testbed, seed, generator } = result;
  const kernels = kernelsOf(result);
  return [
    ...variants.map(({ name, commit }) =>
      joined(
        [
          words`${quoted(name)}: commit ${quoted(commit)}`,
          ...(kernels.get(name) ?? []).map((kernel) => quoted(kernel)),
        ],
        ', ',
      ),
    ),
    ...fingerprintLines(testbed),
    `order of runs: seed ${seed}`,
    words`${generator.name} ${quoted(generator.version)}`,
  ];
}

export const fingerprintLines = ({ fingerprint }: Result['testbed']): Text[] =>
  Object.entries(fingerprint).map(([key, value]) => words`${quoted(key)}: ${quoted(value)}`);

/** Empty if the variants share the DUT's own kernel. */
export function kernelsOf({ trials, outcome }: Result): Map<string, string[]> {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const variantOf = new Map(runs.map((run) => [run.trial, run.variant]));
  const found = trials.flatMap(({ number, kernel, kernels = {} }) => [
    ...(kernel === undefined ? [] : [{ variant: variantOf.get(number) ?? '', kernel }]),
    ...Object.entries(kernels).map(([variant, kernelText]) => ({ variant, kernel: kernelText })),
  ]);
  return new Map(
    [...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [
      variant,
      [...new Set(group.map(({ kernel }) => kernel))],
    ]),
  );
}

export const notesOf = (patch: Patch): string[] => (patch.kind === 'revision' ? patch.notes : []);

export const leftOutLines = ({ leftOut }: Result): Text[] =>
  leftOut.map(({ variant, rejection }) => {
    const panic = 'panic' in rejection && rejection.panic ? words` (panic: ${quoted(rejection.panic)})` : '';
    return words`${quoted(variant)} ${rejectionText(rejection)}: ${quoted(rejection.message, 300)}${panic}`;
  });

export function readingParagraphs({ policy, variants, outcome }: Result): string[] {
  const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = policy;
  const confidence = formatPercent(confidenceRatio);
  const alone = variants.every(({ name }) => isJudged(name));
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const layouts = new Set(runs.flatMap(({ variant, layout }) => (variant === 'base' ? (layout ?? 1) : [])));
  return [
    `Runs of base and patched alternate, and each cell ends as soon as its runs decide. The interval contains the true change in ${confidence} of experiments or more, however early they end; the patched value is base plus the change. At most ${formatPercent(falseAlarmRatio)} of patches that lose nothing are called a regression in any cell, and at most ${formatPercent(missRatio)} of cells that lose ${formatPercent(marginRatio)} pass.`,
    `If one patch in ten costs ${formatPercent(marginRatio)}, at most ${formatPercent(wrongRegressions(policy, 0.1))} of reported regressions are false; if one in a hundred does, at most ${formatPercent(wrongRegressions(policy, 0.01))}. A regression by less than ${formatPercent(marginRatio)} looks larger than it is on average, as only the clearest are reported.`,
    ...(layouts.size > 1
      ? [
          `Each kernel was linked ${layouts.size} times with its code in a different order, and pairs boot these layouts in turn, so the spread of the runs includes the differences between builds. Runs of one layout count as one, by their mean.`,
        ]
      : []),
    ...(alone
      ? []
      : [
          `Earlier diffs (↳) are measured in the same rounds, and each is compared with base; its value is in the column patched. They decide neither the verdict nor how many runs there are, so their ${confidence} intervals are those of a fixed number of runs, and contain the true change slightly less often where a cell ended early.`,
        ]),
  ];
}

/** Maximum share of false regressions if `lossRatio` of patches lose the margin. */
function wrongRegressions({ falseAlarmRatio, missRatio }: Policy, lossRatio: number): number {
  const falseOnes = falseAlarmRatio * (1 - lossRatio);
  return falseOnes / (falseOnes + (1 - missRatio) * lossRatio);
}

export function verdictMeanings({ marginRatio }: Policy): [CellVerdict['kind'], string][] {
  const margin = formatPercent(marginRatio);
  return [
    ['regression', `a loss beyond chance, and one of ${margin} is not excluded`],
    ['improvement', `a gain beyond chance, and one that would make up for a loss of ${margin} is not excluded`],
    ['no-regression', `a loss of ${margin} is excluded`],
    ['inconclusive', 'none of these: more runs would decide'],
    ['invalid', 'too few runs count for a verdict'],
  ];
}
