// Runs `ppsgate plan`.

import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, namingStyles } from '../../config/parameters.ts';
import { type Config, testbedKindOf } from '../../config/schema.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import { openRepository } from '../../forge/patch/repository.ts';
import { expectedDurationsOn } from '../../gate/estimate/durations.ts';
import {
  basisText,
  type ExperimentEstimate,
  type ExperimentOutline,
  estimateExperiment,
} from '../../gate/estimate/experiment.ts';
import { estimateStart, readUsualSeconds } from '../../gate/estimate/queue.ts';
import { earlierEntries, entriesOf, type HistoryEntry, historyFile } from '../../gate/experiment/history.ts';
import { cellsOf, layoutsOn, planCells, policyOf } from '../../gate/experiment/plan.ts';
import { readLab } from '../../gate/reserve/records.ts';
import { openStore } from '../../gate/reserve/store/open.ts';
import { StoreError } from '../../gate/reserve/store/store.ts';
import { testbedsThatDiffer } from '../../kernel/unchanged.ts';
import { makingOf, variantsByMaking } from '../../kernel/variant.ts';
import { machinesOf } from '../../lab/machines.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatDuration, formatEstimate, formatPercent } from '../../model/format.ts';
import { type Patch, patchName } from '../../model/patch.ts';
import { cellName } from '../../model/scenario.ts';
import { columns } from '../columns.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { print, printJson } from '../table.ts';
import { patchOf } from './judge-gate.ts';

type Planned = {
  testbed: string;
  /** Wait until the start; absent if unknown. */
  waitSeconds?: number;
  /** The patch changes nothing that the testbed installs or boots. */
  isUnchanged: boolean;
  outlined: ExperimentOutline;
  estimate: ExperimentEstimate;
};

export async function run(options: GateOptions, { signal }: Call): Promise<number> {
  const written = await loadConfig(configPath(options.config));
  const config = applyOverrides(written, options, namingStyles.flag);
  const call = { config, options, optionName: namingStyles.flag, signal, closingLines: [] };
  const selectors = selectorsOf(config, options, namingStyles.flag).map((selector) =>
    testbedsFor(config, selector, selectorCalled(options, namingStyles.flag)),
  );
  const patch = options.patch ? await patchOf(call) : undefined;
  const entries = earlierEntries(await historyFile(config.history).read(), new Date());
  const starts = await startsOf(config, selectors);
  const planned: Planned[] = [];
  for (const [index, testbeds] of selectors.entries()) {
    const start = starts?.[index];
    const candidates = start === undefined ? testbeds : [start.testbed];
    const change = await changeOf(config, candidates, patch, options);
    const testbed = change.testbed;
    planned.push({
      testbed,
      ...(start !== undefined && { waitSeconds: start.afterSeconds }),
      isUnchanged: change.isUnchanged,
      ...outlined(config, { testbed, variants: change.variants }, entries),
    });
  }
  if (options.json) printJson(planned.map(printable));
  else print(planned.map((one) => textOf(one, patch)).join('\n\n'));
  return exitCodes.pass;
}

/** Returns the first available testbed of each selector, with the wait; undefined if the store is unreachable. */
async function startsOf(config: Config, selectors: readonly string[][]) {
  try {
    const store = await openStore(config.reservations);
    try {
      const [lab, now] = [await readLab(store), new Date()];
      const usualSeconds = await readUsualSeconds(store, now);
      return selectors.map((names) => {
        const testbeds = new Map(
          names.flatMap((name) => {
            const testbed = config.testbeds[name];
            return testbed === undefined ? [] : [[name, machinesOf(testbed)] as const];
          }),
        );
        return estimateStart(lab, { priority: 'patch', testbeds }, usualSeconds, now);
      });
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    process.stderr.write(`The wait for a testbed is unknown: ${error.message}\n`);
    return undefined;
  }
}

type Change = { testbed: string; variants: number; isUnchanged: boolean };

async function changeOf(
  config: Config,
  testbeds: readonly string[],
  patch: Patch | undefined,
  { repository: path = '.', measureAnyway }: GateOptions,
): Promise<Change> {
  const [first = ''] = testbeds;
  if (patch === undefined) return { testbed: first, variants: 2, isUnchanged: false };
  const repository = openRepository(path);
  const question = { patch, config, testbeds };
  const variants = await variantsByMaking(question, repository);
  const differ = measureAnyway ? testbeds : await testbedsThatDiffer({ ...question, variants }, repository);
  const testbed = differ[0] ?? first;
  const count = variants.get(makingOf(config, testbed))?.length ?? 2;
  return { testbed, variants: count, isUnchanged: differ.length === 0 };
}

function outlined(
  config: Config,
  { testbed, variants }: { testbed: string; variants: number },
  entries: readonly HistoryEntry[],
): Pick<Planned, 'outlined' | 'estimate'> {
  const { traffic, profile } = config;
  const history = entriesOf(entries, { testbed, kind: testbedKindOf(config, testbed) });
  const hasLayouts = layoutsOn(config, testbed) > 1;
  const place = { testbed, cells: cellsOf(config), variants, hasLayouts };
  const outlined: ExperimentOutline = {
    cells: planCells(config, place, history),
    policy: policyOf(config),
    traffic,
    ...(profile !== undefined && { profile }),
    variants,
    durations: expectedDurationsOn(history, testbed, config),
  };
  return { outlined, estimate: estimateExperiment(outlined) };
}

function printable({ testbed, waitSeconds, isUnchanged, outlined, estimate }: Planned) {
  const { durations, variants } = outlined;
  const wait = waitSeconds !== undefined && { waitSeconds };
  return { testbed, ...wait, isUnchanged, variants, durations, ...estimate };
}

function textOf({ testbed, waitSeconds, isUnchanged, outlined, estimate }: Planned, patch?: Patch): string {
  if (isUnchanged && patch !== undefined) {
    return `${patchName(patch)} changes nothing that ${testbed} would install or boot: nothing is reserved or measured (--measure-anyway).`;
  }
  const wait =
    waitSeconds === undefined
      ? 'the time until it is free is unknown'
      : waitSeconds < 1
        ? 'free now'
        : `${formatEstimate(waitSeconds)} until it is free`;
  return [
    `${testbed}: ${wait}`,
    coursesText(estimate, outlined),
    cellsText(estimate, outlined),
    durationsText(outlined),
  ].join('\n\n');
}

function coursesText({ ifUnchanged, ifLost, cells }: ExperimentEstimate, { policy }: ExperimentOutline): string {
  const isLeast = cells.some(({ basis }) => basis === 'least');
  const row = (name: string, of: (course: typeof ifLost) => string) => [name, of(ifUnchanged), of(ifLost)];
  return columns([
    ['', 'if nothing is lost', `if ${formatPercent(policy.marginRatio)} is`],
    row(isLeast ? 'together, at least' : 'together', ({ totalSeconds }) => amount(totalSeconds)),
    ...(ifLost.boots > 0 ? [row('boots', ({ boots }) => boots.toFixed(1))] : []),
    row('trials', ({ trials }) => trials.toFixed(1)),
  ]).join('\n');
}

/** Includes seconds for labs that finish in minutes. */
const amount = (seconds: number): string =>
  seconds < 600 ? formatDuration(seconds) : `${Math.round(seconds / 60)} min`;

function cellsText({ cells }: ExperimentEstimate, { cells: planned, policy }: ExperimentOutline): string {
  const rows = cells.map(({ cell, basis, noiseRatio, ...runs }, index) => {
    const { design, history } = planned[index] ?? {};
    const noise =
      basis === 'history'
        ? `${formatPercent(noiseRatio ?? 0)} (${history?.runs} earlier runs)`
        : basis === 'assumed'
          ? `${formatPercent(noiseRatio ?? 0)}, assumed`
          : 'unknown';
    const least = basis === 'least' ? 'from ' : '';
    return [
      cellName(cell),
      design?.name ?? '',
      noise,
      `${least}${runs.runsIfUnchanged.toFixed(1)}`,
      `${least}${runs.runsIfLost.toFixed(1)}`,
      `${runs.maxRuns}`,
    ];
  });
  const lost = `if ${formatPercent(policy.marginRatio)} is lost`;
  return columns([['cell', 'design', 'noise', 'runs', lost, 'at most'], ...rows]).join('\n');
}

function durationsText({ durations }: ExperimentOutline): string {
  const { buildSeconds, bootSeconds, trialSeconds } = durations;
  const parts = [
    ...(buildSeconds > 0 ? [`builds ${formatDuration(buildSeconds)}`] : []),
    ...(bootSeconds > 0 ? [`a boot ${formatDuration(bootSeconds)}`] : []),
    `a trial ${formatDuration(trialSeconds)}`,
  ];
  return `Estimated ${basisText(durations)}: ${parts.join(', ')}.`;
}
