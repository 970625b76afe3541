// Which commit is measured next, and when it is known which one changed the rate: pure, from nothing but what was measured.
import type { Noise } from '../stats/evidence.ts';

/** Positions are those of kernels along the range: 0 is good, `steps` is bad. */
export type Problem = {
  steps: number;
  /** Natural logarithms of the rate of each boot, by position. */
  measured: ReadonlyMap<number, readonly number[]>;
  /** Positions that cannot be measured, and what is the matter with them: alike is what has the same word. */
  failed: ReadonlyMap<number, string>;
  /** Of earlier experiments. */
  history: Noise;
  /** Most boots, failed ones too, and how many there were. */
  mostBoots: number;
  boots: number;
};

export type Costs = {
  /** Of one boot with its blast. */
  runMinutes: number;
  /** Until the kernel of a position is there; 0 where it is. */
  waitMinutes(position: number): number;
};

/** Positions are absolute; a step is the one that ends at a position. */
export type Ending =
  | { kind: 'found'; after: number; last: number; probability: number }
  | { kind: 'not-reproduced' }
  | { kind: 'slide'; at: number[] }
  | {
      kind: 'several';
      found: Extract<Ending, { kind: 'found' }>[];
      open: { after: number; last: number }[];
    }
  | { kind: 'inconclusive'; best: { last: number; probability: number }[]; bootsExpected: number };

export type Step =
  | { kind: 'measure'; position: number; why: string }
  | { kind: 'ended'; ending: Ending };
