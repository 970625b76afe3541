// Nightly runs of a branch, built by a builder and booted on a fake FreeBSD laboratory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measuresLayoutNoise } from '../../src/analysis/trend/aa-runs.ts';
import type { Config } from '../../src/config/schema.ts';
import { patchOfRange } from '../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { outcomeName } from '../../src/model/conclusion.ts';
import { cellName } from '../../src/model/scenario.ts';
import type { TrendChange } from '../../src/model/trend.ts';
import { isOfGate } from '../../src/publish/data-branch/layout.ts';
import type { NightlyPlan } from '../../src/publish/data-branch/nightly-plan.ts';
import type { TrendUpdate } from '../../src/publish/data-branch/trend-files.ts';
import { type NightlyDeps, nightlyFolder, nightlyRun, resumeNightly } from '../../src/publish/nightly.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { forwarding } from '../fakes/result.ts';
import { describeWith } from '../needs.ts';
import { type Builder, type Study, startBuilder, startStudy, surroundingsOf } from '../studies/study.ts';

const makeKernel =
  '{ cat sys/conf/version sys/dev/nic/driver; echo "layout $LAYOUT"; } > out/kernel && echo module > out/if_nic.ko';

const inet6 = { ...forwarding, family: 'inet6' as const };

/** Plan of the earlier nightly runs: no requests, except those that a test sets. */
const calm: NightlyPlan = {
  cellsOffLevel: () => [],
  changesToGate: () => [],
  changesToBisect: () => [],
};

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a nightly run', () => {
  let builder: Builder;
  let repository: string;
  let ids: string[];

  /** A branch of five commits, the third of which loses a fifth according to the simulated laboratory. */
  beforeAll(async () => {
    builder = await startBuilder(makeKernel);
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  const startLab = (lost = 0.8): Promise<Study> => {
    repository = newRepository();
    ids = Array.from({ length: 5 }, (_, place) => {
      const version = `FreeBSD 15.0-CURRENT #0 c${place}\n`;
      const files = { 'sys/conf/version': version, 'sys/dev/nic/driver': `${place}\n` };
      return commit(repository, files, {}, `Change ${place}`);
    });
    return startStudy({
      name: 'rack',
      lab: {
        truth: ({ ident }) => (Number(ident.slice(1)) >= 2 ? lost : 1) * 5e6,
        noise: { perBoot: 0.003 },
        hardware: { 'hw.model': 'Intel(R) Atom(TM) CPU C2758 @ 2.40GHz', 'hw.ncpu': '8' },
        generatorPps: 14_880_000,
      },
      port: '',
      testbedLines: builder.linesFor(repository),
      settings: 'families: [inet4, inet6]\ntraffic: { flows: 2000 }\ntrend: { bisect: true }\n',
    });
  };

  /** The step from the first commit to the last one. */
  const change = (changes: Partial<TrendChange> = {}): TrendChange => ({
    id: '0123456789ab',
    testbed: 'rack',
    metric: 'pps',
    state: 'candidate',
    good: ids.at(0) ?? '',
    bad: ids.at(-1) ?? '',
    gates: [],
    alert: { told: [] },
    cells: [{ cell: forwarding, before: 5e6, after: 4e6, changeRatio: -0.2, firstAt: '2026-11-20T12:00:00.000Z' }],
    foundAt: '2026-11-20T12:00:00.000Z',
    changedAt: '2026-11-20T12:00:00.000Z',
    ...changes,
  });

  const range = (good = 0, bad = -1) => [good, bad].map((place) => ids.at(place) ?? '').join('-');

  /** Requests the gate of a change, and its bisection if that gate has lost. */
  const suspecting = (suspect: TrendChange): NightlyPlan => ({
    ...calm,
    changesToGate: () => [suspect],
    changesToBisect: (told) => (gatedOf(told).includes('regression') ? [suspect] : []),
  });

  /** Outcomes of the gates of a change. */
  const gatedOf = (told: readonly TrendUpdate[]) =>
    told.flatMap(({ result, occasion }) => (isOfGate(result) && occasion === undefined ? outcomeName(result) : []));

  const bisectionOf = (told: readonly TrendUpdate[]) =>
    told.flatMap(({ result }) => (isOfGate(result) ? [] : result)).at(0);

  function startNightly(study: Study, nightlyPlan: NightlyPlan, stop = new AbortController()) {
    const kept: TrendUpdate[] = [];
    const folders: string[] = [];
    const leases: string[] = [];
    const warnings: string[] = [];
    const surroundings = surroundingsOf(study, openRepository(repository), stop.signal);
    const deps: NightlyDeps = {
      ...surroundings,
      async reserve() {
        leases.push('taken');
        const giveBack = async () => void leases.push('given back');
        return { ...(await surroundings.reserve()), giveBack };
      },
      onEvent(event) {
        if (event.kind === 'warning') warnings.push(event.text);
      },
      trend: async () => nightlyPlan,
      async keep(told) {
        kept.push(told);
        folders.push(nightlyFolder(told));
      },
    };
    return { deps, kept, folders, leases, warnings };
  }

  async function requestOf(study: Study, changes: Partial<Config> = {}) {
    const patch = await patchOfRange(openRepository(repository), 'HEAD..HEAD');
    const config = { ...study.config, families: ['inet4' as const], ...changes };
    return { patch, config, testbeds: [study.name], seed: 3 };
  }

  test('that is off is measured again at once, in the cells that are off', async () => {
    await using study = await startLab();
    const nightlyPlan = { ...calm, cellsOffLevel: () => [inet6] };
    const { deps, kept, leases } = startNightly(study, nightlyPlan);
    const { families } = study.config;
    const gate = { ...study.config.gate, stopsAtFirst: true as const };
    await nightlyRun(await requestOf(study, { families, gate }), join(temporaryFolder(), 'work'), deps);
    // An alarm in one cell would leave the others without a level.
    for (const { result } of kept) expect(result).not.toHaveProperty('policy.stopsAtFirst');
    for (const told of kept) expect(told).toMatchObject({ isDefaultBranch: true, isTrusted: true });
    const cells = kept.map(({ occasion, result }) => [
      occasion,
      'outcome' in result && result.outcome.kind === 'judged'
        ? result.outcome.cells.map(({ cell }) => cellName(cell))
        : [],
    ]);
    expect(cells).toEqual([
      ['nightly', ['forwarding inet4', 'forwarding inet6']],
      ['again', ['forwarding inet6']],
    ]);
    expect(leases).toEqual(['taken', 'given back']);
  });

  test('with a change of several commits requests a gate, and then finds the commit', async () => {
    await using study = await startLab();
    const { deps, kept, folders, leases } = startNightly(study, suspecting(change()));
    const directory = join(temporaryFolder(), 'work');
    await nightlyRun(await requestOf(study), directory, deps);
    expect(folders).toEqual(['', `gate-${range()}`, `bisect-${range()}`]);
    expect(gatedOf(kept)).toEqual(['regression']);
    const { answer, revisions } = bisectionOf(kept) ?? {};
    const at = answer?.kind === 'culprit' ? answer.revision : 0;
    expect(revisions?.[at]?.subject).toBe('Change 2');
    expect(leases).toEqual(['taken', 'given back']);
    for (const folder of folders) {
      expect(readFileSync(join(directory, folder, 'report.md'), 'utf8')).not.toBe('');
    }
    const { stage, kernel, leftovers } = study.lab.state();
    expect([stage, kernel, leftovers]).toEqual(['up', 'rescue', []]);
    const learnt = new Set((await study.history.read()).map(({ commit }) => commit));
    expect([...learnt]).toEqual([ids.at(-1)]);
  });

  test('on a Sunday measures another layout of the same tree, where kernels are linked often', async () => {
    await using study = await startLab();
    const { rack } = study.config.testbeds;
    if (rack?.kind !== 'freebsd' || !rack.builder) throw new TypeError('There is no builder.');
    const testbeds = { rack: { ...rack, builder: { ...rack.builder, layoutVariants: 2 } } };
    const foldersOn = async (day: string) => {
      const { deps, kept, folders } = startNightly(study, calm);
      const now = () => new Date(`${day}T02:00:00Z`);
      const request = await requestOf(study, { testbeds });
      await nightlyRun(request, join(temporaryFolder(), 'work'), { ...deps, now });
      return { kept, folders };
    };
    expect((await foldersOn('2026-11-21')).folders).toEqual(['']);
    const { kept, folders } = await foldersOn('2026-11-22');
    expect(folders).toEqual(['', 'layout-noise']);
    expect(kept.map(({ result }) => isOfGate(result) && measuresLayoutNoise(result))).toEqual([false, true]);
  });

  test('boots only commits of the branch, for any claim of the nightly runs', async () => {
    await using study = await startLab();
    git(repository, 'checkout', '--quiet', '-b', 'fork', 'HEAD~2');
    const bad = commit(repository, { 'sys/dev/nic/driver': 'hostile\n' });
    git(repository, 'checkout', '--quiet', 'main');
    const { deps, folders, warnings } = startNightly(study, suspecting(change({ bad })));
    await nightlyRun(await requestOf(study), join(temporaryFolder(), 'work'), deps);
    expect(folders).toEqual(['']);
    expect(warnings.join()).toContain(bad.slice(0, 12));
  });

  test('resumes where it was killed, and measures nothing again', async () => {
    await using study = await startLab();
    const directory = join(temporaryFolder(), 'work');
    const request = await requestOf(study);
    const stop = new AbortController();
    const first = startNightly(study, suspecting(change()), stop);
    const killed = {
      ...first.deps,
      async keep(told: TrendUpdate) {
        await first.deps.keep(told);
        if (gatedOf([told]).length > 0) stop.abort(new Error('killed'));
      },
    };
    await expect(nightlyRun(request, directory, killed)).rejects.toThrow('killed');
    const journals = () =>
      first.folders.map((folder) => readFileSync(join(directory, folder, 'journal.jsonl'), 'utf8'));
    const before = journals();
    const second = startNightly(study, suspecting(change()));
    await resumeNightly(request, directory, second.deps);
    expect(second.kept.slice(0, 2)).toEqual(first.kept);
    expect(bisectionOf(second.kept)?.answer.kind).toBe('culprit');
    expect(journals()).toEqual(before);
    await expect(nightlyRun(request, directory, second.deps)).rejects.toThrow('already has an experiment');
    const third = startNightly(study, suspecting(change()));
    await resumeNightly(request, directory, third.deps);
    expect(third.kept).toEqual(second.kept);
    expect(third.leases).toEqual([]);
  });
});
