// Renders an analysis as text, and as JSON for programs.

import { type MinistatSet, compare as ministat, renderMinistat } from '../../analysis/stats/ministat.ts';
import { formatChange, formatInterval, formatPps } from '../../model/format.ts';
import { shortened } from '../../model/one-line.ts';
import type { Analysis, AnalyzedRun, AnalyzedSet, SetComparison } from './analyze-netbenches.ts';

/** Lists the sets with their runs, then each comparison's verdict and ministat block. */
export function renderAnalysis({ sets, comparisons }: Analysis): string {
  return [...sets.map(renderSet), ...comparisons.map(renderComparison)].join('\n');
}

function renderSet({ label, kernel, runs }: AnalyzedSet): string {
  const counted = runs.filter(({ validity }) => validity.kind === 'valid').length;
  const head = `${shortened(label)}: ${counted} of ${runs.length} runs count`;
  const about = kernel === undefined ? [] : [`  ${shortened(kernel)}`];
  return `${[head, ...about, ...runs.map(renderRun)].join('\n')}\n`;
}

function renderRun({ file, medianPps, offeredPps, seconds, steadyAfterSeconds, validity }: AnalyzedRun): string {
  const parts = [
    formatPps(medianPps),
    offeredPps !== undefined && `${formatPps(offeredPps)} offered`,
    `${seconds.toFixed(0)} s`,
    steadyAfterSeconds !== undefined && `known to 0.5 % after ${steadyAfterSeconds} s`,
    validity.kind === 'invalid' && `invalid: ${validity.reason}`,
  ];
  return `  ${shortened(file)}  ${parts.filter(Boolean).join(', ')}`;
}

function renderComparison(compared: SetComparison): string {
  const { base, patched } = compared;
  const names = `${shortened(patched.label)} against ${shortened(base.label)}`;
  const head = `${names}: ${verdictText(compared)}`;
  const sets = [minimalSet(base), minimalSet(patched)];
  if (sets.some(({ values }) => values.length < 3)) return `${head}\n`;
  return `${head}\n\n${renderMinistat(sets, { separateBars: true })}`;
}

function verdictText({ verdict, comparison }: SetComparison): string {
  const reason = verdict.kind === 'invalid' ? `: ${verdict.reason}` : '';
  if (comparison === undefined) return `${verdict.kind}${reason}`;
  const { change, low, high } = comparison.interval;
  return `${verdict.kind}, ${formatChange(change)} (95 % interval ${formatInterval(low, high)})${reason}`;
}

/** All runs with a number, even uncounted ones, as ministat would get them. */
const minimalSet = ({ label, runs }: AnalyzedSet): MinistatSet => ({
  name: shortened(label),
  values: Float64Array.from(runs.map(({ medianPps }) => medianPps).filter((pps) => pps > 0)),
});

/** Ratios, and packets per second; `reason` is null if empty. */
export function analysisAsJson({ sets, comparisons }: Analysis): object {
  return {
    sets: sets.map(({ label, image, config, family, kernel, runs }) => ({
      label,
      image,
      config,
      family,
      kernel,
      runs: runs.map(({ validity, ...run }) => ({
        ...run,
        validity: validity.kind,
        reason: validity.kind === 'invalid' ? validity.reason : null,
      })),
    })),
    comparisons: comparisons.map((compared) => ({
      base: compared.base.label,
      patched: compared.patched.label,
      verdict: compared.verdict.kind,
      reason: compared.verdict.kind === 'invalid' ? compared.verdict.reason : null,
      ...compared.comparison?.interval,
      ministat: ministatOf(compared),
    })),
  };
}

/** Null if a set has fewer than ministat's three numbers. */
function ministatOf({ base, patched }: SetComparison): object | null {
  const sets = [minimalSet(base), minimalSet(patched)];
  if (sets.some(({ values }) => values.length < 3)) return null;
  const { confidencePercent, differences } = ministat(sets);
  return { confidencePercent, ...differences[0] };
}
