import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Variant } from '../../../src/kernel/variant.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { Kernels } from '../../../src/lab/freebsd/kernels.ts';
import type { Run } from '../../../src/model/result.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { depsOf, prepareRequest, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import {
  type PatientBuilder,
  patientBuilder,
  patientBuilderNeeds,
  startBuildHost,
} from '../../fakes/patient-builder.ts';
import { describeWith } from '../../needs.ts';

/** Three pairs, each beginning with the variant at the end of the previous one. */
const order: [variant: string, layout: number][] = [
  ...([
    ['base', 1],
    ['patched', 1],
    ['patched', 2],
    ['base', 2],
  ] as const),
  ...([
    ['base', 1],
    ['patched', 1],
  ] as const),
].map(([variant, layout]) => [variant, layout]);

const soon = { timeout: 120_000, interval: 10 };

const request = (variants: readonly Variant[], signal = new AbortController().signal) =>
  prepareRequest(variants, { cells: [], signal });

describeWith(patientBuilderNeeds, 'kernels of variants', () => {
  let host: Awaited<ReturnType<typeof startBuildHost>>;
  beforeAll(async () => {
    host = await startBuildHost();
  });
  afterAll(() => host.stop());

  /** Keeps builds running until the test has ended. */
  function begin(names: readonly string[]) {
    const builder = patientBuilder(host);
    const folder = temporaryFolder();
    const kernels = new Kernels(folder, builder.builder);
    const over = new AbortController();
    const variants = new Map(names.map((name) => [name, builder.variant(name)]));
    const want = (...wanted: string[]) => {
      const list = wanted.flatMap((name) => variants.get(name) ?? []);
      kernels.list(request(list, over.signal));
    };
    const end = async () => {
      over.abort(new Error('the test has ended'));
      await kernels.ended();
    };
    onTestFinished(end);
    return { builder, folder, kernels, want, end };
  }

  const comesTo = (builder: PatientBuilder, ...names: string[]) => expect.poll(builder.begun, soon).toEqual(names);

  const isThere = async (kernels: Kernels, name: string) =>
    expect(await kernels.get(name)).toMatchObject({ kind: 'archive', archive: { variant: name } });

  test('are built in order and once, however often they are listed, and a build that does no harm continues', async () => {
    const { builder, kernels, want } = begin(['a', 'b', 'c']);
    want('a', 'b');
    await comesTo(builder, 'a');
    expect(kernels.ready()).toEqual(new Set());
    want('a', 'b');
    builder.finish('a');
    await isThere(kernels, 'a');
    await comesTo(builder, 'a', 'b');
    want('b', 'a');
    want('a', 'c', 'b');
    for (const name of ['b', 'c']) builder.finish(name);
    for (const name of ['a', 'b', 'c']) await isThere(kernels, name);
    expect(builder.begun()).toEqual(['a', 'b', 'c']);
    expect(kernels.ready()).toEqual(new Set(['a', 'b', 'c']));
  });

  test('are built first if listed first: the running build is dropped, and repeated in its turn', async () => {
    const { builder, kernels, want } = begin(['a', 'b', 'c']);
    want('a', 'b');
    await comesTo(builder, 'a');
    want('c', 'b', 'a');
    // The second got the lock, so the first gave it back.
    await comesTo(builder, 'a', 'c');
    expect(builder.folders()).toHaveLength(1);
    for (const name of ['a', 'b', 'c']) builder.finish(name);
    await isThere(kernels, 'a');
    expect(builder.begun()).toEqual(['a', 'c', 'b', 'a']);
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
  });

  test('that are not listed any more are given up, and leave nothing here nor on the builder', async () => {
    const { builder, folder, kernels, want } = begin(['a', 'b', 'c']);
    builder.finish('a');
    want('a', 'b');
    await isThere(kernels, 'a');
    await comesTo(builder, 'a', 'b');
    const waiting = kernels.get('b');
    want();
    await expect(waiting).rejects.toThrow('The kernel of b was dropped');
    await expect(kernels.get('a')).rejects.toThrow(TypeError);
    await kernels.ended();
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
    expect(kernels.ready()).toEqual(new Set());
  });

  test('that cannot be built are known without a wait, and are not tried again', async () => {
    const { builder, kernels, want } = begin(['a', 'b']);
    builder.finish('a', 'fails');
    want('a', 'b');
    await comesTo(builder, 'a', 'b');
    expect(kernels.ready()).toEqual(new Set(['a']));
    want('a', 'b');
    expect(await kernels.get('a')).toMatchObject({
      kind: 'rejected',
      rejection: { kind: 'build-failed' },
    });
    builder.finish('b');
    await isThere(kernels, 'b');
    expect(builder.begun()).toEqual(['a', 'b']);
  });

  const withLayouts = (builder: PatientBuilder, name: string, layouts: number[]): Variant => {
    const variant = builder.variant(name);
    if (variant.kernel?.kind !== 'tree') throw new TypeError('Its kernel is not built.');
    builder.finish(name);
    return { ...variant, kernel: { ...variant.kernel, layouts } };
  };

  test('of several layouts are as many archives, which are dropped together', async () => {
    const { builder, folder, kernels } = begin([]);
    const { signal } = new AbortController();
    kernels.list(request([withLayouts(builder, 'base', [1, 2, 3])], signal));
    const [first, second] = [await kernels.get('base'), await kernels.get('base', 2)];
    expect(first).toEqual(await kernels.get('base', 1));
    expect(second).toMatchObject({ archive: { variant: 'base layout 2' } });
    expect(readdirSync(folder)).toEqual(['base-layout-1.tar', 'base-layout-2.tar', 'base-layout-3.tar']);
    expect(builder.begun()).toEqual(['base']);
    kernels.list(request([], signal));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of several layouts are booted in the order of the runs, and never fill the DUT', async () => {
    const noise = { perBoot: 0, perSecond: 0, perBuild: 0.05 };
    await using lab = await startFreebsdLab({ noise, root: 'zfs' });
    const builder = patientBuilder(host);
    const config = testbedOf(lab, temporaryFolder(), { builder: builder.config });
    config.dut.boot.method = 'boot-environment';
    const testbed = await openFreebsdTestbed('shelf', config, usualTraffic, depsOf(lab));
    const variants = ['base', 'patched'].map((name) => withLayouts(builder, name, [1, 2]));
    await testbed.prepare(request(variants));
    const measured: Run[] = [];
    for (const [index, [variant, layout]] of order.entries()) {
      const number = index + 1;
      const runs = [{ number, variant, layout, pair: Math.floor(index / 2) + 1 }];
      const cell = { scenario: 'forwarding', family: 'inet4' } as const;
      const outcome = await testbed.trial({ number, cell, runs }, async () => {}, new AbortController().signal);
      if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
      measured.push(...outcome.runs.map((run) => ({ ...run, attempt: 1 })));
      const { boot, environments } = lab.state();
      const installed = [...boot, ...environments].filter((name) => name.startsWith('ppsgate.'));
      expect(installed.length).toBeLessThanOrEqual(2);
    }
    expect(measured.map(({ variant, layout }) => [variant, layout])).toEqual(order);
    const speedOf = Map.groupBy(measured, ({ variant, layout }) => `${variant} ${layout}`);
    // Every boot of a layout is as fast as the one before, and no two layouts are.
    expect([...speedOf.values()].map((runs) => new Set(runs.map(({ pps }) => pps)).size)).toEqual([1, 1, 1, 1]);
    expect(new Set(measured.map(({ pps }) => pps)).size).toBe(4);
    await testbed.restore();
    expect(lab.state()).toMatchObject({ kernel: 'base', leftovers: [] });
  });

  test('whose request is cancelled are not awaited, and none of their builds continues', async () => {
    const { builder, kernels, want, end } = begin(['a', 'b']);
    want('a', 'b');
    await comesTo(builder, 'a');
    await end();
    await expect(kernels.get('a')).rejects.toThrow('the test has ended');
    await expect(kernels.get('b')).rejects.toThrow('the test has ended');
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
  });

  test('a testbed that is released during a build ends the build, and waits for its end', async () => {
    await using lab = await startFreebsdLab();
    const builder = patientBuilder(host);
    const config = testbedOf(lab, temporaryFolder(), { builder: builder.config });
    const testbed = await openFreebsdTestbed('shelf', config, usualTraffic, depsOf(lab));
    const variants = ['a', 'b'].map(builder.variant);
    await testbed.prepare(request(variants));
    await comesTo(builder, 'a');
    expect(testbed.ready()).toEqual(new Set());
    await testbed.prepare(request([...variants].reverse()));
    await comesTo(builder, 'a', 'b');
    await testbed.restore();
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
    expect(lab.state()).toMatchObject({ kernel: 'base', leftovers: [] });
  });
});
