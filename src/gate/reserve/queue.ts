// Assigns free testbeds to waiting requests, by priority, then by arrival.

import { type Priority, priorities } from '../../model/priority.ts';

export type QueuePlace = {
  id: string;
  priority: Priority;
  order: number;
};

/** Machines by testbed. Testbeds that share a machine exclude each other. */
export type Testbeds = ReadonlyMap<string, readonly string[]>;

export type QueueLine = {
  /** Any of them, preferred first. */
  wants: Testbeds;
  waiting: QueuePlace[];
};

export type Grant = { place: QueuePlace; testbed: string };

export const byTurn = (a: QueuePlace, b: QueuePlace): number =>
  priorities.indexOf(a.priority) - priorities.indexOf(b.priority) || a.order - b.order || (a.id < b.id ? -1 : 1);

/**
 * Returns the grants for the free testbeds in order of turns. A waiting request blocks its machines for all later ones,
 * as smaller requests could otherwise pass it forever. Time grows with lines and free testbeds, not with requests.
 */
export function assign(lines: readonly QueueLine[], free: Testbeds): Grant[] {
  const open = new Map(free);
  const openMachines = new Set([...open.values()].flat());
  const heads = lines
    .filter(({ wants }) => !indexOf(wants).machines.isDisjointFrom(openMachines))
    .flatMap((line) => headOf(line, 0))
    .sort(lastInTurn);
  const grants: Grant[] = [];
  while (open.size > 0) {
    const head = heads.pop();
    if (head === undefined) break;
    const { line, index, place } = head;
    const testbed = bestOf(line.wants, open);
    if (testbed === undefined) {
      close(open, indexOf(line.wants).machines);
    } else {
      grants.push({ place, testbed });
      close(open, new Set(open.get(testbed)));
      for (const next of headOf(line, index + 1)) insertInOrder(heads, next, lastInTurn);
    }
  }
  return grants;
}

type QueueHead = { line: QueueLine; index: number; place: QueuePlace };

function headOf(line: QueueLine, index: number): QueueHead[] {
  const place = line.waiting[index];
  return place === undefined ? [] : [{ line, index, place }];
}

const lastInTurn = (a: QueueHead, b: QueueHead): number => byTurn(b.place, a.place);

/** Inserts an item before equal ones in a sorted list. */
export function insertInOrder<T>(list: T[], item: T, order: (a: T, b: T) => number): void {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && order(other, item) < 0) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, item);
}

/** Unites the testbeds of all lines. If two lines list different machines of one testbed, it has both sets. */
export function testbedsOf(lines: readonly QueueLine[]): Testbeds {
  const testbeds = new Map<string, readonly string[]>();
  for (const [testbed, machines] of lines.flatMap(({ wants }) => [...wants])) {
    const known = testbeds.get(testbed) ?? [];
    testbeds.set(testbed, [...new Set([...known, ...machines])]);
  }
  return testbeds;
}

/** Iterates over the smaller side: few testbeds are free while many requests wait. */
function bestOf(wants: Testbeds, open: Testbeds): string | undefined {
  if (wants.size <= open.size) return wants.keys().find((testbed) => open.has(testbed));
  const { rank } = indexOf(wants);
  const rankOf = (testbed: string) => rank.get(testbed) ?? Number.POSITIVE_INFINITY;
  let best: string | undefined;
  for (const testbed of open.keys()) {
    const isBetter = best === undefined || rankOf(testbed) < rankOf(best);
    if (isBetter && rank.has(testbed)) best = testbed;
  }
  return best;
}

function close(open: Map<string, readonly string[]>, machines: ReadonlySet<string>): void {
  for (const [testbed, own] of open) {
    if (own.some((machine) => machines.has(machine))) open.delete(testbed);
  }
}

type TestbedIndex = { rank: ReadonlyMap<string, number>; machines: ReadonlySet<string> };
const indexes = new WeakMap<Testbeds, TestbedIndex>();

function indexOf(wants: Testbeds): TestbedIndex {
  const known = indexes.get(wants);
  if (known !== undefined) return known;
  const index = {
    rank: new Map([...wants.keys()].map((testbed, rank) => [testbed, rank])),
    machines: new Set([...wants.values()].flat()),
  };
  indexes.set(wants, index);
  return index;
}
