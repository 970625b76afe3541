// Patches that wait for one testbed and are measured together: gates of several processes on one fake testbed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freebsdTestbedSchema } from '../src/config/freebsd-testbed.ts';
import { companyOf } from '../src/controller/company.ts';
import { assembleResult } from '../src/experiment/assemble.ts';
import { journalIn, readJournal } from '../src/experiment/journal.ts';
import { readPlan } from '../src/experiment/plan.ts';
import { gate, resumeGate, type World } from '../src/gate.ts';
import type { Repository } from '../src/patch/repository.ts';
import { reserve } from '../src/reservation/lease.ts';
import { readLab, readLog } from '../src/reservation/records.ts';
import type { BlastOutcome } from '../src/testbed/testbed.ts';
import type { Patch } from '../src/words/patch.ts';
import { type Result, resultSchema } from '../src/words/result.ts';
import { temporaryFolder } from './fakes/folder.ts';
import { memoryHistory } from './fakes/history.ts';
import { aConfig, singleRuns } from './fakes/plan.ts';
import { aLab, type Process, type ReservationLab } from './fakes/reservation-lab.ts';
import { pullRequest } from './fakes/result.ts';
import { type FakeTestbedOptions, fakeTestbed } from './fakes/testbed.ts';

const alike = { '1': 1, '2': 1, '3': 1 };

test('patches of one base that wait for one testbed take k + 1 boots a pair, and not 2 k', async () => {
  const place = await aPlace({ truth: alike });
  const results = await place.judgeTogether(['1', '2', '3']);
  expect(verdictsOf(results)).toEqual(['no-regression', 'no-regression', 'no-regression']);
  const pairs = results.map((result) => cellsOf(result)[0]?.pairs ?? 0);
  expect(place.boots()).toBe(Math.max(...pairs) + pairs.reduce((sum, one) => sum + one));
  expect(await logOf(place)).toEqual([
    '1: no-regression',
    '2: measured together with #1',
    '3: measured together with #1',
  ]);
});

test('each patch gets the verdict that it gets alone, from runs that its own folder has with their logs', async () => {
  const truth = { '1': 1, '2': 0.8, '3': 1.3 };
  const place = await aPlace({ truth });
  const results = await place.judgeTogether(['1', '2', '3']);
  expect(verdictsOf(results)).toEqual(['no-regression', 'regression', 'improvement']);
  for (const [index, result] of results.entries()) {
    const alone = await aPlace({ truth });
    expect(verdictsOf(await alone.judgeTogether([String(index + 1)]))).toEqual(
      verdictsOf([result]),
    );
    const folder = place.folderOf(String(index + 1));
    expect(result.patch.headCommit).toBe(headOf(String(index + 1)));
    const plan = await readPlan(folder);
    expect(assembleResult(plan, await readJournal(journalIn(folder)))).toMatchObject({
      outcome: { kind: 'judged', verdict: verdictsOf([result])[0] },
    });
    for (const { logs } of result.blasts) {
      expect(readFileSync(join(folder, logs, 'dut.log'), 'utf8')).toMatch(
        /^blast \d+, attempt 1\n$/,
      );
    }
  }
});

test.for([
  ['panics under load', { kind: 'panics-under-load', message: 'Twice in a row: it panicked.' }],
  ['does not boot', { kind: 'boot-failed', message: 'Twice in a row: it hangs.' }],
] as const)('a patch that %s is left out, and the others are judged', async ([, rejection]) => {
  const place = await aPlace({ truth: alike, rejected: { '2': rejection } });
  const [first, second, third] = await place.judgeTogether(['1', '2', '3']);
  expect(second?.outcome).toEqual(rejection);
  expect(verdictsOf([first, third])).toEqual(['no-regression', 'no-regression']);
});

test('where the patch of whoever has the testbed is rejected, the others are served to their end', async () => {
  const rejection = { kind: 'boot-failed', message: 'Twice in a row: it hangs.' } as const;
  const place = await aPlace({ truth: alike, rejected: { '1': rejection } });
  const [first, ...others] = await place.judgeTogether(['1', '2', '3']);
  expect(first?.outcome).toEqual(rejection);
  expect(verdictsOf(others)).toEqual(['no-regression', 'no-regression']);
  expect(await logOf(place)).toContain('3: measured together with #1');
});

test.for([1, 2, 3, 6])(
  'whoever has the testbed is killed at blast %i: the others go on with what they have, and it later with what it has',
  async (blast) => {
    const place = await aPlace({ truth: { '1': 1, '2': 0.8, '3': 1 } });
    const [, ...others] = await place.begin(['1', '2', '3']);
    await place.kill('1', blast);
    expect(verdictsOf(await place.ended(others))).toEqual(['regression', 'no-regression']);
    expect(verdictsOf([await place.resume('1')])).toEqual(['no-regression']);
    for (const patch of ['1', '2', '3']) await eachBlastOnce(place.folderOf(patch));
  },
);

test.for([1, 3, 5])(
  'one that is measured by another is killed at blast %i, goes on later, and the others never mind',
  async (blast) => {
    const place = await aPlace({ truth: { '1': 1, '2': 0.8, '3': 1 } });
    const gates = await place.begin(['1', '2', '3']);
    await place.kill('2', blast);
    const others = gates.filter((_, index) => index !== 1);
    expect(verdictsOf(await place.ended(others))).toEqual(['no-regression', 'no-regression']);
    expect(verdictsOf([await place.resume('2')])).toEqual(['regression']);
    for (const patch of ['1', '2', '3']) await eachBlastOnce(place.folderOf(patch));
  },
);

test('one that is cancelled is measured no more, and the others never mind', async () => {
  const place = await aPlace({ truth: alike });
  const [first, second, third] = await place.begin(['1', '2', '3']);
  place.at(4, () => second?.process.cancel(new Error('enough')));
  const others = [first, third].flatMap((one) => one ?? []);
  expect(verdictsOf(await place.ended(others))).toEqual(['no-regression', 'no-regression']);
  await expect(second?.result).rejects.toThrow('enough');
});

test('whoever has the testbed has its result while the others are still measured', async () => {
  const place = await aPlace({ truth: { '1': 0.5, '2': 0.96, '3': 0.96 } });
  const [first, ...others] = await place.begin(['1', '2', '3']);
  const path = join(place.folderOf('1'), 'result.json');
  await place.until(() => existsSync(path));
  expect(others.map((one) => one.isOver())).toContain(false);
  expect(first?.isOver()).toBe(false);
  const results = await place.ended([first, ...others].flatMap((one) => one ?? []));
  expect(results[0]).toEqual(resultSchema.parse(JSON.parse(readFileSync(path, 'utf8'))));
});

test('never more are measured together than may be, and whoever is left has its turn', async () => {
  const place = await aPlace({ truth: alike, most: 2 });
  const results = await place.judgeTogether(['1', '2', '3']);
  expect(verdictsOf(results)).toEqual(['no-regression', 'no-regression', 'no-regression']);
  expect(place.mostAtOnce()).toBe(2);
});

async function eachBlastOnce(folder: string): Promise<void> {
  const tries = await triesIn(folder);
  expect(tries.length).toBeGreaterThan(0);
  expect(tries).toEqual([...new Set(tries)]);
}

type Truth = Record<string, number>;
type Rejection = Extract<BlastOutcome, { kind: 'rejected' }>['rejection'];

type PlaceOptions = {
  /** Speed of each patch, as a ratio to base. */
  truth: Truth;
  rejected?: Record<string, Rejection>;
  most?: number;
};

const headOf = (patch: string): string => patch.repeat(40);

const aPatch = (name: string): Patch => ({ ...pullRequest, headCommit: headOf(name) });

/** The diff of a patch says which one it is. */
const repository: Repository = {
  resolve: async (name) => name,
  mergeBase: async (first) => first,
  pathOf: async ({ path }) => path,
  list: async () => [],
  read: async () => '',
  idAt: async (commit) => commit,
  changedPaths: async () => ['sys/net/if.c'],
  diff: async (_, commit) => Buffer.from(commit),
  describe: async () => ({ subject: 'Look up less', author: 'alice' }),
};

const port = { interface: 'cxl0', mac: '00:07:43:2e:e5:92', inet4: '198.18.0.110' };
const testbeds = {
  x: freebsdTestbedSchema.parse({
    kind: 'freebsd',
    dut: { host: 'dut', ingress: { interface: 'cxl0' }, egress: { interface: 'cxl1' } },
    senders: [{ host: 'tx', ...port }],
    receiver: { host: 'rx', ...port, mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
    builder: { host: 'builder' },
  }),
};

type Running = {
  process: Process;
  result: Promise<Result>;
  isOver(): boolean;
};

/** One testbed, its queue, and gates that wait for it. */
async function aPlace({ truth, rejected = {}, most = 3 }: PlaceOptions) {
  const lab = await aLab();
  const config = aConfig({ ...singleRuns, testbeds });
  const folders = new Map<string, string>();
  const processes = new Map<string, Process>();
  const hooks = new Map<number, () => void>();
  const opened = Promise.withResolvers<void>();
  let booted = '';
  let boots = 0;
  let blasts = 0;
  let mostAtOnce = 0;
  /** What each variant of the testbed is, as it was readied. */
  let patches = new Map<string, string>();
  const patchOf = (variant: string) => patches.get(variant) ?? '';
  const options: FakeTestbedOptions = {
    boots: true,
    noise: 0.002,
    speed: (_, variant) => truth[patchOf(variant)] ?? 1,
    rejects({ runs: [run] }) {
      const rejection = run && rejected[patchOf(run.variant)];
      return rejection && { kind: 'rejected', variant: run.variant, rejection };
    },
  };
  const shared = fakeTestbed(options);

  const folderOf = (patch: string): string => {
    const folder = folders.get(patch) ?? temporaryFolder();
    folders.set(patch, folder);
    return folder;
  };

  /** A process that is killed does nothing more. */
  const whileAlive = async (process: Process): Promise<void> => {
    if (!process.isRunning()) await new Promise(() => {});
  };

  const testbedFor = (process: Process) => ({
    ...shared,
    async prepare(request: Parameters<typeof shared.prepare>[0]) {
      patches = new Map(
        request.variants.flatMap(({ variant, kernel }) =>
          kernel?.kind === 'tree' && kernel.diff !== undefined
            ? [[variant, Buffer.from(kernel.diff, 'base64').toString().slice(0, 1)]]
            : [],
        ),
      );
      mostAtOnce = Math.max(mostAtOnce, patches.size);
      return shared.prepare(request);
    },
    async blast(...wanted: Parameters<typeof shared.blast>) {
      blasts += 1;
      hooks.get(blasts)?.();
      hooks.delete(blasts);
      await whileAlive(process);
      const [{ runs }] = wanted;
      const boot = `${process.name} ${runs[0]?.variant} ${runs[0]?.pair}`;
      if (boot !== booted) boots += 1;
      booted = boot;
      const outcome = await shared.blast(...wanted);
      await whileAlive(process);
      return outcome;
    },
  });

  async function start(patch: string, run: (world: World) => Promise<Result>): Promise<Running> {
    const process = await lab.start(patch);
    processes.set(patch, process);
    const wanted = new Map([['x', ['dut-x']]]);
    const holder = { who: patch, purpose: 'gate', patch: `#${patch}` };
    const world: World = {
      repository,
      reserve: () => Promise.reject(new Error('it is boarded')),
      async board(_, __, passenger) {
        const own = { ...passenger, offers: () => passenger.offers(false) };
        const request = { testbeds: wanted, priority: 'patch', holder } as const;
        const lease = await reserve(request, process.world, undefined, own);
        if (lease === undefined) return undefined;
        return {
          name: 'x',
          signal: lease.signal,
          open: async () => opened.promise.then(() => testbedFor(process)),
          giveBack: async (outcome) =>
            lease.release({ outcome, isClean: true }).then(() => undefined),
          company: (plan) => companyOf(lease, plan, most, { ...process.world, tell() {} }),
        };
      },
      history: memoryHistory(),
      now: () => new Date('2026-11-20T12:00:00.000Z'),
      onEvent() {},
      signal: process.world.signal,
    };
    let isOver = false;
    const result = run(world).finally(() => {
      isOver = true;
    });
    result.catch(() => {});
    return { process, result, isOver: () => isOver };
  }

  /** Goes on until that is so: files take time that no clock of the laboratory shows. */
  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) {
      await lab.elapse(0.02);
      await setImmediate();
    }
  }

  /** The first has the testbed, and begins once the others wait in their order. */
  async function begin(names: readonly string[]): Promise<Running[]> {
    const running: Running[] = [];
    for (const [index, name] of names.entries()) {
      const request = { patch: aPatch(name), config, testbeds: ['x'], seed: Number(name) };
      running.push(await start(name, (world) => gate(request, folderOf(name), world)));
      await until(async () => {
        const { held } = await readLab(lab.onlooker);
        const offers = await lab.onlooker.read('offer/');
        return held.size === 1 && offers.entries.length === index;
      });
    }
    opened.resolve();
    return running;
  }

  async function ended(running: readonly Running[]): Promise<Result[]> {
    await until(() => running.every((one) => one.isOver()));
    return Promise.all(running.map(({ result }) => result));
  }

  return {
    ...{ lab, until, begin, ended, folderOf },
    boots: () => boots,
    mostAtOnce: () => mostAtOnce,
    at: (blast: number, work: () => void) => hooks.set(blast, work),
    async kill(patch: string, blast: number): Promise<void> {
      hooks.set(blast, () => processes.get(patch)?.kill());
      await until(() => processes.get(patch)?.isRunning() === false);
      await lab.elapse(lab.leaseSeconds + 5);
    },
    judgeTogether: async (names: readonly string[]) => ended(await begin(names)),
    async resume(patch: string): Promise<Result> {
      const again = await start(patch, (world) => resumeGate(folderOf(patch), world));
      const [result] = await ended([again]);
      if (result === undefined) throw new Error('it did not end');
      return result;
    },
  };
}

function cellsOf({ outcome }: Result) {
  return outcome.kind === 'judged' ? outcome.cells : [];
}

const verdictsOf = (results: readonly (Result | undefined)[]): (string | undefined)[] =>
  results.map((result) =>
    result?.outcome.kind === 'judged' ? result.outcome.verdict : result?.outcome.kind,
  );

async function logOf({ lab }: { lab: ReservationLab }): Promise<string[]> {
  const log = await readLog(lab.onlooker);
  return log.map(({ holder, outcome }) => `${holder.who}: ${outcome}`);
}

async function triesIn(folder: string): Promise<string[]> {
  const entries = await readJournal(journalIn(folder));
  return entries.flatMap((entry) =>
    entry.kind === 'measured' ? `${entry.summary.number}.${entry.summary.attempt}` : [],
  );
}
