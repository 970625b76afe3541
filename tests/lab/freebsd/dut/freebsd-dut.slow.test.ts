import { expect, test } from 'vitest';
import { shell } from '../../../../src/system/shell.ts';
import { archiveOf, archiveWith, openDut } from '../../../fakes/freebsd-lab/dut.ts';
import { allModules, type KernelText, kernelArchive, kernelText } from '../../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../../fakes/freebsd-lab/lab.ts';
import { panic } from '../../../fakes/freebsd-lab/lifecycle.ts';

/** Installs a kernel and boots it. */
async function bootOf(lab: FreebsdLab, kernel: KernelText) {
  const dut = await openDut(lab);
  expect(await dut.install(archiveOf(kernel))).toEqual({ kind: 'installed' });
  return { dut, outcome: await dut.boot('patched') };
}

const clean = {
  kernel: 'base',
  boot: ['kernel', 'loader.conf', 'modules'],
  nextboot: undefined,
  leftovers: [],
};

test('a kernel is booted, and restoring leaves nothing of ours', async () => {
  await using lab = await startFreebsdLab();
  const { dut, outcome } = await bootOf(lab, { ident: 'patched' });
  expect(outcome).toMatchObject({ kind: 'booted', version: 'FreeBSD 14.0-CURRENT #0 patched' });
  expect(lab.state()).toMatchObject({ kernel: 'patched', nextboot: undefined });
  for (const _again of [1, 2]) {
    await dut.restore();
    expect(lab.state()).toMatchObject(clean);
  }
});

test('a DUT that a dead controller left on a kernel of ours is rebooted before anything else', async () => {
  await using lab = await startFreebsdLab();
  const { dut } = await bootOf(lab, { ident: 'patched' });
  await dut.host().close();
  const next = await openDut(lab);
  expect(lab.state()).toMatchObject({ kernel: 'base' });
  await next.restore();
  expect(lab.state()).toMatchObject(clean);
});

test('content that is already there is not uploaded again, other content is', async () => {
  await using lab = await startFreebsdLab();
  const dut = await openDut(lab);
  const uploads = () => lab.dut.journal.filter(({ command }) => command.startsWith('tar ')).length;
  const archive = archiveOf({ ident: 'patched' });
  await dut.install(archive);
  await dut.install(archive);
  expect(uploads()).toBe(1);
  await dut.install(archiveOf({ ident: 'corrected' }));
  expect(uploads()).toBe(2);
  expect(await dut.boot('patched')).toMatchObject({ version: expect.stringMatching(/corrected$/) });
});

test('removes unused kernels before it installs one, also those of an earlier process, but not the running one', async () => {
  await using lab = await startFreebsdLab();
  await (await openDut(lab)).install(archiveOf({ ident: 'older' }, 'older'));
  const { dut } = await bootOf(lab, { ident: 'patched' });
  const lay = (ident: string, wanted: readonly string[]) => dut.install(archiveOf({ ident }, ident), new Set(wanted));
  const ours = () => lab.state().boot.filter((name) => name.startsWith('ppsgate.'));
  await lay('next', ['next']);
  expect(ours()).toEqual(['ppsgate.next', 'ppsgate.patched']);
  expect(await dut.boot('next')).toMatchObject({ kind: 'booted' });
  await lay('last', ['next', 'last']);
  expect(ours()).toEqual(['ppsgate.last', 'ppsgate.next']);
  await expect(dut.boot('patched')).rejects.toThrow('The variant patched was never installed.');
  await lay('next', []);
  expect(ours()).toEqual(['ppsgate.last', 'ppsgate.next']);
  await lay('patched', ['next']);
  expect(await dut.boot('patched')).toMatchObject({ kind: 'booted' });
});

test('a kernel that was changed after it was installed is not taken for it', async () => {
  await using lab = await startFreebsdLab();
  const dut = await openDut(lab);
  await dut.install(archiveOf({ ident: 'patched' }));
  const changed = Buffer.from(kernelText({ ident: 'changed' }));
  await dut.host().upload(changed, '/boot/ppsgate.patched/kernel', 0o555);
  expect(await dut.boot('patched')).toMatchObject({
    kind: 'boot-failed',
    reason: '/boot/ppsgate.patched/kernel has a different checksum than before the boot',
  });
});

test('a kernel that does not fit is refused before it is uploaded', async () => {
  await using lab = await startFreebsdLab();
  const dut = await openDut(lab);
  const archive = { ...archiveOf({ ident: 'patched' }), unpackedBytes: 1e15 };
  expect(await dut.install(archive)).toEqual({
    kind: 'no-space',
    reason: expect.stringMatching(/^\/boot has \d+ MiB left and a kernel needs \d+ MiB$/),
  });
  expect(lab.state()).toMatchObject(clean);
});

test('a kernel is installed although its upload was lost on the way, twice', async () => {
  await using lab = await startFreebsdLab({
    faults: [
      { kind: 'upload-lost', at: 1, afterBytes: 600 },
      { kind: 'upload-lost', at: 2, afterBytes: 100_000 },
    ],
  });
  const dut = await openDut(lab);
  expect(await dut.install(archiveOf({ ident: 'x'.repeat(300_000) }))).toEqual({
    kind: 'installed',
  });
  expect(lab.state().leftovers).not.toContainEqual(expect.stringMatching(/\.(tar|part)$/));
});

test('a DUT that panicked is found on its own kernel, with its panic', async () => {
  await using lab = await startFreebsdLab();
  const { dut } = await bootOf(lab, { ident: 'patched' });
  panic(lab.dut.machine, lab, 'pf state gone');
  expect(await dut.recover()).toEqual({ panic: 'pf state gone' });
  expect(lab.state()).toMatchObject({ stage: 'up', kernel: 'base' });
  expect(await dut.recover()).toEqual({});
});

test.for([
  ['is 30 s ahead', { aheadSeconds: 30 }],
  ['is hours off, and set when the DUT is up', { aheadSeconds: 7200, setAfterSeconds: 1 }],
] as const)('a DUT whose clock %s is booted and restored', async ([, realTimeClock]) => {
  await using lab = await startFreebsdLab({ realTimeClock });
  const { dut, outcome } = await bootOf(lab, { ident: 'patched' });
  expect(outcome).toMatchObject({ kind: 'booted', seconds: 126 });
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
});

test('a clock that is set while the DUT shuts down is not taken for its boot', async () => {
  await using lab = await startFreebsdLab({
    realTimeClock: { aheadSeconds: -600 },
    timing: { shutdownSeconds: 30 },
  });
  const dut = await openDut(lab);
  await dut.install(archiveOf({ ident: 'patched' }));
  lab.clock.after(5, () => {
    lab.dut.machine.clockAhead = 0;
  });
  expect(await dut.boot('patched')).toMatchObject({ kind: 'booted' });
});

const panicsAtBoot = {
  ident: 'patched',
  behaviour: { kind: 'panics-at-boot', panic: 'mtx_lock() of destroyed mutex' },
} as const;

/** Once there is a device for its dump. */
const panicsInRc = {
  ...panicsAtBoot,
  behaviour: { ...panicsAtBoot.behaviour, kind: 'panics-in-rc' },
} as const;

test.for<[string, FreebsdLabOptions['crashes'] & object, KernelText]>([
  [
    'whose messages a reset clears, and whose dump is saved late',
    { keepsMessages: false, saveSeconds: 90 },
    panicsInRc,
  ],
  ['that dumps over the network', { dumpsTo: 'network' }, panicsInRc],
  ['that panics before it can dump', {}, panicsAtBoot],
  ['whose messages are few', { maxMessages: 16 }, panicsAtBoot],
])('a DUT %s tells of its panic', async ([, crashes, kernel]) => {
  await using lab = await startFreebsdLab({ crashes });
  // The message of an earlier panic is pushed out.
  lab.dut.machine.messages = ['panic: of another day', ...Array.from({ length: 9 }, () => 'link up')];
  const { outcome } = await bootOf(lab, kernel);
  expect(outcome).toMatchObject({
    kind: 'boot-failed',
    panic: 'mtx_lock() of destroyed mutex',
  });
});

test('a DUT that keeps nothing of a panic is not waited for', async () => {
  await using lab = await startFreebsdLab({
    crashes: { keepsMessages: false, dumpsTo: 'nowhere' },
  });
  const { outcome } = await bootOf(lab, panicsAtBoot);
  expect(outcome).toMatchObject({ kind: 'boot-failed', seconds: 216 });
  expect(outcome).not.toHaveProperty('panic');
});

test('a kernel with the debugger resets after a panic, with its cause', async () => {
  await using lab = await startFreebsdLab({ loaderConf: { 'debug.debugger_on_panic': '1' } });
  const { outcome } = await bootOf(lab, { ...panicsAtBoot, options: ['options DDB'] });
  expect(outcome).toMatchObject({
    kind: 'boot-failed',
    reason: expect.stringMatching(/came up instead of/),
    panic: 'mtx_lock() of destroyed mutex',
  });
});

test('a kernel is booted once and restored on ZFS, where an order that was left in the pool is taken back', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  const { dut, outcome } = await bootOf(lab, { ident: 'patched' });
  expect(outcome).toMatchObject({ kind: 'booted' });
  await dut.host().output(shell`nextboot -k ppsgate.patched`);
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
  expect(lab.dut.machine.root).toMatchObject({ nvstore: new Map([['nextboot_enable', 'NO']]) });
});

test('a DUT whose loader could not take the order back is refused', async () => {
  await using lab = await startFreebsdLab({ root: 'nfs' });
  await expect(openDut(lab)).rejects.toThrow(/nextboot.*\/boot is on nfs \(192\.0\.2\.9:\/export\/dut\).*UFS or ZFS/);
  expect(lab.dut.machine.boots).toBe(0);
});

const modulesBut = (missing: string) => allModules.filter((name) => name !== missing);

const installedWithout = (missing: string, kernel: KernelText = { ident: 'patched' }) =>
  archiveWith(kernelArchive(kernel, modulesBut(missing)));

test.for<[string, string, FreebsdLabOptions]>([
  ['zfs.ko', 'zfs', { root: 'zfs' }],
  ['if_cxgbe.ko', 'if_cxgbe', { loaderConf: { if_cxgbe_load: 'YES' } }],
])('a kernel without %s, which the loader needs, is not installed to be booted', async ([file, name, options]) => {
  await using lab = await startFreebsdLab(options);
  const dut = await openDut(lab);
  expect(await dut.install(installedWithout(name))).toEqual({
    kind: 'lacks-module',
    reason: expect.stringContaining(`${file} is neither in /boot/ppsgate.patched nor in /boot/modules`),
  });
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
  expect(lab.dut.machine.boots).toBe(0);
});

test.for<[string, string, FreebsdLabOptions, KernelText?]>([
  ['is in /boot/modules', 'zfs', { root: 'zfs', files: { '/boot/modules/zfs.ko': '' } }],
  ['is in the kernel itself', 'zfs', { root: 'zfs' }, { ident: 'patched', options: ['options ZFS'] }],
  ['is not loaded now', 'ipfw', { loaderConf: { ipfw_load: 'YES' } }],
  ['is switched off', 'if_cxgbe', { loaderConf: { if_cxgbe_load: 'NO' } }],
  ['is no module', 'if_cxgbe', { loaderConf: { if_cxgbe_load: 'YES', if_cxgbe_type: 'cpu_microcode' } }],
])('what %s is not asked for', async ([, name, options, kernel]) => {
  await using lab = await startFreebsdLab(options);
  const dut = await openDut(lab);
  expect(await dut.install(installedWithout(name, kernel))).toEqual({ kind: 'installed' });
});
