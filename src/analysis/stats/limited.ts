// Decides for a whole cell whether the generator limited it.
import type { Run } from '../../model/result.ts';
import { isJudged } from '../../model/variant-name.ts';

/**
 * Decides from all `runs` of a cell, and returns each as it counts. Runs that the generator limited are valid, unless
 * half of the runs of base or of patched were limited: omitting single ones would omit the fastest runs of a variant,
 * and hide a loss. A limited run slower than all valid ones of its variant had a slow sender, and stays invalid.
 */
export function limitsOf(runs: readonly Run[]): (run: Run) => Run {
  const variants = Map.groupBy(runs, ({ variant }) => variant);
  const isLimitedCell = [...variants].some(
    ([variant, own]) => isJudged(variant) && own.filter(isLimited).length >= own.filter(isValid).length,
  );
  if (isLimitedCell) return (run) => run;
  const slowest = new Map(
    [...variants].map(([variant, own]) => [
      variant,
      own.filter(isValid).reduce((least, { pps }) => Math.min(least, pps), Infinity),
    ]),
  );
  return (run) =>
    isLimited(run) && run.pps >= (slowest.get(run.variant) ?? Number.POSITIVE_INFINITY)
      ? { ...run, validity: { kind: 'valid' } }
      : run;
}

const isValid = ({ validity }: Run): boolean => validity.kind === 'valid';

const isLimited = ({ validity }: Run): boolean => validity.kind === 'invalid' && validity.cause === 'generator-limited';
