// Assigns testbeds by the simplest rules, as a reference for the fast queue.
import type { QueuePlace, Testbeds } from '../../src/gate/reserve/queue.ts';

export type Wanting = QueuePlace & { wants: Testbeds };

/** Iterates over all waiting requests, in order of turns. */
export function plainAssign(waiting: readonly Wanting[], free: Testbeds): Map<string, string> {
  const rank = { release: 1, patch: 2, rerun: 3 };
  const inTurn = waiting.toSorted(
    (a, b) => rank[a.priority] - rank[b.priority] || a.order - b.order || (a.id < b.id ? -1 : 1),
  );
  const grants = new Map<string, string>();
  const gone = new Set<string>();
  for (const { id, wants } of inTurn) {
    const testbed = [...wants.keys()].find((name) => free.get(name)?.every((machine) => !gone.has(machine)));
    if (testbed !== undefined) grants.set(id, testbed);
    const taken = testbed === undefined ? [...wants.values()].flat() : free.get(testbed);
    for (const machine of taken ?? []) gone.add(machine);
  }
  return grants;
}
