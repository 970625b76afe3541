import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Variant } from '../../../src/build/variant.ts';
import { type Kernels, kernelsIn } from '../../../src/testbed/freebsd/kernels.ts';
import { openFreebsdTestbed } from '../../../src/testbed/freebsd/testbed.ts';
import type { PrepareRequest } from '../../../src/testbed/testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, testbedOf, usualTraffic, worldOf } from '../../fakes/freebsd-testbed.ts';
import {
  type PatientBuilder,
  patientBuilder,
  patientBuilderNeeds,
  startBuildHost,
} from '../../fakes/patient-builder.ts';
import { describeWith } from '../../needs.ts';

const soon = { timeout: 30_000, interval: 10 };

const request = (variants: readonly Variant[], signal: AbortSignal): PrepareRequest => ({
  ...{ variants, cells: [], rules: {}, signal },
  keepLog: async () => {},
  tell() {},
});

describeWith(patientBuilderNeeds, 'kernels of variants', () => {
  let host: Awaited<ReturnType<typeof startBuildHost>>;
  beforeAll(async () => {
    host = await startBuildHost();
  });
  afterAll(() => host.stop());

  /** Builds go on until the test has ended. */
  function begin(names: readonly string[]) {
    const builder = patientBuilder(host);
    const folder = temporaryFolder();
    const kernels = kernelsIn(folder, builder.builder);
    const over = new AbortController();
    const variants = new Map(names.map((name) => [name, builder.variant(name)]));
    const want = (...wanted: string[]) => {
      const list = wanted.flatMap((name) => variants.get(name) ?? []);
      kernels.want(request(list, over.signal));
    };
    const end = async () => {
      over.abort(new Error('the test has ended'));
      await kernels.ended();
    };
    onTestFinished(end);
    return { builder, folder, kernels, want, end };
  }

  const comesTo = (builder: PatientBuilder, ...names: string[]) =>
    expect.poll(builder.begun, soon).toEqual(names);

  const isThere = async (kernels: Kernels, name: string) =>
    expect(await kernels.get(name)).toMatchObject({ kind: 'archive', archive: { variant: name } });

  test('are built in the order in which they are wanted, one after the other', async () => {
    const { builder, kernels, want } = begin(['base', 'patched', 'middle']);
    want('patched', 'base', 'middle');
    await comesTo(builder, 'patched');
    expect(kernels.ready()).toEqual(new Set());
    for (const name of ['middle', 'base', 'patched']) builder.finish(name);
    await isThere(kernels, 'patched');
    await isThere(kernels, 'middle');
    expect(builder.begun()).toEqual(['patched', 'base', 'middle']);
    expect(kernels.ready()).toEqual(new Set(['patched', 'base', 'middle']));
  });

  test('are built once, however often they are listed, and a build goes on that is not in the way', async () => {
    const { builder, kernels, want } = begin(['a', 'b', 'c']);
    want('a', 'b');
    want('a', 'b');
    builder.finish('a');
    await isThere(kernels, 'a');
    await comesTo(builder, 'a', 'b');
    want('b', 'a');
    want('a', 'c', 'b');
    for (const name of ['b', 'c']) builder.finish(name);
    for (const name of ['a', 'b', 'c']) await isThere(kernels, name);
    expect(builder.begun()).toEqual(['a', 'b', 'c']);
  });

  test('come first where they are listed first: the build that runs is dropped, and comes anew in its turn', async () => {
    const { builder, kernels, want } = begin(['a', 'b', 'c']);
    want('a', 'b');
    await comesTo(builder, 'a');
    want('c', 'b', 'a');
    // It has its turn: the lock was given back.
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
    await expect(waiting).rejects.toThrow('The kernel of b was given up');
    await expect(kernels.get('a')).rejects.toThrow(TypeError);
    await kernels.ended();
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
    expect(kernels.ready()).toEqual(new Set());
  });

  test('that are listed again come from the builder’s cache', async () => {
    const { builder, kernels, want } = begin(['a', 'b']);
    for (const name of ['a', 'b']) builder.finish(name);
    for (const name of ['a', 'b', 'a']) {
      want(name);
      await isThere(kernels, name);
    }
    expect(builder.begun()).toEqual(['a', 'b']);
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

  test('another commit under the same name is another kernel', async () => {
    const { builder, kernels } = begin([]);
    const [first, second] = ['one', 'other'].map((name) => ({
      ...builder.variant(name),
      variant: 'patched',
    })) as [Variant, Variant];
    for (const name of ['one', 'other']) builder.finish(name);
    const { signal } = new AbortController();
    kernels.want(request([first], signal));
    const before = await kernels.get('patched');
    kernels.want(request([second], signal));
    expect(await kernels.get('patched')).not.toEqual(before);
    expect(builder.begun()).toEqual(['one', 'other']);
  });

  test('that nobody has to build are ready at once', () => {
    const kernels = kernelsIn(temporaryFolder(), undefined);
    const own = { variant: 'own', commit: '', files: [] };
    const brought = builtVariant('brought', { ident: 'brought' }, temporaryFolder());
    kernels.want(request([own, brought], new AbortController().signal));
    expect(kernels.ready()).toEqual(new Set(['own', 'brought']));
  });

  test('whose request is cancelled are not waited for, and nothing of them goes on', async () => {
    const { builder, kernels, want, end } = begin(['a', 'b']);
    want('a', 'b');
    await comesTo(builder, 'a');
    await end();
    await expect(kernels.get('a')).rejects.toThrow('the test has ended');
    await expect(kernels.get('b')).rejects.toThrow('the test has ended');
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
  });

  test('a testbed that is given back while a build runs ends it, and waits for its end', async () => {
    await using lab = await startFreebsdLab();
    const builder = patientBuilder(host);
    const config = testbedOf(lab, temporaryFolder(), { builder: builder.config });
    const testbed = await openFreebsdTestbed('shelf', config, usualTraffic, worldOf(lab));
    const variants = ['a', 'b'].map(builder.variant);
    await testbed.prepare(request(variants, new AbortController().signal));
    await comesTo(builder, 'a');
    expect(testbed.ready()).toEqual(new Set());
    await testbed.prepare(request([...variants].reverse(), new AbortController().signal));
    await comesTo(builder, 'a', 'b');
    await testbed.restore();
    expect(builder.folders()).toEqual([]);
    expect(builder.isFree()).toBe(true);
    expect(lab.state()).toMatchObject({ kernel: 'base', leftovers: [] });
  });
});
