// Tests a patch without a cost, on a FreeBSD testbed where the order of a kernel's sections has one.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { runExperiment } from '../../../src/gate/experiment/experiment.ts';
import { makePlan } from '../../../src/gate/experiment/plan.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { Result } from '../../../src/model/result.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { depsOf, testbedOf } from '../../fakes/freebsd-testbed.ts';
import { patientBuilder, patientBuilderNeeds, startBuildHost } from '../../fakes/patient-builder.ts';
import { aConfig, gateConfig, singleRuns } from '../../fakes/plan.ts';
import { pullRequest } from '../../fakes/result.ts';
import { describeWith } from '../../needs.ts';

/** With this seed of the noise, the first layouts of both kernels are 4 % apart, and six of each hardly. */
const unlucky = 16;

describeWith(patientBuilderNeeds, 'a patch that moves code, and costs nothing', () => {
  let host: Awaited<ReturnType<typeof startBuildHost>>;
  beforeAll(async () => {
    host = await startBuildHost();
  });
  afterAll(() => host.stop());

  async function judged(layoutVariants: number): Promise<Result> {
    const noise = { seed: unlucky, perBoot: 0.002, perSecond: 0.001, perBuild: 0.015 };
    await using lab = await startFreebsdLab({
      kernel: { ident: 'own' },
      truth: () => 4e6,
      noise,
      timing: { bootSeconds: 20, dumpSeconds: 5 },
    });
    const builder = patientBuilder(host);
    const [base, patched] = ['base', 'patched'].map(builder.variant);
    if (base === undefined || patched === undefined) throw new TypeError('There is none.');
    builder.finish('base');
    builder.finish('patched');
    const folder = temporaryFolder();
    const shelf = testbedOf(lab, folder, { builder: { ...builder.config, layoutVariants } });
    shelf.dut.boot.limitSeconds = 120;
    const traffic = {
      ...singleRuns.traffic,
      offeredPps: 10e6,
      warmUpSeconds: 0,
      settleSeconds: 4,
      measureSeconds: 20,
      measureAtLeastSeconds: 12,
    };
    const limits = { marginRatio: 0.02, maxRunsPerVariant: 6 };
    const config = aConfig({ testbeds: { shelf }, traffic, gate: { ...gateConfig, ...limits } });
    const directory = join(folder, 'work');
    mkdirSync(directory);
    const request = { patch: pullRequest, config, testbed: 'shelf', seed: 3 };
    const plan = makePlan(request, [base, patched], []);
    const testbed = await openFreebsdTestbed('shelf', shelf, plan.traffic, depsOf(lab));
    const journal = await runExperiment({
      plan,
      testbed,
      directory,
      now: () => new Date(lab.clock.now() * 1000),
      onEvent() {},
      signal: new AbortController().signal,
    });
    await testbed.restore();
    return assembleResult(plan, journal);
  }

  const verdictOf = ({ outcome }: Result) => outcome.kind === 'judged' && outcome.verdict;

  test('is taken for a loss where its kernel is linked once', async () => {
    expect(verdictOf(await judged(1))).toBe('regression');
  });

  test('is not if pairs boot layouts in turn, and runs name theirs', async () => {
    const result = await judged(6);
    expect(verdictOf(result)).not.toBe('regression');
    const cells = result.outcome.kind === 'judged' ? result.outcome.cells : [];
    for (const run of cells.flatMap(({ runs }) => runs)) expect(run.layout).toBe(run.pair);
  });
});
