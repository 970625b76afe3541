// The profiles that a result tells of: read from their files, and asked why a cell is as it is.

import { plainLine } from '../words/escape.ts';
import type { CellResult, Comparison, Mover, Reason, Result } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';
import { withoutIdle } from './idle.ts';
import { explain } from './movers.ts';
import type { Profile } from './profile.ts';
import { ProfileError } from './profile-error.ts';
import { foreignBounds, parseProfile } from './read.ts';

/** Without the stacks in which the CPU idled; `idleFrames` are those that told, as far as they were found. */
type TakenProfile = { variant: string; profile: Profile; idleFrames: readonly string[] };

/** One of each variant. */
export type CellProfiles = { cell: Cell; variants: readonly TakenProfile[] };

/**
 * `read` answers the text of a file by its path in the result, or nothing; what is no profile is left out as well, and
 * `leftOut` hears why.
 */
export async function readProfiles(
  { outcome }: Result,
  read: (path: string) => Promise<string | undefined>,
  leftOut: (why: string) => void = () => {},
): Promise<CellProfiles[]> {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const all: CellProfiles[] = [];
  for (const { cell, profiles } of cells) {
    const variants: TakenProfile[] = [];
    for (const one of profiles) {
      const text = one.kind === 'profiled' ? await read(one.file) : undefined;
      const name = `the profile of ${plainLine(one.variant)} in ${cellName(cell)}`;
      const taken = text === undefined ? undefined : parsed(text, name, leftOut);
      if (taken !== undefined) variants.push({ variant: one.variant, ...taken });
    }
    if (variants.length > 0) all.push({ cell, variants });
  }
  return all;
}

function parsed(
  text: string,
  name: string,
  leftOut: (why: string) => void,
): Omit<TakenProfile, 'variant'> | undefined {
  try {
    const { profile, idleFrames } = withoutIdle(parseProfile(text, name, foreignBounds));
    return { profile, idleFrames };
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    leftOut(error.message);
    return undefined;
  }
}

/** The result, with what its profiles say of the reason. */
export function withReasons(result: Result, profiles: readonly CellProfiles[]): Result {
  const { outcome } = result;
  if (outcome.kind !== 'judged') return result;
  const cells = outcome.cells.map(({ reason: _, ...rest }): CellResult => {
    const taken = profiles.find(({ cell }) => cellName(cell) === cellName(rest.cell));
    const reason = reasonOf(rest, taken?.variants ?? []);
    return { ...rest, ...(reason && { reason }) };
  });
  return { ...result, outcome: { ...outcome, cells } };
}

/** Undefined where base or patched is missing. */
function reasonOf(
  { comparisons, verdict }: Pick<CellResult, 'comparisons' | 'verdict'>,
  taken: readonly TakenProfile[],
): Reason | undefined {
  const base = taken.find(({ variant }) => variant === 'base');
  const patched = taken.find(({ variant }) => variant === 'patched');
  if (base === undefined || patched === undefined) return undefined;
  const idleFrames = [...new Set([...base.idleFrames, ...patched.idleFrames])];
  const isChange = verdict.kind === 'regression' || verdict.kind === 'improvement';
  const time = nsPerPacket(comparisons);
  return { ...explain(base.profile, patched.profile, time, isChange), idleFrames };
}

/** Of the forwarding thread where the DUT tells of it, and else of the whole DUT, which had no time to spare. */
function nsPerPacket(comparisons: readonly Comparison[]): Mover['nsPerPacket'] {
  const told = comparisons.find(({ metric }) => metric === 'nsPerPacket');
  if (told !== undefined) return { base: told.base, patched: told.patched };
  const pps = comparisons.find(({ metric }) => metric === 'pps');
  if (pps === undefined || !(pps.base > 0 && pps.patched > 0)) return undefined;
  return { base: 1e9 / pps.base, patched: 1e9 / pps.patched };
}
