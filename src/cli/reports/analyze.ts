// Runs `ppsgate analyze`.
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
import { type Analysis, type AnalyzedSet, analyzeBenches } from '../netbenches/analyze-netbenches.ts';
import { readBenches } from '../netbenches/directory.ts';
import { analysisAsJson, renderAnalysis } from '../netbenches/render.ts';
import { printJson } from '../table.ts';

type AnalyzeOptions = Pick<Overrides, 'margin' | 'falseAlarms' | 'power'> & {
  netbenchesTrim?: true;
  base?: string;
  json?: true;
};

/** Returns the exit code of the worst verdict; throws if there is nothing to compare. */
export async function run(directory: string, options: AnalyzeOptions): Promise<number> {
  return (await hasPlan(directory)) ? analyzeWork(directory, options) : analyzeNetbenches(directory, options);
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
    throw new UsageError(`There is nothing to compare in ${directory}: it has only one variant (${labels}).`);
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
