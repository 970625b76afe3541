// Patches that are measured together: what they share, and that each of them fares as it would alone.
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import type { Arm } from '../../src/experiment/arms.ts';
import { assembleResult } from '../../src/experiment/assemble.ts';
import {
  BaseRejectedError,
  type ExperimentEvent,
  runExperiment,
} from '../../src/experiment/experiment.ts';
import type { Entry } from '../../src/experiment/journal.ts';
import { makePlan, type Plan } from '../../src/experiment/plan.ts';
import type { PlannedBlast } from '../../src/words/planned-blast.ts';
import type { Cell } from '../../src/words/scenario.ts';
import { armName } from '../../src/words/variant-name.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aConfig, overlays, singleRuns } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';
import { type FakeTestbed, type FakeTestbedOptions, fakeTestbed } from '../fakes/testbed.ts';

const now = () => new Date('2026-11-20T12:00:00.000Z');

const twoCells = (seed: number, gate: Partial<Config['gate']> = {}): Plan =>
  makePlan(
    {
      patch: pullRequest,
      config: aConfig({
        ...singleRuns,
        scenarios: ['forwarding', 'nftables-stateless'],
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
};

async function together({
  plan = own,
  guests = [],
  onEvent = () => {},
  onBlast = () => {},
  directory = temporaryFolder(),
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
  const { signal } = new AbortController();
  const entries = await runExperiment({
    ...{ directory, plan, testbed, now, signal, company: { joined } },
    onEvent: (event) => void onEvent(event),
  });
  return { entries, sent, testbed };
}

/** As the testbed would boot: another variant or another pair. */
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

const guestsOf = (count: number, planOf = twoCells) =>
  Array.from({ length: count }, (_, index) => aGuest(index + 2, { plan: planOf(index + 2) }));

const kinds = (entries: readonly Entry[]) => entries.map(({ kind }) => kind);
const seed = 2;

/** Each blast of six pairs was measured, and the journal has ended; a run that stands apart may have come again. */
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
    const { sent, entries } = await together({ plan: sixPairs(1), guests, seed });
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
    const nameAt = (index: number) => (index === 0 ? 'patched' : armName(index + 1));
    const speed = (_: Cell, variant: string) =>
      speeds.find((_, index) => nameAt(index) === variant) ?? 1;
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
    await together({ plan: sixPairs(1), guests: [guest], seed });
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
    await together({ plan: sixPairs(1), guests: [guest], seed });
    const folders = guest.journal.entries.flatMap((entry) =>
      entry.kind === 'measured' ? `${entry.summary.logs}/dut.log` : [],
    );
    expect([...guest.logs.keys()]).toEqual(folders);
    expect(folders.toSorted()[0]).toMatch(/^blasts\/001-\w+(-\w+)?-inet4\/dut.log$/);
  });

  test('each hear of what is theirs, in the words of their own plan', async () => {
    const [guest = aGuest(2)] = guestsOf(1, sixPairs);
    await together({ plan: sixPairs(1), guests: [guest], seed });
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
    const { entries } = await together({ plan, guests, seed });
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
      ...{ plan: sixPairs(1), seed },
      guests: [{ ...guest, after: 8 }],
    });
    // Of the own pairs two are over, and the boot of base that runs serves the other's first; its last two are measured alone.
    expect(bootsOf(sent)).toHaveLength(4 + 3 * 5);
    expectWhole(entries);
    expectWhole(guest.journal.entries);
  });

  test('that was cut short goes on where it was', async () => {
    const guest = aGuest(2, { plan: sixPairs(2) });
    const whole = [...(await together({ plan: sixPairs(2), seed })).entries];
    const resumed = aGuest(2, { plan: sixPairs(2), entries: whole.slice(0, 18) });
    const { entries } = await together({ plan: sixPairs(1), guests: [resumed], seed });
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
      ...{ plan: sixPairs(1), guests: [guest], seed },
      onBlast: (count) => count === 8 && gone.abort(new Error('superseded')),
    });
    expect(sent.slice(8).filter(({ runs: [run] }) => run?.variant === guest.name)).toEqual([]);
    expectWhole(entries);
    expect(kinds(guest.journal.entries)).not.toContain('finished');
  });

  test('with which nothing can be measured is left out, and told so as if it were alone', async () => {
    const [bad = aGuest(2), good = aGuest(3)] = guestsOf(2, sixPairs);
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [bad, good], seed },
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
      ...{ plan: sixPairs(1), guests: [bad], seed, unready: [rejectedBy(bad.name)] },
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
        ...{ plan: sixPairs(1), guests: [guest], seed },
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
    const { entries, sent } = await together({ plan: sixPairs(1), guests: [guest], seed });
    expect(guest.journal.entries).toEqual([]);
    expect(sent).toHaveLength(24);
    expectWhole(entries);
  });
});

describe('the own patch', () => {
  test('with which nothing can be measured does not end the others, and nobody comes any more', async () => {
    const [guest = aGuest(2), late = aGuest(3)] = guestsOf(2, sixPairs);
    const { entries } = await together({
      ...{ plan: sixPairs(1), seed, guests: [guest, { ...late, after: 12 }] },
      rejects: ({ runs: [run] }) =>
        run?.variant === 'patched' ? rejectedBy('patched') : undefined,
    });
    expect(entries.at(-1)?.kind).toBe('rejected');
    expectWhole(guest.journal.entries);
    expect(late.journal.entries).toEqual([]);
  });

  test('that is finished keeps its result where the testbed is lost for the others', async () => {
    const guest = aGuest(2, { plan: sixPairs(2), after: 20 });
    const { entries } = await together({
      ...{ plan: sixPairs(1), guests: [guest], seed },
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
      ...{ plan: sixPairs(1), guests: [guest], seed },
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
      ...{ plan: sixPairs(1), guests: [guest], seed },
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
    ...{ plan: sixPairs(1), guests: [guest], seed },
    faults: (blast) => (blast === first ? ['fails'] : []),
  });
  for (const one of [entries, guest.journal.entries]) {
    expect(kinds(one)).toContain('failed');
    const again = one.filter((entry) => entry.kind === 'measured' && entry.summary.attempt === 2);
    expect(again).toHaveLength(1);
  }
});
