// Reads the numbers that a bisection compares: rates of boots, or ratios to good within each shared trial.

import { median } from '../analysis/stats/summary.ts';
import type { BisectForm, BisectResult } from '../model/bisect-result.ts';
import type { Run } from '../model/result.ts';

export const isMeasured = ({ values, fault }: BisectForm): boolean => fault === undefined && values.length > 0;

/** A number per boot in the metric's unit, or per trial as a ratio to good; good's own ratios are 1. */
export type FormNumbers = (form: BisectForm) => readonly number[];

/** Rates of different trials drift apart, so shared trials are compared within each. */
export function numbersOf(result: BisectResult): FormNumbers {
  if (!result.isShared) return (form) => (isMeasured(form) ? form.values : []);
  const ratios = ratiosToGood(result);
  return (form) => (isMeasured(form) ? (ratios.get(form.variant) ?? []) : []);
}

function ratiosToGood({ runs, revisions, metric }: BisectResult): Map<string, number[]> {
  const good = revisions[0]?.forms.find(isMeasured)?.variant ?? '';
  const counted = runs.filter(({ validity, pps }) => validity.kind === 'valid' && pps > 0);
  const ratios = new Map<string, number[]>();
  for (const trial of Map.groupBy(counted, (run) => run.trial).values()) {
    const variants = Map.groupBy(trial, ({ variant }) => variant);
    const rateOf = (own: readonly Run[]) => median(own.flatMap((run) => run[metric] ?? []));
    const ofGood = rateOf(variants.get(good) ?? []);
    for (const [variant, own] of variants) {
      const ratio = rateOf(own) / ofGood;
      if (!Number.isFinite(ratio) || ratio <= 0) continue;
      const known = ratios.get(variant);
      if (known === undefined) ratios.set(variant, [ratio]);
      else known.push(ratio);
    }
  }
  return ratios;
}
