// Bisects real commits, built by a builder and booted on a fake FreeBSD laboratory.
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { type BisectRequest, bisect, resumeBisection } from '../../../src/gate/bisect/bisect.ts';
import type { ExperimentEvent } from '../../../src/gate/experiment/experiment-event.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { commit, newRepository, plantHistory } from '../../fakes/repository.ts';
import { describeWith } from '../../needs.ts';
import { type Builder, type Study, startBuilder, startStudy, surroundingsOf } from '../../studies/study.ts';

const version = (ident: string): string => `FreeBSD 15.0-CURRENT #0 ${ident}\n`;

/** The version, then the driver's text; a driver may fail the build. */
const makeKernel = [
  'if grep -q does-not-build sys/dev/nic/driver; then echo "driver.c:7: error: x" >&2; exit 1; fi',
  'cat sys/conf/version sys/dev/nic/driver > out/kernel && echo module > out/if_nic.ko',
].join('\n');

const slowFrom = 4;

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a bisection of six commits', () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder(makeKernel);
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  /** The fourth loses a fifth; two panic, and one does not build. */
  function commits(): string {
    const repository = newRepository();
    const drivers: Record<number, string> = {
      1: 'panics-under-load: page fault in nic_rx',
      2: 'does-not-build',
      5: 'panics-under-load: page fault in nic_tx',
    };
    const planned = Array.from({ length: 7 }, (_, place) => ({
      files: {
        'sys/conf/version': version(`c${place}`),
        'sys/dev/nic/driver': `${drivers[place] ?? 'works'}\n`,
      },
      message: `Change ${place}`,
    }));
    plantHistory(repository, planned);
    return repository;
  }

  const startLab = (repository: string, faults: readonly Fault[] = []): Promise<Study> =>
    startStudy({
      name: 'rack',
      lab: {
        truth: ({ ident }) => (Number(ident.slice(1)) >= slowFrom ? 4e6 : 5e6),
        noise: { perBoot: 0.003 },
        hardware: { 'hw.model': 'Intel(R) Atom(TM) CPU C2758 @ 2.40GHz', 'hw.ncpu': '8' },
        generatorPps: 14_880_000,
        faults: [...faults],
      },
      port: '',
      testbedLines: builder.linesFor(repository),
      settings: 'scenarios: [forwarding]\nfamilies: [inet4]\ntraffic: { flows: 2000 }\n',
    });

  const requestFor = (study: Study): BisectRequest => ({
    good: 'HEAD~6',
    bad: 'HEAD',
    fixUps: [],
    skips: [],
    config: study.config,
    testbeds: [study.name],
    seed: 1,
    mostBoots: 40,
    isVerified: false,
  });

  const around = (study: Study, repository: string, signal?: AbortSignal) =>
    surroundingsOf(study, openRepository(repository), signal);

  const unreachable = (study: Study, repository: string) => ({
    ...around(study, repository),
    reserve: () => Promise.reject(new Error('a testbed was reserved')),
  });

  test('names the one that lost a fifth, though the lab has faults, and after a kill', async () => {
    const repository = commits();
    await using study = await startLab(repository, [
      { kind: 'dead-link', at: 4 },
      { kind: 'hang-at-boot', at: 5 },
      { kind: 'receiver-crash', at: 6 },
    ]);
    const directory = join(temporaryFolder(), 'work');
    const stop = new AbortController();
    let boots = 0;
    const deps = {
      ...around(study, repository, stop.signal),
      onEvent({ kind }: ExperimentEvent) {
        boots += kind === 'note' ? 1 : 0;
        if (boots === 6) stop.abort(new Error('killed'));
      },
    };
    await expect(bisect(requestFor(study), directory, deps)).rejects.toThrow('killed');
    const journal = join(directory, 'journal.jsonl');
    const before = readFileSync(journal, 'utf8');
    // The last line is cut short, as by a kill while it was written.
    const whole = before.slice(0, before.lastIndexOf('\n', before.length - 2) + 1);
    truncateSync(journal, Buffer.byteLength(whole) + 20);

    const result = await resumeBisection(directory, around(study, repository));
    expect(readFileSync(journal, 'utf8').startsWith(whole)).toBe(true);
    const { answer, revisions } = result;
    expect(answer).toMatchObject({ kind: 'culprit', measuredWith: [] });
    if (answer.kind === 'culprit') {
      expect(revisions[answer.revision]?.subject).toBe(`Change ${slowFrom}`);
      expect(answer.change.change).toBeCloseTo(-0.2, 1);
    }
    const blamed = revisions.filter(({ forms }) => forms.some(({ fault }) => fault));
    expect(['Change 1', 'Change 2', 'Change 5']).toEqual(expect.arrayContaining(blamed.map(({ subject }) => subject)));
    const { stage, kernel, leftovers } = study.lab.state();
    expect([stage, kernel, leftovers]).toEqual(['up', 'rescue', []]);
    const [learnt] = await study.history.read();
    expect(learnt?.pps.every((pps) => Math.abs(pps / 5e6 - 1) < 0.05)).toBe(true);
    expect(await resumeBisection(directory, unreachable(study, repository))).toEqual(result);
  });

  test('crosses another release, and reports it once', async () => {
    const repository = newRepository();
    for (const text of ['15.0-CURRENT #0 c2', '16.0-CURRENT #0 c3', '16.0-CURRENT #0 c4']) {
      commit(repository, { 'sys/conf/version': `FreeBSD ${text}\n`, 'sys/dev/nic/driver': 'works\n' });
    }
    await using study = await startLab(repository);
    const request = { ...requestFor(study), good: 'HEAD~2' };
    const result = await bisect(request, join(temporaryFolder(), 'work'), around(study, repository));
    expect(result.answer).toMatchObject({ kind: 'culprit', revision: 2 });
    const told = result.testbed.warnings.filter((text) => text.includes('release'));
    expect(told).toEqual([
      'the DUT differs in more than its kernel: release: "15.0-CURRENT" on base, "16.0-CURRENT" on patched',
    ]);
  });
});
