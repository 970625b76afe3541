import { describe, expect, test } from 'vitest';
import type { MakeRecipe } from '../../../src/config/builder.ts';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import type { Variant } from '../../../src/kernel/variant.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import {
  builtVariant,
  depsOf,
  forwarding,
  hostOf,
  prepareRequest,
  testbedOf,
  usualTraffic,
} from '../../fakes/freebsd-testbed.ts';

const traffic = { ...usualTraffic, measureSeconds: 20 };
const { signal } = new AbortController();

type Method = FreebsdTestbed['dut']['boot']['method'];
type Setup = { lab: FreebsdLab; testbed: Testbed; folder: string };

async function opened(options: FreebsdLabOptions = {}, method: Method = 'nextboot'): Promise<Setup> {
  const lab = await startFreebsdLab(options);
  const folder = temporaryFolder();
  const config = testbedOf(lab, folder);
  config.dut.boot.method = method;
  const testbed = await openFreebsdTestbed('shelf', config, traffic, depsOf(lab));
  return { lab, testbed, folder };
}

const prepare = (testbed: Testbed, variants: readonly Variant[]) => testbed.prepare(prepareRequest(variants));

let number = 0;

function trial(testbed: Testbed, variant: string) {
  number += 1;
  const run = { number, variant, pair: number };
  const planned: PlannedTrial = { number, cell: forwarding, runs: [run] };
  return testbed.trial(planned, async () => {}, signal);
}

const valid = { kind: 'measured', runs: [{ validity: { kind: 'valid' } }] };

const kernelBytes = 1e6;

const largeVariant = (variant: string, folder: string): Variant =>
  builtVariant(variant, { ident: variant, options: [`options PADDING="${'x'.repeat(kernelBytes)}"`] }, folder);

describe.each<[string, Method, FreebsdLabOptions]>([
  ['folders of nextboot(8)', 'nextboot', { root: 'ufs' }],
  ['boot environments', 'boot-environment', { root: 'zfs' }],
])('on a DUT with space for three kernels, in %s,', (_, method, root) => {
  // Two that are installed, and the archive of one.
  const disk = { totalBytes: 20e9, usedBytes: 20e9 - 3.2 * kernelBytes };
  const installedIn = ({ boot, environments }: ReturnType<FreebsdLab['state']>) =>
    [...boot, ...environments].filter((name) => name.startsWith('ppsgate.'));

  test('those that stay listed stay there, and fill it', async () => {
    const { lab, testbed, folder } = await opened({ ...root, disk }, method);
    const variants = ['c0', 'c1', 'c2', 'c3'].map((name) => largeVariant(name, folder));
    await prepare(testbed, variants);
    for (const name of ['c0', 'c1']) expect(await trial(testbed, name)).toMatchObject(valid);
    expect(await trial(testbed, 'c2')).toMatchObject({
      kind: 'rejected',
      rejection: { kind: 'out-of-disk' },
    });
    expect(installedIn(lab.state())).toEqual(['ppsgate.c0', 'ppsgate.c1']);
    // The running kernel is kept, regardless of the list.
    await prepare(
      testbed,
      [variants[2], variants[3]].flatMap((one) => one ?? []),
    );
    expect(await trial(testbed, 'c2')).toMatchObject(valid);
    expect(installedIn(lab.state())).toEqual(['ppsgate.c1', 'ppsgate.c2']);
    await testbed.restore();
    await lab.stop();
  });
});

const commandsOf = ({ dut }: FreebsdLab): string[] => dut.journal.map(({ command }) => command);

test('the loaded modules are read once, while the DUT runs its own kernel', async () => {
  await using lab = await startFreebsdLab();
  const folder = temporaryFolder();
  const recipe: MakeRecipe = {
    kind: 'make',
    kernelConfig: 'GENERIC',
    clean: true,
    metaMode: false,
    toolchain: true,
    modules: 'needed',
    options: [],
  };
  const config = testbedOf(lab, folder);
  const builder = {
    system: 'freebsd' as const,
    ...hostOf(lab.dut.target, folder),
    recipe,
    folder: '/var/db/ppsgate',
    repository: '/usr/src',
    remote: 'origin',
    layoutVariants: 1,
    limitSeconds: 60,
    turnSeconds: 60,
    minFreeBytes: 0,
    cache: { maxKernels: 1, maxBytes: 1 },
  };
  const testbed = await openFreebsdTestbed('shelf', { ...config, builder }, traffic, depsOf(lab));
  const asks = () => commandsOf(lab).filter((command) => command === "ls '/boot/modules'").length;
  const base = builtVariant('base', { ident: 'base' }, folder);
  await prepare(testbed, [base]);
  expect(asks()).toBe(1);
  expect(await trial(testbed, 'base')).toMatchObject(valid);
  await prepare(testbed, [builtVariant('patched', { ident: 'patched' }, folder), base]);
  expect(asks()).toBe(1);
  await testbed.restore();
});

describe('in a process in which base has shown nothing yet', () => {
  const kernels: [string, Behaviour][] = [
    ['panics at boot', { kind: 'panics-at-boot', panic: 'page fault' }],
    ['panics under load', { kind: 'panics-under-load', panic: 'page fault' }],
  ];

  test.each(kernels)('a variant that %s is not blamed, until base is measured', async (_, behaviour) => {
    const { lab, testbed, folder } = await opened();
    const bad = builtVariant('f8f5b459d21e', { ident: 'bad', behaviour }, folder);
    await prepare(testbed, [bad, builtVariant('base', { ident: 'base' }, folder)]);
    for (const _again of [1, 2, 3]) {
      expect(await trial(testbed, 'f8f5b459d21e')).toMatchObject({
        kind: 'failed',
        lacksControl: true,
      });
    }
    expect(await trial(testbed, 'base')).toMatchObject(valid);
    expect(await trial(testbed, 'f8f5b459d21e')).toMatchObject({ kind: 'rejected' });
    await testbed.restore();
    await lab.stop();
  });
});
