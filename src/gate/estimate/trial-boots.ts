// Determines which trials share a boot.
import type { Traffic } from '../../config/schema.ts';

/** Variants boot one by one, all of a pair at once, or not at all. */
export type BootKind = 'each' | 'pair' | 'none';

type BootedTraffic = { traffic: Pick<Traffic, 'windows' | 'runsPerTrial'> };

export function bootKindOf({ traffic }: BootedTraffic): BootKind {
  if (traffic.windows !== undefined) return 'pair';
  return traffic.runsPerTrial > 1 ? 'none' : 'each';
}

type BootedRun = { variant: string; pair: number };

/** Names the last boot of a trial; undefined without boots. */
export function bootOf(runs: readonly BootedRun[], kind: BootKind): string | undefined {
  const last = runs.at(-1);
  if (kind === 'none' || last === undefined) return undefined;
  return kind === 'pair' ? String(last.pair) : `${last.variant} ${last.pair}`;
}
