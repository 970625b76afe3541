// Tests the functions that changed between profiles, and those that only seem to.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { explain, type PacketCost } from '../../../src/analysis/profile/changed-functions.ts';
import { withoutIdle } from '../../../src/analysis/profile/idle.ts';
import type { Profile } from '../../../src/analysis/profile/profile.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

/** Samples by function, named `name module` if the profile has the module. */
const profileOf = (samples: Record<string, number>): Profile => ({
  format: 'folded',
  stacks: Object.entries(samples).map(([key, count]) => {
    const [name = '', module] = key.split(' ');
    return { frames: [module === undefined ? { name } : { name, module }], samples: count };
  }),
});

const scaled = (profile: Profile, factor: number): Profile => ({
  ...profile,
  stacks: profile.stacks.map((stack) => ({ ...stack, samples: stack.samples * factor })),
});

const namesOf = ({ changedFunctions }: ReturnType<typeof explain>): string[] =>
  changedFunctions.map((changedFunction) => changedFunction.function);

const router = profileOf({
  ip_input: 4_000,
  ip_output: 3_000,
  ether_output: 2_500,
  bcopy: 1_500,
  fib4_lookup: 1_000,
});
/** A third of the time is now the lookup's; by their samples for each packet all others are as they were. */
const slowLookup = profileOf({
  ip_input: 3_200,
  ip_output: 2_400,
  ether_output: 2_000,
  bcopy: 1_200,
  fib4_lookup: 3_200,
});

const byTime = (base: number, patched: number): PacketCost => ({
  metric: 'nsPerPacket',
  base,
  patched,
});

test('a function that got dearer is named with both shares', () => {
  expect(explain(router, slowLookup)).toEqual({
    changedFunctions: [{ function: 'fib4_lookup', baseRatio: 1 / 12, patchedRatio: 3.2 / 12 }],
    moved: 1,
  });
});

test("reports the function's own time if the time for each packet is known", () => {
  const { changedFunctions } = explain(router, slowLookup, byTime(120, 150));
  expect(changedFunctions).toHaveLength(1);
  expect(changedFunctions[0]?.nsPerPacket?.base).toBeCloseTo(10, 9);
  expect(changedFunctions[0]?.nsPerPacket?.patched).toBeCloseTo(40, 9);
});

test('finds a slowdown of all functions by the time, and not by shares', () => {
  expect(explain(router, router)).toEqual({ changedFunctions: [], moved: 0 });
  expect(namesOf(explain(router, router, byTime(100, 200)))).toEqual([
    'ip_input',
    'ip_output',
    'ether_output',
    'bcopy',
    'fib4_lookup',
  ]);
});

test('a function that was replaced is named, and the one in its place', () => {
  const { lookup, ...rest } = { lookup: 600, input: 3_000, output: 2_400 };
  const base = profileOf({ ...rest, lookup });
  expect(namesOf(explain(base, profileOf({ ...rest, faster_lookup: 400 })))).toEqual(['lookup', 'faster_lookup']);
});

test('a function that kept its share is not named, though those of most others fell', () => {
  const rest = { input: 2_000, output: 2_000, transmit: 2_000 };
  const base = profileOf({ ...rest, checksum: 2_000, lookup: 1_000 });
  const patched = profileOf({
    input: 1_600,
    output: 1_600,
    transmit: 1_600,
    checksum: 2_000,
    lookup: 2_200,
  });
  expect(namesOf(explain(base, patched))).toEqual(['lookup']);
});

test('half a percent of all cycles is too little, however many samples show it', () => {
  const base = profileOf({ input: 50e6, output: 49e6, lookup: 1e6 });
  const little = profileOf({ input: 50e6, output: 48.5e6, lookup: 1.5e6 });
  const enough = profileOf({ input: 50e6, output: 48e6, lookup: 2e6 });
  expect(explain(base, little).moved).toBe(0);
  expect(namesOf(explain(base, enough))).toEqual(['lookup']);
});

describe('a function is the same', () => {
  const rest = { 'input /boot/base/kernel': 5_000, 'output /boot/base/kernel': 4_000 };

  test('in a kernel of another folder, also where two modules have its name', () => {
    const kernelIn = (folder: string) =>
      profileOf({ [`hash ${folder}/kernel`]: 5_000, [`hash ${folder}/pf.ko`]: 4_000 });
    expect(explain(kernelIn('/boot/base'), kernelIn('/boot/patched')).moved).toBe(0);
  });

  test('but not where one profile has its name in two modules', () => {
    const base = profileOf({ ...rest, 'lookup pf.ko': 2_000, 'lookup ipfw.ko': 100 });
    const patched = profileOf({ ...rest, 'lookup pf.ko': 100, 'lookup ipfw.ko': 2_000 });
    const { changedFunctions } = explain(base, patched);
    expect(changedFunctions.map(({ module }) => module).toSorted()).toEqual(['ipfw.ko', 'pf.ko']);
  });
});

test('of fifteen changed functions the ten greatest are named, greatest first, and all are counted', () => {
  const names = Array.from({ length: 15 }, (_, index) => `f${index}`);
  const calm = {
    a: 40_000,
    b: 40_000,
    ...Object.fromEntries(names.map((name) => [`${name}x`, 5_000])),
  };
  const moved = names.map((name, index): [string, number] => [name, 6_000 + 500 * index]);
  const { changedFunctions, moved: all } = explain(
    profileOf({ ...calm, gone: 100_000 }),
    profileOf({ ...calm, ...Object.fromEntries(moved) }),
    byTime(255, 297.5),
  );
  expect(all).toBe(16);
  expect(changedFunctions.map((changedFunction) => changedFunction.function)).toEqual([
    'gone',
    ...names.toReversed().slice(0, 9),
  ]);
});

const anyProfile = fc
  .dictionary(fc.constantFrom(...'abcdefghijklmnopqrst'), fc.integer({ min: 1, max: 5_000 }), {
    minKeys: 1,
  })
  .map(profileOf);
const anyTime = fc.option(
  fc
    .tuple(fc.integer({ min: 50, max: 500 }), fc.integer({ min: 50, max: 500 }))
    .map(([base, patched]) => byTime(base, patched)),
  { nil: undefined },
);

test('the other way round the same functions move, back', () => {
  fc.assert(
    fc.property(anyProfile, anyProfile, anyTime, (base, patched, time) => {
      const there = explain(base, patched, time);
      const back = explain(patched, base, time && byTime(time.patched, time.base));
      const turned = back.changedFunctions.map(({ baseRatio, patchedRatio, nsPerPacket, ...rest }) => ({
        ...rest,
        baseRatio: patchedRatio,
        patchedRatio: baseRatio,
        ...(nsPerPacket && {
          nsPerPacket: { base: nsPerPacket.patched, patched: nsPerPacket.base },
        }),
      }));
      expect(back.moved).toBe(there.moved);
      if (there.moved > 10) return;
      expect(new Set(turned)).toEqual(new Set(there.changedFunctions));
    }),
  );
});

test('the same shares are no change, however many samples show them', () => {
  fc.assert(
    fc.property(anyProfile, fc.integer({ min: 1, max: 50 }), (profile, factor) => {
      expect(explain(profile, scaled(profile, factor)).moved).toBe(0);
    }),
  );
});

test('more samples of the same name no fewer functions, with the same shares', () => {
  fc.assert(
    fc.property(anyProfile, anyProfile, anyTime, (base, patched, time) => {
      const few = explain(base, patched, time);
      const many = explain(scaled(base, 16), scaled(patched, 16), time);
      expect(many.moved).toBeGreaterThanOrEqual(few.moved);
      if (many.moved > 10) return;
      expect(many.changedFunctions).toEqual(expect.arrayContaining(few.changedFunctions));
    }),
  );
});

describe('profiles of two boots of one kernel', () => {
  const costs = Array.from({ length: 60 }, (_, index) => 0.9 ** index);
  /** Each function 2 % dearer or cheaper than usual, sampled in bursts of 1.5. */
  const boot = (random: RandomGenerator, samples: number): Profile => {
    const own = costs.map((cost) => cost * Math.exp(0.02 * standardNormal(random)));
    const ends = own.map((_, index) => own.slice(0, index + 1).reduce((sum, cost) => sum + cost));
    const counts = new Array<number>(own.length).fill(0);
    for (let left = samples; left > 0; ) {
      const burst = Math.min(left, 1 + Math.floor(-Math.log(1 - uniformFloat64(random)) / Math.log(3)));
      const place = uniformFloat64(random) * (ends.at(-1) ?? 0);
      const index = ends.findIndex((end) => place < end);
      counts[index] = (counts[index] ?? 0) + burst;
      left -= burst;
    }
    return profileOf(Object.fromEntries(counts.map((count, index) => [`f${index}`, count])));
  };

  test.for([
    [3_000, 300],
    [30_000, 60],
  ] as const)('with %d samples fewer than 1 in 100 pairs name a function', ([samples, pairs]) => {
    const random = xoroshiro128plus(samples);
    const wrong = Array.from({ length: pairs }, () => explain(boot(random, samples), boot(random, samples))).filter(
      ({ moved }) => moved > 0,
    );
    expect(wrong.length).toBeLessThanOrEqual(pairs / 100);
  });

  test('4 % of all cycles more in one function are found with 30,000 samples', () => {
    const random = xoroshiro128plus(5);
    const found = Array.from({ length: 20 }, () => {
      const { stacks, ...rest } = boot(random, 30_000);
      const dearer = stacks.map((stack, index) => (index === 5 ? { ...stack, samples: stack.samples + 1_200 } : stack));
      return namesOf(explain(boot(random, 30_000), { ...rest, stacks: dearer }));
    });
    expect(found).toEqual(new Array(20).fill(['f5']));
  });
});

describeWith(['shared/corpus/profiles'], 'profiles of a patch to ipfw', () => {
  const read = (file: string): Profile => {
    const text = readFileSync(sharedFolder(`corpus/profiles/${file}`), 'utf8');
    return withoutIdle(parseProfile(text)).profile;
  };

  test('name the replaced lookup, and the locks that are no longer taken', () => {
    const base = read('bench.325006.inet4.1.pmc.graph');
    const patched = read('bench.325006D12685.inet4.1.pmc.graph');
    const time = byTime(1e9 / 4.982e6, 1e9 / 5.397e6);
    for (const reason of [explain(base, patched), explain(base, patched, time)]) {
      expect(namesOf(reason).slice(0, 4)).toEqual([
        'lookup_dyn_rule_locked',
        'dyn_lookup_ipv4_state',
        '__mtx_lock_flags',
        '__mtx_unlock_flags',
      ]);
    }
  });
});
