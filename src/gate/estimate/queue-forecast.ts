// How long one waits for a testbed: the queue played on, as fast as it can be computed.
import { assign, type Grant, insertInOrder, type Line, type Testbeds } from '../reserve/queue.ts';

export type Load = {
  /** Who waits; see `Line`. */
  lines: readonly Line[];
  /** Who holds what, and for how much longer. */
  held: readonly { machines: readonly string[]; secondsLeft: number }[];
  /** All that is wanted and healthy. */
  testbeds: Testbeds;
  /** How long a holder usually keeps it. */
  usualSeconds(testbed: string): number;
};

type Start = Grant & { afterSeconds: number };

/** Who starts where and when, in that order; ends where nobody waits any more, or nobody who does can be served. */
export function* simulate({ lines, held, testbeds, usualSeconds }: Load): Generator<Start> {
  const queue = lines.map(({ wants, waiting }) => ({ wants, waiting: [...waiting] }));
  const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
  const machines = openMachines(testbeds);
  const ends = held.map((one) => ({ machines: one.machines, at: one.secondsLeft }));
  ends.sort(lastToEnd);
  for (const one of ends) machines.take(one.machines);

  for (let now = 0; ; ) {
    for (const grant of assign(queue, machines.free)) {
      yield { ...grant, afterSeconds: now };
      lineOf.get(grant.place)?.waiting.shift();
      const taken = testbeds.get(grant.testbed) ?? [];
      machines.take(taken);
      insertInOrder(ends, { machines: taken, at: now + usualSeconds(grant.testbed) }, lastToEnd);
    }
    let next = ends.at(-1);
    if (next === undefined) return;
    now = Math.max(now, next.at);
    // All that are free by then, or somebody would start on his second best.
    for (; next !== undefined && next.at <= now; next = ends.at(-1)) {
      machines.giveBack(next.machines);
      ends.pop();
    }
  }
}

type End = { machines: readonly string[]; at: number };

const lastToEnd = (a: End, b: End): number => b.at - a.at;

/** Seconds until it is one's turn; undefined where it never comes. */
export function expectedWait(load: Load, id: string): number | undefined {
  return simulate(load).find(({ place }) => place.id === id)?.afterSeconds;
}

/** Which testbeds are free while machines are taken and given back. */
function openMachines(testbeds: Testbeds) {
  const uses = [...testbeds].flatMap(([testbed, machines]) =>
    machines.map((machine) => ({ testbed, machine })),
  );
  const users = Map.groupBy(uses, ({ machine }) => machine);
  const testbedsOn = (machine: string) => (users.get(machine) ?? []).map(({ testbed }) => testbed);
  const taken = new Set<string>();
  const free = new Map(testbeds);
  return {
    free,
    take(machines: readonly string[]): void {
      for (const machine of machines) {
        taken.add(machine);
        for (const testbed of testbedsOn(machine)) free.delete(testbed);
      }
    },
    giveBack(machines: readonly string[]): void {
      for (const machine of machines) taken.delete(machine);
      for (const testbed of new Set(machines.flatMap(testbedsOn))) {
        const own = testbeds.get(testbed) ?? [];
        if (!own.some((machine) => taken.has(machine))) free.set(testbed, own);
      }
    },
  };
}
