// `ppsgate analyze`: recomputes the results of a directory of logs, ours or of benchmarks.
import type { Command } from 'commander';
import { worstVerdict } from '../../analysis/stats/verdict.ts';
import { type Overrides, overrideGate } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { assembleResult } from '../../gate/experiment/assemble.ts';
import { hasPlan, readPlan } from '../../gate/experiment/plan.ts';
import { reread } from '../../gate/experiment/reread.ts';
import { conclusionOfResult, conclusionOfVerdict, exitCodes } from '../../model/conclusion.ts';
import type { Result, Run } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import { explained } from '../../report/read-result.ts';
import { renderMarkdown } from '../../report/reports.ts';
import { runToExit } from '../../system/exit.ts';
import {
  type Analysis,
  type AnalyzedSet,
  analyzeBenches,
} from '../netbenches/analyze-netbenches.ts';
import { readBenches } from '../netbenches/directory.ts';
import { analysisAsJson, renderAnalysis } from '../netbenches/render.ts';
import { printJson } from './table.ts';

export function define(command: Command): void {
  command
    .argument(
      '<dir>',
      'work directory of a gate, or one with bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver logs of pkt-gen',
    )
    .option('--netbenches-trim', 'use medians, as in the .pps files of the netbenches archive')
    .option('--base <image>', 'set to compare the others with (default: the first)')
    .option('--margin <percent>', 'the loss that matters', '2%')
    .option('--false-alarms <percent>', 'false alarms over all sets, if nothing was lost', '1%')
    .option('--power <percent>', 'share of losses of the margin to detect', '95%')
    .option('--json', 'print the numbers as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate analyze --netbenches-trim results/fbsd12-r325006-D12685

Exits as gate does: 0 on a pass, 1 on a regression, 2 on wrong usage, 3 when
undecided.`,
    )
    .action(async (directory: string, options: object) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(() => runAnalyze(directory, options), exit);
    });
}

type AnalyzeOptions = Pick<Overrides, 'margin' | 'falseAlarms' | 'power'> & {
  netbenchesTrim?: true;
  base?: string;
  json?: true;
};

/** Returns the exit code of the worst verdict; throws if there is nothing to compare. */
async function runAnalyze(directory: string, options: AnalyzeOptions): Promise<number> {
  return (await hasPlan(directory))
    ? analyzeWork(directory, options)
    : analyzeNetbenches(directory, options);
}

async function analyzeNetbenches(directory: string, options: AnalyzeOptions): Promise<number> {
  const { netbenchesTrim = false, base, json } = options;
  const policy = overrideGate(undefined, options, namingStyles.flag);
  const analysis = analyzeBenches(await readBenches(directory), { netbenchesTrim, base, policy });
  if (json) printJson(analysisAsJson(analysis));
  else print(renderAnalysis(analysis));

  const { sets, comparisons } = analysis;
  if (base !== undefined && !sets.some(({ image, label }) => image === base || label === base)) {
    throw new UsageError(`--base: ${directory} has no set ${base}.`);
  }
  if (comparisons.length === 0) {
    const labels = sets.map(({ label }) => label).join(', ');
    throw new UsageError(
      `There is nothing to compare in ${directory}: it has only one variant (${labels}).`,
    );
  }
  return exitCodes[conclusionOfVerdict(worstVerdict(comparisons))];
}

/** Uses the policy of the plan, fixed before the first run. */
async function analyzeWork(directory: string, { json }: AnalyzeOptions): Promise<number> {
  const plan = await readPlan(directory);
  const { entries, unread } = await reread(directory, plan);
  const { result } = await explained(assembleResult(plan, entries), directory);
  if (json) printJson(analysisAsJson(analysisOf(result)));
  else print(renderMarkdown(result));
  if (unread > 0) {
    process.stderr.write(
      `ppsgate: the logs of ${unread} trials cannot be read again; their runs come from the journal.\n`,
    );
  }
  return exitCodes[conclusionOfResult(result)];
}

function analysisOf({ outcome }: Result): Analysis {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const compared = cells.map(({ cell, runs, verdict, comparisons: [comparison] }) => ({
    base: setOf(cell, 'base', runs),
    patched: setOf(cell, 'patched', runs),
    verdict,
    comparison,
  }));
  return { sets: compared.flatMap(({ base, patched }) => [base, patched]), comparisons: compared };
}

const setOf = ({ scenario, family }: Cell, variant: string, runs: readonly Run[]): AnalyzedSet => ({
  label: `${variant}.${scenario}.${family}`,
  image: variant,
  config: scenario,
  family,
  runs: runs
    .filter((run) => run.variant === variant)
    .map(({ number, trial, attempt, pps, samples, validity }) => ({
      file: `trial ${trial}.${attempt}, run ${number}`,
      medianPps: pps,
      seconds: samples.reduce((sum, sample) => sum + sample.seconds, 0),
      validity,
    })),
});

const print = (text: string): void => void process.stdout.write(`${text.trimEnd()}\n`);
