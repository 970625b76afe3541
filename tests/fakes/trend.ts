// A branch's trend for tests: a change at its discovery, and the data branch that stores it.
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { TrendChange, TrendIndex } from '../../src/model/trend.ts';

const good = '1a'.repeat(20);
const bad = '2b'.repeat(20);

/** A confirmed loss of 4.1 % in one cell. */
export const aChange = (changed: Partial<TrendChange> = {}): TrendChange => ({
  id: '0123456789ab',
  testbed: 'hp-t540',
  metric: 'pps',
  good,
  bad,
  cells: [aLevel('ipfw-stateful', -0.041)],
  state: 'code',
  foundAt: '2026-03-01T04:00:00.000Z',
  changedAt: '2026-03-02T04:00:00.000Z',
  gates: [],
  alert: { told: [] },
  ...changed,
});

export const aLevel = (scenario: string, changeRatio: number): TrendChange['cells'][number] => ({
  cell: { scenario, family: 'inet4' },
  before: 5_000_000,
  after: 5_000_000 * (1 + changeRatio),
  changeRatio,
  firstAt: '2026-02-27T04:00:00.000Z',
});

export const anIndex = (changes: TrendChange[] = []): TrendIndex => ({
  schemaVersion: 1,
  cells: [],
  fingerprints: [],
  changes,
  aaRuns: [],
  releases: [],
});

/** Outcomes of a write: done, not done, done without a response, or done and found done by the retry. */
type WriteFate = 'done' | 'not-done' | 'unanswered' | 'done-unseen';

export type FakeBranch = {
  index: TrendIndex;
  edit(change: (index: TrendIndex) => TrendIndex): Promise<TrendIndex>;
};

/** A branch that moves only from where it was read, like the data branch. */
export function fakeBranch(index: TrendIndex, fate: () => WriteFate = () => 'done'): FakeBranch {
  const branch: FakeBranch = {
    index,
    async edit(change) {
      for (;;) {
        const read = branch.index;
        const next = change(read);
        await turnOfEventLoop();
        if (branch.index !== read) continue;
        const how = fate();
        if (how === 'not-done') throw new Error('nothing was written');
        branch.index = next;
        if (how === 'unanswered') throw new Error('the outcome of the write is unknown');
        if (how === 'done') return next;
        await turnOfEventLoop();
      }
    },
  };
  return branch;
}
