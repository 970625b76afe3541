// Counts earlier gates of the same commits, as each further gate is another chance for a loss to pass.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { commitId } from '../../model/patch.ts';
import {
  type CellResult,
  type EarlierGates,
  maxEarlierGates,
  metricSchema,
  type Policy,
  type Result,
} from '../../model/result.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import { isSameTraffic, type OfferedTraffic } from '../../model/traffic.ts';

const ratio = z.number().positive().lt(1);

/** The gate that wrote a line of history. */
export const gateOfLineSchema = z.object({
  /** Equal for a gate that was resumed, extended or published again. */
  id: z.string().regex(/^[0-9a-f]{64}$/),
  head: commitId,
  metric: metricSchema,
  marginRatio: ratio,
  missRatio: ratio,
  isRegression: z.boolean(),
});

export type GateOfLine = z.infer<typeof gateOfLineSchema>;

type Line = {
  testbed: string;
  cell: Cell;
  traffic: OfferedTraffic;
  commit: string;
  gate?: GateOfLine | undefined;
};

/** Returns undefined for an A/A run, which passes no patch. */
export function gateOfLine(
  { startedAt, variants, policy }: Result,
  { runs, verdict }: CellResult,
): GateOfLine | undefined {
  const commitOf = (name: string) => variants.find((variant) => variant.name === name)?.commit;
  const [base, head] = [commitOf('base'), commitOf('patched')];
  if (head === base || !commitId.safeParse(base).success) return undefined;
  const { metric, marginRatio, missRatio } = policy;
  // Identifies a gate by its numbers: a forged time could pass one off as the extension of another.
  const id = createHash('sha256').update(JSON.stringify([startedAt, numbersOf(runs[0])]));
  return gateOfLineSchema.safeParse({
    id: id.digest('hex'),
    head,
    metric,
    marginRatio,
    missRatio,
    isRegression: verdict.kind === 'regression',
  }).data;
}

const numbersOf = (run: CellResult['runs'][number] | undefined) => [
  run?.pps,
  run?.samples.map(({ receivedPackets, forwardedPackets }) => [receivedPackets, forwardedPackets]),
];

type GateOfCell = Omit<Line, 'commit' | 'gate'> & {
  /** Absent if unknown: gates of any base count. */
  base: string | undefined;
  head: string;
  policy: Policy;
  /** Excludes lines of the gate itself. */
  id?: string | undefined;
};

/** Gates of the same commits in the same cell, with the same margin and rate of misses; undefined if there are none. */
export function earlierGates(entries: readonly Line[], gate: GateOfCell): EarlierGates | undefined {
  if (gate.base === gate.head) return undefined;
  const gates = entries.flatMap((entry) => (isSame(entry, gate) && entry.gate ? entry.gate : []));
  const others = Map.groupBy(gates, ({ id }) => id);
  if (gate.id !== undefined) others.delete(gate.id);
  if (others.size === 0) return undefined;
  const regressions = [...others.values()].filter((lines) => lines.some(({ isRegression }) => isRegression));
  return {
    count: Math.min(others.size, maxEarlierGates),
    regressions: Math.min(regressions.length, maxEarlierGates),
  };
}

function isSame(entry: Line, { testbed, cell, traffic, base, head, policy }: GateOfCell): boolean {
  const { gate } = entry;
  return (
    gate?.head === head &&
    (base === undefined || entry.commit === base) &&
    entry.testbed === testbed &&
    cellName(entry.cell) === cellName(cell) &&
    isSameTraffic(entry.traffic, traffic) &&
    gate.metric === policy.metric &&
    gate.marginRatio === policy.marginRatio &&
    gate.missRatio === policy.missRatio
  );
}
