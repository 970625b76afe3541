// Draws the fates of contenders: their requests, and when they are killed, or suspended for longer than a lease.
import { setTimeout } from 'node:timers/promises';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { priorities } from '../../src/model/priority.ts';
import type { ContenderSays, Turn } from './contender.ts';
import type { Program } from './program.ts';

export type Dice = {
  /** Includes both bounds. */
  int(least: number, most: number): number;
  /** All items, in random order. */
  shuffled<Item>(items: readonly Item[]): Item[];
};

export function diceOf(seed: number): Dice {
  const random = xoroshiro128plus(seed);
  const int = (least: number, most: number) => uniformInt(random, least, most);
  return {
    int,
    shuffled: (items) =>
      items
        .map((item) => ({ item, rank: int(0, 2 ** 30) }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  };
}

export function randomTurn(testbeds: readonly string[], { int, shuffled }: Dice): Turn {
  return {
    wants: shuffled(testbeds).slice(0, int(1, testbeds.length)),
    priority: shuffled(priorities)[0] ?? 'patch',
    pausesMilliseconds: Array.from({ length: int(1, 3) }, () => int(10, 35)),
  };
}

export type Fate =
  | { kind: 'spared' }
  | { kind: 'killed'; when: Moment }
  /** A contender that ignores its lease continues until a machine refuses it. */
  | { kind: 'stopped'; when: Moment; seconds: number; isHeedless: boolean };

/** This long after it has written that event this often. */
export type Moment = {
  said: 'waits' | 'commits' | 'holds' | 'uses';
  times: number;
  milliseconds: number;
};

/** One of each fate, in random order. */
export function fatesOf(leaseSeconds: number, { int, shuffled }: Dice): Fate[] {
  const atLogin = (): Moment => ({ said: 'holds', times: 1, milliseconds: int(0, 50) });
  const atWork = (): Moment => ({ said: 'uses', times: int(1, 2), milliseconds: int(0, 20) });
  const inQueue = (): Moment => ({ said: 'waits', times: int(1, 3), milliseconds: int(0, 300) });
  const inCommit = (): Moment => ({ said: 'commits', times: int(1, 4), milliseconds: int(0, 3) });
  const long = () => (leaseSeconds * int(15, 18)) / 10;
  /** It learns in time that it still lives, as it renewed its lease at most a third of the lease ago. */
  const short = () => (leaseSeconds * int(50, 60)) / 100;
  return shuffled<Fate>([
    ...[atLogin, atWork, inQueue, inCommit].map((moment): Fate => ({ kind: 'killed', when: moment() })),
    { kind: 'stopped', when: atWork(), seconds: long(), isHeedless: true },
    { kind: 'stopped', when: inCommit(), seconds: long(), isHeedless: false },
    { kind: 'stopped', when: atWork(), seconds: short(), isHeedless: false },
    { kind: 'spared' },
  ]);
}

/** Reads the contender's output, and executes its fate. */
export function fulfil(fate: Fate): (saying: ContenderSays, program: Program<ContenderSays>) => void {
  let heard = 0;
  return ({ kind }, program) => {
    if (fate.kind === 'spared' || kind !== fate.when.said) return;
    heard += 1;
    if (heard === fate.when.times) void strike(fate, program);
  };
}

async function strike(fate: Exclude<Fate, { kind: 'spared' }>, program: Program<ContenderSays>): Promise<void> {
  await setTimeout(fate.when.milliseconds);
  if (fate.kind === 'killed') return program.signal('SIGKILL');
  program.signal('SIGSTOP');
  await setTimeout(fate.seconds * 1000);
  program.signal('SIGCONT');
}
