// Starts processes that hold a testbed, and waits for their events.
import { expect } from 'vitest';
import type { Timed } from './contending.ts';
import type { HolderPlan, HolderSays } from './holder.ts';
import { type Program, soon, startProgram, well } from './program.ts';

export type Holder = Program<HolderSays>;

export const startHolder = (plan: HolderPlan, namespace?: string): Holder =>
  startProgram('holder', plan, { namespace });

/** Returns the first event of that kind. Throws if the program ends without it. */
export async function says<Kind extends HolderSays['kind']>(holder: Holder, kind: Kind) {
  const isIt = (one: Timed<HolderSays>): one is Timed<Extract<HolderSays, { kind: Kind }>> => one.kind === kind;
  await expect.poll(() => kindsOf(holder), soon).toContain(kind);
  const said = holder.said.find(isIt);
  if (said === undefined) throw new Error(`A holder did not say "${kind}".`);
  return said;
}

export const kindsOf = ({ said }: Holder) => [...new Set(said.map(({ kind }) => kind))];

export async function releases(holder: Holder): Promise<void> {
  holder.write('release');
  expect(await holder.ended).toEqual(well);
  expect(kindsOf(holder)).toContain('released');
}
