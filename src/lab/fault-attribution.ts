// Who is to blame for what goes wrong on a testbed that boots its variants: the patch, or the laboratory.

/** What a variant did to the DUT so far. */
type Tally = {
  hasBooted: boolean;
  /** Since it last came up. */
  bootFailures: number;
  hasStoodTrial: boolean;
  /** Panics, and times that nothing but its power brought the DUT back. */
  deaths: number;
  /** Times that it refused a scenario. */
  refusals: number;
};

/** What each variant did, by its name. */
export type Tallies = Map<string, Tally>;

/** The tally of a variant; one that is new gets an empty one, to be counted up. */
export function tallyOf(tallies: Tallies, variant: string): Tally {
  const fresh: Tally = {
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

/**
 * Nobody is blamed for what happened once. A patch is only for what base has shown to be possible here, and what
 * happened to it twice more than to base: what befalls both is the laboratory's.
 */
export function isToBlame(
  tallies: Tallies,
  variant: string,
  fault: FailureCount,
  proof: Milestone,
): boolean {
  const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, 'base')];
  if (variant === 'base') return own[fault] >= 2;
  return base[proof] && own[fault] >= 2 + base[fault];
}

/** Who cannot be blamed yet however often it fails, as base has shown nothing: where an experiment goes on in a new process. */
export const lacksControl = (tallies: Tallies, variant: string, proof: Milestone): boolean =>
  variant !== 'base' && !tallyOf(tallies, 'base')[proof];
