import { expect, test } from 'vitest';
import { shell } from '../../../../src/system/shell.ts';
import { archiveOf, archiveWith, openDut } from '../../../fakes/freebsd-lab/dut.ts';
import { textOf } from '../../../fakes/freebsd-lab/file-system.ts';
import { type KernelText, kernelArchive } from '../../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, startFreebsdLab } from '../../../fakes/freebsd-lab/lab.ts';

const open = (lab: FreebsdLab) => openDut(lab, 'boot-environment');

/** Installs a kernel in a boot environment, and boots that. */
async function bootOf(lab: FreebsdLab, kernel: KernelText) {
  const dut = await open(lab);
  expect(await dut.install(archiveOf(kernel))).toEqual({ kind: 'installed' });
  return { dut, outcome: await dut.boot('patched') };
}

const clean = {
  kernel: 'base',
  root: 'zroot/ROOT/default',
  environments: ['default'],
  leftovers: [],
};

/** Folders that bectl made to mount in. */
const mountPoints = ({ dut }: FreebsdLab): string[] =>
  [...dut.machine.files.nodes.keys()].filter((path) => path.startsWith('/tmp/be_mount'));

test('boots a kernel in a separate boot environment, and restoring destroys those of ours, an earlier process’s too', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  await (await open(lab)).install(archiveOf({ ident: 'older' }, 'older'));
  const { dut, outcome } = await bootOf(lab, { ident: 'patched' });
  expect(outcome).toMatchObject({ kind: 'booted', version: 'FreeBSD 14.0-CURRENT #0 patched' });
  expect(lab.state()).toMatchObject({ root: 'zroot/ROOT/ppsgate.patched' });
  for (const _again of [1, 2]) {
    await dut.restore();
    expect(lab.state()).toMatchObject(clean);
    expect(mountPoints(lab)).toEqual([]);
  }
});

test('destroys unused environments before it makes one, also those of an earlier process, but not the running one', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  await (await open(lab)).install(archiveOf({ ident: 'older' }, 'older'));
  const { dut } = await bootOf(lab, { ident: 'patched' });
  const lay = (ident: string, wanted: readonly string[]) => dut.install(archiveOf({ ident }, ident), new Set(wanted));
  await lay('next', ['next']);
  expect(lab.state().environments).toEqual(['default', 'ppsgate.patched', 'ppsgate.next']);
  expect(await dut.boot('next')).toMatchObject({ kind: 'booted' });
  await lay('last', ['next', 'last']);
  expect(lab.state().environments).toEqual(['default', 'ppsgate.next', 'ppsgate.last']);
  await expect(dut.boot('patched')).rejects.toThrow('The variant patched was never installed.');
  await lay('patched', ['next']);
  expect(await dut.boot('patched')).toMatchObject({ kind: 'booted' });
});

test('an environment that panics or hangs at boot falls back to the machine’s own', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  const behaviour = { kind: 'panics-at-boot', panic: 'mtx_lock() of destroyed mutex' } as const;
  const { dut, outcome } = await bootOf(lab, { ident: 'patched', behaviour });
  expect(outcome).toMatchObject({
    kind: 'boot-failed',
    reason:
      '/boot/kernel/kernel of zroot/ROOT/default came up instead of /boot/kernel/kernel of zroot/ROOT/ppsgate.patched',
    panic: 'mtx_lock() of destroyed mutex',
  });
  await dut.install(archiveOf({ ident: 'hung', behaviour: { kind: 'hangs-at-boot' } }));
  expect(await dut.boot('patched')).toMatchObject({
    kind: 'boot-failed',
    reason: 'it did not come up within 600 s, and was power-cycled',
  });
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
});

test('an order that was never followed is taken back', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  const dut = await open(lab);
  await dut.install(archiveOf({ ident: 'patched' }));
  await dut.host().output(shell`bectl activate -t ppsgate.patched`);
  await dut.restore();
  await dut.host().output(shell`shutdown -r now`);
  await lab.clock.sleep(200);
  expect(lab.state()).toMatchObject(clean);
});

test('a machine without boot environments is refused', async () => {
  await using lab = await startFreebsdLab();
  await expect(open(lab)).rejects.toThrow(/its root is on \/dev\/ada0p2, not on ZFS; choose another/);
});

test('a kernel without a module that the loader needs is not installed', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  const dut = await open(lab);
  const kernel = kernelArchive({ ident: 'patched' }, ['if_cxgbe']);
  expect(await dut.install(archiveWith(kernel))).toEqual({
    kind: 'lacks-module',
    reason: expect.stringMatching(/^zfs\.ko is neither in \/boot\/kernel nor in \/boot\/modules/),
  });
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
  expect(mountPoints(lab)).toEqual([]);
});

test.for([
  ['nothing', ''],
  ['a folder where nothing is mounted', '/tmp\n'],
  ['a path that is not whole', 'tmp/be_mount.a\n'],
  ['two lines', '/tmp/be_mount.aaa0\n/boot\n'],
] as const)('no kernel is touched where bectl says %s for a mount point', async ([, says]) => {
  await using lab = await startFreebsdLab({
    root: 'zfs',
    faults: [{ kind: 'command-lies', machine: 'dut', command: 'bectl mount', at: 1, says }],
  });
  const dut = await open(lab);
  const commands = lab.dut.journal.length;
  await expect(dut.install(archiveOf({ ident: 'patched' }))).rejects.toThrow(/so nothing was installed/);
  const removed = lab.dut.journal.slice(commands).filter(({ command }) => /^(rm|mkdir .*boot)/.test(command));
  expect(removed).toEqual([]);
  expect(textOf(lab.dut.machine.files, '/boot/kernel/kernel')).toContain('base');
  await dut.restore();
  expect(lab.state()).toMatchObject(clean);
});
