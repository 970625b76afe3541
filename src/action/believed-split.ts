// What a job has measured of a gate whose cells were split, which is taken for hostile: which cells a part has measured is
// believed, and that all together have measured what was asked for is seen to here.
import { shareOf } from '../experiment/parts.ts';
import { cellsOf } from '../experiment/plan.ts';
import { type Asked, recompute } from '../experiment/recompute.ts';
import { agreesWith, parseResult, withPatch } from '../github/artifact.ts';
import type { Result } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';

type Believed =
  /** `corrections` are what the parts say, and their runs do not: sentences, in which their texts may be. */
  { kind: 'believed'; parts: Result[]; corrections: string[] } | { kind: 'refused'; why: string };

/**
 * The result of each part, with the share of the false alarms that its cells have. A cell is of the first part that has
 * it, and one that no part has is an invalid one of the first.
 *
 * @param texts of the parts, by the names of their testbeds; at least one
 */
export function believedSplit(texts: ReadonlyMap<string, string>, asked: Asked): Believed {
  const cells = cellsOf(asked.config);
  const claims: { name: string; claimed: Result; own: Cell[] }[] = [];
  const taken = new Set<string>();
  for (const [name, text] of texts) {
    const read = parseResult(text);
    if (read.kind === 'refused') return read;
    const why = whyNot(read.result, asked);
    if (why !== undefined) return { kind: 'refused', why };
    const { outcome } = read.result;
    const has = new Set(
      outcome.kind === 'judged' ? outcome.cells.map(({ cell }) => cellName(cell)) : [],
    );
    const own = cells.filter((cell) => has.has(cellName(cell)) && !taken.has(cellName(cell)));
    for (const cell of own) taken.add(cellName(cell));
    const claimed = withPatch(read.result, asked.patch);
    if (own.length > 0 || outcome.kind !== 'judged') claims.push({ name, claimed, own });
  }
  // A part that was rejected has none of its cells, and lets nothing pass.
  const areJudged = claims.every(({ own }) => own.length > 0);
  const lacking = cells.filter((cell) => areJudged && !taken.has(cellName(cell)));
  const computed = claims.map(({ name, claimed, own }, index) => {
    const measured = index === 0 ? [...own, ...lacking] : own;
    // Cells that no part has are invalid, and need no share.
    const share = shareOf(asked.config, own.length, cells.length);
    const { falseAlarmRatio } = claimed.policy;
    const gate = own.length > 0 ? share.gate : { ...share.gate, falseAlarmRatio };
    const of = { ...asked, config: { ...share, gate }, cells: measured, testbeds: [name] };
    return recompute(claimed, of);
  });
  const refused = computed.find((one) => one.kind === 'refused');
  if (refused !== undefined) return refused;
  const parts = computed.flatMap((one) => (one.kind === 'computed' ? one : []));
  if (parts.length === 0) return { kind: 'refused', why: 'No part has any of the cells.' };
  return {
    kind: 'believed',
    parts: parts.map(({ result }) => result),
    corrections: parts.flatMap(({ refused }) => refused),
  };
}

/** What need not be measured is never split. */
const whyNot = (claimed: Result, { patch }: Asked): string | undefined =>
  claimed.outcome.kind === 'unchanged'
    ? 'A part says that there was nothing to measure, where others have measured.'
    : agreesWith(claimed, patch);
