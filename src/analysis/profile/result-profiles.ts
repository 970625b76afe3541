// Reads the profiles of a result, and explains each cell by them.

import type { BisectResult } from '../../model/bisect-result.ts';
import { plainLine } from '../../model/escape.ts';
import type { Cost } from '../../model/metric.ts';
import type { CellResult, Comparison, ProfileReason, Result } from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { explain, type PacketCost } from './changed-functions.ts';
import { withoutIdle } from './idle.ts';
import type { Profile } from './profile.ts';
import { ProfileError } from './profile-error.ts';
import { foreignBounds, parseProfile } from './read-profile.ts';

/** Excludes idle stacks; `idleFrames` are those found. */
type TakenProfile = { variant: string; profile: Profile; idleFrames: readonly string[] };

export type CellProfiles = { cell: Cell; variants: readonly TakenProfile[] };

/** `read` returns a file's text by its path in the result; `leftOut` is called for invalid profiles. */
export async function readProfiles(
  result: Result | BisectResult,
  read: (path: string) => Promise<string | undefined>,
  leftOut: (why: string) => void = () => {},
): Promise<CellProfiles[]> {
  const all: CellProfiles[] = [];
  for (const { cell, profiles } of profiledCells(result)) {
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

/** Returns the cells with profiles, or with failed attempts at them. */
export function profiledCells(result: Result | BisectResult): readonly Pick<CellResult, 'cell' | 'profiles'>[] {
  if ('kind' in result) return [result];
  return result.outcome.kind === 'judged' ? result.outcome.cells : [];
}

function parsed(text: string, name: string, leftOut: (why: string) => void): Omit<TakenProfile, 'variant'> | undefined {
  try {
    const { profile, idleFrames } = withoutIdle(parseProfile(text, name, foreignBounds));
    return { profile, idleFrames };
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    leftOut(error.message);
    return undefined;
  }
}

/** Adds the reasons found in the profiles; for a bisection, those of the change's neighbours. */
export function withReasons<R extends Result | BisectResult>(result: R, profiles: readonly CellProfiles[]): R;
export function withReasons(result: Result | BisectResult, profiles: readonly CellProfiles[]): Result | BisectResult {
  if ('kind' in result) return withBisectReason(result, profiles);
  const { outcome } = result;
  if (outcome.kind !== 'judged') return result;
  const cells = outcome.cells.map(({ reason: _, ...rest }): CellResult => {
    const taken = profiles.find(({ cell }) => cellName(cell) === cellName(rest.cell));
    const { kind } = rest.verdict;
    const isChange = kind === 'regression' || kind === 'improvement';
    const reason = reasonOf(packetCost(rest.comparisons, rest), isChange, taken?.variants ?? []);
    return { ...rest, ...(reason && { reason }) };
  });
  return { ...result, outcome: { ...outcome, cells } };
}

function withBisectReason({ reason: _, ...result }: BisectResult, profiles: readonly CellProfiles[]): BisectResult {
  const { answer, metric } = result;
  if (answer.kind !== 'culprit' && answer.kind !== 'group') return result;
  const { before: base, after: patched } = answer.change;
  const cost = packetCost([{ metric, base, patched }], result);
  const reason = reasonOf(cost, true, profiles[0]?.variants ?? []);
  return { ...result, ...(reason && { reason }) };
}

function reasonOf(
  cost: PacketCost | undefined,
  isChange: boolean,
  taken: readonly TakenProfile[],
): ProfileReason | undefined {
  const base = taken.find(({ variant }) => variant === 'base');
  const patched = taken.find(({ variant }) => variant === 'patched');
  if (base === undefined || patched === undefined) return undefined;
  const idleFrames = [...new Set([...base.idleFrames, ...patched.idleFrames])];
  return { ...explain(base.profile, patched.profile, cost, isChange), idleFrames };
}

/**
 * Counts instructions if they were sampled, otherwise time: of the forwarding thread if known, otherwise of the fully
 * loaded DUT.
 */
function packetCost(
  comparisons: readonly Pick<Comparison, 'metric' | 'base' | 'patched'>[],
  { profiles }: Pick<CellResult, 'profiles'>,
): PacketCost | undefined {
  const costOf = (cost: Cost): PacketCost[] =>
    comparisons.flatMap(({ metric, base, patched }) => (metric === cost ? { metric: cost, base, patched } : []));
  const isByInstructions = profiles.every((one) => one.kind !== 'profiled' || one.event === 'instructions');
  const [measuredCost] = [...(isByInstructions ? costOf('instructionsPerPacket') : []), ...costOf('nsPerPacket')];
  if (measuredCost !== undefined) return measuredCost;
  const pps = comparisons.find(({ metric }) => metric === 'pps');
  if (pps === undefined || !(pps.base > 0 && pps.patched > 0)) return undefined;
  return { metric: 'nsPerPacket', base: 1e9 / pps.base, patched: 1e9 / pps.patched };
}
