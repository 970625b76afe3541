// Tests gates of revisions around a driver's loss of half its speed, where some revisions cannot be measured.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { describeWith } from '../needs.ts';
import { expectCleanDut, expectNoSlip } from './slips.ts';
import { type Builder, cellsOf, changeOf, expectItems, judgeRange, type Study, startBuilder } from './study.ts';
import { startXeon40g } from './xeon-40g.ts';

const version = (revision: string): string => `FreeBSD 13.0-CURRENT #0 main-${revision}`;

const speeds: Record<string, number> = {
  'main-c255749': 26_842_000,
  'main-c255751+c255761': 11_835_000,
  'main-c255761': 11_835_000,
};

/** The version, then the driver's text. */
const makeKernel = 'cat sys/conf/version sys/dev/mlx5/uar > out/kernel && echo module > out/if_mlx5en.ko';

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a bisection', () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder(makeKernel);
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  /** Four revisions of one branch, by the tags that they get, and the slow one with the fix on top. */
  function driverRepository(): string {
    const repository = newRepository();
    const revision = (name: string, title: string, uar: string) => {
      const files = { 'sys/conf/version': `${version(name)}\n`, 'sys/dev/mlx5/uar': `${uar}\n` };
      commit(repository, files, {}, title);
      git(repository, 'tag', name.replace('+', '-'));
    };
    revision('c255749', 'Raise the versions of the drivers', 'by page');
    revision('c255751', 'Hand out access regions by the core', 'by core, mapped twice');
    revision('c255755', 'Count overflows by CPU', 'panics-under-load: page fault in mlx5e_rx');
    revision('c255761', 'Map the access region once', 'by core');
    git(repository, 'switch', '--quiet', '--detach', 'c255751');
    revision('c255751+c255761', 'Map the access region once', 'by core');
    return repository;
  }

  const startBisection = (repository: string): Promise<Study> =>
    startXeon40g(({ ident }) => speeds[ident] ?? 0, builder, repository);

  const judgeRevision = async (study: Study, repository: string, revision: string) =>
    judgeRange(study, repository, `c255749..${revision.replace('+', '-')}`);

  test.for(['c255761', 'c255751+c255761'])('%s, whose driver works, lost more than half', async (revision) => {
    const repository = driverRepository();
    await using study = await startBisection(repository);
    const judged = await judgeRevision(study, repository, revision);
    const { result, report } = judged;
    expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
    expect(Math.abs(changeOf(cellsOf(result)[0]) + 0.559)).toBeLessThan(0.01);
    await expectNoSlip(judged, { base: version('c255749'), patched: version(revision) });
    expectItems(report, {
      cpu: 'Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz',
      'hw.ncpu': '32',
      'NIC t5nex0': 'Chelsio Communications Inc T580-LP-CR Unified Wire Ethernet Controller',
      'NIC mlx5_core0': 'Mellanox Technologies MT27700 Family [ConnectX-4]',
      'cxl0 media': 'Ethernet 40Gbase-SR4 <full-duplex>',
      'dev.cxl.0.nrxq': '32',
      'dev.cxl.0.ntxq': '32',
      'dev.mce.0.conf.channels': '32',
      'machdep.hyperthreading_allowed': '1',
    });
    for (const port of ['cxl0', 'mce0']) {
      expect(report).not.toMatch(new RegExp(`${port} options\`: .*(?:LRO|TSO)`));
    }
    expect(report).toContain('machdep.hyperthreading_allowed is 1 instead of 0');
  });

  test('c255751, whose driver forwards nothing, is a regression with that reason', async () => {
    const repository = driverRepository();
    await using study = await startBisection(repository);
    const judged = await judgeRevision(study, repository, 'c255751');
    expect(judged.result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
    expect(cellsOf(judged.result)[0]).toMatchObject({
      verdict: { kind: 'regression' },
      comparisons: [{ patched: 0, patchedRuns: 2, interval: { change: -1 } }],
    });
    expect(judged.report).toMatch(/^### 🔴 .* forwards nothing \(/);
    expect(judged.report).not.toMatch(/loses/);
    await expectNoSlip(judged, { base: version('c255749'), patched: version('c255751') });
  });

  test('c255755, whose driver panics, is reported to panic, and no regression', async () => {
    const repository = driverRepository();
    await using study = await startBisection(repository);
    const { result, report } = await judgeRevision(study, repository, 'c255755');
    expect(result.outcome).toEqual({
      kind: 'panics-under-load',
      message: 'Twice, under 4000 flows.',
      panic: 'page fault in mlx5e_rx',
    });
    expect(report).toMatch(/^### 🔴 ppsgate: \S+ panics under load\n/);
    expect(report).toContain('panic: page fault in mlx5e_rx');
    expect(report).toMatch(/`Intel.*2.60GHz`\) · 4,000 flows .* targeted 42\.49 Mpps/);
    expect(report).not.toMatch(/loses|\| cell/);
    expectCleanDut({ study });
  });
});
