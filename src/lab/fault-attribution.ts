// Attributes failures on a testbed that boots its variants to the patch, or to the testbed.

type VariantTally = {
  hasBooted: boolean;
  bootFailures: number;
  hasStoodTrial: boolean;
  /** Panics, and hangs that only a power cycle ended. */
  deaths: number;
  refusals: number;
};

export type Tallies = Map<string, VariantTally>;

export function tallyOf(tallies: Tallies, variant: string): VariantTally {
  const fresh: VariantTally = {
    hasBooted: false,
    bootFailures: 0,
    hasStoodTrial: false,
    deaths: 0,
    refusals: 0,
  };
  const tally = tallies.get(variant) ?? fresh;
  tallies.set(variant, tally);
  return tally;
}

type FailureCount = 'bootFailures' | 'deaths' | 'refusals';
export type Milestone = 'hasBooted' | 'hasStoodTrial';

/** Blames a patch only if base has reached the milestone here, and the patch has failed twice more than base. */
export function isAtFault(tallies: Tallies, variant: string, fault: FailureCount, proof: Milestone): boolean {
  const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, 'base')];
  if (variant === 'base') return own[fault] >= 2;
  return base[proof] && own[fault] >= 2 + base[fault];
}

/** True while base has not reached the milestone in this process: then no number of failures blames the variant. */
export const lacksControl = (tallies: Tallies, variant: string, proof: Milestone): boolean =>
  variant !== 'base' && !tallyOf(tallies, 'base')[proof];
