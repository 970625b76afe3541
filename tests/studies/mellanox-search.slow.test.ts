// Tests the whole bisected regression: twelve steps from c255749 to c255761, of which all from c255751 to c255760
// forward nothing, because of a different bug; the last one fixes that.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { type BisectRequest, bisect } from '../../src/gate/bisect/bisect.ts';
import type { BisectResult } from '../../src/model/bisect-result.ts';
import { bisectHeadline } from '../../src/report/bisect-headline.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { describeWith } from '../needs.ts';
import { type Builder, type Study, startBuilder, startStudy, surroundingsOf } from './study.ts';

/** The kernel's name shows the revision, and how the driver hands out its access regions. */
const makeKernel = [
  'name=main-$(cat sys/conf/revision)-$(cat sys/dev/mlx5/uar)',
  'echo "FreeBSD 13.0-CURRENT #0 $name" > out/kernel && echo module > out/if_mlx5en.ko',
].join('\n');

const first = 255749;
const culprit = 'Hand out access regions by the core';
const fix = 'Map the access region once';

/** Revisions that change the driver, and how. */
const drivers: Record<number, { subject: string; uar: string }> = {
  255751: { subject: culprit, uar: 'by-core-mapped-twice' },
  255761: { subject: fix, uar: 'by-core' },
};

const truth = ({ ident }: { ident: string }): number => {
  if (ident.endsWith('-by-page')) return 26_842_000;
  return ident.endsWith('-by-core') ? 11_835_000 : 0;
};

/** 16 cores with two threads each, in by a T580-LP-CR, out by a ConnectX-4; a boot has 0.5 % of noise. */
const startXeon40g = (builder: Builder, repository: string): Promise<Study> =>
  startStudy({
    name: 'xeon-40g',
    lab: {
      truth,
      noise: { perBoot: 0.005 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz', 'hw.ncpu': '32' },
      loaderConf: {
        'hw.cxgbe.nrxq10g': '32',
        'hw.cxgbe.ntxq10g': '32',
        'dev.mce.0.conf.channels': '32',
        'machdep.hyperthreading_allowed': '1',
      },
      generatorPps: 42_490_000,
      cabling: {
        generators: 'separate',
        mediaBits: 40e9,
        ports: [
          { name: 'cxl0', card: 'T580-LP-CR' },
          { name: 'mce0', card: 'ConnectX-4', far: { name: 'cxl0', card: 'T580-LP-CR' } },
        ],
      },
    },
    port: 'speed: 40 Gbit/s, queues: 32',
    testbedLines: builder.linesFor(repository),
    settings: `
scenarios: [forwarding]
families: [inet4]
traffic: { flows: 4000, rate: 42.49 Mpps }
`,
  });

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'the bisection of a driver', () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder(makeKernel);
  });
  afterAll(() => builder[Symbol.asyncDispose]());

  function revisions(): string {
    const repository = newRepository();
    commit(repository, { 'sys/conf/revision': `c${first}`, 'sys/dev/mlx5/uar': 'by-page' });
    for (let revision = first + 1; revision <= first + 12; revision++) {
      const driver = drivers[revision];
      const files = driver === undefined ? { 'sys/conf/revision': `c${revision}` } : { 'sys/dev/mlx5/uar': driver.uar };
      commit(repository, files, {}, driver?.subject ?? `Change c${revision}`);
      git(repository, 'tag', `c${revision}`);
    }
    return repository;
  }

  async function search(fixUps: readonly string[]): Promise<{ result: BisectResult; report: string; fixId: string }> {
    const repository = revisions();
    await using study = await startXeon40g(builder, repository);
    const directory = join(temporaryFolder(), 'work');
    const request: BisectRequest = {
      good: 'HEAD~12',
      bad: 'HEAD',
      fixUps,
      skips: [],
      config: study.config,
      testbeds: [study.name],
      seed: 1,
      mostBoots: 40,
      isVerified: false,
    };
    const deps = surroundingsOf(study, openRepository(repository));
    const result = await bisect(request, directory, deps);
    const report = readFileSync(join(directory, 'report.md'), 'utf8');
    return { result, report, fixId: git(repository, 'rev-parse', 'c255761') };
  }

  const named = ({ revisions }: BisectResult, index: number) => revisions[index]?.subject;

  test('with a fix-up of one revision it names the commit, in eleven boots at most', async () => {
    const { result, report, fixId } = await search(['c255761:c255751']);
    expect(bisectHeadline(result)).toMatch(/^[0-9a-f]{12} costs 5[56]\.\d ± \d\.\d+ %, P > 0\.999/);
    if (result.answer.kind !== 'culprit') throw new TypeError('No commit is named.');
    expect(named(result, result.answer.revision)).toBe(culprit);
    expect(result.answer.change.change).toBeCloseTo(-0.559, 2);
    expect(result.answer.measuredWith).toEqual([fixId]);
    expect(result.boots).toBeLessThanOrEqual(11);
    expect(report).toContain(culprit);
    // With the fix on top, the last but one equals the last.
    expect(result.revisions.at(-1)?.forms[0]?.values).toHaveLength(2);
  });

  test('without one it names a group that includes the commit, and the fix that would narrow it', async () => {
    const { result, report, fixId } = await search([]);
    if (result.answer.kind !== 'group') throw new TypeError('No group is named.');
    const { after, last, likelyFix } = result.answer;
    const members = result.revisions.slice(after + 1, last + 1).map(({ subject }) => subject);
    expect(members).toHaveLength(11);
    expect(members).toContain(culprit);
    expect(members).toContain(fix);
    expect(likelyFix).toBe(fixId);
    expect(report).toContain(`--fix-up ${fixId.slice(0, 12)}`);
    expect(report).toContain('forwards nothing');
  });
});
