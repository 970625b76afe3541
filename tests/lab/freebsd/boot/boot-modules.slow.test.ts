// Lists the modules that a DUT has loaded.
import { expect, test } from 'vitest';
import { loadedModules } from '../../../../src/lab/freebsd/boot/boot-modules.ts';
import { connect } from '../../../../src/system/host/ssh.ts';
import { shell } from '../../../../src/system/shell.ts';
import { writeFile } from '../../../fakes/freebsd-lab/file-system.ts';
import { startFreebsdLab } from '../../../fakes/freebsd-lab/lab.ts';

test('the modules of a DUT are those of its kernel, without /boot/modules', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`kldload pf`);
  expect(await loadedModules(dut)).toEqual({
    names: ['if_cxgbe', 'pf'],
    release: expect.stringMatching(/^\d+\./),
    isRootOnZfs: false,
  });
  writeFile(lab.dut.machine.files, '/boot/modules/pf.ko', 'module pf of ports');
  expect((await loadedModules(dut)).names).toEqual(['if_cxgbe']);
});

test.each([
  ['zfs', true],
  ['nfs', false],
] as const)('the root of a DUT on %s is on ZFS: %s', async (root, isRootOnZfs) => {
  await using lab = await startFreebsdLab({ root });
  await using dut = await connect(lab.dut.target);
  expect(await loadedModules(dut)).toMatchObject({ isRootOnZfs });
});
