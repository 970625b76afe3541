// Patches that are measured together: what they share, and that each of them fares as it would alone.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { type Arm, buildLogOf, heardBy, inWordsOf } from '../../src/experiment/arms.ts';
import { assembleResult } from '../../src/experiment/assemble.ts';
import { cellsSoFar } from '../../src/experiment/cells.ts';
import {
  BaseRejectedError,
  type ExperimentEvent,
  nextBlast,
  runExperiment,
} from '../../src/experiment/experiment.ts';
import type { Entry } from '../../src/experiment/journal.ts';
import { makePlan, type Plan } from '../../src/experiment/plan.ts';
import { standings } from '../../src/stats/standing.ts';
import type { PlannedBlast } from '../../src/words/planned-blast.ts';
import type { Cell } from '../../src/words/scenario.ts';
import { armName } from '../../src/words/variant-name.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aConfig, overlays, singleRuns } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';
import { type FakeTestbed, type FakeTestbedOptions, fakeTestbed } from '../fakes/testbed.ts';
import { times } from '../random.ts';

const now = () => new Date('2026-11-20T12:00:00.000Z');

const twoCells = (
  seed: number,
  gate: Partial<Config['gate']> = {},
  scenarios: readonly string[] = ['forwarding', 'nftables-stateless'],
): Plan =>
  makePlan(
    {
      patch: pullRequest,
      config: aConfig({
        ...singleRuns,
        scenarios: [...scenarios],
        gate: { ...singleRuns.gate, ...gate },
      }),
      ...{ testbed: 'fake', seed },
    },
    overlays,
    [],
  );
const own = twoCells(1);
/** Six pairs, whatever they show. */
const sixPairs = (seed: number) => twoCells(seed, { design: 'fixed', maxRunsPerVariant: 6 });

const onAnotherBase = (plan: Plan): Plan => ({
  ...plan,
  variants: plan.variants.map((one) =>
    one.variant === 'base'
      ? { ...one, files: [{ path: 'etc/rc.conf', sha256: '0', mode: '644' as const, content: '' }] }
      : one,
  ),
});

const withFlows = (plan: Plan, flows: number): Plan => ({
  ...plan,
  traffic: { ...plan.traffic, flows },
});

/** Another patch, and how many blasts were sent when it comes; its work directory is kept in memory. */
type Guest = Arm & {
  journal: { entries: Entry[] };
  logs: Map<string, string>;
  events: ExperimentEvent[];
  after: number;
};

function aGuest(number: number, changes: Partial<Guest> & { entries?: Entry[] } = {}): Guest {
  const { entries = [] } = changes;
  const logs = new Map<string, string>();
  const events: ExperimentEvent[] = [];
  return {
    name: armName(number),
    plan: twoCells(number),
    journal: { entries, append: async (entry) => void entries.push(entry) },
    keepLogIn: (folder) => async (name, content) =>
      void logs.set(`${folder}/${name}`, `${content}`),
    onEvent: (event) => void events.push(event),
    signal: new AbortController().signal,
    ...{ logs, events, after: 0 },
    ...changes,
  };
}

type Setup = FakeTestbedOptions & {
  plan?: Plan;
  guests?: readonly Guest[];
  onEvent?: (event: ExperimentEvent) => unknown;
  onBlast?: (sent: number) => unknown;
  directory?: string;
  signal?: AbortSignal;
  /** Whether the testbed has a kernel by then. */
  isBuilt?: (variant: string, sent: number) => boolean;
  ownEnded?: (entries: readonly Entry[]) => Promise<void>;
};

async function together({
  plan = own,
  guests = [],
  onEvent = () => {},
  onBlast = () => {},
  directory = temporaryFolder(),
  signal = new AbortController().signal,
  isBuilt = () => true,
  ownEnded = async () => {},
  ...options
}: Setup) {
  const testbed: FakeTestbed = fakeTestbed({ boots: true, ...options });
  const sent: PlannedBlast[] = [];
  const { blast } = testbed;
  testbed.blast = (planned, ...rest) => {
    sent.push(planned);
    onBlast(sent.length);
    return blast(planned, ...rest);
  };
  const waiting = new Set(guests);
  const joined = async () => {
    const come = [...waiting].filter(({ after }) => sent.length >= after);
    for (const guest of come) waiting.delete(guest);
    return come;
  };
  const { ready } = testbed;
  testbed.ready = () => new Set([...ready()].filter((variant) => isBuilt(variant, sent.length)));
  const entries = await runExperiment({
    ...{ directory, plan, testbed, now, signal, company: { joined, ownEnded } },
    onEvent: (event) => void onEvent(event),
  });
  return { entries, sent, testbed };
}

/** Boots as the testbed would make them: another variant or another pair. */
const bootsOf = (sent: readonly PlannedBlast[]): string[] =>
  sent.flatMap(({ runs: [run] }, index) => {
    const before = sent[index - 1]?.runs[0];
    const isSame = run?.variant === before?.variant && run?.pair === before?.pair;
    return isSame ? [] : (run?.variant ?? '');
  });

const verdictsOf = (plan: Plan, entries: readonly Entry[]): string[] => {
  const { outcome } = assembleResult(plan, entries);
  return outcome.kind === 'judged'
    ? outcome.cells.map(({ verdict }) => verdict.kind)
    : [outcome.kind];
};

/** What the testbed calls an arm; the first is the own one. */
const nameOf = (index: number): string => (index === 0 ? 'patched' : armName(index + 1));

const guestsOf = (count: number, planOf = twoCells) =>
  Array.from({ length: count }, (_, index) => aGuest(index + 2, { plan: planOf(index + 2) }));

const kinds = (entries: readonly Entry[]) => entries.map(({ kind }) => kind);
/** Nothing stands apart, and comes again for that. */
const noise = 0;

/** Each blast of six pairs was measured, and the journal has ended. */
function expectWhole(entries: readonly Entry[]): void {
  const numbers = entries.flatMap((entry) =>
    entry.kind === 'measured' ? entry.summary.number : [],
  );
  expect(new Set(numbers).size).toBe(24);
  expect(kinds(entries).at(-1)).toBe('finished');
}

const rejectedBy = (variant: string) =>
  ({
    kind: 'rejected',
    variant,
    rejection: { kind: 'panics-under-load', message: `Twice, with ${variant}, under 2000 flows.` },
  }) as const;

describe('arms that come at once', () => {
  test.for([2, 3, 5])('%i of them take k + 1 boots a pair, and not 2 k', async (arms) => {
    const guests = guestsOf(arms - 1, sixPairs);
    const { sent, entries } = await together({ plan: sixPairs(1), guests, noise });
    expect(bootsOf(sent)).toHaveLength(6 * (arms + 1));
    expect(sent).toHaveLength(2 * 6 * (arms + 1));
    for (const one of [entries, ...guests.map(({ journal }) => journal.entries)]) {
      expectWhole(one);
    }
  });

  test('have the verdicts that each would have alone, and one that is decided gets no more runs', async () => {
    const speeds = [1, 0.6, 1];
    const noise = 0.03;
    const guests = guestsOf(2);
    const speed = (_: Cell, variant: string) =>
      speeds.find((_, index) => nameOf(index) === variant) ?? 1;
    const { entries, sent } = await together({ guests, speed, noise });
    const journals = [entries, ...guests.map(({ journal }) => journal.entries)];
    for (const [index, ratio] of speeds.entries()) {
      const plan = twoCells(index + 1);
      const alone = await together({ plan, speed: () => ratio, noise });
      expect(verdictsOf(plan, journals[index] ?? [])).toEqual(verdictsOf(plan, alone.entries));
    }
    expect(verdictsOf(own, entries)).toEqual(['no-regression', 'no-regression']);
    const ofDecided = sent.filter(({ runs: [run] }) => run?.variant === armName(2)).length;
    const ofOwn = sent.filter(({ runs: [run] }) => run?.variant === 'patched').length;
    expect(ofDecided).toBeLessThan(ofOwn);
    expect(guests[0]?.journal.entries.at(-1)?.kind).toBe('finished');
  });

  test('write each run down under the numbers of their own plans', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    await together({ plan: sixPairs(1), guests: [guest], noise });
    const runs = guest.journal.entries.flatMap((entry) =>
      entry.kind === 'measured' ? entry.runs : [],
    );
    const planned = guest.plan.blasts.flatMap((blast) =>
      blast.runs.map((run) => ({ ...run, blast: blast.number, attempt: 1 })),
    );
    expect(
      runs
        .map(({ number, blast, attempt, pair, variant }) => {
          return { number, variant, pair, blast, attempt };
        })
        .toSorted((one, other) => one.number - other.number),
    ).toEqual(planned);
  });

  test('each get the logs of their runs, of shared ones too', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    await together({ plan: sixPairs(1), guests: [guest], noise });
    const folders = guest.journal.entries.flatMap((entry) =>
      entry.kind === 'measured' ? `${entry.summary.logs}/dut.log` : [],
    );
    expect([...guest.logs.keys()]).toEqual(folders);
    expect(folders.toSorted()[0]).toMatch(/^blasts\/001-\w+(-\w+)?-inet4\/dut.log$/);
  });

  test('each hear of what is theirs, in the words of their own plan', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    await together({ plan: sixPairs(1), guests: [guest], noise });
    const heard = guest.events.map(({ kind }) => kind);
    expect(heard.filter((kind) => kind === 'blast')).toHaveLength(24);
    expect(heard.filter((kind) => kind === 'ended')).toHaveLength(24);
    expect(heard.filter((kind) => kind === 'decided')).toHaveLength(2);
    expect(heard[0]).toBe('planned');
  });

  test('each have their profiles taken, of base and of their own', async () => {
    const profile = { seconds: 2 };
    const guests = guestsOf(2, (number) => ({ ...sixPairs(number), profile }));
    const plan = { ...sixPairs(1), profile };
    const { entries } = await together({ plan, guests, noise });
    for (const one of [entries, ...guests.map(({ journal }) => journal.entries)]) {
      const profiles = one.flatMap((entry) => (entry.kind === 'profiled' ? entry.profile : []));
      expect(profiles.map(({ kind, variant }) => `${kind} ${variant}`).toSorted()).toEqual([
        ...['profiled base', 'profiled base', 'profiled patched', 'profiled patched'],
      ]);
      expect(one.at(-1)?.kind).toBe('finished');
    }
    expect([...(guests[0]?.logs.keys() ?? [])]).toContain(
      'profiles/forwarding-inet4-patched/stacks.txt',
    );
  });
});

describe('an arm', () => {
  test('that comes late shares runs from then on, and none of before', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    const { sent, entries } = await together({
      ...{ plan: sixPairs(1), noise },
      guests: [{ ...guest, after: 8 }],
    });
    // Of the own pairs two are over, and the boot of base that runs serves the other's first; its last two are measured alone.
    expect(bootsOf(sent)).toHaveLength(4 + 3 * 5);
    expectWhole(entries);
    expectWhole(guest.journal.entries);
  });

  test('whose kernel is being built keeps nobody waiting, and shares runs once it is there', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    const { sent, entries } = await together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      isBuilt: (variant, sent) => variant !== guest.name || sent >= 8,
    });
    expect(sent.slice(0, 8).some(({ runs: [run] }) => run?.variant === guest.name)).toBe(false);
    expect(bootsOf(sent)).toHaveLength(4 + 3 * 5);
    expectWhole(entries);
    expectWhole(guest.journal.entries);
  });

  test('that was cut short goes on where it was', async () => {
    const guest = aGuest(2, { plan: sixPairs(2) });
    const whole = [...(await together({ plan: sixPairs(2), noise })).entries];
    const resumed = aGuest(2, { plan: sixPairs(2), entries: whole.slice(0, 18) });
    const { entries } = await together({ plan: sixPairs(1), guests: [resumed], noise });
    expectWhole(entries);
    const numbers = resumed.journal.entries.flatMap((entry) =>
      entry.kind === 'measured' ? entry.summary.number : [],
    );
    expect(numbers.toSorted((one, other) => one - other)).toEqual(
      guest.plan.blasts.map(({ number }) => number),
    );
  });

  test('for which nobody waits any more gets no further run, and the others all of theirs', async () => {
    const gone = new AbortController();
    const guest = aGuest(2, { plan: sixPairs(2), signal: gone.signal });
    const { entries, sent } = await together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      onBlast: (count) => count === 8 && gone.abort(new Error('superseded')),
    });
    expect(sent.slice(8).filter(({ runs: [run] }) => run?.variant === guest.name)).toEqual([]);
    expectWhole(entries);
    expect(kinds(guest.journal.entries)).not.toContain('finished');
  });

  test('with which nothing can be measured is left out, and told so as if it were alone', async () => {
    const [bad = aGuest(2), good = aGuest(3)] = guestsOf(2, sixPairs);
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [bad, good], noise },
      rejects: ({ runs: [run] }) => (run?.variant === bad.name ? rejectedBy(bad.name) : undefined),
    });
    expect(bad.journal.entries.at(-1)).toEqual({
      ...{ at: now().toISOString(), ...rejectedBy('patched') },
    });
    expectWhole(entries);
    expectWhole(good.journal.entries);
  });

  test('that cannot be readied is left out before any packet is sent for it', async () => {
    const [bad = aGuest(2)] = guestsOf(1, sixPairs);
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [bad], noise, unready: [rejectedBy(bad.name)] },
    });
    expect(kinds(bad.journal.entries)).toEqual(['started', 'rejected']);
    expectWhole(entries);
  });

  test.for(['its journal', 'its logs', 'its onlookers'])(
    'whose process cannot take %s is left out, and the own patch goes on',
    async (what) => {
      const fails = () => {
        throw new Error('No space left on device.');
      };
      const [plain = aGuest(2)] = guestsOf(1, sixPairs);
      const guest = {
        ...plain,
        ...(what === 'its journal' && { journal: { ...plain.journal, append: fails } }),
        ...(what === 'its logs' && { keepLogIn: () => fails }),
        ...(what === 'its onlookers' && { onEvent: fails }),
      };
      const heard: string[] = [];
      const { entries, sent } = await together({
        ...{ plan: sixPairs(1), guests: [guest], noise },
        onEvent: (event) => event.kind === 'told' && heard.push(event.text),
      });
      expect(heard).toEqual(['patched of 2 is measured no more: No space left on device.']);
      expectWhole(entries);
      expect(sent.filter(({ runs: [run] }) => run?.variant === guest.name)).toEqual([]);
    },
  );

  test.for<[string, Partial<Guest>]>([
    ['on another base', { plan: onAnotherBase(sixPairs(2)) }],
    ['with other traffic', { plan: withFlows(sixPairs(2), 1) }],
    ['whose name is no name of an arm', { name: 'patched of ../../boot' }],
    ['with the name of base', { name: 'base' }],
  ])('%s cannot come aboard', async ([, changes]) => {
    const guest = aGuest(2, changes);
    const { entries, sent } = await together({ plan: sixPairs(1), guests: [guest], noise });
    expect(guest.journal.entries).toEqual([]);
    expect(sent).toHaveLength(24);
    expectWhole(entries);
  });
});

describe('the own patch', () => {
  test('with which nothing can be measured does not end the others, and nobody comes any more', async () => {
    const [guest = aGuest(2), late = aGuest(3)] = guestsOf(2, sixPairs);
    const { entries } = await together({
      ...{ plan: sixPairs(1), noise, guests: [guest, { ...late, after: 12 }] },
      rejects: ({ runs: [run] }) =>
        run?.variant === 'patched' ? rejectedBy('patched') : undefined,
    });
    expect(entries.at(-1)?.kind).toBe('rejected');
    expectWhole(guest.journal.entries);
    expect(late.journal.entries).toEqual([]);
  });

  test('need not wait for the others with its result', async () => {
    const guest = aGuest(2, { plan: sixPairs(2), after: 20 });
    const heard: string[] = [];
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      async ownEnded(entries) {
        heard.push(...[entries, guest.journal.entries].map((one) => kinds(one).at(-1) ?? ''));
      },
    });
    expect(heard).toEqual(['finished', 'measured']);
    expectWhole(entries);
    expectWhole(guest.journal.entries);
  });

  test('that is cancelled ends all, and every arm keeps what it has', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    const cancel = new AbortController();
    const cancelled = together({
      ...{ plan: sixPairs(1), guests: [guest], noise, signal: cancel.signal },
      onBlast: (count) => count === 10 && cancel.abort(new Error('cancelled')),
    });
    await expect(cancelled).rejects.toThrow('cancelled');
    expect(kinds(guest.journal.entries)).toContain('measured');
    expect(kinds(guest.journal.entries)).not.toContain('finished');
  });

  test('that is finished keeps its result where the testbed is lost for the others', async () => {
    const guest = aGuest(2, { plan: sixPairs(2), after: 20 });
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      onBlast: (count) => {
        if (count === 40) throw new Error('The connection to the DUT was lost.');
      },
    });
    expectWhole(entries);
    expect(kinds(guest.journal.entries)).not.toContain('finished');
  });

  test('is broken off where the testbed is lost, and every arm keeps what it has', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    const lost = together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      onBlast: (count) => {
        if (count === 10) throw new Error('The connection to the DUT was lost.');
      },
    });
    await expect(lost).rejects.toThrow('The connection to the DUT was lost.');
    expect(kinds(guest.journal.entries)).toContain('measured');
  });

  test('is judged as ever where base cannot be measured: nobody is', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    const outcome = together({
      ...{ plan: sixPairs(1), guests: [guest], noise },
      rejects: ({ runs: [run] }) => (run?.variant === 'base' ? rejectedBy('base') : undefined),
    });
    await expect(outcome).rejects.toThrow(BaseRejectedError);
    expect(kinds(guest.journal.entries)).toEqual(['started']);
  });
});

test('a blast of base that fails counts as a try for everyone whom it was for', async () => {
  const [guest = aGuest(2)] = guestsOf(1, sixPairs);
  const first = Math.max(...sixPairs(1).blasts.map(({ number }) => number)) + 1;
  const { entries } = await together({
    ...{ plan: sixPairs(1), guests: [guest], noise },
    faults: (blast) => (blast === first ? ['fails'] : []),
  });
  for (const one of [entries, guest.journal.entries]) {
    expect(kinds(one)).toContain('failed');
    const again = one.filter((entry) => entry.kind === 'measured' && entry.summary.attempt === 2);
    expect(again).toHaveLength(1);
  }
});

test('what is told of a build is heard by those whose kernel it is, and of base by all', () => {
  const [second, twelfth] = [aGuest(2), aGuest(12)];
  const mine = { ...aGuest(1), name: 'patched' };
  const arms = [second, mine, twelfth];
  expect(heardBy('building the kernel of base', arms)).toEqual(arms);
  expect(heardBy('building the kernel of patched', arms)).toEqual([mine]);
  expect(heardBy('building the kernel of patched of 12', arms)).toEqual([twelfth]);
  expect(inWordsOf(twelfth, 'patched of 12: 40 % of the objects')).toBe(
    'patched: 40 % of the objects',
  );
  expect(inWordsOf(second, '/boot/ppsgate.patched-of-2/kernel did not come up')).toBe(
    '/boot/ppsgate.patched/kernel did not come up',
  );
});

test('the log of a build goes to the patch whose kernel it is, under the name that it has alone', () => {
  const [second, twelfth] = [aGuest(2), aGuest(12)];
  const arms = [second, twelfth];
  expect(buildLogOf('patched-of-12-build.log', arms)).toEqual({
    ...{ arm: twelfth, name: 'patched-build.log' },
  });
  expect(buildLogOf('patched-build.log', arms)).toBeUndefined();
  expect(buildLogOf('base-build.log', arms)).toBeUndefined();
});

/** What a plan makes of what came before an entry: whether its blast was one to measure, and which try it was. */
function followsFrom(plan: Plan, before: readonly Entry[], entry: Entry): boolean {
  if (entry.kind !== 'measured' && entry.kind !== 'failed') return true;
  const number = entry.kind === 'measured' ? entry.summary.number : entry.blast;
  const due = standings(cellsSoFar(plan, before), plan.policy).flatMap(({ closed, input }) =>
    closed ? [] : input.open,
  );
  const next = due.find(({ blast }) => blast.number === number);
  if (next === undefined) return false;
  if (entry.kind === 'failed') return true;
  const isPlanned = entry.runs.every(({ number, variant, pair }) =>
    isDeepStrictEqual(next.blast.runs, [{ number, variant, pair }]),
  );
  const attempts = [entry.summary, ...entry.runs].map(({ attempt }) => attempt);
  return isPlanned && attempts.every((attempt) => attempt === next.tries.length + 1);
}

const stories = fc.record({
  seed: fc.nat(1000),
  noise: fc.constantFrom(0.003, 0.02, 0.1),
  /** The first is the own patch, for which nobody waits. */
  arms: fc.array(
    fc.record({
      cells: fc.constantFrom(
        ['forwarding'],
        ['forwarding', 'pf-stateless'],
        ['pf-stateless', 'forwarding', 'ipfw-stateful'],
      ),
      speed: fc.constantFrom(0.8, 0.96, 1, 1.1),
      after: fc.nat(30),
      /** Blasts of its runs alone, with which it comes. */
      before: fc.constantFrom(0, 0, 3, 8),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  faults: fc.array(fc.constantFrom('fails', 'hole', 'idle', undefined, undefined, undefined), {
    minLength: 20,
    maxLength: 20,
  }),
});

test('every journal is one that its plan alone could have led to, and all come to their end', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ seed, noise, arms, faults }) => {
      const speed = (_: Cell, variant: string) =>
        arms.find((_, index) => nameOf(index) === variant)?.speed ?? 1;
      const options = {
        ...{ seed, noise, speed },
        faults: (blast: number) => [faults[blast % faults.length]],
      };
      const planOf = (index: number) =>
        twoCells(index, { maxRunsPerVariant: 6 }, arms[index]?.cells);
      const guests: Guest[] = [];
      for (const [index, { after, before }] of arms.entries()) {
        if (index === 0) continue;
        const plan = planOf(index);
        const alone = before === 0 ? [] : (await together({ ...options, plan })).entries;
        const entries = alone.slice(0, before).filter(({ kind }) => kind !== 'finished');
        guests.push(aGuest(index + 1, { plan, entries, after }));
      }
      const plan = planOf(0);
      const { entries } = await together({ ...options, plan, guests });
      const journals = [
        { plan, entries },
        ...guests
          .filter(({ events }) => events.length > 0)
          .map((guest) => ({ plan: guest.plan, entries: guest.journal.entries })),
      ];
      for (const { plan, entries } of journals) {
        for (const [index, entry] of entries.entries()) {
          expect(followsFrom(plan, entries.slice(0, index), entry)).toBe(true);
        }
        expect(nextBlast(plan, entries)).toBeUndefined();
        expect(entries.at(-1)?.kind).toBe('finished');
      }
    }),
    { numRuns: times(10) },
  );
});
